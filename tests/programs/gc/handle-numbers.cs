// Numbers that are no handles, or no longer: every way to use them is refused, none reaches memory that is no slot.
// net: skip a handle is an address there, and nothing checks it
using System;
using System.Reflection;
using System.Runtime.InteropServices;

class HandleNumbers
{
    static int refused;

    // An int, or in newer class libraries a native int.
    static readonly FieldInfo field = typeof(GCHandle).GetField("handle", BindingFlags.Instance | BindingFlags.NonPublic);

    static void Try(long number)
    {
        if (field.FieldType == typeof(int) && number != (int)number)
        {
            // No int can be such a number.
            refused += 2;
            return;
        }
        // FromIntPtr refuses some by itself.
        object boxed = default(GCHandle);
        field.SetValue(boxed, field.FieldType == typeof(int) ? (object)(int)number : (IntPtr)number);
        GCHandle handle = (GCHandle)boxed;
        try
        {
            object target = handle.Target;
            Console.WriteLine("{0:x} leads to {1}", number, target ?? "null");
        }
        catch (InvalidOperationException) { refused++; }
        try
        {
            handle.Free();
            Console.WriteLine("{0:x} was freed", number);
        }
        catch (InvalidOperationException) { refused++; }
    }

    static void Main()
    {
        object target = new object();
        // The first handle of each kind makes its slots.
        foreach (GCHandleType kind in Enum.GetValues(typeof(GCHandleType)))
        {
            GCHandle handle = GCHandle.Alloc(target, kind);
            if (handle.Target != target || (int)GCHandle.ToIntPtr(handle) <= 0)
                Console.WriteLine("wrong: " + kind);
            int number = (int)GCHandle.ToIntPtr(handle);
            handle.Free();
            Try(number);
            GCHandle again = GCHandle.Alloc(target, kind);
            Try(number);
            // The lower half alone would be a handle.
            Try((long)GCHandle.ToIntPtr(again) | 1L << 32);
            Try((long)GCHandle.ToIntPtr(again) | long.MinValue);
            if (again.Target != target)
                Console.WriteLine("wrong: " + kind);
            again.Free();
        }
        foreach (int number in new[] { 1, 2, 3, 7, 15, 0x7fffffff, 0x7ffffff0, 0x40000000, 0x3fffffff, 0x12345678, -1, -2, int.MinValue, -16 })
            Try(number);
        Console.WriteLine("refused {0}", refused);
    }
}
