// A module belongs to the assembly that loads it first. A second assembly of the domain that names its file is refused what lies in the
// module, and keeps the rest; the first is not harmed.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class Program {
    static string folder;

    // An assembly NAME.dll with a class Of+NAME of its own, whose field's class is in part.netmodule, which this makes anew.
    static void Make (string name)
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly (new AssemblyName (name), AssemblyBuilderAccess.Save, folder);
        var part = assembly.DefineDynamicModule ("part", "part.netmodule");
        var inPart = part.DefineType ("InPart", TypeAttributes.Public);
        inPart.DefineField ("Count", typeof (int), FieldAttributes.Public | FieldAttributes.Static);
        inPart.CreateType ();
        var main = assembly.DefineDynamicModule (name, name + ".dll");
        var plain = main.DefineType ("Plain" + name, TypeAttributes.Public);
        plain.CreateType ();
        var user = main.DefineType ("User" + name, TypeAttributes.Public);
        user.DefineField ("Field", inPart, FieldAttributes.Public);
        user.CreateType ();
        assembly.Save (name + ".dll");
    }

    static void Try (string what, Func<object> action)
    {
        try {
            Console.WriteLine ("{0}: {1}", what, action ());
        } catch (Exception e) {
            bool namesFile = e.Message.Contains ("part.netmodule which has already been loaded by assembly") && e.Message.Contains ("One.dll");
            Console.WriteLine ("{0}: {1} {2}", what, e.GetType ().Name, namesFile);
        }
    }

    static void Main ()
    {
        folder = Path.Combine (Path.GetTempPath (), "saki-modules-" + Guid.NewGuid ());
        Directory.CreateDirectory (folder);
        Make ("One");
        Make ("Two");
        var one = Assembly.LoadFile (Path.Combine (folder, "One.dll"));
        Try ("One's user", () => Activator.CreateInstance (one.GetType ("UserOne")));
        Try ("One's part", () => one.GetType ("InPart").Assembly.GetName ().Name);
        var two = Assembly.LoadFile (Path.Combine (folder, "Two.dll"));
        Try ("Two's plain", () => Activator.CreateInstance (two.GetType ("PlainTwo")));
        Try ("Two's user", () => Activator.CreateInstance (two.GetType ("UserTwo")));
        Try ("Two's user again", () => Activator.CreateInstance (two.GetType ("UserTwo")));
        Try ("Two's part", () => two.GetType ("InPart", true));
        Try ("Two's types", () => two.GetTypes ().Length);
        Try ("One's types", () => one.GetTypes ().Length);
        Directory.Delete (folder, true);
    }
}
