// An exception inside a filter is swallowed and the filter counts as false (ECMA-335 §I.12.4.2.6). Mono 6.8 lets it
// escape; Saki does not.
using System;

static class Program
{
    static void Main()
    {
        try
        {
            throw new Exception("original");
        }
        catch (Exception e) when (int.Parse("x") == 0)
        {
            Console.WriteLine("never " + e.Message);
        }
        catch (Exception e)
        {
            Console.WriteLine("caught " + e.Message);
        }
    }
}
