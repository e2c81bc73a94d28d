//! What runs of all programs have in common: their environment, and the words that say why one failed.

use crate::process::Finished;

/// The environment of all programs, beside what scripts are told.
pub(super) const ENVIRONMENT: [(&str, &str); 4] =
    [("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), ("TERM", "dumb")];

/// The end of what a failed program wrote to standard error.
pub(super) fn last_words(finished: &Finished) -> String {
    let text = String::from_utf8_lossy(&finished.stderr);
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let thrown = lines.iter().position(|l| l.starts_with("Unhandled Exception")).map_or(0, |i| i + 1);
    lines.get(thrown).or(lines.last()).map_or("nothing on standard error".to_owned(), |l| (*l).to_owned())
}
