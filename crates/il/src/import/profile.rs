//! How often blocks ran: counted by code of the first tier, asked for by the second.
//!
//! Counted is what decides how often each side of a conditional branch was taken: the blocks to which nothing else
//! leads (arms), and, where only one side is such a block, the branch itself. A counter belongs to a block of CIL, by
//! its place among all of them (`Scan::block_number`), so that both tiers find it without a table.
//!
//! Of innermost loops over elements of arrays the rounds are counted, and how often the loop ended: two versions of a
//! loop (`opt::versions`) are not worth it for a few rounds. The first block and the one behind the last branch back
//! are counted, if no other block leads to the latter.
//!
//! Nothing is undone if the future differs from the past: what hardly ever ran lies out of line, and calls there are
//! calls. Left out: branches backward and those that leave a loop, since a loop that still runs has never been left;
//! `switch`; sides to which several branches lead, as of `||`.

use super::emitter::Emitter;
use crate::ir::{BlockId, Op};
use std::sync::atomic::Ordering;

/// What the first tier's counts say of a conditional branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Odds {
    Unknown,
    HardlyTaken,
    SeldomTaken,
    UsuallyTaken,
    HardlyNotTaken,
}

/// Runs of a branch from which something is concluded.
const MIN_RUNS: u32 = 30;
/// Runs from which a block counts as hot: half of what makes a method hot by its calls.
const HOT_RUNS: u32 = 1000;
/// One way of so many is hardly ever taken.
const HARDLY: u32 = 64;
/// A loop with fewer rounds for each entry has few. With two arrays, six rounds gain nothing from a second version.
const FEW_ROUNDS: u32 = 6;
/// Whether a branch leaves a loop is not asked in bodies with more loops, since each is looked at.
const MAX_LOOPS: usize = 64;

impl Odds {
    /// `taken` of `all` times.
    fn of(taken: u32, all: u32) -> Odds {
        let other = all.saturating_sub(taken);
        if all < MIN_RUNS {
            Odds::Unknown
        } else if taken <= all / HARDLY {
            Odds::HardlyTaken
        } else if other <= all / HARDLY {
            Odds::HardlyNotTaken
        } else if taken > other {
            Odds::UsuallyTaken
        } else {
            Odds::SeldomTaken
        }
    }

    /// Whether the branch was taken more often than not.
    pub fn is_usual(self) -> bool {
        matches!(self, Odds::UsuallyTaken | Odds::HardlyNotTaken)
    }

    /// Whether the branch was known not to be taken more often than not.
    pub fn is_seldom(self) -> bool {
        matches!(self, Odds::SeldomTaken | Odds::HardlyTaken)
    }
}

impl Emitter<'_> {
    /// Whether the block at `offset` has this branch alone as way in, and no loop has to end for it.
    fn is_arm(&self, offset: u32) -> bool {
        offset > self.s.offset && self.s.scan.has_one_way_in(offset)
    }

    /// Whether the sides of this branch are counted.
    fn is_counted_branch(&self, target: u32, next: u32) -> bool {
        let scan = &self.s.scan;
        let stays = |to: u32| !scan.leaves_loop(self.s.offset, to);
        target > self.s.offset
            && (self.is_arm(target) || self.is_arm(next))
            && (scan.loop_count() == 0 || (scan.loop_count() <= MAX_LOOPS && stays(target) && stays(next)))
    }

    /// Counts the current block.
    pub(super) fn count_block(&mut self) {
        if let Some((number, count)) = self.s.scan.block_number(self.s.block_start) {
            self.b.effect(Op::CountBlock { number, count });
        }
    }

    fn counts_branches(&self) -> bool {
        self.options.count && self.parent.is_none()
    }

    /// Before a branch: counts its runs, if the counts of its arms do not add up to them.
    pub(super) fn count_branch(&mut self, target: u32, next: u32) {
        let is_block_counted = || self.s.labels.get(&self.s.block_start).is_some_and(|label| label.is_counted);
        if self.counts_branches()
            && self.is_counted_branch(target, next)
            && !(self.is_arm(target) && self.is_arm(next))
            && !is_block_counted()
        {
            self.count_block();
        }
    }

    /// Has the blocks count to which only this branch leads.
    pub(super) fn count_arms(&mut self, target: u32, next: u32) {
        if !self.counts_branches() || !self.is_counted_branch(target, next) {
            return;
        }
        for arm in [target, next] {
            if self.is_arm(arm)
                && let Some(label) = self.s.labels.get_mut(&arm)
            {
                label.is_counted = true;
            }
        }
    }

    /// How often the block at `offset` ran.
    fn runs(&self, offset: u32) -> u32 {
        let counter = self.s.scan.block_number(offset).and_then(|(number, _)| self.s.block_counts.get(number as usize));
        // Relaxed: any state of the counters is a guess.
        counter.map_or(0, |counter| counter.load(Ordering::Relaxed))
    }

    /// At the beginning of a block: has it counted if it tells of rounds or ends of a loop, or finds how many rounds
    /// its loop had.
    pub(super) fn note_rounds(&mut self, offset: u32, block: BlockId) {
        let loops = self.s.scan.array_loops();
        if loops.is_empty() {
            return;
        }
        if self.counts_branches() {
            let is_counted = loops.iter().any(|&(start, end)| start == offset || end == offset);
            if let Some(label) = self.s.labels.get_mut(&offset).filter(|_| is_counted) {
                label.is_counted = true;
            }
        } else if let Some(&(_, end)) = loops.iter().find(|&&(start, _)| start == offset) {
            let (rounds, entries) = (self.runs(offset), self.runs(end));
            if entries >= MIN_RUNS && rounds < entries.saturating_mul(FEW_ROUNDS) {
                self.b.f.blocks[block.0 as usize].few_rounds = true;
                self.decide(|| format!("few rounds of this loop: {rounds} in {entries} times"));
            }
        }
    }

    /// Which way a branch went so far.
    pub(super) fn odds(&mut self, target: u32, next: u32) -> Odds {
        if self.s.block_counts.is_empty() || !self.is_counted_branch(target, next) {
            return Odds::Unknown;
        }
        let arms = [target, next].map(|offset| self.is_arm(offset).then(|| self.runs(offset)));
        let (taken, all) = match arms {
            [Some(taken), Some(fallen)] => (taken, taken.saturating_add(fallen)),
            [Some(taken), None] => (taken, self.runs(self.s.block_start)),
            [None, Some(fallen)] => {
                let all = self.runs(self.s.block_start);
                (all.saturating_sub(fallen), all)
            }
            [None, None] => return Odds::Unknown,
        };
        let odds = Odds::of(taken, all);
        if matches!(odds, Odds::HardlyTaken | Odds::HardlyNotTaken) {
            self.decide(|| {
                format!(
                    "hardly ever {}: {taken} of {all} times went to IL_{target:04x}",
                    match odds {
                        Odds::HardlyTaken => "taken",
                        _ => "passed",
                    }
                )
            });
        }
        odds
    }

    /// Whether the block being imported is known to run often.
    pub(super) fn is_hot(&self) -> bool {
        !self.b.is_cold && self.runs(self.s.block_start) >= HOT_RUNS
    }
}

#[cfg(test)]
mod tests {
    use super::Odds;

    #[test]
    fn what_hardly_ever_happens_is_one_of_sixty_four() {
        for (taken, all, expect) in [
            (0, 29, Odds::Unknown),
            (0, 30, Odds::HardlyTaken),
            (30, 30, Odds::HardlyNotTaken),
            (1, 30, Odds::SeldomTaken),
            (1, 64, Odds::HardlyTaken),
            (63, 64, Odds::HardlyNotTaken),
            (500, 1000, Odds::SeldomTaken),
            (501, 1000, Odds::UsuallyTaken),
            // Threads that count at the same time lose counts of each other.
            (40, 35, Odds::HardlyNotTaken),
        ] {
            assert_eq!(Odds::of(taken, all), expect, "{taken} of {all}");
        }
    }
}
