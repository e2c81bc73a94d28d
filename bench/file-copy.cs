// Copies files: whole, by blocks, byte by byte through streams' buffers, and asynchronously.
using System;
using System.IO;
using System.Security.Cryptography;
using System.Threading.Tasks;

static class FileCopy {
    const int Bytes = 48 << 20;
    const int SmallBytes = 12 << 20;

    static void Main ()
    {
        string folder = Path.Combine (Path.GetTempPath (), "file-copy-" + Guid.NewGuid ());
        Directory.CreateDirectory (folder);
        try {
            string from = Path.Combine (folder, "from"), small = Path.Combine (folder, "small"), to = Path.Combine (folder, "to");
            var content = new byte[Bytes];
            new Random (1).NextBytes (content);
            File.WriteAllBytes (from, content);
            Array.Resize (ref content, SmallBytes);
            File.WriteAllBytes (small, content);
            for (int i = 0; i < 3; i++)
                File.Copy (from, to, true);
            Show ("whole", to);
            Blocks (from, to, 4096);
            Show ("blocks", to);
            SingleBytes (small, to);
            Show ("bytes", to);
            Later (from, to).Wait ();
            Show ("later", to);
            Many (folder);
        } finally {
            Directory.Delete (folder, true);
        }
    }

    static void Show (string how, string path)
    {
        uint sum = 0;
        foreach (byte b in File.ReadAllBytes (path))
            sum = sum * 31 + b;
        Console.WriteLine ("{0} {1} {2:x8}", how, new FileInfo (path).Length, sum);
    }

    static void Blocks (string from, string to, int size)
    {
        var block = new byte[size];
        using (var input = File.OpenRead (from))
        using (var output = File.Create (to)) {
            int count;
            while ((count = input.Read (block, 0, size)) > 0)
                output.Write (block, 0, count);
        }
    }

    static void SingleBytes (string from, string to)
    {
        using (var input = File.OpenRead (from))
        using (var output = File.Create (to)) {
            int b;
            while ((b = input.ReadByte ()) >= 0)
                output.WriteByte ((byte) b);
        }
    }

    static async Task Later (string from, string to)
    {
        using (var input = new FileStream (from, FileMode.Open, FileAccess.Read, FileShare.Read, 65536, true))
        using (var output = new FileStream (to, FileMode.Create, FileAccess.Write, FileShare.None, 65536, true))
            await input.CopyToAsync (output, 65536);
    }

    // Small files, where opening and closing is what costs.
    static void Many (string folder)
    {
        long total = 0;
        for (int i = 0; i < 3000; i++) {
            string path = Path.Combine (folder, "n" + i);
            File.WriteAllText (path, "file " + i);
            File.Copy (path, path + "c");
            total += File.ReadAllText (path + "c").Length;
        }
        Console.WriteLine ("many {0} {1}", total, Directory.GetFiles (folder, "n*c").Length);
    }
}
