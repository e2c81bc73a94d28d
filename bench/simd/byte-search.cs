// Looking for bytes: the class library's IndexOf, and a loop over vectors.
using System;
using System.Numerics;

static class ByteSearch
{
    static int Find(byte[] bytes, byte wanted)
    {
        int step = Vector<byte>.Count;
        var pattern = new Vector<byte>(wanted);
        int i = 0;
        for (; i <= bytes.Length - step; i += step)
            if (Vector.EqualsAny(new Vector<byte>(bytes, i), pattern))
                break;
        for (; i < bytes.Length; i++)
            if (bytes[i] == wanted)
                return i;
        return -1;
    }

    static void Main()
    {
        var bytes = new byte[16384];
        for (int i = 0; i < bytes.Length; i++)
            bytes[i] = (byte)(i % 200);
        long total = 0;
        for (int round = 0; round < 200000; round++)
        {
            int place = 64 + round * 37 % 16000;
            byte before = bytes[place];
            bytes[place] = 255;
            total += Array.IndexOf(bytes, (byte)255);
            total += Find(bytes, 255);
            total += Array.LastIndexOf(bytes, (byte)255);
            bytes[place] = before;
        }
        Console.WriteLine(total);
    }
}
