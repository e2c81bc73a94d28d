// mcs: -langversion:latest
// There are no arrays of structs that live on the stack only, and none of TypedReference.
using System;

ref struct OnStack { public int Number; }
struct Plain { public int Number; }

static class Program {
    static void Try (string what, Func<object> work)
    {
        try {
            Console.WriteLine ("{0}: {1}", what, work ());
        } catch (Exception e) {
            Console.WriteLine ("{0}: {1}", what, e.GetType ().Name);
        }
    }

    static void Main ()
    {
        Try ("type", () => typeof (OnStack).MakeArrayType ());
        Try ("type of two dimensions", () => typeof (OnStack).MakeArrayType (2));
        Try ("span", () => typeof (Span<int>).MakeArrayType ());
        Try ("array", () => Array.CreateInstance (typeof (OnStack), 1));
        Try ("array of two dimensions", () => Array.CreateInstance (typeof (OnStack), 1, 2));
        Try ("pointer", () => typeof (OnStack).MakePointerType ());
        Try ("TypedReference", () => Array.CreateInstance (typeof (TypedReference), 1));
        Try ("TypedReference, two dimensions", () => Array.CreateInstance (typeof (TypedReference), 1, 2));
        Try ("plain", () => Array.CreateInstance (typeof (Plain), 1));
    }
}
