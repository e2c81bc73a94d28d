//! Programs for .NET that are executables, or bring their runtime along: they run on an installed runtime. All tests
//! take a real .NET 9: DOTNET9 (its `dotnet`) or `target/net/9`.

mod support;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::{Outcome, folder, run};

/// Tells how it was started, and whether it finds its library.
const PROGRAM: &str = r#"
using System;
static class Program {
    static int Main (string[] arguments) {
        Console.WriteLine (AppDomain.CurrentDomain.BaseDirectory);
        Console.WriteLine (Environment.GetCommandLineArgs () [0]);
        Console.WriteLine (Library.Text + string.Join (",", arguments));
        return 42;
    }
}
"#;
const LIBRARY: &str = r#"public static class Library { public static string Text { get { return "library "; } } }"#;

/// Waits for a line, with a thread that nobody can wake beside it.
const WAITS: &str = r#"
using System;
using System.Threading;
static class Program {
    static void Wait () { object gate = new object (); lock (gate) Monitor.Wait (gate); }
    static void Main () {
        new Thread (() => new Thread (Wait) { IsBackground = true, Name = "forgotten" }.Start ()).Start ();
        Console.WriteLine ("ready");
        Console.ReadLine ();
    }
}
"#;

/// Starts itself again as programs for .NET do, and tells what both see; the process's real executable comes last.
const RESTARTS: &str = r#"
using System;
using System.Diagnostics;
using System.IO;
static class Program {
    static string Path () { return (string) typeof (Environment).GetProperty ("ProcessPath").GetValue (null); }
    static void Tell (string who) {
        var module = Process.GetCurrentProcess ().MainModule;
        bool same = module.FileName == Path () && module.ModuleName == System.IO.Path.GetFileName (Path ());
        var real = File.ReadAllText ("/proc/self/stat").Split ('(', ')') [1];
        Console.WriteLine (who + " " + Path () + " " + same + " " + Environment.GetEnvironmentVariable ("TOLD") + " " + real);
    }
    static void Main (string[] arguments) {
        Tell (string.Join (",", arguments));
        if (arguments.Length == 1 && arguments [0] == "child") return;
        var own = System.IO.Path.GetFileNameWithoutExtension (Path ()) == "dotnet" ? "\"" + Environment.GetCommandLineArgs () [0] + "\" " : "";
        foreach (var folder in new [] { "", "/" }) {
            var start = new ProcessStartInfo (Path (), own + "child") { UseShellExecute = false, WorkingDirectory = folder };
            start.EnvironmentVariables ["TOLD"] = "told";
            using (var process = Process.Start (start)) process.WaitForExit ();
        }
    }
}
"#;

/// A folder with the compiled program `app.dll` and its library, and the root of .NET 9; None where one cannot be had.
fn prepare(name: &str) -> Option<(PathBuf, PathBuf)> {
    prepare_of(name, PROGRAM)
}

fn prepare_of(name: &str, program: &str) -> Option<(PathBuf, PathBuf)> {
    let named = std::env::var_os("DOTNET9").map(PathBuf::from);
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/net/9/dotnet");
    let Ok(dotnet) = std::fs::canonicalize(named.unwrap_or(here)) else {
        eprintln!("skipped: no .NET 9 (DOTNET9, target/net/9)");
        return None;
    };
    let place = std::fs::canonicalize(folder(name)).expect("a path");
    std::fs::write(place.join("lib.cs"), LIBRARY).expect("written");
    std::fs::write(place.join("app.cs"), program).expect("written");
    for words in [&["-target:library", "lib.cs"][..], &["-r:lib.dll", "-out:app.dll", "app.cs"]] {
        match Command::new("mcs").arg("-nologo").args(words).current_dir(&place).status() {
            Ok(status) => assert!(status.success()),
            Err(error) => {
                eprintln!("skipped: mcs: {error}");
                return None;
            }
        }
    }
    Some((place, dotnet.parent().expect("a folder").to_path_buf()))
}

fn saki(place: &Path, root: &Path) -> Command {
    command(env!("CARGO_BIN_EXE_saki"), place, root)
}

/// A command that runs in the place, on this .NET.
fn command(program: &str, place: &Path, root: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(place).env("XDG_CACHE_HOME", place.join("cache")).env("DOTNET_ROOT", root);
    command.env_remove("DOTNET_ROOT_X64").env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
    command
}

/// The configuration of a program that brings its runtime along.
fn configuration(version: &str) -> String {
    format!(
        r#"{{"runtimeOptions": {{"tfm": "net9.0",
        "includedFrameworks": [{{"name": "Microsoft.NETCore.App", "version": "{version}"}}]}}}}"#
    )
}

/// Its dependencies, with one file of the runtime.
const DEPENDENCIES: &str = r#"{"runtimeTarget": {"name": ".NETCoreApp,Version=v9.0/linux-x64", "signature": ""},
    "targets": {".NETCoreApp,Version=v9.0": {}, ".NETCoreApp,Version=v9.0/linux-x64": {
        "app/1.0.0": {"dependencies": {"lib": "1.0.0", "runtimepack.R": "9.0.99"}, "runtime": {"app.dll": {}}},
        "lib/1.0.0": {"runtime": {"lib.dll": {}}},
        "runtimepack.R/9.0.99": {"runtime": {"System.Private.CoreLib.dll": {}}}}},
    "libraries": {"app/1.0.0": {"type": "project", "serviceable": false, "sha512": ""},
        "lib/1.0.0": {"type": "project", "serviceable": false, "sha512": ""},
        "runtimepack.R/9.0.99": {"type": "runtimepack", "serviceable": false, "sha512": ""}}}"#;

/// What .NET's executables have before the files: an ELF file whose writable segment holds an offset and the mark.
fn template(list_offset: u64) -> Vec<u8> {
    const MARK: &str = "8b1202b96a612038727b930214d7a03213f5b9e6efae3318ee3b2dce24b36aae";
    let mut bytes = vec![0; 120];
    bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
    for (place, number) in [(32, 64_u64), (64, 1), (68, 6), (72, 120), (96, 40)] {
        bytes[place..place + 8].copy_from_slice(&number.to_le_bytes());
    }
    bytes[54] = 56;
    bytes[56] = 1;
    bytes.extend(list_offset.to_le_bytes());
    bytes.extend((0..32).map(|at| u8::from_str_radix(&MARK[2 * at..2 * at + 2], 16).expect("a byte")));
    bytes
}

/// Writes an executable with these files in it.
fn write_single_file(path: &Path, files: &[(&str, Vec<u8>)]) {
    let start = template(0).len();
    let contents: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let mut bytes = template((start + contents) as u64);
    let mut list = Vec::new();
    list.extend([6, 0, files.len() as u32].iter().flat_map(|number| number.to_le_bytes()));
    list.extend([2, b'i', b'd']);
    list.extend([0; 40]);
    for (name, contents) in files {
        for number in [bytes.len() as u64, contents.len() as u64, 0] {
            list.extend(number.to_le_bytes());
        }
        list.extend([1, name.len() as u8]);
        list.extend(name.as_bytes());
        bytes.extend(contents);
    }
    bytes.extend(list);
    std::fs::write(path, bytes).expect("written");
}

fn check(outcome: &Outcome, base: &Path, first_word: &Path) {
    let expected = format!("{}/\n{}\nlibrary a,b\n", base.display(), first_word.display());
    assert_eq!((outcome.exit_code, &*outcome.stdout), (Some(42), &*expected), "{outcome:?}");
}

/// The program's files come out of the executable; the runtime's stay in it.
#[test]
fn a_single_file_runs_on_an_installed_runtime() {
    let Some((place, root)) = prepare("net-single-file") else { return };
    let read = |name: &str| std::fs::read(place.join(name)).expect("a file");
    let (published, app) = (place.join("published"), place.join("published/app"));
    std::fs::create_dir(&published).expect("a folder");
    let write = |version: &str| {
        let files = [
            ("app.dll", read("app.dll")),
            ("lib.dll", read("lib.dll")),
            ("System.Private.CoreLib.dll", b"not this one".to_vec()),
            ("app.deps.json", DEPENDENCIES.into()),
            ("app.runtimeconfig.json", configuration(version).into()),
        ];
        write_single_file(&app, &files);
    };
    write("9.0.99");
    let start = || run(saki(&place, &root).args(["published/app", "a", "b"]));
    check(&start(), &published, &app);
    let programs = place.join("cache/saki/programs");
    let unpacked = std::fs::read_dir(&programs).expect("a folder").next().expect("one").expect("an entry").path();
    assert!(!unpacked.join("System.Private.CoreLib.dll").exists());
    // What the cache has evicted is written once more.
    std::fs::remove_file(unpacked.join("lib.dll")).expect("removed");
    check(&start(), &published, &app);
    assert_eq!(std::fs::read_dir(&programs).expect("a folder").count(), 1);
    write("99.0.1");
    let refused = start();
    let line = format!("saki: {}: needs Microsoft.NETCore.App 99.0.0", app.display());
    assert!(refused.exit_code == Some(2) && refused.stderr.starts_with(&line), "{refused:?}");
    // The end of the list is missing.
    let whole = std::fs::read(&app).expect("a file");
    std::fs::write(&app, &whole[..whole.len() - 3]).expect("written");
    let refused = start();
    assert!(refused.exit_code == Some(2) && refused.stderr.contains("damaged single file"), "{refused:?}");
}

/// `dotnet build` puts an executable beside the assembly, `dotnet publish --self-contained` the runtime as well.
#[test]
fn a_program_in_a_folder_runs_on_an_installed_runtime() {
    let Some((place, root)) = prepare("net-self-contained") else { return };
    std::fs::write(place.join("app"), template(0)).expect("written");
    std::fs::write(place.join("app.runtimeconfig.json"), configuration("9.0.99")).expect("written");
    std::fs::write(place.join("app.deps.json"), DEPENDENCIES).expect("written");
    std::fs::write(place.join("System.Private.CoreLib.dll"), "not this one").expect("written");
    let assembly = place.join("app.dll");
    for program in ["app", "./app.dll"] {
        let outcome = run(saki(&place, &root).args([program, "a", "b"]));
        check(&outcome, &place, &assembly);
    }
    std::fs::remove_file(assembly).expect("removed");
    let refused = run(saki(&place, &root).arg("./app"));
    assert_eq!(refused.stderr, "saki: ./app: it starts ./app.dll, which is not there\n", "{refused:?}");
}

/// What a program that starts itself again says: once itself, twice as a child.
fn check_restarts(outcome: &Outcome, path: &Path) {
    let line = |who: &str, told: &str| format!("{who} {} True {told} saki\n", path.display());
    let child = line("child", "told");
    let expected = format!("{}{child}{child}", line("a", ""));
    assert_eq!((outcome.exit_code, &*outcome.stdout), (Some(0), &*expected), "{outcome:?}");
}

/// Throws, and tells in which file and line.
const THROWS: &str = r#"
using System;
using System.Diagnostics;
static class Program {
    static void Main () {
        try { throw new Exception (); } catch (Exception e) {
            var frame = new StackTrace (e, true).GetFrame (0);
            Console.WriteLine (System.IO.Path.GetFileName (frame.GetFileName ()) + " " + frame.GetFileLineNumber ());
        }
    }
}
"#;

/// `dotnet publish` leaves the symbols beside a single file.
#[test]
fn a_single_files_symbols_lie_beside_it() {
    let Some((place, root)) = prepare_of("net-symbols", THROWS) else { return };
    let compiler = place_of_compiler();
    let framework = root.join("shared/Microsoft.NETCore.App/9.0.5");
    let mut compile = Command::new(&compiler);
    compile.arg("-pdb").arg("-out:app.dll").arg(format!("-fw:{}", framework.display())).arg("app.cs");
    match compile.current_dir(&place).status() {
        Ok(status) if status.success() => {}
        _ => return eprintln!("skipped: no {}", compiler.display()),
    }
    let published = place.join("published");
    std::fs::create_dir(&published).expect("a folder");
    let files = [
        ("app.dll", std::fs::read(place.join("app.dll")).expect("a file")),
        ("app.deps.json", DEPENDENCIES.into()),
        ("app.runtimeconfig.json", configuration("9.0.99").into()),
    ];
    write_single_file(&published.join("app"), &files);
    let start = || run(saki(&place, &root).arg("published/app")).stdout;
    assert_eq!(start(), " 0\n");
    std::fs::rename(place.join("app.pdb"), published.join("app.pdb")).expect("moved");
    assert_eq!(start(), "app.cs 6\n");
    std::fs::remove_file(published.join("app.pdb")).expect("removed");
    assert_eq!(start(), " 0\n");
}

/// The compiler for modern .NET, which writes portable symbols.
fn place_of_compiler() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/net/compiler/csc")
}

#[test]
fn programs_that_start_themselves_again_stay_with_saki() {
    use std::os::unix::fs::PermissionsExt;
    let Some((place, root)) = prepare_of("net-restarts", RESTARTS) else { return };
    let make_executable = |path: &Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("made executable");
    };
    let framework = r#"{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "9.0.0"}}}"#;
    std::fs::write(place.join("app.runtimeconfig.json"), framework).expect("written");
    // As `dotnet app.dll`, with an option that the children inherit.
    for words in
        [&["app.dll", "a"][..], &["--threads=green", "app.dll", "a"], &["exec", "--io", "poll", "app.dll", "a"]]
    {
        check_restarts(&run(saki(&place, &root).args(words)), &root.join("dotnet"));
    }
    // As an apphost.
    std::fs::write(place.join("app"), template(0)).expect("written");
    make_executable(&place.join("app"));
    check_restarts(&run(saki(&place, &root).args(["./app", "a"])), &place.join("app"));
    // As a single file.
    let read = |name: &str| std::fs::read(place.join(name)).expect("a file");
    let single = place.join("single");
    let files = [
        ("app.dll", read("app.dll")),
        ("app.deps.json", DEPENDENCIES.into()),
        ("app.runtimeconfig.json", configuration("9.0.99").into()),
    ];
    write_single_file(&single, &files);
    make_executable(&single);
    check_restarts(&run(saki(&place, &root).args(["single", "a"])), &single);
    // As a program that brings its runtime along, by its assembly.
    std::fs::write(place.join("app.runtimeconfig.json"), configuration("9.0.99")).expect("written");
    std::fs::write(place.join("app.deps.json"), DEPENDENCIES).expect("written");
    check_restarts(&run(saki(&place, &root).args(["app.dll", "a"])), &place.join("app"));
}

/// SIGQUIT ends such a program, as it ends those of .NET, so clients ask by another signal.
#[test]
fn a_program_that_runs_is_profiled() {
    let Some((place, root)) = prepare_of("net-attach", WAITS) else { return };
    let configuration = r#"{"runtimeOptions": {"tfm": "net9.0",
        "framework": {"name": "Microsoft.NETCore.App", "version": "9.0.0"}}}"#;
    std::fs::write(place.join("app.runtimeconfig.json"), configuration).expect("written");
    let mut program = saki(&place, &root);
    program.arg("app.dll").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = program.spawn().expect("saki starts");
    let id = process.id().to_string();
    let mut line = String::new();
    BufReader::new(process.stdout.take().expect("piped")).read_line(&mut line).expect("text");
    assert_eq!(line, "ready\n");
    let ask = |words: &[&str]| {
        let outcome = run(saki(&place, &root).arg("profile").args(words).args(["--pid", &id]));
        assert_eq!(outcome.exit_code, Some(0), "{words:?}: {}", outcome.stderr);
        outcome
    };
    assert!(ask(&["heap", "--format", "heap"]).stdout.contains("System.String"));
    assert!(ask(&["wall", "--duration", "0.2", "--format", "folded", "-o", "-"]).stdout.contains("Program:Main"));
    let leaked = || ask(&["threads", "--leaked"]).stdout.contains("\"forgotten\" (thread ");
    let found = (0..100).any(|_| leaked());
    drop(process.stdin.take());
    assert!(process.wait().expect("a child").success());
    assert!(found);
}

/// Counts on an instrument until its standard input ends; by reflection, since the compiler here is Mono's.
const COUNTS: &str = r#"
using System;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Threading;
[EventSource (Name = "Store")]
class Store : EventSource {
    readonly DiagnosticCounter [] counters;
    public readonly EventCounter Sizes;
    public readonly IncrementingEventCounter Visits;
    public int Polls;
    public Store () {
        Sizes = new EventCounter ("sizes", this) { DisplayUnits = "pieces" };
        Sizes.AddMetadata ("kind", "box");
        Visits = new IncrementingEventCounter ("visits", this);
        counters = new DiagnosticCounter [] {
            new PollingCounter ("stock", this, () => 42),
            new IncrementingPollingCounter ("polls", this, () => Polls += 1000)
        };
    }
    [Event (1, Level = EventLevel.Critical)]
    public void Unwanted () => WriteEvent (1);
}
static class Program {
    static void Main () {
        var store = new Store ();
        var library = System.Reflection.Assembly.Load ("System.Diagnostics.DiagnosticSource");
        var type = library.GetType ("System.Diagnostics.Metrics.Meter");
        var meter = Activator.CreateInstance (type, "Shop");
        var create = type.GetMethods ().First (m => m.Name == "CreateCounter" && m.GetParameters ().Length == 3);
        var counter = create.MakeGenericMethod (typeof (int)).Invoke (meter, new object [] { "orders", "orders", null });
        var add = counter.GetType ().GetMethod ("Add", new [] { typeof (int) });
        new Thread (() => {
            while (true) {
                add.Invoke (counter, new object [] { 1 });
                store.Sizes.WriteMetric (7);
                store.Visits.Increment (5);
                store.Unwanted ();
                ThreadPool.QueueUserWorkItem (_ => { });
                Thread.Sleep (2);
            }
        }) { IsBackground = true }.Start ();
        Console.WriteLine ("ready");
        Console.In.ReadToEnd ();
    }
}
"#;

/// Twice, since the class library ends and begins the sessions of instruments and event sources.
#[test]
fn counters_of_a_process_have_the_pools_figures_and_the_programs_own() {
    let Some((place, root)) = prepare_of("net-counters", COUNTS) else { return };
    let configuration = r#"{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "9.0.0"}}}"#;
    std::fs::write(place.join("app.runtimeconfig.json"), configuration).expect("written");
    for mode in ["native", "green", "mn"] {
        let mut child = saki(&place, &root)
            .args([&format!("--threads={mode}"), "app.dll"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut ready = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut ready).expect("a line");
        for _ in 0..2 {
            let mut asked = saki(&place, &root);
            asked.args(["counters", "--interval", "0.5", "--count", "4", "--pid", &child.id().to_string()]);
            let Outcome { exit_code, stdout, stderr } = run(&mut asked);
            assert_eq!((exit_code, &*stderr), (Some(0), ""), "{mode}: {stdout}");
            let value = |name: &str| {
                let line = stdout.lines().rfind(|line| line.starts_with(name));
                let line = line.unwrap_or_else(|| panic!("{mode}: no {name}: {stdout}"));
                line[name.len()..].split_ascii_whitespace().next().and_then(|word| word.parse::<f64>().ok()).unwrap()
            };
            assert!(value("threadpool-completed-items-count") > 10.0, "{mode}: {stdout}");
            assert!(value("threadpool-thread-count") > 0.0, "{mode}: {stdout}");
            assert!(value("Shop/orders ") > 10.0, "{mode}: {stdout}");
            assert_eq!((value("Store/sizes{kind=box} "), value("Store/stock ")), (7.0, 42.0), "{mode}: {stdout}");
            assert!(stdout.contains(" 7 pieces\n"), "{mode}: {stdout}");
            assert!(value("Store/visits ") > 50.0 && value("Store/polls ") > 0.0, "{mode}: {stdout}");
        }
        drop(child.stdin.take());
        assert!(child.wait().expect("ended").success(), "{mode}");
    }
}

/// Says how many descriptors it may have.
const LIMITS: &str = r#"
using System;
using System.IO;
static class Program {
    static void Main () {
        foreach (var line in File.ReadAllLines ("/proc/self/limits"))
            if (line.StartsWith ("Max open files"))
                Console.WriteLine (line);
    }
}
"#;

#[test]
fn a_program_may_have_as_many_descriptors_as_the_system_allows() {
    let Some((place, root)) = prepare_of("descriptor-limit", LIMITS) else { return };
    let framework = r#""framework": {"name": "Microsoft.NETCore.App", "version": "9.0.0"}"#;
    let program = format!(r#"{{"runtimeOptions": {{"tfm": "net9.0", {framework}}}}}"#);
    std::fs::write(place.join("app.runtimeconfig.json"), program).expect("written");
    let limited = "ulimit -Sn 300; ulimit -Hn 500; exec \"$0\" app.dll";
    let outcome = run(command("sh", &place, &root).args(["-c", limited, env!("CARGO_BIN_EXE_saki")]));
    let numbers: Vec<&str> = outcome.stdout.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers, ["500", "500"], "{outcome:?}");
}
