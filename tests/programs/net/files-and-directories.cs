// Files and folders in the current folder: written, read, copied, moved, listed, locked, mapped, watched for times, links and errors.
using System;
using System.IO;
using System.IO.Compression;
using System.IO.MemoryMappedFiles;
using System.Linq;
using System.Text;
using System.Threading.Tasks;

static class Test
{
    static async Task Main()
    {
        Directory.CreateDirectory("top/sub/deep");
        File.WriteAllText("top/a.txt", "line 1\nline 2\nline ü\n");
        Console.WriteLine(File.ReadLines("top/a.txt").Count() + " " + new FileInfo("top/a.txt").Length);
        await File.WriteAllBytesAsync("top/b.bin", Enumerable.Range(0, 256).Select(i => (byte)i).ToArray());
        Console.WriteLine((await File.ReadAllBytesAsync("top/b.bin")).Sum(b => b));
        File.AppendAllLines("top/sub/c.txt", ["x", "y"]);
        File.Copy("top/a.txt", "top/sub/deep/d.txt");
        File.Move("top/sub/c.txt", "top/sub/e.txt", true);
        foreach (string path in Directory.EnumerateFileSystemEntries("top", "*", SearchOption.AllDirectories).Order(StringComparer.Ordinal)) Console.WriteLine(path);
        using (var stream = new FileStream("top/b.bin", FileMode.Open, FileAccess.ReadWrite))
        {
            stream.Seek(-6, SeekOrigin.End);
            stream.Write("abc"u8);
            stream.Position = 249;
            Console.WriteLine(stream.ReadByte() + " " + (char)stream.ReadByte() + " " + stream.Length);
            stream.SetLength(100);
        }
        Console.WriteLine(new FileInfo("top/b.bin").Length);
        using (var map = MemoryMappedFile.CreateFromFile("top/b.bin"))
        using (var view = map.CreateViewAccessor())
            Console.WriteLine(view.ReadByte(99) + " " + view.ReadInt32(0).ToString("x"));
        using (var handle = File.OpenHandle("top/b.bin"))
        {
            var bytes = new byte[4];
            Console.WriteLine(RandomAccess.Read(handle, bytes, 10) + " " + bytes[3] + " " + RandomAccess.GetLength(handle));
        }
        var time = new DateTime(2020, 1, 2, 3, 4, 5, DateTimeKind.Utc);
        File.SetLastWriteTimeUtc("top/a.txt", time);
        Console.WriteLine(File.GetLastWriteTimeUtc("top/a.txt") == time);
        File.SetUnixFileMode("top/a.txt", UnixFileMode.UserRead | UnixFileMode.UserWrite);
        Console.WriteLine(File.GetUnixFileMode("top/a.txt"));
        File.CreateSymbolicLink("top/link", "a.txt");
        Console.WriteLine(new FileInfo("top/link").LinkTarget + " " + File.ReadAllText("top/link").Length);
        using (var memory = new MemoryStream())
        {
            using (var zip = new GZipStream(memory, CompressionLevel.Optimal, true)) zip.Write(new byte[100000]);
            memory.Position = 0;
            using var unzip = new GZipStream(memory, CompressionMode.Decompress);
            Console.WriteLine((memory.Length < 1000) + " " + new BinaryReader(unzip).ReadBytes(200000).Length);
        }
        using (var writer = new StreamWriter("top/utf16.txt", false, Encoding.Unicode)) writer.Write("é");
        using (var reader = new StreamReader("top/utf16.txt", true)) Console.WriteLine(reader.ReadToEnd() + " " + reader.CurrentEncoding.WebName);
        try { File.ReadAllText("top/missing"); } catch (FileNotFoundException e) { Console.WriteLine(Path.GetFileName(e.FileName)); }
        try { File.ReadAllText("nowhere/missing"); } catch (DirectoryNotFoundException e) { Console.WriteLine(e.GetType().Name); }
        try { Directory.Delete("top"); } catch (IOException e) { Console.WriteLine(e.GetType().Name); }
        using (File.Open("top/a.txt", FileMode.Open, FileAccess.Write, FileShare.None))
            try { File.OpenRead("top/a.txt").Dispose(); } catch (IOException e) { Console.WriteLine("locked " + e.GetType().Name); }
        Console.WriteLine(Path.Join("a", "b", "../c.tar.gz") + " " + Path.GetExtension("c.tar.gz") + " " + Path.GetRelativePath("/a/b", "/a/c/d") + " " + Path.GetFullPath("/x/./y/../z"));
        Directory.Delete("top", true);
        Console.WriteLine(Directory.Exists("top"));
    }
}
