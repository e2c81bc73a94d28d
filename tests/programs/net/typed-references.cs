// TypedReferences: made from variables and fields, read and written through, asked for their type.
using System;
using System.Reflection;
using System.Collections.Generic;

struct Inner { public int Number; public string Text; }
struct Outer { public Inner Inner; public int? Maybe; }
class Holder { public Outer Outer; }

static class Program
{
    static void Try(string what, Action action)
    {
        try
        {
            action();
        }
        catch (Exception e)
        {
            Console.WriteLine($"{what}: {e.GetType().Name}");
        }
    }

    static unsafe void Main()
    {
        int number = 5;
        TypedReference reference = __makeref(number);
        __refvalue(reference, int) = 7;
        Console.WriteLine($"{number} {__reftype(reference)} {TypedReference.GetTargetType(reference)} {TypedReference.ToObject(reference)}");
        Try("another type", () => { int n = 1; var r = __makeref(n); Console.WriteLine(__refvalue(r, long)); });
        string text = "text";
        Console.WriteLine($"{TypedReference.ToObject(__makeref(text))} {__reftype(__makeref(text))}");
        var list = new List<string>();
        Console.WriteLine(__reftype(__makeref(list)));
        int* pointer = &number;
        TypedReference ofPointer = __makeref(pointer);
        Console.WriteLine($"{__reftype(ofPointer)} {*__refvalue(ofPointer, int*)}");
        int[][] arrays = { new[] { 1, 2 } };
        Console.WriteLine($"{__reftype(__makeref(arrays[0]))} {__refvalue(__makeref(arrays[0]), int[])[1]}");

        var holder = new Holder { Outer = { Inner = { Number = 1, Text = "one" } } };
        FieldInfo outer = typeof(Holder).GetField("Outer")!, inner = typeof(Outer).GetField("Inner")!;
        FieldInfo field = typeof(Inner).GetField("Text")!, maybe = typeof(Outer).GetField("Maybe")!;
        TypedReference deep = TypedReference.MakeTypedReference(holder, new[] { outer, inner });
        Console.WriteLine($"{__reftype(deep)} {__refvalue(deep, Inner).Text}");
        field.SetValueDirect(deep, "two");
        Console.WriteLine($"{holder.Outer.Inner.Text} {field.GetValueDirect(deep)}");
        maybe.SetValueDirect(TypedReference.MakeTypedReference(holder, new[] { outer }), 3);
        Console.WriteLine($"{holder.Outer.Maybe} {maybe.GetValueDirect(__makeref(holder.Outer))}");
        maybe.SetValue(holder.Outer, 4);
        Try("wrong value", () => { var o = new Inner(); typeof(Inner).GetField("Text")!.SetValueDirect(__makeref(o), 5); });
        Try("null", () => field.GetValueDirect(default));
        Try("no fields", () => TypedReference.MakeTypedReference(holder, new FieldInfo[0]));
        Try("to object", () => TypedReference.ToObject(default));
    }
}
