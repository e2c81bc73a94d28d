//! Runs one child process to its end: captured output, a wall-clock limit, peak memory.
//!
//! The child gets a process group of its own, so that a time-out also ends what it started. Its
//! memory figure comes from `wait4`, which is why `std::process::Child::wait` is not used.
//! Left out: streaming of output; a test program's output is small and capped at `MAX_OUTPUT_BYTES`.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// More than any test prints; keeps a program that prints for ever from filling memory.
const MAX_OUTPUT_BYTES: u64 = 16 << 20;

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgramEnd {
    /// It exited with this code.
    Exit(i32),
    /// This signal killed it.
    Signal(i32),
    /// It was still running at the time limit and was killed.
    TimedOut,
}

impl std::fmt::Display for ProgramEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ProgramEnd::Exit(code) => write!(f, "exit code {code}"),
            ProgramEnd::Signal(number) => write!(f, "killed by signal {number}"),
            ProgramEnd::TimedOut => write!(f, "timed out"),
        }
    }
}

/// What to run.
pub struct Job<'a> {
    /// Program and arguments.
    pub argv: &'a [String],
    pub directory: &'a Path,
    pub environment: &'a [(String, String)],
    pub stdin: &'a [u8],
    pub timeout: Duration,
}

/// What came of it.
pub struct Finished {
    pub end: ProgramEnd,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// From just before the start to the moment the process was reaped.
    pub wall: Duration,
    /// User and system time of the process and of the children it waited for.
    pub cpu: Duration,
    /// Peak resident memory in KiB.
    pub max_rss_kib: u64,
}

/// Runs `job` and waits for it. Errors: the program could not be started.
pub fn run(job: &Job<'_>) -> Result<Finished, String> {
    let (program, arguments) = job.argv.split_first().ok_or("empty command")?;
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(job.directory)
        .envs(job.environment.iter().map(|(k, v)| (k, v)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|e| format!("cannot start {program}: {e}"))?;

    let pid = child.id() as libc::pid_t;
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("a pipe to the child is missing".to_owned());
    };
    let input = job.stdin.to_vec();
    let writer = thread::spawn(move || {
        // A program may end without reading its input: a closed pipe is not an error here.
        let _ = stdin.write_all(&input);
    });
    let stdout = thread::spawn(move || read_capped(stdout));
    let stderr = thread::spawn(move || read_capped(stderr));

    let (sender, receiver) = mpsc::channel();
    let waiter = thread::spawn(move || {
        let reaped = wait_for(pid);
        let wall = started.elapsed();
        // The receiver lives until this thread is joined.
        let _ = sender.send(());
        (reaped, wall)
    });
    let timed_out = receiver.recv_timeout(job.timeout).is_err();
    if timed_out {
        kill_group(pid);
    }
    let ((status, cpu, max_rss_kib), wall) = waiter.join().map_err(|_| "the waiting thread panicked")?;
    // What it left running in its group would keep the output pipes open.
    kill_group(pid);
    let _ = writer.join();
    let collect = |t: thread::JoinHandle<Vec<u8>>| t.join().unwrap_or_default();
    let end = if timed_out {
        ProgramEnd::TimedOut
    } else if libc::WIFSIGNALED(status) {
        ProgramEnd::Signal(libc::WTERMSIG(status))
    } else {
        ProgramEnd::Exit(libc::WEXITSTATUS(status))
    };
    Ok(Finished { end, stdout: collect(stdout), stderr: collect(stderr), wall, cpu, max_rss_kib })
}

fn read_capped(stream: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut capped = stream.take(MAX_OUTPUT_BYTES);
    // A read error ends the output early; the comparison with the expected text then says so.
    let _ = capped.read_to_end(&mut bytes);
    let mut rest = capped.into_inner();
    let _ = std::io::copy(&mut rest, &mut std::io::sink());
    bytes
}

/// Reaps `pid`: its wait status, processor time and peak resident memory in KiB.
fn wait_for(pid: libc::pid_t) -> (i32, Duration, u64) {
    let mut status = 0;
    // SAFETY: `rusage` is plain integers, for which all-zero bytes are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live locals; `pid` is a child that nobody else reaps (its `Child` is only
        // dropped).
        let reaped = unsafe { libc::wait4(pid, &mut status, 0, &mut usage) };
        if reaped == pid || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return (status, duration(usage.ru_utime) + duration(usage.ru_stime), usage.ru_maxrss.max(0) as u64);
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec.max(0) as u64, time.tv_usec.max(0) as u32 * 1000)
}

fn kill_group(group: libc::pid_t) {
    // SAFETY: no memory is involved. A group that has ended gives ESRCH, which is what is wanted.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(script: &str, stdin: &[u8], seconds: u64) -> Finished {
        let argv = ["sh", "-c", script].map(str::to_owned);
        let job = Job {
            argv: &argv,
            directory: Path::new("/"),
            environment: &[("COLOUR".to_owned(), "green".to_owned())],
            stdin,
            timeout: Duration::from_secs(seconds),
        };
        run(&job).expect("sh starts")
    }

    #[test]
    fn output_input_environment_and_code() {
        let done = check("cat; echo $COLOUR; echo oops >&2; exit 7", b"in\n", 20);
        assert_eq!(done.end, ProgramEnd::Exit(7));
        assert_eq!(done.stdout, b"in\ngreen\n");
        assert_eq!(done.stderr, b"oops\n");
        assert!(done.max_rss_kib > 0);
    }

    #[test]
    fn a_time_out_ends_the_whole_group() {
        let done = check("sleep 30 & sleep 30", b"", 1);
        assert_eq!(done.end, ProgramEnd::TimedOut);
        assert!(done.wall < Duration::from_secs(10));
    }

    #[test]
    fn a_signal_is_reported() {
        assert_eq!(check("kill -9 $$", b"", 20).end, ProgramEnd::Signal(9));
    }
}
