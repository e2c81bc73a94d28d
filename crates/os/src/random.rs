//! Randomness: bytes from the kernel, and the machine's own choices.
//!
//! What the program asks for (keys, `RNGCryptoServiceProvider`) always comes from the kernel (`fill`). What the machine chooses for itself (names of
//! temporary files, the places of samples) it takes from a value `Random`: normally the system's, or that of a test, whose numbers follow from
//! a seed. The functions without a `Random` draw the machine's.
//!
//! Invariant: `fill` fills the whole buffer or returns an error. `Random::number` makes no system call after the first, and never fails; its
//! numbers are well spread, but no secret. Left out: hash seeds of the standard library's tables.

use std::io::{self, Read};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Fills the buffer with random bytes fit for keys.
///
/// # Errors
/// The system's, where it gives none.
pub fn fill(buffer: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        let rest = &mut buffer[filled..];
        // SAFETY: `rest` is writable for its length.
        let n = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        if n >= 0 {
            filled += n as usize;
            continue;
        }
        match crate::error::errno() {
            libc::EINTR => {}
            // A filter of system calls forbids it.
            libc::ENOSYS | libc::EPERM => return std::fs::File::open("/dev/urandom")?.read_exact(rest),
            _ => return Err(crate::error::last_error()),
        }
    }
    Ok(())
}

fn word_of_system() -> io::Result<u64> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// A sequence of numbers that follows from its seed (splitmix64; Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug)]
pub struct Sequence {
    /// Relaxed: each draw is one addition, so no two draws get the same number; nothing else is published.
    state: AtomicU64,
}

impl Sequence {
    /// The sequence of this seed, from its begin.
    pub const fn new(seed: u64) -> Sequence {
        Sequence { state: AtomicU64::new(seed) }
    }

    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        // Relaxed: see the field.
        let mut z = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Whose randomness it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random(Option<&'static Sequence>);

impl Random {
    /// The system's randomness.
    pub const SYSTEM: Random = Random(None);

    /// A test's: the numbers of this sequence, in the order in which they are drawn.
    pub const fn of(sequence: &'static Sequence) -> Random {
        Random(Some(sequence))
    }

    /// A word that nobody else can guess, unless a test owns the randomness: for names of files.
    ///
    /// # Errors
    /// Those of `fill`.
    pub fn word(self) -> io::Result<u64> {
        self.0.map_or_else(word_of_system, |sequence| Ok(sequence.next()))
    }

    /// A number for choices that only have to be spread, such as the place of a sample. Async-signal-safe once a number was drawn.
    pub fn number(self) -> u64 {
        self.0.unwrap_or_else(process_sequence).next()
    }
}

/// The process's sequence. Its seed comes from the kernel; where there is none, from the time.
fn process_sequence() -> &'static Sequence {
    static PROCESS: Sequence = Sequence::new(0);
    // Relaxed: two threads may both draw a seed; the first one stays, and either is as good.
    if PROCESS.state.load(Ordering::Relaxed) == 0 {
        let seed = word_of_system().unwrap_or_else(|_| crate::clock::monotonic_ns()) | 1;
        let _ = PROCESS.state.compare_exchange(0, seed, Ordering::Relaxed, Ordering::Relaxed);
    }
    &PROCESS
}

/// The machine's randomness; null is the system's. Relaxed: set before the machine starts.
static MACHINE: AtomicPtr<Sequence> = AtomicPtr::new(std::ptr::null_mut());

/// The randomness of the machine in this process.
pub fn machine() -> Random {
    // SAFETY: null, or the address of a `&'static Sequence` that `set_machine` was given.
    Random(unsafe { MACHINE.load(Ordering::Relaxed).as_ref() })
}

/// Decides from where the machine takes its randomness. To be called before it starts.
pub fn set_machine(random: Random) {
    let sequence = random.0.map_or(std::ptr::null_mut(), |sequence| std::ptr::from_ref(sequence).cast_mut());
    // Relaxed: see `MACHINE`.
    MACHINE.store(sequence, Ordering::Relaxed);
}

/// `Random::word` of the machine.
///
/// # Errors
/// Those of `fill`.
pub fn word() -> io::Result<u64> {
    machine().word()
}

/// `Random::number` of the machine.
pub fn number() -> u64 {
    machine().number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_words_differ() {
        assert_ne!(Random::SYSTEM.word().unwrap(), Random::SYSTEM.word().unwrap());
        assert_ne!(Random::SYSTEM.number(), Random::SYSTEM.number());
    }

    #[test]
    fn numbers_of_a_test_follow_from_its_seed() {
        static SEQUENCES: [Sequence; 2] = [const { Sequence::new(1) }; 2];
        let draw = |sequence: &'static Sequence| {
            let random = Random::of(sequence);
            [random.number(), random.word().unwrap(), random.number()]
        };
        let drawn = draw(&SEQUENCES[0]);
        assert_eq!(drawn, draw(&SEQUENCES[1]));
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2], "{drawn:?}");
    }
}
