// Order of try, catch, filter and finally; leaving with return, break, continue and goto; nesting.
using System;

static class Program
{
    static void W(string s) { Console.Write(s + " "); }

    static bool Filter(string name, bool result)
    {
        W("filter-" + name);
        return result;
    }

    static int Return(int path)
    {
        try
        {
            W("try");
            if (path == 0)
                return 10;
            if (path == 1)
                throw new ArgumentException("one");
            if (path == 2)
                throw new InvalidOperationException("two");
        }
        catch (ArgumentException)
        {
            W("catch-arg");
            return 20;
        }
        catch (InvalidOperationException) when (Filter("no", false))
        {
            W("never");
        }
        catch (Exception e) when (Filter("yes", true))
        {
            W("catch-" + e.GetType().Name);
            return 30;
        }
        finally
        {
            W("finally");
        }
        return 40;
    }

    static void Loop()
    {
        for (int i = 0; i < 5; i++)
        {
            try
            {
                if (i == 1)
                    continue;
                if (i == 3)
                    break;
                W("body" + i);
            }
            finally
            {
                W("f" + i);
            }
        }
    }

    static void Goto()
    {
        int n = 0;
    again:
        W("top");
        try
        {
            try
            {
                n++;
                if (n < 3)
                    goto again;
            }
            finally
            {
                W("in" + n);
            }
        }
        finally
        {
            W("out" + n);
        }
    }

    static void TwoPasses()
    {
        try
        {
            try
            {
                try
                {
                    throw new Exception("x");
                }
                finally
                {
                    W("finally1");
                }
            }
            catch (Exception) when (Filter("inner", false))
            {
            }
            finally
            {
                W("finally2");
            }
        }
        catch (Exception) when (Filter("outer", true))
        {
            W("handler");
        }
    }

    static void Replace()
    {
        try
        {
            try
            {
                throw new Exception("first");
            }
            finally
            {
                W("cleanup");
                throw new Exception("second");
            }
        }
        catch (Exception e)
        {
            W(e.Message + " inner=" + (e.InnerException == null));
        }
    }

    static void InHandlers()
    {
        try
        {
            try
            {
                throw new ArgumentException("a");
            }
            catch (ArgumentException e)
            {
                try
                {
                    throw new FormatException("b", e);
                }
                catch (FormatException f)
                {
                    W(f.Message + f.InnerException.Message);
                    throw new InvalidOperationException("c", f);
                }
                finally
                {
                    W("inner-finally");
                }
            }
        }
        catch (InvalidOperationException e)
        {
            W(e.Message + e.InnerException.Message + e.GetBaseException().Message);
        }
    }

    static void Rethrow()
    {
        try
        {
            try
            {
                throw new ArgumentException("kept");
            }
            catch (Exception)
            {
                W("rethrowing");
                throw;
            }
        }
        catch (ArgumentException e)
        {
            W(e.Message);
        }
    }

    static void FinallyInFinally()
    {
        try
        {
            W("1");
        }
        finally
        {
            try
            {
                W("2");
                try
                {
                    throw new Exception();
                }
                catch
                {
                    W("3");
                }
            }
            finally
            {
                W("4");
            }
        }
    }

    static int Deep(int n)
    {
        try
        {
            return n == 0 ? int.Parse("not a number") : Deep(n - 1) + 1;
        }
        finally
        {
            count++;
        }
    }

    static int count;

    static void Main()
    {
        for (int path = 0; path < 4; path++)
            Console.WriteLine("= {0}", Return(path));
        Loop();
        Console.WriteLine();
        Goto();
        Console.WriteLine();
        TwoPasses();
        Console.WriteLine();
        Replace();
        Console.WriteLine();
        InHandlers();
        Console.WriteLine();
        Rethrow();
        Console.WriteLine();
        FinallyInFinally();
        Console.WriteLine();
        try
        {
            Deep(500);
        }
        catch (FormatException)
        {
            Console.WriteLine("unwound {0} frames", count);
        }
        int caught = 0;
        for (int i = 0; i < 10000; i++)
        {
            try
            {
                throw new Exception();
            }
            catch (Exception)
            {
                caught++;
            }
        }
        Console.WriteLine(caught);
    }
}
