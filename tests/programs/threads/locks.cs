// Monitors: mutual exclusion, recursion, Wait and Pulse, timeouts, errors of ownership.
using System;
using System.Collections.Generic;
using System.Threading;

class Channel<T>
{
    readonly Queue<T> items = new Queue<T>();
    readonly int capacity;
    bool closed;
    public Channel(int capacity) { this.capacity = capacity; }

    public void Put(T item)
    {
        lock (items)
        {
            while (items.Count == capacity)
                Monitor.Wait(items);
            items.Enqueue(item);
            Monitor.PulseAll(items);
        }
    }

    public bool Take(out T item)
    {
        lock (items)
        {
            while (items.Count == 0 && !closed)
                Monitor.Wait(items);
            if (items.Count == 0)
            {
                item = default(T);
                return false;
            }
            item = items.Dequeue();
            Monitor.PulseAll(items);
            return true;
        }
    }

    public void Close()
    {
        lock (items)
        {
            closed = true;
            Monitor.PulseAll(items);
        }
    }
}

static class Program
{
    static int shared;
    static readonly object gate = new object();

    static void Run(int threads, ThreadStart body)
    {
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++)
        {
            all[i] = new Thread(body);
            all[i].Start();
        }
        foreach (Thread t in all)
            t.Join();
    }

    static int Recurse(int n)
    {
        lock (gate)
            return n == 0 ? 0 : 1 + Recurse(n - 1);
    }

    static void Main()
    {
        Run(4, () =>
        {
            for (int i = 0; i < 20000; i++)
                lock (gate)
                    shared++;
        });
        Console.WriteLine(shared);
        Console.WriteLine(Recurse(300));

        Channel<int> channel = new Channel<int>(10);
        long sum = 0;
        Thread producer = new Thread(() =>
        {
            for (int i = 1; i <= 5000; i++)
                channel.Put(i);
            channel.Close();
        });
        producer.Start();
        Run(3, () =>
        {
            int item;
            while (channel.Take(out item))
                Interlocked.Add(ref sum, item);
        });
        producer.Join();
        Console.WriteLine(sum);

        bool held = false, taken = true;
        ManualResetEvent ready = new ManualResetEvent(false), release = new ManualResetEvent(false);
        Thread holder = new Thread(() =>
        {
            lock (gate)
            {
                ready.Set();
                release.WaitOne();
            }
        });
        holder.Start();
        ready.WaitOne();
        taken = Monitor.TryEnter(gate);
        Monitor.TryEnter(gate, 20, ref held);
        Console.WriteLine("{0} {1}", taken, held);
        release.Set();
        holder.Join();
        Console.WriteLine(Monitor.TryEnter(gate));
        Monitor.Exit(gate);
        foreach (Action bad in new Action[] { () => Monitor.Exit(gate), () => Monitor.Pulse(gate), () => Monitor.Wait(gate), () => Monitor.Enter(null) })
        {
            try
            {
                bad();
            }
            catch (Exception e)
            {
                Console.Write(e.GetType().Name + " ");
            }
        }
        Console.WriteLine();
        lock (gate)
            Console.WriteLine(Monitor.Wait(gate, 20));
        try
        {
            lock (gate)
                throw new Exception("inside");
        }
        catch (Exception)
        {
            Console.WriteLine(Monitor.IsEntered(gate));
        }
        object[] many = new object[2000];
        for (int i = 0; i < many.Length; i++)
            many[i] = new object();
        int total = 0;
        Run(3, () =>
        {
            foreach (object o in many)
                lock (o)
                {
                    o.GetHashCode();
                    Interlocked.Increment(ref total);
                }
        });
        Console.WriteLine(total);
        object nested = new object();
        lock (nested)
        {
            Thread other = new Thread(() => { lock (nested) shared = -1; });
            other.Start();
            Thread.Sleep(20);
            Console.WriteLine(shared);
            Monitor.Exit(nested);
            other.Join();
            Monitor.Enter(nested);
        }
        Console.WriteLine(shared);
    }
}
