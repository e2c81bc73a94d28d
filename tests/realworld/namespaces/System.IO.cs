// Files, folders, paths, streams, readers and writers.
// references: Mono.Posix
using System;
using System.IO;
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
        Check ("Path", () => {
            foreach (var p in new[] { "/a/b/c.txt", "a/b.tar.gz", "", "/", "c.", ".x", "a//b/../c", "x/" })
                Print (p, Path.GetFileName (p), Path.GetExtension (p), Path.GetFileNameWithoutExtension (p), p == "" ? "-" : Path.GetDirectoryName (p), Path.HasExtension (p), Path.IsPathRooted (p), p == "" ? "-" : Path.GetPathRoot (p));
            Print (Path.Combine ("a", "/b", "c"), Path.ChangeExtension ("a/b.c", ".d"), Path.GetFullPath ("/x/../y/./z"), Path.DirectorySeparatorChar, Path.PathSeparator);
            Print (Path.GetInvalidFileNameChars ().Length, Path.GetInvalidPathChars ().Length, Path.GetRandomFileName ().Length);
        });
        Check ("Path.GetFullPath errors", () => Path.GetFullPath (""));
        Check ("Path.GetTempFileName", () => { var t = Path.GetTempFileName (); Print (File.Exists (t), new FileInfo (t).Length); File.Delete (t); });
        Check ("File text", () => {
            File.WriteAllText (P ("a"), "one\ntwo\r\nthree");
            File.AppendAllText (P ("a"), "\nvier: äöü€");
            File.AppendAllLines (P ("a"), new[] { "x", "y" });
            Print (File.ReadAllLines (P ("a")), File.ReadLines (P ("a")).Count (), File.ReadAllText (P ("a")).Length, new FileInfo (P ("a")).Length);
            File.WriteAllText (P ("u16"), "häß", Encoding.Unicode); Print (File.ReadAllBytes (P ("u16")), File.ReadAllText (P ("u16")));
            File.WriteAllText (P ("u32"), "hä", new UTF32Encoding (true, true)); Print (File.ReadAllBytes (P ("u32")), File.ReadAllText (P ("u32")));
            File.WriteAllText (P ("latin"), "hä", Encoding.GetEncoding (28591)); Print (File.ReadAllBytes (P ("latin")), File.ReadAllText (P ("latin"), Encoding.GetEncoding ("iso-8859-1")));
        });
        Check ("File.Copy", () => { File.WriteAllText (P ("c1"), "c"); File.Copy (P ("c1"), P ("c2")); Print (File.ReadAllText (P ("c2"))); File.Copy (P ("c1"), P ("c2"), true); File.Copy (P ("c1"), P ("c2")); });
        Check ("File.Copy missing", () => File.Copy (P ("none"), P ("c9")));
        Check ("File.Copy into missing", () => File.Copy (P ("c1"), P ("no/c9")));
        Check ("File.Move", () => { File.WriteAllText (P ("m1"), "m"); File.Move (P ("m1"), P ("m2")); Print (File.Exists (P ("m1")), File.Exists (P ("m2"))); File.Move (P ("m2"), P ("c1")); });
        Check ("File.Move missing", () => File.Move (P ("none"), P ("c9")));
        Check ("File.Replace", () => { File.WriteAllText (P ("r1"), "new"); File.WriteAllText (P ("r2"), "old"); File.Replace (P ("r1"), P ("r2"), P ("r3")); Print (File.ReadAllText (P ("r2")), File.ReadAllText (P ("r3")), File.Exists (P ("r1"))); });
        Check ("File.Delete", () => { File.Delete (P ("none")); File.WriteAllText (P ("d"), ""); File.Delete (P ("d")); Print (File.Exists (P ("d"))); });
        Check ("File.Delete directory", () => { Directory.CreateDirectory (P ("dd")); File.Delete (P ("dd")); });
        Check ("File.Open missing", () => File.OpenRead (P ("none")));
        Check ("File.Open directory", () => File.OpenRead (dir));
        Check ("File.Open CreateNew", () => { File.WriteAllText (P ("cn"), ""); new FileStream (P ("cn"), FileMode.CreateNew); });
        Check ("File.Open Truncate", () => { File.WriteAllText (P ("tr"), "abc"); using (var f = new FileStream (P ("tr"), FileMode.Truncate)) Print (f.Length); });
        Check ("File.Open Append", () => { using (var f = new FileStream (P ("tr"), FileMode.Append)) { f.WriteByte (65); Print (f.Position, f.CanRead, f.CanWrite, f.CanSeek); f.Seek (0, SeekOrigin.Begin); } });
        Check ("File times", () => {
            var t = new DateTime (2001, 2, 3, 4, 5, 6, DateTimeKind.Utc);
            File.WriteAllText (P ("t"), "");
            File.SetLastWriteTimeUtc (P ("t"), t); File.SetLastAccessTimeUtc (P ("t"), t.AddDays (1)); 
            Print (File.GetLastWriteTimeUtc (P ("t")).ToString ("o"), File.GetLastAccessTimeUtc (P ("t")).ToString ("o"), File.GetLastWriteTimeUtc (P ("none")).ToString ("o"));
            File.SetCreationTimeUtc (P ("t"), t.AddYears (-1)); Print (File.GetLastWriteTimeUtc (P ("t")).ToString ("o"));
        });
        Check ("File attributes", () => {
            File.WriteAllText (P ("at"), ""); Print (File.GetAttributes (P ("at")));
            File.SetAttributes (P ("at"), FileAttributes.ReadOnly); Print (File.GetAttributes (P ("at")), new FileInfo (P ("at")).IsReadOnly);
            File.SetAttributes (P ("at"), FileAttributes.Normal); Print (File.GetAttributes (P ("at")), File.GetAttributes (dir));
            File.WriteAllText (P (".hidden"), ""); Print (File.GetAttributes (P (".hidden")));
        });
        Check ("File attributes missing", () => File.GetAttributes (P ("none")));
        Check ("File sharing", () => {
            using (var f = new FileStream (P ("sh"), FileMode.Create, FileAccess.ReadWrite, FileShare.None)) {
                try { File.OpenRead (P ("sh")); } catch (IOException e) { Print (e.GetType (), e.Message, e.HResult); }
            }
            using (var f = new FileStream (P ("sh"), FileMode.Open, FileAccess.Read, FileShare.Read))
            using (var g = new FileStream (P ("sh"), FileMode.Open, FileAccess.Read, FileShare.Read))
                try { new FileStream (P ("sh"), FileMode.Open, FileAccess.Write, FileShare.Read); } catch (IOException e) { Print (e.Message); }
        });
        Check ("FileStream", () => {
            using (var f = new FileStream (P ("fs"), FileMode.Create, FileAccess.ReadWrite, FileShare.Read, 16)) {
                for (int i = 0; i < 100; i++) f.WriteByte ((byte) i);
                Print (f.Length, f.Position); f.Seek (-10, SeekOrigin.End); Print (f.ReadByte ()); f.Position = 5; var b = new byte[20]; Print (f.Read (b, 3, 10), b);
                f.SetLength (7); Print (f.Length, f.Position); f.Flush (true); f.Lock (0, 5); f.Unlock (0, 5); Print (f.Name == P ("fs"), f.IsAsync, f.SafeFileHandle.IsInvalid);
                f.Position = 100; f.WriteByte (1); Print (f.Length);
            }
        });
        Check ("FileStream errors", () => { using (var f = new FileStream (P ("fs"), FileMode.Open, FileAccess.Read)) f.WriteByte (1); });
        Check ("FileStream closed", () => { var f = File.OpenRead (P ("fs")); f.Close (); f.ReadByte (); });
        Check ("FileStream seek before start", () => { using (var f = File.OpenRead (P ("fs"))) f.Seek (-1, SeekOrigin.Begin); });
        Check ("FileStream async", () => {
            using (var f = new FileStream (P ("as"), FileMode.Create, FileAccess.ReadWrite, FileShare.None, 4096, true)) {
                f.WriteAsync (new byte[10000], 0, 10000).Wait (); f.FlushAsync ().Wait (); f.Position = 0;
                var b = new byte[20000]; Print (f.ReadAsync (b, 0, b.Length).Result, f.Length);
                f.Position = 0; var r = f.BeginRead (b, 0, 100, null, "state"); Print (r.AsyncState, f.EndRead (r));
                var ms = new MemoryStream (); f.Position = 0; f.CopyToAsync (ms).Wait (); Print (ms.Length);
            }
        });
        Check ("Directory", () => {
            Directory.CreateDirectory (P ("t/a/b/c")); File.WriteAllText (P ("t/a/x.txt"), ""); File.WriteAllText (P ("t/a/b/y.cs"), ""); File.WriteAllText (P ("t/z.txt"), "");
            Func<string, string> rel = s => s.Substring (dir.Length);
            Print (Directory.GetFiles (P ("t"), "*.txt", SearchOption.AllDirectories).Select (rel).OrderBy (x => x, StringComparer.Ordinal));
            Print (Directory.GetDirectories (P ("t"), "*", SearchOption.AllDirectories).Select (rel).OrderBy (x => x, StringComparer.Ordinal));
            Print (Directory.EnumerateFileSystemEntries (P ("t"), "?*").Select (rel).OrderBy (x => x, StringComparer.Ordinal));
            Print (Directory.GetFiles (P ("t"), "y.*", SearchOption.AllDirectories).Select (rel));
            Print (rel (Directory.GetParent (P ("t/a")).FullName), Directory.Exists (P ("t")), Directory.Exists (P ("t/z.txt")));
            Directory.Move (P ("t/a"), P ("t/q")); Print (Directory.Exists (P ("t/q/b/c")));
            Directory.Delete (P ("t"), true); Print (Directory.Exists (P ("t")));
        });
        Check ("Directory.Delete not empty", () => { Directory.CreateDirectory (P ("ne/a")); Directory.Delete (P ("ne")); });
        Check ("Directory.Delete missing", () => Directory.Delete (P ("none")));
        Check ("Directory.GetFiles missing", () => Directory.GetFiles (P ("none")));
        Check ("Directory.CreateDirectory over file", () => Directory.CreateDirectory (P ("a")));
        Check ("Directory.Move existing", () => { Directory.CreateDirectory (P ("mv1")); Directory.CreateDirectory (P ("mv2")); Directory.Move (P ("mv1"), P ("mv2")); });
        Check ("Directory.SetCurrentDirectory", () => { var d = Directory.GetCurrentDirectory (); Directory.SetCurrentDirectory (dir); Print (File.Exists ("a"), Path.GetFullPath ("a") == P ("a")); Directory.SetCurrentDirectory (d); Directory.SetCurrentDirectory (P ("none")); });
        Check ("DirectoryInfo", () => {
            var d = new DirectoryInfo (dir); var s = d.CreateSubdirectory ("sub/deep"); File.WriteAllText (P ("sub/f1"), "12345"); File.WriteAllText (P ("sub/deep/f2"), "1");
            Print (s.Name, s.Parent.Name, s.Exists, s.FullName.Substring (dir.Length), d.Root.FullName);
            Print (new DirectoryInfo (P ("sub")).GetFileSystemInfos ().Select (x => x.Name).OrderBy (x => x), new DirectoryInfo (P ("sub")).EnumerateFiles ("*", SearchOption.AllDirectories).Sum (x => x.Length));
            Print (new DirectoryInfo (P ("nope")).Exists, new DirectoryInfo (P ("sub")).Attributes); s.MoveTo (P ("sub/moved")); Print (s.Name, Directory.Exists (P ("sub/moved"))); new DirectoryInfo (P ("sub")).Delete (true);
        });
        Check ("FileInfo", () => {
            var f = new FileInfo (P ("fi.dat")); Print (f.Exists, f.Name, f.Extension, f.DirectoryName == dir); using (var w = f.CreateText ()) w.Write ("hello"); f.Refresh (); Print (f.Exists, f.Length, f.Attributes);
            var g = f.CopyTo (P ("fi2.dat"), true); Print (g.Length, g.OpenText ().ReadToEnd ()); g.MoveTo (P ("fi3.dat")); Print (g.Name); g.Delete (); using (var a = f.AppendText ()) a.Write ("!"); f.Refresh (); Print (f.Length); f.IsReadOnly = true; Print (f.IsReadOnly); f.IsReadOnly = false; Print (f.ToString () == P ("fi.dat"));
        });
        Check ("FileInfo missing", () => Print (new FileInfo (P ("none")).Length));
        Check ("StreamReader", () => {
            File.WriteAllText (P ("sr"), "line one\nline two\r\n\rlast\u00e9"); using (var r = new StreamReader (P ("sr"), Encoding.UTF8, true, 4)) { Print (r.Peek (), (char) r.Read (), r.ReadLine (), r.EndOfStream, r.ReadLine (), r.ReadLine (), r.ReadToEnd (), r.ReadLine (), r.Peek (), r.EndOfStream, r.CurrentEncoding.WebName); }
            using (var r = new StreamReader (new MemoryStream (new byte[] { 0xff, 0xfe, 65, 0 }), true)) Print (r.ReadToEnd (), r.CurrentEncoding.WebName);
            using (var r = new StreamReader (new MemoryStream (new byte[] { 0xc3, 0x28, 65 }))) Print (r.ReadToEnd ().Select (c => (int) c));
            using (var r = new StreamReader (P ("sr"))) Print (r.ReadLineAsync ().Result, r.ReadToEndAsync ().Result.Length); var b = new char[6]; using (var r = new StreamReader (P ("sr"))) Print (r.ReadBlock (b, 1, 4), new string (b, 1, 4));
        });
        Check ("StreamWriter", () => {
            var ms = new MemoryStream (); using (var w = new StreamWriter (ms, new UTF8Encoding (true), 8, true) { NewLine = "|", AutoFlush = true }) { w.Write ("{0:x} {1}", 255, "ä"); w.WriteLine (); w.WriteLine (1.5m); w.Write (new[] { 'a', 'b' }, 1, 1); w.WriteLineAsync ("async").Wait (); }
            Print (ms.ToArray ());
        });
        Check ("StringReader and StringWriter", () => { var w = new StringWriter (); w.WriteLine ("a"); w.Write (true); w.Write ('c'); w.Write (1.25); Print (w.ToString ().Length, w.Encoding.WebName); var r = new StringReader ("x\ny"); Print (r.ReadLine (), r.Read (), r.Read (), r.ReadLine ()); });
        Check ("BinaryWriter and BinaryReader", () => {
            var ms = new MemoryStream (); var w = new BinaryWriter (ms, Encoding.UTF8, true); w.Write (true); w.Write ((byte) 1); w.Write ('é'); w.Write (1.5); w.Write (2.5f); w.Write (-3); w.Write (4L); w.Write ((ushort) 5); w.Write ("hällo"); w.Write (1.23m); w.Write (new string ('x', 200)); w.Flush ();
            Print (ms.ToArray ()); ms.Position = 0; var r = new BinaryReader (ms); Print (r.ReadBoolean (), r.ReadByte (), r.ReadChar (), r.ReadDouble (), r.ReadSingle (), r.ReadInt32 (), r.ReadInt64 (), r.ReadUInt16 (), r.ReadString (), r.ReadDecimal (), r.ReadString ().Length, r.PeekChar ()); r.ReadInt32 ();
        });
        Check ("MemoryStream", () => { var m = new MemoryStream (4); m.Write (new byte[] { 1, 2, 3, 4, 5 }, 0, 5); Print (m.Length, m.Capacity >= 5); m.Position = 1; m.WriteByte (9); Print (m.ToArray (), m.GetBuffer ().Length >= 5); m.SetLength (2); Print (m.ToArray ()); var o = new MemoryStream (); m.WriteTo (o); Print (o.Length); new MemoryStream (new byte[2], false).WriteByte (1); });
        Check ("MemoryStream fixed", () => { var m = new MemoryStream (new byte[2]); m.Write (new byte[3], 0, 3); });
        Check ("BufferedStream", () => { var ms = new MemoryStream (); var b = new BufferedStream (ms, 4); for (int i = 0; i < 10; i++) b.WriteByte ((byte) i); Print (ms.Length); b.Flush (); Print (ms.Length); b.Position = 3; Print (b.ReadByte ()); });
        Check ("UnmanagedMemoryStream", () => { unsafe { byte* p = stackalloc byte[8]; using (var u = new UnmanagedMemoryStream (p, 0, 8, FileAccess.ReadWrite)) { u.WriteByte (7); u.Write (new byte[] { 1, 2 }, 0, 2); u.Position = 0; Print (u.ReadByte (), u.Length, u.Capacity, p[2]); } } });
        Check ("Stream.Synchronized and Null", () => { var s = Stream.Synchronized (new MemoryStream ()); s.WriteByte (1); Print (s.Length); Stream.Null.WriteByte (1); Print (Stream.Null.ReadByte (), TextReader.Null.ReadLine ()); });
        Check ("Symbolic links", () => {
            File.WriteAllText (P ("target"), "t"); Mono.Unix.Native.Syscall.symlink (P ("target"), P ("link")); Mono.Unix.Native.Syscall.symlink (P ("gone"), P ("broken"));
            Print (File.Exists (P ("link")), File.ReadAllText (P ("link")), File.GetAttributes (P ("link")), File.Exists (P ("broken")), new FileInfo (P ("link")).Length); File.Delete (P ("link")); Print (File.Exists (P ("target")));
            Directory.CreateDirectory (P ("ld/in")); Mono.Unix.Native.Syscall.symlink (P ("ld"), P ("dl")); Print (Directory.Exists (P ("dl")), Directory.GetDirectories (P ("dl")).Length); Directory.Delete (P ("dl")); Print (Directory.Exists (P ("ld/in")));
        });
        Check ("DriveInfo", () => { var d = new DriveInfo ("/"); Print (d.Name, d.IsReady, d.TotalSize > 0, d.AvailableFreeSpace > 0, d.RootDirectory.FullName, DriveInfo.GetDrives ().Length > 0); });
        Check ("No permission", () => { Print (Mono.Unix.Native.Syscall.getuid () == 0); File.WriteAllText ("/proc/version", "x"); });
        Check ("Long path", () => File.WriteAllText (P (new string ('n', 300)), ""));
        Check ("Null path", () => File.WriteAllText (null, ""));
        Check ("Bad characters", () => File.WriteAllText (P ("a\0b"), ""));
        Check ("File.Encrypt", () => File.Encrypt (P ("a")));
        Check ("IOException from full device", () => { using (var f = new FileStream ("/dev/full", FileMode.Open, FileAccess.Write)) { f.WriteByte (1); f.Flush (); } });
        Check ("Special files", () => { Print (File.ReadAllText ("/proc/self/comm").Length > 0, File.ReadAllBytes ("/dev/null").Length); using (var f = File.OpenRead ("/dev/zero")) { Print (f.CanSeek, f.ReadByte ()); } });
        Directory.Delete (dir, true);
    }
}
