// Pointers: arithmetic, dereference, fixed arrays and strings, stackalloc, fixed-size buffers, pointer casts.
// mcs: -unsafe
using System;
using System.Runtime.InteropServices;

unsafe struct Buffer8
{
    public int Length;
    public fixed byte Data[8];
    public fixed int Numbers[3];
}

struct Node
{
    public int Value;
    public unsafe Node* Next;
}

static unsafe class Program
{
    static int Sum(int* p, int n)
    {
        int sum = 0;
        for (int* end = p + n; p < end; p++)
            sum += *p;
        return sum;
    }

    static void Swap(long* a, long* b)
    {
        long t = *a;
        *a = *b;
        *b = t;
    }

    static int Factorial(int n)
    {
        int* scratch = stackalloc int[n + 1];
        scratch[0] = 1;
        for (int i = 1; i <= n; i++)
            scratch[i] = scratch[i - 1] * i;
        return scratch[n];
    }

    static void Main()
    {
        int[] array = { 1, 2, 3, 4, 5 };
        fixed (int* p = array)
        {
            Console.WriteLine("{0} {1} {2}", Sum(p, 5), p[2], *(p + 4));
            p[1] = 20;
            byte* bytes = (byte*)p;
            Console.WriteLine("{0} {1}", bytes[4], &p[3] - p);
            *(short*)(bytes + 2) = 1;
        }
        Console.WriteLine(string.Join(" ", array));
        long a = 1, b = 2;
        Swap(&a, &b);
        Console.WriteLine("{0} {1} {2}", a, b, Factorial(10));

        double d = 1.0;
        Console.WriteLine("{0:x}", *(ulong*)&d);
        float f = -2.5f;
        Console.WriteLine("{0:x}", *(uint*)&f);

        fixed (char* c = "fixed string")
        {
            int length = 0;
            while (c[length] != 0)
                length++;
            Console.WriteLine("{0} {1}", length, new string(c, 6, 6));
        }
        char* text = stackalloc char[4];
        text[0] = 'a';
        text[1] = 'b';
        text[2] = '\0';
        Console.WriteLine(new string(text));

        Buffer8 buffer = new Buffer8();
        buffer.Length = 8;
        for (int i = 0; i < 8; i++)
            buffer.Data[i] = (byte)(i * i);
        buffer.Numbers[2] = 7;
        Buffer8 copy = buffer;
        copy.Data[7] = 0;
        Console.WriteLine("{0} {1} {2} {3}", buffer.Data[7], copy.Data[7], copy.Numbers[2], sizeof(Buffer8));

        Node second = new Node { Value = 2 }, first = new Node { Value = 1, Next = &second };
        (*first.Next).Value += 10;
        Console.WriteLine("{0} {1} {2}", first.Next->Value, second.Value, second.Next == null);

        IntPtr memory = Marshal.AllocHGlobal(64);
        int* heap = (int*)memory;
        for (int i = 0; i < 16; i++)
            heap[i] = i * 3;
        Console.WriteLine("{0} {1}", heap[15], Marshal.ReadInt32(memory, 20));
        void* opaque = heap;
        *(long*)opaque = -1;
        Console.WriteLine("{0} {1}", heap[0], heap[1]);
        Marshal.FreeHGlobal(memory);
        int** twice = stackalloc int*[2];
        int local = 5;
        twice[1] = &local;
        **(twice + 1) = 6;
        Console.WriteLine("{0} {1}", local, sizeof(int*));
        Console.WriteLine("{0} {1} {2} {3}", sizeof(byte), sizeof(char), sizeof(decimal), sizeof(Node));
        bool[] flags = new bool[3];
        fixed (bool* fp = &flags[1])
            *fp = true;
        Console.WriteLine(string.Join(" ", flags));
        fixed (int* empty = new int[0])
            Console.WriteLine(empty == null);
        uint u = uint.MaxValue;
        byte* bp = (byte*)&u;
        *bp = 0;
        Console.WriteLine(u);
        GCHandle handle = GCHandle.Alloc(array, GCHandleType.Pinned);
        Console.WriteLine(*(int*)handle.AddrOfPinnedObject());
        handle.Free();
    }
}
