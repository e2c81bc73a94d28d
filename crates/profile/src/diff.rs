//! Two profiles of the same program compared: by shares of the whole, since runs differ in length.

use crate::bundle::Bundle;
use crate::call_tree::shares;
use crate::model::Profile;
use crate::{folded, html, svg};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// The changes from one profile to another.
pub struct Changes {
    before: Profile,
    after: Profile,
}

/// A function's own share of the whole in both, from 0 to 1.
#[derive(Clone, PartialEq, Debug)]
struct Change {
    name: String,
    before: f64,
    after: f64,
}

impl Changes {
    /// The changes from one profile to the other; functions are compared by their shares of the whole.
    pub fn between(before: Profile, after: Profile) -> Changes {
        Changes { before, after }
    }

    /// Compares two files: their profiles of the same kind, or the only ones.
    ///
    /// # Errors
    /// There are no two such profiles.
    pub fn between_files(mut before: Vec<Profile>, mut after: Vec<Profile>) -> Result<Vec<Changes>, String> {
        if let ([_], [_]) = (&before[..], &after[..])
            && (before[0].unit == after[0].unit
                || [&before[0], &after[0]].iter().any(|profile| profile.kind == folded::KIND))
        {
            return Ok(before.pop().zip(after.pop()).map(|(b, a)| Changes::between(b, a)).into_iter().collect());
        }
        let mut changes = Vec::new();
        for before in before {
            if let Some(index) = after.iter().position(|after| (&after.kind, after.unit) == (&before.kind, before.unit))
            {
                changes.push(Changes::between(before, after.swap_remove(index)));
            }
        }
        if changes.is_empty() { Err("the files have no kind of profile in common".into()) } else { Ok(changes) }
    }

    /// The changes, the largest first.
    fn list(&self) -> Vec<Change> {
        let of = |profile: &Profile| -> FxHashMap<String, f64> {
            let total = profile.total().max(1) as f64;
            let mut sums = FxHashMap::default();
            for share in shares(profile) {
                *sums.entry(share.function.name.clone()).or_default() += share.own as f64 / total;
            }
            sums
        };
        let (before, mut after) = (of(&self.before), of(&self.after));
        let mut changes: Vec<Change> = before
            .into_iter()
            .map(|(name, before)| Change { after: after.remove(&name).unwrap_or(0.0), name, before })
            .collect();
        changes.extend(after.into_iter().map(|(name, after)| Change { name, before: 0.0, after }));
        let size = |change: &Change| (change.after - change.before).abs();
        changes.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
        changes
    }

    /// For a terminal.
    pub fn table(&self, rows: usize) -> String {
        let mut out = String::new();
        let (before, after) = (self.before.total(), self.after.total());
        let _ = writeln!(
            out,
            "{} profiles: {} before, {} after",
            self.after.kind,
            self.before.show(before),
            self.after.show(after)
        );
        let _ = writeln!(out, "{:>8} {:>8} {:>8}  function (own shares)", "before", "after", "change");
        for Change { name, before, after } in self.list().iter().take(rows) {
            let (before, after) = (100.0 * before, 100.0 * after);
            let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
            let _ = writeln!(out, "{before:>7.1}% {after:>7.1}% {:>+7.1}%  {name}", after - before);
        }
        out
    }

    /// A picture of the second profiles, red where functions grew and blue where they shrank.
    pub fn flame_graph(changes: &[Changes]) -> String {
        let scaled: Vec<Vec<f64>> = changes.iter().map(Changes::scaled).collect();
        let graphs: Vec<_> = changes.iter().zip(&scaled).map(|(c, scaled)| (&c.after, &**scaled)).collect();
        svg::draw_changes(&graphs)
    }

    /// The page of both, with the changes in its graphs and tables.
    pub fn page(changes: &[Changes]) -> String {
        let profiles = changes.iter().map(|c| &c.before).chain(changes.iter().map(|c| &c.after));
        html::write_changes(&Bundle::of(&profiles.cloned().collect::<Vec<_>>()))
    }

    /// By the second profile's functions, the change in parts of the largest one.
    fn scaled(&self) -> Vec<f64> {
        let changes = self.list();
        let largest = changes.first().map_or(0.0, |change| (change.after - change.before).abs()).max(1e-9);
        let by_name: FxHashMap<&str, f64> =
            changes.iter().map(|change| (&*change.name, (change.after - change.before) / largest)).collect();
        self.after.functions.iter().map(|function| by_name.get(&*function.name).copied().unwrap_or(0.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Unit;
    use crate::model::tests::sample_profile;

    #[test]
    fn shares_are_compared_and_not_sums() {
        let changes = Changes::between(
            sample_profile(&[("main;a", 10), ("main;b", 10)]),
            sample_profile(&[("main;a", 600), ("main;c", 200)]),
        );
        let text = changes.table(3);
        let rows: Vec<&str> = text.lines().skip(2).map(str::trim).collect();
        assert_eq!(rows, ["50.0%     0.0%   -50.0%  b", "50.0%    75.0%   +25.0%  a", "0.0%    25.0%   +25.0%  c"]);
        let graph = Changes::flame_graph(&[changes]);
        assert!(graph.contains("<title>a: 0.0 ms, 75.0 %</title>") && graph.contains("hsl(0,80%,75%)"), "{graph}");
    }

    #[test]
    fn files_are_compared_by_kind() {
        let unit_of = |kind: &str| if kind == folded::KIND { Unit::Count } else { Unit::Nanoseconds };
        let of = |kind: &str| Profile { kind: kind.into(), unit: unit_of(kind), ..sample_profile(&[("a", 1)]) };
        let compared = |before: &[&str], after: &[&str]| {
            let changes = Changes::between_files(
                before.iter().map(|kind| of(kind)).collect(),
                after.iter().map(|kind| of(kind)).collect(),
            );
            changes.map(|changes| changes.iter().map(|c| c.after.kind.clone()).collect::<Vec<_>>())
        };
        assert_eq!(compared(&["cpu", "gc", "x"], &["gc", "cpu"]), Ok(vec!["cpu".into(), "gc".into()]));
        assert_eq!(compared(&["cpu"], &["folded"]), Ok(vec!["folded".into()]));
        assert!(compared(&["cpu", "gc"], &["wall"]).is_err() && compared(&[], &["cpu"]).is_err());
    }
}
