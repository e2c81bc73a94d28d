// The constructor of a module runs before static fields of its classes are used, and its failure is kept.
using System;
using System.Runtime.CompilerServices;

class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Write() { Holder.number = 5; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Read() { return Holder.number; }

    static void Try(string name, Action action)
    {
        try
        {
            action();
            Console.WriteLine(name + ": nothing");
        }
        catch (TypeInitializationException e)
        {
            Console.WriteLine(name + ": TypeInitializationException, " + e.InnerException.GetType().Name);
        }
    }

    static void Main()
    {
        Try("write", Write);
        Try("read", () => Read());
        Try("call", () => Holder.Method());
        Try("write again", Write);
    }
}
