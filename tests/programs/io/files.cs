// Files, directories, streams, readers and writers, paths; everything below the current folder.
using System;
using System.IO;
using System.IO.Compression;
using System.Linq;
using System.Text;

static class Program
{
    static void Fails(string name, Action action)
    {
        try
        {
            action();
            Console.WriteLine(name + " did not fail");
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", name, e.GetType().Name);
        }
    }

    static void Main()
    {
        Directory.CreateDirectory("d/e");
        File.WriteAllText("d/text.txt", "line one\nzwei \u00fc\u20ac\n");
        Console.WriteLine("{0} {1}", File.ReadAllLines("d/text.txt")[1], new FileInfo("d/text.txt").Length);
        File.AppendAllText("d/text.txt", "three");
        Console.WriteLine(File.ReadAllText("d/text.txt").Length);
        byte[] bytes = Enumerable.Range(0, 100000).Select(i => (byte)(i * 7)).ToArray();
        File.WriteAllBytes("d/e/bytes", bytes);
        Console.WriteLine(File.ReadAllBytes("d/e/bytes").SequenceEqual(bytes));
        using (FileStream s = new FileStream("d/e/bytes", FileMode.Open, FileAccess.ReadWrite))
        {
            s.Seek(50000, SeekOrigin.Begin);
            int b = s.ReadByte();
            s.Position = 10;
            s.WriteByte(255);
            s.Seek(-1, SeekOrigin.End);
            Console.WriteLine("{0} {1} {2} {3}", b == unchecked((byte)(50000 * 7)), s.ReadByte() == bytes[99999], s.ReadByte(), s.Length);
            s.SetLength(20);
        }
        Console.WriteLine("{0} {1}", File.ReadAllBytes("d/e/bytes").Length, File.ReadAllBytes("d/e/bytes")[10]);
        using (StreamWriter w = new StreamWriter("d/lines", false, new UTF8Encoding(true)))
            for (int i = 0; i < 5000; i++)
                w.WriteLine("line {0}", i);
        using (StreamReader r = new StreamReader("d/lines"))
        {
            int n = 0;
            string last = null;
            for (string line = r.ReadLine(); line != null; line = r.ReadLine(), n++)
                last = line;
            Console.WriteLine("{0} {1} {2}", n, last, r.CurrentEncoding.WebName);
        }
        using (BinaryWriter w = new BinaryWriter(File.Create("d/binary")))
        {
            w.Write(42);
            w.Write("string");
            w.Write(2.5);
            w.Write(true);
            w.Write(long.MinValue);
            w.Write(1.25m);
        }
        using (BinaryReader r = new BinaryReader(File.OpenRead("d/binary")))
            Console.WriteLine("{0} {1} {2} {3} {4} {5}", r.ReadInt32(), r.ReadString(), r.ReadDouble(), r.ReadBoolean(), r.ReadInt64(), r.ReadDecimal());
        MemoryStream packed = new MemoryStream();
        using (GZipStream z = new GZipStream(packed, CompressionMode.Compress, true))
            z.Write(bytes, 0, bytes.Length);
        packed.Position = 0;
        MemoryStream unpacked = new MemoryStream();
        using (GZipStream z = new GZipStream(packed, CompressionMode.Decompress))
            z.CopyTo(unpacked);
        Console.WriteLine("{0} {1}", packed.ToArray().Length < bytes.Length, unpacked.ToArray().SequenceEqual(bytes));

        File.Copy("d/text.txt", "d/copy.txt");
        File.Move("d/copy.txt", "d/moved.txt");
        Console.WriteLine("{0} {1} {2}", File.Exists("d/copy.txt"), File.Exists("d/moved.txt"), Directory.Exists("d/e"));
        Console.WriteLine(string.Join(" ", Directory.GetFiles("d").Select(Path.GetFileName).OrderBy(f => f, StringComparer.Ordinal)));
        Console.WriteLine(string.Join(" ", Directory.EnumerateFileSystemEntries("d", "*", SearchOption.AllDirectories).OrderBy(f => f, StringComparer.Ordinal)));
        Console.WriteLine(string.Join(" ", Directory.GetFiles("d", "*.txt").Length, Directory.GetDirectories("d").Length));
        File.SetLastWriteTimeUtc("d/text.txt", new DateTime(2001, 2, 3, 4, 5, 6, DateTimeKind.Utc));
        Console.WriteLine(File.GetLastWriteTimeUtc("d/text.txt").ToString("s"));
        Console.WriteLine("{0} {1}", (File.GetAttributes("d/e") & FileAttributes.Directory) != 0, (File.GetAttributes("d/text.txt") & FileAttributes.Directory) != 0);
        File.Delete("d/moved.txt");
        File.Delete("d/never-there");
        Fails("missing file", () => File.ReadAllText("d/none"));
        Fails("missing folder", () => File.ReadAllText("none/none"));
        Fails("create new", () => new FileStream("d/text.txt", FileMode.CreateNew));
        Fails("not empty", () => Directory.Delete("d"));
        Fails("empty name", () => File.Open("", FileMode.Open));
        Fails("folder as file", () => File.ReadAllText("d/e"));
        using (FileStream s = File.OpenRead("d/text.txt"))
        {
            Fails("write to reader", () => s.WriteByte(1));
            s.Dispose();
            Fails("disposed", () => s.ReadByte());
        }
        Directory.Delete("d", true);
        Console.WriteLine(Directory.Exists("d"));
        Console.WriteLine("{0} {1} {2} {3}", Path.Combine("a", "b/c.txt"), Path.GetExtension("x.tar.gz"), Path.GetFileNameWithoutExtension("p/q.r"), Path.GetDirectoryName("p/q/r"));
        Console.WriteLine("{0} {1} {2}", Path.GetFullPath("/a/../b/./c"), Path.ChangeExtension("f.a", ".b"), Path.IsPathRooted("/x"));
    }
}
