// What is left over of unloaded domains, after their memory is given back: proxies, native callbacks, threads, weak references,
// exceptions; and what works in a domain that ends: thread-statics, failing constructors, emitted code, collectible assemblies, domains in domains.
// timeout: 240
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;
using System.Threading;

static class Fails
{
    public static readonly int Value = 1;

    static Fails ()
    {
        throw new InvalidOperationException ("not here");
    }
}

interface IMeasure
{
    int Measure ();
}

struct Small : IMeasure, IComparable<Small>
{
    public int Number;

    public int Measure ()
    {
        return Number;
    }

    public int CompareTo (Small other)
    {
        return Number.CompareTo (other.Number);
    }
}

[StructLayout (LayoutKind.Sequential)]
class Pair
{
    public int First;
    [MarshalAs (UnmanagedType.ByValTStr, SizeConst = 8)] public string Second;
}

public class Part : MarshalByRefObject
{
    public delegate int Callback (int number);

    [ThreadStatic] static List<string> mine;
    static Callback callback;
    AppDomain inner;

    [DllImport ("libc")] static extern int abs (int number);
    [DllImport ("libc")] static extern int strlen (string text);

    public int Work (int number)
    {
        if (mine == null)
            mine = new List<string> ();
        mine.Add ("x");
        var list = new List<Small> ();
        for (int i = 10; i > 0; i--)
            list.Add (new Small { Number = i });
        list.Sort ();
        IMeasure measure = list[2];
        int failures = 0;
        for (int i = 0; i < 2; i++) {
            try {
                failures += Fails.Value;
            } catch (TypeInitializationException) {
                failures++;
            }
        }
        IntPtr memory = Marshal.AllocHGlobal (64);
        Marshal.StructureToPtr (new Pair { First = 7, Second = "seven" }, memory, false);
        var pair = (Pair) Marshal.PtrToStructure (memory, typeof (Pair));
        Marshal.FreeHGlobal (memory);
        return abs (-number) + strlen ("four") + measure.Measure () + failures + mine.Count + pair.First + pair.Second.Length;
    }

    public int Emit ()
    {
        var method = new DynamicMethod ("twice", typeof (int), new[] { typeof (int) }, typeof (Part).Module);
        ILGenerator il = method.GetILGenerator ();
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldc_I4_2);
        il.Emit (OpCodes.Mul);
        il.Emit (OpCodes.Ret);
        int result = ((Func<int, int>) method.CreateDelegate (typeof (Func<int, int>))) (21);
        foreach (AssemblyBuilderAccess access in new[] { AssemblyBuilderAccess.Run, AssemblyBuilderAccess.RunAndCollect }) {
            AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly (new AssemblyName ("made" + access), access);
            TypeBuilder type = assembly.DefineDynamicModule ("m").DefineType ("T", TypeAttributes.Public, typeof (Part));
            type.DefineField ("list", typeof (List<int>), FieldAttributes.Public | FieldAttributes.Static);
            Type made = type.CreateType ();
            made.GetField ("list").SetValue (null, new List<int> { 1, 2, 3 });
            result += ((List<int>) made.GetField ("list").GetValue (null)).Count;
            result += ((Part) Activator.CreateInstance (made)).Work (0) > 0 ? 1 : 0;
            var listOf = Activator.CreateInstance (typeof (List<>).MakeGenericType (made));
            result += (int) listOf.GetType ().GetProperty ("Count").GetValue (listOf, null);
        }
        return result;
    }

    public int Bytes (byte[] image)
    {
        return Assembly.Load (image).GetTypes ().Length;
    }

    public IntPtr Function ()
    {
        callback = number => number + mine.Count;
        return Marshal.GetFunctionPointerForDelegate (callback);
    }

    public int Nest ()
    {
        inner = AppDomain.CreateDomain ("inner");
        var part = (Part) inner.CreateInstanceFromAndUnwrap (Assembly.GetExecutingAssembly ().Location, "Part");
        return part.Work (5);
    }

    public void Throw ()
    {
        throw new ApplicationException ("from " + AppDomain.CurrentDomain.FriendlyName);
    }

    public void StartThread ()
    {
        new Thread (() => {
            mine = new List<string> ();
            Thread.Sleep (Timeout.Infinite);
        }) { IsBackground = true }.Start ();
        ThreadPool.QueueUserWorkItem (_ => mine = new List<string> ());
        new Timer (_ => mine = null, null, 1, 1);
    }
}

static class LeftOfUnloaded
{
    const int Rounds = 8;

    [DllImport ("libc")] static extern IntPtr mmap (IntPtr address, IntPtr size, int protection, int flags, int file, IntPtr offset);

    delegate int Native (int number);

    static readonly List<Part> proxies = new List<Part> ();
    static readonly List<Native> natives = new List<Native> ();
    static readonly List<Exception> exceptions = new List<Exception> ();
    static readonly List<WeakReference> weak = new List<WeakReference> ();

    // A jump to the function: the pointer itself would be taken for the delegate.
    static IntPtr Jump (IntPtr target)
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

    static string Run (int round, byte[] image)
    {
        AppDomain domain = AppDomain.CreateDomain ("domain " + round);
        var part = (Part) domain.CreateInstanceFromAndUnwrap (Assembly.GetExecutingAssembly ().Location, "Part");
        string text = part.Work (5) + " " + part.Emit () + " " + part.Nest () + " " + (part.Bytes (image) > 5);
        var native = (Native) Marshal.GetDelegateForFunctionPointer (Jump (part.Function ()), typeof (Native));
        text += " " + (native (10) > 10);
        try {
            part.Throw ();
        } catch (ApplicationException e) {
            exceptions.Add (e);
        }
        part.StartThread ();
        proxies.Add (part);
        natives.Add (native);
        weak.Add (new WeakReference (part));
        AppDomain.Unload (domain);
        return text;
    }

    static int CountUnloaded (Action<int> call)
    {
        int count = 0;
        for (int i = 0; i < Rounds; i++) {
            try {
                call (i);
            } catch (AppDomainUnloadedException) {
                count++;
            }
        }
        return count;
    }

    static void Main ()
    {
        byte[] image = File.ReadAllBytes (Assembly.GetExecutingAssembly ().Location);
        var texts = new HashSet<string> ();
        for (int i = 0; i < Rounds; i++) {
            texts.Add (Run (i, image));
            GC.Collect ();
            GC.WaitForPendingFinalizers ();
        }
        foreach (string text in texts)
            Console.WriteLine (text);
        Console.WriteLine ("proxies: {0}", CountUnloaded (i => proxies[i].Work (1)));
        Console.WriteLine ("callbacks: {0}", CountUnloaded (i => natives[i] (1)));
        Console.WriteLine ("exceptions: {0}, {1}", exceptions.Count, exceptions[3].Message);
        Console.WriteLine ("trace: {0}", exceptions[3].ToString ().Contains ("Part.Throw"));
        Console.WriteLine ("weak: {0}", weak.TrueForAll (w => w.Target is Part));
        Console.WriteLine ("domains here: {0}", AppDomain.CurrentDomain.FriendlyName.Length > 0);
    }
}
