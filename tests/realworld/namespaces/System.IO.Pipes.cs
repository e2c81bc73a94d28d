// Also FileSystemWatcher, memory-mapped files, isolated storage and compression.
// references: System.IO.Compression System.IO.Compression.FileSystem
using System;
using System.Collections.Generic;
using System.IO;
using System.IO.Compression;
using System.IO.IsolatedStorage;
using System.IO.MemoryMappedFiles;
using System.IO.Pipes;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using static Sweep;

static class Program {
    static void Main ()
    {
        string dir = Folder ();
        Func<string, string> P = leaf => Path.Combine (dir, leaf);
        Check ("Anonymous pipes", () => {
            using (var s = new AnonymousPipeServerStream (PipeDirection.Out, HandleInheritability.Inheritable))
            using (var c = new AnonymousPipeClientStream (PipeDirection.In, s.GetClientHandleAsString ())) {
                Print (s.CanRead, s.CanWrite, c.CanRead, s.IsConnected, s.TransmissionMode); s.Write (new byte[] { 1, 2, 3 }, 0, 3); var b = new byte[5]; Print (c.Read (b, 0, 5), b);
            }
        });
        Check ("Anonymous pipe, end of stream", () => { var s = new AnonymousPipeServerStream (PipeDirection.Out); var c = new AnonymousPipeClientStream (PipeDirection.In, s.ClientSafePipeHandle); s.WriteByte (5); s.Dispose (); Print (c.ReadByte (), c.ReadByte ()); });
        Check ("Named pipes", () => {
            string name = P ("pipe");
            using (var s = new NamedPipeServerStream (name, PipeDirection.InOut)) {
                var t = Task.Run (() => { s.WaitForConnection (); var r = new StreamReader (s); var w = new StreamWriter (s) { AutoFlush = true }; w.WriteLine ("got " + r.ReadLine ()); });
                using (var c = new NamedPipeClientStream (".", name, PipeDirection.InOut)) { c.Connect (5000); var w = new StreamWriter (c) { AutoFlush = true }; w.WriteLine ("hello"); Print (new StreamReader (c).ReadLine ()); }
                t.Wait ();
            }
        });
        Check ("FileSystemWatcher", () => {
            var seen = new List<string> ();
            using (var w = new FileSystemWatcher (dir, "*.w")) {
                w.Created += (o, e) => { lock (seen) seen.Add ("created " + e.Name); };
                w.Deleted += (o, e) => { lock (seen) seen.Add ("deleted " + e.Name); };
                w.Renamed += (o, e) => { lock (seen) seen.Add ("renamed " + e.OldName + " " + e.Name); };
                w.NotifyFilter = NotifyFilters.FileName | NotifyFilters.LastWrite;
                w.EnableRaisingEvents = true; Print (w.Path == dir, w.Filter, w.IncludeSubdirectories, w.InternalBufferSize);
                File.WriteAllText (P ("a.w"), "1"); Wait (() => seen.Count >= 1); File.WriteAllText (P ("b.x"), "1"); File.Move (P ("a.w"), P ("c.w")); Wait (() => seen.Count >= 2); File.Delete (P ("c.w")); Wait (() => seen.Count >= 4);
                lock (seen) Print (seen);
            }
        });
        Check ("FileSystemWatcher changes", () => {
            int changes = 0; using (var w = new FileSystemWatcher (dir)) { w.IncludeSubdirectories = true; w.Changed += (o, e) => { if (e.Name.EndsWith ("deep.txt")) Interlocked.Increment (ref changes); }; Directory.CreateDirectory (P ("sub")); File.WriteAllText (P ("sub/deep.txt"), ""); w.EnableRaisingEvents = true; Thread.Sleep (100); File.AppendAllText (P ("sub/deep.txt"), "x"); Print (Wait (() => changes > 0)); w.EnableRaisingEvents = false; }
        });
        Check ("FileSystemWatcher.WaitForChanged", () => { using (var w = new FileSystemWatcher (dir)) { var t = new Thread (() => { for (int i = 0; i < 20; i++) { Thread.Sleep (100); try { File.WriteAllText (P ("wf" + i), ""); } catch (DirectoryNotFoundException) { } } }); t.Start (); var r = w.WaitForChanged (WatcherChangeTypes.Created, 5000); Print (r.TimedOut, r.ChangeType, r.Name.StartsWith ("wf")); t.Join (); } });
        Check ("FileSystemWatcher missing", () => new FileSystemWatcher (P ("none")));
        Check ("Memory-mapped file", () => {
            File.WriteAllBytes (P ("mm"), Enumerable.Range (0, 10000).Select (i => (byte) i).ToArray ());
            using (var m = MemoryMappedFile.CreateFromFile (P ("mm"), FileMode.Open)) {
                using (var v = m.CreateViewAccessor (100, 200)) { Print (v.ReadByte (0), v.ReadInt32 (4), v.ReadInt64 (8), v.Capacity, v.CanWrite); v.Write (0, (byte) 77); v.Write (8, 1.5); v.Flush (); double d; v.Read (8, out d); Print (d); var a = new int[3]; Print (v.ReadArray (20, a, 0, 3), a); v.WriteArray (20, new[] { 1, 2, 3 }, 0, 3); }
                using (var s = m.CreateViewStream (100, 10, MemoryMappedFileAccess.Read)) { Print (s.ReadByte (), s.Length, s.CanWrite); }
            }
            Print (File.ReadAllBytes (P ("mm"))[100], BitConverter.ToInt32 (File.ReadAllBytes (P ("mm")), 124));
        });
        Check ("Memory-mapped file, new", () => { using (var m = MemoryMappedFile.CreateNew ("sweep-new", 5000)) using (var v = m.CreateViewAccessor ()) { v.Write (4000, 42); Print (v.ReadInt32 (4000), v.Capacity); } });
        Check ("Memory-mapped file, read only", () => { using (var m = MemoryMappedFile.CreateFromFile (new FileStream (P ("mm"), FileMode.Open, FileAccess.Read), null, 0, MemoryMappedFileAccess.Read, HandleInheritability.None, false)) using (var v = m.CreateViewAccessor (0, 0, MemoryMappedFileAccess.Read)) { Print (v.CanWrite); v.Write (0, 1); } });
        Check ("Memory-mapped file, missing", () => MemoryMappedFile.CreateFromFile (P ("none")));
        Check ("Memory-mapped file, too large a view", () => { using (var m = MemoryMappedFile.CreateFromFile (P ("mm"))) m.CreateViewAccessor (0, 1 << 20); });
        Check ("Memory-mapped file, grown", () => { using (var m = MemoryMappedFile.CreateFromFile (P ("mg"), FileMode.Create, null, 8192)) using (var v = m.CreateViewAccessor ()) v.Write (8191, (byte) 1); Print (new FileInfo (P ("mg")).Length); });
        var text = Encoding.UTF8.GetBytes (String.Concat (Enumerable.Range (0, 5000).Select (i => "line " + i % 97 + "\n")));
        Check ("GZipStream", () => { var ms = new MemoryStream (); using (var z = new GZipStream (ms, CompressionMode.Compress, true)) z.Write (text, 0, text.Length); Print (ms.Length < text.Length / 5, ms.ToArray ()[0]); ms.Position = 0; var o = new MemoryStream (); using (var z = new GZipStream (ms, CompressionMode.Decompress)) z.CopyTo (o); Print (o.ToArray ().SequenceEqual (text)); });
        Check ("DeflateStream", () => { foreach (var l in new[] { CompressionLevel.Fastest, CompressionLevel.Optimal, CompressionLevel.NoCompression }) { var ms = new MemoryStream (); using (var z = new DeflateStream (ms, l, true)) z.Write (text, 0, text.Length); ms.Position = 0; var o = new MemoryStream (); using (var z = new DeflateStream (ms, CompressionMode.Decompress)) z.CopyTo (o); Print (l, ms.ToArray ().Length, o.ToArray ().SequenceEqual (text)); } });
        Check ("GZipStream on garbage", () => { using (var z = new GZipStream (new MemoryStream (new byte[] { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }), CompressionMode.Decompress)) Print (z.ReadByte ()); });
        Check ("ZipArchive", () => {
            using (var f = File.Create (P ("z.zip"))) using (var z = new ZipArchive (f, ZipArchiveMode.Create)) { foreach (var n in new[] { "a.txt", "dir/b.txt" }) { var e = z.CreateEntry (n, CompressionLevel.Optimal); e.LastWriteTime = new DateTimeOffset (2020, 1, 2, 3, 4, 6, TimeSpan.Zero); using (var w = new StreamWriter (e.Open ())) w.Write (new string ('x', 1000) + n); } }
            using (var z = ZipFile.OpenRead (P ("z.zip"))) foreach (var e in z.Entries) { Print (e.FullName, e.Name, e.Length, e.CompressedLength, e.LastWriteTime.ToString ("s")); using (var r = new StreamReader (e.Open ())) Print (r.ReadToEnd ().Length); }
            using (var z = ZipFile.Open (P ("z.zip"), ZipArchiveMode.Update)) { z.GetEntry ("a.txt").Delete (); z.CreateEntryFromFile (P ("mm"), "mm"); }
            ZipFile.ExtractToDirectory (P ("z.zip"), P ("ex")); Print (Directory.GetFiles (P ("ex"), "*", SearchOption.AllDirectories).Select (x => x.Substring (dir.Length)).OrderBy (x => x, StringComparer.Ordinal)); Directory.CreateDirectory (P ("src")); File.WriteAllText (P ("src/q"), "q"); ZipFile.CreateFromDirectory (P ("src"), P ("src.zip")); using (var z = ZipFile.OpenRead (P ("src.zip"))) Print (z.Entries.Select (e => e.FullName));
        });
        Check ("ZipArchive on garbage", () => new ZipArchive (new MemoryStream (new byte[30])));
        Check ("IsolatedStorage", () => { using (var s = IsolatedStorageFile.GetUserStoreForAssembly ()) { using (var f = new IsolatedStorageFileStream ("sweep.txt", FileMode.Create, s)) f.WriteByte (1); Print (s.FileExists ("sweep.txt"), s.GetFileNames ("sweep.*")); s.CreateDirectory ("sweep-d"); Print (s.DirectoryExists ("sweep-d")); s.DeleteDirectory ("sweep-d"); s.DeleteFile ("sweep.txt"); } });
        Directory.Delete (dir, true);
    }
}
