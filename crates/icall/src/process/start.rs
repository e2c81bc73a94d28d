//! Starting processes: System.Diagnostics.Process.CreateProcess_internal and ShellExecuteEx_internal.
//!
//! The arguments are split as a shell would: quotes and backslashes, no expansion. A program that is an assembly is run
//! by this virtual machine. The child gets only the three streams; a failure in it before the program runs shows as
//! exit code
//! 255. Left out: other users, opening documents with the desktop's programs.

use super::processes;
use crate::io::errors::Win32Error;
use saki_abi::ObjRef;
use saki_os::error::Errno;
use saki_os::message_log::{self, Level, LogSubject};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use saki_types::LibraryType;
use std::ffi::OsString;
use std::marker::PhantomData;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

static FILE_NAME: ManagedField = ManagedField::new(LibraryType::ProcessStartInfo, "fileName");
static ARGUMENTS: ManagedField = ManagedField::new(LibraryType::ProcessStartInfo, "arguments");
static DIRECTORY: ManagedField = ManagedField::new(LibraryType::ProcessStartInfo, "directory");

static INFO_HANDLE: ManagedField = ManagedField::new(LibraryType::ProcInfo, "process_handle");
static INFO_PID: ManagedField = ManagedField::new(LibraryType::ProcInfo, "pid");
/// string[] of "NAME=value"; null = the environment of this process.
static INFO_ENVIRONMENT: ManagedField = ManagedField::new(LibraryType::ProcInfo, "envVariables");

/// A variable of type `Process.ProcInfo` of the caller, on its stack or in the heap.
#[derive(Clone, Copy)]
struct ProcessInfo<'t>(*mut u8, PhantomData<&'t ()>);

impl<'t> ProcessInfo<'t> {
    /// # Safety
    /// The variable lives for 't, and no other code uses it meanwhile.
    unsafe fn at(address: *mut u8) -> ProcessInfo<'t> {
        ProcessInfo(address, PhantomData)
    }

    fn field<T>(self, field: &ManagedField) -> *mut T {
        self.0.wrapping_add(field.offset_bytes()).cast()
    }

    fn variables(self) -> Option<Array<'t>> {
        // SAFETY: a field of the variable that holds a reference.
        unsafe { Obj::from_word(self.field::<ObjRef>(&INFO_ENVIRONMENT).read()) }.and_then(Obj::as_array)
    }

    fn set_handle(self, handle: usize) {
        // SAFETY: a field of the variable that holds an IntPtr.
        unsafe { self.field::<usize>(&INFO_HANDLE).write(handle) };
    }

    /// A negative Win32 error when starting failed.
    fn set_pid(self, pid: i32) {
        // SAFETY: a field of the variable that holds an int.
        unsafe { self.field::<i32>(&INFO_PID).write(pid) };
    }
}

/// A request to start a process, without references to managed objects.
struct Request {
    file: String,
    arguments: String,
    directory: String,
    /// None = this process's.
    environment: Option<Vec<String>>,
    /// None = this process's.
    streams: Option<[usize; 3]>,
}

/// Splits a command line as POSIX shells do, without expansions; None for an unclosed quote.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '#' if word.is_none() => while rest.next_if(|&c| c != '\n').is_some() {},
            '\'' => {
                let text = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        c => text.push(c),
                    }
                }
            }
            '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '\\' => match rest.next()? {
                            '\n' => {}
                            c @ ('"' | '\\' | '`' | '$') => text.push(c),
                            c => text.extend(['\\', c]),
                        },
                        c => text.push(c),
                    }
                }
            }
            '\\' => match rest.next()? {
                '\n' => {}
                c => word.get_or_insert_default().push(c),
            },
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

fn has_access(path: &Path, mode: i32) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: a NUL-terminated path.
    unsafe { libc::access(path.as_ptr(), mode) == 0 }
}

fn find_in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin:.".into());
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && has_access(path, libc::X_OK)
}

/// The file to run: an absolute path as it is, otherwise the file in the current directory, else in PATH.
fn find_program(file: &str) -> Result<PathBuf, Win32Error> {
    let path = Path::new(file);
    if file.is_empty() {
        return Err(Win32Error::FILE_NOT_FOUND);
    }
    let found = match std::env::current_dir() {
        _ if path.is_absolute() => path.to_owned(),
        Ok(directory) if is_program(&directory.join(path)) || is_assembly(&directory.join(path)) => {
            directory.join(path)
        }
        _ if file.contains('/') => return Err(Win32Error::FILE_NOT_FOUND),
        _ => find_in_path(file).ok_or(Win32Error::FILE_NOT_FOUND)?,
    };
    if found.is_dir() || (!has_access(&found, libc::R_OK) && !has_access(&found, libc::X_OK)) {
        return Err(Win32Error::FILE_NOT_FOUND);
    }
    Ok(found)
}

/// Whether the file is a PE image, which the system cannot run itself.
fn is_assembly(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 2];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *b"MZ"
}

/// A stream for the child: a copy of one of our descriptors.
fn stream(handle: usize) -> Stdio {
    // SAFETY: makes a descriptor from an open one, which becomes the child's alone.
    unsafe {
        match i32::try_from(handle).map_or(-1, |fd| libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3)) {
            -1 => Stdio::inherit(),
            fd => Stdio::from(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// Starts the process and returns its handle and id.
fn start(request: &Request) -> Result<(usize, i32), Win32Error> {
    let program = find_program(&request.file)?;
    let arguments = split(&request.arguments).ok_or(Win32Error::INVALID_PARAMETER)?;
    let mut command = if is_assembly(&program) {
        let mut command = Command::new(std::env::current_exe().map_err(|_| Win32Error::FILE_NOT_FOUND)?);
        command.arg(&program);
        command
    } else if is_program(&program) {
        Command::new(&program)
    } else {
        return Err(Win32Error::ACCESS_DENIED);
    };
    command.args(arguments);
    saki_os::thread::touch_stack_ahead();
    if let Some([input, output, error]) = request.streams {
        command.stdin(stream(input)).stdout(stream(output)).stderr(stream(error));
    }
    if let Some(environment) = &request.environment {
        command.env_clear();
        for entry in environment {
            if let Some((name, value)) = entry.split_once('=') {
                command.env(name, value);
            }
        }
    }
    if !request.directory.is_empty() {
        let directory = std::ffi::CString::new(request.directory.as_str()).map_err(|_| Win32Error::INVALID_NAME)?;
        // SAFETY: between fork and exec only system calls that are safe there.
        unsafe {
            command.pre_exec(move || {
                if libc::chdir(directory.as_ptr()) != 0 {
                    libc::_exit(255);
                }
                Ok(())
            });
        }
    }
    let spawned = saki_os::fork::plainly(|| command.spawn());
    let child = spawned.map_err(|error| Win32Error::from_errno(Errno(error.raw_os_error().unwrap_or(0))))?;
    let pid = child.id() as i32;
    let text = format_args!("Process.Start: '{}' runs as process {pid}.", program.display());
    message_log::message(Level::Debug, LogSubject::Processes, text);
    let name = OsString::into_vec(program.into_os_string());
    Ok((processes::add_child(pid, String::from_utf8_lossy(&name).into_owned()), pid))
}

/// Reads what managed code wants to start.
fn request_of(start_info: Obj, info: ProcessInfo, streams: Option<[usize; 3]>) -> Request {
    let variables = info.variables();
    let text = |field: &ManagedField| field.str(start_info).map_or_else(String::new, Str::to_rust);
    Request {
        file: text(&FILE_NAME),
        arguments: text(&ARGUMENTS),
        directory: text(&DIRECTORY),
        environment: variables.map(|variables| variables.iter().map(environment_entry).collect()),
        streams,
    }
}

/// "NAME=value"; empty for what is no string.
fn environment_entry(entry: Option<Obj>) -> String {
    entry.and_then(Obj::as_str).map_or_else(String::new, Str::to_rust)
}

fn run(t: CurrentThread, start_info: Option<Obj>, info: ProcessInfo, streams: Option<[usize; 3]>) -> Managed<bool> {
    let start_info = crate::arguments::non_null(t, start_info, "startInfo")?;
    let request = request_of(start_info, info, streams);
    let started = t.managed().blocking(|| start(&request));
    match started {
        Ok((handle, pid)) => {
            info.set_handle(handle);
            info.set_pid(pid);
        }
        Err(error) => info.set_pid(-error.0),
    }
    Ok(started.is_ok())
}

fn create_process(
    t: CurrentThread,
    start_info: Option<Obj>,
    input: usize,
    output: usize,
    error: usize,
    info: *mut u8,
) -> Managed<bool> {
    // SAFETY: managed code passes a variable of type ProcInfo.
    run(t, start_info, unsafe { ProcessInfo::at(info) }, Some([input, output, error]))
}

fn shell_execute(t: CurrentThread, start_info: Option<Obj>, info: *mut u8) -> Managed<bool> {
    // SAFETY: managed code passes a variable of type ProcInfo.
    run(t, start_info, unsafe { ProcessInfo::at(info) }, None)
}

/// The internal calls of `System.Diagnostics.Process`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Diagnostics.Process::CreateProcess_internal", &create_process),
    InternalCall::new("System.Diagnostics.Process::ShellExecuteEx_internal", &shell_execute),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_split_as_in_a_shell() {
        let check = |line: &str, words: &[&str]| assert_eq!(split(line).as_deref(), Some(words.map_owned()).as_deref());
        check("", &[]);
        check(" a  b ", &["a", "b"]);
        check(r#"'a b' "c \"d\" \e" f\ g"#, &["a b", r#"c "d" \e"#, "f g"]);
        check("'' a''b", &["", "ab"]);
        check("a # b", &["a"]);
        assert_eq!(split("'open"), None);
    }

    trait MapOwned {
        fn map_owned(&self) -> Vec<String>;
    }

    impl MapOwned for [&str] {
        fn map_owned(&self) -> Vec<String> {
            self.iter().map(|word| (*word).to_owned()).collect()
        }
    }
}
