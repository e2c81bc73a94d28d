// A string made without a constructor is an empty string, not an object too small to be one.
using System;
using System.Runtime.Serialization;
using System.Threading;

static class Program {
    static void Main ()
    {
        for (int i = 0; i < 1000; i++) {
            var text = (string) FormatterServices.GetUninitializedObject (typeof (string));
            Func<int> after = () => i + text.Length;
            if (after () != i)
                Console.WriteLine ("wrong at {0}", i);
        }
        Console.WriteLine (((Array) FormatterServices.GetUninitializedObject (typeof (int[]))).Length);
        Console.WriteLine (Thread.CurrentThread.GetApartmentState ());
    }
}
