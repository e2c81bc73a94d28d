//! The entries of the simulated evaluation stack, and how many at its bottom no store can affect any more.
//!
//! Before each store the entries are searched for those that the store would change (`stack`, `spill`). A stack may be
//! thousands of entries deep, so entries that have been found to be out of reach of every store are not looked at
//! again: scalars, and structs in temps of their own. Invariant: entries change only from structs in memory to such.

use super::state::{StackEntry, Val};
use crate::ir::LocalId;
use std::ops::Deref;

/// See the module header. As a slice, the entries, the deepest first.
#[derive(Default)]
pub(super) struct EvaluationStack {
    entries: Vec<StackEntry>,
    /// Entries at the bottom that no store can affect.
    settled: usize,
}

impl Deref for EvaluationStack {
    type Target = [StackEntry];

    fn deref(&self) -> &[StackEntry] {
        &self.entries
    }
}

impl EvaluationStack {
    /// An empty stack that uses the memory of a vector.
    pub fn with_memory(mut memory: Vec<StackEntry>) -> EvaluationStack {
        memory.clear();
        EvaluationStack { entries: memory, settled: 0 }
    }

    /// The vector, for the next stack.
    pub fn into_memory(self) -> Vec<StackEntry> {
        self.entries
    }

    /// Makes room for so many more entries.
    pub fn reserve(&mut self, additional: usize) {
        self.entries.reserve(additional);
    }

    /// Adds an entry at the top.
    pub fn push(&mut self, entry: StackEntry) {
        self.entries.push(entry);
    }

    /// Adds entries at the top, the deepest first.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = StackEntry>) {
        self.entries.extend(entries);
    }

    /// Removes the entry at the top.
    pub fn pop(&mut self) -> Option<StackEntry> {
        let entry = self.entries.pop();
        self.settled = self.settled.min(self.entries.len());
        entry
    }

    /// Removes the entries from number `first` on.
    pub fn split_off(&mut self, first: usize) -> Vec<StackEntry> {
        self.settled = self.settled.min(first);
        self.entries.split_off(first)
    }

    /// Removes the entries from number `depth` on.
    pub fn truncate(&mut self, depth: usize) {
        self.settled = self.settled.min(depth);
        self.entries.truncate(depth);
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Replaces all entries.
    pub fn set(&mut self, entries: Vec<StackEntry>) {
        *self = EvaluationStack { entries, settled: 0 };
    }

    /// How many entries at the bottom no store can affect.
    pub fn settled(&self) -> usize {
        self.settled
    }

    /// Counts the entry just above those as one of them if it is one.
    pub fn settle_next(&mut self) {
        if self.entries.get(self.settled).is_some_and(|entry| !is_in_reach_of_stores(&entry.val)) {
            self.settled += 1;
        }
    }

    /// The struct of an entry has been copied to a temp.
    pub fn moved_to_temp(&mut self, index: usize, temp: LocalId) {
        self.entries[index].val = Val::Temp(temp);
    }
}

/// Whether some store could change what the entry stands for.
pub(super) fn is_in_reach_of_stores(val: &Val) -> bool {
    match val {
        Val::InLocal(..) | Val::InMemory { .. } => true,
        Val::Scalar(_) | Val::Temp(_) | Val::DefaultComparer(_) | Val::Handle(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{IrType, ValueId};

    fn scalar() -> StackEntry {
        StackEntry::scalar(ValueId(0), IrType::I32)
    }

    #[test]
    fn an_entry_pushed_where_a_settled_one_was_is_not_settled() {
        let mut stack = EvaluationStack::default();
        stack.extend([scalar(), scalar()]);
        stack.settle_next();
        stack.settle_next();
        stack.settle_next();
        assert_eq!(stack.settled(), 2);
        stack.pop();
        stack.push(StackEntry { val: Val::InLocal(LocalId(0), 0), ..scalar() });
        stack.settle_next();
        assert_eq!(stack.settled(), 1);
        stack.moved_to_temp(1, LocalId(1));
        stack.settle_next();
        assert_eq!(stack.settled(), 2);
    }

    #[test]
    fn no_more_is_settled_than_there_is() {
        let shortenings: [fn(&mut EvaluationStack); 3] =
            [|stack| stack.truncate(1), |stack| drop(stack.split_off(1)), |stack| stack.set(vec![scalar()])];
        for shorten in shortenings {
            let mut stack = EvaluationStack::default();
            stack.extend([scalar(), scalar(), scalar()]);
            (0..3).for_each(|_| stack.settle_next());
            shorten(&mut stack);
            assert!(stack.settled() <= 1);
            assert_eq!(stack.len(), 1);
        }
    }
}
