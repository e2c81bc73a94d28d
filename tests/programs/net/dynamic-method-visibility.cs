// What a dynamic method may use: members of its owner, of its module, public ones alone without either, all when checks of visibility are skipped.
using System;
using System.Reflection;
using System.Reflection.Emit;

public class Holder
{
    private static int secret = 1;
    internal static int inside = 2;
    public static int open = 3;
    private static int Secret() => 4;
    internal static int Inside() => 5;
    public static int Open() => 6;
    private int own = 7;
    private class Nested { public static int Deep() => 8; }
    internal static Type Hidden => typeof(Nested);
}

static class Visibility
{
    const BindingFlags All = BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;

    static string Use(DynamicMethod method, MemberInfo member)
    {
        ILGenerator il = method.GetILGenerator();
        if (member is FieldInfo { IsStatic: false } own)
        {
            il.Emit(OpCodes.Newobj, typeof(Holder).GetConstructor(Type.EmptyTypes));
            il.Emit(OpCodes.Ldfld, own);
        }
        else if (member is FieldInfo field) il.Emit(OpCodes.Ldsfld, field);
        else il.Emit(OpCodes.Call, (MethodInfo)member);
        il.Emit(OpCodes.Ret);
        try { return method.CreateDelegate<Func<int>>()().ToString(); }
        catch (Exception e) { return e.GetType().Name; }
    }

    static void All_(string name, Func<DynamicMethod> make)
    {
        string line = name + ":";
        foreach (string field in new[] { "secret", "inside", "open", "own" }) line += " " + Use(make(), typeof(Holder).GetField(field, All));
        foreach (string method in new[] { "Secret", "Inside", "Open" }) line += " " + Use(make(), typeof(Holder).GetMethod(method, All));
        Console.WriteLine(line + " " + Use(make(), Holder.Hidden.GetMethod("Deep")));
    }

    static void Main()
    {
        Type result = typeof(int);
        All_("owner", () => new DynamicMethod("M", result, Type.EmptyTypes, typeof(Holder)));
        All_("other owner", () => new DynamicMethod("M", result, Type.EmptyTypes, typeof(Visibility)));
        All_("other owner, all", () => new DynamicMethod("M", result, Type.EmptyTypes, typeof(Visibility), true));
        All_("foreign owner", () => new DynamicMethod("M", result, Type.EmptyTypes, typeof(Uri)));
        All_("module", () => new DynamicMethod("M", result, Type.EmptyTypes, typeof(Visibility).Module));
        All_("module, all", () => new DynamicMethod("M", result, Type.EmptyTypes, typeof(Visibility).Module, true));
        All_("foreign module", () => new DynamicMethod("M", result, Type.EmptyTypes, typeof(object).Module));
        All_("none", () => new DynamicMethod("M", result, Type.EmptyTypes));
        All_("none, all", () => new DynamicMethod("M", result, Type.EmptyTypes, true));
        var anonymous = new DynamicMethod("Anonymous", result, Type.EmptyTypes);
        Console.WriteLine((anonymous.DeclaringType == null) + " " + anonymous.Module.Assembly.GetName().Name + " " + anonymous);
        foreach (Type wrong in new[] { typeof(System.Collections.Generic.List<>), typeof(IDisposable), typeof(int[]), typeof(int*) })
        {
            try { new DynamicMethod("M", result, Type.EmptyTypes, wrong); Console.WriteLine("made"); }
            catch (ArgumentException e) { Console.WriteLine(e.Message); }
        }
    }
}
