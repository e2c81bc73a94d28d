//! The socket between a process of Saki's that runs and `saki profile --pid`, which asks something of it.
//!
//! ```text
//! client                                       process
//! locks FOLDER/PID.lock
//! listens on FOLDER/PID.sock
//! a signal (`signal::of_clients`)       →      its thread of dumps finds the socket there and connects
//!                                              is it the same user at the other end?
//! removes both
//! the request, its parts ended by NUL   →
//!                                       ←      "profiling", or "error: …"
//! "stop", after Ctrl-C                  →
//!                                       ←      "done" or "failed", and what is to be said, to the end of the stream
//! ```
//!
//! Each signal belongs to one client, and there is one place for a socket. So clients take turns, by the lock, until
//! the process has connected. A path is bytes,
//! which may be any but NUL; the last word tells the client's exit code.
//!
//! A process has no socket and no thread for this until a client asks. Invariant: the folder belongs to the user, and
//! no other user may write to it or list it; the peers on both ends must be that user. A process with more rights than
//! its starter is not asked, and would refuse. The signal is sent only to a process that catches it. Left out: what is
//! asked (`profile::control`, `profile::heap_command`).

use saki_base::tell;
use saki_os::clock::Moment;
use saki_os::{privilege, signal};
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the client waits for the process to connect.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How often it looks whether Ctrl-C was pressed.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum length of a request: a path has at most 4 KiB.
const MAX_REQUEST_BYTES: u64 = 16 << 10;
/// The first line of the final answer.
const DONE: &str = "done\n";
const FAILED: &str = "failed\n";

/// The folder of the sockets: the user's runtime directory, or else a private folder of the user among the temporary
/// files.
fn folder() -> PathBuf {
    let user = privilege::effective_user();
    let runtime = PathBuf::from(format!("/run/user/{user}"));
    if is_private(&runtime) { runtime.join("saki") } else { Path::new("/tmp").join(format!("saki-{user}")) }
}

/// Whether this is a folder, not a link, that belongs to the user and that other users cannot access.
fn is_private(path: &Path) -> bool {
    std::fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_dir() && found.uid() == privilege::effective_user() && found.mode() & 0o077 == 0)
}

/// What is asked of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlRequest {
    /// What for: `profile::control` and `profile::heap_command` have a word each.
    pub word: String,
    pub settings: String,
    pub output: PathBuf,
}

impl ControlRequest {
    fn bytes(&self) -> Vec<u8> {
        let parts = [self.word.as_bytes(), self.settings.as_bytes(), self.output.as_os_str().as_bytes()];
        parts.iter().flat_map(|part| part.iter().copied().chain([0])).collect()
    }

    /// Reads one.
    ///
    /// # Errors
    /// The stream's, or what comes is not a request.
    pub fn read(stream: &UnixStream) -> io::Result<ControlRequest> {
        let mut reader = BufReader::new(stream.take(MAX_REQUEST_BYTES));
        let mut part = || {
            let mut bytes = Vec::new();
            reader.read_until(0, &mut bytes)?;
            bytes.pop_if(|end| *end == 0).ok_or(io::ErrorKind::InvalidData)?;
            Ok::<_, io::Error>(OsString::from_vec(bytes))
        };
        let mut text = || part()?.into_string().map_err(|_| io::Error::from(io::ErrorKind::InvalidData));
        let (word, settings) = (text()?, text()?);
        Ok(ControlRequest { word, settings, output: part()?.into() })
    }
}

/// Writes the final answer, and ends the stream.
///
/// # Errors
/// The stream's: the client has gone.
pub fn answer_client(mut stream: &UnixStream, is_done: bool, text: &str) -> io::Result<()> {
    stream.write_all(format!("{}{text}", if is_done { DONE } else { FAILED }).as_bytes())?;
    stream.shutdown(std::net::Shutdown::Both)
}

fn socket_of(process: u32) -> PathBuf {
    folder().join(format!("{process}.sock"))
}

/// Whether the other end is of the same user.
fn is_own_user(stream: &UnixStream) -> bool {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `peer` has room for the option's value, and `len` is its size.
    let result = unsafe {
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut peer).cast(), &raw mut len)
    };
    result == 0 && peer.uid == privilege::effective_user()
}

/// In a process that got the signal: the client that waits for it, if there is one.
pub fn waiting_client() -> Option<UnixStream> {
    if privilege::is_elevated() || !is_private(&folder()) {
        return None;
    }
    let stream = UnixStream::connect(socket_of(std::process::id())).ok()?;
    is_own_user(&stream).then_some(stream)
}

/// SIGINT came while this process waited for the other one. Relaxed: a flag that publishes nothing.
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The message for the user meanwhile.
pub enum Notice {
    Profiling(Option<Duration>),
    Waiting(Duration),
    Silent,
}

/// The final answer of a process.
#[derive(PartialEq, Eq, Debug)]
pub struct Answer {
    /// All that was asked for was written.
    pub is_done: bool,
    pub text: String,
}

/// Sends the process a request and returns its final answer. Ctrl-C ends its waiting.
///
/// # Errors
/// The process does not run Saki, refuses, or ended before it answered.
pub fn ask(process: u32, request: &ControlRequest, notice: Notice) -> Result<Answer, String> {
    let stream = open(process)?;
    talk(stream, request, notice).map_err(|error| format!("process {process}: {error}"))
}

/// Sends the process a request and returns the stream on which it answers, when it has accepted it.
///
/// # Errors
/// The process does not run Saki, or refuses.
pub fn connect_for(process: u32, request: &ControlRequest) -> Result<BufReader<UnixStream>, String> {
    let stream = open(process)?;
    begin(&stream, request).map_err(|error| format!("process {process}: {error}"))
}

/// Has the process connect.
fn open(process: u32) -> Result<UnixStream, String> {
    check_process(process)?;
    let named = |error: io::Error| format!("{}: {error}", socket_of(process).display());
    prepare_folder().map_err(named)?;
    let turn = Turn::take(process).map_err(named)?;
    // It may have ended while others had their turns.
    check_process(process)?;
    let listener = listen(process).map_err(named)?;
    let connected = connect(process, &listener);
    // No other process should find the socket.
    let _ = std::fs::remove_file(socket_of(process));
    drop(turn);
    connected
}

/// A client's turn to be connected to: a lock on a file that its holder has made or found, and removes.
struct Turn {
    path: PathBuf,
    /// Closing it ends the lock.
    _file: File,
}

impl Turn {
    fn take(process: u32) -> io::Result<Turn> {
        let path = folder().join(format!("{process}.lock"));
        loop {
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
            match file.lock() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                locked => locked?,
            }
            // Whoever held the lock before has removed this file's name; another may have one of the same name by now.
            let found = std::fs::metadata(&path).ok().map(|found| (found.dev(), found.ino()));
            let own = file.metadata().map(|found| (found.dev(), found.ino()))?;
            if found == Some(own) {
                return Ok(Turn { path, _file: file });
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The processes that can be asked: their numbers and command lines.
pub fn processes() -> Vec<(String, String)> {
    let own = std::process::id();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut numbers: Vec<u32> = numbers.filter(|&process| process != own && check_process(process).is_ok()).collect();
    numbers.sort_unstable();
    let words = |process: u32| {
        let words = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).replace(['\0', '\n', '\t'], " ").trim_end().to_owned()
    };
    numbers.into_iter().map(|process| (process.to_string(), words(process))).collect()
}

/// The signal ends a process that does not catch it, so this checks first.
fn check_process(process: u32) -> Result<(), String> {
    let proc = PathBuf::from(format!("/proc/{process}"));
    let status = std::fs::read_to_string(proc.join("status")).map_err(|_| format!("there is no process {process}"))?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let caught = field("SigCgt:").and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    let is_caught = caught & 1 << (signal::of_clients() - 1) != 0;
    let file_id = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let named_saki = std::fs::read_link(proc.join("exe"))
        .ok()
        .is_some_and(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("saki")));
    let is_same =
        file_id(&proc.join("exe")).is_some() && file_id(&proc.join("exe")) == file_id(Path::new("/proc/self/exe"));
    if !is_caught || !(named_saki || is_same) {
        return Err(format!("process {process} is no program that Saki runs for this user"));
    }
    Ok(())
}

fn prepare_folder() -> io::Result<()> {
    let folder = folder();
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if !is_private(&folder) {
        return Err(io::Error::other("the folder is not the user's alone"));
    }
    Ok(())
}

fn listen(process: u32) -> io::Result<UnixListener> {
    let socket = socket_of(process);
    match std::fs::remove_file(&socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => UnixListener::bind(&socket),
    }
}

fn connect(process: u32, listener: &UnixListener) -> Result<UnixStream, String> {
    let text = |error: io::Error| format!("process {process}: {error}");
    listener.set_nonblocking(true).map_err(text)?;
    // SAFETY: takes numbers only.
    if unsafe { libc::kill(process as libc::pid_t, signal::of_clients()) } != 0 {
        return Err(text(saki_os::error::last_error()));
    }
    let deadline = Moment::now() + CONNECT_LIMIT;
    loop {
        match listener.accept() {
            Ok((stream, _)) if is_own_user(&stream) => {
                stream.set_nonblocking(false).map_err(text)?;
                return Ok(stream);
            }
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(text(error)),
            _ if Moment::now() >= deadline => return Err(format!("process {process} does not answer")),
            _ => std::thread::sleep(LOOK_INTERVAL / 10),
        }
    }
}

/// Sends the request, and reads whether it is accepted. The reader may have more of the answer.
fn begin(mut stream: &UnixStream, request: &ControlRequest) -> io::Result<BufReader<UnixStream>> {
    stream.write_all(&request.bytes())?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut answer = String::new();
    reader.read_line(&mut answer)?;
    if answer != "profiling\n" {
        return Err(io::Error::other(answer.trim_end().trim_start_matches("error: ").to_owned()));
    }
    Ok(reader)
}

fn talk(mut stream: UnixStream, request: &ControlRequest, notice: Notice) -> io::Result<Answer> {
    let mut reader = begin(&stream, request)?;
    saki_os::signal::install(libc::SIGINT, |_| {
        IS_INTERRUPTED.store(true, Ordering::Relaxed);
        saki_os::signal::Disposition::Handled
    })?;
    match notice {
        Notice::Profiling(Some(duration)) => {
            tell!("profiling for {} s; Ctrl-C ends it earlier", duration.as_secs_f64());
        }
        Notice::Profiling(None) => tell!("profiling; Ctrl-C ends it"),
        Notice::Waiting(duration) => tell!("in {} s; Ctrl-C does it at once", duration.as_secs_f64()),
        Notice::Silent => {}
    }
    stream.set_read_timeout(Some(LOOK_INTERVAL))?;
    let (mut text, mut is_stopped) = (Vec::new(), false);
    loop {
        // Relaxed: a plain flag.
        if IS_INTERRUPTED.load(Ordering::Relaxed) && !is_stopped {
            is_stopped = true;
            stream.write_all(b"stop\n")?;
        }
        match reader.read_to_end(&mut text) {
            Ok(_) => break,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    read_answer(&String::from_utf8_lossy(&text)).ok_or_else(|| io::Error::other("it ended before it answered"))
}

fn read_answer(text: &str) -> Option<Answer> {
    let of = |is_done, text: &str| Answer { is_done, text: text.to_owned() };
    let done = text.strip_prefix(DONE).map(|text| of(true, text));
    done.or_else(|| text.strip_prefix(FAILED).map(|text| of(false, text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn any_name_of_a_file_arrives() {
        for name in [&b"/a/b.html"[..], b"/line\nfeed\ttab", b"/not \xff\xfe utf-8", b"/\"quote\",output=x", b""] {
            let output = PathBuf::from(OsStr::from_bytes(name));
            let request = ControlRequest { word: "profile".to_owned(), settings: "cpu,hz=10".to_owned(), output };
            let (mut client, process) = UnixStream::pair().unwrap();
            client.write_all(&request.bytes()).unwrap();
            assert_eq!(ControlRequest::read(&process).unwrap(), request);
        }
    }

    #[test]
    fn what_is_no_request_is_an_error() {
        for bytes in [&b""[..], b"profile\0cpu\0/x", b"\xff\0a\0b\0"] {
            let (mut client, process) = UnixStream::pair().unwrap();
            client.write_all(bytes).unwrap();
            drop(client);
            assert!(ControlRequest::read(&process).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn answers_say_whether_all_was_written() {
        let check = |is_done, text: &str| {
            let (mut client, process) = UnixStream::pair().unwrap();
            answer_client(&process, is_done, text).unwrap();
            let mut found = String::new();
            client.read_to_string(&mut found).unwrap();
            assert_eq!(read_answer(&found), Some(Answer { is_done, text: text.to_owned() }));
        };
        check(true, "profile: x\n");
        check(false, "");
        assert_eq!(read_answer("don"), None);
    }

    /// A turn ends with its file; whoever waited for it gets a file that has a name.
    #[test]
    fn clients_take_turns() {
        prepare_folder().unwrap();
        // No process has such a number.
        let process = u32::MAX - std::process::id();
        let holders = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let turn = Turn::take(process).unwrap();
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                        assert!(turn.path.exists());
                        holders.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(!folder().join(format!("{process}.lock")).exists());
    }
}
