// Which body a call of an interface's static virtual method runs (`constrained.` with `call` and `ldftn`): by rows of
// classes, through variance, of default bodies, and of methods that are generic. As .NET 9 does it.
using System;

static class Program
{
    static void Try(string what, Func<string> call)
    {
        try
        {
            Console.WriteLine($"{what}: {call()}");
        }
        catch (Exception e)
        {
            Console.WriteLine($"{what}: {e.GetType().Name}");
        }
    }

    static void Both<T>()
    {
        Try($"{typeof(T).Name}, A", Get.A<T>);
        Try($"{typeof(T).Name}, D", Get.D<T>);
    }

    static void Out<T>(Func<string> aAsString = null)
    {
        Try($"{typeof(T).Name} as string, A", aAsString ?? Get.OutA<string, T>);
        Try($"{typeof(T).Name} as string, D", Get.OutD<string, T>);
        Try($"{typeof(T).Name} as object, A", Get.OutA<object, T>);
        Try($"{typeof(T).Name} as object, D", Get.OutD<object, T>);
    }

    static void Main()
    {
        Both<Base>();
        Both<Hiding>();
        Both<Redeclaring>();
        Both<Inheriting>();
        Both<NotRedeclaring>();
        Both<OfJ>();
        Both<OfJAndK>();
        Both<OfDecided>();
        Both<OfAgain>();
        Both<BelowOfJ>();
        Both<Unimplemented>();
        Both<Struct>();
        Both<object>();
        Both<string[]>();
        Both<Colour>();
        Try("J, A", Get.AOfJ);
        Try("Decided, A", Get.AOfDecided);
        Try("JK, A", Get.AOfJK);
        Try("Again, A", Get.AOfAgain);
        Try("Again, D", Get.DOfAgain);
        Try("I, D", Get.DOfI);
        Try("direct A", Get.ACalledDirectly);
        Try("direct D", Get.DCalledDirectly);
        Try("function of Base", () => Get.Function<Base>()());
        Try("function of Struct", () => Get.Function<Struct>()());
        Try("function of OfJAndK", () => Get.Function<OfJAndK>()());

        Out<OfString>();
        // Code that .NET shares between instantiations reports invalid IL here.
        Out<OfObject>(Get.AOfObjectAsString);
        Out<StringOfObject>();
        Out<ObjectOfString>();
        Out<Defaulting>();
        Out<Both<string>>();
        Try("Both<string> as int, A", Get.OutA<int, Both<string>>);

        var points = new Point[3];
        for (int i = 0; i < 3; i++)
        {
            points[i].X = i;
            points[i].Y = 10 * i;
        }
        Point sum = Get.Sum(points), twice = Get.Twice(sum);
        Console.WriteLine($"{sum.X} {sum.Y} {twice.X} {twice.Y}");
        var text = Get.Sum(new[] { new Text("a"), new Text("b"), new Text("c") });
        Console.WriteLine($"{text.Value}, {Get.Twice(text).Value}");
        Console.WriteLine(Get.Pair(sum, 1) + ", " + Get.Pair(sum, "s") + ", " + Get.Pair(text, 1.0));
        Console.WriteLine(Get.PairFunction<Point, string>()(sum, "") + ", " + Get.PairFunction<Text, long>()(text, 1));
    }
}
