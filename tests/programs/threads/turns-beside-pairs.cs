// Pairs of threads that hand a token to and fro leave turns to all other pairs, and to a thread that only yields.
using System;
using System.Linq;
using System.Threading;

class TurnsBesidePairs
{
    const int Pairs = 40, Wanted = 50;
    static readonly int[] turns = new int[Pairs + 1];
    static volatile bool stop;

    static void Main()
    {
        var threads = Enumerable.Range(0, Pairs).SelectMany(Pair).ToList();
        threads.Add(new Thread(() => { while (!stop) { turns[Pairs]++; Thread.Yield(); } }));
        threads.ForEach(thread => thread.Start());
        var start = Environment.TickCount;
        while (turns.Min() < Wanted && Environment.TickCount - start < 20000)
            Thread.Sleep(10);
        stop = true;
        threads.ForEach(thread => thread.Join());
        Console.WriteLine(turns.Count(n => n < Wanted) + " had too few turns");
    }

    static Thread[] Pair(int number)
    {
        var gate = new object();
        bool first = true;
        Func<bool, Thread> half = mine => new Thread(() =>
        {
            lock (gate)
            {
                while (!stop)
                {
                    while (first != mine && !stop)
                        Monitor.Wait(gate, 100);
                    turns[number]++;
                    first = !mine;
                    Monitor.Pulse(gate);
                }
            }
        });
        return new[] { half(true), half(false) };
    }
}
