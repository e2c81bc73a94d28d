"""Takes .NET 10 out of a single-file program.

unpack10.py unpack PACKAGE ROOT/ NINE: ROOT/shared/NAME/VERSION of both frameworks, with the native libraries of NINE (.NET 9's root), for the single-file program
has its own linked into its executable; and ROOT/version.
unpack10.py launcher PACKAGE ROOT/ LAUNCHER.dll: ROOT/dotnet10, the program's executable with its frameworks and the launcher in place of the program."""
import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
from bundle import Bundle

step, package, root, other = sys.argv[1:]
bundle = Bundle(package + "/officeagent_mcp/bin/officeagent-mcp")
frameworks = bundle.frameworks()
TARGET = ".NETCoreApp,Version=v10.0/linux-x64"
# The machine itself, its compiler, its collector and the debugger's parts: of no use without each other.
OF_THE_RUNTIME = ("libcoreclr", "libclrjit", "libclrgc", "libmscordac", "libmscordbi")


def unpack():
    deps = json.loads(bundle.read(bundle.app + ".deps.json"))
    packs = {k: v for k, v in deps["targets"][deps["runtimeTarget"]["name"]].items() if k.startswith("runtimepack.")}
    for framework, (version, files) in frameworks.items():
        to = f"{root}shared/{framework}/{version}/"
        os.makedirs(to)
        for name in files:
            open(to + name, "wb").write(bundle.read(name))
        entry = next(v for k, v in packs.items() if framework in k)
        config = {"tfm": "net10.0"}
        if framework == "Microsoft.NETCore.App":
            source = f"{other}/shared/{framework}/{open(other + '/version').read()}/"
            natives = [f for f in os.listdir(source) if f.endswith(".so") and not f.startswith(OF_THE_RUNTIME)]
            for name in natives:
                shutil.copy(source + name, to)
            entry["native"] = {f: {"fileVersion": "0.0.0.0"} for f in natives if f != "libhostfxr.so"}
        else:
            config["framework"] = {"name": "Microsoft.NETCore.App", "version": version}
        json.dump({"runtimeTarget": {"name": TARGET, "signature": ""}, "compilationOptions": {}, "targets": {TARGET: {f"{framework}/{version}": entry}},
                   "libraries": {f"{framework}/{version}": {"type": "package", "serviceable": True, "sha512": ""}}},
                  open(to + framework + ".deps.json", "w"))
        json.dump({"runtimeOptions": config}, open(to + framework + ".runtimeconfig.json", "w"))
    open(root + "version", "w").write(frameworks["Microsoft.NETCore.App"][0])


if step == "unpack":
    unpack()
else:
    included = [{"name": name, "version": version} for name, (version, _) in frameworks.items()]
    bundle.rebundle(root + "dotnet10", open(other, "rb").read(), {"runtimeOptions": {"tfm": "net10.0", "includedFrameworks": included}})
