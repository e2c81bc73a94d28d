//! Two profiles of the same program compared: by shares of the whole, since runs differ in length.

use crate::call_tree::shares;
use crate::model::Profile;
use crate::svg;
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// What changed from one profile to another.
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
    pub fn between(before: Profile, after: Profile) -> Changes {
        Changes { before, after }
    }

    /// Those that differ most first.
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
        let _ = writeln!(out, "{} before, {} after", self.before.show(before), self.after.show(after));
        let _ = writeln!(out, "{:>8} {:>8} {:>8}  function (own shares)", "before", "after", "change");
        for Change { name, before, after } in self.list().iter().take(rows) {
            let (before, after) = (100.0 * before, 100.0 * after);
            let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
            let _ = writeln!(out, "{before:>7.1}% {after:>7.1}% {:>+7.1}%  {name}", after - before);
        }
        out
    }

    /// The second profile's, red where functions grew and blue where they shrank.
    pub fn flame_graph(&self) -> String {
        let changes = self.list();
        let largest = changes.first().map_or(0.0, |change| (change.after - change.before).abs()).max(1e-9);
        let by_name: FxHashMap<&str, f64> =
            changes.iter().map(|change| (&*change.name, (change.after - change.before) / largest)).collect();
        svg::draw(
            &self.after,
            Some(&|function| by_name.get(&*self.after.functions[function as usize].name).copied().unwrap_or(0.0)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let graph = changes.flame_graph();
        assert!(graph.contains("<title>a: 0.0 ms, 75.0 %</title>") && graph.contains("hsl(0,80%,75%)"), "{graph}");
    }
}
