//! Stacks of methods by numbers, encoded as allocations in the log have them.

use rustc_hash::FxHashMap;
use saki_base::locks::{RwLock, rank};
use saki_profile::mlpd::EncodedStack;
use saki_sampler::allocations::AllocationRecord;
use saki_unwind::MORE_FRAMES;

/// Stacks by their numbers. The same methods have one number.
#[derive(Default)]
pub(super) struct Stacks {
    stacks: Vec<Stack>,
    /// Numbers of stacks, by the outer stack and the method.
    numbers: FxHashMap<(u32, u64), u32>,
}

pub(super) struct Stack {
    outer: u32,
    method: u64,
    /// The encoded stack, and the most frames that it was encoded with.
    pub encoded: Option<(usize, EncodedStack)>,
}

/// Numbers of stacks with methods begin here.
const FIRST_STACK: u32 = MORE_FRAMES + 1;

/// The lock is held between two safepoints only, and not while a name is looked up.
pub(super) static STACKS: RwLock<rank::LogStacks, Option<Stacks>> = RwLock::new(None);

impl Stacks {
    /// The number of the stack in which `outer` calls the method.
    pub fn number(&mut self, outer: u32, method: u64) -> u32 {
        let stacks = &mut self.stacks;
        *self.numbers.entry((outer, method)).or_insert_with(|| {
            stacks.push(Stack { outer, method, encoded: None });
            stacks.len() as u32 - 1 + FIRST_STACK
        })
    }

    pub fn get(&self, number: u32) -> Option<&Stack> {
        self.stacks.get(number.checked_sub(FIRST_STACK)? as usize)
    }

    /// Encodes the stacks of records, if that has not been done with `max_frames`.
    pub fn encode(&mut self, records: &[AllocationRecord], max_frames: usize) {
        for record in records {
            if self.is_encoded(record.stack, max_frames) {
                continue;
            }
            let mut methods = Vec::new();
            let mut at = record.stack;
            while let Some(stack) = self.get(at).filter(|_| methods.len() < max_frames) {
                methods.push(stack.method);
                at = stack.outer;
            }
            methods.reverse();
            let index = (record.stack - FIRST_STACK) as usize;
            self.stacks[index].encoded = Some((max_frames, EncodedStack::new(&methods)));
        }
    }

    /// Whether a stack is encoded with `max_frames`. Stacks without methods need no encoding.
    pub fn is_encoded(&self, number: u32, max_frames: usize) -> bool {
        self.get(number).is_none_or(|stack| stack.encoded.as_ref().is_some_and(|encoded| encoded.0 == max_frames))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_unwind::NO_FRAMES;

    #[test]
    fn the_same_methods_have_one_number() {
        let mut stacks = Stacks::default();
        let outer = stacks.number(NO_FRAMES, 16);
        let inner = stacks.number(outer, 32);
        assert_eq!((stacks.number(NO_FRAMES, 16), stacks.number(outer, 32)), (outer, inner));
        assert_ne!(stacks.number(MORE_FRAMES, 16), outer);
        let record = |stack| AllocationRecord { address: 8, size_bytes: 8, ty: 0, stack };
        stacks.encode(&[record(inner), record(NO_FRAMES), record(MORE_FRAMES)], 1);
        assert!(stacks.is_encoded(inner, 1) && !stacks.is_encoded(inner, 2) && !stacks.is_encoded(outer, 1));
        assert!(stacks.is_encoded(NO_FRAMES, 1));
    }
}
