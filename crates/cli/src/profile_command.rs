//! `saki profile`: runs a program under the sampler and writes the profile; shows and compares such files.
//!
//! Invariant: a profile that cannot be written is a message, never the program's failure. Left out: sampling
//! (`saki_sampler`) and file formats (`saki_profile`).

use crate::heap_command::{self, HeapFormat, HeapRequest};
use crate::options::{Options, parse_size};
use crate::output_format::about_jitdump;
use crate::profile_kind::{HEAP, Kind, KindWord, parse_kinds};
use clap::ValueEnum;
use saki_os::{ExitStage, TimerClock};
use saki_profile::diff::Changes;
use saki_profile::{Format, Profile, files, table};
use saki_runtime::profile_events;
use saki_sampler::{EventKind, Kinds, Recording, Sampled, What};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// Samples a second, unless asked otherwise: a thousandth of a processor, at some microseconds each.
const DEFAULT_HZ: u32 = 1000;
/// Lower, because wall-clock sampling looks at all threads, which costs more.
const DEFAULT_WALL_HZ: u32 = 100;
/// Bytes between two samples of allocations, on average: 2,000 samples for each gigabyte.
pub const DEFAULT_ALLOC_BYTES: usize = 512 << 10;
/// In place of a number of bytes: each allocation is recorded.
pub const EACH_ALLOCATION: usize = 1;
const MAX_HZ: u32 = saki_runtime::profile_log::settings::MAX_SAMPLES_A_SECOND;

/// The profile that is requested of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct ProfileRequest {
    /// Each once; a profile each. None if only a heap snapshot is wanted.
    pub kinds: Vec<Kind>,
    /// A snapshot when the profiles end.
    pub heap: Option<HeapRequest>,
    /// None: as suits the kind.
    pub hz: Option<u32>,
    /// Bytes between two samples of allocations, or `EACH_ALLOCATION`.
    pub alloc_bytes: usize,
    /// After this time profiling ends and the program goes on.
    pub duration: Option<Duration>,
    pub formats: Vec<Format>,
    /// With several formats each file gets its format's extension.
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
            heap: None,
            hz: None,
            alloc_bytes: DEFAULT_ALLOC_BYTES,
            duration: None,
            formats: vec![Format::Html],
            output: None,
            jitdump: None,
            storm: false,
        }
    }

    /// Makes a request from kinds as they were named, the heap among them.
    pub fn of_words(words: &[KindWord]) -> ProfileRequest {
        let kinds = words.iter().filter_map(|word| match word {
            KindWord::Profile(kind) => Some(*kind),
            KindWord::Heap => None,
        });
        let heap = words.contains(&KindWord::Heap).then(HeapRequest::default);
        ProfileRequest { heap, ..ProfileRequest::new(&kinds.collect::<Vec<_>>()) }
    }

    /// "cpu,alloc", and the heap last.
    pub fn kind_names(&self) -> String {
        let names = self.kinds.iter().map(|kind| kind.name()).chain(self.heap.is_some().then_some(HEAP));
        names.collect::<Vec<_>>().join(",")
    }

    /// Puts the snapshot beside the profiles: its file always, its page where theirs is written.
    pub fn place_heap(&mut self) {
        let Some(heap) = self.heap.as_mut() else { return };
        heap.place_beside(&self.formats, self.output.as_deref());
    }

    /// The word for the kinds in names of files.
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

    /// As in `SAKI_PROFILE`: `KIND[,KIND]…[,hz=N][,exact][,bytes=SIZE][,duration=SECONDS][,format=NAME]…[,storm][,output=FILE]`. Of `heap` alone the formats are those of
    /// snapshots.
    fn from_str(text: &str) -> Result<ProfileRequest, String> {
        // The file comes last, and may have commas in its name.
        let (text, output) = text.split_once(",output=").map_or((text, None), |(text, path)| (text, Some(path)));
        let (kinds, words): (Vec<&str>, Vec<&str>) = text.split(',').partition(|word| word.parse::<KindWord>().is_ok());
        // Without a kind the first word is to blame.
        let kinds = parse_kinds(&if kinds.is_empty() { words[0].to_owned() } else { kinds.join(",") })?;
        let mut request = ProfileRequest { formats: Vec::new(), ..ProfileRequest::of_words(&kinds) };
        let is_heap_alone = request.kinds.is_empty();
        let mut heap_formats = Vec::new();
        for word in words {
            match word.split_once('=') {
                Some(("format", value)) if is_heap_alone => heap_formats.push(HeapFormat::from_str(value, false)?),
                Some(("hz", value)) => request.hz = Some(parse_hz(value)?),
                Some(("bytes", value)) => request.alloc_bytes = parse_size(value)?.max(1),
                Some(("duration", value)) => request.duration = Some(parse_seconds(value)?),
                Some(("format", value)) => request.formats.push(value.parse().map_err(|e| format!("{e}"))?),
                None if word == "exact" => request.alloc_bytes = EACH_ALLOCATION,
                None if word == "storm" => request.storm = true,
                _ => {
                    return Err(format!(
                        "'{word}' is not one of hz=N, exact, bytes=SIZE, duration=SECONDS, format=NAME, output=FILE"
                    ));
                }
            }
        }
        request.output = output.filter(|path| !path.is_empty()).map(PathBuf::from);
        if request.formats.is_empty() {
            request.formats.push(Format::Html);
        }
        match &mut request.heap {
            Some(heap) if is_heap_alone => {
                heap.output = request.output.take();
                if !heap_formats.is_empty() {
                    heap.formats = heap_formats;
                }
            }
            _ => request.place_heap(),
        }
        Ok(request)
    }
}

impl std::fmt::Display for ProfileRequest {
    /// The text that `from_str` reads.
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
        eprint!("{text}");
    }
}

/// Registers that a profile which is still being made when the process ends is written then.
fn end_with_process() {
    saki_os::at_exit(ExitStage::Profile, || end(None));
}

/// Remembers the program's command line.
pub fn remember(options: &Options) {
    let _ = COMMAND.set(options.command.clone());
}

/// The command line that `remember` stored.
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
        assert_eq!("alloc,exact".parse::<ProfileRequest>().map(|request| request.alloc_bytes), Ok(EACH_ALLOCATION));
        assert_eq!(request.to_string().parse::<ProfileRequest>().unwrap().kind_names(), "alloc,cpu");
        assert!(ProfileRequest::new(&[Kind::Gc, Kind::Gc]).kinds == [Kind::Gc]);
    }

    #[test]
    fn snapshots_lie_beside_profiles() {
        let check = |text: &str, kinds: &str, formats: &[HeapFormat], output: Option<&str>| {
            let request: ProfileRequest = text.parse().expect(text);
            let heap = request.heap.clone().expect("a snapshot");
            assert_eq!((&*request.kind_names(), &*heap.formats), (kinds, formats), "{text}");
            assert_eq!(heap.output, output.map(PathBuf::from), "{text}");
        };
        let both = [HeapFormat::Heap, HeapFormat::Html];
        check("heap", "heap", &both[..1], None);
        check("heap,format=html,output=x.html", "heap", &both[1..], Some("x.html"));
        check("heap,cpu", "cpu,heap", &both, None);
        check("cpu,heap,format=folded", "cpu,heap", &both[..1], None);
        check("cpu,heap,format=folded,output=/a/b.folded", "cpu,heap", &both[..1], Some("/a/b.heap"));
        check("cpu,heap,output=/a/b.html", "cpu,heap", &both, Some("/a/b"));
        check("cpu,heap,format=pprof,format=html,output=x.y", "cpu,heap", &both, Some("x.y"));
        assert!("heap,format=folded".parse::<ProfileRequest>().is_err());
    }
}
