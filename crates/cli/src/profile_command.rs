//! `saki profile`: runs a program under the sampler and writes what was found; shows and compares such files.
//!
//! Invariant: a profile that cannot be written is a message, never the program's failure. Left out: how samples are taken
//! (`saki_sampler`), and the files (`saki_profile`).

use crate::options::{Options, parse_size};
use crate::output_format::about_jitdump;
use saki_os::{ExitStage, TimerClock};
use saki_profile::diff::Changes;
use saki_profile::{Format, Profile, Unit, files, table};
use saki_runtime::profile_events;
use saki_sampler::{EventKind, Kinds, Recording, Sampled, What};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Processor time of each thread.
    Cpu,
    /// What every thread does at each moment, waiting included.
    Wall,
    /// Allocated bytes.
    Alloc,
    /// Waits for locks.
    Lock,
    Exceptions,
    /// Pauses of collections.
    Gc,
    /// Calls that wait for files, pipes and sockets.
    Io,
    /// Green threads that could run and did not.
    Sched,
    /// Time of compilations.
    Jit,
    /// Compiled code.
    Code,
    /// Types used for the first time.
    Load,
    /// Starts and ends of threads.
    Threads,
    /// GC handles.
    Handles,
}

impl Kind {
    pub const ALL: [Kind; 13] = [
        Kind::Cpu,
        Kind::Wall,
        Kind::Alloc,
        Kind::Lock,
        Kind::Exceptions,
        Kind::Gc,
        Kind::Io,
        Kind::Sched,
        Kind::Jit,
        Kind::Code,
        Kind::Load,
        Kind::Threads,
        Kind::Handles,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Cpu => "cpu",
            Kind::Wall => "wall",
            Kind::Alloc => "alloc",
            Kind::Lock => "lock",
            Kind::Exceptions => "exceptions",
            Kind::Gc => "gc",
            Kind::Io => "io",
            Kind::Sched => "sched",
            Kind::Jit => "jit",
            Kind::Code => "code",
            Kind::Load => "load",
            Kind::Threads => "threads",
            Kind::Handles => "handles",
        }
    }

    /// For the help.
    pub fn about(self) -> &'static str {
        match self {
            Kind::Cpu => "processor time of each thread, sampled",
            Kind::Wall => "what every thread does at each moment, whether it runs or waits, sampled",
            Kind::Alloc => "allocated bytes, sampled",
            Kind::Lock => "time that threads waited for locks",
            Kind::Exceptions => "exceptions that were thrown",
            Kind::Gc => "time that collections stopped the program",
            Kind::Io => "time that calls to files, pipes, terminals and sockets took",
            Kind::Sched => "time that green threads could have run and waited for their turn",
            Kind::Jit => "time until methods had their code, by compiler",
            Kind::Code => "bytes of compiled code, by method and compiler",
            Kind::Load => "types that were used for the first time",
            Kind::Threads => "threads that were started or ended",
            Kind::Handles => "GC handles that were created or freed",
        }
    }

    fn unit(self) -> Unit {
        match self {
            Kind::Cpu | Kind::Wall | Kind::Lock | Kind::Gc | Kind::Io | Kind::Sched | Kind::Jit => Unit::Nanoseconds,
            Kind::Alloc | Kind::Code => Unit::Bytes,
            Kind::Exceptions | Kind::Load | Kind::Threads | Kind::Handles => Unit::Count,
        }
    }

    fn what(self) -> What {
        What::Events(match self {
            Kind::Cpu => return What::Cpu,
            Kind::Wall => return What::Wall,
            Kind::Code => return What::CodeBytes,
            Kind::Alloc => Kinds::of(&[EventKind::Allocation]),
            Kind::Lock => Kinds::of(&[EventKind::LockWait]),
            Kind::Exceptions => Kinds::of(&[EventKind::Exception]),
            Kind::Gc => Kinds::of(&[EventKind::Collection]),
            Kind::Io => Kinds::of(&[EventKind::IoWait]),
            Kind::Sched => Kinds::of(&[EventKind::Dispatch]),
            Kind::Jit => Kinds::of(&[EventKind::Compilation]),
            Kind::Load => Kinds::of(&[EventKind::TypeLoad]),
            Kind::Threads => Kinds::of(&[EventKind::ThreadStart, EventKind::ThreadEnd]),
            Kind::Handles => Kinds::of(&[EventKind::HandleCreated, EventKind::HandleFreed]),
        })
    }
}

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Kind, String> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            format!("'{name}' is not one of {}", names.join(", "))
        })
    }
}

/// Reads a list of kinds with commas between them.
///
/// # Errors
/// What is wrong with it.
pub fn parse_kinds(text: &str) -> Result<Vec<Kind>, String> {
    text.split(',').map(str::parse).collect()
}

/// Samples a second, unless asked otherwise: a thousandth of a processor, at some microseconds each.
const DEFAULT_HZ: u32 = 1000;
/// By the clock on the wall all threads are looked at, which costs more.
const DEFAULT_WALL_HZ: u32 = 100;
/// Bytes between two samples of allocations, on average: 2,000 samples for each gigabyte.
pub const DEFAULT_ALLOC_BYTES: usize = 512 << 10;
/// More than that the sampler itself would take most of the time.
const MAX_HZ: u32 = 100_000;

/// What profile is wanted of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct ProfileRequest {
    /// Each once, at least one; a profile each.
    pub kinds: Vec<Kind>,
    /// None: as suits the kind.
    pub hz: Option<u32>,
    /// Bytes between two samples of allocations.
    pub alloc_bytes: usize,
    /// The program goes on without it after so long.
    pub duration: Option<Duration>,
    pub formats: Vec<Format>,
    /// Of several formats each gets its ending.
    pub output: Option<PathBuf>,
    /// The folder of the jitdump that is written, too; not for processes that run already.
    pub jitdump: Option<PathBuf>,
    /// Test aid: signals by wall time, to threads that wait as well, and as often as asked.
    pub storm: bool,
}

impl ProfileRequest {
    pub fn new(kinds: &[Kind]) -> ProfileRequest {
        let mut once = Vec::new();
        kinds.iter().for_each(|kind| {
            if !once.contains(kind) {
                once.push(*kind);
            }
        });
        ProfileRequest {
            kinds: once,
            hz: None,
            alloc_bytes: DEFAULT_ALLOC_BYTES,
            duration: None,
            formats: vec![Format::Html],
            output: None,
            jitdump: None,
            storm: false,
        }
    }

    /// "cpu,alloc".
    pub fn kind_names(&self) -> String {
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        names.join(",")
    }

    /// What names of files say of the kinds.
    pub fn file_word(&self) -> &'static str {
        if let [kind] = self.kinds[..] { kind.name() } else { "profile" }
    }

    fn hz_of(&self, kind: Kind) -> u32 {
        self.hz.unwrap_or(if kind == Kind::Wall { DEFAULT_WALL_HZ } else { DEFAULT_HZ })
    }

    /// Events of all kinds.
    fn events(&self) -> Kinds {
        self.kinds.iter().fold(Kinds::NONE, |events, kind| match kind.what() {
            What::Events(kinds) => events.with(kinds),
            What::CodeBytes => events.with(Kinds::of(&[EventKind::Compilation])),
            What::Cpu | What::Wall => events,
        })
    }

    /// A session of the sampler.
    fn session(&self, title: &str) -> saki_sampler::Session {
        let start_unix_ns = saki_os::clock::realtime_ns();
        let recordings = self.kinds.iter().map(|&kind| {
            let period = match kind.what() {
                What::Cpu | What::Wall => saki_sampler::interval(self.hz_of(kind)).as_nanos() as u64,
                What::Events(_) if kind == Kind::Alloc => self.alloc_bytes as u64,
                What::Events(_) | What::CodeBytes => 1,
            };
            let (name, unit, title) = (kind.name().into(), kind.unit(), title.to_owned());
            let profile = Profile { kind: name, unit, period, title, start_unix_ns, ..Profile::default() };
            Recording { what: kind.what(), profile }
        });
        let has = |kind| self.kinds.contains(&kind);
        let clock = if self.storm { TimerClock::Monotonic } else { TimerClock::ThreadCpu };
        saki_sampler::Session {
            timers: has(Kind::Cpu).then(|| (clock, self.hz_of(Kind::Cpu))),
            wall_hz: has(Kind::Wall).then(|| self.hz_of(Kind::Wall)),
            events: self.events(),
            recordings: recordings.collect(),
            consumer: None,
        }
    }
}

/// A number of samples a second.
///
/// # Errors
/// What is wrong with it.
pub fn parse_hz(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(hz @ 1..=MAX_HZ) => Ok(hz),
        _ => Err(format!("'{text}' is no number from 1 to {MAX_HZ}")),
    }
}

/// Seconds, also parts of one.
///
/// # Errors
/// What is wrong with it.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    seconds.filter(|duration| !duration.is_zero()).ok_or_else(|| format!("'{text}' is no number of seconds"))
}

impl std::str::FromStr for ProfileRequest {
    type Err = String;

    /// As in `SAKI_PROFILE`: `KIND[,KIND]…[,hz=N][,bytes=SIZE][,duration=SECONDS][,format=NAME]…[,storm][,output=FILE]`.
    fn from_str(text: &str) -> Result<ProfileRequest, String> {
        // The file comes last, and may have commas in its name.
        let (text, output) = text.split_once(",output=").map_or((text, None), |(text, path)| (text, Some(path)));
        let (kinds, words): (Vec<&str>, Vec<&str>) = text.split(',').partition(|word| word.parse::<Kind>().is_ok());
        // Without a kind the first word is to blame.
        let kinds = parse_kinds(&if kinds.is_empty() { words[0].to_owned() } else { kinds.join(",") })?;
        let mut request = ProfileRequest { formats: Vec::new(), ..ProfileRequest::new(&kinds) };
        for word in words {
            match word.split_once('=') {
                Some(("hz", value)) => request.hz = Some(parse_hz(value)?),
                Some(("bytes", value)) => request.alloc_bytes = parse_size(value)?.max(1),
                Some(("duration", value)) => request.duration = Some(parse_seconds(value)?),
                Some(("format", value)) => request.formats.push(value.parse().map_err(|e| format!("{e}"))?),
                None if word == "storm" => request.storm = true,
                _ => {
                    return Err(format!(
                        "'{word}' is not one of hz=N, bytes=SIZE, duration=SECONDS, format=NAME, output=FILE"
                    ));
                }
            }
        }
        request.output = output.filter(|path| !path.is_empty()).map(PathBuf::from);
        if request.formats.is_empty() {
            request.formats.push(Format::Html);
        }
        Ok(request)
    }
}

impl std::fmt::Display for ProfileRequest {
    /// What `from_str` reads.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},bytes={}", self.kind_names(), self.alloc_bytes)?;
        if let Some(hz) = self.hz {
            write!(f, ",hz={hz}")?;
        }
        if let Some(duration) = self.duration {
            write!(f, ",duration={}", duration.as_secs_f64())?;
        }
        for format in &self.formats {
            write!(f, ",format={}", format.name())?;
        }
        if self.storm {
            f.write_str(",storm")?;
        }
        match &self.output {
            Some(output) => write!(f, ",output={}", output.display()),
            None => Ok(()),
        }
    }
}

/// A profile that is being made.
struct Session {
    number: u64,
    request: ProfileRequest,
    /// Without ending.
    base: PathBuf,
}

static SESSION: Mutex<Option<Session>> = Mutex::new(None);
/// The program's command line, for titles and names of files.
static COMMAND: OnceLock<Vec<String>> = OnceLock::new();

fn session() -> MutexGuard<'static, Option<Session>> {
    SESSION.lock().unwrap_or_else(|error| error.into_inner())
}

/// Begins to profile the program that is about to run; the files are written when the process ends, or after the duration that was asked for.
/// Before `Main`, on its thread.
///
/// # Errors
/// The sampler's.
pub fn begin(request: &ProfileRequest) -> Result<(), String> {
    let number = start(request)?;
    if let Some(duration) = request.duration {
        saki_os::thread::start_service("profile-end", move || {
            std::thread::sleep(duration);
            if let Some(text) = finish(Some(number)) {
                eprint!("{text}");
            }
        })
        .map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Has a profile that is still being made when the process ends written then.
fn end_with_process() {
    saki_os::at_exit(ExitStage::Profile, || {
        if let Some(text) = finish(None) {
            eprint!("{text}");
        }
    });
}

/// Remembers what the program is called.
pub fn remember(options: &Options) {
    let _ = COMMAND.set(options.command.clone());
}

/// What `remember` was told.
pub fn command_line() -> &'static [String] {
    COMMAND.get().map_or(&[], Vec::as_slice)
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
    let command = COMMAND.get().map_or(&[][..], Vec::as_slice);
    let program = Path::new(command.first().map_or("program", String::as_str));
    let stem = program.file_stem().map_or_else(|| "program".into(), |stem| stem.to_string_lossy().into_owned());
    let base = PathBuf::from(format!("{stem}-{}.{}", std::process::id(), request.file_word()));
    profile_events::begin(request.events(), request.alloc_bytes);
    saki_sampler::start(request.session(&command.join(" ")), saki_runtime::profile_frames::resolve)
        .map_err(|e| e.to_string())?;
    // Relaxed: under the lock.
    let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
    end_with_process();
    *session = Some(Session { number, request: request.clone(), base });
    Ok(number)
}

/// Ends the profile of this number, or whichever there is, and writes it: what is to be said of it. None if it has ended already.
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
        print!("{}\n{}", table::top(&profile, table::ROWS), table::tree(&profile));
    }
    Ok(())
}

/// `saki profile diff`: which functions' shares changed, and a flame graph of the second profile with those in colour.
///
/// # Errors
/// A file cannot be read or written, or is no profile.
pub fn compare(before: &Path, after: &Path, output: Option<&Path>) -> Result<(), String> {
    let changes = Changes::between_files(read(before)?, read(after)?)?;
    for changes in &changes {
        print!("{}", changes.table(table::ROWS));
    }
    if let Some(path) = output {
        files::write(path, Changes::flame_graph(&changes).as_bytes()).map_err(|error| error.to_string())?;
        eprintln!("differential flame graph: {}", path.display());
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<Profile>, String> {
    let contents = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    saki_profile::read(&contents).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_they_are_written() {
        let request = ProfileRequest {
            hz: Some(250),
            alloc_bytes: 4096,
            duration: Some(Duration::from_millis(1500)),
            formats: vec![Format::Pprof, Format::Folded],
            output: Some("a,b".into()),
            ..ProfileRequest::new(&[Kind::Alloc, Kind::Cpu])
        };
        assert_eq!(request.to_string().parse().as_ref(), Ok(&request));
        assert!("cpu,hz=0".parse::<ProfileRequest>().is_err() && "x".parse::<ProfileRequest>().is_err());
        assert_eq!("cpu".parse(), Ok(ProfileRequest::new(&[Kind::Cpu])));
        assert_eq!(request.to_string().parse::<ProfileRequest>().unwrap().kind_names(), "alloc,cpu");
        assert!(parse_kinds("cpu,x").is_err() && ProfileRequest::new(&[Kind::Gc, Kind::Gc]).kinds == [Kind::Gc]);
    }
}
