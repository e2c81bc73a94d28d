//! Events of the heap for a profiler: allocations, sampled by bytes, and pauses.
//!
//! Allocations are sampled on the slow path: while sampling is on, the limit of a carrier's buffer, which compiled code
//! compares with, is set to where the next sample is due (`mmtk::mutator`). So the inlined allocation path is the same
//! with and without sampling. The distance between two samples is random with an exponential distribution, so that no
//! pattern of a program's allocations is missed; a sample stands for all bytes since the one before.
//!
//! Where each allocation is to be reported ([`EACH`]), the limit is 0, and the slow path takes the object out of the
//! same buffer without asking MMTk.
//!
//! Invariant: observers allocate no managed objects. With sampling off the slow path pays one load and a branch.

use saki_abi::ObjRef;
use saki_base::locks::{Mutex, rank};
use saki_os::clock::Moment;
use saki_thread::ManagedThread;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// An allocation that was sampled.
pub struct SampledAllocation<'a> {
    /// The current thread.
    pub thread: &'a ManagedThread,
    /// The object; only its vtable word is set, all other words are zero.
    pub object: ObjRef,
    /// The size of the object, with its header.
    pub size_bytes: usize,
    /// Allocated by the thread's carrier since the sample before, this object included.
    pub weight_bytes: u64,
    /// Each allocation is reported ([`EACH`]).
    pub is_each: bool,
}

/// In place of a distance between samples: each allocation is reported.
pub const EACH: usize = 1;

/// A collection that is over: of the nursery, or of everything.
#[derive(Clone, Copy)]
pub struct Collection {
    /// Whether old objects were collected as well.
    pub was_full: bool,
    /// The times when the collector asked threads to stop, when the last one had stopped, when strong marking ended and
    /// weak references began, when freeing memory began, and when all was done.
    pub steps: [Moment; 5],
}

impl Collection {
    /// How long the program was stopped.
    pub fn pause(&self) -> Duration {
        self.steps[4] - self.steps[0]
    }

    /// The times between two steps.
    pub fn phases(&self) -> [Duration; 4] {
        std::array::from_fn(|index| self.steps[index + 1].saturating_duration_since(self.steps[index]))
    }
}

/// Who asks for samples of allocations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sampler {
    Session,
    Log,
    Host,
}

/// Mean bytes between two samples that each `Sampler` asks for; 0 = none.
static REQUESTS: Mutex<rank::ObserverRequests, [usize; 3]> = Mutex::new([0; 3]);

/// The least of them; 0 while there are none. Relaxed: a thread that sees a change late samples later.
static SAMPLING_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Notes what one asks for; true if each allocation is to be reported from now on.
pub(crate) fn request_samples(sampler: Sampler, mean_bytes: usize) -> bool {
    let mut requests = REQUESTS.lock();
    requests[sampler as usize] = mean_bytes;
    let least = requests.iter().copied().filter(|bytes| *bytes != 0).min().unwrap_or(0);
    SAMPLING_BYTES.swap(least, Ordering::Relaxed) != EACH && least == EACH
}

/// Whether someone is told of each allocation now.
pub fn is_each_allocation_told() -> bool {
    sampling_bytes() == EACH
}

#[inline]
pub(crate) fn sampling_bytes() -> usize {
    SAMPLING_BYTES.load(Ordering::Relaxed)
}

/// Who asks for the moves of objects, as bits by `Sampler`. Relaxed: set and read around collections, whose begin
/// orders it.
static MOVES_WANTED: AtomicUsize = AtomicUsize::new(0);
/// Addresses before and after, of the collection under way.
static MOVES: Mutex<rank::ObservedMoves, Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// Switches on or off that collections record for someone which objects they move, for `take_moves`.
pub fn note_moves(listener: Sampler, are_noted: bool) {
    let bit = 1 << listener as usize;
    if are_noted {
        MOVES_WANTED.fetch_or(bit, Ordering::Relaxed);
    } else {
        MOVES_WANTED.fetch_and(!bit, Ordering::Relaxed);
    }
}

/// Whether collections record which objects they move.
pub fn are_moves_noted() -> bool {
    MOVES_WANTED.load(Ordering::Relaxed) != 0
}

/// The objects that the last collection moved: addresses before and after. For `HeapClient::collected`.
pub fn take_moves() -> Vec<(usize, usize)> {
    std::mem::take(&mut MOVES.lock())
}

/// A collector thread has copied an object.
#[inline]
pub(crate) fn moved(from: usize, to: usize) {
    if are_moves_noted() {
        note_move(from, to);
    }
}

#[cold]
fn note_move(from: usize, to: usize) {
    MOVES.lock().push((from, to));
}

/// When a carrier's next sample is due.
#[derive(Default)]
pub(crate) struct SamplingState {
    /// The carrier's count of allocated bytes at which the next sample is due; 0 = not chosen yet.
    pub next_at_bytes: u64,
    /// The carrier's count of allocated bytes at the last sample.
    pub last_at_bytes: u64,
    /// The buffer's own limit while a lower one stands in; 0 = none does.
    pub hidden_limit: usize,
    random: u64,
}

impl SamplingState {
    /// Chooses the next sample's place, `allocated_bytes` being the present one.
    pub fn choose_next(&mut self, allocated_bytes: u64, mean_bytes: usize) {
        if self.random == 0 {
            // The generator below has no way out of 0.
            self.random = saki_os::random::number() | 1;
        }
        // xorshift64.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        // In (0, 1].
        let uniform = ((self.random >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        let distance = -uniform.ln() * mean_bytes as f64;
        self.next_at_bytes = allocated_bytes + 1 + distance as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_have_their_mean() {
        let mut state = SamplingState::default();
        let (mut at, samples, mean) = (0, 20_000, 1000);
        for _ in 0..samples {
            state.choose_next(at, mean);
            at = state.next_at_bytes;
        }
        let found = at as f64 / f64::from(samples);
        assert!((found - mean as f64).abs() < 0.05 * mean as f64, "{found}");
    }
}
