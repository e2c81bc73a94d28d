// Vectors through 4×4 matrices.
using System;
using System.Numerics;

static class MatrixVectors
{
    static Vector4 Sum(Matrix4x4 matrix, Vector4[] vectors)
    {
        var sum = Vector4.Zero;
        foreach (var vector in vectors)
            sum += Vector4.Transform(vector, matrix);
        return sum;
    }

    static void Move(Matrix4x4 matrix, Vector3[] from, Vector3[] to)
    {
        for (int i = 0; i < from.Length; i++)
            to[i] = Vector3.Transform(from[i], matrix);
    }

    static void Main()
    {
        var vectors = new Vector4[1000];
        var points = new Vector3[1000];
        var moved = new Vector3[1000];
        for (int i = 0; i < vectors.Length; i++)
        {
            vectors[i] = new Vector4(i % 8, i % 4, i % 2, 1);
            points[i] = new Vector3(i % 8, i % 4, i % 2);
        }
        // Whole numbers, which add up exactly in any order.
        var matrix = new Matrix4x4(0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1) * Matrix4x4.CreateTranslation(1, 2, 3);
        double total = 0;
        for (int round = 0; round < 160000; round++)
        {
            matrix.M41 = round % 5;
            var sum = Sum(matrix, vectors);
            total += sum.X + sum.Y + sum.Z + sum.W;
            Move(matrix, points, moved);
            total += moved[round % 1000].Length() > 2 ? 1 : 0;
        }
        Console.WriteLine((long)total);
    }
}
