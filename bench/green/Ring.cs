// Threads in a ring pass a token on: one thread runs, all others wait.
using System;
using System.Diagnostics;
using System.Threading;

abstract class Ring
{
    readonly int size;
    // The token's state. Who has the token, or has not given it to the first thread yet, may use it.
    long hopsLeft;
    int last;
    readonly SemaphoreSlim isDone = new SemaphoreSlim(0);
    readonly Thread[] members;

    protected Ring(int size) { this.size = size; members = new Thread[size]; }

    protected abstract void Take(int member);
    protected abstract void Give(int member);

    void Start(int depth)
    {
        for (int i = 0; i < size; i++)
        {
            int member = i;
            members[i] = new Thread(() => Descend(depth, member));
            members[i].Start();
        }
    }

    // So many frames below the loop.
    int Descend(int depth, int member)
    {
        if (depth == 0)
        {
            Loop(member);
            return 0;
        }
        return Descend(depth - 1, member) + 1;
    }

    void Loop(int member)
    {
        int next = member + 1 == size ? 0 : member + 1;
        for (;;)
        {
            Take(member);
            long left = hopsLeft;
            if (left > 0)
            {
                hopsLeft = left - 1;
                Give(next);
            }
            else if (left == 0)
            {
                last = member;
                isDone.Release();
            }
            else
            {
                if (next != 0)
                    Give(next);
                return;
            }
        }
    }

    // So many hops; the last one ends here.
    void Pass(long hops)
    {
        hopsLeft = hops;
        Give(0);
        isDone.Wait();
    }

    void Stop()
    {
        hopsLeft = -1;
        Give(0);
        foreach (Thread member in members)
            member.Join();
    }

    public static void Measure(bool withMonitors, int size, int depth)
    {
        Ring ring = withMonitors ? (Ring)new MonitorRing(size) : new SemaphoreRing(size);
        ring.Start(depth);
        Figures.Print("hop", Figures.Nanoseconds(size, ring.Pass));
        Figures.Print("at", size);
        ring.Stop();
    }

    // The old thread-ring: 503 threads, a lock for each. Seconds of 50,000,000 hops, scaled from so many.
    public static void Classic(int size, int hops)
    {
        const double WholeHops = 50e6;
        Ring ring = new MonitorRing(size);
        Stopwatch watch = Stopwatch.StartNew();
        ring.Start(0);
        ring.Pass(hops);
        double seconds = watch.Elapsed.TotalSeconds;
        if (ring.last != hops % size)
            throw new Exception("the token ended at " + ring.last);
        Figures.Print("seconds", seconds * WholeHops / hops);
        Figures.Print("at", hops);
        ring.Stop();
    }
}

sealed class MonitorRing : Ring
{
    sealed class Cell { public bool HasToken; }

    readonly Cell[] cells;

    public MonitorRing(int size) : base(size)
    {
        cells = new Cell[size];
        for (int i = 0; i < size; i++)
            cells[i] = new Cell();
    }

    protected override void Take(int member)
    {
        Cell cell = cells[member];
        lock (cell)
        {
            while (!cell.HasToken)
                Monitor.Wait(cell);
            cell.HasToken = false;
        }
    }

    protected override void Give(int member)
    {
        Cell cell = cells[member];
        lock (cell)
        {
            cell.HasToken = true;
            Monitor.Pulse(cell);
        }
    }
}

sealed class SemaphoreRing : Ring
{
    readonly SemaphoreSlim[] cells;

    public SemaphoreRing(int size) : base(size)
    {
        cells = new SemaphoreSlim[size];
        for (int i = 0; i < size; i++)
            cells[i] = new SemaphoreSlim(0);
    }

    protected override void Take(int member) { cells[member].Wait(); }
    protected override void Give(int member) { cells[member].Release(); }
}
