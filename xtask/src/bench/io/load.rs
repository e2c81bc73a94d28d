//! A server under load: started, asked by wrk, measured and killed.
//!
//! Processor time and memory are the kernel's figures of the server's process (proc(5)). Invariant: a server ends with
//! its [`Server`]. Left out: what the figures mean.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No server takes a tenth of this to start.
const START_LIMIT: Duration = Duration::from_secs(20);
/// The pause between two looks whether a server answers.
const START_LOOK: Duration = Duration::from_millis(5);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
/// Threads of wrk.
const LOAD_THREADS: u32 = 2;

/// A server that runs until it is dropped.
pub struct Server {
    child: Child,
    address: SocketAddr,
    /// The time to its first answer.
    pub started_in: Duration,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a load found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    pub requests: u64,
    pub requests_per_second: f64,
    pub p99_ms: f64,
    /// Connections and requests that failed.
    pub errors: u64,
    /// Processor time of the server for each request.
    pub cpu_us: f64,
}

/// A port that nobody listens on, in all likelihood until the server does.
fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| format!("no free port: {e}"))?;
    Ok(listener.local_addr().map_err(|e| e.to_string())?.port())
}

impl Server {
    /// Starts a server, whose last argument is the port, and waits until it answers. Errors: it does not.
    pub fn start(argv: &[String], environment: &[(String, String)], log: &Path) -> Result<Server, String> {
        let port = free_port()?;
        let output = fs::File::create(log).map_err(|e| format!("{}: {e}", log.display()))?;
        let begun = Instant::now();
        let child = Command::new(&argv[0])
            .args(&argv[1..])
            .arg(port.to_string())
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output)
            .spawn()
            .map_err(|e| format!("cannot start {}: {e}", argv[0]))?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut server = Server { child, address, started_in: Duration::ZERO };
        loop {
            if server.ask().is_some() {
                server.started_in = begun.elapsed();
                return Ok(server);
            }
            let ended = server.child.try_wait().ok().flatten();
            if ended.is_some() || begun.elapsed() > START_LIMIT {
                let text = fs::read_to_string(log).unwrap_or_default();
                let reason = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("does not answer");
                return Err(reason.chars().take(120).collect());
            }
            std::thread::sleep(START_LOOK);
        }
    }

    /// A connection that has been answered once, and stays open.
    pub fn ask(&self) -> Option<TcpStream> {
        let mut stream = TcpStream::connect_timeout(&self.address, Duration::from_secs(5)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        stream.write_all(REQUEST).ok()?;
        let mut answer = [0; 1024];
        let count = stream.read(&mut answer).ok()?;
        answer[..count].starts_with(b"HTTP/1.1 200").then_some(stream)
    }

    /// Processor time so far, of all threads.
    fn cpu(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        // SAFETY: no preconditions.
        let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
        Duration::from_secs_f64(cpu_ticks(&stat) as f64 / ticks_per_second)
    }

    /// Resident memory now.
    pub fn resident_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) << 10
    }

    /// Keeps so many connections busy for a time. Errors: wrk does not start, or prints something else.
    pub fn load(&self, connections: u64, time: Duration) -> Result<Load, String> {
        let before = self.cpu();
        let done = Command::new("wrk")
            .arg(format!("-t{LOAD_THREADS}"))
            .arg(format!("-c{connections}"))
            .arg(format!("-d{}s", time.as_secs()))
            .args(["--timeout", "10s", "--latency"])
            .arg(format!("http://{}/", self.address))
            .output()
            .map_err(|e| format!("cannot start wrk (apt-get install wrk): {e}"))?;
        let cpu = self.cpu() - before;
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let mut load = parse(&text).ok_or_else(|| {
            let errors = String::from_utf8_lossy(&done.stderr);
            format!("wrk: {}", errors.lines().chain(text.lines()).next().unwrap_or("no output"))
        })?;
        load.cpu_us = cpu.as_secs_f64() * 1e6 / load.requests.max(1) as f64;
        Ok(load)
    }
}

/// utime and stime of /proc/PID/stat, whose second field is a name in parentheses that may hold anything.
fn cpu_ticks(stat: &str) -> u64 {
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// What wrk prints with `--latency`.
fn parse(text: &str) -> Option<Load> {
    let mut load = Load { requests: 0, requests_per_second: 0.0, p99_ms: 0.0, errors: 0, cpu_us: 0.0 };
    let mut has_latency = false;
    for line in text.lines().map(str::trim) {
        if let Some(value) = line.strip_prefix("99%") {
            load.p99_ms = milliseconds(value.trim())?;
            has_latency = true;
        } else if let Some(value) = line.strip_prefix("Requests/sec:") {
            load.requests_per_second = value.trim().parse().ok()?;
        } else if let Some((count, _)) = line.split_once(" requests in ") {
            load.requests = count.parse().ok()?;
        } else if let Some(counts) = line.strip_prefix("Socket errors:") {
            load.errors +=
                counts.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u64>().ok()).sum::<u64>();
        } else if let Some(count) = line.strip_prefix("Non-2xx or 3xx responses:") {
            load.errors += count.trim().parse::<u64>().ok()?;
        }
    }
    has_latency.then_some(load)
}

/// "1.50ms", "300.00us", "2.00s", "1.20m".
fn milliseconds(text: &str) -> Option<f64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic())?;
    let value: f64 = text[..end].parse().ok()?;
    let unit_ms = match &text[end..] {
        "us" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        "m" => 6e4,
        _ => return None,
    };
    Some(value * unit_ms)
}

/// Lets this process and its children have as many descriptors as the system allows. Returns how many.
pub fn raise_descriptor_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: room for the answer.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return 0;
    }
    let wanted = libc::rlimit { rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max };
    // SAFETY: a limit that was just read.
    let is_raised = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &wanted) } == 0;
    if is_raised { wanted.rlim_cur } else { limit.rlim_cur }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_wrk_is_read() {
        let text = "Running 2s test @ http://127.0.0.1:1/\n  2 threads and 64 connections\n  Latency Distribution\n     50%    1.22ms\n     \
                    99%    3.50ms\n  96508 requests in 2.01s, 9.20MB read\n  Socket errors: connect 1, read 2, write 0, timeout 4\n\
                    Requests/sec:  48012.51\nTransfer/sec:      4.58MB\n";
        let load = Load { requests: 96508, requests_per_second: 48012.51, p99_ms: 3.5, errors: 7, cpu_us: 0.0 };
        assert_eq!(parse(text), Some(load));
        assert_eq!(parse("unable to connect"), None);
        assert_eq!(milliseconds("300.00us"), Some(0.3));
    }

    #[test]
    fn processor_time_is_read_behind_the_name() {
        assert_eq!(cpu_ticks("12 (a) b) S 1 12 12 0 -1 4194304 100 0 0 0 30 12 0 0 20 0 3 0 1 1 1"), 42);
    }
}
