// A mock-style proxy: a class emitted for any interface or base class forwards each call to an interceptor.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

public interface IInterceptor { object Call(MethodInfo method, object[] arguments); }

public static class ProxyFactory
{
    static readonly ModuleBuilder Module = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Proxies"), AssemblyBuilderAccess.RunAndCollect).DefineDynamicModule("Proxies");
    static int counter;

    public static object Create(Type type, IInterceptor interceptor)
    {
        TypeBuilder proxy = Module.DefineType("Proxy" + counter++, TypeAttributes.Public, type.IsInterface ? typeof(object) : type, type.IsInterface ? new[] { type } : Type.EmptyTypes);
        FieldBuilder target = proxy.DefineField("interceptor", typeof(IInterceptor), FieldAttributes.Public);
        FieldBuilder methods = proxy.DefineField("methods", typeof(MethodInfo[]), FieldAttributes.Public | FieldAttributes.Static);
        IEnumerable<Type> types = type.IsInterface ? new[] { type }.Concat(type.GetInterfaces()) : new[] { type };
        MethodInfo[] overridden = types.SelectMany(t => t.GetMethods(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic)).Where(m => m.IsVirtual && !m.IsFinal && m.DeclaringType != typeof(object)).ToArray();
        for (int i = 0; i < overridden.Length; i++) Override(proxy, overridden[i], i, target, methods);
        Type made = proxy.CreateType();
        made.GetField("methods").SetValue(null, overridden);
        object instance = Activator.CreateInstance(made);
        made.GetField("interceptor").SetValue(instance, interceptor);
        return instance;
    }

    static void Override(TypeBuilder proxy, MethodInfo method, int index, FieldInfo target, FieldInfo methods)
    {
        ParameterInfo[] parameters = method.GetParameters();
        MethodAttributes attributes = (method.Attributes & ~(MethodAttributes.Abstract | MethodAttributes.NewSlot)) | MethodAttributes.HideBySig;
        MethodBuilder body = proxy.DefineMethod(method.Name, attributes);
        Dictionary<Type, Type> map = new Dictionary<Type, Type>();
        if (method.IsGenericMethodDefinition)
        {
            Type[] generic = method.GetGenericArguments();
            GenericTypeParameterBuilder[] own = body.DefineGenericParameters(generic.Select(g => g.Name).ToArray());
            for (int i = 0; i < own.Length; i++)
            {
                own[i].SetGenericParameterAttributes(generic[i].GenericParameterAttributes);
                own[i].SetInterfaceConstraints(generic[i].GetGenericParameterConstraints().Where(c => c.IsInterface).ToArray());
                map[generic[i]] = own[i];
            }
        }
        Func<Type, Type> translate = null;
        translate = t => map.ContainsKey(t) ? map[t] : t.IsByRef ? translate(t.GetElementType()).MakeByRefType() : t.IsArray ? translate(t.GetElementType()).MakeArrayType()
            : t.IsGenericType && t.ContainsGenericParameters ? t.GetGenericTypeDefinition().MakeGenericType(t.GetGenericArguments().Select(translate).ToArray()) : t;
        Type result = translate(method.ReturnType);
        Type[] types = parameters.Select(p => translate(p.ParameterType)).ToArray();
        body.SetReturnType(result);
        body.SetParameters(types);
        for (int i = 0; i < parameters.Length; i++) body.DefineParameter(i + 1, parameters[i].Attributes, parameters[i].Name);
        ILGenerator il = body.GetILGenerator();
        LocalBuilder arguments = il.DeclareLocal(typeof(object[]));
        il.Emit(OpCodes.Ldc_I4, types.Length); il.Emit(OpCodes.Newarr, typeof(object)); il.Emit(OpCodes.Stloc, arguments);
        for (int i = 0; i < types.Length; i++)
        {
            Type value = types[i].IsByRef ? types[i].GetElementType() : types[i];
            il.Emit(OpCodes.Ldloc, arguments); il.Emit(OpCodes.Ldc_I4, i); il.Emit(OpCodes.Ldarg, (short)(i + 1));
            if (types[i].IsByRef) il.Emit(OpCodes.Ldobj, value);
            il.Emit(OpCodes.Box, value); il.Emit(OpCodes.Stelem_Ref);
        }
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, target);
        il.Emit(OpCodes.Ldsfld, methods); il.Emit(OpCodes.Ldc_I4, index); il.Emit(OpCodes.Ldelem_Ref);
        il.Emit(OpCodes.Ldloc, arguments);
        il.Emit(OpCodes.Callvirt, typeof(IInterceptor).GetMethod("Call"));
        LocalBuilder returned = il.DeclareLocal(typeof(object));
        il.Emit(OpCodes.Stloc, returned);
        for (int i = 0; i < types.Length; i++)
        {
            if (!types[i].IsByRef) continue;
            il.Emit(OpCodes.Ldarg, (short)(i + 1)); il.Emit(OpCodes.Ldloc, arguments); il.Emit(OpCodes.Ldc_I4, i); il.Emit(OpCodes.Ldelem_Ref);
            il.Emit(OpCodes.Unbox_Any, types[i].GetElementType()); il.Emit(OpCodes.Stobj, types[i].GetElementType());
        }
        if (result != typeof(void)) { il.Emit(OpCodes.Ldloc, returned); il.Emit(OpCodes.Unbox_Any, result); }
        il.Emit(OpCodes.Ret);
        if (method.DeclaringType.IsInterface) proxy.DefineMethodOverride(body, method);
    }
}

public interface IParent { int Id { get; set; } }
public interface IService<T> : IParent where T : class
{
    T Find(int id, string name);
    bool TryGet(T key, out int value, ref string text);
    U Convert<U>(T value, List<U> list) where U : IComparable;
    event EventHandler Changed;
}
public abstract class Base
{
    protected abstract int Hidden(long a, double b);
    public virtual DateTime Now() { return DateTime.MinValue; }
    public string Run() { return Hidden(1, 2.5) + " " + Now().Year; }
}

class Recorder : IInterceptor
{
    public Func<MethodInfo, object[], object> Answer;
    public object Call(MethodInfo method, object[] arguments)
    {
        Console.WriteLine("  {0}({1})", method.Name, string.Join(", ", arguments.Select(a => a is System.Collections.IList ? "list" : a is Delegate ? "handler" : a ?? "null")));
        return Answer(method, arguments);
    }
}

static class Program
{
    static void Main()
    {
        Recorder recorder = new Recorder { Answer = (method, arguments) =>
        {
            if (method.Name == "TryGet") { arguments[1] = 42; arguments[2] = "changed"; return true; }
            if (method.Name == "Find") return arguments[1];
            if (method.Name == "Convert") return 7;
            if (method.Name == "get_Id") return 5;
            if (method.Name == "Hidden") return 11;
            if (method.Name == "Now") return new DateTime(2001, 2, 3);
            return null;
        } };
        IService<string> service = (IService<string>)ProxyFactory.Create(typeof(IService<string>), recorder);
        Console.WriteLine(service.Find(1, "x"));
        int value; string text = "old";
        Console.WriteLine("{0} {1} {2}", service.TryGet("k", out value, ref text), value, text);
        Console.WriteLine(service.Convert<int>("v", new List<int>()));
        service.Id = 3;
        Console.WriteLine(service.Id);
        service.Changed += delegate { };
        Console.WriteLine(((Base)ProxyFactory.Create(typeof(Base), recorder)).Run());
        for (int i = 0; i < 50; i++) ProxyFactory.Create(typeof(IParent), recorder);
        Console.WriteLine(((IParent)ProxyFactory.Create(typeof(IParent), recorder)).Id);
    }
}
