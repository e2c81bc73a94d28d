// DynamicILInfo: code, locals and exception clauses given as bytes, small and fat; tokens of types, methods, fields, strings and signatures, of generic types, too.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

static class Infos
{
    class Box<T> { public T Value; public static T Echo(T value) => value; public T Get() => Value; }
    public static int Twice(int n) => 2 * n;
    public static T Same<T>(T value) => value;

    static void Token(BinaryWriter code, OpCode op, int token) { Op(code, op); code.Write(token); }
    static void Op(BinaryWriter code, OpCode op) { if (op.Size == 2) code.Write((byte)0xfe); code.Write((byte)op.Value); }

    static byte[] Bytes(Action<BinaryWriter> write)
    {
        var stream = new MemoryStream();
        write(new BinaryWriter(stream));
        return stream.ToArray();
    }

    // string Run(Action): "ended" or "caught Message", "finally" is added to the list.
    static DynamicMethod Guarded(bool fat, List<string> log)
    {
        var method = new DynamicMethod("Guarded", typeof(string), new[] { typeof(Action), typeof(List<string>) }, typeof(Infos).Module, true);
        DynamicILInfo info = method.GetDynamicILInfo();
        int message = info.GetTokenFor(typeof(Exception).GetProperty("Message").GetGetMethod().MethodHandle);
        int caught = info.GetTokenFor(typeof(InvalidOperationException).TypeHandle);
        int invoke = info.GetTokenFor(typeof(Action).GetMethod("Invoke").MethodHandle);
        int add = info.GetTokenFor(typeof(List<string>).GetMethod("Add").MethodHandle, typeof(List<string>).TypeHandle);
        int ended = info.GetTokenFor("ended"), finished = info.GetTokenFor("finally");
        int tryEnd = 0, catchStart = 0, catchEnd = 0, finallyStart = 0, finallyEnd = 0;
        byte[] code = Bytes(w =>
        {
            Op(w, OpCodes.Ldarg_0);
            Token(w, OpCodes.Callvirt, invoke);
            Token(w, OpCodes.Ldstr, ended);
            Op(w, OpCodes.Stloc_0);
            Op(w, OpCodes.Leave_S);
            long first = w.BaseStream.Position;
            w.Write((byte)0);
            tryEnd = catchStart = (int)w.BaseStream.Position;
            Token(w, OpCodes.Callvirt, message);
            Op(w, OpCodes.Stloc_0);
            Op(w, OpCodes.Leave_S);
            long second = w.BaseStream.Position;
            w.Write((byte)0);
            catchEnd = finallyStart = (int)w.BaseStream.Position;
            Op(w, OpCodes.Ldarg_1);
            Token(w, OpCodes.Ldstr, finished);
            Token(w, OpCodes.Callvirt, add);
            Op(w, OpCodes.Endfinally);
            finallyEnd = (int)w.BaseStream.Position;
            Op(w, OpCodes.Ldloc_0);
            Op(w, OpCodes.Ret);
            foreach (long place in new[] { first, second })
            {
                w.BaseStream.Position = place;
                w.Write((byte)(finallyEnd - place - 1));
            }
        });
        info.SetCode(code, 3);
        var locals = SignatureHelper.GetLocalVarSigHelper();
        locals.AddArgument(typeof(string));
        info.SetLocalSignature(locals.GetSignature());
        info.SetExceptions(Bytes(w =>
        {
            if (fat)
            {
                w.Write(0x41 | (4 + 2 * 24) << 8);
                foreach (int n in new[] { 0, 0, tryEnd, catchStart, catchEnd - catchStart, caught, 2, 0, catchEnd, finallyStart, finallyEnd - finallyStart, 0 }) w.Write(n);
                return;
            }
            w.Write(1 | (4 + 2 * 12) << 8);
            w.Write((short)0); w.Write((short)0); w.Write((byte)tryEnd); w.Write((short)catchStart); w.Write((byte)(catchEnd - catchStart)); w.Write(caught);
            w.Write((short)2); w.Write((short)0); w.Write((byte)catchEnd); w.Write((short)finallyStart); w.Write((byte)(finallyEnd - finallyStart)); w.Write(0);
        }));
        return method;
    }

    static void Clauses(bool fat)
    {
        var log = new List<string>();
        var run = Guarded(fat, log).CreateDelegate<Func<Action, List<string>, string>>();
        Console.WriteLine(run(() => { }, log));
        Console.WriteLine(run(() => throw new InvalidOperationException("an error"), log));
        try { run(() => throw new ArgumentException("another"), log); }
        catch (ArgumentException e) { Console.WriteLine("left: " + e.Message); }
        Console.WriteLine(string.Join(",", log));
    }

    static object Generic()
    {
        var method = new DynamicMethod("Generic", typeof(object), new[] { typeof(Box<string>), typeof(int) }, typeof(Infos), true);
        DynamicILInfo info = method.GetDynamicILInfo();
        RuntimeTypeHandle box = typeof(Box<string>).TypeHandle;
        byte[] code = Bytes(w =>
        {
            Op(w, OpCodes.Ldarg_0);
            Token(w, OpCodes.Callvirt, info.GetTokenFor(typeof(Box<string>).GetMethod("Get").MethodHandle, box));
            Token(w, OpCodes.Call, info.GetTokenFor(typeof(Box<string>).GetMethod("Echo").MethodHandle, box));
            Op(w, OpCodes.Ldarg_0);
            Token(w, OpCodes.Ldfld, info.GetTokenFor(typeof(Box<string>).GetField("Value").FieldHandle, box));
            Token(w, OpCodes.Call, info.GetTokenFor(typeof(string).GetMethod("Concat", new[] { typeof(string), typeof(string) }).MethodHandle));
            Op(w, OpCodes.Ldarg_1);
            Token(w, OpCodes.Call, info.GetTokenFor(typeof(Infos).GetMethod("Same").MakeGenericMethod(typeof(int)).MethodHandle));
            Token(w, OpCodes.Box, info.GetTokenFor(typeof(int).TypeHandle));
            Token(w, OpCodes.Call, info.GetTokenFor(typeof(string).GetMethod("Concat", new[] { typeof(object), typeof(object) }).MethodHandle));
            Op(w, OpCodes.Ret);
        });
        info.SetCode(code, 4);
        info.SetLocalSignature(new byte[] { 7, 0 });
        return method.CreateDelegate<Func<Box<string>, int, object>>()(new Box<string> { Value = "v" }, 5);
    }

    static int Indirect()
    {
        var method = new DynamicMethod("Indirect", typeof(int), new[] { typeof(int) }, typeof(Infos), true);
        DynamicILInfo info = method.GetDynamicILInfo();
        var signature = SignatureHelper.GetMethodSigHelper(CallingConventions.Standard, typeof(int));
        signature.AddArgument(typeof(int));
        byte[] code = Bytes(w =>
        {
            Op(w, OpCodes.Ldarg_0);
            Token(w, OpCodes.Ldftn, info.GetTokenFor(typeof(Infos).GetMethod("Twice").MethodHandle));
            Token(w, OpCodes.Calli, info.GetTokenFor(signature.GetSignature()));
            Op(w, OpCodes.Ret);
        });
        info.SetCode(code, 2);
        info.SetLocalSignature(new byte[] { 7, 0 });
        return (int)method.Invoke(null, new object[] { 21 });
    }

    static int Nested()
    {
        var inner = new DynamicMethod("Inner", typeof(int), Type.EmptyTypes, typeof(Infos), true);
        DynamicILInfo info = inner.GetDynamicILInfo();
        info.SetCode(new byte[] { 0x1f, 77, 0x2a }, 1);
        info.SetLocalSignature(new byte[] { 7, 0 });
        var outer = new DynamicMethod("Outer", typeof(int), Type.EmptyTypes, typeof(Infos), true);
        DynamicILInfo other = outer.GetDynamicILInfo();
        byte[] code = Bytes(w => { Token(w, OpCodes.Call, other.GetTokenFor(inner)); Op(w, OpCodes.Ret); });
        other.SetCode(code, 1);
        other.SetLocalSignature(new byte[] { 7, 0 });
        return outer.CreateDelegate<Func<int>>()();
    }

    static void Main()
    {
        Clauses(false);
        Clauses(true);
        Console.WriteLine(Generic());
        Console.WriteLine(Indirect());
        Console.WriteLine(Nested());
        var bad = new DynamicMethod("Bad", typeof(int), Type.EmptyTypes, typeof(Infos), true);
        DynamicILInfo wrong = bad.GetDynamicILInfo();
        wrong.SetCode(new byte[] { 0x72, 0xff, 0, 0, 0x70, 0x2a }, 1);
        wrong.SetLocalSignature(new byte[] { 7, 0 });
        try { Console.WriteLine(bad.Invoke(null, null)); } catch (Exception e) { Console.WriteLine((e.InnerException ?? e).GetType()); }
        bad = new DynamicMethod("Raw", typeof(int), Type.EmptyTypes, typeof(Infos), true);
        wrong = bad.GetDynamicILInfo();
        wrong.SetCode(new byte[] { 0x17, 0x2a }, 1);
        wrong.SetLocalSignature(new byte[] { 7, 0 });
        wrong.SetExceptions(new byte[] { 1, 2 });
        try { Console.WriteLine(bad.Invoke(null, null)); } catch (Exception e) { Console.WriteLine((e.InnerException ?? e).GetType()); }
    }
}
