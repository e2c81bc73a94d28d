//! `cargo xtask start-order`: writes the list of functions that starts run, in the order of their first calls.
//!
//! The linker lays a release build's functions in this order (`crates/cli/build.rs`), so that what a start needs fills
//! few pages: the kernel maps 64 KiB around each place that is run (docs/design/command.md). Traced are hello world and
//! a compiler, with and without a code cache: the process gets a breakpoint at each function's first byte, which is
//! taken away when it is hit. Names have the hashes that rustc gives them; those of a crate change with its version and
//! with the compiler, and then the list does its work again once it is written anew.
//!
//! Left out: processors other than x86-64, whose linker does not know the list; child processes.

use crate::elf;
use crate::tool::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::ptr;

/// What to trace, and whether to write the list.
#[derive(clap::Args)]
pub struct Options {
    /// The release build to trace [default: target/release/saki].
    #[arg(long, value_name = "FILE")]
    saki: Option<PathBuf>,
    /// Only print how many of the list's functions the build has.
    #[arg(long)]
    check: bool,
}

/// The list, below the repository's root.
const LIST: &str = "crates/cli/start-order.txt";
const COMPILER: &str = "/usr/lib/mono/4.5/mcs.exe";
/// The instruction `int3`.
const BREAKPOINT: u8 = 0xcc;
/// Where the instruction pointer stands in `struct user` of x86-64 (sys/user.h).
const INSTRUCTION_POINTER_OFFSET: usize = 16 * size_of::<u64>();

/// Traces the build and writes the list. Errors: no such build, or it cannot be traced.
pub fn run(root: &Path, options: &Options) -> Outcome {
    if std::env::consts::ARCH != "x86_64" {
        return Err("only builds for x86-64 are traced".to_owned());
    }
    let saki = options.saki.clone().unwrap_or_else(|| root.join("target/release/saki"));
    let saki = saki.canonicalize().map_err(|e| format!("{}: {e}", saki.display()))?;
    let functions = elf::functions(&saki)?;
    let list = root.join(LIST);
    if options.check {
        let text = std::fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
        let names: BTreeSet<&str> = functions.values().map(String::as_str).collect();
        let found = text.lines().filter(|name| names.contains(name)).count();
        println!("{found} of {} functions", text.lines().count());
        return Ok(true);
    }
    let folder = std::env::temp_dir().join(format!("saki-start-order-{}", std::process::id()));
    let traced = trace_starts(root, &saki, &folder, &functions);
    let _ = std::fs::remove_dir_all(&folder);
    let order = traced?;
    std::fs::write(&list, order.join("\n") + "\n").map_err(|e| format!("{}: {e}", list.display()))?;
    println!("{}: {} functions", list.display(), order.len());
    Ok(true)
}

/// The names, those of starts with a filled code cache first.
fn trace_starts(
    root: &Path,
    saki: &Path,
    folder: &Path,
    functions: &BTreeMap<u64, String>,
) -> Result<Vec<String>, String> {
    let failed = |e: io::Error| format!("{}: {e}", folder.display());
    let hello = folder.join("hello.exe");
    let compile = [COMPILER.into(), root.join("bench/hello.cs"), format!("-out:{}", hello.display()).into()];
    let [of_compiler, of_hello] = ["compiler", "hello"].map(|name| folder.join(name));
    for cache in [folder, &of_compiler, &of_hello] {
        std::fs::DirBuilder::new().mode(0o700).create(cache).map_err(failed)?;
    }
    let start = |cache: &Path, arguments: &[PathBuf]| {
        let mut command = Command::new(saki);
        command.args(arguments).env("XDG_CACHE_HOME", cache).stdin(Stdio::null()).stdout(Stdio::null());
        trace(command, saki, functions).map_err(|e| format!("{}: {e}", saki.display()))
    };
    let compiler_first = start(&of_compiler, &compile)?;
    let compiler = start(&of_compiler, &compile)?;
    let hello_first = start(&of_hello, std::slice::from_ref(&hello))?;
    let hello = start(&of_hello, &[hello])?;
    let mut seen = BTreeSet::new();
    let called = [hello, compiler, hello_first, compiler_first].into_iter().flatten();
    Ok(called.filter(|function| seen.insert(*function)).filter_map(|at| functions.get(&at).cloned()).collect())
}

/// Runs the command; the addresses in the file of the functions that it called, in the order of their first calls.
fn trace(mut command: Command, saki: &Path, functions: &BTreeMap<u64, String>) -> io::Result<Vec<u64>> {
    // So that no other child of this process is waited for.
    command.process_group(0);
    // SAFETY: the closure makes one system call, and `last_os_error` does not allocate.
    unsafe {
        command.pre_exec(|| {
            let unused = ptr::null_mut::<libc::c_void>();
            // Only makes the parent trace this process, which `exec` stops then.
            if libc::ptrace(libc::PTRACE_TRACEME, 0, unused, unused) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
    let process = command.spawn()?.id() as libc::pid_t;
    wait_for(process)?;
    let wanted = libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SETOPTIONS, process, 0, wanted as usize)?;
    let base = base_of(process, saki)?;
    let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/mem"))?;
    let mut unseen = BTreeMap::new();
    for function in functions.keys() {
        unseen.insert(*function, exchange(&memory, base + function, BREAKPOINT)?);
    }
    let mut order = Vec::new();
    request(libc::PTRACE_CONT, process, 0, 0)?;
    loop {
        let (thread, status) = wait_for(-process)?;
        if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
            match thread == process {
                true if status == 0 => return Ok(order),
                true => return Err(io::Error::other(format!("the traced program ended with status {status:#x}"))),
                false => continue,
            }
        }
        let signal = libc::WSTOPSIG(status);
        let is_own = signal == libc::SIGTRAP || signal == libc::SIGSTOP;
        let is_event = status >> 16 != 0;
        if signal == libc::SIGTRAP && !is_event {
            let at = instruction_pointer(thread)? - 1;
            let function = at.wrapping_sub(base);
            // Another thread may have hit the breakpoint before it was taken away.
            if functions.contains_key(&function) {
                if let Some(first_byte) = unseen.remove(&function) {
                    exchange(&memory, at, first_byte)?;
                    order.push(function);
                }
                request(libc::PTRACE_POKEUSER, thread, INSTRUCTION_POINTER_OFFSET, at as usize)?;
            }
        }
        request(libc::PTRACE_CONT, thread, 0, if is_own { 0 } else { signal as usize })?;
    }
}

/// Writes a byte of the process; returns what stood there.
fn exchange(memory: &File, address: u64, byte: u8) -> io::Result<u8> {
    let mut before = [0];
    memory.read_exact_at(&mut before, address)?;
    memory.write_all_at(&[byte], address)?;
    Ok(before[0])
}

/// The address at which the start of the program's file is mapped.
fn base_of(process: libc::pid_t, saki: &Path) -> io::Result<u64> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps"))?;
    let first = maps.lines().find(|line| line.ends_with(&*saki.to_string_lossy()));
    let start = first.and_then(|line| u64::from_str_radix(line.split('-').next()?, 16).ok());
    start.ok_or_else(|| io::Error::other("the program is not mapped"))
}

/// Waits for a stop or the end of a process, or of any thread of a process group (negative); of which, and its status.
fn wait_for(process: libc::pid_t) -> io::Result<(libc::pid_t, i32)> {
    let mut status = 0;
    // SAFETY: the pointer is to a live local.
    let found = unsafe { libc::waitpid(process, &mut status, libc::__WALL) };
    if found < 0 { Err(io::Error::last_os_error()) } else { Ok((found, status)) }
}

/// The instruction pointer of a stopped thread.
fn instruction_pointer(thread: libc::pid_t) -> io::Result<u64> {
    let file = std::fs::read_to_string(format!("/proc/{thread}/syscall"))?;
    // "running", or three or nine numbers of which the last one is the instruction pointer (proc(5)).
    let last = file.split_whitespace().last().and_then(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok());
    last.ok_or_else(|| io::Error::other(format!("no instruction pointer: {file}")))
}

/// A request of ptrace(2) that writes nothing to this process's memory.
fn request(what: libc::c_uint, thread: libc::pid_t, address: usize, data: usize) -> io::Result<()> {
    let [address, data] = [address, data].map(ptr::without_provenance_mut::<libc::c_void>);
    // SAFETY: the requests above take numbers, and concern the traced thread alone.
    match unsafe { libc::ptrace(what, thread, address, data) } {
        result if result < 0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traced_program_calls_its_main_function_once() {
        if std::env::consts::ARCH != "x86_64" {
            return;
        }
        let own = std::env::current_exe().expect("a path");
        let functions = elf::functions(&own).expect("a program with symbols");
        let mut command = Command::new(&own);
        command.arg("--list").stdout(Stdio::null());
        let called = trace(command, &own, &functions).expect("the program can be traced");
        let is_main = |function: &&u64| functions.get(function).is_some_and(|name| name == "main");
        assert_eq!(called.iter().filter(is_main).count(), 1);
        assert!(called.len() < functions.len());
    }
}
