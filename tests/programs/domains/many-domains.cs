// Twenty domains, each with weak tables of its own.
using System;
using System.Runtime.CompilerServices;

public class Worker : MarshalByRefObject
{
    public int Run(int number)
    {
        var table = new ConditionalWeakTable<object, string>();
        var keys = new object[10];
        for (int i = 0; i < keys.Length; i++)
            table.Add(keys[i] = new object(), "value " + i);
        GC.Collect();
        int found = 0;
        foreach (object key in keys)
        {
            string value;
            if (table.TryGetValue(key, out value))
                found++;
        }
        return found + number;
    }
}

static class ManyDomains
{
    static void Main()
    {
        int total = 0;
        for (int i = 0; i < 20; i++)
        {
            AppDomain domain = AppDomain.CreateDomain("domain " + i);
            var worker = (Worker) domain.CreateInstanceAndUnwrap(typeof(Worker).Assembly.FullName, typeof(Worker).FullName);
            total += worker.Run(i);
        }
        Console.WriteLine(total);
    }
}
