// Copies of arrays: short and long, of bytes, numbers and references, from overlapping places too.
using System;

static class MemoryCopy
{
    static void Main()
    {
        var bytes = new byte[1 << 20];
        var target = new byte[1 << 20];
        var numbers = new long[4096];
        var strings = new string[1024];
        var others = new string[1024];
        for (int i = 0; i < bytes.Length; i++)
            bytes[i] = (byte)(i * 7);
        for (int i = 0; i < numbers.Length; i++)
            numbers[i] = i;
        for (int i = 0; i < strings.Length; i++)
            strings[i] = i.ToString();
        for (int round = 0; round < 2000000; round++)
        {
            int length = 1 + round % 61;
            Buffer.BlockCopy(bytes, round & 1023, target, round & 511, length);
            Array.Copy(bytes, round & 255, target, 2048 + (round & 255), 3 * length);
        }
        for (int round = 0; round < 150; round++)
        {
            Buffer.BlockCopy(bytes, 1, target, round, bytes.Length - 1024);
            Array.Copy(target, 0, target, 64, target.Length - 64);
        }
        for (int round = 0; round < 20000; round++)
        {
            Array.Copy(numbers, 0, numbers, 1, numbers.Length - 1);
            Array.Copy(strings, 0, others, 1, strings.Length - 1);
            Array.Copy(others, 1, strings, 0, strings.Length - 1);
            Array.Copy(strings, 1, strings, 0, 8);
            strings[8] = strings[round & 511];
        }
        long check = 0;
        for (int i = 0; i < target.Length; i += 97)
            check = check * 31 + target[i];
        Console.WriteLine("{0} {1} {2}", check, numbers[4095], strings[5]);
    }
}
