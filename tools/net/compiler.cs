// csc: a C# 12 compiler driver over Roslyn's libraries, for programs of a modern .NET. Options: see the script `csc` beside it.
// Compiles one program from the command line, or with -batch:FILE one per line of FILE, all in one process.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Emit;
using Microsoft.CodeAnalysis.Text;

static class Compiler
{
    static readonly ConcurrentDictionary<string, MetadataReference> references = new();
    static readonly ConcurrentDictionary<string, ImmutableArray<MetadataReference>> frameworks = new();

    static int Main(string[] args)
    {
        string batch = args.FirstOrDefault(a => a.StartsWith("-batch:"));
        if (batch == null)
            return Report(args, new Job(args).Compile()) ? 0 : 1;
        var common = args.Where(a => a != batch && !a.StartsWith("-jobs:")).ToArray();
        int jobs = int.Parse(args.FirstOrDefault(a => a.StartsWith("-jobs:"))?[6..] ?? "2");
        string file = batch[7..];
        using var input = file == "-" ? Console.In : new StreamReader(file);
        int bad = 0, all = 0;
        foreach (var wave in Waves(input))                  // an empty line: what follows needs what stands before
            Parallel.ForEach(Partitioner.Create(wave, EnumerablePartitionerOptions.NoBuffering), new() { MaxDegreeOfParallelism = jobs }, line =>
            {
                var a = common.Concat(Words(line)).ToArray();
                string error;
                try { error = new Job(a).Compile(); }
                catch (Exception e) when (e is not OutOfMemoryException) { error = $"csc: {e.GetType().Name}: {e.Message}"; }
                lock (references) { all++; if (!Report(a, error)) bad++; }
            });
        Console.WriteLine($"{all - bad} of {all} compiled");
        return bad == 0 ? 0 : 1;
    }

    static bool Report(string[] args, string error)
    {
        if (error != null)
            Console.WriteLine($"{args.LastOrDefault(a => a.StartsWith("-out:"))?[5..]}: FAILED\n{error}");
        return error == null;
    }

    static IEnumerable<List<string>> Waves(TextReader r)
    {
        var wave = new List<string>();
        for (string l; (l = r.ReadLine()) != null;)
            if (l.Trim() != "") wave.Add(l);
            else { yield return wave; wave = []; }
        yield return wave;
    }

    static IEnumerable<string> Words(string line)           // tabs separate where there is one, else blanks
        => line.Split(line.Contains('\t') ? '\t' : ' ', StringSplitOptions.RemoveEmptyEntries);

    static MetadataReference Reference(string path) => references.GetOrAdd(path, p => MetadataReference.CreateFromFile(p));

    static ImmutableArray<MetadataReference> Framework(string dir) => frameworks.GetOrAdd(dir, d =>
        Directory.GetFiles(d, "*.dll").Where(IsManaged).Select(Reference).ToImmutableArray());

    static bool IsManaged(string path)
    {
        using var pe = new System.Reflection.PortableExecutable.PEReader(File.OpenRead(path));
        try { return pe.HasMetadata; } catch (BadImageFormatException) { return false; }
    }

    sealed class Job
    {
        string output;
        readonly List<string> fw = [], sources = [], defines = ["NET", "TRACE"], pathMap = [];
        readonly List<MetadataReference> refs = [];
        readonly List<ResourceDescription> resources = [];
        bool library, pdb, unoptimized, isChecked, usings, aspnet, nullable, config = true, tfmAttribute = true;
        LanguageVersion version = LanguageVersion.CSharp12;
        string culture, asmName, roll, key;

        public Job(string[] args)
        {
            foreach (var a in args)
            {
                string v = a.StartsWith('-') && a.Contains(':') ? a[(a.IndexOf(':') + 1)..] : "";
                switch (a.StartsWith('-') ? a.Split(':')[0] : "")
                {
                    case "-out": output = v; break;
                    case "-fw": fw.Add(v.TrimEnd('/')); break;
                    case "-r": refs.AddRange(v.Split('|', StringSplitOptions.RemoveEmptyEntries).Select(Reference)); break;
                    case "-aspnet": aspnet = true; break;
                    case "-library": library = true; break;
                    case "-pdb": pdb = true; break;
                    case "-debug": unoptimized = pdb = true; break;
                    case "-unoptimized": unoptimized = true; break;
                    case "-checked": isChecked = true; break;
                    case "-key": key = Path.GetFullPath(v); break;
                    case "-usings": usings = true; break;
                    case "-nullable": nullable = true; break;
                    case "-noconfig": config = false; break;
                    case "-noattr": tfmAttribute = false; break;
                    case "-name": asmName = v; break;
                    case "-roll": roll = v; break;
                    case "-langversion": if (!LanguageVersionFacts.TryParse(v, out version)) throw new ArgumentException(a); break;
                    case "-define": defines.AddRange(v.Split('|', ';')); break;
                    case "-pathmap": pathMap.Add(v); break;
                    case "-resource":
                        var r = v.Split(',');
                        resources.Add(new ResourceDescription(r.Length > 1 ? r[1] : Path.GetFileName(r[0]), () => File.OpenRead(r[0]), true));
                        break;
                    case "-culture": culture = v; library = true; break;
                    case "": sources.Add(a); break;
                    default: throw new ArgumentException("csc: unknown option " + a);
                }
            }
            if (output == null || fw.Count == 0) throw new ArgumentException("csc: -out: and -fw: are needed");
            if (aspnet) fw.Add(Path.Combine(Path.GetDirectoryName(fw[0])!, "..", "Microsoft.AspNetCore.App", Path.GetFileName(fw[0])));
        }

        public string Compile()
        {
            string ver = Path.GetFileName(fw[0]), major = ver.Split('.')[0];
            if (!int.TryParse(major, out int n)) { n = 9; ver = "9.0.0"; }
            for (int i = 5; i <= n; i++) defines.Add($"NET{i}_0_OR_GREATER");
            var po = new CSharpParseOptions(version, DocumentationMode.None, preprocessorSymbols: defines);
            SyntaxTree Parse(string path) => CSharpSyntaxTree.ParseText(SourceText.From(File.ReadAllText(path), Encoding.UTF8), po, Map(path));
            var trees = sources.Select(Parse).ToList();
            SyntaxTree Extra(string text, string name) => CSharpSyntaxTree.ParseText(SourceText.From(text, Encoding.UTF8), po, name);
            if (usings)
                trees.Add(Extra(string.Concat("System,System.IO,System.Linq,System.Collections.Generic,System.Net.Http,System.Threading,System.Threading.Tasks"
                    .Split(',').Select(u => $"global using {u};\n")), "GlobalUsings.g.cs"));
            if (tfmAttribute)
                trees.Add(Extra($"[assembly: System.Runtime.Versioning.TargetFramework(\".NETCoreApp,Version=v{n}.0\", FrameworkDisplayName = \".NET {n}.0\")]\n"
                    + (culture != null ? $"[assembly: System.Reflection.AssemblyCulture(\"{culture}\")]\n" : ""), "AssemblyAttributes.g.cs"));
            var own = refs.Select(r => Path.GetFileName(r.Display)).ToHashSet();
            var all = fw.SelectMany(f => Framework(f)).Where(r => !own.Contains(Path.GetFileName(r.Display)!)).Concat(refs);
            var c = CSharpCompilation.Create(asmName ?? Path.GetFileNameWithoutExtension(output), trees, all,
                new CSharpCompilationOptions(library ? OutputKind.DynamicallyLinkedLibrary : OutputKind.ConsoleApplication, allowUnsafe: true, concurrentBuild: false,
                    deterministic: true, checkOverflow: isChecked, cryptoKeyFile: key, publicSign: key != null, strongNameProvider: key != null ? new DesktopStrongNameProvider() : null, optimizationLevel: unoptimized ? OptimizationLevel.Debug : OptimizationLevel.Release, warningLevel: 0,
                    nullableContextOptions: nullable ? NullableContextOptions.Enable : NullableContextOptions.Disable));
            Directory.CreateDirectory(Path.GetDirectoryName(Path.GetFullPath(output))!);
            string basis = Path.ChangeExtension(output, null);
            using var pe = new MemoryStream();
            using var sym = new MemoryStream();
            var e = c.Emit(pe, pdb ? sym : null, manifestResources: resources, options: new EmitOptions(debugInformationFormat: DebugInformationFormat.PortablePdb,
                pdbFilePath: Path.GetFileName(basis) + ".pdb"));
            if (!e.Success)
                return string.Join('\n', e.Diagnostics.Where(d => d.Severity == DiagnosticSeverity.Error).Take(10));
            File.WriteAllBytes(output, pe.ToArray());
            if (pdb) File.WriteAllBytes(basis + ".pdb", sym.ToArray());
            if (config && !library)
            {
                string One(string name) => $$"""{"name": "{{name}}", "version": "{{n}}.0.0"}""";
                string which = aspnet ? $"\"frameworks\": [{One("Microsoft.NETCore.App")}, {One("Microsoft.AspNetCore.App")}]" : $"\"framework\": {One("Microsoft.NETCore.App")}";
                string rf = roll != null ? $"\"rollForward\": \"{roll}\", " : "";
                File.WriteAllText(basis + ".runtimeconfig.json", "{\"runtimeOptions\": {" + $"\"tfm\": \"net{n}.0\", {rf}{which}" + "}}\n");
            }
            return null;
        }

        string Map(string path)
        {
            foreach (var m in pathMap)
                if (path.StartsWith(m.Split('=')[0])) return m.Split('=')[1] + path[m.Split('=')[0].Length..];
            return path;
        }
    }
}
