//! `saki profile KIND --pid PID`: profiles a running process.
//!
//! ```text
//! client                                       process
//! listens on FOLDER/PID.sock
//! SIGQUIT                               →      its thread of dumps finds the socket there and connects
//!                                              is it the same user at the other end?
//! ProfileRequest, one line              →      begins
//!                                       ←      "profiling", or "error: …"
//! "stop", or its end, or the duration   →      ends, writes the files
//!                                       ←      what is to be said, to the end of the stream
//! ```
//!
//! A process has no socket and no thread for this until a client asks. Invariant: the folder belongs to the user, and no other user may write to it or list it;
//! the peers on both ends must be that user. A process with more rights than its starter is not asked, and would refuse. SIGQUIT is sent only to a process that
//! catches it.

use crate::heap_command;
use crate::profile_command::{self, ProfileRequest};
use saki_os::privilege;
use std::fs::DirBuilder;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the client waits for the process to connect.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How often it looks whether Ctrl-C was pressed.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum length of a request.
const MAX_REQUEST_BYTES: u64 = 16 << 10;

/// The folder of the sockets: the user's runtime directory, or else a private folder of the user among the temporary files.
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

/// For the thread of dumps: whether a client waits for this process; a new thread then serves it.
pub fn serve_request() -> bool {
    if privilege::is_elevated() || !is_private(&folder()) {
        return false;
    }
    let Ok(stream) = UnixStream::connect(socket_of(std::process::id())) else { return false };
    if !is_own_user(&stream) {
        return false;
    }
    let started = saki_os::thread::start_service("profile-control", move || {
        // An error means that the client is gone, so there is no one to report it to.
        let _ = serve(stream);
    });
    started.is_ok()
}

fn serve(mut stream: UnixStream) -> io::Result<()> {
    let mut line = String::new();
    BufReader::new((&stream).take(MAX_REQUEST_BYTES)).read_line(&mut line)?;
    if let Some(request) = line.trim_end_matches('\n').strip_prefix(heap_command::REQUEST_WORD) {
        heap_command::serve(stream.try_clone()?, request)?;
        return stream.shutdown(Shutdown::Both);
    }
    let begun = line
        .trim_end()
        .parse::<ProfileRequest>()
        .and_then(|request| profile_command::start(&request).map(|number| (number, request.duration)));
    let (number, duration) = match begun {
        Ok(begun) => begun,
        Err(error) => return writeln!(stream, "error: {error}"),
    };
    // Whatever the client does from here on, the profile ends.
    let told = writeln!(stream, "profiling");
    if told.is_ok() && stream.set_read_timeout(duration).is_ok() {
        // "stop", the end of the stream, or no more time.
        let _ = stream.read(&mut [0; 16]);
    }
    let text = profile_command::finish(Some(number)).unwrap_or_default();
    stream.write_all(text.as_bytes())?;
    stream.shutdown(Shutdown::Both)
}

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Profiles the process, and prints its answer; then takes a heap snapshot, if that is asked for too.
///
/// # Errors
/// It is no process of Saki that can be asked, or it refuses.
pub fn attach(process: u32, request: &ProfileRequest) -> Result<(), String> {
    let mut request = request.clone();
    let heap = request.heap.take();
    let has_profiles = !request.kinds.is_empty();
    if has_profiles {
        request.output = Some(output_of(process, &request)?);
        eprint!("{}", ask(process, &request.to_string(), Notice::Profiling(request.duration))?);
    }
    match heap {
        Some(heap) => heap_command::attach(process, &heap, request.duration.filter(|_| !has_profiles)),
        None => Ok(()),
    }
}

/// The message for the user meanwhile.
pub enum Notice {
    Profiling(Option<Duration>),
    Waiting(Duration),
    Silent,
}

/// Sends the process a request and returns its final answer. Ctrl-C ends its waiting.
///
/// # Errors
/// As `attach`.
pub fn ask(process: u32, request: &str, notice: Notice) -> Result<String, String> {
    check_process(process)?;
    let listener = listen(process).map_err(|error| format!("{}: {error}", socket_of(process).display()))?;
    let connected = connect(process, &listener);
    // No other process should find the socket.
    let _ = std::fs::remove_file(socket_of(process));
    let stream = connected?;
    talk(stream, request, notice).map_err(|error| format!("process {process}: {error}"))
}

/// SIGQUIT ends a process that does not catch it, so this checks first.
fn check_process(process: u32) -> Result<(), String> {
    let proc = PathBuf::from(format!("/proc/{process}"));
    let status = std::fs::read_to_string(proc.join("status")).map_err(|_| format!("there is no process {process}"))?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let caught = field("SigCgt:").and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    let is_caught = caught & 1 << (libc::SIGQUIT - 1) != 0;
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

/// The process writes the files, perhaps from another folder.
fn output_of(process: u32, request: &ProfileRequest) -> Result<PathBuf, String> {
    let name = format!("saki-{process}.{}", request.file_word());
    let output = match (&request.output, request.formats.as_slice()) {
        (Some(output), _) => output.clone(),
        (None, [format]) => PathBuf::from(format!("{name}.{}", format.extension())),
        (None, _) => PathBuf::from(name),
    };
    std::path::absolute(&output).map_err(|error| format!("{}: {error}", output.display()))
}

fn listen(process: u32) -> io::Result<UnixListener> {
    let folder = folder();
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if !is_private(&folder) {
        return Err(io::Error::other("the folder is not the user's alone"));
    }
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
    if unsafe { libc::kill(process as libc::pid_t, libc::SIGQUIT) } != 0 {
        return Err(text(saki_os::error::last_error()));
    }
    let deadline = Instant::now() + CONNECT_LIMIT;
    loop {
        match listener.accept() {
            Ok((stream, _)) if is_own_user(&stream) => {
                stream.set_nonblocking(false).map_err(text)?;
                return Ok(stream);
            }
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(text(error)),
            _ if Instant::now() >= deadline => return Err(format!("process {process} does not answer")),
            _ => std::thread::sleep(LOOK_INTERVAL / 10),
        }
    }
}

fn talk(mut stream: UnixStream, request: &str, notice: Notice) -> io::Result<String> {
    writeln!(stream, "{request}")?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut answer = String::new();
    reader.read_line(&mut answer)?;
    if answer != "profiling\n" {
        return Err(io::Error::other(answer.trim_end().trim_start_matches("error: ").to_owned()));
    }
    saki_os::signal::install(libc::SIGINT, |_| {
        IS_INTERRUPTED.store(true, Ordering::Relaxed);
        saki_os::signal::Disposition::Handled
    })?;
    match notice {
        Notice::Profiling(Some(duration)) => {
            eprintln!("profiling for {} s; Ctrl-C ends it earlier", duration.as_secs_f64());
        }
        Notice::Profiling(None) => eprintln!("profiling; Ctrl-C ends it"),
        Notice::Waiting(duration) => eprintln!("in {} s; Ctrl-C does it at once", duration.as_secs_f64()),
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
    Ok(String::from_utf8_lossy(&text).into_owned())
}
