//! What a terminal shows of a profile: the functions with the largest shares, and a call tree.

use crate::call_tree::{CallTree, shares};
use crate::model::{FunctionKind, Profile};
use std::fmt::Write;

/// Rows of the table.
pub const ROWS: usize = 20;

/// The table of the top, and what is to be known of the profile as a whole.
pub fn top(profile: &Profile, rows: usize) -> String {
    let mut out = String::new();
    let total = profile.total();
    let count: u64 = profile.samples.iter().map(|sample| sample.count).sum();
    let _ = writeln!(out, "{} profile: {} in {} samples", profile.kind, profile.show(total), count);
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
    let _ = writeln!(out, "{:>12} {:>6}  {:>12} {:>6}  function", "own", "", "with callees", "");
    let percent = |value: u64| format!("{:.1}%", 100.0 * value as f64 / total as f64);
    for share in shares(profile).iter().take(rows) {
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
    out
}

/// The calls with at least a hundredth of the whole, callers above what they call.
pub fn tree(profile: &Profile) -> String {
    /// Depth beyond which calls are left out.
    const MAX_DEPTH: usize = 60;
    let tree = CallTree::of(profile, |_| true);
    let total = tree.total();
    let mut lines = Vec::new();
    // Callers first, but children from the last to the first: put in order by what comes before them.
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

/// Without what a terminal would obey.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn shares_are_rows() {
        let profile = sample_profile(&[("main;a", 30_000_000), ("main;b\u{1b}", 10_000_000)]);
        let text = top(&profile, 2);
        let rows: Vec<&str> = text.lines().skip(2).map(str::trim).collect();
        assert_eq!(rows, ["30.0 ms  75.0%       30.0 ms  75.0%  a", "10.0 ms  25.0%       10.0 ms  25.0%  b?"]);
        assert_eq!(tree(&profile), "100.0% main\n 75.0%  a\n 25.0%  b?\n");
    }
}
