// mcs: -r:System.Web.Extensions
// Mono.Runtime's reports of exceptions and threads: valid JSON, and hashes that are equal for equal stacks.
// first-tier: skip the native offset of a frame is another one when its method has moved to the second tier
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Threading.Tasks;
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
        var shallow = Report ("ExceptionToState", Thrown (1, false));
        var deep = Report ("ExceptionToState", Thrown (5, false));
        var again = Report ("ExceptionToState", Thrown (5, false));
        var elsewhere = Report ("ExceptionToState", Thrown (5, true));
        var fresh = Report ("ExceptionToState", new Exception ());
        Console.WriteLine ("{0} {1}", deep.Equals (again), shallow.Item2 != deep.Item2);
        Console.WriteLine ("{0} {1}", deep.Item2 == elsewhere.Item2, deep.Item3 != elsewhere.Item3);
        Console.WriteLine ("{0} {1} {2}", deep.Item2 != 0, fresh.Item2, fresh.Item3);

        var parsed = Parse (deep.Item1);
        Console.WriteLine (parsed["protocol_version"]);
        var exception = Items (Items (parsed["threads"])[0]["exceptions"])[0];
        var frames = Items (exception["managed_frames"]);
        var throwing = typeof (Program).GetMethod ("Throw", BindingFlags.NonPublic | BindingFlags.Static);
        Console.WriteLine ("{0} {1}", exception["type"], frames.Length);
        Console.WriteLine (Convert.ToInt32 ((string) frames[0]["token"], 16) == throwing.MetadataToken);
        Console.WriteLine (new Guid ((string) frames[0]["guid"]) == throwing.Module.ModuleVersionId);
        Console.WriteLine ("{0} {1}", Path.GetExtension ((string) frames[0]["filename"]), ((string) frames[0]["il_offset"]).StartsWith ("0x"));

        var single = Report ("DumpStateSingle");
        var thread = Items (Parse (single.Item1)["threads"])[0];
        Console.WriteLine ("{0} {1} {2} {3}", single.Item2 != 0, single.Item3 != 0, thread["is_managed"], Items (thread["managed_frames"]).Length > 2);
        var tasks = Enumerable.Range (0, 10).Select (i => Task.Run (() => Report (i % 2 == 0 ? "DumpStateSingle" : "DumpStateTotal"))).ToArray ();
        Console.WriteLine (tasks.All (task => task.Result.Item2 != 0 && Parse (task.Result.Item1).Count > 0));
        Console.WriteLine (Call ("GetNativeStackTrace", new object[] { null }));
    }
}
