// Values of attributes that nest arrays: two levels, and as deep as a blob can have them.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;

[AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
public sealed class AnyAttribute(object value) : Attribute
{
    public object Value => value;
}

static class Test
{
    /// An assembly that has the attribute with this value, a type tag and what follows it.
    static Assembly WithAttribute(IEnumerable<byte> value)
    {
        var metadata = new MetadataBuilder();
        metadata.AddModule(0, metadata.GetOrAddString("nested.dll"), metadata.GetOrAddGuid(Guid.NewGuid()), default, default);
        AssemblyDefinitionHandle assembly = metadata.AddAssembly(metadata.GetOrAddString("nested"), new Version(1, 0, 0, 0), default, default, 0, AssemblyHashAlgorithm.Sha1);
        metadata.AddTypeDefinition(0, default, metadata.GetOrAddString("<Module>"), default, MetadataTokens.FieldDefinitionHandle(1), MetadataTokens.MethodDefinitionHandle(1));
        AssemblyName own = typeof(Test).Assembly.GetName();
        AssemblyReferenceHandle reference = metadata.AddAssemblyReference(metadata.GetOrAddString(own.Name), own.Version, default, default, 0, default);
        TypeReferenceHandle attribute = metadata.AddTypeReference(reference, default, metadata.GetOrAddString("AnyAttribute"));
        var signature = new BlobBuilder();
        new BlobEncoder(signature).MethodSignature(isInstanceMethod: true).Parameters(1, r => r.Void(), p => p.AddParameter().Type().Object());
        MemberReferenceHandle constructor = metadata.AddMemberReference(attribute, metadata.GetOrAddString(".ctor"), metadata.GetOrAddBlob(signature));
        var blob = new BlobBuilder();
        blob.WriteUInt16(1);
        blob.WriteBytes(value.ToArray());
        blob.WriteUInt16(0);
        metadata.AddCustomAttribute(assembly, constructor, metadata.GetOrAddBlob(blob));
        var builder = new ManagedPEBuilder(PEHeaderBuilder.CreateLibraryHeader(), new MetadataRootBuilder(metadata), new BlobBuilder());
        var image = new BlobBuilder();
        builder.Serialize(image);
        return Assembly.Load(image.ToArray());
    }

    const byte Array = 0x1d, Int = 8, Boxed = 0x51;

    static string Shown(object value) => value is Array array ? "[" + string.Join(" ", array.Cast<object>().Select(Shown)) + "]" : value?.ToString() ?? "null";

    static void Try(string title, IEnumerable<byte> value)
    {
        try { Console.WriteLine(title + ": " + Shown(((AnyAttribute)WithAttribute(value).GetCustomAttributes(true).Single()).Value)); }
        catch (Exception e) { Console.WriteLine(title + ": " + e.GetType().Name); }
    }

    static byte[] Number(int number) => BitConverter.GetBytes(number);

    static void Main()
    {
        Try("number", new[] { Int }.Concat(Number(5)));
        Try("array", new[] { Array, Int }.Concat(Number(2)).Concat(Number(5)).Concat(Number(6)));
        Try("objects", new[] { Array, Boxed }.Concat(Number(2)).Append(Int).Concat(Number(5)).Append(Array).Append(Int).Concat(Number(1)).Concat(Number(7)));
        Try("cut off", new[] { Array, Int }.Concat(Number(200)).Concat(Number(5)));
        Try("deep", Enumerable.Repeat(Array, 1_000_000).Append(Int));
    }
}
