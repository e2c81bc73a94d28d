// A small library for the tools that read assemblies.
using System;
using System.Collections.Generic;

namespace Library
{
    /// <summary>A book.</summary>
    public class Book
    {
        public string Title;
        public int Pages { get; set; }
        public DateTime Published;
        public List<string> Authors = new List<string>();
        public Kind Kind;
        public event EventHandler Opened { add { } remove { } }
        public virtual T Read<T>(ref int page, params object[] options) where T : class, new() { return new T(); }
    }

    public enum Kind { Novel, Manual = 5 }

    public struct Point { public double X, Y; public static Point operator +(Point a, Point b) { return a; } }

    public interface IShelf<in T> { void Put(T book); }

    public delegate bool Filter(Book book);
}
