// Objects of one class are cast to more types than its vtable remembers, in changing order, by several threads; outcomes must
// not depend on what was asked before.
using System;
using System.Collections.Generic;
using System.Threading;

interface IA { }
interface IB { }
interface IC { }
interface ID { }
interface IE { }
interface IOut<out T> { }
interface IIn<in T> { }
class Base : IA, IOut<string> { }
class Derived : Base, IB, IC, IIn<object> { }
class Other : ID, IE { }
struct Value : IA, IE { }

static class Program
{
    static int Mask(object o)
    {
        int mask = 0;
        if (o is IA) mask |= 1;
        if (o is IB) mask |= 2;
        if (o is IC) mask |= 4;
        if (o is ID) mask |= 8;
        if (o is IE) mask |= 16;
        if (o is IOut<object>) mask |= 32;
        if (o is IOut<string>) mask |= 64;
        if (o is IIn<string>) mask |= 128;
        if (o is IIn<int>) mask |= 256;
        if (o is IList<object>) mask |= 512;
        if (o is IList<string>) mask |= 1024;
        if (o is IList<int>) mask |= 2048;
        if (o is IList<uint>) mask |= 4096;
        if (o is Func<object>) mask |= 8192;
        if (o is Base[]) mask |= 16384;
        if (o is IA[]) mask |= 32768;
        return mask;
    }

    static bool Throws<T>(object o)
    {
        try
        {
            T unused = (T)o;
            return false;
        }
        catch (InvalidCastException)
        {
            return true;
        }
    }

    static string Store(object[] array, object value)
    {
        try
        {
            array[0] = value;
            return "stored";
        }
        catch (ArrayTypeMismatchException)
        {
            return "mismatch";
        }
    }

    static void Main()
    {
        object[] objects = {
            new Base(), new Derived(), new Other(), new Value(), new Base[1], new Derived[1], new int[1], new string[1],
            (Func<string>)(() => ""), "text", 5, new IA[1]
        };
        int[] first = new int[objects.Length];
        for (int i = 0; i < objects.Length; i++)
        {
            first[i] = Mask(objects[i]);
            Console.WriteLine("{0,-10} {1}", objects[i].GetType().Name, Convert.ToString(first[i], 2).PadLeft(16, '0'));
        }
        int differences = 0;
        Thread[] threads = new Thread[3];
        for (int n = 0; n < threads.Length; n++)
        {
            int start = n;
            threads[n] = new Thread(() =>
            {
                for (int round = 0; round < 3000; round++)
                {
                    int i = (start + round * 7) % objects.Length;
                    // New objects, so that words are taken over by other types now and then.
                    object o = objects[i] is Base && !(objects[i] is Derived) ? new Base() : objects[i];
                    if (Mask(o) != first[i])
                        Interlocked.Increment(ref differences);
                }
            });
            threads[n].Start();
        }
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine("differences {0}", differences);

        object derived = new Derived();
        for (int i = 0; i < 3; i++)
            Console.WriteLine("{0} {1} {2} {3}", Throws<IA>(derived), Throws<IC>(derived), Throws<IE>(derived), Throws<IOut<object>>(derived));

        object[][] arrays = { new object[1], new Base[1], new IA[1], new IE[1], new Derived[1], new ValueType[1] };
        object[] values = { new Base(), new Derived(), new Other(), new Value(), null };
        for (int round = 0; round < 2; round++)
            foreach (object[] array in arrays)
            {
                string line = array.GetType().Name;
                foreach (object value in values)
                    line += " " + Store(array, value);
                Console.WriteLine(line);
            }
    }
}
