// Recursion without end. Arguments: what to do, as the test names it.
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class Overflow
{
    [DllImport("libc")]
    static extern int regcomp(byte[] compiled, byte[] pattern, int flags);

    // Of the test's library.
    [DllImport("hover")]
    static extern int begin_signals();

    [DllImport("hover")]
    static extern int end_signals();

    static int depth, slow_from = int.MaxValue;
    static long sum;

    static int Down(int n)
    {
        depth = n;
        if (n > slow_from)
            for (int i = 0; i < 100000; i++)
                sum += i;
        return Down(n + 1) + 1;
    }

    unsafe struct Block
    {
        public fixed byte Bytes[2000];
    }

    // Soon at the end of a gibibyte.
    static unsafe int DownInSteps(int n)
    {
        Block block;
        block.Bytes[n % 2000] = 1;
        return DownInSteps(n + 1) + block.Bytes[0];
    }

    static int Catch(Func<int, int> down, int times)
    {
        int caught = 0;
        for (int i = 0; i < times; i++)
        {
            try
            {
                down(0);
            }
            catch (StackOverflowException)
            {
                caught++;
            }
        }
        return caught;
    }

    static int Main(string[] args)
    {
        switch (args[0])
        {
            case "catch":
                Console.WriteLine(Catch(DownInSteps, 3));
                return 0;
            case "native":
                try
                {
                    // The C library parses nested groups by recursion.
                    byte[] pattern = new byte[4000001];
                    for (int i = 0; i < 4000000; i++)
                        pattern[i] = (byte)'(';
                    Console.WriteLine(regcomp(new byte[1024], pattern, 1));
                }
                catch (StackOverflowException)
                {
                    Console.WriteLine("caught");
                }
                return 0;
            case "signals":
                // The last levels before the end take their time, so that signals come while the stack pointer is near it.
                Catch(Down, 1);
                slow_from = depth - 100;
                if (begin_signals() != 0)
                    return 2;
                int caught = Catch(Down, 10);
                Console.WriteLine("{0} {1}", caught, end_signals() > 100);
                return 0;
            default:
                return 2;
        }
    }
}
