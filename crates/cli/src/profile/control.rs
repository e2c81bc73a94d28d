//! `saki profile KIND --pid PID`: profiles a running process, and serves such requests in that process.
//!
//! ```text
//! client                                       process
//! "profile", ProfileRequest, file       →      begins
//!                                       ←      "profiling", or "error: …"
//! "stop", or its end, or the duration   →      ends, writes the files
//!                                       ←      whether all were written, and what is to be said, to the end of the stream
//! ```
//!
//! A program that ends meanwhile answers, too. Where the profile is to go to standard output, which is the client's,
//! the process writes a file for the client.
//!
//! Requests for heap snapshots and leaked threads go the same way (`profile::heap_command`,
//! `profile::leaked_threads`). Left out: how the two find and trust each other (`control_socket`).

use crate::control_socket::{ControlRequest, Notice, ask, waiting_client};
use crate::counters;
use crate::profile;
use crate::profile::file::in_temporary_folder;
use crate::profile::request::ProfileRequest;
use saki_base::messages;
use saki_os::services::{self, Service};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The word of a request for profiles.
const REQUEST_WORD: &str = "profile";

/// For the thread of dumps: whether a client waits for this process; a new thread then serves it.
pub fn serve_request() -> bool {
    let Some(stream) = waiting_client() else { return false };
    let started = services::machine().start(Service::ProfileControl, move || {
        // An error means that the client is gone, so there is no one to report it to.
        let _ = serve(stream);
    });
    started.is_ok()
}

fn serve(mut stream: UnixStream) -> io::Result<()> {
    let ControlRequest { word, settings, output } = ControlRequest::read(&stream)?;
    match &*word {
        REQUEST_WORD => {}
        profile::heap_command::REQUEST_WORD => return profile::heap_command::serve(stream, &settings, &output),
        profile::leaked_threads::REQUEST_WORD => return profile::leaked_threads::serve(stream),
        counters::REQUEST_WORD => return counters::serve(stream, &settings),
        _ => return writeln!(stream, "error: '{word}' is no request"),
    }
    let client = stream.try_clone()?;
    let begun = settings.parse::<ProfileRequest>().and_then(|request| {
        let request = ProfileRequest { output: Some(output), ..request };
        profile::command::start(&request, Some(client)).map(|number| (number, request.duration))
    });
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
    profile::command::end(Some(number));
    Ok(())
}

/// Profiles the process, and prints its answer; then takes a heap snapshot, if that is asked for too.
///
/// # Errors
/// The process does not run Saki, or refuses.
pub fn attach(process: u32, request: &ProfileRequest) -> Result<(), String> {
    let mut request = request.clone();
    let heap = request.heap.take();
    let has_profiles = !request.kinds.is_empty();
    if has_profiles {
        match request.output.take_if(|output| profile::file::is_standard_output(output)) {
            Some(_) => in_temporary_folder(|folder| {
                request.output = Some(folder.join(request.file_word()));
                ask_for_profiles(process, &request)?;
                pass_on(request.output.as_deref().unwrap_or(folder))
            })?,
            None => {
                request.output = Some(output_of(process, &request)?);
                ask_for_profiles(process, &request)?;
            }
        }
    }
    match heap {
        Some(heap) => profile::heap_command::attach(process, &heap, request.duration.filter(|_| !has_profiles)),
        None => Ok(()),
    }
}

/// Writes what the process has written for this one.
fn pass_on(path: &Path) -> Result<(), String> {
    let contents = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    messages::answer_by(|out| out.write_all(&contents));
    Ok(())
}

fn ask_for_profiles(process: u32, request: &ProfileRequest) -> Result<(), String> {
    let settings = ProfileRequest { output: None, ..request.clone() }.to_string();
    let output = request.output.clone().unwrap_or_default();
    let question = ControlRequest { word: REQUEST_WORD.to_owned(), settings, output };
    let answer = ask(process, &question, Notice::Profiling(request.duration))?;
    messages::tell(format_args!("{}", answer.text));
    if answer.is_done { Ok(()) } else { Err(format!("process {process} has not written all that was asked for")) }
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
