"""unpack8.py PROGRAM ROOT/: takes the class libraries of .NET 8 out of a single-file program. ROOT gets shared/NAME/VERSION with the assemblies, and `version`."""
import os
import sys

sys.dont_write_bytecode = True
from bundle import Bundle

program, root = sys.argv[1:]
bundle = Bundle(program)
for framework, (version, files) in bundle.frameworks().items():
    to = f"{root}shared/{framework}/{version}/"
    os.makedirs(to)
    for name in files:
        open(to + name, "wb").write(bundle.read(name))
    if framework == "Microsoft.NETCore.App":
        open(root + "version", "w").write(version)
