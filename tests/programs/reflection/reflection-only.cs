// mcs: -r:System.Xml.dll
// Assemblies loaded for reflection only: types of their own, never run; what they refer to must be loaded likewise.
using System;
using System.IO;
using System.Linq;
using System.Reflection;

public class Marked : Attribute {
    public Marked (string text) { Text = text; }
    public string Text;
    public int Number { get; set; }
}

[Marked ("on the class", Number = 3)]
public class Sample {
    public const int Constant = 42;
    public int Field = 7;
    public static int Static = 1;
    public int Method (string text, int number) { return number; }
    public string Property { get; set; }
    public Uri Elsewhere () { return null; }
}

static class Program {
    static void Try (string what, Func<object> work)
    {
        try {
            Console.WriteLine ("{0}: {1}", what, work ());
        } catch (Exception e) {
            Console.WriteLine ("{0}: {1}: {2}", what, e.GetType ().Name, e is FileNotFoundException || e is TypeLoadException ? "" : e.Message);
        }
    }

    static void Main ()
    {
        var own = Assembly.GetExecutingAssembly ();
        string linq = typeof (Enumerable).Assembly.FullName;
        Try ("none yet", () => AppDomain.CurrentDomain.ReflectionOnlyGetAssemblies ().Length);
        Assembly core = null, self = null;
        Try ("by name", () => { core = Assembly.ReflectionOnlyLoad (linq); return core.ReflectionOnly + " " + (core == typeof (Enumerable).Assembly) + " " + (core.FullName == linq); });
        Try ("again", () => Assembly.ReflectionOnlyLoad (linq) == core);
        Try ("ordinary", () => Assembly.Load (linq) == typeof (Enumerable).Assembly && !Assembly.Load (linq).ReflectionOnly);
        Try ("from file", () => { self = Assembly.ReflectionOnlyLoadFrom (own.Location); return self.ReflectionOnly + " " + (self == own) + " " + (self.Location == own.Location); });
        Try ("from file again", () => Assembly.ReflectionOnlyLoadFrom (own.Location) == self);
        Try ("ordinary from file", () => Assembly.LoadFrom (own.Location) == own);
        Assembly bytes = null;
        Try ("bytes", () => { bytes = Assembly.ReflectionOnlyLoad (File.ReadAllBytes (own.Location)); return bytes.ReflectionOnly + " " + (bytes == self) + " " + (bytes == own); });
        Try ("corlib", () => { var c = Assembly.ReflectionOnlyLoad ("mscorlib"); return c.ReflectionOnly + " " + (c == typeof (object).Assembly); });
        Try ("listed", () => String.Join (" ", AppDomain.CurrentDomain.ReflectionOnlyGetAssemblies ().Select (a => a.GetName ().Name).OrderBy (n => n, StringComparer.Ordinal)));
        Try ("not listed", () => AppDomain.CurrentDomain.GetAssemblies ().Any (a => a.ReflectionOnly));
        var type = self.GetType ("Sample");
        Try ("type", () => (type == typeof (Sample)) + " " + type.FullName + " " + type.Assembly.ReflectionOnly);
        Try ("base", () => type.BaseType == typeof (object));
        Try ("members", () => String.Join (", ", type.GetMembers (BindingFlags.Public | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly).Where (m => m.Name != "Elsewhere").Select (m => m.ToString ())));
        Try ("constant", () => type.GetField ("Constant").GetRawConstantValue ());
        Try ("constant value", () => type.GetField ("Constant").GetValue (null));
        Try ("field", () => type.GetField ("Static").GetValue (null));
        Try ("set", () => { type.GetField ("Static").SetValue (null, 5); return "done"; });
        Try ("invoke", () => type.GetMethod ("Method").Invoke (null, new object[] { "", 1 }));
        Try ("create", () => Activator.CreateInstance (type));
        Try ("constructor", () => type.GetConstructors ()[0].Invoke (null));
        Try ("attributes", () => type.GetCustomAttributes (false).Length);
        Try ("defined", () => type.IsDefined (typeof (Marked), false));
        Try ("data", () => String.Join (" ", CustomAttributeData.GetCustomAttributes (type).Select (d => d.ToString ())));
        Try ("data type", () => CustomAttributeData.GetCustomAttributes (type)[0].Constructor.DeclaringType.Assembly == self);
        Try ("assignable", () => typeof (Sample).IsAssignableFrom (type) + " " + typeof (object).IsAssignableFrom (type));
        Try ("reference not loaded", () => type.GetMethod ("Elsewhere").ReturnType);
        AppDomain.CurrentDomain.ReflectionOnlyAssemblyResolve += (sender, e) => {
            Console.WriteLine ("  asked for {0}", new AssemblyName (e.Name).Name);
            return Assembly.ReflectionOnlyLoad (e.Name);
        };
        AppDomain.CurrentDomain.AssemblyResolve += (sender, e) => {
            Console.WriteLine ("  ordinary event for {0}", new AssemblyName (e.Name).Name);
            return null;
        };
        var second = Assembly.ReflectionOnlyLoadFrom (typeof (System.Xml.XmlDocument).Assembly.Location);
        Try ("reference by event", () => { var t = second.GetType ("System.Xml.XmlUrlResolver").GetMethod ("ResolveUri").ReturnType; return t + " " + t.Assembly.ReflectionOnly + " " + (t == typeof (Uri)); });
        Try ("missing", () => Assembly.ReflectionOnlyLoad ("No.Such.Assembly"));
        Try ("missing file", () => Assembly.ReflectionOnlyLoadFrom ("/no/such/file.dll"));
        Try ("qualified", () => Type.GetType ("System.Linq.Enumerable, " + linq) == typeof (Enumerable));
        Try ("refonly get", () => Type.ReflectionOnlyGetType ("System.Linq.Enumerable, " + linq, true, false).Assembly.ReflectionOnly);
        Try ("handle", () => type.TypeHandle.Value != IntPtr.Zero);
        Try ("entry", () => self.EntryPoint.Name);
        Try ("run", () => self.EntryPoint.Invoke (null, null));
        Try ("code", () => type.GetMethod ("Method").GetMethodBody ().GetILAsByteArray ().Length > 0);
    }
}
