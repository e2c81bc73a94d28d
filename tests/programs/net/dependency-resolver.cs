// AssemblyDependencyResolver: assemblies, satellites and native assets that a plugin's deps.json names, and those that lie beside a plugin without one.
// host: hostfxr
// env: DOTNET_ROLL_FORWARD=Major
// env: DOTNET_SYSTEM_GLOBALIZATION_PREDEFINED_CULTURES_ONLY=0
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Loader;

sealed class PluginContext(string main) : AssemblyLoadContext("plugin")
{
    readonly AssemblyDependencyResolver resolver = new(main);

    protected override Assembly Load(AssemblyName name) =>
        resolver.ResolveAssemblyToPath(name) is string path ? LoadFromAssemblyPath(path) : null;

    protected override IntPtr LoadUnmanagedDll(string name)
    {
        string path = resolver.ResolveUnmanagedDllToPath(name);
        Console.WriteLine("native " + name + ": " + (path == null ? "not found" : Path.GetFileName(path)));
        return path == null ? IntPtr.Zero : LoadUnmanagedDllFromPath(path);
    }
}

static class Test
{
    static string folder;

    static string Shown(string path) => path == null ? "none" : Path.GetRelativePath(folder, path);

    static void Put(string from, string to)
    {
        string path = Path.Combine(folder, to);
        Directory.CreateDirectory(Path.GetDirectoryName(path));
        File.Copy(from, path);
    }

    const string Dependencies = """
        {
          "runtimeTarget": { "name": ".NETCoreApp,Version=v9.0", "signature": "" },
          "targets": { ".NETCoreApp,Version=v9.0": {
            "dependency-resolver.lib/1.0.0": {
              "dependencies": { "Helper": "2.0.0" },
              "runtime": { "dependency-resolver.lib.dll": {} }
            },
            "Helper/2.0.0": {
              "runtime": { "lib/net9.0/Helper.dll": { "assemblyVersion": "2.0.0.0", "fileVersion": "2.0.0.0" } },
              "resources": { "lib/net9.0/de/Helper.resources.dll": { "locale": "de" } },
              "runtimeTargets": {
                "runtimes/linux-x64/native/libasset.so": { "rid": "linux-x64", "assetType": "native", "fileVersion": "0.0.0.0" },
                "runtimes/win-x64/native/asset.dll": { "rid": "win-x64", "assetType": "native", "fileVersion": "0.0.0.0" }
              }
            },
            "Missing/1.0.0": { "runtime": { "lib/net9.0/Missing.dll": {} } }
          } },
          "libraries": {
            "dependency-resolver.lib/1.0.0": { "type": "project", "serviceable": false, "sha512": "" },
            "Helper/2.0.0": { "type": "package", "serviceable": true, "sha512": "" },
            "Missing/1.0.0": { "type": "package", "serviceable": true, "sha512": "" }
          }
        }
        """;

    static void WithDependencies(string library, string native)
    {
        folder = Directory.CreateTempSubdirectory("resolver").FullName;
        try
        {
            string main = Path.Combine(folder, "dependency-resolver.lib.dll");
            Put(library, "dependency-resolver.lib.dll");
            Put(library, "Helper.dll");
            Put(library, "de/Helper.resources.dll");
            Put(native, "runtimes/linux-x64/native/libasset.so");
            Put(library, "Unlisted.dll");
            string file = Path.Combine(folder, "dependency-resolver.lib.deps.json");
            File.WriteAllText(file, Dependencies.Replace(@"""Missing/1.0.0"": { ""runtime"": { ""lib/net9.0/Missing.dll"": {} } }", @"""Missing/1.0.0"": {}"));
            var resolver = new AssemblyDependencyResolver(main);
            foreach (string name in new[] { "Helper", "helper", "Helper, Version=9.0.0.0", "dependency-resolver.lib", "Unlisted", "System.Runtime", "Helper.resources, Culture=de", "Helper.resources, Culture=fr", "Helper, Culture=neutral" })
                Console.WriteLine(name + ": " + Shown(resolver.ResolveAssemblyToPath(new AssemblyName(name))));
            foreach (string name in new[] { "asset", "libasset", "libasset.so", "asset.so", "win", "sub/asset" })
                Console.WriteLine(name + ": " + Shown(resolver.ResolveUnmanagedDllToPath(name)));

            var context = new PluginContext(main);
            Assembly plugin = context.LoadFromAssemblyName(new AssemblyName("dependency-resolver.lib"));
            Console.WriteLine(Shown(plugin.Location) + " in " + AssemblyLoadContext.GetLoadContext(plugin).Name);
            Type entry = plugin.GetType("Plugin.Entry");
            Console.WriteLine(entry.GetMethod("CallsAsset").Invoke(null, null));
            Console.WriteLine(entry.GetMethod("CallsMissing").Invoke(null, null));
            Console.WriteLine(AssemblyLoadContext.GetLoadContext(entry.GetMethod("CallsAsset").ReturnType.Assembly) == AssemblyLoadContext.Default);

            // An assembly that deps.json names has to be there.
            File.WriteAllText(file, Dependencies);
            try { new AssemblyDependencyResolver(main); Console.WriteLine("nothing is missing"); }
            catch (InvalidOperationException e) { Console.WriteLine(e.Message.Replace(folder, "FOLDER")); }
            File.WriteAllText(file, "{ nonsense");
            try { new AssemblyDependencyResolver(main); Console.WriteLine("nothing is wrong"); }
            catch (InvalidOperationException e) { Console.WriteLine(e.Message.Replace(folder, "FOLDER")); }
        }
        finally { Directory.Delete(folder, true); }
    }

    static void WithoutDependencies(string library, string native)
    {
        folder = Directory.CreateTempSubdirectory("resolver").FullName;
        try
        {
            string main = Path.Combine(folder, "dependency-resolver.lib.dll");
            Put(library, "dependency-resolver.lib.dll");
            Put(library, "Beside.dll");
            Put(native, "libbeside.so");
            Put(library, "de/Beside.resources.dll");
            var resolver = new AssemblyDependencyResolver(main);
            foreach (string name in new[] { "Beside", "dependency-resolver.lib", "None", "Beside.resources, Culture=de" })
                Console.WriteLine(name + ": " + Shown(resolver.ResolveAssemblyToPath(new AssemblyName(name))));
            foreach (string name in new[] { "beside", "libbeside", "libbeside.so", Path.Combine(folder, "libbeside.so"), "none" })
                Console.WriteLine(Path.GetFileName(name) + ": " + Shown(resolver.ResolveUnmanagedDllToPath(name)));
        }
        finally { Directory.Delete(folder, true); }
    }

    static void Main()
    {
        string library = Path.Combine(AppContext.BaseDirectory, "dependency-resolver.lib.dll");
        string native = Path.Combine(RuntimeEnvironment.GetRuntimeDirectory(), "libSystem.Native.so");
        WithDependencies(library, native);
        WithoutDependencies(library, native);
        try { new AssemblyDependencyResolver(Path.Combine(AppContext.BaseDirectory, "no-such.dll")); }
        catch (InvalidOperationException e) { Console.WriteLine(e.GetType().Name + " " + e.Message.Contains("no-such.dll")); }
        try { new AssemblyDependencyResolver(null); }
        catch (ArgumentNullException e) { Console.WriteLine(e.ParamName); }
    }
}
