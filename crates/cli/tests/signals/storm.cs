// An allocation storm with forced collections, to be run while signals rain on every thread. Argument: seconds.
// Each worker keeps a graph whose checksum it knows, replaces parts of it all the time and verifies the whole; beside it
// run null dereferences (faults), lock hand-overs, waits, sleeps, file reads, short-lived threads and threads of native code.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Runtime.InteropServices;
using System.Threading;

static class Storm
{
    const int Workers = 4, Depth = 9, Graphs = 16;

    static volatile bool stop;
    static int failures;
    static readonly object gate = new object();
    static long turns;

    delegate void Callback(int number);
    delegate void CallFromNewThread(Callback callback, int number);

    [DllImport("libc")]
    static extern IntPtr dlsym(IntPtr library, string name);

    // Of the library that sends the signals; null without it.
    static CallFromNewThread FindCaller()
    {
        IntPtr address = dlsym(IntPtr.Zero, "call_from_new_thread");
        return address == IntPtr.Zero
            ? null
            : (CallFromNewThread)Marshal.GetDelegateForFunctionPointer(address, typeof(CallFromNewThread));
    }

    static void Work(int number)
    {
        try
        {
            Node[] graphs = new Node[Graphs];
            long[] sums = new long[Graphs];
            for (int round = 0; !stop; round++)
            {
                int place = round % Graphs;
                if (graphs[place] != null && Node.Sum(graphs[place]) != sums[place])
                    throw new Exception("checksum of graph " + place);
                graphs[place] = Node.Build(Depth, number * 1000 + round);
                sums[place] = Node.Sum(graphs[place]);
                Node nothing = round < 0 ? graphs[0] : null;
                try
                {
                    if (nothing.Value == 0)
                        throw new Exception("null has a value");
                }
                catch (NullReferenceException)
                {
                    Interlocked.Increment(ref turns);
                }
                lock (gate)
                {
                    turns++;
                    if (round % 8 == number)
                        Monitor.PulseAll(gate);
                    else if (round % 16 == 0)
                        Monitor.Wait(gate, 2);
                }
            }
        }
        catch (Exception e)
        {
            Interlocked.Increment(ref failures);
            Console.WriteLine("worker {0}: {1}", number, e);
            stop = true;
        }
    }

    static void Others()
    {
        try
        {
            string path = Path.GetTempFileName();
            CallFromNewThread caller = FindCaller();
            int called = 0;
            Callback callback = number => called += new List<int> { number, number }.Count * number;
            byte[] data = new byte[100000];
            for (int i = 0; i < data.Length; i++)
                data[i] = (byte)(i * 7);
            while (!stop)
            {
                File.WriteAllBytes(path, data);
                byte[] back = File.ReadAllBytes(path);
                for (int i = 0; i < data.Length; i++)
                    if (back[i] != data[i])
                        throw new Exception("file");
                int got = 0;
                Thread brief = new Thread(() => { got = new List<int> { 1, 2, 3 }.Count; });
                brief.Start();
                brief.Join();
                if (got != 3)
                    throw new Exception("thread");
                called = 0;
                if (caller != null)
                    caller(callback, 7);
                if (called != (caller == null ? 0 : 3 * 2 * 7))
                    throw new Exception("called with " + called);
                Stopwatch watch = Stopwatch.StartNew();
                Thread.Sleep(5);
                if (watch.ElapsedMilliseconds < 4)
                    throw new Exception("slept " + watch.ElapsedMilliseconds + " ms");
            }
            File.Delete(path);
        }
        catch (Exception e)
        {
            Interlocked.Increment(ref failures);
            Console.WriteLine("others: {0}", e);
            stop = true;
        }
    }

    static int Main(string[] args)
    {
        int seconds = args.Length > 0 ? int.Parse(args[0]) : 5;
        List<Thread> threads = new List<Thread>();
        for (int i = 0; i < Workers; i++)
        {
            int number = i;
            threads.Add(new Thread(() => Work(number)));
        }
        threads.Add(new Thread(Others));
        foreach (Thread thread in threads)
            thread.Start();
        Stopwatch watch = Stopwatch.StartNew();
        while (!stop && watch.Elapsed.TotalSeconds < seconds)
        {
            GC.Collect();
            Thread.Sleep(3);
        }
        stop = true;
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine(failures == 0 && (turns > 100 || seconds == 0) ? "ok" : "failed");
        return failures == 0 ? 0 : 1;
    }
}
