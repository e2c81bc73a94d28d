//! A profile as text for a terminal: the functions with the largest shares, and a call tree.

use crate::call_tree::{CallTree, Share, shares};
use crate::folded;
use crate::model::{FunctionKind, Profile};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Rows of the table.
pub const ROWS: usize = 20;

/// The table of the largest shares, and the properties of the profile as a whole.
pub fn top(profile: &Profile, rows: usize) -> String {
    let mut out = String::new();
    let total = profile.total();
    let count: u64 = profile.samples.iter().map(|sample| sample.count).sum();
    let _ = write!(out, "{} profile: {}", profile.kind, profile.show(total));
    if profile.kind == folded::KIND {
        out += " (nothing says of what)";
    } else if count > 0 || total == 0 {
        // Not all formats have the number.
        let _ = write!(out, " in {count} samples");
    }
    out.push('\n');
    if profile.lost > 0 || profile.without_callers > 0 {
        let _ = writeln!(
            out,
            "{} samples lost for lack of room, {} whose callers could not be found",
            profile.lost, profile.without_callers
        );
    }
    if total == 0 {
        return out;
    }
    let shares = shares(profile);
    let subject = subject(profile, &shares);
    let _ =
        writeln!(out, "{:>12} {:>6}  {:>12} {:>6}  {}", "own", "", "with callees", "", subject.unwrap_or("function"));
    let percent = |value: u64| format!("{:.1}%", 100.0 * value as f64 / total as f64);
    // Where the innermost frame says what a sample is about, the others say where: that is the call tree's part.
    let is_shown = |share: &&Share<'_>| subject.is_none() || share.own > 0;
    for share in shares.iter().filter(is_shown).take(rows) {
        let mark = if share.function.kind == FunctionKind::Native { " [native]" } else { "" };
        let _ = writeln!(
            out,
            "{:>12} {:>6}  {:>12} {:>6}  {}{mark}",
            profile.show(share.own),
            percent(share.own),
            profile.show(share.total),
            percent(share.total),
            one_line(&share.function.name),
        );
    }
    for (held, owner, most_waiters) in holders(profile).into_iter().take(MAX_HOLDERS) {
        let name = owner.map_or("a thread that is not known", |owner| &profile.threads[owner as usize].name);
        let (time, share, name) = (profile.show(held), percent(held), one_line(name));
        let _ = writeln!(out, "{time:>12} {share:>6}  while {name} held the lock; at most {most_waiters} waited");
    }
    out
}

/// What the table's rows are, if samples are about something that is no function: a type, a lock, a reason to wait.
fn subject(profile: &Profile, shares: &[Share<'_>]) -> Option<&'static str> {
    // Not all formats keep the kinds of functions.
    let has_notes = profile.functions.iter().any(|function| function.kind == FunctionKind::Note);
    let is_note = |share: &&Share<'_>| !has_notes || share.function.kind == FunctionKind::Note;
    let about: u64 = shares.iter().filter(is_note).map(|share| share.own).sum();
    if about * 2 <= profile.total() {
        return None;
    }
    Some(match &*profile.kind {
        "alloc" | "load" => "type",
        "lock" => "type of the lock",
        "exceptions" => "exception",
        "gc" => "phase",
        "io" => "call",
        "sched" => "reason",
        "jit" | "code" => "method and compiler",
        "threads" | "handles" => "event",
        _ => return None,
    })
}

/// Lines of `holders`.
const MAX_HOLDERS: usize = 5;

/// How long was waited for locks that a thread held, the thread, and the most threads that waited at once; most time
/// first.
fn holders(profile: &Profile) -> Vec<(u64, Option<u32>, u32)> {
    let mut sums: BTreeMap<Option<u32>, (u64, u32)> = BTreeMap::new();
    for sample in &profile.samples {
        if let Some(wait) = profile.wait_of(sample) {
            let sum = sums.entry(wait.owner).or_default();
            *sum = (sum.0 + sample.value, sum.1.max(wait.waiters));
        }
    }
    let mut holders: Vec<_> = sums.into_iter().map(|(owner, (held, most))| (held, owner, most)).collect();
    holders.sort_by_key(|(held, owner, _)| (std::cmp::Reverse(*held), *owner));
    holders
}

/// The calls with at least a hundredth of the whole, callers above callees.
pub fn tree(profile: &Profile) -> String {
    /// Depth beyond which calls are left out.
    const MAX_DEPTH: usize = 60;
    let tree = CallTree::of(profile, |_| true);
    let total = tree.total();
    let mut lines = Vec::new();
    // Callers first, but children from the last to the first: ordered by the sum of the calls before them.
    tree.visit(|call, depth, before| {
        if depth > 0 && depth <= MAX_DEPTH && call.total * 100 >= total {
            lines.push((before, depth, call.total, call.function));
        }
    });
    lines.sort_unstable();
    let mut out = String::new();
    for (_, depth, value, function) in lines {
        let name = one_line(&profile.functions[function as usize].name);
        let percent = 100.0 * value as f64 / total as f64;
        let _ = writeln!(out, "{percent:5.1}% {:indent$}{name}", "", indent = depth - 1);
    }
    out
}

/// The name without control characters, which a terminal would obey.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;
    use crate::model::{ThreadInfo, Unit, Wait};

    #[test]
    fn those_who_held_locks_follow() {
        let mut profile = sample_profile(&[("main;[lock]", 30_000_000), ("main;[lock]", 10_000_000)]);
        profile.threads.push(ThreadInfo { id: 2, name: "Holder".into() });
        profile.waits = vec![Wait { owner: Some(1), waiters: 3 }, Wait { owner: None, waiters: 1 }];
        profile.samples.iter_mut().zip(1..).for_each(|(sample, wait)| sample.wait = wait);
        let text = top(&profile, 0);
        let rows: Vec<&str> = text.lines().skip(2).map(str::trim).collect();
        let expect = [
            "30.0 ms  75.0%  while Holder held the lock; at most 3 waited",
            "10.0 ms  25.0%  while a thread that is not known held the lock; at most 1 waited",
        ];
        assert_eq!(rows, expect);
    }

    #[test]
    fn columns_are_named_by_what_they_hold() {
        let mut profile =
            sample_profile(&[("start;main;System.String", 3 << 20), ("start;main;System.Int32[]", 1 << 20)]);
        profile.functions.iter_mut().skip(2).for_each(|function| function.kind = FunctionKind::Note);
        (profile.kind, profile.unit) = ("alloc".into(), Unit::Bytes);
        let text = top(&profile, 20);
        let rows: Vec<&str> = text.lines().skip(1).map(str::trim).collect();
        assert!(rows[0].ends_with("  type"), "{text}");
        assert_eq!(rows.len(), 3, "no rows of frames that allocate nothing themselves: {text}");
        profile.kind = "cpu".into();
        assert!(top(&profile, 20).contains("  function\n"));
    }

    #[test]
    fn shares_are_rows() {
        let profile = sample_profile(&[("main;a", 30_000_000), ("main;b\u{1b}", 10_000_000)]);
        let text = top(&profile, 2);
        let rows: Vec<&str> = text.lines().skip(2).map(str::trim).collect();
        assert_eq!(rows, ["30.0 ms  75.0%       30.0 ms  75.0%  a", "10.0 ms  25.0%       10.0 ms  25.0%  b?"]);
        assert_eq!(tree(&profile), "100.0% main\n 75.0%  a\n 25.0%  b?\n");
    }
}
