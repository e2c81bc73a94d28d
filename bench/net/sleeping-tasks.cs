// 10,000 tasks that block their thread for 100 ms each: what becomes of code that was not written for async.
using System;
using System.Threading;
using System.Threading.Tasks;

static class Program
{
    static void Main()
    {
        int done = 0;
        var tasks = new Task[10000];
        for (int i = 0; i < tasks.Length; i++)
            tasks[i] = Task.Run(() => { Thread.Sleep(100); Interlocked.Increment(ref done); });
        Task.WaitAll(tasks);
        Console.WriteLine(done);
    }
}
