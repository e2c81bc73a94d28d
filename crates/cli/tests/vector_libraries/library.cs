// A stand-in for the System.Numerics.Vectors.dll that programs carry beside them. Its own code throws, so that what does not throw was the processor's.
using System;

namespace System.Numerics
{
    public struct Vector4
    {
        public float X, Y, Z, W;

        public Vector4(float x, float y, float z, float w) { X = x; Y = y; Z = z; W = w; }

        public static Vector4 operator +(Vector4 a, Vector4 b) { throw new NotSupportedException("the library's own code"); }

        // Names of the class library's methods with other results, and of instances: these are the library's own.
        public static int operator -(Vector4 a, Vector4 b) { return 7; }
        public static string Min(Vector4 a, Vector4 b) { return "least"; }
        public Vector4 Max(Vector4 a, Vector4 b) { return new Vector4(X, a.Y, b.Z, 0); }
        public static Vector4 Length() { return new Vector4(1, 1, 1, 1); }
    }

    // Of another size than the class library's: it is no vector.
    public struct Vector3
    {
        public double X, Y, Z;

        public Vector3(double x, double y, double z) { X = x; Y = y; Z = z; }

        public static Vector3 operator +(Vector3 a, Vector3 b) { return new Vector3(a.X * b.X, a.Y * b.Y, a.Z * b.Z); }
    }

    public struct Matrix4x4
    {
        public float M11, M12, M13, M14, M21, M22, M23, M24, M31, M32, M33, M34, M41, M42, M43, M44;

        public static Matrix4x4 operator *(Matrix4x4 a, Matrix4x4 b) { throw new NotSupportedException("the library's own code"); }
    }
}
