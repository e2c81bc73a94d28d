// Spans over arrays, strings, stack memory and native memory; slices, searches, sorting, ref fields, inline arrays and collection expressions.
using System;
using System.Buffers;
using System.Buffers.Binary;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

[InlineArray(4)]
struct Four<T> { T first; }

ref struct Cursor(ref int at)
{
    readonly ref int at = ref at;
    public void Move(int by) => at += by;
}

static unsafe class Test
{
    static int Sum(ReadOnlySpan<int> all)
    {
        int sum = 0;
        foreach (int one in all) sum += one;
        return sum;
    }

    static int Sums(params int[] all) => Sum(all);

    static void Main()
    {
        int[] array = [5, 3, 1, 4, 2];
        Span<int> span = array;
        Console.WriteLine(Sum(span) + " " + Sum(span[1..^1]) + " " + span.IndexOf(4) + " " + span.Contains(9));
        span.Slice(1, 3).Sort();
        Console.WriteLine(string.Join(" ", array));
        span.Reverse();
        Console.WriteLine(string.Join(" ", array) + " " + span.BinarySearch(7));
        Span<int> stack = stackalloc int[16];
        for (int i = 0; i < stack.Length; i++) stack[i] = i * i;
        Console.WriteLine(Sum(stack) + " " + stack.IndexOfAnyInRange(50, 70) + " " + stack[^1]);
        stack[8..].Clear();
        stack[..2].Fill(-1);
        Console.WriteLine(Sum(stack));
        try { _ = stack[int.Parse("16")]; } catch (IndexOutOfRangeException e) { Console.WriteLine(e.GetType().Name); }
        try { _ = stack.Slice(10, 7); } catch (ArgumentOutOfRangeException e) { Console.WriteLine(e.GetType().Name); }
        ReadOnlySpan<char> text = "  key = value ; other=2";
        foreach (Range part in text.Split(';'))
        {
            var piece = text[part].Trim();
            int at = piece.IndexOf('=');
            Console.WriteLine($"{piece[..at].TrimEnd()}:{piece[(at + 1)..].TrimStart()}");
        }
        Console.WriteLine(text.IndexOfAny(SearchValues.Create("=;")) + " " + text.StartsWith("  KEY", StringComparison.OrdinalIgnoreCase) + " " + text.Count('='));
        var words = new List<string> { "x", "y" };
        CollectionsMarshal.AsSpan(words)[1] = "z";
        Console.WriteLine(string.Concat(words));
        var four = new Four<string>();
        four[2] = "two";
        Span<string> inside = four;
        inside[3] = "three";
        foreach (string one in four) Console.Write((one ?? "null") + " ");
        Console.WriteLine(four[^1]);
        int place = 3;
        new Cursor(ref place).Move(4);
        Console.WriteLine(place);
        Span<byte> bytes = stackalloc byte[8];
        BinaryPrimitives.WriteInt32BigEndian(bytes, 0x01020304);
        MemoryMarshal.Cast<byte, short>(bytes)[3] = -2;
        Console.WriteLine(Convert.ToHexString(bytes) + " " + MemoryMarshal.Read<int>(bytes));
        byte* native = (byte*)NativeMemory.AllocZeroed(32);
        new Span<byte>(native, 32).Fill(7);
        Console.WriteLine(native[31] + " " + new ReadOnlySpan<byte>(native, 32).IndexOfAnyExcept((byte)7));
        NativeMemory.Free(native);
        int[] rented = ArrayPool<int>.Shared.Rent(100);
        Console.WriteLine(rented.Length);
        ArrayPool<int>.Shared.Return(rented);
        Memory<char> memory = "memory".ToCharArray();
        memory.Span[0] = 'M';
        Console.WriteLine(memory[..3].ToString() + " " + MemoryExtensions.SequenceEqual<char>(memory.Span, "Memory"));
        int[] spread = [.. array, 0, .. array.Where(n => n > 3)];
        Console.WriteLine(string.Join(",", spread) + " " + Sums(1, 2, 3) + " " + "utf8"u8.Length);
    }
}
