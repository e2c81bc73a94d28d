// What a method in another domain does to an array parameter declared [Out] comes back into the caller's own array; without
// [Out], and for what is serialised, the caller's object stays as it was.
using System;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;

interface IWork
{
    void Fill([Out] long[] values);
}

class Remote : MarshalByRefObject, IWork
{
    public void Bytes([In, Out] byte[] values) { for (int i = 0; i < values.Length; i++) values[i] = (byte) (values[i] * 2); }
    public void Kept(byte[] values) { values[0] = 99; }
    public void InOnly([In] byte[] values) { values[0] = 99; }
    public void Texts([In, Out] string[] values) { values[0] = "new"; values[1] = null; }
    public void Grid([In, Out] int[,] values) { values[1, 2] = 7; }
    public void Jagged([In, Out] int[][] values) { values[0][0] = 8; values[1] = new int[] { 9 }; }
    public void Builder([In, Out] StringBuilder text) { text.Append(" and more"); }
    public void Objects([In, Out] object[] values) { values[0] = "new"; }
    public void Fill(long[] values) { values[0] = 5; }
    public string Mixed(ref int a, [In, Out] char[] b, out string c, byte[] d)
    {
        a++;
        b[0] = 'B';
        c = new string(b);
        d[0] = 1;
        return c + a;
    }
    public int Nothing([In, Out] byte[] values) { return values == null ? -1 : values.Length; }
    public void Throws([In, Out] byte[] values) { values[0] = 1; throw new InvalidOperationException("thrown"); }
}

static class Program
{
    static void Main()
    {
        AppDomain domain = AppDomain.CreateDomain("there");
        Remote remote = (Remote) domain.CreateInstanceAndUnwrap(Assembly.GetExecutingAssembly().FullName, "Remote");

        byte[] bytes = { 1, 2, 3 };
        remote.Bytes(bytes);
        Console.WriteLine("bytes {0}", string.Join(",", bytes));
        remote.Kept(bytes);
        remote.InOnly(bytes);
        Console.WriteLine("kept {0}", bytes[0]);

        string[] texts = { "a", "b", "c" };
        remote.Texts(texts);
        Console.WriteLine("texts {0} {1} {2}", texts[0], texts[1] == null, texts[2]);

        int[,] grid = new int[2, 3];
        remote.Grid(grid);
        Console.WriteLine("grid {0}", grid[1, 2]);

        int[][] jagged = { new int[] { 1 }, new int[] { 2 } };
        remote.Jagged(jagged);
        Console.WriteLine("jagged {0} {1}", jagged[0][0], jagged[1][0]);

        StringBuilder text = new StringBuilder("text");
        remote.Builder(text);
        Console.WriteLine(text);

        object[] objects = { "old" };
        remote.Objects(objects);
        Console.WriteLine("objects {0}", objects[0]);

        long[] longs = { 1 };
        remote.Fill(longs);
        Console.WriteLine("class {0}", longs[0]);
        longs[0] = 1;
        ((IWork) remote).Fill(longs);
        Console.WriteLine("interface {0}", longs[0]);

        int a = 1;
        char[] b = { 'b', 'x' };
        string c;
        byte[] d = { 0 };
        string result = remote.Mixed(ref a, b, out c, d);
        Console.WriteLine("mixed {0} {1} {2} {3} {4}", result, a, b[0], c, d[0]);

        Console.WriteLine("null {0}, empty {1}", remote.Nothing(null), remote.Nothing(new byte[0]));
        byte[] unchanged = { 0 };
        try
        {
            remote.Throws(unchanged);
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine("{0} {1}", e.Message, unchanged[0]);
        }
    }
}
