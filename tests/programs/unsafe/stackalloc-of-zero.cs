// stackalloc of no bytes gives null.
// mcs: -unsafe
using System;
using System.Runtime.CompilerServices;

unsafe class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool IsNull(int count)
    {
        byte* bytes = stackalloc byte[count];
        return bytes == null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Write(int count)
    {
        byte* bytes = stackalloc byte[count];
        *bytes = 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool InLoop(int count)
    {
        bool isNull = true;
        for (int i = 0; i < 3; i++)
        {
            byte* bytes = stackalloc byte[count];
            isNull &= bytes == null;
        }
        return isNull;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string WriteHere(int count)
    {
        byte* bytes = stackalloc byte[count];
        try
        {
            *bytes = 1;
            return "written";
        }
        catch (NullReferenceException)
        {
            return "NullReferenceException";
        }
    }

    static void Main()
    {
        Console.WriteLine("{0} {1} {2}", IsNull(0), IsNull(1), IsNull(100000));
        Console.WriteLine("{0} {1}", InLoop(0), InLoop(1));
        Console.WriteLine("{0} {1}", WriteHere(0), WriteHere(1));
        Write(1);
        try
        {
            Write(0);
            Console.WriteLine("written");
        }
        catch (NullReferenceException)
        {
            Console.WriteLine("NullReferenceException");
        }
    }
}
