// StringBuilder: growth across chunks, editing in the middle, capacity rules.
using System;
using System.Text;

static class Program
{
    static void Main()
    {
        StringBuilder b = new StringBuilder();
        b.Append("x=").Append(1).Append(',').Append(2.5m).Append(true).Append(new[] { 'a', 'b' }).Append('z', 3).Append((object)null);
        Console.WriteLine(b);
        b.Insert(0, "<<").Insert(b.Length, ">>").Replace("z", "yy").Remove(2, 2);
        Console.WriteLine("{0} {1}", b, b.Length);
        b[0] = '[';
        Console.WriteLine("{0} {1}", b[0], b.ToString(1, 4));
        b.Length = 5;
        Console.WriteLine("{0}|", b);
        b.Length = 7;
        Console.WriteLine((int)b[6]);
        b.Clear();
        Console.WriteLine("{0} {1}", b.Length, b.ToString() == "");

        for (int i = 0; i < 10000; i++)
            b.Append(i).Append(' ');
        Console.WriteLine("{0} {1}", b.Length, b.ToString().GetHashCode() == b.ToString().GetHashCode());
        b.Insert(5000, "INSERTED");
        Console.WriteLine("{0} {1}", b.ToString(4996, 16), b.Length);
        b.Replace("INSERTED", "");
        string all = b.ToString();
        Console.WriteLine("{0} {1}", all.Length, all.EndsWith("9998 9999 ", StringComparison.Ordinal));

        b.Clear().AppendFormat("{0}-{1:x}", 10, 255).AppendLine().AppendLine("end");
        Console.Write(b);
        char[] target = new char[4];
        new StringBuilder("abcdef").CopyTo(1, target, 0, 4);
        Console.WriteLine(new string(target));
        Console.WriteLine(new StringBuilder("same").Equals(new StringBuilder("same")));
        try
        {
            new StringBuilder(4, 8).Append("123456789");
        }
        catch (ArgumentOutOfRangeException)
        {
            Console.WriteLine("beyond the maximum capacity");
        }
        try
        {
            b.Insert(1000, "x");
        }
        catch (ArgumentOutOfRangeException)
        {
            Console.WriteLine("beyond the end");
        }
    }
}
