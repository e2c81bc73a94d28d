// What Assembly.LoadFrom has loaded finds what it refers to in its own directory, and so does that;
// what LoadFile has loaded does not.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class LoadFromNeighbours
{
    // A library with one type of its own name, whose Say calls `inner` or returns the name.
    static MethodInfo Make(string directory, string name, MethodInfo inner)
    {
        AssemblyBuilder assembly =
            AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.RunAndSave, directory);
        TypeBuilder type = assembly.DefineDynamicModule(name, name + ".dll").DefineType(name, TypeAttributes.Public);
        MethodBuilder say =
            type.DefineMethod("Say", MethodAttributes.Public | MethodAttributes.Static, typeof(string), Type.EmptyTypes);
        ILGenerator il = say.GetILGenerator();
        il.Emit(OpCodes.Ldstr, name + (inner == null ? "" : " "));
        if (inner != null)
        {
            il.Emit(OpCodes.Call, inner);
            il.Emit(OpCodes.Call, typeof(string).GetMethod("Concat", new[] { typeof(string), typeof(string) }));
        }
        il.Emit(OpCodes.Ret);
        type.CreateType();
        assembly.Save(name + ".dll");
        return say;
    }

    static void Say(Assembly assembly)
    {
        string name = assembly.GetName().Name;
        try
        {
            Console.WriteLine("{0}: {1}", name, assembly.GetType(name).GetMethod("Say").Invoke(null, null));
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine("{0}: {1}", name, e.InnerException.GetType());
        }
    }

    static void Main()
    {
        string directory = Path.Combine(Path.GetTempPath(), "saki-neighbours-" + Guid.NewGuid());
        Directory.CreateDirectory(directory);
        try
        {
            Make(directory, "Outer", Make(directory, "Middle", Make(directory, "Inner", null)));
            Make(directory, "Alone", Make(directory, "Unseen", null));
            AppDomain.CurrentDomain.AssemblyResolve += (sender, e) =>
            {
                Console.WriteLine("asked for {0}", new AssemblyName(e.Name).Name);
                return null;
            };
            Say(Assembly.LoadFrom(Path.Combine(directory, "Outer.dll")));
            Say(Assembly.LoadFile(Path.Combine(directory, "Alone.dll")));
        }
        finally
        {
            Directory.Delete(directory, true);
        }
    }
}
