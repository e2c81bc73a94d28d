//! A test aid (`--hot-seed`): has the second tier come at pseudo-random moments and know wrong things.
//!
//! | what | how often |
//! |---|---|
//! | a method's counter begins somewhere between 0 and its overflow | always |
//! | the guess of a receiver's class is the class above the usual one | one of 4 |
//! | a method counts as overridden as soon as code relies on the contrary | one of 3 |
//!
//! Invariant: programs behave as without it; only their speed and memory differ. The seed and what is asked about
//! decide, so that a run of one thread can be repeated.

use saki_types::Method;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, Ordering};

/// 0: off. Relaxed: set before managed code runs.
static SEED: AtomicU64 = AtomicU64::new(0);

/// Turns it on. To be called before managed code runs.
pub fn start(seed: u32) {
    SEED.store(u64::from(seed) + 1, Ordering::Relaxed);
}

/// A number that the seed and the question decide; None: the aid is off.
fn number(method: &Method, question: u32) -> Option<u64> {
    let seed = SEED.load(Ordering::Relaxed);
    if seed == 0 {
        return None;
    }
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write_u64(seed);
    hasher.write_u32(question);
    hasher.write_u32(method.rid().unwrap_or(0));
    hasher.write(method.name.as_bytes());
    Some(hasher.finish() >> 16)
}

/// Where a method's counter begins (`MethodRuntime::heat`).
pub fn first_heat(method: &Method) -> i32 {
    number(method, 0).map_or(0, |number| (number & 0x7fff_ffff) as i32)
}

/// Whether the guess of the receiver's class of the call at this IL offset is to be wrong.
pub fn is_wrong(method: &Method, il_offset: u32) -> bool {
    number(method, il_offset + 1).is_some_and(|number| number % 4 == 0)
}

/// Whether the method is to count as overridden.
pub fn is_overridden(method: &Method) -> bool {
    number(method, u32::MAX).is_some_and(|number| number % 3 == 0)
}
