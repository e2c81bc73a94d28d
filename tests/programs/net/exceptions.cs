// Exceptions are thrown, filtered, caught, rethrown and wrapped; finally blocks run from the inside to the outside after the filters of both passes.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;

class Oops : Exception
{
    public int Code { get; }
    public Oops(int code) : base("oops " + code) => Code = code;
}

static class P
{
    static bool Says(string text, bool result) { Console.WriteLine("filter " + text); return result; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throws(int code)
    {
        try { throw new Oops(code); }
        finally { Console.WriteLine("finally of Throws"); }
    }

    static void Main()
    {
        try { Throws(1); }
        catch (Oops e) when (Says("no", e.Code == 2)) { Console.WriteLine("not here"); }
        catch (Oops e) when (Says("yes", true)) { Console.WriteLine("caught " + e.Message); }

        try
        {
            try { Throws(2); }
            catch (Oops e) { throw new InvalidOperationException("wrapped", e); }
        }
        catch (Exception e) { Console.WriteLine($"{e.GetType()} {e.Message} <- {e.InnerException.Message}"); }

        try
        {
            try { Throws(3); }
            catch { throw; }
        }
        catch (Oops e) { Console.WriteLine(e.StackTrace.Contains("P.Throws(Int32 code)")); }

        ExceptionDispatchInfo held = null;
        try { Throws(4); } catch (Oops e) { held = ExceptionDispatchInfo.Capture(e); }
        try { held.Throw(); } catch (Oops e) { Console.WriteLine(e.StackTrace.Contains("End of stack trace from previous location")); }

        Tries("null", () => ((string)null).Length.ToString());
        Tries("index", () => (new int[2])[int.Parse("2")].ToString());
        Tries("divide", () => (1 / int.Parse("0")).ToString());
        Tries("cast", () => ((string)(object)new Version(1, 0)));
        Tries("overflow", () => checked(int.Parse("2147483647") + 1).ToString());
        Tries("store", () => { object[] a = new string[1]; a[0] = a; return ""; });
        Tries("size", () => new byte[int.Parse("-1")].ToString());
        Tries("argument", () => { ArgumentNullException.ThrowIfNull((object)null, "what"); return ""; });
        Tries("range", () => { ArgumentOutOfRangeException.ThrowIfNegative(-4, "count"); return ""; });
        Tries("key", () => new System.Collections.Generic.Dictionary<string, int>()["missing"].ToString());
    }

    static void Tries(string name, Func<string> code)
    {
        try { Console.WriteLine($"{name}: {code()}"); }
        catch (Exception e) { Console.WriteLine($"{name}: {e.GetType().Name}: {e.Message}"); }
    }
}
