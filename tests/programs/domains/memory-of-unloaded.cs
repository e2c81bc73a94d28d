// Domains that are unloaded give back the memory of their types, statics and code: 60 of them take no more than ten.
// timeout: 240
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;

public class Part : MarshalByRefObject
{
    static readonly List<string> log = new List<string> ();
    [ThreadStatic] static object mine;

    public int Work (int count)
    {
        mine = log;
        for (int i = 0; i < count; i++)
            log.Add ("entry " + i);
        return log.Where (text => text.Length > 7).Select (text => text.Length).Sum () + (mine == log ? 1 : 0);
    }
}

static class MemoryOfUnloaded
{
    // What the old code lost in fifty domains was five times as much.
    const long AllowedGrowthKibibytes = 50 << 10;

    static long ResidentKibibytes ()
    {
        string line = File.ReadLines ("/proc/self/status").First (text => text.StartsWith ("VmRSS"));
        return long.Parse (line.Split (new[] { ' ', '\t' }, StringSplitOptions.RemoveEmptyEntries)[1]);
    }

    static int Run (int number)
    {
        AppDomain domain = AppDomain.CreateDomain ("part " + number);
        var part = (Part) domain.CreateInstanceFromAndUnwrap (Assembly.GetExecutingAssembly ().Location, "Part");
        int result = part.Work (50);
        domain.DoCallBack (Callback);
        AppDomain.Unload (domain);
        return result;
    }

    static int calls;

    static void Callback ()
    {
        calls++;
    }

    static void Main ()
    {
        int total = 0;
        long before = 0;
        for (int i = 0; i < 60; i++) {
            total += Run (i);
            if (i == 9)
                before = ResidentKibibytes ();
        }
        long growth = ResidentKibibytes () - before;
        Console.WriteLine ("{0}, calls here {1}", total, calls);
        Console.WriteLine (growth < AllowedGrowthKibibytes ? "memory stays" : "grown by " + growth + " KiB");
    }
}
