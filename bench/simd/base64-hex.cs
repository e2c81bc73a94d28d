// Bytes as text and back: base 64 and hexadecimal.
using System;

static class Base64Hex
{
    static void Main()
    {
        var bytes = new byte[3000];
        for (int i = 0; i < bytes.Length; i++)
            bytes[i] = (byte)(i * 11);
        var key = new byte[16];
        long total = 0;
        for (int round = 0; round < 60000; round++)
        {
            bytes[round % bytes.Length]++;
            string text = Convert.ToBase64String(bytes);
            total += text[round % text.Length];
            total += Convert.FromBase64String(text)[round % bytes.Length];
            Buffer.BlockCopy(bytes, round % 1000, key, 0, 16);
            for (int i = 0; i < 10; i++)
                total += BitConverter.ToString(key)[i];
        }
        Console.WriteLine(total);
    }
}
