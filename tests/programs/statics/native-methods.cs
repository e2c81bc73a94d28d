// Native methods are static methods: their class's constructor runs before the first of them is called.
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Direct
{
    static Direct() { Console.WriteLine("Direct is ready"); }
    [DllImport("libc")]
    public static extern int abs(int value);
}

class WithText
{
    static WithText() { Console.WriteLine("WithText is ready"); }
    [DllImport("libc", SetLastError = true)]
    public static extern int atoi(string text);
}

class ThroughDelegate
{
    static ThroughDelegate() { Console.WriteLine("ThroughDelegate is ready"); }
    [DllImport("libc")]
    public static extern int abs(int value);
}

class ThroughReflection
{
    static ThroughReflection() { Console.WriteLine("ThroughReflection is ready"); }
    [DllImport("libc")]
    public static extern int abs(int value);
}

class FromItsConstructor
{
    static int first = abs(-1);
    static FromItsConstructor() { Console.WriteLine("FromItsConstructor is ready, {0}", abs(-2) + first); }
    [DllImport("libc")]
    public static extern int abs(int value);
}

class Failing
{
    static Failing() { throw new InvalidOperationException("no library"); }
    [DllImport("libc")]
    public static extern int abs(int value);
}

class Slow
{
    public static bool Done;
    static Slow()
    {
        abs(-1);
        new Thread(() => { Thread.Sleep(100); Program.Seen = abs(-5) + (Done ? 10 : 0); }).Start();
        Thread.Sleep(400);
        Done = true;
    }
    [DllImport("libc")]
    public static extern int abs(int value);
}

static class Program
{
    public static volatile int Seen;

    static void Main()
    {
        Console.WriteLine("start");
        Console.WriteLine(Direct.abs(-3));
        for (int i = 0; i < 3; i++)
            Direct.abs(i);
        Console.WriteLine(WithText.atoi("12"));
        Func<int, int> abs = ThroughDelegate.abs;
        Console.WriteLine("made");
        Console.WriteLine(abs(-4));
        Console.WriteLine(typeof(ThroughReflection).GetMethod("abs").Invoke(null, new object[] { -5 }));
        Console.WriteLine(FromItsConstructor.abs(-6));
        for (int i = 0; i < 2; i++)
        {
            try
            {
                Failing.abs(1);
            }
            catch (TypeInitializationException e)
            {
                Console.WriteLine("{0}: {1}", e.TypeName, e.InnerException.Message);
            }
        }
        // Another thread waits for the constructor though the function is known.
        Slow.abs(1);
        while (Seen == 0)
            Thread.Sleep(10);
        Console.WriteLine(Seen);
    }
}
