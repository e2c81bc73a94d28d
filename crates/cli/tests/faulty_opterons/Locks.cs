using System.Threading;

class Locks
{
    static int count;

    static void Enter(object gate)
    {
        lock (gate)
            count++;
    }

    static int Add(ref int place)
    {
        return Interlocked.Increment(ref place);
    }

    static void Main()
    {
        var gate = new object();
        int total = 0;
        var threads = new Thread[2];
        for (int i = 0; i < threads.Length; i++) {
            threads[i] = new Thread(() => {
                for (int k = 0; k < 1000; k++) {
                    Enter(gate);
                    Add(ref total);
                }
            });
            threads[i].Start();
        }
        foreach (var thread in threads)
            thread.Join();
        System.Console.WriteLine(count + " " + total);
    }
}
