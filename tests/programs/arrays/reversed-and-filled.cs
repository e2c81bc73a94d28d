// Arrays and spans of each primitive type that are turned round or filled, and floats looked for, of every length and at every place, are as loops leave them.
using System;

static class Program
{
    static readonly Random random = new Random(29);
    static int checks;

    static void Same(string what, object got, object wanted)
    {
        checks++;
        if (!Equals(got, wanted)) throw new Exception(what + ": " + got + " and not " + wanted);
    }

    enum Colour : short { Red, Green, Blue }

    static void SameElements<T>(string what, T[] got, T[] wanted)
    {
        checks++;
        for (int i = 0; i < wanted.Length; i++)
            if (!Equals(got[i], wanted[i])) throw new Exception(what + " at " + i + ": " + got[i] + " and not " + wanted[i]);
    }

    static void Reversed<T>(Func<int, T> make)
    {
        string name = typeof(T).Name;
        for (int length = 0; length <= 200; length += length < 70 ? 1 : 13)
        {
            var array = new T[length];
            for (int i = 0; i < length; i++)
                array[i] = make(random.Next(200));
            int start = random.Next(length + 1), count = random.Next(length - start + 1);
            var wanted = (T[])array.Clone();
            for (int i = 0; i < count; i++)
                wanted[start + i] = array[start + count - 1 - i];
            var got = (T[])array.Clone();
            Array.Reverse<T>(got, start, count);
            SameElements(name + " of " + length, got, wanted);
            got = (T[])array.Clone();
            Array.Reverse((Array)got, start, count);
            SameElements(name + " of any " + length, got, wanted);
            got = (T[])array.Clone();
            new Span<T>(got, start, count).Reverse();
            SameElements(name + " in a span of " + length, got, wanted);
        }
    }

    static void Filled<T>(Func<int, T> make)
    {
        string name = typeof(T).Name;
        for (int length = 0; length <= 200; length += length < 70 ? 1 : 13)
        {
            var array = new T[length];
            int start = random.Next(length + 1), count = random.Next(length - start + 1);
            T value = make(random.Next(1, 200));
            var wanted = new T[length];
            for (int i = start; i < start + count; i++)
                wanted[i] = value;
            new Span<T>(array, start, count).Fill(value);
            SameElements(name + " filled in a span of " + length, array, wanted);
            for (int i = 0; i < length; i++)
                wanted[i] = value;
            Array.Fill(array, value);
            SameElements(name + " filled " + length, array, wanted);
            new Span<T>(array).Reverse();
            SameElements(name + " filled and turned", array, wanted);
        }
    }

    static void Floats<T>(T[] values) where T : IEquatable<T>
    {
        string name = typeof(T).Name;
        for (int length = 0; length <= 120; length++)
        {
            var array = new T[length];
            for (int round = 0; round < 20; round++)
            {
                // Some values alone, so that others are not found.
                int kinds = random.Next(1, values.Length + 1);
                for (int i = 0; i < length; i++)
                    array[i] = values[random.Next(kinds)];
                T wanted = values[random.Next(values.Length)];
                int start = random.Next(length + 1), count = random.Next(length - start + 1);
                int first = -1, last = -1;
                for (int i = start; i < start + count; i++)
                    if (wanted.Equals(array[i])) { if (first < 0) first = i; last = i; }
                string what = name + " " + wanted + " in " + length;
                Same(what, Array.IndexOf(array, wanted, start, count), first);
                if (count > 0) Same(what + " last", Array.LastIndexOf(array, wanted, start + count - 1, count), last);
                var span = new ReadOnlySpan<T>(array, start, count);
                Same(what + " in a span", span.IndexOf(wanted), first < 0 ? -1 : first - start);
                Same(what + " last in a span", span.LastIndexOf(wanted), last < 0 ? -1 : last - start);
            }
        }
    }

    static void Throws<T>(string what, Action action) where T : Exception
    {
        try { action(); }
        catch (T e) { Same(what, e.GetType(), typeof(T)); return; }
        throw new Exception(what + " throws nothing");
    }

    static void Main()
    {
        Reversed(i => i % 2 == 0); Reversed(i => (byte)i); Reversed(i => (sbyte)i); Reversed(i => (char)(i * 300));
        Reversed(i => (short)(i * 300)); Reversed(i => (ushort)(i * 300)); Reversed(i => i << 23); Reversed(i => (uint)i << 23);
        Reversed(i => (long)i << 50); Reversed(i => (ulong)i << 50); Reversed(i => i / 3f); Reversed(i => i / 3.0);
        Reversed(i => (Colour)(i % 3)); Reversed(i => new DateTime(i)); Reversed(i => (decimal)i); Reversed(i => "text " + i);
        Reversed(i => i % 4 == 0 ? (int?)null : i); Reversed(i => new IntPtr(i));
        Filled(i => i % 2 == 0); Filled(i => (byte)i); Filled(i => (sbyte)i); Filled(i => (char)(i * 300));
        Filled(i => (short)(i * 300)); Filled(i => (ushort)(i * 300)); Filled(i => i << 23); Filled(i => (uint)i << 23);
        Filled(i => (long)i << 50); Filled(i => (ulong)i << 50); Filled(i => i / 3f); Filled(i => i / 3.0);
        Filled(i => (Colour)(i % 3)); Filled(i => new DateTime(i)); Filled(i => (decimal)i); Filled(i => "text " + i);
        Floats(new[] { 1.5, 0.0, -0.0, double.NaN, BitConverter.Int64BitsToDouble(0x7ff8000000000123), double.NegativeInfinity, double.Epsilon });
        Floats(new[] { 1.5f, 0.0f, -0.0f, float.NaN, -float.NaN, float.NegativeInfinity, float.Epsilon });
        var many = new int[200001];
        for (int i = 0; i < many.Length; i++)
            many[i] = i;
        Array.Reverse(many);
        for (int i = 0; i < many.Length; i++)
            if (many[i] != many.Length - 1 - i) throw new Exception("long");
        // Other lower bounds and ranks.
        var from5 = Array.CreateInstance(typeof(int), new[] { 20 }, new[] { 5 });
        for (int i = 5; i < 25; i++)
            from5.SetValue(i, i);
        Array.Reverse(from5, 6, 18);
        Same("from 5", from5.GetValue(6), 23);
        Same("from 5, first", from5.GetValue(5), 5);
        Throws<RankException>("ranks", () => Array.Reverse(new int[5, 5], 0, 20));
        Throws<ArgumentNullException>("null", () => Array.Reverse(null, 0, 20));
        Throws<ArgumentNullException>("null of a type", () => Array.Reverse<int>(null, 0, 20));
        Throws<ArgumentException>("range", () => Array.Reverse(new int[20], 3, 18));
        Throws<ArgumentOutOfRangeException>("start", () => Array.Reverse(new int[20], -3, 18));
        Console.WriteLine("{0} checks", checks);
    }
}
