//! `saki profile`: runs a program under the sampler and writes the profile; shows and compares such files.
//!
//! Invariant: a profile that cannot be written is a message, never the program's failure. Left out: sampling
//! (`saki_sampler`) and file formats (`saki_profile`).

use crate::heap_command;
use crate::output_format::about_jitdump;
use crate::profile_request::ProfileRequest;
use crate::program_words;
use saki_base::{messages, tell};
use saki_os::ExitStage;
use saki_profile::diff::Changes;
use saki_profile::{Profile, files, table};
use saki_runtime::profile_events;
use saki_sampler::Sampled;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// A profile that is being made.
struct Session {
    number: u64,
    request: ProfileRequest,
    /// Without ending.
    base: PathBuf,
}

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

fn session() -> MutexGuard<'static, Option<Session>> {
    SESSION.lock().unwrap_or_else(|error| error.into_inner())
}

/// Begins to profile the program that is about to run; the files are written when the process ends, or after the duration that was asked for. The heap
/// snapshot is taken then, too, after the profiles have ended: before the handlers of ProcessExit run, so that it shows the objects that the program
/// itself has left. Before `Main`, on its thread.
///
/// # Errors
/// The sampler's, or the system's for a thread.
pub fn begin(request: &ProfileRequest) -> Result<(), String> {
    let number = if request.kinds.is_empty() { None } else { Some(start(request)?) };
    if let Some(heap) = &request.heap {
        heap_command::begin(heap);
    }
    if let Some(duration) = request.duration {
        saki_os::thread::start_service("profile-end", move || {
            std::thread::sleep(duration);
            if number.is_some() {
                end(number);
            }
            heap_command::take_requested();
        })
        .map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// The program is over: where its heap is wanted, ends the profiles and takes the snapshot.
pub fn before_exit() {
    if heap_command::is_requested() {
        // This thread counts as stopped while it waits for other threads here.
        saki_thread::blocking(|| end(None));
        heap_command::take_requested();
    }
}

/// Calls `finish` and prints its message.
fn end(number: Option<u64>) {
    if let Some(text) = finish(number) {
        messages::tell(format_args!("{text}"));
    }
}

/// Registers that a profile which is still being made when the process ends is written then.
fn end_with_process() {
    saki_os::at_exit(ExitStage::Profile, || end(None));
}

/// Begins a profile; its number.
///
/// # Errors
/// There is one already, or the sampler's.
pub fn start(request: &ProfileRequest) -> Result<u64, String> {
    static SESSIONS: AtomicU64 = AtomicU64::new(0);
    let mut session = session();
    if session.is_some() {
        return Err("a profile is being made already".into());
    }
    let base = PathBuf::from(format!("{}.{}", program_words::file_stem(), request.file_word()));
    profile_events::begin(request.events(), request.alloc_bytes);
    saki_sampler::start(request.session(&program_words::title()), saki_runtime::profile_frames::resolve)
        .map_err(|e| e.to_string())?;
    // Relaxed: under the lock.
    let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
    end_with_process();
    *session = Some(Session { number, request: request.clone(), base });
    Ok(number)
}

/// Ends the profile of this number, or the current one, and writes it; returns the message about it. None if it has ended already.
pub fn finish(number: Option<u64>) -> Option<String> {
    let ended = session().take_if(|session| number.is_none_or(|number| number == session.number))?;
    profile_events::end();
    let Sampled { profiles, threads_not_sampled, reader_ns } = saki_sampler::stop()?;
    let tables: Vec<String> = profiles.iter().map(|profile| table::top(profile, table::ROWS)).collect();
    let mut text = tables.join("\n");
    if threads_not_sampled > 0 {
        text +=
            &format!("{threads_not_sampled} threads could not be sampled: the system has no more timers (ulimit -i)\n");
    }
    text += &format!("reading samples took {:.1} ms of a processor\n", reader_ns as f64 / 1e6);
    let is_single = ended.request.formats.len() == 1;
    for format in &ended.request.formats {
        let path = match &ended.request.output {
            Some(path) if is_single => path.clone(),
            path => with_ending(path.as_ref().unwrap_or(&ended.base), format.extension()),
        };
        text += &match files::write(&path, &saki_profile::write(&profiles, *format)) {
            Ok(()) => format!("profile: {}\n", path.display()),
            Err(error) => format!("saki: the profile was not written: {error}\n"),
        };
    }
    text.extend(ended.request.jitdump.as_deref().map(about_jitdump));
    Some(text)
}

fn with_ending(base: &Path, ending: &str) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// `saki profile view`: the top and the call tree.
///
/// # Errors
/// The file cannot be read, or is no profile.
pub fn view(path: &Path) -> Result<(), String> {
    for profile in read(path)? {
        let (top, tree) = (table::top(&profile, table::ROWS), table::tree(&profile));
        messages::answer(format_args!("{top}\n{tree}"));
    }
    Ok(())
}

/// `saki profile diff`: which functions' shares changed, and a page of both, or a flame graph of the second profile with the changes in colour.
///
/// # Errors
/// A file cannot be read or written, or is no profile.
pub fn compare(before: &Path, after: &Path, output: Option<&Path>) -> Result<(), String> {
    let changes = Changes::between_files(read(before)?, read(after)?)?;
    for changes in &changes {
        messages::answer(format_args!("{}", changes.table(table::ROWS)));
    }
    if let Some(path) = output {
        let is_page = heap_command::is_page_name(path);
        let text = if is_page { Changes::page(&changes) } else { Changes::flame_graph(&changes) };
        files::write(path, text.as_bytes()).map_err(|error| error.to_string())?;
        tell!("{}: {}", if is_page { "page of the changes" } else { "differential flame graph" }, path.display());
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<Profile>, String> {
    let contents = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    saki_profile::read_named(&contents, &path.to_string_lossy()).map_err(|error| format!("{}: {error}", path.display()))
}
