// Message passing: who sees a number that was stored with release order, also sees what was stored before it. The
// writer counts plain places up, then the flag; the reader loads the flag, then the places, which must be as far.
using System;
using System.Threading;

struct Part
{
    public long Low, High;
}

class Message
{
    public long Plain;
    public int Narrow;
    public double Real;
    public Part Part;
    public long[] Elements = new long[8];
    public volatile int Flag;
    public long Wide;
    public volatile object Box = 0L;
    public long Fenced;
    public static long Static;
    public static volatile int StaticFlag;
}

class MemoryOrderMessages
{
    const int Rounds = 30000;
    static readonly Message message = new Message();

    static void Check(string name, Action<int> write, Func<long> readFlag, Func<long, bool> isAsFar)
    {
        bool ok = true;
        long last = 0;
        var reader = new Thread(() =>
        {
            while (last < Rounds)
            {
                long flag = readFlag();
                ok &= isAsFar(flag) && flag >= last;
                last = flag;
            }
        });
        reader.Start();
        for (int i = 1; i <= Rounds; i++) write(i);
        reader.Join();
        Console.WriteLine(name + ": " + (ok ? "ok" : "WRONG"));
    }

    static void Main()
    {
        Message m = message;
        Check("volatile field", i => { m.Plain = i; m.Narrow = i; m.Flag = i; },
            () => m.Flag, flag => m.Plain >= flag && m.Narrow >= flag);
        m.Flag = 0;
        Check("struct and element", i => { m.Part = new Part { Low = i, High = i }; m.Elements[i & 7] = i; m.Flag = i; },
            () => m.Flag, flag => m.Part.Low >= flag && m.Part.High >= flag && m.Elements[flag & 7] >= flag);
        m.Plain = 0;
        Check("volatile static", i => { Message.Static = i; m.Real = i; Message.StaticFlag = i; },
            () => Message.StaticFlag, flag => Message.Static >= flag && m.Real >= flag);
        Check("Volatile.Write and Read", i => { m.Plain = i; Volatile.Write(ref m.Wide, i); },
            () => Volatile.Read(ref m.Wide), flag => m.Plain >= flag);
        m.Plain = 0;
        Check("volatile reference", i => { m.Plain = i; m.Box = (long)i; },
            () => (long)m.Box, flag => m.Plain >= flag);
        m.Plain = 0;
        Check("memory barriers", i => { m.Plain = i; Thread.MemoryBarrier(); m.Fenced = i; Thread.MemoryBarrier(); },
            () => { long flag = m.Fenced; Thread.MemoryBarrier(); return flag; }, flag => m.Plain >= flag);
        long counter = 0;
        m.Plain = 0;
        Check("interlocked counter", i => { m.Plain = i; Interlocked.Increment(ref counter); },
            () => Interlocked.Read(ref counter), flag => m.Plain >= flag);
        int swapped = 0;
        m.Plain = 0;
        Check("exchange and compare", i => { m.Plain = i; Interlocked.Exchange(ref swapped, i); },
            () => Interlocked.CompareExchange(ref swapped, -1, -1), flag => m.Plain >= flag);
        Chain();
    }

    // Causality through a third thread: 1 stores, 2 sees it and stores a flag, 3 sees the flag and must see the first.
    static int first, second;

    static void Chain()
    {
        bool ok = true;
        var between = new Thread(() =>
        {
            int seen = 0;
            while (seen < Rounds)
            {
                seen = Volatile.Read(ref first);
                Volatile.Write(ref second, seen);
            }
        });
        var last = new Thread(() =>
        {
            int seen = 0;
            while (seen < Rounds)
            {
                seen = Volatile.Read(ref second);
                ok &= Volatile.Read(ref first) >= seen;
            }
        });
        between.Start();
        last.Start();
        for (int i = 1; i <= Rounds; i++) Volatile.Write(ref first, i);
        between.Join();
        last.Join();
        Console.WriteLine("through a third thread: " + (ok ? "ok" : "WRONG"));
    }
}
