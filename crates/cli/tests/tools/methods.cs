using System;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

class Methods
{
    [DllImport("libc")]
    static extern int getppid();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Work(int count)
    {
        int sum = 0;
        for (int i = 0; i < count; i++)
            sum += i.ToString().Length;
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CallNative()
    {
        getppid();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Twice(int number)
    {
        return 2 * number;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Twice(string text)
    {
        return text + text;
    }

    static void Main(string[] args)
    {
        if (Twice("a").Length != Twice(1)) return;
        int made = int.Parse(args[0]);
        for (int i = 0; i < made; i++)
        {
            var method = new DynamicMethod("dynamic" + i, typeof(int), Type.EmptyTypes);
            var code = method.GetILGenerator();
            code.Emit(OpCodes.Ldc_I4, i);
            code.Emit(OpCodes.Ret);
            ((Func<int>)method.CreateDelegate(typeof(Func<int>)))();
            if (i % 1000 == 999)
                GC.Collect();
        }
        if (args.Length > 2)
        {
            var thread = new System.Threading.Thread(CallNative);
            thread.Start();
            thread.Join();
        }
        else
        {
            CallNative();
        }
        Console.WriteLine(Work(int.Parse(args[1])));
    }
}
