// mcs: -unsafe
// Searches in arrays and spans of each primitive type, and copies of every length and distance, give what loops give.
using System;
using System.Collections.Generic;

static unsafe class Program
{
    static readonly Random random = new Random(3);

    static void Same(string what, int got, int wanted)
    {
        if (got != wanted) throw new Exception(what + ": " + got + " and not " + wanted);
    }

    static void Searches<T>(Func<int, T> make) where T : struct, IEquatable<T>
    {
        string name = typeof(T).Name;
        for (int length = 0; length <= 200; length += length < 70 ? 1 : 13)
        {
            var array = new T[length];
            for (int i = 0; i < length; i++)
                array[i] = make(random.Next(20));
            for (int round = 0; round < 12; round++)
            {
                T wanted = make(random.Next(24)), other = make(random.Next(24));
                int start = random.Next(length + 1), count = random.Next(length - start + 1);
                int first = -1, last = -1, any = -1;
                for (int i = start; i < start + count; i++)
                {
                    if (array[i].Equals(wanted)) { if (first < 0) first = i; last = i; }
                    if (any < 0 && (array[i].Equals(wanted) || array[i].Equals(other))) any = i;
                }
                Same(name + " IndexOf", Array.IndexOf(array, wanted, start, count), first);
                if (count > 0)
                    Same(name + " LastIndexOf", Array.LastIndexOf(array, wanted, start + count - 1, count), last);
                Func<int, int> Of = place => place < 0 ? -1 : place - start;
                Same(name + " of a span", new ReadOnlySpan<T>(array, start, count).IndexOf(wanted), Of(first));
                Same(name + " last of a span", new ReadOnlySpan<T>(array, start, count).LastIndexOf(wanted), Of(last));
                Same(name + " any of a span", new ReadOnlySpan<T>(array, start, count).IndexOfAny(wanted, other), Of(any));
                Same(name + " any of three", new ReadOnlySpan<T>(array, start, count).IndexOfAny(wanted, other, other), Of(any));
            }
            if (length > 0)
            {
                var list = new List<T>(array);
                Same(name + " list", list.IndexOf(array[length - 1]), Array.IndexOf(array, array[length - 1]));
                Same(name + " contains", list.Contains(array[length / 2]) ? 1 : 0, 1);
            }
        }
    }

    static void Copies()
    {
        var memory = new byte[9000];
        for (int i = 0; i < memory.Length; i++)
            memory[i] = (byte)(i * 7 / 3);
        for (int round = 0; round < 3000; round++)
        {
            int length = round % 3 == 0 ? random.Next(4500) : random.Next(200);
            int from = random.Next(memory.Length - length + 1), to = random.Next(2) == 0 ? Math.Min(memory.Length - length, from + random.Next(70)) : random.Next(memory.Length - length + 1);
            var expected = (byte[])memory.Clone();
            var part = new byte[length];
            for (int i = 0; i < length; i++) part[i] = memory[from + i];
            for (int i = 0; i < length; i++) expected[to + i] = part[i];
            var a = (byte[])memory.Clone();
            var b = (byte[])memory.Clone();
            var c = (byte[])memory.Clone();
            Buffer.BlockCopy(a, from, a, to, length);
            Array.Copy(b, from, b, to, length);
            new Span<byte>(c, from, length).CopyTo(new Span<byte>(c, to, length));
            var d = new byte[memory.Length];
            fixed (byte* p = memory, q = d)
                Buffer.MemoryCopy(p + from, q + to, length, length);
            for (int i = 0; i < memory.Length; i++)
                if (a[i] != expected[i] || b[i] != expected[i] || c[i] != expected[i] || d[i] != (i >= to && i < to + length ? expected[i] : 0))
                    throw new Exception("copy of " + length + " from " + from + " to " + to + " at " + i);
            new Span<byte>(a, to, length).Clear();
            Array.Clear(b, to, length);
            for (int i = 0; i < memory.Length; i++)
            {
                byte left = i >= to && i < to + length ? (byte)0 : expected[i];
                if (a[i] != left || b[i] != left)
                    throw new Exception("clear of " + length + " at " + to);
            }
        }
        // Pages apart, and near to that.
        var source = new byte[200000];
        for (int i = 0; i < source.Length; i++) source[i] = (byte)(i % 251);
        for (int shift = 0; shift < 66; shift++)
        {
            var target = new byte[200000];
            Buffer.BlockCopy(source, 0, target, shift, 100000);
            for (int i = 0; i < target.Length; i++)
                if (target[i] != (i >= shift && i < shift + 100000 ? source[i - shift] : 0))
                    throw new Exception("far copy, " + shift + " at " + i);
        }
        var words = new string[500];
        for (int i = 0; i < words.Length; i++) words[i] = i.ToString();
        var others = new object[600];
        Array.Copy(words, 3, others, 60, 400);
        Array.Copy(others, 60, others, 61, 400);
        GC.Collect();
        for (int i = 0; i < 400; i++)
            if ((string)others[61 + i] != (3 + i).ToString())
                throw new Exception("references");
        new Span<object>(others, 100, 50).Clear();
        Same("cleared", Array.FindAll(others, o => o == null).Length, 600 - 401 + 50);
    }

    static void Throws<T>(string what, Action action) where T : Exception
    {
        try { action(); }
        catch (T) { return; }
        throw new Exception(what + " does not throw");
    }

    static void Main()
    {
        Searches(i => (byte)(i * 9));
        Searches(i => (sbyte)(i * 5 - 50));
        Searches(i => (char)(i * 999));
        Searches(i => (short)(i * 999 - 9000));
        Searches(i => (ushort)(i * 3001));
        Searches(i => i * 0x1000001 - 7);
        Searches(i => (uint)i * 0x8000001u);
        Searches(i => (long)i * 0x100000001L - 7);
        Searches(i => (ulong)i << 40);
        Searches(i => i % 2 == 0);
        Searches(i => i == 7 ? double.NaN : i * 0.5);
        Searches(i => i == 7 ? float.NaN : i == 8 ? -0f : i == 9 ? 0f : i * 0.5f);
        Copies();
        int[] none = null;
        Throws<ArgumentNullException>("null", () => Array.IndexOf(none, 1));
        Throws<ArgumentOutOfRangeException>("start", () => Array.IndexOf(new int[3], 1, 4));
        Throws<ArgumentOutOfRangeException>("count", () => Array.IndexOf(new int[3], 1, 2, 2));
        Throws<ArgumentOutOfRangeException>("last", () => Array.LastIndexOf(new int[3], 1, 3));
        Throws<ArgumentNullException>("copy to null", () => Buffer.BlockCopy(new int[3], 0, none, 0, 1));
        Throws<ArgumentException>("copy beyond the end", () => Buffer.BlockCopy(new int[3], 0, new int[2], 0, 12));
        Throws<ArgumentException>("copy to an array of references", () => Buffer.BlockCopy(new int[3], 0, new object[2], 0, 1));
        Throws<ArgumentException>("array beyond the end", () => Array.Copy(new int[3], 1, new int[3], 0, 3));
        Throws<ArgumentException>("span beyond the end", () => new Span<int>(new int[3]).CopyTo(new Span<int>(new int[2])));
        byte there = 1;
        Throws<NullReferenceException>("from null", () => { byte to; Buffer.MemoryCopy(null, &to, 1, 1); });
        Throws<NullReferenceException>("to null", () => { fixed (byte* p = new byte[100]) Buffer.MemoryCopy(p, null, 10, 10); });
        Buffer.MemoryCopy(null, &there, 0, 0);
        Same("nothing copied", there, 1);
        Console.WriteLine("ok");
    }
}
