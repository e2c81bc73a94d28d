// Compiles one C# file with Microsoft.CodeAnalysis: driver.exe FILE.cs OUT.exe
using System;
using System.IO;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

class Driver
{
    static int Main(string[] args)
    {
        var tree = CSharpSyntaxTree.ParseText(File.ReadAllText(args[0]));
        Console.WriteLine("{0} nodes", tree.GetRoot().DescendantNodes().Count());
        var references = new[] { "mscorlib.dll", "System.dll", "System.Core.dll" }
            .Select(library => MetadataReference.CreateFromFile("/usr/lib/mono/4.5/" + library));
        var options = new CSharpCompilationOptions(OutputKind.ConsoleApplication, deterministic: true);
        var name = Path.GetFileNameWithoutExtension(args[1]);
        var compilation = CSharpCompilation.Create(name, new[] { tree }, references, options);
        using (var file = File.Create(args[1]))
        {
            var result = compilation.Emit(file);
            foreach (var diagnostic in result.Diagnostics)
                Console.WriteLine(diagnostic);
            return result.Success ? 0 : 1;
        }
    }
}
