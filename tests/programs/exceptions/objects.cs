// Exception objects: message, data, inner exceptions, custom types, HResult, stack trace names, ToString.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;

class CustomException : Exception
{
    public readonly int Code;
    public CustomException(int code) : base("code " + code) { Code = code; }
    public override string Message { get { return "custom " + base.Message; } }
}

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Inner() { throw new CustomException(7); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Outer()
    {
        Inner();
        Console.WriteLine();
    }

    static void Frames(Exception e)
    {
        foreach (string line in e.StackTrace.Split('\n'))
        {
            string text = line.Trim();
            int end = text.IndexOf('(');
            Console.WriteLine("  " + (end < 0 ? "---" : text.Substring(0, end).Trim()));
        }
    }

    static void Main()
    {
        CustomException caught = null;
        try
        {
            Outer();
        }
        catch (CustomException e)
        {
            caught = e;
        }
        Console.WriteLine("{0} | {1}", caught.Message, caught.Code);
        Console.WriteLine(caught.ToString().StartsWith("CustomException: custom code 7", StringComparison.Ordinal));
        Frames(caught);
        Console.WriteLine("{0} {1}", caught.TargetSite.Name, caught.InnerException == null);
        caught.Data["key"] = "value";
        Console.WriteLine("{0} {1}", caught.Data.Count, caught.Data["key"]);

        Console.WriteLine(new Exception("outer", new ArgumentException("inner")).GetBaseException().Message);
        Console.WriteLine("{0} {1}", new Exception().StackTrace == null, new Exception("m", new Exception("n")).ToString().Contains("---> System.Exception: n"));
        ArgumentException argument = new ArgumentNullException("parameter");
        Console.WriteLine("{0} {1}", argument.ParamName, argument.Message.Contains("parameter"));
        Console.WriteLine("{0:x} {1:x}", new Exception().HResult, new ArgumentException().HResult);
        AggregateException aggregate = new AggregateException(new Exception("a"), new AggregateException(new Exception("b")));
        Console.WriteLine("{0} {1}", aggregate.InnerExceptions.Count, aggregate.Flatten().InnerExceptions[1].Message);

        ExceptionDispatchInfo info = null;
        try
        {
            Outer();
        }
        catch (Exception e)
        {
            info = ExceptionDispatchInfo.Capture(e);
        }
        try
        {
            info.Throw();
        }
        catch (CustomException e)
        {
            Console.WriteLine(e.StackTrace.Contains("Inner"));
        }
        try
        {
            try
            {
                Outer();
            }
            catch (Exception e)
            {
                throw e;
            }
        }
        catch (Exception e)
        {
            Console.WriteLine(e.StackTrace.Contains("Inner"));
        }
        try
        {
            try
            {
                Outer();
            }
            catch (Exception)
            {
                throw;
            }
        }
        catch (Exception e)
        {
            Console.WriteLine(e.StackTrace.Contains("Inner"));
        }
    }
}
