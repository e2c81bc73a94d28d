// mcs: -r:System.Web.Extensions
// libraries: 6.8,6.12
// Mono.Runtime's reports in files, the log of how far a report got, and telemetry, which there is none of. Mono 6.14 has none of these calls.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Web.Script.Serialization;

static class Program {
    static readonly Type runtime = Type.GetType ("Mono.Runtime");

    static object Call (string method, params object[] arguments)
    {
        try {
            return runtime.GetMethod (method, BindingFlags.NonPublic | BindingFlags.Static).Invoke (null, arguments);
        } catch (TargetInvocationException e) {
            return e.InnerException.GetType ().Name;
        }
    }

    static Tuple<string, ulong, ulong> Report (string method, params object[] arguments)
    {
        return (Tuple<string, ulong, ulong>) Call (method, arguments);
    }

    static Dictionary<string, object> Parse (string json)
    {
        return new JavaScriptSerializer ().Deserialize<Dictionary<string, object>> (json);
    }

    static Dictionary<string, object>[] Items (object list)
    {
        return ((System.Collections.IEnumerable) list).Cast<Dictionary<string, object>> ().ToArray ();
    }

    static void Throw (int depth, bool other)
    {
        if (depth > 0)
            Throw (depth - 1, other);
        else if (other)
            throw new InvalidOperationException ("other");
        else
            throw new InvalidOperationException ("one");
    }

    static Exception Thrown (int depth, bool other)
    {
        try {
            Throw (depth, other);
        } catch (Exception e) {
            return e;
        }
        return null;
    }

    static void Main ()
    {
        string folder = Path.Combine (Path.GetTempPath (), "saki-reports-" + Guid.NewGuid ());
        Directory.CreateDirectory (folder);
        Directory.SetCurrentDirectory (folder);
        Call ("EnableCrashReportLog", folder);
        Console.WriteLine (Call ("CheckCrashReportLog", folder, false));
        Report ("ExceptionToState", Thrown (0, false));
        Console.WriteLine (Call ("CheckCrashReportLog", folder, true));
        var total = Report ("DumpStateTotal");
        Console.WriteLine (Items (Parse (total.Item1)["threads"]).Count (t => (bool) t["crashed"]));
        Call ("EnableCrashReportLog", new object[] { null });
        Console.WriteLine ("{0} {1}", Call ("CheckCrashReportLog", folder, true), Call ("CheckCrashReportLog", folder, true));
        Report ("DumpStateTotal");
        Console.WriteLine (Directory.GetFiles (folder).Length);

        var written = Thrown (2, false);
        Call ("WriteStateToFile", written);
        Call ("WriteStateToFile", written);
        var names = Directory.GetFiles (folder).Select (Path.GetFileName).OrderBy (n => n, StringComparer.Ordinal).ToArray ();
        string prefix = "mono_crash." + Report ("ExceptionToState", written).Item2.ToString ("x");
        Console.WriteLine (names.SequenceEqual (new[] { prefix + ".0.json", prefix + ".1.json" }));
        Console.WriteLine (Items (Parse (File.ReadAllText (names[0]))["threads"]).Length);
        Directory.SetCurrentDirectory (Path.GetTempPath ());
        Directory.Delete (folder, true);

        Call ("RegisterReportingForAllNativeLibs");
        Call ("RegisterReportingForNativeLib", "libfoo", "foo");
        Console.WriteLine (Call ("SendMicrosoftTelemetry", "report", 1ul, 2ul));
        Console.WriteLine (Call ("EnableMicrosoftTelemetry", "a", "b", "c", "d", "e", "f", "g"));
    }
}
