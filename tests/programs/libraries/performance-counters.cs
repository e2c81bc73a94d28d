// mcs: -r:System.Web
// Counters of the system, of the program itself, and what HttpUtility needs of them.
using System;
using System.Diagnostics;

static class Program {
    static void Main ()
    {
        using (var set = new PerformanceCounter ("Process", "Working Set", Process.GetCurrentProcess ().Id.ToString ()))
            Console.WriteLine ("{0} {1}", set.RawValue > 0, set.CounterType);
        using (var memory = new PerformanceCounter ("Mono Memory", "Total Physical Memory"))
            Console.WriteLine (memory.NextValue () > 0);
        var data = new CounterCreationDataCollection {
            new CounterCreationData ("Jobs", "all jobs", PerformanceCounterType.NumberOfItems32),
            new CounterCreationData ("Rate", "", PerformanceCounterType.RateOfCountsPerSecond32)
        };
        PerformanceCounterCategory.Create ("Mine", "help", PerformanceCounterCategoryType.MultiInstance, data);
        Console.WriteLine ("{0} {1}", PerformanceCounterCategory.Exists ("Mine"), PerformanceCounterCategory.CounterExists ("Jobs", "Mine"));
        using (var a = new PerformanceCounter ("Mine", "Jobs", "a", false))
        using (var b = new PerformanceCounter ("Mine", "Jobs", "b", false)) {
            a.Increment ();
            a.IncrementBy (5);
            b.Decrement ();
            Console.WriteLine ("{0} {1} {2}", a.RawValue, b.RawValue, new PerformanceCounter ("Mine", "Jobs", "a").NextValue ());
        }
        PerformanceCounterCategory.Delete ("Mine");
        Console.WriteLine (PerformanceCounterCategory.Exists ("Mine"));
        Console.WriteLine (System.Web.HttpUtility.UrlEncode ("a b&c"));
    }
}
