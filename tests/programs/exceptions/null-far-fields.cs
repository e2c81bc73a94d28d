// Fields far behind a null reference: below 64 KiB the access itself faults, behind that it is checked.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential, Size = 4072)] struct Page { public int First; }
[StructLayout(LayoutKind.Sequential, Size = 32000)] struct Half { public int First; }
[StructLayout(LayoutKind.Sequential, Size = 200000)] struct Far { public int First; }

class BehindPage { public Page Before; public long Long; public object Reference; }
class BehindHalf { public Half Before; public Half Again; public int Below; public Page Page; public int Above; public object Reference; }
class BehindFar { public Far Before; public int Int; public object Reference; public double Double; }

static class Program
{
    static long ReadLong(BehindPage o) { return o.Long; }
    static void WriteLong(BehindPage o) { o.Long = 5; }
    static object ReadReference(BehindPage o) { return o.Reference; }
    static void WriteReference(BehindPage o) { o.Reference = "x"; }
    static int ReadBelow(BehindHalf o) { return o.Below; }
    static int ReadAbove(BehindHalf o) { return o.Above; }
    static void WriteAbove(BehindHalf o) { o.Above = 6; }
    static void WriteReferenceAbove(BehindHalf o) { o.Reference = "y"; }
    static int ReadInt(BehindFar o) { return o.Int; }
    static double ReadDouble(BehindFar o) { return o.Double; }
    static void WriteReferenceFar(BehindFar o) { o.Reference = "z"; }
    static int ReadPage(BehindHalf o) { Page copy = o.Page; return copy.First; }

    static void Check(string name, Action<bool> access)
    {
        access(false);
        try {
            access(true);
            Console.WriteLine(name + ": no exception");
        } catch (NullReferenceException) {
            Console.WriteLine(name + ": null");
        }
    }

    static void Main()
    {
        var page = new BehindPage();
        var half = new BehindHalf();
        var far = new BehindFar();
        Check("read long", isNull => ReadLong(isNull ? null : page));
        Check("write long", isNull => WriteLong(isNull ? null : page));
        Check("read reference", isNull => ReadReference(isNull ? null : page));
        Check("write reference", isNull => WriteReference(isNull ? null : page));
        Check("read below", isNull => ReadBelow(isNull ? null : half));
        Check("read above", isNull => ReadAbove(isNull ? null : half));
        Check("write above", isNull => WriteAbove(isNull ? null : half));
        Check("write reference above", isNull => WriteReferenceAbove(isNull ? null : half));
        Check("copy", isNull => ReadPage(isNull ? null : half));
        Check("read far", isNull => ReadInt(isNull ? null : far));
        Check("read far double", isNull => ReadDouble(isNull ? null : far));
        Check("write far", isNull => WriteReferenceFar(isNull ? null : far));
        Console.WriteLine("{0} {1} {2} {3} {4}", page.Long, page.Reference, half.Above, half.Reference, far.Reference);
    }
}
