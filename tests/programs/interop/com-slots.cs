// The number of an interface method in COM's table follows from the kind of the interface and the methods before it.
using System;
using System.Reflection;
using System.Runtime.InteropServices;

interface IPlain {
    void First ();
    int Property { get; set; }
    void Last ();
}

[InterfaceType (ComInterfaceType.InterfaceIsDual)]
interface IBoth {
    void First ();
}

[InterfaceType (ComInterfaceType.InterfaceIsIUnknown)]
interface IOfUnknown {
    void First ();
    void Second ();
}

// The other constructor takes an int16.
[Guid ("00000000-0000-0000-0000-000000000001"), InterfaceType ((short) 1)]
interface IOfUnknownByNumber {
    void First ();
}

[InterfaceType (ComInterfaceType.InterfaceIsIDispatch)]
interface IOfDispatch : IPlain {
    void Own ();
}

interface IGeneric<T> {
    void First (T value);
    void Second<U> (U value);
}

class Plain {
    public void Method () { }
}

static class Program {
    static int Slot (Type type, string method)
    {
        return Marshal.GetComSlotForMethodInfo (type.GetMethod (method));
    }

    static void Main ()
    {
        foreach (var method in typeof (IPlain).GetMethods ())
            Console.WriteLine ("{0} {1}", method.Name, Marshal.GetComSlotForMethodInfo (method));
        Console.WriteLine ("{0} {1} {2}", Slot (typeof (IBoth), "First"), Slot (typeof (IOfUnknown), "First"), Slot (typeof (IOfUnknown), "Second"));
        Console.WriteLine ("{0} {1}", Slot (typeof (IOfUnknownByNumber), "First"), Slot (typeof (IOfDispatch), "Own"));
        Console.WriteLine ("{0} {1} {2}", Slot (typeof (IGeneric<>), "First"), Slot (typeof (IGeneric<int>), "Second"), Slot (typeof (IGeneric<string>), "First"));
        foreach (var method in new[] { typeof (Plain).GetMethod ("Method"), null })
            try {
                Marshal.GetComSlotForMethodInfo (method);
            } catch (ArgumentException e) {
                Console.WriteLine ("{0} {1}", e.GetType ().Name, e.ParamName);
            }
    }
}
