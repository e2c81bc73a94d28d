// Assemblies marked with ReferenceAssemblyAttribute only declare: none is loaded to run, in whichever way it is asked for, and one that is found by its name is
// passed over; all can be looked at.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

static class Program
{
    static readonly string Folder = AppDomain.CurrentDomain.BaseDirectory;

    static void Try(string what, Func<object> action)
    {
        try {
            Console.WriteLine("{0}: {1}", what, action());
        } catch (Exception e) {
            var missing = e as FileNotFoundException;
            var bad = e as BadImageFormatException;
            string file = missing != null ? missing.FileName : bad != null ? bad.FileName : "";
            // Bytes have no file, but an invented name.
            file = file.EndsWith("assembly") ? "none" : Path.GetFileName(file);
            Console.WriteLine("{0}: {1}, file {2}", what, e.GetType().Name, file);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Use() => new Declared { Number = 3 }.Number;

    // An assembly whose class says in which folder it lies.
    static void Save(string name, string folder, bool isReference)
    {
        Directory.CreateDirectory(folder);
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Save, folder);
        if (isReference) {
            assembly.SetCustomAttribute(new CustomAttributeBuilder(typeof(ReferenceAssemblyAttribute).GetConstructor(new Type[0]), new object[0]));
        }
        var type = assembly.DefineDynamicModule(name, name + ".dll").DefineType("Found", TypeAttributes.Public);
        type.DefineField(isReference ? "InReference" : "InImplementation", typeof(int), FieldAttributes.Public);
        type.CreateType();
        assembly.Save(name + ".dll");
    }

    static void PassOver()
    {
        const string name = "reference-assemblies-hidden";
        string below = Path.Combine(Folder, name);
        Save(name, Folder, true);
        Save(name, below, false);
        Try("behind a reference assembly", () => Assembly.Load(name).GetType("Found").GetFields()[0].Name);
        File.Delete(Path.Combine(Folder, name + ".dll"));
        Directory.Delete(below, true);
    }

    static void Main()
    {
        const string name = "reference-assemblies.lib";
        string path = Path.Combine(Folder, name + ".dll");
        AppDomain.CurrentDomain.AssemblyLoad += (sender, e) => {
            if (e.LoadedAssembly.GetName().Name == name) Console.WriteLine("loaded");
        };
        Try("use", () => Use());
        Try("Load", () => Assembly.Load(name));
        Try("LoadFrom", () => Assembly.LoadFrom(path));
        Try("LoadFile", () => Assembly.LoadFile(path));
        Try("Load of bytes", () => Assembly.Load(File.ReadAllBytes(path)));
        Try("ExecuteAssembly", () => AppDomain.CurrentDomain.ExecuteAssembly(path));
        Try("GetType", () => Type.GetType("Declared, " + name) == null);
        Try("GetAssemblyName", () => AssemblyName.GetAssemblyName(path).Name);
        ResolveEventHandler answer = (sender, e) => {
            Console.WriteLine("asked for {0}", e.Name.Split(',')[0]);
            return null;
        };
        AppDomain.CurrentDomain.AssemblyResolve += answer;
        Try("Load with an event", () => Assembly.Load(name));
        AppDomain.CurrentDomain.AssemblyResolve -= answer;
        PassOver();
        Try("ReflectionOnlyLoadFrom", () => Assembly.ReflectionOnlyLoadFrom(path).GetType("Declared").GetField("Number").FieldType);
        Try("ReflectionOnlyLoad", () => Assembly.ReflectionOnlyLoad(name).GetType("Declared").GetField("Number").FieldType);
        Try("ReflectionOnlyLoad of bytes", () => Assembly.ReflectionOnlyLoad(File.ReadAllBytes(path)).GetType("Declared"));
        Try("Load once more", () => Assembly.Load(name));
    }
}
