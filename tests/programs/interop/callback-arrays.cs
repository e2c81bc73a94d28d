// Arrays between native code and delegates: the count comes from another argument, a constant, or both together.
// net: skip .NET frees the arrays and texts that the native caller owns
using System;
using System.Runtime.InteropServices;

static class Program
{
    delegate string Join (int count, [MarshalAs (UnmanagedType.LPArray, ArraySubType = UnmanagedType.LPStr, SizeParamIndex = 0)] string[] words);
    delegate string JoinWide (long count, [MarshalAs (UnmanagedType.LPArray, ArraySubType = UnmanagedType.LPWStr, SizeParamIndex = 0, SizeConst = 1)] string[] words);
    delegate string JoinPair (int count, [MarshalAs (UnmanagedType.LPArray, ArraySubType = UnmanagedType.LPStr, SizeConst = 2)] string[] words);
    delegate void Fill (int count, [Out, MarshalAs (UnmanagedType.LPArray, ArraySubType = UnmanagedType.LPStr, SizeConst = 2)] string[] words);
    delegate int Negate (int count, [In, Out, MarshalAs (UnmanagedType.LPArray, SizeParamIndex = 0)] int[] numbers);
    delegate void NoCount (int count, string[] words);
    delegate void BadCount (string text, [MarshalAs (UnmanagedType.LPArray, SizeParamIndex = 0)] string[] words);
    delegate string[] Make (int count);
    delegate string NativeCall (int count, IntPtr block);
    delegate IntPtr NativeMake (int count);
    delegate int ChangeRecord (ref Record record);
    delegate int NativeChangeRecord (IntPtr record);

    [StructLayout (LayoutKind.Sequential)] class Record { public int Number; }

    [DllImport ("libc")] static extern IntPtr mmap (IntPtr address, IntPtr size, int protection, int flags, int file, IntPtr offset);

    static IntPtr code = mmap (IntPtr.Zero, (IntPtr) 4096, 7, 0x22, -1, IntPtr.Zero);

    // The delegate's function as native code calls it, behind a jump (mov rax, target; jmp rax; aarch64: ldr x16, .+8; br x16): the pointer itself would be taken
    // for the delegate again.
    static T As<T> (Delegate target)
    {
        IntPtr start = code;
        if (RuntimeInformation.ProcessArchitecture == Architecture.Arm64) {
            Marshal.WriteInt64 (code, 0, unchecked ((long) 0xd61f020058000050));
            Marshal.WriteIntPtr (code, 8, Marshal.GetFunctionPointerForDelegate (target));
        } else {
            Marshal.WriteInt16 (code, 0, unchecked ((short) 0xb848));
            Marshal.WriteIntPtr (code, 2, Marshal.GetFunctionPointerForDelegate (target));
            Marshal.WriteInt16 (code, 10, unchecked ((short) 0xe0ff));
        }
        code += 16;
        return (T) (object) Marshal.GetDelegateForFunctionPointer (start, typeof (T));
    }

    static IntPtr block;

    static void Call (Delegate target, int count, IntPtr words)
    {
        try {
            Console.WriteLine ("{0}: {1}", target.GetType ().Name, As<NativeCall> (target) (count, words));
        } catch (MarshalDirectiveException) {
            Console.WriteLine ("{0}: refused", target.GetType ().Name);
        }
        GC.KeepAlive (target);
    }

    static string Show (string[] words)
    {
        return words == null ? "null" : words.Length + " " + string.Join (",", words);
    }

    static void Main ()
    {
        block = Marshal.AllocHGlobal (3 * IntPtr.Size);
        string[] texts = { "one", "two", null };
        for (int i = 0; i < 3; i++)
            Marshal.WriteIntPtr (block, i * IntPtr.Size, Marshal.StringToHGlobalAnsi (texts[i]));
        Call (new Join ((count, words) => Show (words)), 3, block);
        Call (new Join ((count, words) => Show (words)), 0, block);
        Call (new Join ((count, words) => Show (words)), 3, IntPtr.Zero);
        Call (new JoinPair ((count, words) => Show (words)), 77, block);
        Call (new NoCount ((count, words) => {}), 1, block);
        Call (new BadCount ((text, words) => {}), 0, block);
        for (int i = 0; i < 2; i++)
            Marshal.WriteIntPtr (block, i * IntPtr.Size, Marshal.StringToHGlobalUni (texts[i]));
        Call (new JoinWide ((count, words) => Show (words)), 1, block);

        var fill = new Fill ((count, words) => { Console.WriteLine (words.Length); words[0] = "filled"; words[1] = "too"; });
        As<NativeVoid> (fill) (2, block);
        Console.WriteLine ("{0} {1}", Marshal.PtrToStringAnsi (Marshal.ReadIntPtr (block)), Marshal.PtrToStringAnsi (Marshal.ReadIntPtr (block, IntPtr.Size)));

        var negate = new Negate ((count, numbers) => { for (int i = 0; i < count; i++) numbers[i] = -numbers[i]; return numbers.Length; });
        Marshal.WriteInt32 (block, 0, 0);
        Marshal.WriteInt32 (block, 4, 5);
        Console.WriteLine ("{0} {1} {2}", As<NativeCount> (negate) (2, block), Marshal.ReadInt32 (block, 0), Marshal.ReadInt32 (block, 4));

        var make = new Make (count => { if (count < 0) return null; var made = new string[count]; for (int i = 0; i < count; i++) made[i] = "w" + i; return made; });
        IntPtr result = As<NativeMake> (make) (2);
        Console.WriteLine ("{0} {1}", Marshal.PtrToStringAnsi (Marshal.ReadIntPtr (result)), Marshal.PtrToStringAnsi (Marshal.ReadIntPtr (result, IntPtr.Size)));
        Console.WriteLine (As<NativeMake> (make) (-1));

        var change = new ChangeRecord ((ref Record record) => record.Number++);
        Marshal.WriteInt32 (block, 0, 41);
        Marshal.WriteIntPtr (block, IntPtr.Size, block);
        Console.WriteLine ("{0} {1}", As<NativeChangeRecord> (change) (block + IntPtr.Size), Marshal.ReadInt32 (Marshal.ReadIntPtr (block, IntPtr.Size)));
        try {
            As<NativeChangeRecord> (change) (IntPtr.Zero);
        } catch (ArgumentNullException) {
            Console.WriteLine ("null");
        }
        GC.KeepAlive (fill); GC.KeepAlive (negate); GC.KeepAlive (make); GC.KeepAlive (change);
    }

    delegate void NativeVoid (int count, IntPtr block);
    delegate int NativeCount (int count, IntPtr block);
}
