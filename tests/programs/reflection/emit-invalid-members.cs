// What emitted metadata may not say, and who is told: attributes that set indexers or constants, enums over no integers, constants that are null.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

public class MarkAttribute : Attribute {
    public const int Constant = 1;
    public static int Shared;
    public int Count;
    public int this[string key] { get { return 0; } set { Console.WriteLine("indexer"); } }
}

class Program {
    static ModuleBuilder module;
    static int number;

    static TypeBuilder NewType() { return module.DefineType("T" + number++, TypeAttributes.Public); }

    static void Try(string what, Action action) {
        try { action(); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().FullName); }
    }

    static void Mark(string what, PropertyInfo property, FieldInfo field) {
        Try(what, () => {
            var constructor = typeof(MarkAttribute).GetConstructor(Type.EmptyTypes);
            var properties = property == null ? new PropertyInfo[0] : new[] { property };
            var fields = field == null ? new FieldInfo[0] : new[] { field };
            var type = NewType();
            type.SetCustomAttribute(new CustomAttributeBuilder(constructor, new object[0],
                properties, property == null ? new object[0] : new object[] { 5 }, fields, field == null ? new object[0] : new object[] { 6 }));
            var made = (MarkAttribute)type.CreateType().GetCustomAttributes(false)[0];
            Console.WriteLine(what + ": " + made.Count + " " + MarkAttribute.Shared);
        });
    }

    static void Main() {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Invalid"), AssemblyBuilderAccess.Run);
        module = assembly.DefineDynamicModule("Invalid");

        var mark = typeof(MarkAttribute);
        Mark("field", null, mark.GetField("Count"));
        Mark("static field", null, mark.GetField("Shared"));
        Mark("constant", null, mark.GetField("Constant"));
        Mark("indexer", mark.GetProperty("Item"), null);

        Type parameter = typeof(List<>).GetGenericArguments()[0];
        foreach (Type underlying in new[] { typeof(int), typeof(char), typeof(string), typeof(double), typeof(DayOfWeek), parameter })
            Try("enum over " + underlying.Name, () => {
                Type made = module.DefineEnum("E" + number++, TypeAttributes.Public, underlying).CreateType();
                Console.WriteLine("enum over " + underlying.Name + ": " + Enum.GetUnderlyingType(made));
            });

        Try("parent with a generic parameter", () => {
            var type = NewType();
            type.SetParent(typeof(List<>));
            type.CreateType();
        });

        foreach (object value in new object[] { null, 5, "text" })
            Try("constant", () => {
                var type = NewType();
                Type of = value == null ? typeof(object) : value.GetType();
                var property = type.DefineProperty("P", PropertyAttributes.HasDefault, of, null);
                property.SetConstant(value);
                var getter = type.DefineMethod("get_P", MethodAttributes.Public, of, null);
                getter.GetILGenerator().ThrowException(typeof(Exception));
                property.SetGetMethod(getter);
                Console.WriteLine("constant: " + (type.CreateType().GetProperty("P").GetConstantValue() ?? "null"));
            });
    }
}
