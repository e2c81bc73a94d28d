"""unpack9.py SOURCE/ ROOT/: makes a `dotnet` root of a self-contained .NET 9 program, which holds all files of its frameworks.

ROOT gets shared/NAME/VERSION of Microsoft.NETCore.App and Microsoft.AspNetCore.App with their deps.json and runtimeconfig.json, host/fxr/VERSION/libhostfxr.so
and `version`. The program's deps.json says which files are a framework's ("runtimepack.NAME")."""
import json
import os
import shutil
import sys

source, root = sys.argv[1:]
deps = json.load(open(source + "azmcp.deps.json"))
target = deps["targets"][deps["runtimeTarget"]["name"]]
packs = {k.split("/")[0][len("runtimepack."):]: (k.split("/")[1], entry) for k, entry in target.items() if k.startswith("runtimepack.")}
listed = {name for _, entry in packs.values() for name in entry["runtime"]}

# Assemblies of the frameworks that the program brought as packages, in a newer servicing release than the framework's own: its deps.json does not count
# them as the framework's. They go where a framework has them.
CORE_FROM_PACKAGES = ["System.Formats.Asn1.dll"]
NOT_OF_A_FRAMEWORK = ("Microsoft.Extensions.AI.", "Microsoft.Extensions.Azure.")
aspnet_from_packages = [f for f in os.listdir(source)
                        if f.startswith("Microsoft.Extensions.") and f.endswith(".dll") and not f.startswith(NOT_OF_A_FRAMEWORK)]
aspnet_from_packages += ["System.Diagnostics.EventLog.dll", "System.Security.Cryptography.Pkcs.dll", "System.Security.Cryptography.Xml.dll",
                         "System.Threading.RateLimiting.dll"]
TARGET = ".NETCoreApp,Version=v9.0/linux-x64"

for pack, (version, entry) in packs.items():
    framework = pack.replace(".Runtime.linux-x64", "")
    to = f"{root}shared/{framework}/{version}/"
    os.makedirs(to)
    for name in CORE_FROM_PACKAGES if framework == "Microsoft.NETCore.App" else aspnet_from_packages:
        if name not in listed and os.path.exists(source + name):
            entry["runtime"][name] = {"assemblyVersion": "9.0.0.0", "fileVersion": "9.0.525.21509"}
    for name in [*entry["runtime"], *entry.get("native", {})]:
        shutil.copy(source + name, to + name)
    json.dump({"runtimeTarget": {"name": TARGET, "signature": ""}, "compilationOptions": {},
               "targets": {TARGET: {f"{pack}/{version}": entry}},
               "libraries": {f"{pack}/{version}": {"type": "package", "serviceable": True, "sha512": ""}}},
              open(to + framework + ".deps.json", "w"))
    config = {"tfm": "net9.0"}
    if framework == "Microsoft.AspNetCore.App":
        config["framework"] = {"name": "Microsoft.NETCore.App", "version": version}
    else:
        os.makedirs(f"{root}host/fxr/{version}")
        shutil.copy(source + "libhostfxr.so", f"{root}host/fxr/{version}/")
        open(root + "version", "w").write(version)
    json.dump({"runtimeOptions": config}, open(to + framework + ".runtimeconfig.json", "w"))
