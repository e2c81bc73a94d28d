// Resources in satellite assemblies: cultures, their parents, the neutral language, in the default context and in contexts of the program's.
// env: DOTNET_SYSTEM_GLOBALIZATION_PREDEFINED_CULTURES_ONLY=0
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Resources;
using System.Runtime.Loader;
using System.Threading;

sealed class Own(string name, Func<AssemblyLoadContext, AssemblyName, Assembly> load) : AssemblyLoadContext(name, isCollectible: true)
{
    protected override Assembly Load(AssemblyName name) => load(this, name);
}

static class Test
{
    static byte[] Resources(params (string, object)[] entries)
    {
        var stream = new MemoryStream();
        using var writer = new ResourceWriter(stream);
        foreach ((string key, object value) in entries)
            writer.AddResource(key, value);
        writer.Generate();
        return stream.ToArray();
    }

    /// An assembly that has nothing but embedded resources.
    static void Write(string path, string name, string culture, string neutral, params (string, byte[])[] resources)
    {
        var metadata = new MetadataBuilder();
        metadata.AddModule(0, metadata.GetOrAddString(Path.GetFileName(path)), metadata.GetOrAddGuid(Guid.NewGuid()), default, default);
        AssemblyDefinitionHandle assembly = metadata.AddAssembly(metadata.GetOrAddString(name), new Version(1, 0, 0, 0), metadata.GetOrAddString(culture), default, 0, AssemblyHashAlgorithm.Sha1);
        metadata.AddTypeDefinition(0, default, metadata.GetOrAddString("<Module>"), default, MetadataTokens.FieldDefinitionHandle(1), MetadataTokens.MethodDefinitionHandle(1));
        if (neutral != null)
        {
            AssemblyReferenceHandle core = metadata.AddAssemblyReference(metadata.GetOrAddString("System.Runtime"), new Version(9, 0, 0, 0), default, default, 0, default);
            TypeReferenceHandle attribute = metadata.AddTypeReference(core, metadata.GetOrAddString("System.Resources"), metadata.GetOrAddString("NeutralResourcesLanguageAttribute"));
            var signature = new BlobBuilder();
            new BlobEncoder(signature).MethodSignature(isInstanceMethod: true).Parameters(1, r => r.Void(), p => p.AddParameter().Type().String());
            MemberReferenceHandle constructor = metadata.AddMemberReference(attribute, metadata.GetOrAddString(".ctor"), metadata.GetOrAddBlob(signature));
            var value = new BlobBuilder();
            new BlobEncoder(value).CustomAttributeSignature(f => f.AddArgument().Scalar().Constant(neutral), n => n.Count(0));
            metadata.AddCustomAttribute(assembly, constructor, metadata.GetOrAddBlob(value));
        }
        var data = new BlobBuilder();
        foreach ((string resource, byte[] bytes) in resources)
        {
            metadata.AddManifestResource(ManifestResourceAttributes.Public, metadata.GetOrAddString(resource), default, (uint)data.Count);
            data.WriteInt32(bytes.Length);
            data.WriteBytes(bytes);
            data.Align(8);
        }
        var builder = new ManagedPEBuilder(PEHeaderBuilder.CreateLibraryHeader(), new MetadataRootBuilder(metadata), new BlobBuilder(), managedResources: data);
        var image = new BlobBuilder();
        builder.Serialize(image);
        Directory.CreateDirectory(Path.GetDirectoryName(path));
        using FileStream file = File.Create(path);
        image.WriteContentTo(file);
    }

    static void MakeAll(string folder, string name, string neutral)
    {
        Write(Path.Combine(folder, name + ".dll"), name, "", neutral, (name + ".Words.resources", Resources(("hello", "hello"), ("yes", "yes"), ("only", "in English"), ("size", 3))));
        Write(Path.Combine(folder, "de", name + ".resources.dll"), name + ".resources", "de", null, (name + ".Words.de.resources", Resources(("hello", "hallo"), ("yes", "ja"), ("size", 5))), (name + ".Plain.de.txt", "Text"u8.ToArray()));
        Write(Path.Combine(folder, "de-AT", name + ".resources.dll"), name + ".resources", "de-AT", null, (name + ".Words.de-AT.resources", Resources(("hello", "servus"))));
    }

    static string Of(ResourceManager manager, string key, string culture) => manager.GetString(key, new CultureInfo(culture)) ?? "null";

    static string Known(IEnumerable<Assembly> assemblies, string name) =>
        string.Join(" ", assemblies.Where(a => a.GetName().Name.StartsWith(name)).Select(a => a.GetName().Name + ":" + a.GetName().CultureName).Order(StringComparer.Ordinal));

    static void Show(string title, Assembly assembly, string name)
    {
        Console.WriteLine("-- " + title);
        var manager = new ResourceManager(name + ".Words", assembly);
        foreach (string culture in new[] { "de-AT", "de", "de-CH", "fr", "en", "" })
            Console.WriteLine($"{culture}: {Of(manager, "hello", culture)} {Of(manager, "yes", culture)} {Of(manager, "only", culture)} {Of(manager, "none", culture)} {manager.GetObject("size", new CultureInfo(culture))}");
        CultureInfo before = CultureInfo.CurrentUICulture;
        CultureInfo.CurrentUICulture = new CultureInfo("de");
        Console.WriteLine(manager.GetString("hello") + " " + manager.GetString("hello", null));
        CultureInfo.CurrentUICulture = before;
        ResourceSet german = manager.GetResourceSet(new CultureInfo("de"), true, false), french = manager.GetResourceSet(new CultureInfo("fr"), true, false);
        Console.WriteLine(string.Join(" ", german.Cast<DictionaryEntry>().Select(e => (string)e.Key).Order()) + " " + (french == null));
        Assembly satellite = assembly.GetSatelliteAssembly(new CultureInfo("de"));
        Console.WriteLine(satellite.FullName + " " + string.Join(" ", satellite.GetManifestResourceNames()));
        Console.WriteLine(AssemblyLoadContext.GetLoadContext(satellite) == AssemblyLoadContext.GetLoadContext(assembly));
        try { assembly.GetSatelliteAssembly(new CultureInfo("fr")); Console.WriteLine("found"); }
        catch (FileNotFoundException e) { Console.WriteLine(e.GetType().Name + " " + e.FileName); }
        Console.WriteLine(Known(AssemblyLoadContext.GetLoadContext(assembly).Assemblies, name));
    }

    static void Main()
    {
        Console.WriteLine(new CultureInfo("de-AT").Parent.Name + " " + new CultureInfo("de").Parent.Name.Length + " " + new CultureInfo("de-AT").Name);
        string folder = Directory.CreateTempSubdirectory("satellites").FullName;
        try
        {
            MakeAll(folder, "Texts", null);
            MakeAll(folder, "Neutral", "de");
            string texts = Path.Combine(folder, "Texts.dll");
            Show("default context", AssemblyLoadContext.Default.LoadFromAssemblyPath(texts), "Texts");
            Show("neutral language", Assembly.LoadFrom(Path.Combine(folder, "Neutral.dll")), "Neutral");
            Show("own context, from its folder", new AssemblyLoadContext("plain").LoadFromAssemblyPath(texts), "Texts");
            var asked = new List<string>();
            var own = new Own("asks", (context, name) =>
            {
                asked.Add(name.Name + ":" + name.CultureName);
                return name.CultureName == "fr" ? context.LoadFromAssemblyPath(Path.Combine(folder, "other", "Texts.resources.dll")) : null;
            });
            Write(Path.Combine(folder, "other", "Texts.resources.dll"), "Texts.resources", "fr", null, ("Texts.Words.fr.resources", Resources(("hello", "bonjour"))));
            var manager = new ResourceManager("Texts.Words", own.LoadFromAssemblyPath(texts));
            Console.WriteLine("-- own context, that is asked");
            Console.WriteLine(Of(manager, "hello", "fr") + " " + Of(manager, "yes", "fr") + " " + Of(manager, "hello", "de"));
            Console.WriteLine(string.Join(" ", asked.Distinct()));
            Console.WriteLine(Known(own.Assemblies, "Texts"));
            // From memory there is no folder to look in, but events are asked.
            var memory = new AssemblyLoadContext("memory");
            Assembly fromBytes = memory.LoadFromStream(new MemoryStream(File.ReadAllBytes(texts)));
            memory.Resolving += (context, name) => name.CultureName == "de" ? context.LoadFromAssemblyPath(Path.Combine(folder, "de", "Texts.resources.dll")) : null;
            manager = new ResourceManager("Texts.Words", fromBytes);
            Console.WriteLine("-- from memory");
            Console.WriteLine(Of(manager, "hello", "de-AT") + " " + Of(manager, "hello", "de") + " " + Of(manager, "only", "de"));
            own.Unload();
            try { new ResourceManager("Texts.None", fromBytes).GetString("hello", new CultureInfo("de")); }
            catch (MissingManifestResourceException e) { Console.WriteLine(e.GetType().Name); }
        }
        finally { Directory.Delete(folder, true); }
    }
}
