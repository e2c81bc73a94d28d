// Type.StructLayoutAttribute of types with and without a row of their own in the metadata's table of layouts.
using System;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;

public struct Plain { public int X { get; set; } }
public class PlainClass { public int X; }
public class Generic<T> { public struct Inner { public T X; } }
public enum Number { One }
public interface IFace { }
public delegate void Handler ();

[StructLayout (LayoutKind.Sequential, Pack = 1)]
public struct Packed { public IntPtr A; public uint B; }

[StructLayout (LayoutKind.Sequential, Size = 24)]
public struct Sized { public byte A; }

[StructLayout (LayoutKind.Sequential, Pack = 2, Size = 24, CharSet = CharSet.Unicode)]
public class Both { public byte A; }

[StructLayout (LayoutKind.Auto, CharSet = CharSet.Auto)]
public struct Automatic { public byte A; public long B; }

[StructLayout (LayoutKind.Explicit)]
public struct Overlaid { [FieldOffset (0)] public int A; [FieldOffset (2)] public short B; }

// The compiler gives a type without fields, and one with a fixed buffer, a size.
public struct Empty { }
public unsafe struct Buffers { public fixed byte Bytes [13]; }

public static class Program
{
    static void Show (Type type)
    {
        StructLayoutAttribute a = type.StructLayoutAttribute;
        int listed = type.GetCustomAttributesData ().Count (d => d.AttributeType == typeof (StructLayoutAttribute))
            + type.GetCustomAttributes (typeof (StructLayoutAttribute), false).Length;
        Console.WriteLine ($"{type}: {(a == null ? "none" : $"{a.Value}, packing {a.Pack}, size {a.Size}, {a.CharSet}")}, listed {listed}");
    }

    public static void Main ()
    {
        foreach (Type type in new [] {
            typeof (Plain), typeof (PlainClass), typeof (Generic<>), typeof (Generic<int>), typeof (Generic<string>.Inner), typeof (Number), typeof (IFace), typeof (Handler),
            typeof (Packed), typeof (Sized), typeof (Both), typeof (Automatic), typeof (Overlaid), typeof (Empty), typeof (Buffers),
            typeof (Buffers).GetField ("Bytes").FieldType, typeof (int), typeof (string), typeof (Packed []), typeof (Packed).MakePointerType (),
            typeof (Generic<>).GetGenericArguments () [0] })
            Show (type);

        var module = AssemblyBuilder.DefineDynamicAssembly (new AssemblyName ("A"), AssemblyBuilderAccess.Run).DefineDynamicModule ("A");
        var made = new [] {
            module.DefineType ("Made", TypeAttributes.Public),
            module.DefineType ("MadePacked", TypeAttributes.Public | TypeAttributes.SequentialLayout, typeof (ValueType), PackingSize.Size4, 40) };
        foreach (TypeBuilder builder in made)
            Show (builder.CreateType ());
    }
}
