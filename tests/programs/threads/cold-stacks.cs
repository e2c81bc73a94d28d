// env: SAKI_THREADS=mn
// env: SAKI_HOT_STACKS=0
// Stacks of parked threads move to compact memory and back: references on them keep objects alive meanwhile, several times over, and the
// stack's end is guarded as before.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

class Node
{
    public int Value;
    public Node Next;
}

class ColdStacks
{
    const int Threads = 300, Rounds = 3;
    static readonly object gate = new object();
    static int round, parked;

    static void Main()
    {
        var threads = new Thread[Threads];
        var wrong = 0;
        for (int i = 0; i < Threads; i++)
        {
            int number = i;
            threads[i] = new Thread(() => { if (!Descend(number, number % 40, null)) Interlocked.Increment(ref wrong); });
            threads[i].Start();
        }
        for (int i = 1; i <= Rounds; i++)
        {
            while (Volatile.Read(ref parked) < Threads * i)
                Thread.Sleep(1);
            // Time for the stacks to go.
            Thread.Sleep(100);
            for (int k = 0; k < 200000; k++)
                GC.KeepAlive(new Node());
            GC.Collect(i % 2 == 0 ? 0 : 2);
            lock (gate)
            {
                round = i;
                Monitor.PulseAll(gate);
            }
        }
        foreach (var thread in threads)
            thread.Join();
        Console.WriteLine("wrong: " + wrong);
    }

    // Each frame holds a node that only the stack refers to.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Descend(int number, int depth, Node outer)
    {
        var node = new Node { Value = number * 100 + depth, Next = outer };
        bool right = depth > 0 ? Descend(number, depth - 1, node) : Wait() && Overflows(number);
        int count = 0;
        for (var n = node; n != null; n = n.Next, count++)
            right &= n.Value == number * 100 + depth + count;
        return right && count == number % 40 - depth + 1;
    }

    static bool Wait()
    {
        for (int i = 1; i <= Rounds; i++)
        {
            lock (gate)
            {
                Interlocked.Increment(ref parked);
                while (round < i)
                    Monitor.Wait(gate);
            }
        }
        return true;
    }

    static bool Overflows(int number)
    {
        if (number % 100 != 7)
            return true;
        try
        {
            return Recurse(1) == 0;
        }
        catch (StackOverflowException)
        {
            return true;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Recurse(int n)
    {
        return Recurse(n + 1) + n;
    }
}
