//! Mono's log: messages about what the machine does, chosen by MONO_LOG_LEVEL and MONO_LOG_MASK, written where MONO_LOG_DEST says, with
//! the head that MONO_LOG_HEADER asks for. The command reads the variables (`MessageOptions`).
//!
//! As under Mono, the level is `error` unless it is set, and messages go to standard output or are appended to a file. Invariant: a message that is not
//! shown is not formatted. Left out: the system's log; masks of parts that Saki does not have are known and
//! show nothing.

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The subject of a message: a bit of the mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum LogSubject {
    Assemblies = 1 << 0,
    Types = 1 << 1,
    Libraries = 1 << 2,
    Collector = 1 << 3,
    Configuration = 1 << 4,
    /// Code that was compiled before: Saki's code cache.
    CompiledBefore = 1 << 5,
    Security = 1 << 6,
    ThreadPool = 1 << 7,
    Selector = 1 << 8,
    Processes = 1 << 9,
    Sockets = 1 << 10,
    Files = 1 << 11,
    Events = 1 << 12,
    Semaphores = 1 << 13,
    Mutexes = 1 << 14,
    Handles = 1 << 15,
    TailCalls = 1 << 16,
    Profiler = 1 << 17,
}

const ALL: u32 = u32::MAX;
const IO_LAYER: u32 = LogSubject::Processes as u32
    | LogSubject::Sockets as u32
    | LogSubject::Files as u32
    | LogSubject::Events as u32
    | LogSubject::Semaphores as u32
    | LogSubject::Mutexes as u32
    | LogSubject::Handles as u32;

/// The words of MONO_LOG_MASK.
const MASKS: &[(&str, u32)] = &[
    ("asm", LogSubject::Assemblies as u32),
    ("type", LogSubject::Types as u32),
    ("dll", LogSubject::Libraries as u32),
    ("gc", LogSubject::Collector as u32),
    ("cfg", LogSubject::Configuration as u32),
    ("aot", LogSubject::CompiledBefore as u32),
    ("security", LogSubject::Security as u32),
    ("threadpool", LogSubject::ThreadPool as u32),
    ("io-threadpool", LogSubject::Selector as u32),
    ("io-selector", LogSubject::Selector as u32),
    ("io-layer-process", LogSubject::Processes as u32),
    ("io-layer-socket", LogSubject::Sockets as u32),
    ("io-layer-file", LogSubject::Files as u32),
    ("io-layer-console", LogSubject::Files as u32),
    ("io-layer-pipe", LogSubject::Files as u32),
    ("io-layer-event", LogSubject::Events as u32),
    ("io-layer-semaphore", LogSubject::Semaphores as u32),
    ("io-layer-mutex", LogSubject::Mutexes as u32),
    ("io-layer-handle", LogSubject::Handles as u32),
    ("io-layer", IO_LAYER),
    ("w32handle", LogSubject::Handles as u32),
    ("tailcall", LogSubject::TailCalls as u32),
    ("profiler", LogSubject::Profiler as u32),
    ("all", ALL),
];

/// How important a message is, the most important first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    Error,
    Critical,
    Warning,
    Message,
    Info,
    Debug,
}

/// The words of MONO_LOG_LEVEL, and the letters of MONO_LOG_HEADER.
const LEVELS: &[(&str, Level, char)] = &[
    ("error", Level::Error, 'E'),
    ("critical", Level::Critical, 'C'),
    ("warning", Level::Warning, 'W'),
    ("message", Level::Message, 'M'),
    ("info", Level::Info, 'I'),
    ("debug", Level::Debug, 'D'),
];

/// The messages that the options ask for.
#[derive(Debug, PartialEq, Eq)]
struct Filter {
    /// The least important level that is shown.
    level: Level,
    mask: u32,
}

impl Filter {
    /// `unknown` gets the words that mean nothing.
    fn parse(level: Option<&str>, mask: Option<&str>, mut unknown: impl FnMut(&str, &str)) -> Filter {
        let known = level.map(|level| (level, LEVELS.iter().find(|(name, ..)| *name == level)));
        let level = match known {
            Some((_, Some((_, level, _)))) => *level,
            Some((word, None)) => {
                unknown("loglevel", word);
                Level::Error
            }
            None => Level::Error,
        };
        let Some(mask) = mask else { return Filter { level, mask: ALL } };
        let mut bits = 0;
        for word in mask.split(',').filter(|word| !word.is_empty()) {
            match MASKS.iter().find(|(name, _)| *name == word) {
                Some((_, bit)) => bits |= bit,
                None => unknown("flag", word),
            }
        }
        Filter { level, mask: bits }
    }

    fn shows(&self, level: Level, subject: LogSubject) -> bool {
        level <= self.level && self.mask & subject as u32 != 0
    }
}

/// Which messages are written, and where.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct MessageOptions {
    /// The least important level that is shown, a word: MONO_LOG_LEVEL. None: `error`.
    pub level: Option<String>,
    /// The subjects that are shown, words with commas between: MONO_LOG_MASK. None: all.
    pub mask: Option<String>,
    /// Whether time and process stand before each message: MONO_LOG_HEADER.
    pub has_header: bool,
    /// The file that messages are appended to: MONO_LOG_DEST. None: standard output.
    pub file: Option<PathBuf>,
}

/// What the options say, ready for use.
struct Settings {
    filter: Filter,
    has_header: bool,
    file: Option<PathBuf>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Decides which messages are written; once, before the machine starts. Words that mean nothing are named on standard output, as Mono does.
pub fn set(options: &MessageOptions) {
    SETTINGS.get_or_init(|| {
        let filter = Filter::parse(options.level.as_deref(), options.mask.as_deref(), |what, word| {
            // As Mono says it.
            saki_base::messages::tell_beside_output(format_args!("Unknown trace {what}: {word}\n"));
        });
        Settings { filter, has_header: options.has_header, file: options.file.clone() }
    });
}

/// Without a machine, what the options' default asks for.
fn settings() -> &'static Settings {
    static DEFAULT: Settings =
        Settings { filter: Filter { level: Level::Error, mask: ALL }, has_header: false, file: None };
    SETTINGS.get().unwrap_or(&DEFAULT)
}

/// Whether messages of this kind are shown, for work that only they need.
#[inline]
pub fn is_shown(level: Level, subject: LogSubject) -> bool {
    settings().filter.shows(level, subject)
}

/// Writes the message if it is wanted; `text` is only formatted then.
pub fn message(level: Level, subject: LogSubject, text: impl Display) {
    if is_shown(level, subject) {
        write(level, &text.to_string());
    }
}

#[cold]
fn write(level: Level, text: &str) {
    let known = LEVELS.iter().find(|(_, other, _)| *other == level);
    let (word, letter) = known.map_or(("", ' '), |(word, _, letter)| (*word, *letter));
    if saki_base::messages::is_log_taken(word, text) {
        return;
    }
    let settings = settings();
    let line = if settings.has_header {
        format!("{} level[{letter}] mono[{}]: {text}\n", local_time(), std::process::id())
    } else {
        format!("Mono: {text}\n")
    };
    let file = settings.file.as_ref();
    let file = file.and_then(|path| std::fs::OpenOptions::new().append(true).create(true).open(path).ok());
    match file {
        // A message that cannot be written is lost; the program goes on.
        Some(mut file) => drop(file.write_all(line.as_bytes())),
        None => saki_base::messages::tell_beside_output(format_args!("{line}")),
    }
}

/// "2026-11-22 21:07:55" in the process's time zone.
fn local_time() -> String {
    // SAFETY: a null pointer asks for the result only.
    let now = unsafe { libc::time(std::ptr::null_mut()) };
    // SAFETY: a struct of plain numbers and a pointer that may be null.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both are ours.
    unsafe { libc::localtime_r(&raw const now, &raw mut parts) };
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        parts.tm_year + 1900,
        parts.tm_mon + 1,
        parts.tm_mday,
        parts.tm_hour,
        parts.tm_min,
        parts.tm_sec
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these are shown: a warning and information about libraries, information about configuration files.
    fn check(level: Option<&str>, mask: Option<&str>, expect: [bool; 3]) {
        let filter = Filter::parse(level, mask, |_, word| panic!("{word}"));
        let shown = [
            filter.shows(Level::Warning, LogSubject::Libraries),
            filter.shows(Level::Info, LogSubject::Libraries),
            filter.shows(Level::Info, LogSubject::Configuration),
        ];
        assert_eq!(shown, expect, "{level:?} {mask:?}");
    }

    #[test]
    fn levels_and_masks_select_messages() {
        check(Some("debug"), None, [true, true, true]);
        check(Some("info"), Some("gc,dll"), [true, true, false]);
        check(Some("warning"), Some("all"), [true, false, false]);
        check(Some("error"), Some("all"), [false, false, false]);
        check(Some("info"), Some("asm"), [false, false, false]);
        check(None, Some("dll"), [false, false, false]);
        check(Some("info"), Some("io-layer,,w32handle"), [false, false, false]);
    }

    #[test]
    fn words_that_mean_nothing_are_named_and_the_others_count() {
        let mut unknown = Vec::new();
        let filter = Filter::parse(Some("loud"), Some("dl,dll"), |what, word| unknown.push(format!("{what}: {word}")));
        assert_eq!(unknown, ["loglevel: loud", "flag: dl"]);
        assert!(
            filter.shows(Level::Error, LogSubject::Libraries) && !filter.shows(Level::Error, LogSubject::Assemblies)
        );
    }
}
