// A delegate runs in the domain that it belongs to, whichever domain native code calls it from; what it throws is caught here.
using System;
using System.Runtime.InteropServices;

class Part : MarshalByRefObject
{
    delegate int Callback (int number);
    Callback callback;

    // Where native code finds the delegate: behind a jump, since the pointer itself would be taken for the delegate.
    public IntPtr Function ()
    {
        callback = number => {
            if (number < 0)
                throw new ArgumentException ("too small");
            Console.WriteLine ("in {0}, value {1}", AppDomain.CurrentDomain.FriendlyName, Program.Value);
            return number + 1;
        };
        return Program.Jump (Marshal.GetFunctionPointerForDelegate (callback));
    }
}

static class Program
{
    [DllImport ("libc")] static extern IntPtr mmap (IntPtr address, IntPtr size, int protection, int flags, int file, IntPtr offset);

    public static int Value = 1;

    delegate int Native (int number);

    public static IntPtr Jump (IntPtr target)
    {
        IntPtr code = mmap (IntPtr.Zero, (IntPtr) 4096, 7, 0x22, -1, IntPtr.Zero);
        if (RuntimeInformation.ProcessArchitecture == Architecture.Arm64) {
            Marshal.WriteInt64 (code, 0, unchecked ((long) 0xd61f020058000050));
            Marshal.WriteIntPtr (code, 8, target);
        } else {
            Marshal.WriteInt16 (code, 0, unchecked ((short) 0xb848));
            Marshal.WriteIntPtr (code, 2, target);
            Marshal.WriteInt16 (code, 10, unchecked ((short) 0xe0ff));
        }
        return code;
    }

    static void Main ()
    {
        Value = 2;
        AppDomain other = AppDomain.CreateDomain ("other");
        var part = (Part) other.CreateInstanceAndUnwrap (typeof (Part).Assembly.FullName, "Part");
        var native = (Native) Marshal.GetDelegateForFunctionPointer (part.Function (), typeof (Native));
        try {
            native (-1);
        } catch (ArgumentException e) {
            Console.WriteLine ("{0} {1}", e.Message, e is ArgumentException);
        }
        string name = AppDomain.CurrentDomain.FriendlyName;
        Console.WriteLine (native (41));
        Console.WriteLine ("{0} {1}", AppDomain.CurrentDomain.FriendlyName == name, Value);
        GC.KeepAlive (part);
    }
}
