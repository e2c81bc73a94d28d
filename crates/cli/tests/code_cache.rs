//! The persistent code cache, tested from outside: a second run finds the bodies of the first, and damaged or foreign
//! files are refused.
//!
//! Each test has a cache directory of its own. Needs `mcs`; without it the tests say so and pass.

#[path = "code_cache/patched.rs"]
mod patched;
#[path = "code_cache/shortened.rs"]
mod shortened;
#[path = "support/mod.rs"]
mod support;
#[path = "code_cache/trust.rs"]
mod trust;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use support::output_of_written;

/// How many of five hundred methods one run may compile and another not, because threads and finalizers run at varying
/// times.
const FEW: u64 = 25;

/// Generics over types of its own, closures, exceptions with filters, statics, interfaces, threads, a delegate that
/// native code calls: what bodies can name.
const PROGRAM: &str = r#"
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;

struct Point { public int X, Y; public override string ToString() { return X + "," + Y; } }
class Tree<T> where T : IComparable<T> {
    static readonly List<T> all = new List<T>();
    Tree<T> left, right; T value;
    public Tree(T value) { this.value = value; all.Add(value); }
    public void Add(T v) {
        if (v.CompareTo(value) < 0) { if (left == null) left = new Tree<T>(v); else left.Add(v); }
        else { if (right == null) right = new Tree<T>(v); else right.Add(v); }
    }
    public IEnumerable<T> Walk() {
        if (left != null) foreach (var v in left.Walk()) yield return v;
        yield return value;
        if (right != null) foreach (var v in right.Walk()) yield return v;
    }
    public static int Count { get { return all.Count; } }
}
class Late { public static readonly string Text = Program.Log("Late initialised"); public static int Number = 7; }
class Program {
    delegate int Compare(IntPtr a, IntPtr b);
    [DllImport("libc")] static extern void qsort(int[] items, IntPtr count, IntPtr size, Compare compare);
    public static string Log(string text) { Console.WriteLine(text); return text; }
    static int Depth(int n) { try { if (n == 0) throw new ArgumentException("deep"); return Depth(n - 1); } finally { n++; } }
    static void Main() {
        var tree = new Tree<int>(50);
        foreach (var n in new[] { 30, 70, 20, 60, 10 }) tree.Add(n);
        Console.WriteLine(string.Join(" ", tree.Walk().Select(n => n * 2)) + " " + Tree<int>.Count);
        var names = new Tree<string>("m"); names.Add("a"); names.Add("z");
        Console.WriteLine(string.Join(" ", names.Walk()));
        var points = new Dictionary<string, Point> { { "a", new Point { X = 1, Y = 2 } } };
        foreach (var pair in points) Console.WriteLine(pair.Key + " " + pair.Value);
        Console.WriteLine("before"); Console.WriteLine(Late.Text.Length + Late.Number);
        try { Depth(5); } catch (Exception e) when (e.Message == "deep") { Console.WriteLine(e.StackTrace.Split('\n').Length); }
        try { object o = "text"; Console.WriteLine((int[])o); } catch (InvalidCastException) { Console.WriteLine("cast"); }
        try { string none = null; Console.WriteLine(none.Length); } catch (NullReferenceException) { Console.WriteLine("null"); }
        int sum = 0; var threads = Enumerable.Range(0, 4).Select(i => new Thread(() => Interlocked.Add(ref sum, i))).ToList();
        threads.ForEach(t => t.Start()); threads.ForEach(t => t.Join());
        Console.WriteLine(sum);
        var items = new[] { 3, 1, 2 };
        Compare compare = (a, b) => Marshal.ReadInt32(a) - Marshal.ReadInt32(b);
        qsort(items, (IntPtr)3, (IntPtr)4, compare);
        Console.WriteLine(string.Join(" ", items) + " " + new int[2, 3].Length + typeof(List<>).Name + 1.5m);
    }
}
"#;

/// A program and a cache directory.
struct Setup {
    folder: PathBuf,
    program: PathBuf,
}

impl Setup {
    /// None, after saying so, when there is no compiler.
    fn new(name: &str) -> Option<Setup> {
        Setup::of(name, PROGRAM)
    }

    fn of(name: &str, program: &str) -> Option<Setup> {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("code-cache-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let setup = Setup { program: folder.join("program.exe"), folder };
        setup.compile(program).then_some(setup)
    }

    fn compile(&self, text: &str) -> bool {
        let source = self.folder.join("program.cs");
        std::fs::write(&source, text).expect("a source file");
        let out = format!("-out:{}", self.program.display());
        match Command::new("mcs").args(["-nologo", "-optimize+", &out]).arg(&source).output() {
            Ok(done) if done.status.success() => true,
            Ok(done) => panic!("mcs: {}", String::from_utf8_lossy(&[done.stdout, done.stderr].concat())),
            Err(error) => {
                eprintln!("skipped: mcs: {error}");
                false
            }
        }
    }

    /// Compiles `name`.cs to a library or, with `-target:exe`, to the program.
    fn compile_part(&self, name: &str, text: &str, options: &[&str]) {
        let source = self.folder.join(name).with_extension("cs");
        std::fs::write(&source, text).expect("a source file");
        let mut mcs = Command::new("mcs");
        mcs.args(["-nologo", "-target:library"]).args(options).arg(&source).current_dir(&self.folder);
        let done = mcs.output().expect("mcs runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&[done.stdout, done.stderr].concat()));
    }

    fn start(&self, options: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
        command.arg("--stats").args(options).arg(&self.program).current_dir(&self.folder);
        command.env_remove("SAKI_NO_CACHE").env("XDG_CACHE_HOME", self.folder.join("cache"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("saki starts")
    }

    fn run(&self, options: &[&str]) -> Run {
        Run::of(self.start(options).wait_with_output().expect("saki ends"))
    }

    /// The cache's files of this build and these options.
    fn files(&self) -> Vec<PathBuf> {
        let builds = std::fs::read_dir(self.folder.join("cache/saki")).into_iter().flatten().flatten();
        let files = builds.flat_map(|build| std::fs::read_dir(build.path()).into_iter().flatten().flatten());
        files.map(|file| file.path()).collect()
    }

    fn file_of(&self, module: &str) -> PathBuf {
        let is_it = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(module));
        self.files().into_iter().find(is_it).unwrap_or_else(|| panic!("no cache file of {module}"))
    }
}

/// The output of a run and its statistics.
struct Run {
    output: String,
    compiled: u64,
    found: u64,
    kept: u64,
    /// Files whose contents were hashed, and whose hash was remembered.
    hashed: u64,
    remembered: u64,
}

impl Run {
    fn of(done: Output) -> Run {
        let stderr = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{}: {stderr}", done.status);
        let number_before = |line: &str, word: &str| -> u64 {
            let line =
                stderr.lines().find(|l| l.starts_with(line)).unwrap_or_else(|| panic!("no '{line}' in {stderr}"));
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words.iter().position(|w| w.trim_end_matches(',') == word);
            let number = at.map_or(words.last(), |at| words.get(at - 1));
            number.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("no number before '{word}' in '{line}'"))
        };
        Run {
            output: String::from_utf8_lossy(&done.stdout).into_owned(),
            compiled: number_before("methods compiled", ""),
            found: number_before("code cache", "bodies"),
            kept: number_before("code cache", "kept"),
            hashed: number_before("file contents", "hashed"),
            remembered: number_before("file contents", "remembered"),
        }
    }
}

/// The output of PROGRAM with the cache off.
fn expected(setup: &Setup) -> String {
    let run = setup.run(&["--no-cache"]);
    assert_eq!((run.found, run.kept), (0, 0));
    assert!(setup.files().is_empty(), "--no-cache wrote {:?}", setup.files());
    run.output
}

#[test]
fn a_second_run_compiles_nothing() {
    let Some(setup) = Setup::new("second-run") else { return };
    let expected = expected(&setup);
    let first = setup.run(&[]);
    assert_eq!(first.output, expected);
    assert!(first.compiled > 200 && first.kept > 200, "{} compiled, {} kept", first.compiled, first.kept);
    let second = setup.run(&[]);
    assert_eq!(second.output, expected);
    // Threads start in any order, so that a class may be initialised earlier in one run than in the other, and a method
    // run in one only.
    assert!(second.compiled * 20 <= first.compiled, "{} of {} compiled again", second.compiled, first.compiled);
    assert!(second.found * 20 >= first.kept * 19, "{} found of {}", second.found, first.kept);
}

#[test]
fn it_works_under_collector_stress() {
    let Some(setup) = Setup::new("stress") else { return };
    let expected = expected(&setup);
    let stress = ["--gc-stress", "50"];
    // Code with stressed polls is not the ordinary code.
    setup.run(&[]);
    assert_eq!(setup.run(&stress).found, 0);
    let second = setup.run(&stress);
    assert_eq!(second.output, expected);
    assert!(second.found > 200 && second.compiled <= FEW, "{} found, {} compiled", second.found, second.compiled);
}

/// Damages the cache file of `module` and checks that runs go on as if it were not there, and replace it.
fn survives(name: &str, damage: impl Fn(&Path)) {
    let Some(setup) = Setup::new(name) else { return };
    let expected = expected(&setup);
    let whole = setup.run(&[]).kept;
    for module in ["mscorlib", "program", "thunks"] {
        let path = setup.file_of(module);
        damage(&path);
        let run = setup.run(&[]);
        assert_eq!(run.output, expected, "{module}");
        assert!(run.found < whole && run.kept > 0, "{module}: {} found, {} kept", run.found, run.kept);
        let again = setup.run(&[]);
        assert_eq!(again.output, expected, "{module}");
        assert!(again.compiled <= FEW, "{module}: {} compiled after it was replaced", again.compiled);
    }
}

#[test]
fn truncated_files_are_refused() {
    survives("truncated", |path| {
        let bytes = std::fs::read(path).expect("a cache file");
        std::fs::write(path, &bytes[..bytes.len() / 2]).expect("a cache file");
    });
}

#[test]
fn files_of_zeros_and_of_text_are_refused() {
    survives("zeros", |path| {
        let len = std::fs::metadata(path).expect("a cache file").len() as usize;
        std::fs::write(path, vec![0; len]).expect("a cache file");
    });
    survives("text", |path| std::fs::write(path, "no code").expect("a cache file"));
}

#[test]
fn damaged_bodies_are_refused() {
    survives("damaged", |path| {
        let mut bytes = std::fs::read(path).expect("a cache file");
        // Every body is longer than this; the header, at the start, stays whole.
        for at in (64..bytes.len()).step_by(16) {
            bytes[at] ^= 0x55;
        }
        std::fs::write(path, bytes).expect("a cache file");
    });
}

#[test]
fn files_of_another_build_are_refused() {
    survives("other-build", |path| {
        let mut bytes = std::fs::read(path).expect("a cache file");
        // The build key; the header's checksum no longer fits either. A file with a right checksum and a wrong key is
        // the unit tests' business.
        bytes[16] ^= 1;
        std::fs::write(path, bytes).expect("a cache file");
    });
}

#[test]
fn a_changed_program_is_compiled_anew() {
    let Some(setup) = Setup::new("changed") else { return };
    setup.run(&[]);
    assert!(
        setup.compile(&PROGRAM.replace("\"cast\"", "\"other text\"").replace("public int X, Y", "public long X, Y"))
    );
    let run = setup.run(&[]);
    assert!(run.output.contains("other text") && run.output.contains("a 1,2"), "{}", run.output);
    assert!(run.compiled > 20 && run.found > 100, "{} compiled, {} found", run.compiled, run.found);
}

/// The program inlines a method of the library and bakes in where its fields are.
#[test]
fn a_changed_library_makes_its_users_stale() {
    const LIBRARY: &str = "public struct Pair { public int A; public int B; }
        public class Base { protected int first; public virtual string One() { return \"one\"; } }
        public class Library { public static int Number { get { return 1; } }
            public static Pair Make() { return new Pair { A = 3, B = 4 }; } }";
    const USER: &str = "class Derived : Base { int own = 9; public virtual string Two() { return \"two\"; } public int Own { get { return own; } } }
        class Program { static void Main() { var p = Library.Make(); var d = new Derived();
            System.Console.WriteLine(Library.Number + \" \" + p.A + p.B + d.Own + d.Two()); } }";
    let Some(setup) = Setup::new("library") else { return };
    let library = |text: &str| setup.compile_part("library", text, &[]);
    library(LIBRARY);
    setup.compile_part("user", USER, &["-target:exe", "-out:program.exe", "-r:library.dll"]);
    for _ in 0..2 {
        assert_eq!(setup.run(&[]).output, "1 349two\n");
    }
    // Other offsets, another vtable layout, another constant; the program stays as it is.
    library(
        &LIBRARY
            .replace("public int A;", "public long X; public int A;")
            .replace("protected int first;", "protected long a, b, c; public virtual string Zero() { return null; }")
            .replace("return 1", "return 2"),
    );
    let run = setup.run(&[]);
    assert_eq!(run.output, "2 349two\n");
    assert!(run.compiled > 0 && run.found > 50, "{} compiled, {} found", run.compiled, run.found);
    assert_eq!(setup.run(&[]).compiled, 0);
}

/// `Shelf<Item>`: neither library refers to the other, and a third one is loaded by name.
#[test]
fn instantiations_over_libraries_that_do_not_know_each_other_are_kept() {
    let Some(setup) = Setup::new("strangers") else { return };
    setup.compile_part("item", "public class Item { public int Number; }", &[]);
    setup.compile_part(
        "shelf",
        "public class Shelf<T> { T[] all = new T[4]; int count; public void Add(T item) { all[count++] = item; }
            public int Count { get { return count; } } public T this[int i] { get { return all[i]; } } }
            public delegate int Weigh<T>(T item);
            public static class Scales { public static int Sum<T>(Shelf<T> shelf, Weigh<T> weigh) { int sum = 0;
                for (int i = 0; i < shelf.Count; i++) sum += weigh(shelf[i]); return sum; } }",
        &[],
    );
    const PLUGIN: &str = "public class Plugin { public override string ToString() { var shelf = new Shelf<Item>();
        for (int i = 0; i < 4; i++) shelf.Add(new Item { Number = i }); return \"\" + Scales.Sum(shelf, item => item.Number); } }";
    setup.compile_part("plugin", PLUGIN, &["-r:item.dll", "-r:shelf.dll"]);
    const MAIN: &str = "class Program { static void Main() { System.Console.WriteLine(
        System.Activator.CreateInstance(System.Reflection.Assembly.Load(\"plugin\").GetType(\"Plugin\"))); } }";
    setup.compile_part("main", MAIN, &["-target:exe", "-out:program.exe"]);
    assert_eq!(setup.run(&[]).output, "6\n");
    let second = setup.run(&[]);
    assert_eq!((second.output.as_str(), second.compiled), ("6\n", 0));
}

#[test]
fn runs_at_the_same_time_leave_whole_files() {
    let Some(setup) = Setup::new("concurrent") else { return };
    let expected = expected(&setup);
    for _ in 0..2 {
        let children: Vec<Child> = (0..4).map(|_| setup.start(&[])).collect();
        for child in children {
            assert_eq!(Run::of(child.wait_with_output().expect("saki ends")).output, expected);
        }
    }
    let temporary: Vec<PathBuf> =
        setup.files().into_iter().filter(|file| file.extension().is_some_and(|e| e == "tmp")).collect();
    assert!(temporary.is_empty(), "{temporary:?}");
    let after = setup.run(&[]);
    assert_eq!(after.output, expected);
    assert!(after.compiled <= FEW, "{} compiled", after.compiled);
}

#[test]
fn a_killed_server_has_saved() {
    let Some(setup) = Setup::new("killed") else { return };
    assert!(setup.compile(
        "class Server { static void Main(string[] args) { System.Console.WriteLine(\"ready\");
            if (args.Length == 0) System.Threading.Thread.Sleep(1000000); } }"
    ));
    let mut server = setup.start(&[]);
    let started = std::time::Instant::now();
    while setup.files().iter().filter(|file| file.extension().is_some_and(|e| e == "saki-code")).count() < 3 {
        assert!(started.elapsed().as_secs() < 120, "nothing was saved");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    server.kill().expect("a running server");
    server.wait().expect("it ends");
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    command.arg("--stats").arg(&setup.program).arg("end").env("XDG_CACHE_HOME", setup.folder.join("cache"));
    let run = Run::of(command.env_remove("SAKI_NO_CACHE").output().expect("saki runs"));
    assert!(run.found > 100 && run.compiled <= FEW, "{} found, {} compiled", run.found, run.compiled);
}

#[test]
fn an_unusable_directory_is_no_cache() {
    let Some(setup) = Setup::new("unusable") else { return };
    let expected = expected(&setup);
    // A file where the directory would be: nobody may write there, root included.
    std::fs::write(setup.folder.join("cache"), "").expect("a file");
    for _ in 0..2 {
        let run = setup.run(&[]);
        assert_eq!(run.output, expected);
        assert_eq!(run.found, 0);
    }
}

#[test]
fn statistics_and_clearing() {
    let Some(setup) = Setup::new("stat") else { return };
    let saki = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
        let done =
            command.args(arguments).env("XDG_CACHE_HOME", setup.folder.join("cache")).output().expect("saki runs");
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    setup.run(&[]);
    let stat = saki(&["cache", "stat"]);
    assert!(stat.contains("mscorlib") && stat.contains("program") && stat.contains("bodies"), "{stat}");
    saki(&["cache", "clear"]);
    assert!(setup.files().is_empty());
    let stat = saki(&["cache", "stat"]);
    assert!(stat.contains("0 files"), "{stat}");
    assert_eq!(setup.run(&[]).found, 0);
}

/// `bin/saki` finds what `lib/saki` has, adds nothing there, and keeps what it lacks in the user's own cache.
#[test]
fn an_installation_brings_compiled_code() {
    let Some(setup) = Setup::new("installed") else { return };
    let (bin, lib) = (setup.folder.join("prefix/bin"), setup.folder.join("prefix/lib"));
    std::fs::create_dir_all(&bin).expect("a folder");
    std::fs::copy(env!("CARGO_BIN_EXE_saki"), bin.join("saki")).expect("a copy of saki");
    let run = |cache: &Path| {
        let mut command = Command::new(bin.join("saki"));
        command.arg("--stats").arg(&setup.program).env_remove("SAKI_NO_CACHE").env("XDG_CACHE_HOME", cache);
        Run::of(output_of_written(command.stdin(Stdio::null())).expect("saki runs"))
    };
    let first = run(&lib);
    assert!(first.kept > 200, "{} kept", first.kept);
    let own = setup.folder.join("cache");
    let second = run(&own);
    assert_eq!(second.output, first.output);
    assert!(second.compiled <= FEW && second.found > 200, "{} compiled, {} found", second.compiled, second.found);
    assert!(setup.files().len() <= 1, "{:?}", setup.files());
    // Another program than the installation knew.
    assert!(setup.compile(&PROGRAM.replace("\"cast\"", "\"other text\"")));
    let changed = run(&own);
    assert!(changed.kept > 10 && changed.found > 100, "{} kept, {} found", changed.kept, changed.found);
    assert!(run(&own).compiled <= FEW);
}

#[test]
fn sources_are_compiled_once() {
    let Some(setup) = Setup::new("run-source") else { return };
    let saki = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
        command.arg("run").args(arguments).current_dir(&setup.folder).env("XDG_CACHE_HOME", setup.folder.join("cache"));
        let done = command.env_remove("SAKI_NO_CACHE").stdin(Stdio::null()).output().expect("saki runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (done.status.code(), text(&done.stdout), text(&done.stderr))
    };
    let write = |name: &str, text: &str| std::fs::write(setup.folder.join(name), text).expect("a source file");
    let main = "class Program { static unsafe int Main(string[] a) { int x = a.Length; int* p = &x;
        System.Console.WriteLine(string.Join(\"+\", a) + Other.Text); return *p; } }";
    write("main.cs", main);
    write("other.cs", "class Other { public const string Text = \" first\"; }");
    let arguments = ["-unsafe", "main.cs", "other.cs", "one", "-two"];
    assert_eq!(saki(&arguments), (Some(2), "one+-two first\n".to_owned(), String::new()));
    assert_eq!(saki(&arguments), (Some(2), "one+-two first\n".to_owned(), String::new()));
    let executables = || std::fs::read_dir(setup.folder.join("cache/saki/run")).expect("compiled sources").count();
    assert_eq!(executables(), 1);
    write("other.cs", "class Other { public const string Text = \" second\"; }");
    assert_eq!(saki(&arguments).1, "one+-two second\n");
    assert_eq!(executables(), 2);
    // Without -unsafe it does not compile: the compiler's own message and exit code, and nothing on standard output.
    let (code, stdout, stderr) = saki(&["main.cs", "other.cs"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("main.cs(1,") && stderr.contains("error CS0227"), "{stderr}");
    assert_eq!(executables(), 2);
    assert_eq!(saki(&["--no-cache", "-unsafe", "main.cs", "other.cs"]).1, " second\n");
    assert_eq!(executables(), 2);
    let (code, _, stderr) = saki(&["absent.cs"]);
    assert!(code == Some(2) && stderr.contains("absent.cs"), "{stderr}");
}
