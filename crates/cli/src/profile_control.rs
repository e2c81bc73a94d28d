//! `saki profile KIND --pid PID`: profiles a running process, and serves such requests in that process.
//!
//! ```text
//! client                                       process
//! ProfileRequest, one line              →      begins
//!                                       ←      "profiling", or "error: …"
//! "stop", or its end, or the duration   →      ends, writes the files
//!                                       ←      what is to be said, to the end of the stream
//! ```
//!
//! Requests for heap snapshots go the same way (`heap_command`). Left out: how the two find and trust each other (`control_socket`).

use crate::control_socket::{Notice, ask, waiting_client};
use crate::heap_command;
use crate::profile_command;
use crate::profile_request::ProfileRequest;
use saki_base::messages;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// The maximum length of a request.
const MAX_REQUEST_BYTES: u64 = 16 << 10;

/// For the thread of dumps: whether a client waits for this process; a new thread then serves it.
pub fn serve_request() -> bool {
    let Some(stream) = waiting_client() else { return false };
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
        let text = ask(process, &request.to_string(), Notice::Profiling(request.duration))?;
        messages::tell(format_args!("{text}"));
    }
    match heap {
        Some(heap) => heap_command::attach(process, &heap, request.duration.filter(|_| !has_profiles)),
        None => Ok(()),
    }
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
