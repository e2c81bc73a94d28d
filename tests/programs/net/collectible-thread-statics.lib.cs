using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;

namespace Plugin
{
    public struct Pair { public int A, B; }

    /// One word of statics and no references.
    public static class Numbers
    {
        [ThreadStatic] public static int Count;
        [ThreadStatic] static Pair pair;

        public static ref int Place() { Count++; return ref Count; }
        public static int Sum() { pair.A += 1; pair.B += 2; return pair.A + pair.B + Count; }
    }

    public class Holder<T>
    {
        [ThreadStatic] public static T Value;
        [ThreadStatic] public static List<T> Values;
    }

    public class Node { public Node Next; public byte[] Bytes = new byte[1000]; }

    public static unsafe class Entry
    {
        [ThreadStatic] static Node first;

        public static int Run(int number)
        {
            for (int i = 0; i < 20; i++)
                first = new Node { Next = i == 0 ? null : first };
            Holder<string>.Value = "text " + number;
            (Holder<Node>.Values ??= new()).Add(first);
            Numbers.Place()++;
            int count = 0;
            for (Node node = first; node != null; node = node.Next)
                count += node.Bytes.Length / 1000;
            return count + Holder<string>.Value.Length + Holder<Node>.Values.Count + Numbers.Sum();
        }

        [UnmanagedCallersOnly]
        static int Compare(int* a, int* b) => a->CompareTo(*b);

        delegate int Comparison(ref Pair a, ref Pair b);

        [DllImport("libc")] static extern void qsort(void* items, nint count, nint size, delegate* unmanaged<int*, int*, int> compare);
        [DllImport("libc", EntryPoint = "qsort")] static extern void SortPairs([In, Out] Pair[] items, nint count, nint size, Comparison compare);

        [UnmanagedCallersOnly]
        static Pair Swap(Pair pair) => new() { A = pair.B, B = pair.A };

        /// What native code calls: a method, a delegate; and a native call with a struct of this assembly.
        public static int Sort(int number)
        {
            int[] items = { 3, number, 1, 2 };
            fixed (int* start = items)
                qsort(start, items.Length, sizeof(int), &Compare);
            var pairs = new Pair[] { new() { A = 5 }, new() { A = 4, B = 1 } };
            SortPairs(pairs, pairs.Length, sizeof(Pair), (ref Pair a, ref Pair b) => a.A.CompareTo(b.A));
            delegate* unmanaged<Pair, Pair> swap = &Swap;
            return items[0] * 100 + pairs[0].A * 10 + swap(pairs[0]).A;
        }

        public static IntPtr FunctionPointer() => (IntPtr)(delegate* unmanaged<int*, int*, int>)&Compare;

        static readonly Comparison kept = (ref Pair a, ref Pair b) => 7;
        public static IntPtr DelegatePointer() => Marshal.GetFunctionPointerForDelegate(kept);
    }
}
