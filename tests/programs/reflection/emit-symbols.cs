// Debug symbols that ISymbolWriter makes beside a saved assembly: stack traces name them.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Diagnostics.SymbolStore;

static class Program
{
    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "saki-symbols-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Symbols"), AssemblyBuilderAccess.RunAndSave, folder);
        ModuleBuilder module = assembly.DefineDynamicModule("Symbols", "Symbols.dll", true);
        string source = Path.Combine(folder, "made-up.txt");
        File.WriteAllText(source, "one\ntwo\nthree\n");
        ISymbolDocumentWriter document = module.DefineDocument(source, Guid.Empty, Guid.Empty, Guid.Empty);
        TypeBuilder type = module.DefineType("Thrower", TypeAttributes.Public);
        MethodBuilder first = type.DefineMethod("First", MethodAttributes.Public | MethodAttributes.Static, typeof(void), Type.EmptyTypes);
        ILGenerator il = first.GetILGenerator();
        il.MarkSequencePoint(document, 1, 1, 1, 4);
        il.Emit(OpCodes.Nop);
        il.Emit(OpCodes.Ret);
        MethodBuilder fail = type.DefineMethod("Fail", MethodAttributes.Public | MethodAttributes.Static, typeof(int), Type.EmptyTypes);
        il = fail.GetILGenerator();
        LocalBuilder local = il.DeclareLocal(typeof(Version));
        local.SetLocalSymInfo("version");
        il.MarkSequencePoint(document, 2, 1, 2, 4);
        il.Emit(OpCodes.Ldnull);
        il.Emit(OpCodes.Stloc, local);
        il.MarkSequencePoint(document, 3, 1, 3, 6);
        il.Emit(OpCodes.Ldloc, local);
        il.Emit(OpCodes.Callvirt, typeof(Version).GetProperty("Major").GetGetMethod());
        il.Emit(OpCodes.Ret);
        type.CreateType();
        assembly.Save("Symbols.dll");
        Console.WriteLine(File.Exists(Path.Combine(folder, "Symbols.dll.mdb")));
        try { Assembly.LoadFile(Path.Combine(folder, "Symbols.dll")).GetType("Thrower").GetMethod("Fail").Invoke(null, null); }
        catch (TargetInvocationException e)
        {
            foreach (string line in e.InnerException.StackTrace.Split('\n'))
                if (line.Contains("Thrower")) Console.WriteLine("{0} {1}", line.Contains("made-up.txt:3"), line.Contains("Fail"));
        }
        Directory.Delete(folder, true);
    }
}
