using System;
using System.Numerics;

static class Program
{
    static string Outcome(Func<object> action)
    {
        try { return action().ToString(); }
        catch (NotSupportedException e) { return e.Message; }
    }

    static object Sum()
    {
        Vector4 sum = new Vector4(1, 2, 3, 4) + new Vector4(10, 20, 30, 40);
        return sum.X + " " + sum.Y + " " + sum.Z + " " + sum.W;
    }

    static object Product()
    {
        var matrix = new Matrix4x4 { M11 = 2, M14 = 5, M22 = 3, M33 = 4, M41 = 7, M44 = 1 };
        matrix = matrix * matrix;
        return matrix.M11 + " " + matrix.M14 + " " + matrix.M22 + " " + matrix.M41;
    }

    static void Main()
    {
        Console.WriteLine(Vector.IsHardwareAccelerated);
        Console.WriteLine(Outcome(Sum));
        Console.WriteLine(Outcome(Product));
        Vector4 a = new Vector4(1, 2, 3, 4), b = new Vector4(5, 6, 7, 8), c = Vector4.Length().Max(a, b);
        Console.WriteLine((a - b) + " " + Vector4.Min(a, b) + " " + c.X + " " + c.Y + " " + c.Z);
        Vector3 other = new Vector3(2, 3, 4) + new Vector3(5, 6, 7);
        Console.WriteLine(other.X + " " + other.Y + " " + other.Z);
    }
}
