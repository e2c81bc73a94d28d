//! `saki profile`: runs a program under the sampler and writes what was found; shows and compares such files.
//!
//! Invariant: a profile that cannot be written is a message, never the program's failure. Left out: how samples are taken
//! (`saki_sampler`), and the files (`saki_profile`).

use crate::options::Options;
use saki_os::TimerClock;
use saki_profile::diff::Changes;
use saki_profile::{Format, Profile, files, table};
use saki_sampler::{Sampled, Settings};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Processor time of each thread.
    Cpu,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Cpu => "cpu",
        }
    }
}

/// Samples a second, unless asked otherwise: a thousandth of a processor, at some microseconds each.
pub const DEFAULT_HZ: u32 = 1000;
/// More than that the sampler itself would take most of the time.
const MAX_HZ: u32 = 100_000;

/// What profile is wanted of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct ProfileRequest {
    pub kind: Kind,
    pub hz: u32,
    /// The program goes on without it after so long.
    pub duration: Option<Duration>,
    pub formats: Vec<Format>,
    /// Of several formats each gets its ending.
    pub output: Option<PathBuf>,
    /// Test aid: signals by wall time, to threads that wait as well, and as often as asked.
    pub storm: bool,
}

impl Default for ProfileRequest {
    fn default() -> ProfileRequest {
        ProfileRequest {
            kind: Kind::Cpu,
            hz: DEFAULT_HZ,
            duration: None,
            formats: vec![Format::Html],
            output: None,
            storm: false,
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

    /// `SAKI_PROFILE`: `cpu[,hz=N][,duration=SECONDS][,format=NAME]…[,output=FILE][,storm]`.
    fn from_str(text: &str) -> Result<ProfileRequest, String> {
        let mut words = text.split(',');
        let mut request = ProfileRequest { formats: Vec::new(), ..ProfileRequest::default() };
        match words.next() {
            Some("cpu") => request.kind = Kind::Cpu,
            other => return Err(format!("'{}' is no kind of profile (cpu)", other.unwrap_or_default())),
        }
        for word in words {
            match word.split_once('=') {
                Some(("hz", value)) => request.hz = parse_hz(value)?,
                Some(("duration", value)) => request.duration = Some(parse_seconds(value)?),
                Some(("format", value)) => request.formats.push(value.parse().map_err(|e| format!("{e}"))?),
                None if word == "storm" => request.storm = true,
                Some(("output", value)) if !value.is_empty() => request.output = Some(value.into()),
                _ => return Err(format!("'{word}' is not one of hz=N, duration=SECONDS, format=NAME, output=FILE")),
            }
        }
        if request.formats.is_empty() {
            request.formats.push(Format::Html);
        }
        Ok(request)
    }
}

/// What is to be written at the end.
struct Wanted {
    request: ProfileRequest,
    /// Without ending.
    base: PathBuf,
}

static WANTED: OnceLock<Wanted> = OnceLock::new();

/// Begins to profile; the files are written when the process ends, or after the duration that was asked for. Before `Main`, on its thread.
///
/// # Errors
/// The sampler's.
pub fn begin(options: &Options, request: &ProfileRequest) -> Result<(), String> {
    let program = Path::new(options.program());
    let stem = program.file_stem().map_or_else(|| "program".into(), |stem| stem.to_string_lossy().into_owned());
    let base = PathBuf::from(format!("{stem}-{}.{}", std::process::id(), request.kind.name()));
    let settings = Settings {
        hz: request.hz,
        clock: match request.kind {
            _ if request.storm => TimerClock::Monotonic,
            Kind::Cpu => TimerClock::ThreadCpu,
        },
    };
    let profile = Profile {
        kind: request.kind.name().into(),
        title: options.command.join(" "),
        start_unix_ns: saki_os::clock::realtime_ns(),
        ..Profile::default()
    };
    let wanted = Wanted { request: request.clone(), base };
    if WANTED.set(wanted).is_err() {
        return Err("a profile is being made already".into());
    }
    saki_sampler::start(settings, profile, saki_runtime::profile_frames::resolve).map_err(|e| e.to_string())?;
    if let Some(duration) = request.duration {
        saki_os::thread::start_service("profile-end", move || {
            std::thread::sleep(duration);
            end();
        })
        .map_err(|e| e.to_string())?;
    }
    extern "C" fn at_exit() {
        end();
    }
    // SAFETY: `end` neither unwinds nor exits. The C library keeps room for 32 handlers.
    unsafe { libc::atexit(at_exit) };
    Ok(())
}

/// Ends the profile and writes it; does nothing the second time.
fn end() {
    let (Some(wanted), Some(sampled)) = (WANTED.get(), saki_sampler::stop()) else { return };
    let Sampled { profile, threads_not_sampled, reader_ns } = sampled;
    let mut text = table::top(&profile, table::ROWS);
    if threads_not_sampled > 0 {
        text +=
            &format!("{threads_not_sampled} threads could not be sampled: the system has no more timers (ulimit -i)\n");
    }
    text += &format!("reading samples took {} of a processor\n", profile.show(reader_ns));
    eprint!("{text}");
    let is_single = wanted.request.formats.len() == 1;
    for format in &wanted.request.formats {
        let path = match &wanted.request.output {
            Some(path) if is_single => path.clone(),
            path => with_ending(path.as_ref().unwrap_or(&wanted.base), format.extension()),
        };
        report(&path, files::write(&path, &saki_profile::write(&profile, *format)));
    }
}

fn with_ending(base: &Path, ending: &str) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

fn report(path: &Path, result: std::io::Result<()>) {
    match result {
        Ok(()) => eprintln!("profile: {}", path.display()),
        Err(error) => eprintln!("saki: the profile was not written: {error}"),
    }
}

/// `saki profile view`: the top and the call tree.
///
/// # Errors
/// The file cannot be read, or is no profile.
pub fn view(path: &Path) -> Result<(), String> {
    let profile = read(path)?;
    print!("{}\n{}", table::top(&profile, table::ROWS), table::tree(&profile));
    Ok(())
}

/// `saki profile diff`: which functions' shares changed, and a flame graph of the second profile with those in colour.
///
/// # Errors
/// A file cannot be read or written, or is no profile.
pub fn compare(before: &Path, after: &Path, output: Option<&Path>) -> Result<(), String> {
    let changes = Changes::between(read(before)?, read(after)?);
    print!("{}", changes.table(table::ROWS));
    match output {
        Some(path) => {
            files::write(path, changes.flame_graph().as_bytes()).map_err(|error| error.to_string())?;
            eprintln!("differential flame graph: {}", path.display());
            Ok(())
        }
        None => Ok(()),
    }
}

fn read(path: &Path) -> Result<Profile, String> {
    let contents = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    saki_profile::read(&contents).map_err(|error| format!("{}: {error}", path.display()))
}
