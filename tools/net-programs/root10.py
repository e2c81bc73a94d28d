"""root10.py TEN NINE ROOT: the folder TEN of .NET 10 as a root that .NET's host takes for programs that Saki runs.

TEN's assemblies come out of a single-file program, which has its libcoreclr.so inside itself. The host wants to see the file before it says which assemblies a
program gets, though Saki does not load it; here it is that of NINE, .NET 9. All else in ROOT are links to TEN."""
import json
import os
import sys

ten, nine, root = sys.argv[1:]
for folder, _, names in os.walk(ten + "/shared"):
    to = root + folder[len(ten):]
    os.makedirs(to, exist_ok=True)
    for name in names:
        if os.path.lexists(f"{to}/{name}"):
            os.remove(f"{to}/{name}")
        if name != "Microsoft.NETCore.App.deps.json":
            os.symlink(f"{folder}/{name}", f"{to}/{name}")
            continue
        deps = json.load(open(f"{folder}/{name}"))
        entry = next(entry for target in deps["targets"].values() for entry in target.values() if "native" in entry)
        entry["native"]["libcoreclr.so"] = {"fileVersion": "0.0.0.0"}
        json.dump(deps, open(f"{to}/{name}", "w"))
        version = open(nine + "/version").read().strip()
        library = f"{to}/libcoreclr.so"
        if os.path.lexists(library):
            os.remove(library)
        os.symlink(f"{nine}/shared/Microsoft.NETCore.App/{version}/libcoreclr.so", library)
if not os.path.lexists(root + "/host"):
    os.symlink(ten + "/host", root + "/host")
