// UnmanagedCallersOnlyAttribute on methods that it does not fit: the call of their addresses fails. What calls a method as managed code that native code
// alone may call is refused; the last five are errors that .NET 9 notices later, and then ends the process.
// net: skip it makes delegates of such methods, and dies when they are called
using System;

static class Program
{
    static void Try (string name, Func<object> f)
    {
        try {
            Console.WriteLine ("{0}: {1}", name, f ());
        } catch (Exception e) {
            Console.WriteLine ("{0}: {1}: {2}", name, e.GetType ().Name, (e.InnerException ?? e).Message);
        }
    }

    static void Main ()
    {
        Try ("instance", () => Uses.CallInt (Uses.Instance ()));
        Try ("generic", () => Uses.CallInt (Uses.Generic ()));
        Try ("of a generic type", () => Uses.CallInt (Uses.OfGenericType ()));
        Try ("string", () => Uses.CallInt (Uses.Text ()));
        Try ("bool", () => Uses.CallInt (Uses.Bool ()));
        Try ("char", () => Uses.CallInt (Uses.Char ()));
        Try ("ref", () => Uses.CallInt (Uses.Reference ()));
        Try ("object result", () => Uses.CallInt (Uses.Result ()));
        Try ("nullable", () => Uses.CallInt (Uses.Nullable ()));
        Try ("generic struct", () => Uses.CallInt (Uses.GenericStruct ()));
        Try ("struct with bool", () => Uses.CallInt (Uses.WithBool ()));
        Try ("P/Invoke", () => Uses.CallAbs ());
        Try ("address of a P/Invoke", () => Uses.CallInt (Uses.AddressOfAbs ()));
        Try ("address of a string method", () => typeof (Methods).GetMethod ("Text").MethodHandle.GetFunctionPointer () != IntPtr.Zero);
        Try ("delegate", () => Uses.Delegate ());

        var add = typeof (Methods).GetMethod ("Add");
        Try ("delegate by address", () => Uses.DelegateLater (Uses.Add ()));
        Try ("CreateDelegate", () => Delegate.CreateDelegate (typeof (Func<int, int, int>), add));
        Try ("CreateDelegate by name", () => Delegate.CreateDelegate (typeof (Func<int, int, int>), typeof (Methods), "Add"));
        Try ("Invoke", () => add.Invoke (null, new object[] { 1, 2 }));
        Try ("call", () => Uses.Call ());
    }
}
