// IDynamicInterfaceCastable: an object that decides itself to which interfaces it can be cast, and which default methods implement them.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

class Castable : INamed, IDynamicInterfaceCastable
{
    public Dictionary<Type, Type> Implementations = new Dictionary<Type, Type> ();
    public int Asked;
    public bool Thrown;
    readonly string name;

    public Castable (string name) { this.name = name; }
    public string Name () { return name; }
    public Castable With<T, Impl> () { Implementations[typeof (T)] = typeof (Impl); return this; }

    public bool IsInterfaceImplemented (RuntimeTypeHandle type, bool throwIfNotImplemented)
    {
        Asked++;
        Thrown = throwIfNotImplemented;
        var wanted = Type.GetTypeFromHandle (type);
        if (wanted == typeof (IDisposable))
            throw new InvalidOperationException ("asked for IDisposable");
        return Implementations.ContainsKey (wanted);
    }

    public RuntimeTypeHandle GetInterfaceImplementation (RuntimeTypeHandle type)
    {
        Type found;
        Implementations.TryGetValue (Type.GetTypeFromHandle (type), out found);
        return found == null ? default (RuntimeTypeHandle) : found.TypeHandle;
    }
}

sealed class Sealed : IDynamicInterfaceCastable, INamed
{
    public bool IsInterfaceImplemented (RuntimeTypeHandle type, bool throwIfNotImplemented) { return type.Equals (typeof (IGreeter).TypeHandle); }
    public RuntimeTypeHandle GetInterfaceImplementation (RuntimeTypeHandle type) { return typeof (GreeterImpl).TypeHandle; }
    public string Name () { return "sealed"; }
}

class Derived : Castable
{
    public Derived () : base ("derived") { }
}

// A class for each implementation: a call of an interface method asks for the implementation once for each class.
class Of<Impl> : Castable
{
    public Of (string name) : base (name) { }
}

struct Boxed : IDynamicInterfaceCastable, INamed
{
    public int Number;
    public bool IsInterfaceImplemented (RuntimeTypeHandle type, bool throwIfNotImplemented) { return Number == 6; }
    public RuntimeTypeHandle GetInterfaceImplementation (RuntimeTypeHandle type) { return typeof (GreeterImpl).TypeHandle; }
    public string Name () { return "boxed " + Number; }
}

// Implements an interface itself; that implementation is not asked for.
class Implements : Castable, IGreeter
{
    public Implements () : base ("implements") { }
    public string Greet (string whom) { return "own " + whom; }
    public int Count () { return 1; }
}

interface I0 { int M0 (); }
interface I1 { int M1 (); }
interface I2 { int M2 (); }
interface I3 { int M3 (); }
interface I4 { int M4 (); }
interface I5 { int M5 (); }
interface I6 { int M6 (); }
interface I7 { int M7 (); }
interface I8 { int M8 (); }
interface I9 { int M9 (); }
interface I10 { int M10 (); }
interface I11 { int M11 (); }
interface I12 { int M12 (); }
interface I13 { int M13 (); }
interface I14 { int M14 (); }
interface I15 { int M15 (); }
interface I16 { int M16 (); }
interface I17 { int M17 (); }
interface I18 { int M18 (); }
interface I19 { int M19 (); }
interface I20 { int M20 (); }
interface I21 { int M21 (); }
interface I22 { int M22 (); }
interface I23 { int M23 (); }
interface I24 { int M24 (); }
interface I25 { int M25 (); }
interface I26 { int M26 (); }
interface I27 { int M27 (); }
interface I28 { int M28 (); }
interface I29 { int M29 (); }
interface I30 { int M30 (); }
interface I31 { int M31 (); }
interface I32 { int M32 (); }
interface I33 { int M33 (); }
interface I34 { int M34 (); }
interface I35 { int M35 (); }
interface I36 { int M36 (); }
interface I37 { int M37 (); }
interface I38 { int M38 (); }
interface I39 { int M39 (); }
class Full : Castable, I0, I1, I2, I3, I4, I5, I6, I7, I8, I9, I10, I11, I12, I13, I14, I15, I16, I17, I18, I19, I20, I21, I22, I23, I24, I25, I26, I27, I28, I29, I30, I31, I32, I33, I34, I35, I36, I37, I38, I39
{
    public Full () : base ("full") { }
    public int M0 () { return 0; }
    public int M1 () { return 1; }
    public int M2 () { return 2; }
    public int M3 () { return 3; }
    public int M4 () { return 4; }
    public int M5 () { return 5; }
    public int M6 () { return 6; }
    public int M7 () { return 7; }
    public int M8 () { return 8; }
    public int M9 () { return 9; }
    public int M10 () { return 10; }
    public int M11 () { return 11; }
    public int M12 () { return 12; }
    public int M13 () { return 13; }
    public int M14 () { return 14; }
    public int M15 () { return 15; }
    public int M16 () { return 16; }
    public int M17 () { return 17; }
    public int M18 () { return 18; }
    public int M19 () { return 19; }
    public int M20 () { return 20; }
    public int M21 () { return 21; }
    public int M22 () { return 22; }
    public int M23 () { return 23; }
    public int M24 () { return 24; }
    public int M25 () { return 25; }
    public int M26 () { return 26; }
    public int M27 () { return 27; }
    public int M28 () { return 28; }
    public int M29 () { return 29; }
    public int M30 () { return 30; }
    public int M31 () { return 31; }
    public int M32 () { return 32; }
    public int M33 () { return 33; }
    public int M34 () { return 34; }
    public int M35 () { return 35; }
    public int M36 () { return 36; }
    public int M37 () { return 37; }
    public int M38 () { return 38; }
    public int M39 () { return 39; }
}

static class Program
{
    static void Try (string name, Func<object> f)
    {
        try {
            Console.WriteLine ("{0}: {1}", name, f ());
        } catch (Exception e) {
            Console.WriteLine ("{0}: {1}: {2}", name, e.GetType ().Name, e.Message.Split (new[] { '\n' })[0]);
        }
    }

    static string Greet (object o) { return ((IGreeter) o).Greet ("you"); }

    static void Main ()
    {
        var castable = new Castable ("one").With<IGreeter, GreeterImpl> ();
        Try ("is", () => (object) castable is IGreeter);
        Try ("is not", () => (object) castable is IPartial);
        Try ("as", () => castable as IPartial == null);
        Try ("asked without exception", () => castable.Thrown);
        Try ("call", () => Greet (castable));
        Try ("asked with exception", () => castable.Thrown);
        Try ("cast", () => (IPartial) (object) castable);
        Try ("its own interface", () => ((INamed) castable).Name ());
        Try ("exception when asked", () => (object) castable is IDisposable);
        Try ("asked each time", () => { int before = castable.Asked; for (int i = 0; i < 10; i++) Greet (castable); return castable.Asked - before >= 10; });

        var polite = new Of<PoliteImpl> ("two").With<IGreeter, PoliteImpl> ();
        var mute = new Of<Castable> ("three");
        for (int i = 0; i < 2; i++) {
            Try ("first object", () => Greet (castable));
            Try ("second object", () => Greet (polite));
            Try ("third object", () => Greet (mute));
        }
        Try ("derived class", () => Greet (new Derived ().With<IGreeter, PoliteImpl> ()));
        Try ("sealed class", () => Greet (new Sealed ()) + " " + ((object) new Sealed () is IPartial) + " " + ((object) new Sealed () is IGreeter));
        Try ("implements it", () => Greet (new Implements ().With<IGreeter, PoliteImpl> ()));
        Try ("many interfaces", () => {
            var full = new Full ();
            full.With<IGreeter, GreeterImpl> ().With<IPair<int>, PairImpl> ().With<IPartial, PartialImpl> ().With<IDefaulted, DefaultedImpl> ();
            object o = full;
            int sum = 0;
            sum += ((I0) o).M0 () + ((I1) o).M1 () + ((I2) o).M2 () + ((I3) o).M3 () + ((I4) o).M4 () + ((I5) o).M5 () + ((I6) o).M6 () + ((I7) o).M7 () + ((I8) o).M8 () + ((I9) o).M9 () + ((I10) o).M10 () + ((I11) o).M11 () + ((I12) o).M12 () + ((I13) o).M13 () + ((I14) o).M14 () + ((I15) o).M15 () + ((I16) o).M16 () + ((I17) o).M17 () + ((I18) o).M18 () + ((I19) o).M19 () + ((I20) o).M20 () + ((I21) o).M21 () + ((I22) o).M22 () + ((I23) o).M23 () + ((I24) o).M24 () + ((I25) o).M25 () + ((I26) o).M26 () + ((I27) o).M27 () + ((I28) o).M28 () + ((I29) o).M29 () + ((I30) o).M30 () + ((I31) o).M31 () + ((I32) o).M32 () + ((I33) o).M33 () + ((I34) o).M34 () + ((I35) o).M35 () + ((I36) o).M36 () + ((I37) o).M37 () + ((I38) o).M38 () + ((I39) o).M39 ();
            return Greet (o) + " " + ((IPair<int>) o).Echo (7) + " " + ((IPartial) o).There () + " " + ((IDefaulted) o).Hello () + " " + sum;
        });

        Try ("generic interface", () => ((IPair<int>) (object) new Castable ("four").With<IPair<int>, PairImpl> ()).Echo (5));
        Try ("generic method", () => { var pair = (IPair<int>) (object) new Castable ("four").With<IPair<int>, PairImpl> (); return pair.Both (1, "x") + ", " + pair.Both (2, 3.5); });
        Try ("other arguments", () => (object) new Castable ("four").With<IPair<int>, PairImpl> () is IPair<string>);
        Try ("derived interface", () => ((IDerivedGreeter) (object) new Castable ("five").With<IDerivedGreeter, GreeterImpl> ()) != null);
        Try ("part", () => ((IPartial) (object) new Castable ("six").With<IPartial, PartialImpl> ()).There ());
        Try ("missing part", () => ((IPartial) (object) new Castable ("six").With<IPartial, PartialImpl> ()).Absent ());
        Try ("default of the interface", () => ((IDefaulted) (object) new Castable ("seven").With<IDefaulted, DefaultedImpl> ()).Hello ());
        Try ("interface itself", () => ((IDefaulted) (object) new Of<IDefaulted> ("seven").With<IDefaulted, IDefaulted> ()).Hello ());

        Try ("without attribute", () => Greet (new Of<UnmarkedImpl> ("eight").With<IGreeter, UnmarkedImpl> ()));
        Try ("another interface", () => Greet (new Of<UnrelatedImpl> ("eight").With<IGreeter, UnrelatedImpl> ()));
        Try ("a class", () => Greet (new Of<Implements> ("eight").With<IGreeter, Implements> ()));
        var none = new Of<int> ("nine");
        none.Implementations[typeof (IGreeter)] = null;
        Try ("no implementation", () => Greet (none));

        Try ("reflection", () => typeof (IGreeter).GetMethod ("Greet").Invoke (castable, new object[] { "me" }));
        Try ("struct", () => (object) new Boxed { Number = 6 } is IGreeter);
        Try ("virtual delegate", () => { var f = (Func<IGreeter, string, string>) Delegate.CreateDelegate (typeof (Func<IGreeter, string, string>), typeof (IGreeter).GetMethod ("Greet")); return f ((IGreeter) (object) castable, "all"); });
        Try ("delegate", () => { Func<string, string> f = ((IGreeter) (object) castable).Greet; return f ("them"); });
        Try ("IsInstanceOfType", () => typeof (IGreeter).IsInstanceOfType (castable) + " " + typeof (IPartial).IsInstanceOfType (castable));
        Try ("IsAssignableFrom", () => typeof (IGreeter).IsAssignableFrom (typeof (Castable)));
        Try ("GetInterfaces", () => castable.GetType ().GetInterfaces ().Length);
        Try ("array element", () => { object[] array = new IGreeter[1]; array[0] = castable; return ((IGreeter) array[0]).Count (); });
        Try ("refused array element", () => { object[] array = new IPartial[1]; array[0] = castable; return "stored"; });
        Try ("array", () => (object) new Castable[1] is IGreeter[]);
    }
}
