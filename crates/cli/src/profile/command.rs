//! `saki profile`: runs a program under the sampler and writes the profile; shows and compares such files.
//!
//! Invariant: a profile that cannot be written is a message, never the program's failure. Left out: sampling
//! (`saki_sampler`) and file formats (`saki_profile`).

use crate::control_socket::answer_client;
use crate::output_format::about_jitdump;
use crate::profile;
use crate::profile::request::ProfileRequest;
use crate::program_words;
use saki_base::locks::{Mutex, MutexGuard, rank};
use saki_base::{messages, tell};
use saki_os::ExitStage;
use saki_os::services::{self, Service};
use saki_profile::diff::Changes;
use saki_profile::{Profile, table};
use saki_runtime::vm::profile_events;
use saki_sampler::Sampled;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A profile that is being made.
struct Session {
    number: u64,
    request: ProfileRequest,
    /// Without ending.
    base: PathBuf,
    /// Who is told of the end; None: standard error.
    client: Option<UnixStream>,
}

/// Held while a profile begins, which may stop the world: waited for in a safe region.
static SESSION: Mutex<rank::ProfileSession, Option<Session>> = Mutex::new(None);

fn session() -> MutexGuard<'static, rank::ProfileSession, Option<Session>> {
    SESSION.lock()
}

/// Begins to profile the program that is about to run; the files are written when the process ends, or after the
/// duration that was asked for. The heap snapshot is taken then, too, after the profiles have ended: before the
/// handlers of ProcessExit run, so that it shows the objects that the program itself has left. Before `Main`, on its
/// thread.
///
/// # Errors
/// The sampler's, or the system's for a thread.
pub fn begin(request: &ProfileRequest) -> Result<(), String> {
    // A client may ask for a profile at the same time: while this thread waits for it, it counts as stopped.
    let begin = || start(request, None);
    let number = if request.kinds.is_empty() { None } else { Some(saki_thread::blocking(begin)?) };
    if let Some(heap) = &request.heap {
        profile::heap_command::begin(heap);
    }
    if let Some(duration) = request.duration {
        services::machine()
            .start(Service::ProfileEnd, move || {
                if !services::machine().pause(duration) {
                    // The end of the process ends the profiles.
                    return;
                }
                if number.is_some() {
                    end(number);
                }
                profile::heap_command::take_requested();
            })
            .map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// The program is over: where its heap is wanted, ends the profiles and takes the snapshot; shows its leaked
/// threads where they are wanted.
pub fn before_exit() {
    if profile::heap_command::is_requested() {
        end_current();
        profile::heap_command::take_requested();
    }
    profile::leaked_threads::show_requested();
}

/// Ends the profile of this number, or the current one, writes it and says so to whoever asked for it, unless it has
/// ended already.
pub fn end(number: Option<u64>) {
    let ended = session().take_if(|session| number.is_none_or(|number| number == session.number));
    let Some(mut ended) = ended else { return };
    let client = ended.client.take();
    let Some(Written { is_whole, text }) = write(ended) else { return };
    match client {
        // An error means that the client is gone; the files are there.
        Some(client) => drop(answer_client(&client, is_whole, &text)),
        None => messages::tell(format_args!("{text}")),
    }
}

/// Registers that a profile which is still being made when the process ends is written then.
fn end_with_process() {
    saki_os::at_exit(ExitStage::Profile, end_current);
}

/// Ends the current profile, on a thread of the program's. It counts as stopped while it waits for other threads here.
fn end_current() {
    saki_thread::blocking(|| end(None));
}

/// Begins a profile; its number.
///
/// # Errors
/// There is one already, or the sampler's.
pub fn start(request: &ProfileRequest, client: Option<UnixStream>) -> Result<u64, String> {
    static SESSIONS: AtomicU64 = AtomicU64::new(0);
    let mut session = session();
    if session.is_some() {
        return Err("a profile is being made already".into());
    }
    let base = PathBuf::from(format!("{}.{}", program_words::file_stem(), request.file_word()));
    profile_events::begin(request.events(), request.alloc_bytes);
    saki_sampler::start(request.session(&program_words::title()), saki_runtime::vm::profile_frames::resolve)
        .map_err(|e| e.to_string())?;
    // Relaxed: under the lock.
    let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
    end_with_process();
    *session = Some(Session { number, request: request.clone(), base, client });
    Ok(number)
}

/// What became of a profile.
struct Written {
    /// No file is missing.
    is_whole: bool,
    text: String,
}

/// Stops sampling, and writes the files.
fn write(ended: Session) -> Option<Written> {
    profile_events::end();
    let Sampled { profiles, threads_not_sampled, reader_ns } = saki_sampler::stop()?;
    let tables: Vec<String> = profiles.iter().map(|profile| table::top(profile, table::ROWS)).collect();
    let mut text = tables.join("\n");
    if threads_not_sampled > 0 {
        text +=
            &format!("{threads_not_sampled} threads could not be sampled: the system has no more timers (ulimit -i)\n");
    }
    text += &format!("reading samples took {:.1} ms of a processor\n", reader_ns as f64 / 1e6);
    let mut is_whole = true;
    let is_single = ended.request.formats.len() == 1;
    for format in &ended.request.formats {
        let path = match &ended.request.output {
            Some(path) if is_single => path.clone(),
            path => with_ending(path.as_ref().unwrap_or(&ended.base), format.extension()),
        };
        text += &match profile::file::write(&path, &saki_profile::write(&profiles, *format)) {
            Ok(()) => format!("profile: {}\n", profile::file::shown(&path)),
            Err(error) => {
                is_whole = false;
                format!("saki: the profile was not written: {error}\n")
            }
        };
    }
    text.extend(ended.request.jitdump.as_deref().map(about_jitdump));
    Some(Written { is_whole, text })
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
/// It is not a profile.
pub fn view(path: &Path, contents: &[u8]) -> Result<(), String> {
    for profile in read(path, contents)? {
        let (top, tree) = (table::top(&profile, table::ROWS), table::tree(&profile));
        messages::answer(format_args!("{top}\n{tree}"));
    }
    Ok(())
}

/// `saki profile diff`: which functions' shares changed, and a page of both, or a flame graph of the second profile
/// with the changes in colour.
///
/// # Errors
/// A file cannot be written, or is not a profile.
pub fn compare(before: (&Path, &[u8]), after: (&Path, &[u8]), output: Option<&Path>) -> Result<(), String> {
    let changes = Changes::between_files(read(before.0, before.1)?, read(after.0, after.1)?)?;
    // The graph alone goes to standard output where both would.
    let say = if output.is_some_and(profile::file::is_standard_output) { messages::tell } else { messages::answer };
    for changes in &changes {
        say(format_args!("{}", changes.table(table::ROWS)));
    }
    if let Some(path) = output {
        let is_page = profile::heap_command::is_page_name(path);
        let text = if is_page { Changes::page(&changes) } else { Changes::flame_graph(&changes) };
        profile::file::write(path, text.as_bytes()).map_err(|error| error.to_string())?;
        let what = if is_page { "page of the changes" } else { "differential flame graph" };
        tell!("{what}: {}", profile::file::shown(path));
    }
    Ok(())
}

fn read(path: &Path, contents: &[u8]) -> Result<Vec<Profile>, String> {
    saki_profile::read_named(contents, &path.to_string_lossy()).map_err(|error| format!("{}: {error}", path.display()))
}
