// Allocation by several threads at once: 60,000,000 small objects in all, shared out over the threads, a few kept.
// Arguments: threads (default 1), objects (default 60000000).
using System;
using System.Threading;

sealed class Item
{
    public Item Next;
    public int Value;
}

static class AllocThreads
{
    static void Main(string[] args)
    {
        int threads = args.Length > 0 ? int.Parse(args[0]) : 1;
        int objects = args.Length > 1 ? int.Parse(args[1]) : 60000000;
        var workers = new Thread[threads];
        long kept = 0;
        for (int i = 0; i < threads; i++)
        {
            workers[i] = new Thread(() =>
            {
                Item list = null;
                for (int j = 0, length = 0; j < objects / threads; j++)
                {
                    Item item = new Item();
                    item.Value = j;
                    if (j % 64 != 0)
                        continue;
                    item.Next = list;
                    list = item;
                    if (++length == 1000)
                    {
                        Interlocked.Add(ref kept, length);
                        list = null;
                        length = 0;
                    }
                }
                GC.KeepAlive(list);
            });
            workers[i].Start();
        }
        foreach (Thread worker in workers)
            worker.Join();
        Console.WriteLine(kept > 0);
    }
}
