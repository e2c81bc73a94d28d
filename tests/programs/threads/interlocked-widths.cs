// Interlocked's operations on all types for which Mono's class library has them; floats are compared by their bits.
using System;
using System.Globalization;
using System.Threading;

class InterlockedWidths
{
    class Holder
    {
        public float Single = 1.5f;
        public double Double = -0.0;
        public IntPtr Pointer = new IntPtr(-1);
        public int Int = int.MinValue;
        public long Long = long.MinValue;
    }

    static float single = float.NaN;
    static double[] doubles = { 1, 2, 3 };

    static string Text(double value) { return (1 / value).ToString(CultureInfo.InvariantCulture); }

    static string Refused(Action action)
    {
        try { action(); return "done"; } catch (NullReferenceException) { return "null"; }
    }

    static void Floats(Holder holder)
    {
        Console.WriteLine(Text(Interlocked.Exchange(ref holder.Single, -0f)) + " " + Text(holder.Single));
        // The zeros are equal, but not the same.
        Console.WriteLine(Text(Interlocked.CompareExchange(ref holder.Single, 4, 0)) + " " + Text(holder.Single));
        Console.WriteLine(Text(Interlocked.CompareExchange(ref holder.Single, 4, -0f)) + " " + Text(holder.Single));
        Console.WriteLine(Text(Interlocked.CompareExchange(ref holder.Double, 8, 0)) + " " + Text(holder.Double));
        Console.WriteLine(Text(Interlocked.CompareExchange(ref holder.Double, 8, -0.0)) + " " + Text(holder.Double));
        // A NaN differs from itself, but is the same.
        Console.WriteLine(Text(Interlocked.CompareExchange(ref single, 2, float.NaN)) + " " + Text(single));
        // The sum is computed with more bits than the place has.
        float third = 1f / 3;
        Console.WriteLine(Interlocked.Exchange(ref single, third * 3 + 16777216f) == 2f && single == (float)(third * 3 + 16777216f));
        Console.WriteLine(Text(Interlocked.Exchange(ref doubles[1], 0.125)) + " " + doubles[0] + " " + Text(doubles[1]) + " " + doubles[2]);
    }

    static void Integers(Holder holder)
    {
        Console.WriteLine(Interlocked.Exchange(ref holder.Pointer, new IntPtr(5)) + " " + Interlocked.CompareExchange(ref holder.Pointer, new IntPtr(-6), new IntPtr(5)) + " " + holder.Pointer);
        Console.WriteLine(Interlocked.Exchange(ref holder.Int, -2) + " " + Interlocked.CompareExchange(ref holder.Int, int.MaxValue, -2) + " " + Interlocked.Increment(ref holder.Int) + " " + Interlocked.Add(ref holder.Int, -1));
        Console.WriteLine(Interlocked.Exchange(ref holder.Long, -2) + " " + Interlocked.CompareExchange(ref holder.Long, long.MaxValue, -2) + " " + Interlocked.Increment(ref holder.Long) + " " + Interlocked.Add(ref holder.Long, -1));
    }

    // A sum of doubles that several threads make.
    static double total;

    static void Add(double value)
    {
        double seen, sum;
        do { seen = Volatile.Read(ref total); sum = seen + value; }
        while (Interlocked.CompareExchange(ref total, sum, seen) != seen);
    }

    static void Main()
    {
        for (int round = 0; round < 3; round++)
        {
            single = float.NaN;
            doubles = new double[] { 1, 2, 3 };
            Floats(new Holder());
            Integers(new Holder());
        }
        Holder none = null;
        Console.WriteLine(Refused(() => Interlocked.Exchange(ref none.Single, 1)) + " " + Refused(() => Interlocked.CompareExchange(ref none.Double, 1, 2)) + " " + Refused(() => Interlocked.Exchange(ref none.Long, 1)));
        var threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() => { for (int n = 0; n < 20000; n++) Add(0.5); });
            threads[i].Start();
        }
        foreach (var thread in threads) thread.Join();
        Console.WriteLine(total.ToString(CultureInfo.InvariantCulture));
    }
}
