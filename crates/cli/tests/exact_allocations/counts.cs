// Allocates known numbers of objects, by type and by thread, over collections. Argument: rounds.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

class Small { public Small Next; public int Value; }
class Finalized { static int count; ~Finalized() { count++; } }
class Copied { public long A, B, C; public Copied Copy() { return (Copied)MemberwiseClone(); } }
struct Pair { public long A, B; }

static class Counts
{
    const MethodImplOptions Apart = MethodImplOptions.NoInlining;
    [ThreadStatic] static object kept;

    [MethodImpl(Apart)] static void Smalls(int count) { for (int i = 0; i < count; i++) kept = new Small { Value = i }; }
    [MethodImpl(Apart)] static void Boxes(int count) { for (int i = 0; i < count; i++) kept = new Pair { A = i }; }
    [MethodImpl(Apart)] static void Arrays(int count) { for (int i = 0; i < count; i++) kept = new Pair[i % 7]; }
    [MethodImpl(Apart)] static void Larges(int count) { for (int i = 0; i < count; i++) kept = new Pair[10000]; }
    [MethodImpl(Apart)] static void Tables(int count) { for (int i = 0; i < count; i++) kept = new Small[3, 5]; }
    [MethodImpl(Apart)] static void Strings(int count) { for (int i = 0; i < count; i++) kept = new string('x', i % 11); }
    [MethodImpl(Apart)] static void Finals(int count) { for (int i = 0; i < count; i++) kept = new Finalized(); }

    [MethodImpl(Apart)]
    static void Copies(int count)
    {
        var first = new Copied();
        for (int i = 1; i < count; i++) kept = first.Copy();
    }

    // Each level allocates on the way down and on the way back.
    [MethodImpl(Apart)]
    static Small Deep(int depth)
    {
        var small = new Small { Value = depth };
        if (depth > 1) small.Next = Deep(depth - 1);
        kept = new Small();
        return small;
    }

    static int rounds;

    [MethodImpl(Apart)]
    static void Work(int thread)
    {
        for (int round = 0; round < rounds; round++)
        {
            Smalls(1000 * thread);
            Boxes(100);
            Arrays(70);
            Larges(2);
            Tables(30);
            Strings(110);
            Copies(50);
            Finals(20);
            Deep(100);
            if (round % 4 == thread)
                GC.Collect(round % 2);
            else
                Thread.Yield();
        }
    }

    [MethodImpl(Apart)] static void Thread1() { Work(1); }
    [MethodImpl(Apart)] static void Thread2() { Work(2); }
    [MethodImpl(Apart)] static void Thread3() { Work(3); }

    static void Main(string[] args)
    {
        rounds = int.Parse(args[0]);
        var threads = new[] { new Thread(Thread1), new Thread(Thread2), new Thread(Thread3) };
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        Console.WriteLine("ok");
    }
}
