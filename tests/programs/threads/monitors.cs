// Monitors beyond the plain lock statement: recursion past the thin lock's room, hash codes under locks, contention,
// waiting, timeouts, interruption and abortion of waiters, the flag of Enter, exceptions.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

class Monitors
{
    static void Check(string name, bool ok) { Console.WriteLine(name + ": " + (ok ? "ok" : "WRONG")); }

    static bool Throws<T>(Action action) where T : Exception
    {
        try { action(); } catch (T) { return true; }
        return false;
    }

    // Whether another thread could take the lock now.
    static bool IsFree(object gate)
    {
        bool free = false;
        var thread = new Thread(() => { if (Monitor.TryEnter(gate)) { free = true; Monitor.Exit(gate); } });
        thread.Start();
        thread.Join();
        return free;
    }

    static void Recursion()
    {
        var gate = new object();
        for (int depth = 1; depth <= 200; depth++) Monitor.Enter(gate);
        Check("held deep", Monitor.IsEntered(gate) && !IsFree(gate));
        for (int depth = 1; depth < 200; depth++) Monitor.Exit(gate);
        Check("held still", Monitor.IsEntered(gate) && !IsFree(gate));
        Monitor.Exit(gate);
        Check("released", !Monitor.IsEntered(gate) && IsFree(gate));
        Check("once too often", Throws<SynchronizationLockException>(() => Monitor.Exit(gate)));
        for (int depth = 0; depth < 64; depth++) Monitor.Enter(gate);
        for (int depth = 0; depth < 64; depth++) Monitor.Exit(gate);
        Check("64 times", IsFree(gate));
    }

    static void Hashes()
    {
        var gate = new object();
        int hash;
        lock (gate) hash = RuntimeHelpers.GetHashCode(gate);
        lock (gate)
        {
            lock (gate) Check("hash under lock", hash == gate.GetHashCode());
            Check("locked after hash", !IsFree(gate));
        }
        Check("free after hash", IsFree(gate));
        Contend(gate);
        Check("hash after inflation", hash == RuntimeHelpers.GetHashCode(gate));
        GC.Collect();
        Check("hash after collection", hash == RuntimeHelpers.GetHashCode(gate) && IsFree(gate));
        lock (gate) GC.Collect();
        Check("lock across collection", IsFree(gate) && hash == gate.GetHashCode());
    }

    // Makes a thread wait for the lock, which the caller does not hold.
    static void Contend(object gate)
    {
        var started = new ManualResetEvent(false);
        var thread = new Thread(() => { started.Set(); lock (gate) { } });
        lock (gate)
        {
            thread.Start();
            started.WaitOne();
            while ((thread.ThreadState & ThreadState.WaitSleepJoin) == 0) Thread.Sleep(1);
        }
        thread.Join();
    }

    static void Contention()
    {
        var gate = new object();
        int counter = 0;
        var threads = new List<Thread>();
        for (int n = 0; n < 6; n++)
        {
            var thread = new Thread(() =>
            {
                for (int i = 0; i < 5000; i++)
                {
                    lock (gate) { lock (gate) counter++; }
                    if (i % 500 == 0) lock (gate) { new byte[1000].GetHashCode(); Thread.Yield(); }
                }
            });
            thread.Start();
            threads.Add(thread);
        }
        foreach (var thread in threads) thread.Join();
        Check("contention", counter == 30000 && IsFree(gate));
    }

    static void PingPong()
    {
        var gate = new object();
        int turn = 0, rounds = 0;
        ThreadStart player = () =>
        {
            int me = Thread.CurrentThread.Name == "a" ? 0 : 1;
            for (int i = 0; i < 500; i++)
                lock (gate)
                {
                    while (turn != me) Monitor.Wait(gate);
                    turn = 1 - me;
                    rounds++;
                    Monitor.Pulse(gate);
                }
        };
        Thread a = new Thread(player) { Name = "a" }, b = new Thread(player) { Name = "b" };
        a.Start(); b.Start(); a.Join(); b.Join();
        Check("ping-pong", rounds == 1000);

        int waiting = 0, woken = 0;
        bool go = false;
        var waiters = new Thread[4];
        for (int n = 0; n < waiters.Length; n++)
        {
            waiters[n] = new Thread(() => { lock (gate) { waiting++; while (!go) Monitor.Wait(gate); woken++; } });
            waiters[n].Start();
        }
        while (true) { lock (gate) if (waiting == waiters.Length) { go = true; Monitor.PulseAll(gate); break; } Thread.Sleep(1); }
        foreach (var waiter in waiters) waiter.Join();
        Check("pulse all", woken == 4);
    }

    static void Timeouts()
    {
        var gate = new object();
        lock (gate)
        {
            lock (gate)
            {
                Check("wait times out", !Monitor.Wait(gate, 10));
                Check("wait of no time", !Monitor.Wait(gate, 0));
            }
            bool entered = true, flag = false;
            var other = new Thread(() => { entered = Monitor.TryEnter(gate, 20); Monitor.TryEnter(gate, 0, ref flag); });
            other.Start();
            other.Join();
            Check("try times out", !entered && !flag);
            Check("try again when owner", Monitor.TryEnter(gate, 0));
            Monitor.Exit(gate);
        }
        Check("free after timeouts", IsFree(gate));
        Check("bad timeout", Throws<ArgumentOutOfRangeException>(() => Monitor.TryEnter(gate, -2)) && IsFree(gate));
    }

    static void Flags()
    {
        var gate = new object();
        bool taken = false;
        Monitor.Enter(gate, ref taken);
        Check("flag set", taken);
        Check("flag must be clear", Throws<ArgumentException>(() => { bool set = true; Monitor.Enter(gate, ref set); }));
        Monitor.Exit(gate);
        Check("free after flag", IsFree(gate));
        taken = false;
        Check("null", Throws<ArgumentNullException>(() => Monitor.Enter(null, ref taken)) && !taken);
        Check("null object", Throws<ArgumentNullException>(() => Monitor.Enter(null)));
        Check("null exit", Throws<ArgumentNullException>(() => Monitor.Exit(null)));
        object none = null;
        Check("null lock", Throws<ArgumentNullException>(() => { lock (none) { } }));
        Check("null try", Throws<ArgumentNullException>(() => Monitor.TryEnter(null)));
        Check("exit unowned", Throws<SynchronizationLockException>(() => Monitor.Exit(gate)));
        Check("wait unowned", Throws<SynchronizationLockException>(() => Monitor.Wait(gate)));
        Check("pulse unowned", Throws<SynchronizationLockException>(() => Monitor.Pulse(gate)));
        bool refused = false;
        lock (gate)
        {
            var other = new Thread(() => refused = Throws<SynchronizationLockException>(() => Monitor.Exit(gate)));
            other.Start();
            other.Join();
        }
        Check("exit of another's", refused && IsFree(gate));
        Check("released by throw", Throws<InvalidOperationException>(() => { lock (gate) throw new InvalidOperationException(); }) && IsFree(gate));
    }

    [MethodImpl(MethodImplOptions.Synchronized)]
    bool OwnsThis(int depth) { return depth == 0 ? Monitor.IsEntered(this) : OwnsThis(depth - 1); }

    [MethodImpl(MethodImplOptions.Synchronized)]
    static void FailStatic() { if (Monitor.IsEntered(typeof(Monitors))) throw new InvalidOperationException(); }

    static void Synchronized()
    {
        var me = new Monitors();
        Check("synchronized", me.OwnsThis(100) && !Monitor.IsEntered(me) && IsFree(me));
        Check("synchronized static", Throws<InvalidOperationException>(FailStatic) && IsFree(typeof(Monitors)));
    }

    static void Until(Thread thread) { while ((thread.ThreadState & ThreadState.WaitSleepJoin) == 0) Thread.Sleep(1); }

    static void Requests()
    {
        var gate = new object();
        string seen = "";
        Thread thread;
        lock (gate)
        {
            thread = new Thread(() => { try { lock (gate) seen = "entered"; } catch (ThreadInterruptedException) { seen = "interrupted"; } });
            thread.Start();
            Until(thread);
            thread.Interrupt();
            thread.Join();
        }
        Check("interrupt of Enter", seen == "interrupted" && IsFree(gate));

        thread = new Thread(() => { lock (gate) { try { Monitor.Wait(gate); } catch (ThreadInterruptedException) { seen = Monitor.IsEntered(gate) ? "owner" : "not owner"; } } });
        thread.Start();
        Until(thread);
        thread.Interrupt();
        thread.Join();
        Check("interrupt of Wait", seen == "owner" && IsFree(gate));

#if !NET
        lock (gate)
        {
            thread = new Thread(() => { try { lock (gate) seen = "entered"; } catch (ThreadAbortException) { seen = "aborted"; Thread.ResetAbort(); } });
            thread.Start();
            Until(thread);
            thread.Abort();
            thread.Join();
        }
        Check("abort of Enter", seen == "aborted" && IsFree(gate));

        thread = new Thread(() => { lock (gate) { try { Monitor.Wait(gate); } catch (ThreadAbortException) { seen = Monitor.IsEntered(gate) ? "owner" : "not owner"; Thread.ResetAbort(); } } });
        thread.Start();
        Until(thread);
        thread.Abort();
        thread.Join();
        Check("abort of Wait", seen == "owner" && IsFree(gate));

        seen = "";
        lock (gate)
        {
            thread = new Thread(() =>
            {
                try { try { } finally { lock (gate) seen += "finally "; } seen += "not reached"; }
                catch (ThreadAbortException) { seen += "aborted"; Thread.ResetAbort(); }
            });
            thread.Start();
            Until(thread);
            // The finally block has to end first, so the abort must not end its wait.
            ThreadPool.QueueUserWorkItem(_ => thread.Abort());
            while ((thread.ThreadState & ThreadState.AbortRequested) == 0) Thread.Sleep(1);
            Thread.Sleep(20);
        }
        thread.Join();
        Check("abort in finally", seen == "finally aborted" && IsFree(gate));
#endif

        Thread.CurrentThread.Interrupt();
        lock (gate) { }
        Check("free lock is not interrupted", true);
        Check("wait with interrupt pending", Throws<ThreadInterruptedException>(() => { lock (gate) Monitor.Wait(gate, 1000); }) && IsFree(gate));
    }

    static void Main()
    {
        Recursion();
        Hashes();
        Contention();
        PingPong();
        Timeouts();
        Flags();
        Synchronized();
        Requests();
    }
}
