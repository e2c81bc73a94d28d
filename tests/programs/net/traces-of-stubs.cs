// A call that fails before native code, or an accessor's member, is reached: the method that was called has a frame, and
// two where its function was looked for.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

class NoConstructor : SafeHandle
{
    public NoConstructor(int value) : base(IntPtr.Zero, true) { }
    public override bool IsInvalid => false;
    protected override bool ReleaseHandle() => true;
}

class Target
{
    void Overloaded(int x) { }
}

static class Program
{
    [DllImport("no-such-library")] static extern void NoLibrary();
    [DllImport("libc")] static extern void no_such_function();
    [DllImport("libc", EntryPoint = "getpid")] static extern NoConstructor Result();
    [DllImport("libc", EntryPoint = "getpid")] static extern int Refused(object o);
    [DllImport("libc", EntryPoint = "getpid")] static extern int RefusedElements(object[][] o);
    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "Nothing")] static extern void NoMethod(Target target);
    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "nothing")] static extern ref int NoField(Target target);
    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "nothing")] static extern int NoReference(Target target);

    static void Try(Action call)
    {
        // Twice: what failed once fails again.
        for (int i = 0; i < 2; i++)
            try { call(); }
            catch (Exception e)
            {
                Console.WriteLine(e.GetType().Name);
                foreach (string line in e.StackTrace.Split('\n'))
                    if (line.Contains("at Program.") && !line.Contains("<>") && !line.Contains("Try"))
                        Console.WriteLine(line.TrimEnd());
            }
    }

    static void Main()
    {
        Try(() => NoLibrary());
        Try(() => no_such_function());
        Try(() => Result());
        Try(() => Refused(""));
        Try(() => RefusedElements(null));
        Try(() => NoMethod(new Target()));
        Try(() => NoField(new Target()));
        Try(() => NoReference(new Target()));
    }
}
