// The current method of an instantiation is the open method, of the open type.
using System;
using System.Reflection;

class Holder<T>
{
    public MethodBase Own() => MethodBase.GetCurrentMethod();
    public static MethodBase Of<U>() => MethodBase.GetCurrentMethod();
    public class Inner { public MethodBase Found; public Inner() { Found = MethodBase.GetCurrentMethod(); } }
}

static class Program
{
    static MethodBase Plain<T>() => MethodBase.GetCurrentMethod();

    static void Show(MethodBase method) =>
        Console.WriteLine($"{method.DeclaringType}: {method}, open {method.ContainsGenericParameters}, definition {method.IsGenericMethodDefinition}");

    static void Main()
    {
        Show(MethodBase.GetCurrentMethod());
        Show(Plain<string>());
        Show(Plain<int>());
        Show(new Holder<string>().Own());
        Show(new Holder<long>().Own());
        Show(Holder<string>.Of<int>());
        Show(new Holder<DateTime>.Inner().Found);
        Console.WriteLine(new Holder<string>().Own() == typeof(Holder<>).GetMethod("Own"));
    }
}
