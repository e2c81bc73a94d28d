// FieldInfo.GetFieldFromHandle wants the type that has the field, or one derived from it: no other instantiation, no other class.
using System;
using System.Reflection;

class Generic<T> { public T Field; }
class Derived : Generic<string> {}
class Plain { public int Number; }

static class Program {
    static void Try (string what, RuntimeFieldHandle field, Type type)
    {
        try {
            var found = FieldInfo.GetFieldFromHandle (field, type.TypeHandle);
            Console.WriteLine ("{0}: {1} of {2} by {3}", what, found, found.DeclaringType, found.ReflectedType);
        } catch (Exception e) {
            Console.WriteLine ("{0}: {1}", what, e.GetType ().Name);
        }
    }

    static void Main ()
    {
        var field = typeof (Generic<string>).GetField ("Field").FieldHandle;
        Try ("own", field, typeof (Generic<string>));
        Try ("derived", field, typeof (Derived));
        Try ("another instantiation", field, typeof (Generic<int>));
        Try ("the definition", field, typeof (Generic<>));
        Try ("another class", field, typeof (Plain));
        Try ("of a plain class", typeof (Plain).GetField ("Number").FieldHandle, typeof (Plain));
        Try ("of a plain class, another", typeof (Plain).GetField ("Number").FieldHandle, typeof (Derived));
    }
}
