using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

[assembly: System.Reflection.AssemblyTitle ("api")]

namespace Some
{
    [AttributeUsage (AttributeTargets.All)]
    public class MarkAttribute : Attribute
    {
        public string Text; public int Number { get; set; }
        public MarkAttribute (string text) { Text = text; }
    }

    public interface IShape { double Area (); int Corners { get; } }
    public interface INamed : IShape { string Name { get; } }
    public enum Color : short { Red = 1, Green = 2 }
    [Flags] public enum Bits { A = 1, B = 2 }
    public delegate int Fold (int a, string b);

    [StructLayout (LayoutKind.Sequential)]
    public struct Pair { public byte Small; public long Large; public string Text; public static int Made; }

    public abstract class Shape : INamed
    {
        public const int Limit = 77;
        public const string Title = "shapes";
        public static int Count = 5;
        public static string Last = "none";
        [ThreadStatic] public static int PerThread;
        protected int id;
        public readonly string label;
        internal Color color;
        private static readonly byte [] data = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

        protected Shape (int id, string label) { this.id = id; this.label = label; Count++; }
        public abstract double Area ();
        public virtual int Corners { get { return 0; } }
        [Mark ("name", Number = 4)] public string Name { get { return label; } set { Last = value; } }
        public int this [int index, string key] { get { return index + key.Length; } set { Count = value; } }
        public event Fold Folded;
        public int Raise (int a, string b) { return Folded == null ? -1 : Folded (a, b); }
        public override string ToString () { return "shape " + label; }
        public byte Data (int index) { return data [index]; }
    }

    [Mark ("square", Number = 3)]
    [Serializable]
    public sealed class Square : Shape
    {
        public class Inner { public enum Deep { X } public static int Twice (int x) { return 2 * x; } }
        double side;
        public Square () : this (2) { }
        public Square (double side) : base (4, "square") { this.side = side; }
        public override double Area () { return side * side; }
        public override int Corners { get { return 4; } }
        public static int Over (int a) { return a; }
        public static int Over (string a) { return a.Length; }
        public static int Over (int a, ref string b, out Color c) { b = b + a; c = Color.Green; return 1; }
        public static unsafe int Point (int* p, int [] a, int [,] m, List<string> l, Dictionary<int, Inner> d) { return 0; }
        public static T Echo<T> (T value) where T : class { return value; }
        public static void Fails (string message) { throw new InvalidOperationException (message); }
        public static Fold Folder () { return (a, b) => a + b.Length; }
        ~Square () { }
    }

    public class Box<T>
    {
        public T Value;
        public static int Made;
        public T Get () { return Value; }
        public void Set (T value, Box<T> other) { Value = value; }
        public class Part<U> { public U Other; }
    }

    public class Holder
    {
        public Box<int> Numbers = new Box<int> ();
        public Box<string>.Part<Color> Part;
        public int [] Plain = { 3, 1, 2 };
        public int [,] Grid = new int [2, 3];
        public Pair Pair = new Pair { Small = 1, Large = 2, Text = "pair" };
        public int? Maybe = 9;
        public IntPtr Address;
        public object Anything;
        [DllImport ("libc")] public static extern int getpid ();
        public int Locked;
        public static int Length (object [] items) { return items.Length; }
        public static string Join (params object [] items) { return string.Join (",", items); }
        public static void Collect () { for (int i = 0; i < 20000; i++) new byte [100].ToString (); GC.Collect (); }
        public static int Main (string [] args) { Console.WriteLine ("main " + string.Join ("|", args)); return args.Length + 40; }
    }
}
