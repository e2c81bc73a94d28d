// An assembly of two files: its modules and types are all there before one of the second file was asked for; without the file it is missed by name.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

class Program {
    static string Save(string name) {
        string folder = Path.Combine(Path.GetTempPath(), "modules-of-a-file-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Save, folder);
        ModuleBuilder module = assembly.DefineDynamicModule("second", name + ".second.dll", false);
        module.DefineType("Shown", TypeAttributes.Public).CreateType();
        module.DefineType("Hidden").CreateType();
        assembly.Save(name + ".dll");
        return folder;
    }

    static void Main() {
        string folder = Save("whole");
        Assembly loaded = Assembly.LoadFrom(Path.Combine(folder, "whole.dll"));
        foreach (Module module in loaded.GetModules())
            Console.WriteLine(module.Name + " " + module.ScopeName + " " + module.GetTypes().Length);
        Console.WriteLine(loaded.GetModule("second") != null);
        Directory.Delete(folder, true);

        folder = Save("types");
        foreach (Type type in Assembly.LoadFrom(Path.Combine(folder, "types.dll")).GetTypes())
            Console.WriteLine(type + " in " + type.Module.Name);
        Directory.Delete(folder, true);

        folder = Save("torn");
        File.Delete(Path.Combine(folder, "torn.second.dll"));
        try { Assembly.LoadFrom(Path.Combine(folder, "torn.dll")).GetModules(); }
        catch (FileNotFoundException e) { Console.WriteLine(e.FileName); }
        Directory.Delete(folder, true);
    }
}
