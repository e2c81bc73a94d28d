// GetUninitializedObject refuses what cannot exist without a constructor, as .NET does; what it makes is safe while it is empty.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Serialization;
using System.Threading;

abstract class Abstract { }

struct Value { public int Number; }

static class Program
{
    static void Make(Type type)
    {
        try
        {
            var made = FormatterServices.GetUninitializedObject(type);
            Console.WriteLine("{0}: {1}", type, made.GetType());
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", type, e.GetType().Name);
        }
    }

    static T Empty<T>()
    {
        return (T)FormatterServices.GetUninitializedObject(typeof(T));
    }

    static void Use(string what, Func<object> use)
    {
        try
        {
            Console.WriteLine("{0}: {1}", what, use() ?? "null");
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", what, e.GetType().Name);
        }
    }

    static void Main()
    {
        Make(typeof(Action));
        Make(typeof(Func<int, string>));
        Make(typeof(Delegate));
        Make(typeof(MulticastDelegate));
        Make(typeof(string));
        Make(typeof(int[]));
        Make(typeof(string[,]));
        Make(typeof(IDisposable));
        Make(typeof(Abstract));
        Make(typeof(List<>));
        Make(typeof(List<>).GetGenericArguments()[0]);
        Make(typeof(int).MakePointerType());
        Make(typeof(int).MakeByRefType());
        Make(typeof(TypedReference));
        Make(typeof(ArgIterator));
        Make(typeof(List<int>));
        Make(typeof(int));
        Make(typeof(int?));
        Make(typeof(Value));
        Make(typeof(object));

        var domain = Empty<AppDomain>();
        Use("AppDomain.FriendlyName", () => domain.FriendlyName);
        Use("AppDomain.GetData", () => domain.GetData("APPBASE"));
        Use("AppDomain.SetData", () => { domain.SetData("name", 1); return "set"; });
        Use("AppDomain.BaseDirectory", () => domain.BaseDirectory);
        Use("AppDomain.DoCallBack", () => { AppDomain.Unload(domain); return "done"; });
        var result = Empty<AsyncResult>();
        Func<int> call = () => 1;
        Use("EndInvoke", () => call.EndInvoke(result));
        Use("AsyncResult.ExecuteWorkItem", () =>
        {
            foreach (var method in typeof(AsyncResult).GetMethods(BindingFlags.NonPublic | BindingFlags.Instance))
                if (method.Name.EndsWith("ExecuteWorkItem"))
                    method.Invoke(result, null);
            return "done";
        });
        var thread = Empty<Thread>();
        Use("Thread.ThreadState", () => thread.ThreadState);
        Use("Thread.Name", () => thread.Name);
        Use("Thread.Start", () => { thread.Start(); return "started"; });
        Use("Thread.Join", () => thread.Join(0));
        Use("Exception.StackTrace", () => Empty<Exception>().StackTrace);
        Use("WeakReference.Target", () => Empty<WeakReference>().Target);
        Use("AssemblyName.FullName", () => Empty<AssemblyName>().FullName == "" ? "empty" : "null");
        var type = (Type)FormatterServices.GetUninitializedObject(typeof(object).GetType());
        Use("Type.Assembly", () => type.Assembly);
        Use("Type.IsSubclassOf", () => type.IsSubclassOf(typeof(object)));
        Use("Activator.CreateInstance", () => Activator.CreateInstance(type));
        Use("GetUninitializedObject", () => FormatterServices.GetUninitializedObject(type));
        var info = (MethodInfo)FormatterServices.GetUninitializedObject(typeof(object).GetMethod("ToString").GetType());
        Use("MethodInfo.Invoke", () => info.Invoke(1, null));
        Use("MethodInfo.CreateDelegate", () => info.CreateDelegate(typeof(Action)));
        var field = (FieldInfo)FormatterServices.GetUninitializedObject(typeof(Value).GetField("Number").GetType());
        Use("FieldInfo.GetValue", () => field.GetValue(new Value()));
        Use("FieldInfo.SetValue", () => { field.SetValue(new Value(), 1); return "set"; });
        var assembly = (Assembly)FormatterServices.GetUninitializedObject(typeof(object).Assembly.GetType());
        Use("Assembly.GetTypes", () => assembly.GetTypes());
        Use("Assembly.GetType", () => assembly.GetType("System.Object"));
        var module = (Module)FormatterServices.GetUninitializedObject(typeof(object).Module.GetType());
        Use("Module.GetTypes", () => module.GetTypes());
        Use("Module.ResolveType", () => module.ResolveType(0x02000002));
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Console.WriteLine("end");
    }
}
