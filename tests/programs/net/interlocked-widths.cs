// Interlocked's operations on bool, char, enumerations, small integers and floats: what they return is extended by the
// type's sign, neighbours in memory stay as they are, and structs are refused. Through generic methods, delegates and
// reflection it is the same.
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;

enum Color { Red, Green = -7 }
enum Tiny : sbyte { Low = -128, None = 0, High = 127 }
enum Small : byte { None, Top = 255 }
enum Middle : short { Low = -30000, High = 30000 }
enum Upper : ushort { None, Top = 65535 }
enum Wide : long { Low = long.MinValue, High = long.MaxValue }
enum Flags : ulong { None, Top = 1UL << 63 }

struct Wrapped { public int Number; }
struct Pair { public int First, Second; }

class Holder
{
    public byte Before = 11;
    public sbyte Narrow = -3;
    public byte After = 22;
    public short Short = -300;
    public char Letter = 'a';
    public Tiny Tiny = Tiny.Low;
    public bool Flag;
    public byte Last = 33;
}

static class Test
{
    static readonly byte[] bytes = { 1, 2, 3, 4, 5, 6, 7, 8 };
    static readonly short[] shorts = { -1, -2, -3, -4 };
    static Tiny[] tinies = { Tiny.Low, Tiny.High };

    static string Show<T>(T value) => FormattableString.Invariant($"{value}");

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Both<T>(string name, T first, T second, T third)
    {
        T[] places = { third, first, third };
        ref T place = ref places[1];
        string text = name + ": " + Show(Interlocked.Exchange(ref place, second)) + " " + Show(place);
        text += " " + Show(Interlocked.CompareExchange(ref place, third, first)) + " " + Show(place);
        text += " " + Show(Interlocked.CompareExchange(ref place, third, second)) + " " + Show(place);
        Console.WriteLine(text + " " + Show(places[0]) + " " + Show(places[2]));
    }

    static string Refused(Action action)
    {
        try { action(); return "done"; } catch (Exception e) { return e.GetType().Name; }
    }

    static void Structs()
    {
        var wrapped = new Wrapped { Number = 1 };
        var pair = new Pair { First = 1 };
        int? maybe = 1;
        decimal number = 1;
        var time = new DateTime(5);
        Console.WriteLine(Refused(() => Interlocked.Exchange(ref wrapped, new Wrapped())) + " " + Refused(() => Interlocked.CompareExchange(ref wrapped, new Wrapped(), wrapped)));
        Console.WriteLine(Refused(() => Interlocked.Exchange(ref pair, new Pair())) + " " + Refused(() => Interlocked.CompareExchange(ref pair, new Pair(), pair)));
        Console.WriteLine(Refused(() => Interlocked.Exchange(ref maybe, 2)) + " " + Refused(() => Interlocked.Exchange(ref number, 2m)) + " " + Refused(() => Interlocked.Exchange(ref time, time)));
        Console.WriteLine(wrapped.Number + " " + pair.First + " " + maybe + " " + number.ToString(System.Globalization.CultureInfo.InvariantCulture) + " " + time.Ticks);
    }

    static unsafe void Nulls()
    {
        Console.WriteLine(Refused(() => Interlocked.Exchange(ref Unsafe.NullRef<byte>(), (byte)1)) + " " + Refused(() => Interlocked.Exchange(ref Unsafe.NullRef<short>(), (short)1)));
        Console.WriteLine(Refused(() => Interlocked.CompareExchange(ref Unsafe.NullRef<Tiny>(), Tiny.Low, Tiny.High)) + " " + Refused(() => Interlocked.CompareExchange(ref Unsafe.NullRef<double>(), 1, 2)));
        Holder none = null;
        Console.WriteLine(Refused(() => Interlocked.Exchange(ref none.Flag, true)) + " " + Refused(() => Interlocked.Or(ref Unsafe.NullRef<int>(), 1)));
    }

    static void Fields()
    {
        var holder = new Holder();
        Console.WriteLine(Interlocked.Exchange(ref holder.Narrow, (sbyte)-128) + " " + Interlocked.CompareExchange(ref holder.Narrow, (sbyte)127, (sbyte)-128) + " " + holder.Narrow);
        Console.WriteLine(Interlocked.Exchange(ref holder.Short, short.MinValue) + " " + Interlocked.CompareExchange(ref holder.Short, short.MaxValue, short.MinValue) + " " + holder.Short);
        Console.WriteLine(Interlocked.Exchange(ref holder.Letter, '\uffff') + " " + (int)Interlocked.CompareExchange(ref holder.Letter, 'z', '\uffff') + " " + holder.Letter);
        Console.WriteLine(Interlocked.Exchange(ref holder.Tiny, Tiny.High) + " " + Interlocked.CompareExchange(ref holder.Tiny, (Tiny)(-1), Tiny.High) + " " + (int)holder.Tiny);
        Console.WriteLine(Interlocked.Exchange(ref holder.Flag, true) + " " + Interlocked.CompareExchange(ref holder.Flag, false, true) + " " + holder.Flag);
        Console.WriteLine(holder.Before + " " + holder.After + " " + holder.Last);
    }

    // What the caller computes has more bits than the place, which do not count.
    static void Bits(int above)
    {
        for (int i = 0; i < bytes.Length; i++)
            if (Interlocked.Exchange(ref bytes[i], (byte)(above + i)) != i + 1 || Interlocked.CompareExchange(ref bytes[i], (byte)(i + above * 3), (byte)(above * 5 + i - above * 4)) != (byte)(above + i))
                Console.WriteLine("byte " + i);
        for (int i = 0; i < shorts.Length; i++)
            if (Interlocked.Exchange(ref shorts[i], (short)(above * 257 - i)) != -1 - i || Interlocked.CompareExchange(ref shorts[i], (short)(above * 771 + i), (short)(above * 257 - i)) != (short)(above * 257 - i))
                Console.WriteLine("short " + i);
        Console.WriteLine(string.Join(" ", bytes) + " | " + string.Join(" ", shorts));
        bool wasLow = Interlocked.CompareExchange(ref tinies[0], Tiny.None, Tiny.Low) == Tiny.Low;
        bool wasHigh = Interlocked.Exchange(ref tinies[1], (Tiny)(sbyte)above) > Tiny.None;
        Console.WriteLine(wasLow + " " + wasHigh + " " + tinies[0] + " " + tinies[1]);
        long sum = 0;
        sbyte place = -1;
        for (int i = 0; i < 300; i++)
            sum += Interlocked.Exchange(ref place, (sbyte)i);
        Console.WriteLine(sum + " " + place);
    }

    static void Logic()
    {
        int number = 0x0f0f;
        uint unsigned = 0xf0000000;
        long wide = -1;
        ulong top = 1UL << 63;
        Console.WriteLine(Interlocked.And(ref number, 0xff) + " " + Interlocked.Or(ref number, int.MinValue) + " " + number);
        Console.WriteLine(Interlocked.And(ref unsigned, 0x80000001) + " " + Interlocked.Or(ref unsigned, 6) + " " + unsigned);
        Console.WriteLine(Interlocked.And(ref wide, long.MaxValue) + " " + Interlocked.Or(ref wide, long.MinValue) + " " + wide);
        Console.WriteLine(Interlocked.And(ref top, ulong.MaxValue) + " " + Interlocked.Or(ref top, 1) + " " + top);
        Interlocked.Or(ref number, 0x700);
        Interlocked.And(ref wide, 0x7fff);
        Console.WriteLine(number + " " + wide);
    }

    // Neighbouring bytes belong to different threads; none may lose what another one has written.
    static void Races()
    {
        var spins = new bool[3];
        var counts = new int[4];
        var states = new Tiny[4];
        int shared = 0, mask = 0;
        var threads = new Thread[4];
        for (int number = 0; number < threads.Length; number++)
        {
            int mine = number;
            threads[number] = new Thread(() =>
            {
                for (int i = 0; i < 5000; i++)
                {
                    while (Interlocked.Exchange(ref spins[1], true))
                        Thread.Yield();
                    shared++;
                    Volatile.Write(ref spins[1], false);
                    if (Interlocked.CompareExchange(ref states[mine], (Tiny)(sbyte)(i + 1), (Tiny)(sbyte)i) == (Tiny)(sbyte)i)
                        counts[mine]++;
                    if ((i & 1) == 0) Interlocked.Or(ref mask, 1 << mine); else Interlocked.And(ref mask, ~(1 << mine));
                }
            });
        }
        foreach (var thread in threads) thread.Start();
        foreach (var thread in threads) thread.Join();
        Console.WriteLine(shared + " " + string.Join(" ", counts) + " " + mask + " " + spins[0] + " " + spins[2]);
    }

    delegate T Exchanger<T>(ref T place, T value);
    delegate T Comparer<T>(ref T place, T value, T expected);

    static void Indirect()
    {
        Exchanger<sbyte> signed = Interlocked.Exchange;
        Exchanger<byte> unsigned = Interlocked.Exchange;
        Exchanger<char> letters = Interlocked.Exchange<char>;
        Exchanger<Middle> middles = Interlocked.Exchange<Middle>;
        Exchanger<int> or = Interlocked.Or;
        sbyte a = -5;
        byte b = 250;
        char c = 'c';
        Middle d = Middle.Low;
        int e = 9;
        Console.WriteLine(signed(ref a, -6) + " " + a + " " + unsigned(ref b, 251) + " " + b + " " + letters(ref c, 'd') + " " + c + " " + middles(ref d, Middle.High) + " " + d + " " + or(ref e, 6) + " " + e);
        Exchanger<object> objects = Interlocked.Exchange;
        Comparer<object> compareObjects = Interlocked.CompareExchange;
        object place = "first";
        Console.WriteLine(objects(ref place, "second") + " " + place + " " + compareObjects(ref place, "third", "none") + " " + compareObjects(ref place, "third", place) + " " + place);
        Comparer<ushort> compareUpper = Interlocked.CompareExchange;
        Console.WriteLine(Refused(() => unsigned(ref Unsafe.NullRef<byte>(), 1)) + " " + Refused(() => compareUpper(ref Unsafe.NullRef<ushort>(), 1, 2)) + " " + Refused(() => objects(ref Unsafe.NullRef<object>(), "x")));
        foreach (Type type in new[] { typeof(byte), typeof(sbyte), typeof(short), typeof(ushort), typeof(float) })
        {
            MethodInfo method = typeof(Interlocked).GetMethod("CompareExchange", new[] { type.MakeByRefType(), type, type });
            object Of(int number) => Convert.ChangeType(number, type);
            var arguments = new[] { Of(100), Of(101), Of(100) };
            Console.WriteLine(method.Invoke(null, arguments) + " " + arguments[0]);
        }
    }

    static void Main()
    {
        for (int round = 0; round < 3; round++)
        {
            Both("bool", true, false, true);
            Both("char", 'x', '\u00ff', 'z');
            Both<byte>("byte", 255, 1, 128);
            Both<sbyte>("sbyte", -128, 127, -1);
            Both<short>("short", -32768, 32767, -2);
            Both<ushort>("ushort", 65535, 1, 32768);
            Both("int", int.MinValue, int.MaxValue, -1);
            Both<uint>("uint", uint.MaxValue, 1, 1u << 31);
            Both("long", long.MinValue, long.MaxValue, -1);
            Both<ulong>("ulong", ulong.MaxValue, 1, 1UL << 63);
            Both<nint>("nint", -1, 1, 2);
            Both<nuint>("nuint", 3, 1, 2);
            Both("float", -0f, float.NaN, 1.5f);
            Both("double", double.NaN, -0.0, -1.25);
            Both("zeros", 0.0, -0.0, 1.0);
            Both("string", "one", "two", null);
            Both("int enum", Color.Green, Color.Red, (Color)5);
            Both("sbyte enum", Tiny.Low, Tiny.High, (Tiny)(-1));
            Both("byte enum", Small.Top, Small.None, (Small)128);
            Both("short enum", Middle.Low, Middle.High, (Middle)(-1));
            Both("ushort enum", Upper.Top, Upper.None, (Upper)40000);
            Both("long enum", Wide.Low, Wide.High, (Wide)(-1));
            Both("ulong enum", Flags.Top, Flags.None, (Flags)1);
        }
        Structs();
        Nulls();
        Fields();
        Bits(200);
        Logic();
        Races();
        Indirect();
    }
}
