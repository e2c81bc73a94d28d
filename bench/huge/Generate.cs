// Writes a program whose method Huge has about a given number of instructions, in one of several shapes; the program
// prints what Huge returns, and then the file that its argument names (/proc/self/status tells its memory). Arguments:
// shape, number of instructions, program to write. Without arguments: the shapes. `measure` runs all.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

delegate void Shape(Body body, int instructions);

/// The method being written, and the members that it names.
sealed class Body
{
    public ILGenerator Il;
    public TypeBuilder Type;
    public MethodBuilder Mix, Take, Next, Small, Larger, MayThrow, MakePoint;
    public FieldBuilder Left, Right, Text, Total;
    public TypeBuilder Point, Node;
    public ConstructorBuilder MakeNode;
    public FieldBuilder NodeValue, NodeLink;
    public MethodBuilder NodeVirtual;
    public LocalBuilder Sum;
    readonly Random random = new Random(32);

    public int Pick(int limit) { return random.Next(limit); }

    public LocalBuilder[] Locals(Type type, int count)
    {
        var locals = new LocalBuilder[count];
        for (int i = 0; i < count; i++)
            locals[i] = Il.DeclareLocal(type);
        return locals;
    }

    /// Sum = Mix(Sum, value), with the value on the stack.
    public void Fold(LocalBuilder value)
    {
        Il.Emit(OpCodes.Ldloc, Sum);
        Il.Emit(OpCodes.Ldloc, value);
        Il.Emit(OpCodes.Call, Mix);
        Il.Emit(OpCodes.Stloc, Sum);
    }
}

static class Generate
{
    static readonly SortedDictionary<string, Shape> Shapes = new SortedDictionary<string, Shape> {
        { "arithmetic", Arithmetic }, { "array-initialiser", ArrayInitialiser }, { "array-checks", ArrayChecks },
        { "calls", Calls }, { "clauses", Clauses }, { "conditions", Conditions }, { "cross-jumps", CrossJumps },
        { "deep-expression", DeepExpression }, { "exposed", Exposed }, { "filters", Filters },
        { "floats", FloatBlocks }, { "inlining", Inlining }, { "leaves", Leaves },
        { "long-expression", LongExpression }, { "loop", Loop }, { "nested-clauses", NestedClauses },
        { "nested-loops", NestedLoops }, { "objects", Objects }, { "struct-calls", StructCalls },
        { "structs", Structs }, { "switch", Switch }, { "virtual-calls", VirtualCalls },
    };

    static int Main(string[] args)
    {
        if (args.Length != 3 || !Shapes.ContainsKey(args[0]))
        {
            Console.WriteLine(string.Join("\n", Shapes.Keys));
            return args.Length == 0 ? 0 : 1;
        }
        string folder = Path.GetDirectoryName(Path.GetFullPath(args[2])), file = Path.GetFileName(args[2]);
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(
            new AssemblyName(Path.GetFileNameWithoutExtension(file)), AssemblyBuilderAccess.Save, folder);
        ModuleBuilder module = assembly.DefineDynamicModule(file, file);
        Write(assembly, module, Shapes[args[0]], int.Parse(args[1]));
        assembly.Save(file);
        return 0;
    }

    static void Write(AssemblyBuilder assembly, ModuleBuilder module, Shape shape, int instructions)
    {
        var body = new Body();
        body.Point = module.DefineType("Point", TypeAttributes.Public | TypeAttributes.Sealed, typeof(ValueType));
        body.Left = body.Point.DefineField("Left", typeof(int), FieldAttributes.Public);
        body.Right = body.Point.DefineField("Right", typeof(long), FieldAttributes.Public);
        body.Text = body.Point.DefineField("Text", typeof(string), FieldAttributes.Public);
        body.Point.CreateType();
        DefineNode(body, module);

        body.Type = module.DefineType("Program", TypeAttributes.Public);
        body.Total = body.Type.DefineField("total", typeof(int), FieldAttributes.Static);
        DefineHelpers(body);
        MethodBuilder huge = body.Type.DefineMethod("Huge", MethodAttributes.Static, typeof(int), new[] { typeof(int) });
        body.Il = huge.GetILGenerator();
        body.Sum = body.Il.DeclareLocal(typeof(int));
        body.Il.Emit(OpCodes.Ldarg_0);
        body.Il.Emit(OpCodes.Stloc, body.Sum);
        shape(body, instructions);
        body.Il.Emit(OpCodes.Ldloc, body.Sum);
        body.Il.Emit(OpCodes.Ret);

        MethodBuilder main =
            body.Type.DefineMethod("Main", MethodAttributes.Static, typeof(void), new[] { typeof(string[]) });
        ILGenerator il = main.GetILGenerator();
        il.Emit(OpCodes.Ldc_I4, 7);
        il.Emit(OpCodes.Call, huge);
        il.Emit(OpCodes.Call, typeof(Console).GetMethod("WriteLine", new[] { typeof(int) }));
        Label end = il.DefineLabel();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldlen);
        il.Emit(OpCodes.Brfalse, end);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Ldelem_Ref);
        il.Emit(OpCodes.Call, typeof(File).GetMethod("ReadAllText", new[] { typeof(string) }));
        il.Emit(OpCodes.Call, typeof(Console).GetMethod("WriteLine", new[] { typeof(string) }));
        il.MarkLabel(end);
        il.Emit(OpCodes.Ret);
        body.Type.CreateType();
        assembly.SetEntryPoint(main);
    }

    static void DefineNode(Body body, ModuleBuilder module)
    {
        body.Node = module.DefineType("Node", TypeAttributes.Public);
        body.NodeValue = body.Node.DefineField("Value", typeof(int), FieldAttributes.Public);
        body.NodeLink = body.Node.DefineField("Link", body.Node, FieldAttributes.Public);
        body.MakeNode = body.Node.DefineDefaultConstructor(MethodAttributes.Public);
        body.NodeVirtual = body.Node.DefineMethod(
            "Add", MethodAttributes.Public | MethodAttributes.Virtual, typeof(int), new[] { typeof(int) });
        ILGenerator il = body.NodeVirtual.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldfld, body.NodeValue);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        body.Node.CreateType();
    }

    static MethodBuilder Define(Body body, string name, Type result, Type[] parameters, bool inlined, Action<ILGenerator> write)
    {
        MethodBuilder method = body.Type.DefineMethod(name, MethodAttributes.Static, result, parameters);
        if (!inlined)
            method.SetImplementationFlags(MethodImplAttributes.NoInlining);
        ILGenerator il = method.GetILGenerator();
        write(il);
        il.Emit(OpCodes.Ret);
        return method;
    }

    static void DefineHelpers(Body body)
    {
        Type[] two = { typeof(int), typeof(int) };
        Action<ILGenerator> mix = il => {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, 31);
            il.Emit(OpCodes.Mul);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Xor);
        };
        body.Mix = Define(body, "Mix", typeof(int), two, false, mix);
        body.Small = Define(body, "Small", typeof(int), two, true, mix);
        body.Larger = Define(body, "Larger", typeof(int), two, true, il => {
            Label other = il.DefineLabel(), end = il.DefineLabel();
            LocalBuilder local = il.DeclareLocal(typeof(int));
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Blt, other);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Sub);
            il.Emit(OpCodes.Stloc, local);
            il.Emit(OpCodes.Br, end);
            il.MarkLabel(other);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Sub);
            il.Emit(OpCodes.Stloc, local);
            il.MarkLabel(end);
            il.Emit(OpCodes.Ldloc, local);
        });
        body.Take = Define(body, "Take", typeof(int), new[] { typeof(int), typeof(string) }, false, il => {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, 5);
            il.Emit(OpCodes.Mul);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Call, typeof(string).GetMethod("get_Length"));
            il.Emit(OpCodes.Add);
        });
        body.Next = Define(body, "Next", typeof(void), new[] { typeof(int).MakeByRefType() }, false, il => {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldind_I4);
            il.Emit(OpCodes.Ldc_I4, 17);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Stind_I4);
        });
        body.MayThrow = Define(body, "MayThrow", typeof(int), two, false, il => {
            Label end = il.DefineLabel();
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Ldc_I4, 63);
            il.Emit(OpCodes.And);
            il.Emit(OpCodes.Brtrue, end);
            il.Emit(OpCodes.Newobj, typeof(InvalidOperationException).GetConstructor(Type.EmptyTypes));
            il.Emit(OpCodes.Throw);
            il.MarkLabel(end);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Add);
        });
        body.MakePoint = Define(body, "MakePoint", body.Point, new[] { body.Point, typeof(int) }, false, il => {
            il.Emit(OpCodes.Ldarga_S, (byte)0);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Stfld, body.Left);
            il.Emit(OpCodes.Ldarg_0);
        });
    }

    /// Sets all locals to numbers.
    static void Fill(Body body, LocalBuilder[] locals)
    {
        for (int i = 0; i < locals.Length; i++)
        {
            body.Il.Emit(OpCodes.Ldarg_0);
            body.Il.Emit(OpCodes.Ldc_I4, i);
            body.Il.Emit(OpCodes.Add);
            body.Il.Emit(OpCodes.Stloc, locals[i]);
        }
    }

    static void FoldAll(Body body, LocalBuilder[] locals)
    {
        foreach (LocalBuilder local in locals)
            body.Fold(local);
    }

    static void Arithmetic(Body body, int instructions)
    {
        LocalBuilder[] locals = body.Locals(typeof(int), instructions / 100);
        Fill(body, locals);
        for (int i = 0; i < (instructions - 8 * locals.Length) / 8; i++)
            Statement(body, locals);
        FoldAll(body, locals);
    }

    /// Eight instructions.
    static void Statement(Body body, LocalBuilder[] locals)
    {
        body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
        body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
        body.Il.Emit(OpCodes.Add);
        body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
        body.Il.Emit(OpCodes.Xor);
        body.Il.Emit(OpCodes.Ldc_I4, body.Pick(1000));
        body.Il.Emit(OpCodes.Sub);
        body.Il.Emit(OpCodes.Stloc, locals[body.Pick(locals.Length)]);
    }

    static void ArrayInitialiser(Body body, int instructions)
    {
        LocalBuilder array = body.Il.DeclareLocal(typeof(int[]));
        int elements = instructions / 4;
        body.Il.Emit(OpCodes.Ldc_I4, elements);
        body.Il.Emit(OpCodes.Newarr, typeof(int));
        for (int i = 0; i < elements; i++)
        {
            body.Il.Emit(OpCodes.Dup);
            body.Il.Emit(OpCodes.Ldc_I4, i);
            body.Il.Emit(OpCodes.Ldc_I4, i * 3);
            body.Il.Emit(OpCodes.Stelem_I4);
        }
        body.Il.Emit(OpCodes.Stloc, array);
        body.Il.Emit(OpCodes.Ldloc, array);
        body.Il.Emit(OpCodes.Ldc_I4, elements - 1);
        body.Il.Emit(OpCodes.Ldelem_I4);
        body.Il.Emit(OpCodes.Stloc, body.Sum);
    }

    static void ArrayChecks(Body body, int instructions)
    {
        LocalBuilder[] arrays = body.Locals(typeof(int[]), 20), indices = body.Locals(typeof(int), 20);
        for (int i = 0; i < arrays.Length; i++)
        {
            body.Il.Emit(OpCodes.Ldc_I4, 200);
            body.Il.Emit(OpCodes.Newarr, typeof(int));
            body.Il.Emit(OpCodes.Stloc, arrays[i]);
        }
        Fill(body, indices);
        for (int i = 0; i < instructions / 13; i++)
        {
            LocalBuilder index = indices[body.Pick(20)];
            body.Il.Emit(OpCodes.Ldloc, arrays[body.Pick(20)]);
            body.Il.Emit(OpCodes.Ldloc, indices[body.Pick(20)]);
            body.Il.Emit(OpCodes.Ldloc, arrays[body.Pick(20)]);
            body.Il.Emit(OpCodes.Ldloc, index);
            body.Il.Emit(OpCodes.Ldelem_I4);
            body.Il.Emit(OpCodes.Ldc_I4, body.Pick(100));
            body.Il.Emit(OpCodes.Add);
            body.Il.Emit(OpCodes.Stelem_I4);
            body.Il.Emit(OpCodes.Ldloc, index);
            body.Il.Emit(OpCodes.Ldc_I4, i & 1);
            body.Il.Emit(OpCodes.Xor);
            body.Il.Emit(OpCodes.Conv_U1);
            body.Il.Emit(OpCodes.Stloc, index);
        }
        for (int i = 0; i < arrays.Length; i++)
        {
            body.Il.Emit(OpCodes.Ldloc, arrays[i]);
            body.Il.Emit(OpCodes.Ldc_I4, 9);
            body.Il.Emit(OpCodes.Ldelem_I4);
            body.Il.Emit(OpCodes.Stloc, indices[i]);
        }
        FoldAll(body, indices);
    }

    static void Switch(Body body, int instructions)
    {
        // A loop around a switch with a case for each five instructions.
        LocalBuilder count = body.Il.DeclareLocal(typeof(int));
        var cases = new Label[instructions / 5];
        for (int i = 0; i < cases.Length; i++)
            cases[i] = body.Il.DefineLabel();
        Label head = body.Il.DefineLabel(), join = body.Il.DefineLabel();
        body.Il.MarkLabel(head);
        body.Il.Emit(OpCodes.Ldloc, count);
        body.Il.Emit(OpCodes.Switch, cases);
        body.Il.Emit(OpCodes.Br, join);
        for (int i = 0; i < cases.Length; i++)
        {
            body.Il.MarkLabel(cases[i]);
            body.Il.Emit(OpCodes.Ldloc, body.Sum);
            body.Il.Emit(OpCodes.Ldc_I4, body.Pick(1000));
            body.Il.Emit(i % 2 == 0 ? OpCodes.Add : OpCodes.Xor);
            body.Il.Emit(OpCodes.Stloc, body.Sum);
            body.Il.Emit(OpCodes.Br, join);
        }
        body.Il.MarkLabel(join);
        body.Il.Emit(OpCodes.Ldloc, count);
        body.Il.Emit(OpCodes.Ldc_I4_1);
        body.Il.Emit(OpCodes.Add);
        body.Il.Emit(OpCodes.Stloc, count);
        body.Il.Emit(OpCodes.Ldloc, count);
        body.Il.Emit(OpCodes.Ldc_I4, cases.Length);
        body.Il.Emit(OpCodes.Ble, head);
    }

    static void Calls(Body body, int instructions)
    {
        for (int i = 0; i < instructions / 4; i++)
        {
            body.Il.Emit(OpCodes.Ldloc, body.Sum);
            body.Il.Emit(OpCodes.Ldstr, "text " + i);
            body.Il.Emit(OpCodes.Call, body.Take);
            body.Il.Emit(OpCodes.Stloc, body.Sum);
        }
    }

    static void VirtualCalls(Body body, int instructions)
    {
        LocalBuilder[] nodes = MakeNodes(body, 30);
        for (int i = 0; i < instructions / 4; i++)
        {
            body.Il.Emit(OpCodes.Ldloc, nodes[body.Pick(nodes.Length)]);
            body.Il.Emit(OpCodes.Ldloc, body.Sum);
            body.Il.Emit(OpCodes.Callvirt, body.NodeVirtual);
            body.Il.Emit(OpCodes.Stloc, body.Sum);
        }
    }

    static LocalBuilder[] MakeNodes(Body body, int count)
    {
        LocalBuilder[] nodes = body.Locals(body.Node, count);
        for (int i = 0; i < nodes.Length; i++)
        {
            body.Il.Emit(OpCodes.Newobj, body.MakeNode);
            body.Il.Emit(OpCodes.Stloc, nodes[i]);
            body.Il.Emit(OpCodes.Ldloc, nodes[i]);
            body.Il.Emit(OpCodes.Ldc_I4, i);
            body.Il.Emit(OpCodes.Stfld, body.NodeValue);
        }
        return nodes;
    }

    static void Objects(Body body, int instructions)
    {
        // Fields of objects, with null checks, barriers and casts.
        LocalBuilder[] nodes = MakeNodes(body, 30);
        LocalBuilder made = body.Il.DeclareLocal(typeof(object));
        for (int i = 0; i < instructions / 19; i++)
        {
            LocalBuilder node = nodes[body.Pick(nodes.Length)], other = nodes[body.Pick(nodes.Length)];
            body.Il.Emit(OpCodes.Newobj, body.MakeNode);
            body.Il.Emit(OpCodes.Stloc, made);
            body.Il.Emit(OpCodes.Ldloc, made);
            body.Il.Emit(OpCodes.Castclass, body.Node);
            body.Il.Emit(OpCodes.Ldloc, other);
            body.Il.Emit(OpCodes.Stfld, body.NodeLink);
            body.Il.Emit(OpCodes.Ldloc, node);
            body.Il.Emit(OpCodes.Ldloc, made);
            body.Il.Emit(OpCodes.Isinst, body.Node);
            body.Il.Emit(OpCodes.Stfld, body.NodeLink);
            body.Il.Emit(OpCodes.Ldloc, node);
            body.Il.Emit(OpCodes.Ldloc, node);
            body.Il.Emit(OpCodes.Ldfld, body.NodeLink);
            body.Il.Emit(OpCodes.Ldfld, body.NodeLink);
            body.Il.Emit(OpCodes.Ldfld, body.NodeValue);
            body.Il.Emit(OpCodes.Ldloc, body.Sum);
            body.Il.Emit(OpCodes.Add);
            body.Il.Emit(OpCodes.Dup);
            body.Il.Emit(OpCodes.Stloc, body.Sum);
            body.Il.Emit(OpCodes.Stfld, body.NodeValue);
        }
    }

    static void Clauses(Body body, int instructions)
    {
        for (int i = 0; i < instructions / 10; i++)
        {
            body.Il.BeginExceptionBlock();
            body.Il.Emit(OpCodes.Ldloc, body.Sum);
            body.Il.Emit(OpCodes.Ldc_I4, i);
            body.Il.Emit(OpCodes.Call, body.MayThrow);
            body.Il.Emit(OpCodes.Stloc, body.Sum);
            body.Il.BeginCatchBlock(typeof(InvalidOperationException));
            body.Il.Emit(OpCodes.Pop);
            body.Il.Emit(OpCodes.Ldc_I4, i);
            body.Il.Emit(OpCodes.Stloc, body.Sum);
            body.Il.EndExceptionBlock();
        }
    }

    static void NestedClauses(Body body, int instructions)
    {
        // 500 regions, each in the one before.
        const int Depth = 500;
        int statements = instructions / (Depth * 6);
        for (int i = 0; i < Depth; i++)
        {
            body.Il.BeginExceptionBlock();
            for (int j = 0; j < statements; j++)
            {
                body.Il.Emit(OpCodes.Ldloc, body.Sum);
                body.Il.Emit(OpCodes.Ldc_I4, i * 64 + j + 1);
                body.Il.Emit(OpCodes.Call, body.MayThrow);
                body.Il.Emit(OpCodes.Stloc, body.Sum);
            }
        }
        for (int i = 0; i < Depth; i++)
        {
            if (i % 2 == 0)
            {
                body.Il.BeginCatchBlock(typeof(InvalidOperationException));
                body.Il.Emit(OpCodes.Pop);
            }
            else
            {
                body.Il.BeginFinallyBlock();
            }
            for (int j = 0; j < statements; j++)
            {
                body.Il.Emit(OpCodes.Ldloc, body.Sum);
                body.Il.Emit(OpCodes.Ldc_I4, i + j);
                body.Il.Emit(OpCodes.Add);
                body.Il.Emit(OpCodes.Stloc, body.Sum);
            }
            body.Il.EndExceptionBlock();
        }
    }

    static void Leaves(Body body, int instructions)
    {
        // One region that is left for many places, through a finally handler.
        LocalBuilder count = body.Il.DeclareLocal(typeof(int));
        var places = new Label[instructions / 9];
        for (int i = 0; i < places.Length; i++)
            places[i] = body.Il.DefineLabel();
        Label head = body.Il.DefineLabel();
        body.Il.MarkLabel(head);
        body.Il.BeginExceptionBlock();
        for (int i = 0; i < places.Length; i++)
        {
            Label next = body.Il.DefineLabel();
            body.Il.Emit(OpCodes.Ldloc, count);
            body.Il.Emit(OpCodes.Ldc_I4, i * 64);
            body.Il.Emit(OpCodes.Bne_Un, next);
            body.Il.Emit(OpCodes.Leave, places[i]);
            body.Il.MarkLabel(next);
        }
        body.Il.BeginFinallyBlock();
        body.Il.Emit(OpCodes.Ldloc, count);
        body.Il.Emit(OpCodes.Ldc_I4, 64);
        body.Il.Emit(OpCodes.Add);
        body.Il.Emit(OpCodes.Stloc, count);
        body.Il.EndExceptionBlock();
        Label end = body.Il.DefineLabel();
        body.Il.Emit(OpCodes.Br, end);
        for (int i = 0; i < places.Length; i++)
        {
            body.Il.MarkLabel(places[i]);
            body.Il.Emit(OpCodes.Ldloc, body.Sum);
            body.Il.Emit(OpCodes.Ldc_I4, i);
            body.Il.Emit(OpCodes.Add);
            body.Il.Emit(OpCodes.Stloc, body.Sum);
            // Some go on; most end.
            body.Il.Emit(OpCodes.Br, i < 50 ? head : end);
        }
        body.Il.MarkLabel(end);
    }

    static void Filters(Body body, int instructions)
    {
        for (int i = 0; i < instructions / 14; i++)
        {
            body.Il.BeginExceptionBlock();
            body.Il.Emit(OpCodes.Ldloc, body.Sum);
            body.Il.Emit(OpCodes.Ldc_I4, i);
            body.Il.Emit(OpCodes.Call, body.MayThrow);
            body.Il.Emit(OpCodes.Stloc, body.Sum);
            body.Il.BeginExceptFilterBlock();
            body.Il.Emit(OpCodes.Pop);
            body.Il.Emit(OpCodes.Ldloc, body.Sum);
            body.Il.Emit(OpCodes.Ldc_I4_0);
            body.Il.Emit(OpCodes.Cgt_Un);
            body.Il.BeginCatchBlock(null);
            body.Il.Emit(OpCodes.Pop);
            body.Il.Emit(OpCodes.Ldc_I4, i + 1);
            body.Il.Emit(OpCodes.Stloc, body.Sum);
            body.Il.EndExceptionBlock();
        }
    }

    static void Structs(Body body, int instructions)
    {
        LocalBuilder[] points = body.Locals(body.Point, Math.Max(instructions / 100, 4));
        for (int i = 0; i < instructions / 10; i++)
        {
            LocalBuilder to = points[body.Pick(points.Length)], from = points[body.Pick(points.Length)];
            body.Il.Emit(OpCodes.Ldloca, to);
            body.Il.Emit(OpCodes.Ldloca, from);
            body.Il.Emit(OpCodes.Ldfld, body.Left);
            body.Il.Emit(OpCodes.Ldc_I4, i);
            body.Il.Emit(OpCodes.Add);
            body.Il.Emit(OpCodes.Stfld, body.Left);
            if (i % 3 == 0)
            {
                body.Il.Emit(OpCodes.Ldloc, to);
                body.Il.Emit(OpCodes.Stloc, points[body.Pick(points.Length)]);
            }
            else
            {
                body.Il.Emit(OpCodes.Ldloca, from);
                body.Il.Emit(OpCodes.Ldstr, "text");
                body.Il.Emit(OpCodes.Stfld, body.Text);
            }
        }
        LocalBuilder number = body.Il.DeclareLocal(typeof(int));
        foreach (LocalBuilder point in points)
        {
            body.Il.Emit(OpCodes.Ldloca, point);
            body.Il.Emit(OpCodes.Ldfld, body.Left);
            body.Il.Emit(OpCodes.Stloc, number);
            body.Fold(number);
        }
    }

    static void StructCalls(Body body, int instructions)
    {
        LocalBuilder[] points = body.Locals(body.Point, Math.Max(instructions / 100, 4));
        for (int i = 0; i < instructions / 7; i++)
        {
            LocalBuilder from = points[body.Pick(points.Length)];
            body.Il.Emit(OpCodes.Ldloc, from);
            body.Il.Emit(OpCodes.Ldloca, from);
            body.Il.Emit(OpCodes.Ldfld, body.Left);
            body.Il.Emit(OpCodes.Ldc_I4, i);
            body.Il.Emit(OpCodes.Add);
            body.Il.Emit(OpCodes.Call, body.MakePoint);
            body.Il.Emit(OpCodes.Stloc, points[body.Pick(points.Length)]);
        }
        LocalBuilder number = body.Il.DeclareLocal(typeof(int));
        foreach (LocalBuilder point in points)
        {
            body.Il.Emit(OpCodes.Ldloca, point);
            body.Il.Emit(OpCodes.Ldfld, body.Left);
            body.Il.Emit(OpCodes.Stloc, number);
            body.Fold(number);
        }
    }

    static void Exposed(Body body, int instructions)
    {
        LocalBuilder[] locals = body.Locals(typeof(int), Math.Max(instructions / 50, 4));
        Fill(body, locals);
        for (int i = 0; i < instructions / 6; i++)
        {
            body.Il.Emit(OpCodes.Ldloca, locals[body.Pick(locals.Length)]);
            body.Il.Emit(OpCodes.Call, body.Next);
            body.Il.Emit(OpCodes.Ldloc, body.Sum);
            body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
            body.Il.Emit(OpCodes.Add);
            body.Il.Emit(OpCodes.Stloc, body.Sum);
        }
    }

    static void CrossJumps(Body body, int instructions)
    {
        // Two instructions a block, with jumps forward and backward; a counter ends it.
        LocalBuilder fuel = body.Il.DeclareLocal(typeof(int));
        LocalBuilder[] locals = body.Locals(typeof(int), 16);
        Fill(body, locals);
        body.Il.Emit(OpCodes.Ldc_I4, instructions);
        body.Il.Emit(OpCodes.Stloc, fuel);
        int count = instructions / 5;
        var labels = new Label[count + 1];
        for (int i = 0; i <= count; i++)
            labels[i] = body.Il.DefineLabel();
        Label end = body.Il.DefineLabel();
        for (int i = 0; i < count; i++)
        {
            body.Il.MarkLabel(labels[i]);
            if (i % 10 == 0)
            {
                body.Il.Emit(OpCodes.Ldloc, fuel);
                body.Il.Emit(OpCodes.Ldc_I4_1);
                body.Il.Emit(OpCodes.Sub);
                body.Il.Emit(OpCodes.Dup);
                body.Il.Emit(OpCodes.Stloc, fuel);
                body.Il.Emit(OpCodes.Brfalse, end);
                continue;
            }
            int local = body.Pick(16);
            body.Il.Emit(OpCodes.Ldloc, locals[local]);
            body.Il.Emit(OpCodes.Ldc_I4, body.Pick(100) + 1);
            body.Il.Emit(OpCodes.Add);
            if (i % 2 == 0)
            {
                body.Il.Emit(OpCodes.Stloc, locals[body.Pick(16)]);
                body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(16)]);
                body.Il.Emit(OpCodes.Ldc_I4, 5);
                body.Il.Emit(OpCodes.And);
            }
            // Backward to blocks that count, forward a little.
            int target = body.Pick(4) == 0 ? body.Pick(i + 1) / 10 * 10 : Math.Min(count, i + 1 + body.Pick(30));
            body.Il.Emit(i % 3 == 0 ? OpCodes.Brfalse : OpCodes.Brtrue, labels[target]);
        }
        body.Il.MarkLabel(labels[count]);
        body.Il.MarkLabel(end);
        FoldAll(body, locals);
    }

    static void Conditions(Body body, int instructions)
    {
        // a = b < c ? d : e, with the stack at the joins.
        LocalBuilder[] locals = body.Locals(typeof(int), 40);
        Fill(body, locals);
        for (int i = 0; i < instructions / 8; i++)
        {
            Label other = body.Il.DefineLabel(), end = body.Il.DefineLabel();
            body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
            body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
            body.Il.Emit(OpCodes.Blt, other);
            body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
            body.Il.Emit(OpCodes.Br, end);
            body.Il.MarkLabel(other);
            body.Il.Emit(OpCodes.Ldc_I4, i);
            body.Il.MarkLabel(end);
            body.Il.Emit(OpCodes.Stloc, locals[body.Pick(locals.Length)]);
        }
        FoldAll(body, locals);
    }

    static void Loop(Body body, int instructions)
    {
        // All in one loop, with locals that live around it and conditions within.
        LocalBuilder count = body.Il.DeclareLocal(typeof(int));
        LocalBuilder[] locals = body.Locals(typeof(int), instructions / 100);
        Fill(body, locals);
        Label head = body.Il.DefineLabel();
        body.Il.MarkLabel(head);
        for (int i = 0; i < (instructions - 8 * locals.Length) / 19; i++)
        {
            Label next = body.Il.DefineLabel();
            Statement(body, locals);
            body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
            body.Il.Emit(OpCodes.Ldc_I4_1);
            body.Il.Emit(OpCodes.And);
            body.Il.Emit(OpCodes.Brtrue, next);
            Statement(body, locals);
            body.Il.MarkLabel(next);
        }
        body.Il.Emit(OpCodes.Ldloc, count);
        body.Il.Emit(OpCodes.Ldc_I4_1);
        body.Il.Emit(OpCodes.Add);
        body.Il.Emit(OpCodes.Stloc, count);
        body.Il.Emit(OpCodes.Ldloc, count);
        body.Il.Emit(OpCodes.Ldc_I4, 10);
        body.Il.Emit(OpCodes.Blt, head);
        FoldAll(body, locals);
    }

    static void NestedLoops(Body body, int instructions)
    {
        // Loops one in another, each of which is left at once.
        LocalBuilder[] locals = body.Locals(typeof(int), 16);
        Fill(body, locals);
        int depth = instructions / 16;
        var heads = new Label[depth];
        for (int i = 0; i < depth; i++)
        {
            heads[i] = body.Il.DefineLabel();
            body.Il.MarkLabel(heads[i]);
            Statement(body, locals);
        }
        for (int i = depth - 1; i >= 0; i--)
        {
            body.Il.Emit(OpCodes.Ldloc, locals[i % 16]);
            body.Il.Emit(OpCodes.Ldc_I4_1);
            body.Il.Emit(OpCodes.Add);
            body.Il.Emit(OpCodes.Stloc, locals[i % 16]);
            body.Il.Emit(OpCodes.Ldarg_0);
            body.Il.Emit(OpCodes.Ldc_I4_0);
            body.Il.Emit(OpCodes.Blt, heads[i]);
        }
        FoldAll(body, locals);
    }

    static void Inlining(Body body, int instructions)
    {
        LocalBuilder[] locals = body.Locals(typeof(int), 40);
        Fill(body, locals);
        for (int i = 0; i < instructions / 4; i++)
        {
            body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
            body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
            body.Il.Emit(OpCodes.Call, i % 4 == 0 ? body.Larger : body.Small);
            body.Il.Emit(OpCodes.Stloc, locals[body.Pick(locals.Length)]);
        }
        FoldAll(body, locals);
    }

    static void DeepExpression(Body body, int instructions)
    {
        // All operands are pushed before the first is used: the stack is as deep as it can be.
        int depth = Math.Min(instructions / 2, 60000);
        LocalBuilder[] locals = body.Locals(typeof(int), 40);
        Fill(body, locals);
        for (int done = 0; done < instructions; done += 2 * depth)
        {
            body.Il.Emit(OpCodes.Ldloc, body.Sum);
            for (int i = 0; i < depth; i++)
                body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
            for (int i = 0; i < depth; i++)
                body.Il.Emit(i % 2 == 0 ? OpCodes.Add : OpCodes.Xor);
            body.Il.Emit(OpCodes.Stloc, body.Sum);
        }
    }

    static void LongExpression(Body body, int instructions)
    {
        LocalBuilder[] locals = body.Locals(typeof(int), 40);
        Fill(body, locals);
        body.Il.Emit(OpCodes.Ldloc, body.Sum);
        for (int i = 0; i < instructions / 2; i++)
        {
            body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
            body.Il.Emit(i % 2 == 0 ? OpCodes.Add : OpCodes.Xor);
        }
        body.Il.Emit(OpCodes.Stloc, body.Sum);
    }

    static void FloatBlocks(Body body, int instructions)
    {
        LocalBuilder[] locals = body.Locals(typeof(double), 200);
        for (int i = 0; i < locals.Length; i++)
        {
            body.Il.Emit(OpCodes.Ldc_R8, i * 0.5);
            body.Il.Emit(OpCodes.Stloc, locals[i]);
        }
        for (int i = 0; i < instructions / 9; i++)
        {
            Label next = body.Il.DefineLabel();
            LocalBuilder to = locals[body.Pick(locals.Length)];
            body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
            body.Il.Emit(OpCodes.Ldloc, locals[body.Pick(locals.Length)]);
            body.Il.Emit(OpCodes.Add);
            body.Il.Emit(OpCodes.Ldc_R8, 0.75);
            body.Il.Emit(OpCodes.Mul);
            body.Il.Emit(OpCodes.Stloc, to);
            body.Il.Emit(OpCodes.Ldloc, to);
            body.Il.Emit(OpCodes.Ldc_R8, 1000.0);
            body.Il.Emit(OpCodes.Blt, next);
            body.Il.Emit(OpCodes.Ldc_R8, (double)i % 100);
            body.Il.Emit(OpCodes.Stloc, to);
            body.Il.MarkLabel(next);
        }
        LocalBuilder number = body.Il.DeclareLocal(typeof(int));
        foreach (LocalBuilder local in locals)
        {
            body.Il.Emit(OpCodes.Ldloc, local);
            body.Il.Emit(OpCodes.Conv_I4);
            body.Il.Emit(OpCodes.Stloc, number);
            body.Fold(number);
        }
    }
}
