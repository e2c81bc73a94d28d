//! Mono's log of native libraries and configuration files: MONO_LOG_LEVEL, MONO_LOG_MASK (`dll`, `cfg`, `all`), MONO_LOG_DEST and
//! MONO_LOG_HEADER.
//!
//! As under Mono, levels below `warning` show no messages, and messages go to standard output or are appended to a file. Left out:
//! the system's log, and the masks of parts that Saki does not have.

use std::fmt::Display;
use std::io::Write;
use std::sync::OnceLock;

/// The subject of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    Libraries,
    Configuration,
}

/// How important a message is, by the values of MONO_LOG_LEVEL that show it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    Warning,
    Info,
}

/// The messages that the variables ask for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Filter {
    /// The least important level that is shown; None: no messages are shown.
    level: Option<Level>,
    libraries: bool,
    configuration: bool,
}

impl Filter {
    fn parse(level: &str, mask: Option<&str>) -> Filter {
        let level = match level {
            "warning" | "message" => Some(Level::Warning),
            "info" | "debug" => Some(Level::Info),
            _ => None,
        };
        let has = |name| mask.is_none_or(|mask| mask.split(',').any(|item| item == name || item == "all"));
        Filter { level, libraries: has("dll"), configuration: has("cfg") }
    }

    fn shows(&self, level: Level, subject: Subject) -> bool {
        let is_subject = match subject {
            Subject::Libraries => self.libraries,
            Subject::Configuration => self.configuration,
        };
        is_subject && self.level.is_some_and(|least| level <= least)
    }
}

fn filter() -> &'static Filter {
    static FILTER: OnceLock<Filter> = OnceLock::new();
    FILTER.get_or_init(|| {
        let Ok(level) = std::env::var("MONO_LOG_LEVEL") else { return Filter::default() };
        Filter::parse(&level, std::env::var("MONO_LOG_MASK").ok().as_deref())
    })
}

/// Writes the message if it is wanted; `text` is only formatted then.
pub fn message(level: Level, subject: Subject, text: impl Display) {
    if !filter().shows(level, subject) {
        return;
    }
    let letter = if level == Level::Info { 'I' } else { 'W' };
    let line = match std::env::var_os("MONO_LOG_HEADER") {
        Some(_) => format!("{} level[{letter}] mono[{}]: {text}\n", local_time(), std::process::id()),
        None => format!("Mono: {text}\n"),
    };
    let file = std::env::var_os("MONO_LOG_DEST").filter(|path| !path.is_empty() && path != "syslog");
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

    #[test]
    fn levels_and_masks_select_messages() {
        let shown = |level: &str, mask: Option<&str>| {
            let filter = Filter::parse(level, mask);
            [
                filter.shows(Level::Warning, Subject::Libraries),
                filter.shows(Level::Info, Subject::Libraries),
                filter.shows(Level::Info, Subject::Configuration),
            ]
        };
        assert_eq!(shown("debug", None), [true, true, true]);
        assert_eq!(shown("info", Some("gc,dll")), [true, true, false]);
        assert_eq!(shown("warning", Some("all")), [true, false, false]);
        assert_eq!(shown("error", Some("all")), [false, false, false]);
        assert_eq!(shown("info", Some("asm")), [false, false, false]);
    }
}
