// Display names of assemblies: quotes, keys, what a name must have to be retargetable, and what is no name; mscorlib by the name of its file.
using System;
using System.Reflection;

class Program {
    static void Parse(string text) {
        try {
            var name = new AssemblyName(text);
            byte[] key = name.GetPublicKey();
            Console.WriteLine(text + " -> " + name.FullName + "; " + name.Flags + ", " + name.ProcessorArchitecture + ", "
                + (key == null ? "no key" : key.Length + " bytes"));
        } catch (Exception e) {
            Console.WriteLine(text + " -> " + e.GetType().Name);
        }
    }

    static void Main() {
        const string full = "A, Version=1.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089";
        string key = "00240000048000009400000006020000002400005253413100040000" + "01000100" + new string('a', 256);
        foreach (string text in new[] {
            "A", "'A'", "\"A\"", " A ", "", ",", "A,", "A/b", "A\\b", "A:b",
            "A, Version=1.2", "A, Version=1", "A, Version='1.2.3.4'", "A, Version=\"1.2.3.4'", "A, Version=", "A, Version=1 .2",
            "A, Culture=neutral", "A, Culture='en'", "A, Culture=", "A, =b", "A, Unknown",
            "A, PublicKeyToken=null", "A, PublicKeyToken='b77a5c561934e089'", "A, PublicKeyToken=b77a5c561934e0",
            "A, PublicKey=00000000000000000400000000000000", "A, PublicKey=0000000000000000040000000000000000", "A, PublicKey=null",
            "A, PublicKey=" + key, "A, PublicKey=" + key.Substring(2), "A, PublicKey=" + key + "00",
            "A, Retargetable=Yes", "A, Version=1.0.0.0, Retargetable=No", full + ", Retargetable=Yes", "A, Retargetable=No" + full.Substring(1),
            "A, ProcessorArchitecture=AMD64", "A, ProcessorArchitecture=msil", "A, ProcessorArchitecture=None" })
            Parse(text);

#if !NET
        Console.WriteLine(Type.GetType("System.Int32, mscorlib.dll"));
        Console.WriteLine(Assembly.Load("mscorlib.dll") == typeof(int).Assembly);
        Console.WriteLine(Activator.CreateInstance("mscorlib.dll", "System.Object").Unwrap());
#endif
    }
}
