// A saved assembly of two modules with a version block, a resource file, a strong name and vararg calls.
using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class Program
{
    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "saki-modules-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        AssemblyName name = new AssemblyName("Modules") { Version = new Version(2, 0, 1, 0) };
        using (System.Security.Cryptography.RSACryptoServiceProvider rsa = new System.Security.Cryptography.RSACryptoServiceProvider(1024))
            name.KeyPair = new StrongNameKeyPair(rsa.ExportCspBlob(true));
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(name, AssemblyBuilderAccess.RunAndSave, folder);
        ModuleBuilder main = assembly.DefineDynamicModule("Main", "Modules.dll"), second = assembly.DefineDynamicModule("Second", "Second.netmodule");

        TypeBuilder helper = second.DefineType("Helper", TypeAttributes.Public);
        FieldBuilder count = helper.DefineField("Count", typeof(int), FieldAttributes.Public | FieldAttributes.Static);
        MethodBuilder add = helper.DefineMethod("Add", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(int) });
        ILGenerator il = add.GetILGenerator();
        il.Emit(OpCodes.Ldsfld, count); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Add); il.Emit(OpCodes.Dup); il.Emit(OpCodes.Stsfld, count); il.Emit(OpCodes.Ret);

        TypeBuilder user = main.DefineType("User", TypeAttributes.Public);
        MethodBuilder run = user.DefineMethod("Run", MethodAttributes.Public | MethodAttributes.Static, typeof(int), Type.EmptyTypes);
        il = run.GetILGenerator();
        il.Emit(OpCodes.Ldc_I4, 20); il.Emit(OpCodes.Call, add); il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ldc_I4, 22); il.Emit(OpCodes.Call, add); il.Emit(OpCodes.Ret);
        helper.CreateType();
        Type made = user.CreateType();
        Console.WriteLine(made.GetMethod("Run").Invoke(null, null));

        File.WriteAllText(Path.Combine(folder, "extra.txt"), "beside");
        assembly.AddResourceFile("Extra", "extra.txt");
        main.DefineManifestResource("Inside", new MemoryStream(new byte[] { 1, 2, 3 }), ResourceAttributes.Private);
        assembly.DefineVersionInfoResource("a product", "3.1.4", "a company", "a copyright", "a trademark");
        assembly.Save("Modules.dll");

        string path = Path.Combine(folder, "Modules.dll");
        FileVersionInfo version = FileVersionInfo.GetVersionInfo(path);
        Console.WriteLine("{0} {1} {2}", version.ProductName, version.CompanyName, version.FileVersion);
        Assembly loaded = Assembly.LoadFile(path);
        Console.WriteLine("{0} {1}", loaded.GetName().Version, BitConverter.ToString(loaded.GetName().GetPublicKeyToken()) == BitConverter.ToString(assembly.GetName().GetPublicKeyToken()));
        Console.WriteLine("{0} {1}", loaded.GetType("User", true).GetMethod("Run").Invoke(null, null), loaded.GetType("Helper", true).Module.Name);
        Console.WriteLine(string.Join(" ", loaded.GetManifestResourceNames()));
        Console.WriteLine("{0} {1}", new StreamReader(loaded.GetManifestResourceStream("Extra")).ReadToEnd(), loaded.GetManifestResourceStream("Inside").Length);
        Console.WriteLine(loaded.GetModules().Length);
        Directory.Delete(folder, true);
    }
}
