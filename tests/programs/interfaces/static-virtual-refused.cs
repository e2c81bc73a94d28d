// Types that do not implement the static virtual methods of their interfaces, or override what they cannot, do not
// load. As in .NET 9; an abstract class may leave them open, and no method implements one by its name alone.
using System;

static class Program
{
    static void Try(Func<object> array)
    {
        try
        {
            Console.WriteLine($"{array().GetType().Name} loads");
        }
        catch (TypeLoadException e)
        {
            Console.WriteLine($"{e.GetType().Name}");
        }
        catch (MissingMethodException e)
        {
            Console.WriteLine($"{e.GetType().Name}");
        }
    }

    static void Main()
    {
        Try(() => new Nothing[0]);
        Try(() => new ByName[0]);
        Try(() => new Abstract[0]);
        Try(() => new BelowAbstract[0]);
        Try(() => new Struct[0]);
        Try(() => new OtherInstantiation<string>[0]);
        Try(() => new OfGeneric<string>[0]);
        Try(() => new Twice[0]);
        Try(() => new InstanceBody[0]);
        Try(() => new StaticBody[0]);
        Try(() => new OtherResult[0]);
        Try(() => new OtherParameters[0]);
        Try(() => new GenericBody[0]);
        Try(() => new OtherModifiers[0]);
        Try(() => new VirtualBody[0]);
        Try(() => new VirtualInClass[0]);
        Try(() => new NotImplementing[0]);
        Try(() => new OfPlain[0]);
        Try(() => new IOtherResult[0]);
        Try(() => new INotImplementing[0]);
    }
}
