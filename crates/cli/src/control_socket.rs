//! The socket between a process of Saki's that runs and `saki profile --pid`, which asks something of it.
//!
//! ```text
//! client                                       process
//! listens on FOLDER/PID.sock
//! SIGQUIT                               →      its thread of dumps finds the socket there and connects
//!                                              is it the same user at the other end?
//! the request, one line                 →
//!                                       ←      "profiling", or "error: …"
//! "stop", after Ctrl-C                  →
//!                                       ←      the answer, to the end of the stream
//! ```
//!
//! A process has no socket and no thread for this until a client asks. Invariant: the folder belongs to the user, and no other user may write to it or list it;
//! the peers on both ends must be that user. A process with more rights than its starter is not asked, and would refuse. SIGQUIT is sent only to a process that
//! catches it. Left out: what is asked (`profile_control`, `heap_command`).

use saki_base::tell;
use saki_os::privilege;
use std::fs::DirBuilder;
use std::io::{self, BufRead, BufReader, Read, Write};
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

/// In a process that got SIGQUIT: the client that waits for it, if there is one.
pub fn waiting_client() -> Option<UnixStream> {
    if privilege::is_elevated() || !is_private(&folder()) {
        return None;
    }
    let stream = UnixStream::connect(socket_of(std::process::id())).ok()?;
    is_own_user(&stream).then_some(stream)
}

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

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
    Ok(String::from_utf8_lossy(&text).into_owned())
}
