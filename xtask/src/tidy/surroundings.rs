//! What surrounds the machine has one door each: time is read by `saki_os::clock`, threads are started by
//! `saki_os::services`, random bytes come from `saki_os::random`, and variables of the environment are options (`VmOptions`)
//! that hosts read in `hosting::environment`, not something that a part looks up.
//!
//! The lists below name the places that go past a door, with how many there are in each file and why; they may only
//! shrink. Left out: tests, models, benchmarks, examples and xtask.

use super::findings::{Findings, SourceFile};
use super::modules::machine_files;
use super::rust_text::{Token, tokens};
use std::path::Path;

/// A file, how often it goes past the door, and why.
type Place = (&'static str, usize, &'static str);

struct Door {
    /// What is to be done instead.
    advice: &'static str,
    /// Files in which it is free: the door itself, and folders that end with a slash.
    free: &'static [&'static str],
    /// The words of a path and the function at its end: the last two words of a call.
    calls: &'static [(&'static str, &'static str)],
    places: &'static [Place],
}

const DOORS: [Door; 4] = [
    Door {
        advice: "read time by saki_os::clock",
        free: &["crates/os/src/clock.rs"],
        calls: &[
            ("Instant", "now"),
            ("SystemTime", "now"),
            ("libc", "clock_gettime"),
            ("libc", "time"),
            ("libc", "gettimeofday"),
        ],
        places: &[
            ("crates/icall/src/process/processes.rs", 1, "the present time, for the start of a process"),
            ("crates/os/src/message_log.rs", 1, "the C library formats the time that it reads"),
            ("crates/runtime/src/exec/compile/statistics.rs", 1, "the costs of compiling, for `--stats`"),
            ("crates/runtime/src/exec/waits/limit.rs", 3, "how long a wait lasts, which the system says"),
            ("crates/sync/src/raw_lock.rs", 1, "the same"),
            ("crates/sync/src/word_locks.rs", 1, "the same"),
        ],
    },
    Door {
        advice: "start threads by saki_os::services or saki_thread::spawn",
        free: &["crates/os/src/thread.rs", "crates/os/src/services.rs"],
        calls: &[
            ("thread", "start"),
            ("thread", "spawn"),
            ("thread", "Builder"),
            ("thread", "scope"),
            ("libc", "pthread_create"),
        ],
        places: &[
            ("crates/cli/src/main_stack.rs", 1, "the main thread's stack, where the system's is too small"),
            ("crates/saki/src/vm.rs", 1, "the main thread of a machine that a host in Rust starts"),
            ("crates/sched/src/carriers.rs", 1, "carriers of green threads"),
            ("crates/thread/src/spawn.rs", 1, "threads with a managed identity"),
        ],
    },
    Door {
        advice: "take random bytes from saki_os::random",
        free: &["crates/os/src/random.rs"],
        calls: &[("libc", "getrandom"), ("libc", "rand"), ("hash", "RandomState")],
        places: &[],
    },
    Door {
        advice: "let the host read the variable, and make it an option of the start (VmOptions)",
        free: &["crates/hosting/src/environment.rs"],
        calls: &[
            ("env", "var"),
            ("env", "var_os"),
            ("env", "vars"),
            ("env", "vars_os"),
            ("env", "set_var"),
            ("env", "remove_var"),
            ("libc", "getenv"),
            ("libc", "setenv"),
        ],
        places: &[
            ("crates/base/src/bug.rs", 1, "SAKI_BACKTRACE, when the machine is at fault and asks nobody"),
            ("crates/corelib/src/environment.rs", 1, "System.Environment itself"),
            ("crates/icall/src/globalization/culture_info.rs", 2, "the program's locale, LC_ALL and LANG"),
            ("crates/icall/src/io/path.rs", 1, "the program's folder for temporary files"),
            ("crates/icall/src/process/start.rs", 1, "the program's PATH, which it may have changed"),
            ("crates/icall/src/system/console_driver.rs", 1, "the program's COLUMNS and LINES"),
            ("crates/icall/src/system/environment.rs", 6, "System.Environment itself"),
        ],
    },
];

/// Checks that nothing goes past a door but what is listed.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    for door in &DOORS {
        check_door(files, door, findings);
    }
}

fn check_door(files: &[SourceFile], door: &Door, findings: &mut Findings) {
    let this = Path::new("xtask/src/tidy/surroundings.rs");
    let mut unseen: Vec<&Place> = door.places.iter().collect();
    for file in machine_files(files) {
        let path = file.path.to_string_lossy();
        if door.free.iter().any(|free| *free == path || free.ends_with('/') && path.starts_with(free)) {
            continue;
        }
        let lines = calls(&tokens(&file.text), door.calls);
        let allowed = door.places.iter().find(|(place, _, _)| *place == path).map_or(0, |(_, count, _)| *count);
        unseen.retain(|(place, _, _)| *place != path);
        if lines.len() < allowed {
            let message = format!("{path} is listed with {allowed}, but has {}: let the list shrink", lines.len());
            findings.error(this, 1, message);
        }
        for line in lines.into_iter().skip(allowed) {
            findings.error(&file.path, line, door.advice);
        }
    }
    for (place, _, _) in unseen {
        findings.error(this, 1, format!("{place} is listed, but is not there (any more)"));
    }
}

/// The lines of the calls.
fn calls(tokens: &[Token<'_>], wanted: &[(&str, &str)]) -> Vec<usize> {
    let is_wanted = |three: &&[Token<'_>]| three[1].text == "::" && wanted.contains(&(three[0].text, three[2].text));
    tokens.windows(3).filter(is_wanted).map(|three| three[2].line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOOR: Door = Door {
        advice: "by the door",
        free: &["crates/a/src/door.rs", "crates/free/"],
        calls: &[("Instant", "now")],
        places: &[("crates/a/src/b.rs", 1, "a reason")],
    };

    fn check_files(sources: &[(&str, &str)], expected: &[&str]) {
        let file = |(path, text): &(&str, &str)| SourceFile { path: path.into(), text: (*text).to_owned() };
        let roots = [("crates/a/src/lib.rs", "mod b; mod c; mod door;"), ("crates/free/src/lib.rs", "mod b;")];
        let files: Vec<SourceFile> = roots.iter().chain(sources).map(file).collect();
        let mut findings = Findings::default();
        check_door(&files, &DOOR, &mut findings);
        assert_eq!(findings.errors.len(), expected.len(), "{sources:?}: {:?}", findings.errors);
        for (found, want) in findings.errors.iter().zip(expected) {
            assert!(found.contains(want), "{found} / {want}");
        }
    }

    #[test]
    fn what_goes_past_a_door_is_found() {
        let (once, twice) = ("fn f() { Instant::now(); }", "fn f() { std::time::Instant::now(); x(Instant::now) }");
        check_files(&[("crates/a/src/b.rs", once)], &[]);
        check_files(&[("crates/a/src/b.rs", twice)], &["b.rs:1: by the door"]);
        check_files(&[("crates/a/src/b.rs", once), ("crates/a/src/c.rs", once)], &["c.rs:1: by the door"]);
        let free = [("crates/a/src/b.rs", once), ("crates/a/src/door.rs", twice), ("crates/free/src/b.rs", twice)];
        check_files(&free, &[]);
    }

    #[test]
    fn the_list_may_only_shrink() {
        check_files(&[("crates/a/src/b.rs", "")], &["is listed with 1, but has 0"]);
        check_files(&[], &["is not there"]);
    }
}
