// Span<T> and Memory<T> over arrays, stack memory and strings.
// mcs: -unsafe
using System;

static class Program
{
    static int Sum(ReadOnlySpan<int> span)
    {
        int sum = 0;
        foreach (int x in span)
            sum += x;
        return sum;
    }

    static void Reverse<T>(Span<T> span)
    {
        for (int i = 0, j = span.Length - 1; i < j; i++, j--)
        {
            T t = span[i];
            span[i] = span[j];
            span[j] = t;
        }
    }

    static unsafe int OnStack()
    {
        int* memory = stackalloc int[8];
        Span<int> span = new Span<int>(memory, 8);
        for (int i = 0; i < span.Length; i++)
            span[i] = i * i;
        return Sum(span.Slice(2, 3));
    }

    static void Main()
    {
        int[] array = { 1, 2, 3, 4, 5, 6 };
        Span<int> all = array, middle = all.Slice(1, 4);
        Console.WriteLine("{0} {1} {2}", Sum(all), Sum(middle), middle.Length);
        Reverse(middle);
        Console.WriteLine(string.Join(" ", array));
        middle.Fill(7);
        middle[0] = 8;
        all.Slice(4).Clear();
        Console.WriteLine(string.Join(" ", array));
        Console.WriteLine(OnStack());
        string[] words = { "a", "b", "c" };
        Reverse(words.AsSpan());
        Console.WriteLine(string.Join(" ", words));
        ReadOnlySpan<char> text = "hello world".AsSpan().Slice(6);
        Console.WriteLine("{0} {1}", text.ToString(), text.IndexOf('r'));
        Span<byte> target = new byte[4];
        new byte[] { 1, 2, 3 }.AsSpan().CopyTo(target.Slice(1));
        Console.WriteLine(string.Join(" ", target.ToArray()));
        try
        {
            Console.WriteLine(middle[4]);
        }
        catch (IndexOutOfRangeException)
        {
            Console.WriteLine("IndexOutOfRangeException");
        }
        try
        {
            all.Slice(5, 2);
        }
        catch (ArgumentOutOfRangeException)
        {
            Console.WriteLine("ArgumentOutOfRangeException");
        }
        try
        {
            Span<object> covariant = (object[])words;
        }
        catch (ArrayTypeMismatchException)
        {
            Console.WriteLine("ArrayTypeMismatchException");
        }
        Memory<int> memory = array.AsMemory(1, 3);
        memory.Span[0]++;
        Console.WriteLine("{0} {1} {2}", memory.Length, array[1], memory.Slice(1).Span[0]);
        Console.WriteLine("{0} {1}", default(Span<int>).IsEmpty, Span<int>.Empty.Length);
        Console.WriteLine(all.SequenceEqual(array));
    }
}
