// Types of arrays: of which elements there are none, with how many dimensions, and what the refusals say.
using System;
using System.Collections.Generic;

ref struct OnStack { public int Number; }

static class ArrayTypes
{
    static void Try(Func<object> make)
    {
        try { Console.WriteLine(make()); }
        catch (Exception e) { Console.WriteLine(e.GetType().Name + ": " + e.Message); }
    }

    static void Main()
    {
        Type[] elements = [typeof(OnStack), typeof(int).MakeByRefType(), typeof(void), typeof(TypedReference), typeof(int*), typeof(List<>), typeof(int[])];
        foreach (Type element in elements)
        {
            Try(() => element.MakeArrayType());
            foreach (int rank in new[] { 1, 2, 3, 32, 33 }) Try(() => element.MakeArrayType(rank));
        }
        foreach (Type element in elements)
        {
            Try(() => Array.CreateInstance(element, 1));
            Try(() => Array.CreateInstance(element, 1, 2));
        }
        Array based = Array.CreateInstance(typeof(long), [4], [-2]);
        for (int i = -2; i < 2; i++) based.SetValue((long)i, i);
        Array.Reverse(based);
        Console.WriteLine(Array.IndexOf(based, 0L) + " " + based.GetValue(-2) + " " + ((System.Collections.IList)based).Contains(1L));
        Array.Clear(based, -1, 2);
        foreach (long item in based) Console.Write(item + " ");
        var copy = (Array)based.Clone();
        Array.Copy(based, -2, copy, -1, 3);
        foreach (long item in copy) Console.Write(item + " ");
        Console.WriteLine(copy.GetLowerBound(0));
        Try(() => { Array.Clear(based, -3, 1); return "cleared"; });
        Try(() => { Array.Clear(based, 0, 3); return "cleared"; });
        Try(() => based.GetValue(2));
        var jagged = new int[2][,];
        jagged[1] = new int[2, 2] { { 1, 2 }, { 3, 4 } };
        ((Array)jagged).SetValue(new int[1, 1], 0);
        Try(() => { ((Array)jagged).SetValue(new int[1], 0); return "set"; });
        Try(() => { ((Array)jagged).SetValue(new uint[1, 1], 0); return "set"; });
        Console.WriteLine(jagged[0].Length + " " + jagged[1][1, 0] + " " + ((Array)jagged[1]).GetValue(1, 1));
        object[,] covariant = new string[1, 1];
        Try(() => { covariant[0, 0] = 5; return "set"; });
        Try(() => { ((Array)covariant).SetValue(5, 0, 0); return "set"; });
        Try(() => { ((Array)covariant).SetValue("text", 0, 0); return covariant[0, 0]; });
    }
}
