// mcs: -unsafe
// Inline arrays: all elements are zeroed, copied and kept alive, wherever the struct lies; native code sees them all.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

[InlineArray(5)] struct Ints
{
    public int First;
#if NET
    [System.Diagnostics.CodeAnalysis.UnscopedRef]
#endif
    public ref int this[int i] => ref Inline.At<Ints, int>(ref this, i);
}
[InlineArray(4)] struct Texts { public string First; }
[InlineArray(3)] struct Of<T> { public T First; }
[InlineArray(2)] struct Nested { public Texts First; }
struct Pair { public string Text; public byte Number; }
[InlineArray(3)] struct Pairs { public Pair First; }
struct Outer { public byte Before; public Texts Texts; public byte Between; public Ints Ints; public object After; }
[InlineArray(2)] struct Comparable
{
    public int First;
    public override bool Equals(object other) => other is Comparable c && First == c.First;
    public override int GetHashCode() => First;
}
[InlineArray(2)] struct Bools { public bool First; }
[InlineArray(2)] struct Complex { public double First; }
struct Real { public double Value; }
[InlineArray(2)] struct Reals { public Real First; }
[InlineArray(2)] struct Longs { public long First; }
[StructLayout(LayoutKind.Sequential)] struct Native { public byte Before; public Bools Bools; public Texts Texts; public Ints Ints; }

class Holder
{
    public byte Before;
    public Outer Outer;
    public Of<Pair> Pairs;
    public Holder Clone() => (Holder)MemberwiseClone();
}

static unsafe class Program
{
    static Texts s_texts;
    static Nested s_nested;
    [ThreadStatic] static Texts t_texts;

    [DllImport("libm.so.6")] static extern double cabs(Complex z);
    [DllImport("libm.so.6", EntryPoint = "cabs")] static extern double cabs_of_reals(Reals z);
    [DllImport("libc.so.6")] static extern Longs lldiv(long a, long b);

    static ref string Text(ref Texts texts, int i) => ref Inline.At<Texts, string>(ref texts, i);
    static string Make(string prefix, int i) => prefix + new string('x', i);
    static string Show(Texts texts)
    {
        string all = "";
        for (int i = 0; i < 4; i++)
        {
            all += (i > 0 ? " " : "") + (Text(ref texts, i) ?? "null");
        }
        return all;
    }

    static void Fill(ref Texts texts, string prefix)
    {
        for (int i = 0; i < 4; i++)
        {
            Text(ref texts, i) = Make(prefix, i);
        }
    }

    static Texts Filled(string prefix)
    {
        var texts = new Texts();
        Fill(ref texts, prefix);
        return texts;
    }

    static void Churn()
    {
        for (int i = 0; i < 1000; i++)
        {
            new string('y', i % 7).ToString();
        }
        GC.Collect();
    }

    static int SumOfLocal(int n)
    {
        var ints = new Ints();
        for (int i = 0; i < n; i++)
        {
            ints[i] = i * i;
        }
        var copy = ints;
        copy[1] += 100;
        int sum = 0;
        for (int i = 0; i < n; i++)
        {
            sum += ints[i] + copy[i];
        }
        return sum + ints.First + copy.First;
    }

    static void Refused(string what, Func<object> call)
    {
        try
        {
            Console.WriteLine($"{what}: {call()}");
        }
        catch (NotSupportedException)
        {
            Console.WriteLine($"{what}: not supported");
        }
    }

    static void Main()
    {
        Console.WriteLine(SumOfLocal(5));

        Fill(ref s_texts, "static");
        Inline.At<Nested, Texts>(ref s_nested, 1) = Filled("nested");
        var local = Filled("local");
        var holder = new Holder();
        Fill(ref holder.Outer.Texts, "field");
        holder.Outer.After = Make("after", 2);
        holder.Outer.Ints[4] = 7;
        Inline.At<Of<Pair>, Pair>(ref holder.Pairs, 2) = new Pair { Text = Make("pair", 1), Number = 3 };
        var array = new Texts[3];
        Fill(ref array[2], "array");
        object boxed = Filled("boxed");
        var generic = new Of<string>();
        Inline.At<Of<string>, string>(ref generic, 2) = Make("generic", 2);
        Texts? nullable = Filled("nullable");
        Func<string> closure = () => Show(local);
        var thread = new Thread(() =>
        {
            Fill(ref t_texts, "thread");
            Churn();
            Console.WriteLine(Show(t_texts));
        });
        Churn();
        thread.Start();
        thread.Join();
        ref string element = ref Text(ref array[2], 3);
        // The old holder gets young strings.
        Text(ref holder.Outer.Texts, 2) = Make("young", 3);
        Churn();
        Console.WriteLine(Show(s_texts));
        Console.WriteLine(Show(Inline.At<Nested, Texts>(ref s_nested, 1)) + ", " + Show(s_nested.First));
        Console.WriteLine(closure());
        Console.WriteLine($"{Show(holder.Outer.Texts)} {holder.Outer.After} {holder.Outer.Ints[4]}");
        Console.WriteLine(Inline.At<Of<Pair>, Pair>(ref holder.Pairs, 2).Text + Inline.At<Of<Pair>, Pair>(ref holder.Pairs, 2).Number);
        Console.WriteLine(Show(array[2]) + ", " + Show(array[0]) + ", " + element);
        Console.WriteLine(Show((Texts)boxed));
        Console.WriteLine(Inline.At<Of<string>, string>(ref generic, 2) + " " + Show(nullable.Value));

        var clone = holder.Clone();
        var copies = (Texts[])array.Clone();
        Array.Copy(array, 2, array, 1, 1);
        holder = null;
        array[2] = default;
        Churn();
        Console.WriteLine(Show(clone.Outer.Texts) + ", " + clone.Outer.After);
        Console.WriteLine(Show(copies[2]) + ", " + Show(array[1]) + ", " + Show(array[2]));

        Refused("equal", () => new Ints().Equals(new Ints()));
        Refused("equal to null", () => new Ints().Equals(null));
        Refused("equal to another", () => new Ints().Equals(1));
        Refused("hash code", () => new Texts().GetHashCode());
        Refused("as a field", () => new Outer().Equals(new Outer()));
        Refused("hash code as a field", () => new Outer().GetHashCode() == new Outer().GetHashCode());
        Refused("with an equality", () => new Comparable().Equals(new Comparable()));
        Console.WriteLine(new Ints().ToString());

        Console.WriteLine(string.Join(" ", Marshal.SizeOf(typeof(Ints)), Marshal.SizeOf(typeof(Texts)),
            Marshal.SizeOf(typeof(Bools)), Marshal.SizeOf(typeof(Native)), Marshal.OffsetOf(typeof(Native), "Ints")));
        var native = new Native { Before = 9, Texts = Filled("native") };
        Inline.At<Bools, bool>(ref native.Bools, 1) = true;
        native.Ints[4] = 44;
        IntPtr memory = Marshal.AllocHGlobal(Marshal.SizeOf(typeof(Native)));
        Marshal.StructureToPtr(native, memory, false);
        Console.WriteLine($"{Marshal.ReadInt32(memory, 4)} {Marshal.ReadInt32(memory, 8)} {Marshal.ReadInt32(memory, 64)}");
        var back = (Native)Marshal.PtrToStructure(memory, typeof(Native));
        Console.WriteLine($"{Show(back.Texts)} {back.Bools.First} {Inline.At<Bools, bool>(ref back.Bools, 1)} {back.Ints[4]}");
        Marshal.DestroyStructure(memory, typeof(Native));
        Marshal.FreeHGlobal(memory);
        var z = new Complex { First = 3 };
        Inline.At<Complex, double>(ref z, 1) = 4;
        var reals = new Reals { First = new Real { Value = 5 } };
        Inline.At<Reals, Real>(ref reals, 1).Value = 12;
        var quotient = lldiv(17, 5);
        Console.WriteLine($"{cabs(z)} {cabs_of_reals(reals)} {quotient.First} {Inline.At<Longs, long>(ref quotient, 1)}");
    }
}
