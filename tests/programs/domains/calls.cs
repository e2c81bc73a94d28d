// Calls between domains: what is copied, what is serialised, what stays behind a proxy; exceptions, overloads, generic methods.
using System;
using System.Collections.Generic;
using System.Reflection;

[Serializable]
public struct Point { public int X, Y; public string Name; }

[Serializable]
public class Node { public int Id; public Node Next; }

public class NotSerializable { }

[Serializable]
public class OwnException : Exception
{
    public OwnException(string text) : base(text) { }
    protected OwnException(System.Runtime.Serialization.SerializationInfo i, System.Runtime.Serialization.StreamingContext c) : base(i, c) { }
}

public class Remote : MarshalByRefObject
{
    Remote other;
    public string Overloaded(int a) { return "int"; }
    public string Overloaded(string a) { return "string"; }
    public string Overloaded<T>(T a) { return typeof(T).Name; }
    public int[] Twice(int[] values) { for (int i = 0; i < values.Length; i++) values[i] *= 2; return values; }
    public Point Move(Point p, ref Point q, out string text) { p.X++; q.Y++; text = p.Name + q.Name; return p; }
    public Node Ring(int n) { Node a = new Node { Id = n }, b = new Node { Id = n + 1, Next = a }; a.Next = b; return a; }
    public Dictionary<string, Point> Table() { return new Dictionary<string, Point> { { "a", new Point { X = 1, Name = "n" } } }; }
    public Remote Self() { return this; }
    public void Keep(Remote value) { other = value; }
    public string Ask() { return other.Domain(); }
    public string Domain() { return AppDomain.CurrentDomain.FriendlyName; }
    public void Throw() { throw new OwnException("thrown in " + Domain()); }
    public object Bad() { return new NotSerializable(); }
    public int? Maybe(int? value) { return value + 1; }
    public override object InitializeLifetimeService() { return null; }
}

static class Program
{
    static void Main()
    {
        AppDomain domain = AppDomain.CreateDomain("there");
        Remote remote = (Remote)domain.CreateInstanceAndUnwrap(Assembly.GetExecutingAssembly().FullName, "Remote");
        Console.WriteLine("{0} {1} {2}", remote.Overloaded(1), remote.Overloaded("x"), remote.Overloaded(2.5));
        int[] values = { 1, 2, 3 };
        int[] result = remote.Twice(values);
        Console.WriteLine("{0} {1}", values[1], result[1]);
        Point q = new Point { Name = "q" };
        string text;
        Point p = remote.Move(new Point { X = 4, Name = "p" }, ref q, out text);
        Console.WriteLine("{0} {1} {2}", p.X, q.Y, text);
        Node node = remote.Ring(1);
        Console.WriteLine("{0} {1} {2}", node.Id, node.Next.Id, node.Next.Next == node);
        Console.WriteLine(remote.Table()["a"].Name);
        Console.WriteLine(remote.Self() == remote);
        remote.Keep(new Remote());
        Console.WriteLine(remote.Ask() == AppDomain.CurrentDomain.FriendlyName);
        Console.WriteLine("{0} {1}", remote.Maybe(3), remote.Maybe(null) == null);
        try
        {
            remote.Throw();
        }
        catch (OwnException e)
        {
            Console.WriteLine(e.Message);
        }
        try
        {
            remote.Bad();
        }
        catch (System.Runtime.Serialization.SerializationException)
        {
            Console.WriteLine("not serializable");
        }
        Console.WriteLine(remote.Domain());
        AppDomain.Unload(domain);
        try
        {
            AppDomain.Unload(domain);
        }
        catch (Exception e)
        {
            Console.WriteLine(e.GetType().Name);
        }
    }
}
