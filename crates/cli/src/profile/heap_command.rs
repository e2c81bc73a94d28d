//! `saki profile heap`: takes heap snapshots, writes them, and reports what keeps objects alive.
//!
//! The observed process only makes the graph, and at its end or on request writes it; with `--pid` the client reads the
//! file and does the analysis, so that a large process does not grow further by being observed. Invariant: a snapshot
//! that cannot be taken or written is a message, never the program's failure. Left out: the graph
//! (`saki_profile::heap`) and its names (`saki_runtime::vm::heap_snapshot`).

use crate::control_socket::{ControlRequest, Notice, answer_client, ask};
use crate::profile;
use crate::profile::file::in_temporary_folder;
use crate::profile::heap_request::{HeapFormat, HeapRequest};
use crate::program_words;
use crate::quantities::parse_seconds;
use saki_base::{answer, messages, tell};
use saki_os::ExitStage;
use saki_profile::files;
use saki_profile::heap::{Analysis, HeapGraph, file, html, report};
use saki_runtime::vm::heap_snapshot;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The word of a request to a running process; its settings are the seconds to wait.
pub const REQUEST_WORD: &str = "heap";

/// More than the frames below take: 128 KiB.
const STALE_WORDS: usize = 16 << 10;

static REQUEST: OnceLock<HeapRequest> = OnceLock::new();
/// A thread is taking the snapshot of `REQUEST`, or has taken it. Relaxed: the swap picks one thread; `REQUEST` is a
/// `OnceLock`, which orders its content.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// A snapshot of the program that is about to run is to be taken, by `take_requested`.
pub fn begin(request: &HeapRequest) {
    let _ = REQUEST.set(request.clone());
    saki_os::at_exit(ExitStage::HeapSnapshot, at_exit);
}

/// Whether `begin` was called.
pub fn is_requested() -> bool {
    REQUEST.get().is_some()
}

fn at_exit() {
    // Relaxed: a plain flag.
    if !IS_TAKEN.load(Ordering::Relaxed) {
        tell!("saki: the program ended otherwise than by its end, so there is no heap snapshot");
    }
}

/// Takes the snapshot that `begin` noted, once.
pub fn take_requested() {
    let Some(request) = REQUEST.get() else { return };
    if IS_TAKEN.swap(true, Ordering::Relaxed) {
        return;
    }
    let base = PathBuf::from(program_words::file_stem());
    clear_stale_words();
    match heap_snapshot::take(&program_words::title()) {
        Ok(graph) => messages::tell(format_args!("{}", finish(graph, request, &base))),
        Err(error) => tell!("saki: no heap snapshot: {error}"),
    }
}

/// Zeroes the stack below, so that words left there by the program's last calls are not roots: later frames do not
/// overwrite all of their words.
#[inline(never)]
fn clear_stale_words() {
    let mut words = [0_u64; STALE_WORDS];
    std::hint::black_box(&mut words);
}

/// Writes the files of a snapshot, and returns the report of it.
fn finish(mut graph: HeapGraph, request: &HeapRequest, base: &Path) -> String {
    // First, because the file must hold all that was found.
    let is_heap = |format: &&HeapFormat| **format == HeapFormat::Heap;
    let mut files = request
        .formats
        .iter()
        .filter(is_heap)
        .map(|&format| write_file(&graph, format, None, request, base))
        .collect::<String>();
    graph.prefer_lasting_roots();
    let analysis = Analysis::of(&graph);
    let mut text = report::table(&graph, &analysis);
    for name in &request.why {
        text += &match report::why(&graph, &analysis, name) {
            Ok(reasons) => format!("\n{reasons}"),
            Err(error) => format!("\nsaki: {error}\n"),
        };
    }
    let others = request.formats.iter().filter(|format| !is_heap(format));
    files.extend(others.map(|&format| write_file(&graph, format, Some(&analysis), request, base)));
    text + &files
}

/// Writes a file; returns the message about it.
fn write_file(
    graph: &HeapGraph,
    format: HeapFormat,
    analysis: Option<&Analysis>,
    request: &HeapRequest,
    base: &Path,
) -> String {
    let path = request.path_of(format, base);
    let written = match analysis {
        Some(analysis) => profile::file::write(&path, html::write(graph, analysis).as_bytes()),
        None => profile::file::write_with(&path, |out| file::write(graph, out)),
    };
    match written {
        Ok(()) => format!("heap snapshot: {}\n", profile::file::shown(&path)),
        Err(error) => format!("saki: the heap snapshot was not written: {error}\n"),
    }
}

/// `--pid`: makes the process write its snapshot, at once or after the duration, reads it and prints the report.
///
/// # Errors
/// The process cannot be asked, or refuses; the file cannot be read.
pub fn attach(process: u32, request: &HeapRequest, duration: Option<Duration>) -> Result<(), String> {
    let base = PathBuf::from(format!("saki-{process}"));
    let notice = duration.map_or(Notice::Silent, Notice::Waiting);
    let fetch = |path: &Path| {
        let seconds = duration.map_or(0.0, |duration| duration.as_secs_f64());
        let question =
            ControlRequest { word: REQUEST_WORD.to_owned(), settings: seconds.to_string(), output: path.to_owned() };
        let answer = ask(process, &question, notice)?;
        if !answer.is_done {
            return Err(format!("process {process}: {}", answer.text.trim_end()));
        }
        read(path, &profile::file::read(path)?)
    };
    let goes_to_output = request.output.as_deref().is_some_and(profile::file::is_standard_output);
    if goes_to_output || !request.formats.contains(&HeapFormat::Heap) {
        // A file only passes the snapshot from the process to this one.
        let graph = in_temporary_folder(|folder| fetch(&folder.join("heap")))?;
        let report = finish(graph, request, &base);
        let say = if goes_to_output { messages::tell } else { messages::answer };
        say(format_args!("{report}"));
        return Ok(());
    }
    let path = request.path_of(HeapFormat::Heap, &base);
    let path = std::path::absolute(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let graph = fetch(&path)?;
    answer!("heap snapshot: {}", path.display());
    let formats = request.formats.iter().copied().filter(|&format| format != HeapFormat::Heap).collect();
    // The names are made of all formats, but the file is there already.
    let output = request.output.clone().filter(|_| request.formats.len() == 1);
    let base = request.output.clone().unwrap_or(base);
    let report = finish(graph, &HeapRequest { formats, output, ..request.clone() }, &base);
    messages::answer(format_args!("{report}"));
    Ok(())
}

/// In the process.
pub fn serve(mut stream: UnixStream, seconds: &str, path: &Path) -> io::Result<()> {
    let duration = parse_seconds(seconds).ok();
    writeln!(stream, "profiling")?;
    if duration.is_some() && stream.set_read_timeout(duration).is_ok() {
        // "stop", the end of the stream, or no more time.
        let _ = stream.read(&mut [0; 16]);
    }
    let graph = heap_snapshot::take(&program_words::title());
    let written = graph
        .and_then(|graph| files::write_with(path, |out| file::write(&graph, out)).map_err(|error| error.to_string()));
    match written {
        Ok(()) => answer_client(&stream, true, ""),
        Err(error) => answer_client(&stream, false, &error),
    }
}

/// `saki profile view`.
///
/// # Errors
/// The contents are damaged; no such type.
pub fn view(path: &Path, contents: &[u8], why: &[String]) -> Result<(), String> {
    let mut graph = read(path, contents)?;
    graph.prefer_lasting_roots();
    let analysis = Analysis::of(&graph);
    let mut text = if why.is_empty() { report::table(&graph, &analysis) } else { String::new() };
    for (index, name) in why.iter().enumerate() {
        text += if index > 0 { "\n" } else { "" };
        text += &report::why(&graph, &analysis, name)?;
    }
    messages::answer(format_args!("{text}"));
    Ok(())
}

/// Whether a file of this name is to be a page for browsers.
pub fn is_page_name(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"))
}

/// `saki profile diff` of two snapshots, with a page if there is an output.
///
/// # Errors
/// A file cannot be written, or the contents are damaged.
pub fn compare(before: (&Path, &[u8]), after: (&Path, &[u8]), output: Option<&Path>) -> Result<(), String> {
    let (before, mut after) = (read(before.0, before.1)?, read(after.0, after.1)?);
    // The page alone goes to standard output where both would.
    let say = if output.is_some_and(profile::file::is_standard_output) { messages::tell } else { messages::answer };
    say(format_args!("{}", report::growth(&before, &after)));
    if let Some(path) = output {
        after.prefer_lasting_roots();
        let page = html::write_growth(&before, &after);
        profile::file::write(path, page.as_bytes()).map_err(|error| error.to_string())?;
        tell!("page of the changes: {}", profile::file::shown(path));
    }
    Ok(())
}

fn read(path: &Path, contents: &[u8]) -> Result<HeapGraph, String> {
    file::read(contents).map_err(|error| format!("{}: {error}", path.display()))
}
