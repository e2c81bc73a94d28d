//! Descriptions of code for profilers and debuggers (`--perf`): the tests parse the files as their readers do, and run
//! gdb and perf where they are installed. Under emulation of aarch64 gdb is `gdb-multiarch`, and perf records nothing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

const ARGUMENTS: [&str; 2] = ["50", "1000"];
const OUTPUT: &str = "2890\n";
const IS_AARCH64: bool = cfg!(target_arch = "aarch64");
/// Number of the processor in headers of ELF files, and so in those of jitdumps.
const ELF_MACHINE: u32 = if IS_AARCH64 { 183 } else { 62 };
/// `stp x29, x30, [sp, #-16]!; mov x29, sp` or `push rbp; mov rbp, rsp`.
const PROLOGUE: &[u8] =
    if IS_AARCH64 { &[0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91] } else { &[0x55, 0x48, 0x89, 0xe5] };

/// Compiles `tests/tools/NAME.cs` with its line table; None without a compiler.
fn compile(name: &str) -> Option<PathBuf> {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tools-{name}.exe"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/tools/{name}.cs"));
    let out = format!("-out:{}", program.display());
    match Command::new("mcs").args(["-nologo", "-debug", &out]).arg(source).output() {
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&[done.stdout, done.stderr].concat()));
            Some(program)
        }
        Err(error) => {
            eprintln!("skipped: mcs: {error}");
            None
        }
    }
}

/// The program of most tests.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(|| compile("methods")).as_deref()
}

/// A new folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("saki starts")
}

/// Waits for the program and gives its process's number.
fn finish(child: Child, expect: &str) -> u32 {
    let id = child.id();
    let done = child.wait_with_output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert_eq!((done.status.code(), &*stdout), (Some(0), expect), "{stderr}");
    id
}

/// Name → sizes of the bodies in a perf map.
fn read_map(process: u32) -> HashMap<String, Vec<(usize, usize)>> {
    let path = Path::new("/tmp").join(format!("perf-{process}.map"));
    let text = std::fs::read_to_string(&path).expect("a perf map");
    std::fs::remove_file(&path).unwrap();
    let mut names: HashMap<_, Vec<_>> = HashMap::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let mut words = line.splitn(3, ' ');
        let mut number = || usize::from_str_radix(words.next().unwrap(), 16).expect(line);
        let (start, len_bytes) = (number(), number());
        names.entry(words.next().expect(line).to_owned()).or_default().push((start, len_bytes));
    }
    names
}

#[test]
fn perf_map_names_all_code() {
    let Some(program) = program() else { return };
    let child =
        start(Command::new(env!("CARGO_BIN_EXE_saki")).env("SAKI_PERF", "map").arg(program).args(["20000", "1000"]));
    let map = read_map(finish(child, OUTPUT));
    for name in ["Methods:Main", "Methods:getppid [native call]", "saki entry stubs"] {
        assert!(map.contains_key(name), "{name} is not among {:?}", map.keys());
    }
    // Methods that ended and whose room was used again are not in it any more: an address has one name.
    let mut starts: Vec<usize> = map.values().flatten().map(|&(start, _)| start).collect();
    let count = starts.len();
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts.len(), count, "an address with two names");
    let dynamic = map.keys().filter(|name| name.starts_with("dynamic")).count();
    assert!((1..20000).contains(&dynamic), "{dynamic} dynamic methods");
}

#[test]
fn words_that_name_no_tool_are_refused() {
    let Some(program) = program() else { return };
    let done = Command::new(env!("CARGO_BIN_EXE_saki")).args(["--perf", "mop"]).arg(program).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let done = Command::new(env!("CARGO_BIN_EXE_saki")).env("SAKI_PERF", "mop").arg(program).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("SAKI_PERF: 'mop' is not one of map"));
}

/// What a jitdump says of one body.
#[derive(Debug, Default)]
struct Dumped {
    code: Vec<u8>,
    lines: Vec<(u64, u32, String)>,
    unwinding_bytes: u64,
}

fn read_dump(bytes: &[u8]) -> HashMap<String, Dumped> {
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let text_at = |at: usize| {
        let text: Vec<u8> = bytes[at..].iter().copied().take_while(|&b| b != 0).collect();
        String::from_utf8(text).unwrap()
    };
    assert_eq!((u32_at(0), u32_at(4), u32_at(8), u32_at(12)), (0x4A69_5444, 1, 40, ELF_MACHINE), "the header");
    let mut bodies = HashMap::new();
    let mut next = Dumped::default();
    let (mut at, mut last_time, mut last_index, mut is_closed) = (40, 0, None, false);
    while at < bytes.len() {
        assert!(!is_closed, "a record behind the last one");
        let (kind, len_bytes, time) = (u32_at(at), u32_at(at + 4) as usize, u64_at(at + 8));
        assert!(last_time <= time, "records are in order");
        last_time = time;
        let body = at + 16;
        match kind {
            0 => {
                assert_eq!(u64_at(body + 8), u64_at(body + 16), "address");
                let (code_bytes, index) = (u64_at(body + 24) as usize, u64_at(body + 32));
                assert_eq!(index, last_index.map_or(0, |last: u64| last + 1));
                last_index = Some(index);
                let name = text_at(body + 40);
                let code = body + 40 + name.len() + 1;
                assert_eq!(code + code_bytes, at + len_bytes, "{name}: size");
                next.code = bytes[code..code + code_bytes].to_vec();
                bodies.insert(name, std::mem::take(&mut next));
            }
            2 => {
                let mut entry = body + 16;
                for _ in 0..u64_at(body + 8) {
                    let file = text_at(entry + 16);
                    next.lines.push((u64_at(entry) - u64_at(body), u32_at(entry + 8), file.clone()));
                    entry += 16 + file.len() + 1;
                }
                assert_eq!(entry, at + len_bytes);
            }
            3 => is_closed = true,
            4 => {
                next.unwinding_bytes = u64_at(body);
                assert!(u64_at(body + 8) == 20 && len_bytes.is_multiple_of(8));
            }
            other => panic!("record of kind {other}"),
        }
        at += len_bytes;
    }
    assert!(is_closed, "the program ended by itself");
    bodies
}

#[test]
fn jitdump_has_code_lines_and_frames_of_compiled_and_cached_bodies() {
    let Some(program) = program() else { return };
    let folder = folder("jitdump");
    for run in ["compiled", "from the cache"] {
        let request = format!("jitdump:{}", folder.display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
        command.env("XDG_CACHE_HOME", folder.join("cache")).args(["--perf", &request]).arg(program).args(ARGUMENTS);
        let process = finish(start(&mut command), OUTPUT);
        let bodies = read_dump(&std::fs::read(folder.join(format!("jit-{process}.dump"))).unwrap());
        let work = &bodies["Methods:Work"];
        assert!(work.code.starts_with(PROLOGUE), "{run}: {:x?}", work.code);
        let lines: Vec<u32> = work.lines.iter().map(|(_, line, _)| *line).collect();
        assert!([15, 16, 18].iter().all(|line| lines.contains(line)), "{run}: {:?}", work.lines);
        assert!(work.lines.iter().all(|(offset, _, file)| *offset < work.code.len() as u64 && file.ends_with(".cs")));
        assert!(bodies.values().all(|body| body.unwinding_bytes > 40), "{run}");
        for name in ["saki entry stubs", "dynamic7", "Methods:getppid [native call]"] {
            assert!(bodies.contains_key(name), "{run}: {name}");
        }
    }
}

/// The code that native code calls for a delegate was placed, and so shown to tools, with the lock of the delegate's
/// type held.
#[test]
fn delegates_that_native_code_calls_are_shown() {
    let Some(program) = compile("callbacks") else { return };
    let folder = folder("callbacks");
    let request = format!("jitdump:{},gdb", folder.display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_saki"));
    let process = finish(start(command.args(["--no-cache", "--perf", &request]).arg(program)), "1 2 3\n3 2 1\n");
    let bodies = read_dump(&std::fs::read(folder.join(format!("jit-{process}.dump"))).unwrap());
    assert!(bodies.contains_key("Callbacks:Main"));
}

/// Output of a tool that may not be installed, or may not be allowed to trace here.
fn run_tool(command: &mut Command) -> Option<Output> {
    command.output().inspect_err(|error| eprintln!("skipped: {}: {error}", command.get_program().display())).ok()
}

/// What gdb writes at the first call of `getppid`; None where it may not trace.
fn gdb_backtrace(mode: &str, arguments: &[&str]) -> Option<String> {
    gdb(mode, arguments, &["break getppid", "run", "bt", "info symbol __jit_debug_register_code"])
}

const FIRST_STEPS: [&str; 4] = [
    "set pagination off",
    "set breakpoint pending on",
    "set debuginfod enabled off",
    "handle SIGSEGV nostop noprint pass",
];

/// As `gdb`, under user-mode emulation: there nothing can be traced, but the emulator serves a gdb that knows the
/// processor. `run` becomes `continue`, since the program is there already.
fn emulated_gdb(program: &Path, mode: &str, arguments: &[&str], steps: &[&str]) -> Option<String> {
    const EMULATOR: &str = "qemu-aarch64-static";
    const DEBUGGER: &str = "gdb-multiarch";
    let Ok(libraries) = std::env::var("QEMU_LD_PREFIX") else {
        eprintln!("skipped: QEMU_LD_PREFIX does not say where the libraries of aarch64 are");
        return None;
    };
    for tool in [EMULATOR, DEBUGGER] {
        run_tool(Command::new(tool).arg("--version"))?;
    }
    let socket = folder("emulated-gdb").join("socket");
    let mut emulator = Command::new(EMULATOR);
    emulator.arg("-g").arg(&socket).arg(env!("CARGO_BIN_EXE_saki"));
    emulator.args(["--perf", "gdb", &format!("--threads={mode}")]).arg(program).args(arguments);
    let mut emulator = start(&mut emulator);
    while !socket.exists() {
        assert!(emulator.try_wait().unwrap().is_none(), "the emulator waits for the debugger");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let mut command = Command::new(DEBUGGER);
    command.args(["-q", "-nx", "-batch"]);
    let (root, target) = (format!("set sysroot {libraries}"), format!("target remote {}", socket.display()));
    for step in FIRST_STEPS.into_iter().chain([&*root, &*target]).chain(steps.iter().copied()) {
        command.args(["-ex", if step == "run" { "continue" } else { step }]);
    }
    let done = run_tool(command.arg(env!("CARGO_BIN_EXE_saki")));
    // A debugger that came to its last step has ended the program; any other left it waiting.
    let _ = emulator.kill();
    let said = emulator.wait_with_output().unwrap();
    let done = done?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(format!("{}\n{}\n{}", text(&done.stdout), text(&said.stdout), text(&done.stderr)))
}

/// What gdb writes for these steps; None where it may not trace.
fn gdb(mode: &str, arguments: &[&str], steps: &[&str]) -> Option<String> {
    let program = program()?;
    if IS_AARCH64 {
        return emulated_gdb(program, mode, arguments, steps);
    }
    let mut command = Command::new("gdb");
    command.args(["-q", "-nx", "-batch"]);
    for step in FIRST_STEPS.iter().chain(steps) {
        command.args(["-ex", step]);
    }
    command.args(["--args", env!("CARGO_BIN_EXE_saki"), "--perf", "gdb", &format!("--threads={mode}")]);
    let done = run_tool(command.arg(program).args(arguments))?;
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    if err.contains("ptrace") || err.contains("Could not trace") {
        eprintln!("skipped: gdb may not trace here: {err}");
        return None;
    }
    Some(format!("{out}\n{err}"))
}

fn check_frames(out: &str, frames: &[&str]) {
    let mut rest = out;
    for frame in frames {
        let Some(at) = rest.find(frame) else { panic!("{frame} is not in its place in\n{out}") };
        rest = &rest[at + frame.len()..];
    }
}

#[test]
fn gdb_shows_managed_frames() {
    let Some(out) = gdb_backtrace("native", &ARGUMENTS) else { return };
    check_frames(
        &out,
        &[
            "getppid ()",
            "in Methods:getppid [native call] ()",
            "in Methods:CallNative ()",
            "in Methods:Main ()",
            "in invoke thunk ()",
            "saki_enter",
            "in main ()",
        ],
    );
}

/// A breakpoint is set before the method is compiled, by each spelling of its name that docs/profilers.md tells, and
/// stops there.
#[test]
fn gdb_stops_at_breakpoints_by_name() {
    for mode in ["native", "green", "mn:2"] {
        for place in ["Methods.CallNative", "-function Methods:CallNative", "'Methods.CallNative'"] {
            // The method stops there again when it has another body.
            let steps = [&format!("break {place}"), "run", "bt 1", "delete", "continue"];
            let Some(out) = gdb(mode, &["50", "1000", "thread"], &steps) else { return };
            check_frames(&out, &["Breakpoint 1, 0x", "in Methods:CallNative ()", "#0 ", "in Methods:CallNative ()"]);
            assert!(
                out.contains("2890") && out.contains("exited normally"),
                "{mode} {place}: the program goes on\n{out}"
            );
        }
    }
    // A method of several of one name is named with its parameters.
    let steps = ["break 'Methods.Twice (int)'", "run", "bt 1", "continue"];
    let Some(out) = gdb("native", &ARGUMENTS, &steps) else { return };
    check_frames(&out, &["Breakpoint 1, 0x", "in Methods:Twice (int) ()"]);
    assert_eq!(out.matches("Breakpoint 1, ").count(), 1, "{out}");
}

/// The walk ends at the fiber's entry, and does not go on in what lies above it.
#[test]
fn gdb_finds_the_end_of_a_green_stack() {
    for mode in ["green", "mn:2"] {
        let Some(out) = gdb_backtrace(mode, &["50", "1000", "thread"]) else { return };
        check_frames(&out, &["getppid ()", "in Methods:CallNative ()", "saki_enter", "::first_resume::"]);
        let after = &out[out.find("::first_resume::").unwrap()..];
        let next = after.lines().nth(1).unwrap_or_default();
        assert!(!next.starts_with('#') && !out.contains("Backtrace stopped"), "{mode}: {out}");
    }
}

#[test]
fn perf_resolves_managed_code() {
    if IS_AARCH64 {
        return eprintln!("skipped: under emulation perf records the emulator");
    }
    let Some(program) = program() else { return };
    let folder = folder("perf");
    let (data, injected) = (folder.join("perf.data"), folder.join("injected.data"));
    let mut record = Command::new("perf");
    // Some 900 samples: `Work` itself, which mostly calls, takes one in thirty.
    record.args(["record", "-q", "-k", "mono", "-F", "2000", "-o"]).arg(&data).arg(env!("CARGO_BIN_EXE_saki"));
    record.args(["--perf", &format!("jitdump:{}", folder.display())]).arg(program).args(["10", "20000000"]);
    let Some(done) = run_tool(&mut record) else { return };
    if !done.status.success() {
        return eprintln!("skipped: perf may not record here: {}", String::from_utf8_lossy(&done.stderr));
    }
    let inject = Command::new("perf").args(["inject", "--jit", "-i"]).arg(&data).arg("-o").arg(&injected).output();
    assert!(inject.unwrap().status.success());
    let report = Command::new("perf").args(["report", "--stdio", "--sort", "symbol", "-i"]).arg(&injected).output();
    let report = String::from_utf8_lossy(&report.unwrap().stdout).into_owned();
    assert!(report.contains("Methods:Work"), "{report}");
}
