// Class libraries that make assemblies at run time: DispatchProxy, custom delegates of expressions,
// dynamic call sites, persisted assemblies.
using System;
using System.Collections.Generic;
using System.Dynamic;
using System.IO;
using System.Linq;
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

public interface ICalculator
{
    int Add (int left, int right);
    string Name { get; set; }
    void Swap<T> (ref T left, ref T right);
    event EventHandler Changed;
}

interface IHidden { string Secret (int number); }

public class LoggingProxy : DispatchProxy
{
    readonly Dictionary<string, object> values = new ();
    protected override object Invoke (MethodInfo method, object [] arguments)
    {
        Console.WriteLine ($"{method.Name} ({string.Join (", ", arguments.Select (a => a ?? "null"))})");
        if (method.Name == "Add")
            return (int) arguments [0] + (int) arguments [1];
        if (method.Name == "Swap")
            (arguments [0], arguments [1]) = (arguments [1], arguments [0]);
        if (method.Name == "set_Name")
            values ["Name"] = arguments [0];
        return method.Name == "get_Name" ? values.GetValueOrDefault ("Name") : method.Name == "Secret" ? "secret " + arguments [0] : null;
    }
}

public static class Program
{
    delegate string InRefOut (in int a, ref int b, out int c);

    static void Proxies ()
    {
        var calculator = DispatchProxy.Create<ICalculator, LoggingProxy> ();
        Console.WriteLine (calculator.Add (40, 2));
        calculator.Name = "n";
        Console.WriteLine (calculator.Name);
        string a = "a", b = "b";
        calculator.Swap (ref a, ref b);
        Console.WriteLine (a + b);
        calculator.Changed += null;
        var hidden = DispatchProxy.Create<IHidden, LoggingProxy> ();
        Console.WriteLine (hidden.Secret (7));
    }

    static void Expressions ()
    {
        var type = Expression.GetDelegateType (typeof (int).MakeByRefType (), typeof (string), typeof (void));
        Console.WriteLine ($"{type.BaseType} {type.GetMethod ("Invoke")}");
        var many = Expression.GetDelegateType (Enumerable.Repeat (typeof (int), 20).ToArray ());
        Console.WriteLine (many.GetMethod ("Invoke").GetParameters ().Length);
        var number = Expression.Parameter (typeof (int).MakeByRefType ());
        var lambda = Expression.Lambda (Expression.PreIncrementAssign (number), number);
        var compiled = lambda.Compile ();
        var arguments = new object [] { 5 };
        Console.WriteLine ($"{compiled.DynamicInvoke (arguments)} {arguments [0]}");
        var twice = Expression.Lambda (many, Expression.Constant (3), Enumerable.Range (0, 19).Select (i => Expression.Parameter (typeof (int))));
        Console.WriteLine (twice.Compile ().DynamicInvoke (Enumerable.Range (0, 19).Select (i => (object) i).ToArray ()));
    }

    static void Dynamics ()
    {
        dynamic bag = new ExpandoObject ();
        bag.Value = 20;
        bag.Twice = (Func<int, int>) (n => 2 * n);
        Console.WriteLine (bag.Twice (bag.Value + 1));
        dynamic text = "abc";
        Console.WriteLine (text.Length + text.Substring (1));
    }

    static void Persisted ()
    {
        var persisted = new PersistedAssemblyBuilder (new AssemblyName ("Kept"), typeof (object).Assembly);
        var type = persisted.DefineDynamicModule ("Kept").DefineType ("Kept.Adder", TypeAttributes.Public);
        var method = type.DefineMethod ("Add", MethodAttributes.Public | MethodAttributes.Static, typeof (int), new [] { typeof (int), typeof (int) });
        var il = method.GetILGenerator ();
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldarg_1);
        il.Emit (OpCodes.Add);
        il.Emit (OpCodes.Ret);
        type.CreateType ();
        var stream = new MemoryStream ();
        persisted.Save (stream);
        var loaded = Assembly.Load (stream.ToArray ());
        Console.WriteLine (loaded.GetType ("Kept.Adder").GetMethod ("Add").Invoke (null, new object [] { 5, 6 }));
    }

    static void Threads ()
    {
        var module = AssemblyBuilder.DefineDynamicAssembly (new AssemblyName ("Many"), AssemblyBuilderAccess.Run).DefineDynamicModule ("Many");
        var sums = new int [4];
        Parallel.For (0, 4, thread => {
            for (int i = 0; i < 25; i++) {
                var type = module.DefineType ($"T{thread}_{i}", TypeAttributes.Public);
                var il = type.DefineMethod ("Get", MethodAttributes.Public | MethodAttributes.Static, typeof (int), null).GetILGenerator ();
                il.Emit (OpCodes.Ldc_I4, i);
                il.Emit (OpCodes.Ret);
                sums [thread] += (int) type.CreateType ().GetMethod ("Get").Invoke (null, null);
            }
        });
        Console.WriteLine (string.Join (",", sums));
        Console.WriteLine (module.GetTypes ().Length);
    }

    static void Tasks ()
    {
        // A task-returning interface, and the state machine's types.
        var match = new Regex ("(?<a>\\d+)-(?<b>\\w+)", RegexOptions.Compiled).Match ("x 12-ab");
        Console.WriteLine (match.Groups ["a"].Value + match.Groups ["b"].Value);
    }

    public static void Main ()
    {
        foreach (var part in new Action [] { Proxies, Expressions, Dynamics, Persisted, Threads, Tasks }) {
            Console.WriteLine ($"-- {part.Method.Name}");
            try {
                part ();
            } catch (Exception e) {
                Console.WriteLine (e);
            }
        }
    }
}
