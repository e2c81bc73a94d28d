// Fields whose types cannot be loaded are listed; the exception comes when one asks for the type.
using System;
using System.IO;
using System.Linq;
using System.Reflection;

static class Program
{
    static void Main()
    {
        string beside = Path.Combine(AppDomain.CurrentDomain.BaseDirectory, "fields-of-missing-types.lib.dll");
        Type holder = Assembly.LoadFrom(beside).GetType("Holder", true);
        foreach (FieldInfo field in holder.GetFields())
        {
            string type;
            try { type = field.FieldType.ToString(); }
            catch (Exception e) { type = e is FileNotFoundException || e is TypeLoadException ? "missing" : e.ToString(); }
            Console.WriteLine("{0}: {1}", field.Name, type);
        }
    }
}
