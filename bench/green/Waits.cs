// Threads that wait for each other: yielding, hand-overs, a contended lock, a bounded queue.
using System;
using System.Threading;

static class Waits
{
    static void RunAll(params ThreadStart[] bodies)
    {
        Thread[] threads = Array.ConvertAll(bodies, body => new Thread(body));
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
    }

    // Two threads on one processor yield to each other. Nanoseconds a yield, which is a switch.
    public static void Switch()
    {
        Figures.Print("switch", Figures.Nanoseconds(10000, count =>
        {
            ThreadStart yields = () => { for (long i = 0; i < count / 2; i++) Thread.Yield(); };
            RunAll(yields, yields);
        }));
    }

    public static void PingPong()
    {
        object gate = new object();
        Figures.Print("hand-over", Figures.Nanoseconds(1000, count =>
        {
            int turn = 0;
            Func<int, ThreadStart> player = me => () =>
            {
                for (long i = 0; i < count / 2; i++)
                {
                    lock (gate)
                    {
                        while (turn != me)
                            Monitor.Wait(gate);
                        turn = 1 - me;
                        Monitor.Pulse(gate);
                    }
                }
            };
            RunAll(player(0), player(1));
        }));
    }

    static long shared;

    // Nanoseconds for each time that one of so many threads takes the lock.
    public static void ContendedLock(int threads)
    {
        object gate = new object();
        Figures.Print("lock", Figures.Nanoseconds(100000, count =>
        {
            shared = 0;
            ThreadStart body = () =>
            {
                for (long i = 0; i < count / threads; i++)
                    lock (gate) shared++;
            };
            ThreadStart[] bodies = new ThreadStart[threads];
            for (int i = 0; i < threads; i++)
                bodies[i] = body;
            RunAll(bodies);
            if (shared != count / threads * threads)
                throw new Exception("lost updates");
        }));
    }

    sealed class BoundedBuffer
    {
        readonly long[] items;
        int first, count;

        public BoundedBuffer(int capacity) { items = new long[capacity]; }

        public void Put(long item)
        {
            lock (items)
            {
                while (count == items.Length)
                    Monitor.Wait(items);
                items[(first + count) % items.Length] = item;
                if (++count == 1)
                    Monitor.PulseAll(items);
            }
        }

        public long Take()
        {
            lock (items)
            {
                while (count == 0)
                    Monitor.Wait(items);
                long item = items[first];
                first = (first + 1) % items.Length;
                if (count-- == items.Length)
                    Monitor.PulseAll(items);
                return item;
            }
        }
    }

    // Two threads put, two take. Nanoseconds an item.
    public static void BoundedQueue(int capacity)
    {
        Figures.Print("item", Figures.Nanoseconds(10000, count =>
        {
            BoundedBuffer buffer = new BoundedBuffer(capacity);
            long sum = 0, half = count / 2;
            ThreadStart produce = () => { for (long i = 0; i < half; i++) buffer.Put(i); };
            ThreadStart consume = () =>
            {
                long mine = 0;
                for (long i = 0; i < half; i++)
                    mine += buffer.Take();
                Interlocked.Add(ref sum, mine);
            };
            RunAll(produce, consume, produce, consume);
            if (sum != half * (half - 1))
                throw new Exception("wrong sum");
        }));
    }
}
