//! The library in a process of another host (`examples/host.rs`), on Mono's class libraries.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = r#"
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Program
{
    delegate IntPtr Start (IntPtr argument);

    [DllImport ("libpthread.so.0")]
    static extern int pthread_create (out IntPtr thread, IntPtr attributes, Start start, IntPtr argument);
    [DllImport ("libpthread.so.0")]
    static extern int pthread_join (IntPtr thread, out IntPtr result);

    [MethodImpl (MethodImplOptions.NoInlining)]
    static int Deep (int n) => n == int.MaxValue ? 0 : 1 + Deep (n + 1);

    static void Allocate ()
    {
        var kept = new List<byte[]> ();
        for (int i = 0; i < 20000; i++) {
            kept.Add (new byte[200]);
            if (kept.Count > 1000)
                kept.Clear ();
        }
        GC.Collect ();
    }

    static int Add (int number, string text)
    {
        Allocate ();
        return number + text.Length;
    }

    class Nested { static int Subtract (int number, string text) { return number - text.Length; } }

    int OfInstance (int number, string text) { return 0; }
    static int Twice (int number) { return 0; }
    static int Twice (int number, string text) { return 0; }
    static int Generic<T> (int number, T value) { return 0; }

    static int Main (string[] arguments)
    {
        AppDomain.CurrentDomain.ProcessExit += (sender, e) => Console.WriteLine ("exit handler");
        Console.WriteLine (string.Join (",", arguments));

        string none = null;
        try { Console.WriteLine (none.Length); } catch (NullReferenceException) { Console.WriteLine ("null"); }
        try { Deep (0); } catch (StackOverflowException) { Console.WriteLine ("deep"); }

        var threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++) {
            threads[i] = new Thread (Allocate);
            threads[i].Start ();
        }
        foreach (var thread in threads)
            thread.Join ();
        Console.WriteLine ("threads");

        // Threads that native code made come in, allocate, throw, and end.
        int sum = 0;
        Start start = argument => {
            Allocate ();
            try { throw new InvalidOperationException (); } catch (InvalidOperationException) { }
            try { sum += none.Length; } catch (NullReferenceException) { }
            Interlocked.Add (ref sum, (int) argument);
            return argument;
        };
        for (int i = 1; i <= 10; i++) {
            IntPtr thread, result;
            if (pthread_create (out thread, IntPtr.Zero, start, (IntPtr) i) != 0)
                return 1;
            pthread_join (thread, out result);
        }
        Console.WriteLine (sum);
        if (arguments.Length > 0 && arguments[0] == "exit")
            Environment.Exit (7);
        if (arguments.Length > 0 && arguments[0] == "throw")
            throw new Exception ("unhandled");
        return 42;
    }
}
"#;

const OUTPUT: &str = "null\ndeep\nthreads\n55\n";

/// A file that cargo builds beside this test.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().expect("a folder");
    let file = folder.join(name);
    let file = if file.is_file() { file } else { folder.parent().expect("a folder").join(name) };
    assert!(file.is_file(), "{} is not built; cargo test -p saki-coreclr builds it", file.display());
    file
}

/// The program, compiled once for each test; None without a compiler.
fn program(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join(format!("{name}.cs")), folder.join(format!("{name}.exe")));
    std::fs::write(&source, PROGRAM).expect("written");
    match Command::new("mcs").arg("-nologo").arg(format!("-out:{}", program.display())).arg(&source).status() {
        Ok(status) => assert!(status.success()),
        Err(error) => {
            eprintln!("skipped: mcs: {error}");
            return None;
        }
    }
    Some(program)
}

fn host(words: &[&str]) -> Command {
    let mut command = Command::new(built("examples/host"));
    command.args(words.iter().take_while(|word| word.starts_with("--") || word.contains('=')));
    command.arg(built("libcoreclr.so"));
    command.args(words.iter().skip_while(|word| word.starts_with("--") || word.contains('=')));
    command.env("SAKI_NO_CACHE", "1");
    command
}

const MONO: &str = "TRUSTED_PLATFORM_ASSEMBLIES=/usr/lib/mono/4.5/System.dll:/usr/lib/mono/4.5/mscorlib.dll";

fn check(output: &Output, code: i32, expect: &str) {
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(text, expect, "{errors}");
    assert_eq!(output.status.code(), Some(code), "{errors}");
}

#[test]
fn a_guest_runs_a_program_and_returns_to_its_host() {
    let Some(program) = program("guest") else { return };
    let program = program.display().to_string();
    let expect = format!("initialize: 0x0\none,two\n{OUTPUT}exit handler\nexecute: 0x0 42\nshutdown: 0x0 42\n");
    for mode in ["native", "green", "mn"] {
        let output = host(&[MONO, &program, "one", "two"]).env("SAKI_THREADS", mode).output().expect("run");
        check(&output, 42, &expect);
        // The program's configuration says the same as the variable.
        let output = host(&[MONO, &format!("Saki.Threads={mode}"), &program, "one", "two"]).output().expect("run");
        check(&output, 42, &expect);
    }
}

/// The collector's own `mmap` serves it there, and not the C library's.
#[test]
fn a_guest_runs_in_scarce_address_space() {
    let Some(program) = program("guest-scarce") else { return };
    let words = [built("examples/host"), MONO.into(), built("libcoreclr.so"), program];
    let line = "ulimit -v 3000000; exec \"$@\"";
    let output = Command::new("sh").args(["-c", line, "sh"]).args(words).env("SAKI_NO_CACHE", "1").output();
    let expect = format!("initialize: 0x0\n\n{OUTPUT}exit handler\nexecute: 0x0 42\nshutdown: 0x0 42\n");
    check(&output.expect("run"), 42, &expect);
}

/// The code cache was keyed by the build id of the process's executable, which says nothing about the machine in it.
#[test]
fn the_code_cache_is_that_of_the_library_whatever_its_host() {
    let Some(program) = program("guest-cache") else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest-cache");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    // A host with another build id.
    let mut bytes = std::fs::read(built("examples/host")).expect("read");
    let note = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
    let place = bytes.windows(note.len()).position(|window| window == note).expect("a build id") + note.len();
    bytes[place] ^= 1;
    let other = folder.join("host");
    std::fs::write(&other, bytes).expect("written");
    std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("made executable");
    for host in [built("examples/host"), other] {
        let words = [MONO.into(), built("libcoreclr.so"), program.clone()];
        let output = Command::new(host).args(words).env("XDG_CACHE_HOME", &folder).output().expect("run");
        assert_eq!(output.status.code(), Some(42), "{output:?}");
    }
    let entries = std::fs::read_dir(folder.join("saki")).expect("a cache").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let builds: Vec<String> = names.filter(|name| name.len() == 16 && u64::from_str_radix(name, 16).is_ok()).collect();
    assert_eq!(builds.len(), 1, "a folder for each build: {builds:?}");
}

#[test]
fn a_program_may_end_its_hosts_process() {
    let Some(program) = program("guest-exit") else { return };
    let program = program.display().to_string();
    let output = host(&[MONO, &program, "exit"]).output().expect("run");
    check(&output, 7, &format!("initialize: 0x0\nexit\n{OUTPUT}exit handler\n"));
    let output = host(&[MONO, &program, "throw"]).output().expect("run");
    check(&output, 1, &format!("initialize: 0x0\nthrow\n{OUTPUT}"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("unhandled"));
}

/// The handler that the host had before gets faults of threads that the machine does not know.
#[test]
fn a_fault_of_the_hosts_own_is_the_hosts() {
    let Some(program) = program("guest-fault") else { return };
    let output = host(&["--fault", MONO, &program.display().to_string()]).output().expect("run");
    check(&output, 9, &format!("initialize: 0x0\n\n{OUTPUT}exit handler\nexecute: 0x0 42\n"));
}

#[test]
fn a_host_gets_c_functions_of_static_methods() {
    let Some(program) = program("guest-functions") else { return };
    let trusted = format!("{MONO}:{}", program.display());
    let methods =
        ["Program::Add", "Program+Nested::Subtract", "Program::OfInstance", "Program::Twice", "Program::Generic"];
    let others = ["Program::None", "None::Add"];
    let mut words = vec!["--functions", &trusted, "guest-functions"];
    words.extend(methods.iter().chain(&others));
    let expect = "initialize: 0x0\n\
        Program::Add: 0x0\n  23\n  33\n  43\n  53\n\
        Program+Nested::Subtract: 0x0\n  17\n  27\n  37\n  47\n\
        Program::OfInstance: 0x80131513\nProgram::Twice: 0x8000211d\nProgram::Generic: 0x80131513\n\
        Program::None: 0x80131513\nNone::Add: 0x80131522\n\
        Program::Add: 0x0\n  23\n  33\n  43\n  53\nshutdown: 0x0 0\n";
    for mode in ["native", "green", "mn"] {
        let output = host(&words).env("SAKI_THREADS", mode).output().expect("run");
        let text = String::from_utf8_lossy(&output.stdout);
        let (told, shown): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("error: "));
        assert_eq!(shown.join("\n") + "\n", expect, "{mode}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(told.len(), 5, "{mode}: {told:?}");
    }
    let words = ["--functions", MONO, "no-such-assembly", "Program::Add"];
    let output = host(&words).output().expect("run");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Program::Add: 0x80070002"), "{output:?}");
}

#[test]
fn failures_are_told_to_the_host() {
    let check_failure = |words: &[&str], expect: &str| {
        let output = host(words).output().expect("run");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(expect), "{text}");
        assert_eq!(text.matches("error: ").count(), 1, "one line: {text}");
    };
    check_failure(&["x.dll"], "error: saki: TRUSTED_PLATFORM_ASSEMBLIES names no core library\ninitialize: 0x80004005");
    check_failure(&[MONO, "/none/x.exe"], "/none/x.exe");
    check_failure(&[MONO, "Saki.Threads=many", "x.exe"], "error: saki: Saki.Threads in runtimeconfig.json: 'many'");
    check_failure(&["--other-thread", MONO, "x.exe"], "the call comes from another thread");
    let net = "TRUSTED_PLATFORM_ASSEMBLIES=/net/System.Private.CoreLib.dll";
    check_failure(&[net, "x.dll"], "/net/System.Private.CoreLib.dll");
}
