//! The stacks of a profile merged into one tree of calls, by function.

use crate::model::{Function, Profile};
use rustc_hash::FxHashMap;

/// A function called by its parent's; entry 0 of the tree is the root, of no function.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Index into `Profile::functions`; `u32::MAX` for the root.
    pub function: u32,
    /// Below it included, and without.
    pub total: u64,
    pub own: u64,
    /// Indices into `CallTree::calls`, in the order of their names.
    pub children: Vec<u32>,
}

/// See the module header.
#[derive(Clone, Debug, Default)]
pub struct CallTree {
    pub calls: Vec<Call>,
}

impl CallTree {
    /// Builds the tree of the samples whose thread `is_wanted` accepts.
    pub fn of(profile: &Profile, is_wanted: impl Fn(u32) -> bool) -> CallTree {
        let mut calls = vec![Call { function: u32::MAX, ..Call::default() }];
        let mut places: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut by_stack: FxHashMap<u32, u64> = FxHashMap::default();
        for sample in profile.samples.iter().filter(|sample| is_wanted(sample.thread)) {
            *by_stack.entry(sample.stack).or_default() += sample.value;
        }
        let mut functions = Vec::new();
        for (stack, value) in by_stack {
            functions.clear();
            functions.extend(profile.frames_of(stack).map(|frame| frame.function));
            let mut at = 0;
            calls[0].total += value;
            for &function in functions.iter().rev() {
                let next = *places.entry((at, function)).or_insert_with(|| {
                    calls.push(Call { function, ..Call::default() });
                    (calls.len() - 1) as u32
                });
                if next as usize == calls.len() - 1 && calls[next as usize].total == 0 {
                    calls[at as usize].children.push(next);
                }
                calls[next as usize].total += value;
                at = next;
            }
            calls[at as usize].own += value;
        }
        let mut tree = CallTree { calls };
        tree.sort(profile);
        tree
    }

    fn sort(&mut self, profile: &Profile) {
        let name = |calls: &[Call], index: u32| profile.functions[calls[index as usize].function as usize].name.clone();
        for index in 0..self.calls.len() {
            let mut children = std::mem::take(&mut self.calls[index].children);
            children.sort_by_cached_key(|child| name(&self.calls, *child));
            self.calls[index].children = children;
        }
    }

    /// Calls `visit` with each call, its depth (0 = root) and the sum of the calls before it at its level; callers
    /// first.
    pub fn visit(&self, mut visit: impl FnMut(&Call, usize, u64)) {
        // Without recursion: stacks may be deep.
        let mut rest = vec![(0_u32, 0_usize, 0_u64)];
        while let Some((index, depth, before)) = rest.pop() {
            let call = &self.calls[index as usize];
            visit(call, depth, before);
            let mut at = before;
            for &child in &call.children {
                rest.push((child, depth + 1, at));
                at += self.calls[child as usize].total;
            }
        }
    }

    /// The sum over all stacks, in the profile's unit.
    pub fn total(&self) -> u64 {
        self.calls[0].total
    }
}

/// A function's share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share<'a> {
    pub function: &'a Function,
    /// Including its callees; recursion counts once.
    pub total: u64,
    pub own: u64,
}

/// The functions of a profile, those with the largest own share first.
pub fn shares(profile: &Profile) -> Vec<Share<'_>> {
    let mut sums = vec![(0_u64, 0_u64); profile.functions.len()];
    let mut seen: Vec<u32> = Vec::new();
    let mut by_stack: FxHashMap<u32, u64> = FxHashMap::default();
    for sample in &profile.samples {
        *by_stack.entry(sample.stack).or_default() += sample.value;
    }
    for (stack, value) in by_stack {
        seen.clear();
        for (index, frame) in profile.frames_of(stack).enumerate() {
            if index == 0 {
                sums[frame.function as usize].1 += value;
            }
            seen.push(frame.function);
        }
        seen.sort_unstable();
        seen.dedup();
        seen.iter().for_each(|function| sums[*function as usize].0 += value);
    }
    let mut shares: Vec<Share> =
        profile.functions.iter().zip(sums).map(|(function, (total, own))| Share { function, total, own }).collect();
    shares.retain(|share| share.total > 0);
    shares.sort_by(|a, b| (b.own, b.total, &a.function.name).cmp(&(a.own, a.total, &b.function.name)));
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn recursion_counts_once_and_own_shares_sum_up() {
        let profile = sample_profile(&[("main;f;f", 3), ("main;f", 2), ("main;g", 5)]);
        let shares = shares(&profile);
        let of = |name: &str| shares.iter().find(|s| s.function.name == name).map(|s| (s.total, s.own));
        assert_eq!((of("f"), of("g"), of("main")), (Some((5, 5)), Some((5, 5)), Some((10, 0))));
        let tree = CallTree::of(&profile, |_| true);
        let mut lines = Vec::new();
        tree.visit(|call, depth, before| {
            let name = profile.functions.get(call.function as usize).map_or("all", |f| &*f.name);
            lines.push(format!("{depth} {name} {}+{} at {before}", call.total, call.own));
        });
        lines.sort();
        assert_eq!(lines, ["0 all 10+0 at 0", "1 main 10+0 at 0", "2 f 5+2 at 0", "2 g 5+5 at 5", "3 f 3+3 at 0"]);
    }
}
