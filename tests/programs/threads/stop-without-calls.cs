// The world stops while a thread runs a loop without calls and others are blocked in native code: none of them delays a
// collection, and the loop goes on afterwards.
using System;
using System.Diagnostics;
using System.IO;
using System.IO.Pipes;
using System.Threading;

static class StopWithoutCalls
{
    static bool stop;
    static long turns;

    static void Loop()
    {
        long count = 0;
        while (!Volatile.Read(ref stop))
            count = count * 3 + 1;
        turns = count;
    }

    static void Main()
    {
        var server = new AnonymousPipeServerStream(PipeDirection.Out, HandleInheritability.None);
        var client = new AnonymousPipeClientStream(PipeDirection.In, server.ClientSafePipeHandle);
        int read = -1;
        var reader = new Thread(() => read = client.ReadByte());
        var sleeper = new Thread(() => { try { Thread.Sleep(Timeout.Infinite); } catch (ThreadInterruptedException) { } });
        var loops = new[] { new Thread(Loop), new Thread(Loop) };
        reader.Start();
        sleeper.Start();
        foreach (Thread loop in loops)
            loop.Start();
        Thread.Sleep(50);
        var watch = Stopwatch.StartNew();
        for (int i = 0; i < 20; i++)
        {
            GC.KeepAlive(new byte[10000]);
            GC.Collect();
        }
        // A stop takes microseconds, and milliseconds where every processor is busy; one that waited for a blocked thread
        // would not end.
        Console.WriteLine(watch.Elapsed < TimeSpan.FromSeconds(20) ? "collected" : "slow: " + watch.Elapsed);
        Volatile.Write(ref stop, true);
        foreach (Thread loop in loops)
            loop.Join();
        server.WriteByte(42);
        reader.Join();
        sleeper.Interrupt();
        sleeper.Join();
        Console.WriteLine(read);
    }
}
