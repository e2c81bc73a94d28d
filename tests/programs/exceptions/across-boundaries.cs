// Exceptions that pass through delegates, reflection, constructors, static constructors, iterators and sorting.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

class BadInit
{
    public static int Value = Fail();
    static int Fail() { Console.Write("(init) "); throw new FormatException("in initialiser"); }
    static BadInit() { }
    public static void Touch() { Console.WriteLine("not reached"); }
}

class BadInstance
{
    readonly int n = int.Parse("x");
    public BadInstance() { Console.WriteLine(n); }
}

class Property
{
    public int Fails { get { throw new NotSupportedException("getter"); } }
    public static void Thrower(string message) { throw new ApplicationException(message); }
    ~Property() { }
}

static class Program
{
    static void Main()
    {
        for (int i = 0; i < 2; i++)
        {
            try
            {
                BadInit.Touch();
            }
            catch (TypeInitializationException e)
            {
                Console.WriteLine("{0} {1} {2}", e.TypeName, e.InnerException.GetType().Name, e.InnerException.Message);
            }
        }
        try
        {
            new BadInstance();
        }
        catch (FormatException)
        {
            Console.WriteLine("constructor");
        }
        try
        {
            typeof(Property).GetMethod("Thrower").Invoke(null, new object[] { "reflected" });
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine("{0} {1}", e.GetType().Name, e.InnerException.Message);
        }
        try
        {
            typeof(Property).GetProperty("Fails").GetValue(new Property(), null);
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine(e.InnerException.Message);
        }
        try
        {
            Activator.CreateInstance(typeof(BadInstance));
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine(e.InnerException.GetType().Name);
        }
        try
        {
            Activator.CreateInstance<BadInstance>();
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine(e.InnerException.GetType().Name);
        }
        try
        {
            ((Action<string>)Property.Thrower).DynamicInvoke("dynamic");
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine(e.InnerException.Message);
        }
        try
        {
            ((Action<string>)Property.Thrower)("direct");
        }
        catch (ApplicationException e)
        {
            Console.WriteLine(e.Message);
        }
        try
        {
            Console.WriteLine(new[] { 1, 0 }.Select(x => 10 / x).ToList().Count);
        }
        catch (DivideByZeroException)
        {
            Console.WriteLine("through LINQ");
        }
        try
        {
            new List<int> { 1, 2, 3 }.ForEach(x => { if (x == 2) throw new ApplicationException("at " + x); });
        }
        catch (ApplicationException e)
        {
            Console.WriteLine(e.Message);
        }
        try
        {
            typeof(Property).GetMethod("Thrower").Invoke(null, new object[] { 1 });
        }
        catch (ArgumentException)
        {
            Console.WriteLine("argument type");
        }
        try
        {
            typeof(Property).GetMethod("Thrower").Invoke(null, null);
        }
        catch (TargetParameterCountException)
        {
            Console.WriteLine("argument count");
        }
    }
}
