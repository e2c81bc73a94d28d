//! Changed copies of inputs, for tests that no input brings a reader down.
//!
//! `survive` is such a test: it gives a reader the seeds and changed copies of them for some seconds, on any toolchain.
//! The fuzz targets in `fuzz/` call the same readers under libFuzzer, which finds more and needs a nightly toolchain.
//! `cargo xtask mutate` changes whole programs with these numbers and with knowledge of the format. Left out: coverage.
//!
//! | variable | means | default |
//! |---|---|---|
//! | `SAKI_FUZZ_SECONDS` | how long each target runs | 1 |
//! | `SAKI_FUZZ_SEED` | other seeds give other inputs | 1 |
//! | `SAKI_FUZZ_INPUT` | only the input of this number | all |

mod random;

pub use random::Random;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Values that lie at the edges of the fields of binary formats.
const EDGES: [u32; 12] =
    [0, 1, 0x7f, 0x80, 0xff, 0x3fff, 0x4000, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// Changes that are made to one input, at most.
const MAX_CHANGES: usize = 8;

/// Longer inputs are not made: they take time, and say no more.
const MAX_ADDED_BYTES: usize = 4096;

/// No reader takes as long for an input of some KiB, on any machine.
const MAX_INPUT_SECONDS: u64 = 20;

/// Changes some bytes: bits, values at the edges of fields, copied, removed and inserted ranges, a lost end.
pub fn change_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(MAX_CHANGES) {
        if bytes.is_empty() {
            bytes.push(random.number() as u8);
        }
        let at = random.below(bytes.len());
        let rest = bytes.len() - at;
        match random.below(16) {
            0..=4 => bytes[at] ^= 1 << random.below(8),
            5..=7 => bytes[at] = random.number() as u8,
            8..=9 => {
                let edge = random.pick(&EDGES).to_le_bytes();
                let width = random.pick(&[1, 2, 4]).min(rest);
                bytes[at..at + width].copy_from_slice(&edge[..width]);
            }
            10..=11 => bytes[at] = bytes[at].wrapping_add(random.below(5) as u8).wrapping_sub(2),
            12 => {
                let from = random.below(bytes.len());
                let len = (1 + random.below(32)).min(bytes.len() - at.max(from));
                bytes.copy_within(from..from + len, at);
            }
            13 => drop(bytes.drain(at..at + (1 + random.below(8)).min(rest))),
            14 => {
                let value = random.number().to_le_bytes();
                let len = 1 + random.below(8);
                bytes.splice(at..at, value[..len].iter().copied());
            }
            15 if random.one_in(8) => bytes.truncate(at),
            _ => {}
        }
    }
}

/// The files of a folder with one of these extensions (no extension: all), in the order of their names.
///
/// # Panics
/// There are none: seeds are part of the sources, and without them the test is wrong.
pub fn read_seeds(folder: &Path, extensions: &[&str]) -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let is_wanted = |path: &PathBuf| {
        let has = |extension: &&str| path.extension().is_some_and(|own| own == *extension);
        path.is_file() && (extensions.is_empty() || extensions.iter().any(has))
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_wanted).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} has no seeds", folder.display());
    let read = |path: &PathBuf| std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    paths.iter().map(read).collect()
}

/// Says which input a panic belongs to.
struct Running<'a> {
    target: &'a str,
    seed: u64,
    number: u64,
    bytes: &'a [u8],
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let shown = &self.bytes[..self.bytes.len().min(200)];
            eprintln!(
                "{}: input {} of {} bytes (SAKI_FUZZ_SEED={} SAKI_FUZZ_INPUT={} makes it again): {shown:02x?}",
                self.target,
                self.number,
                self.bytes.len(),
                self.seed,
                self.number
            );
        }
    }
}

fn number_of(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// Gives `read` each seed, all its beginnings, and changed copies of seeds for `SAKI_FUZZ_SECONDS`; a pure function of
/// the seeds and `SAKI_FUZZ_SEED`, but for where it ends. The first inputs are always made, so that it cannot end
/// before it has tested something.
///
/// # Panics
/// Where `read` does, or takes long; the message names the input.
pub fn survive(target: &str, seeds: &[Vec<u8>], read: impl Fn(&[u8])) {
    let seconds = number_of("SAKI_FUZZ_SECONDS").unwrap_or(1);
    let seed = number_of("SAKI_FUZZ_SEED").unwrap_or(1);
    let run = |number: u64| {
        let bytes = input(target, seeds, seed, number);
        let _running = Running { target, seed, number, bytes: &bytes };
        let started = Instant::now();
        read(&bytes);
        let taken = started.elapsed();
        assert!(taken.as_secs() < MAX_INPUT_SECONDS, "{target}: {taken:?} for an input");
    };
    if let Some(number) = number_of("SAKI_FUZZ_INPUT") {
        return run(number);
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let beginnings = seeds.iter().map(|seed| 1 + seed.len() as u64).sum::<u64>();
    let mut number = 0;
    while number < beginnings || Instant::now() < end {
        run(number);
        number += 1;
    }
    println!("{target}: {number} inputs from {} seeds (SAKI_FUZZ_SEED={seed})", seeds.len());
}

/// The input of this number: first each seed with all its beginnings, then changed copies.
fn input(target: &str, seeds: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    let mut left = number;
    for bytes in seeds {
        let count = 1 + bytes.len() as u64;
        if left < count {
            return bytes[..bytes.len() - left as usize].to_vec();
        }
        left -= count;
    }
    let mut random = Random::new(seed, target, number);
    let mut bytes = seeds[random.below(seeds.len())].clone();
    let longest = bytes.len() + MAX_ADDED_BYTES;
    change_bytes(&mut bytes, &mut random);
    bytes.truncate(longest);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::collections::HashSet;

    #[test]
    fn changes_are_a_function_of_the_numbers_and_reach_every_byte() {
        let mut touched = [false; 40];
        let mut lengths = HashSet::new();
        for index in 0..2_000 {
            let made = || {
                let mut bytes = vec![0x55; 40];
                change_bytes(&mut bytes, &mut Random::new(1, "a", index));
                bytes
            };
            let bytes = made();
            assert_eq!(bytes, made());
            lengths.insert(bytes.len());
            touched.iter_mut().zip(&bytes).for_each(|(touched, byte)| *touched |= *byte != 0x55);
        }
        assert!(touched.iter().all(|touched| *touched), "{touched:?}");
        assert!(lengths.iter().any(|len| *len < 40) && lengths.iter().any(|len| *len > 40));
    }

    #[test]
    fn every_seed_and_beginning_comes_first() {
        let seen = RefCell::new(Vec::new());
        survive("order", &[b"ab".to_vec(), b"x".to_vec()], |bytes| seen.borrow_mut().push(bytes.to_vec()));
        let seen = seen.into_inner();
        assert_eq!(seen[..5], [b"ab".to_vec(), b"a".to_vec(), vec![], b"x".to_vec(), vec![]]);
        assert!(seen.len() > 100, "changed copies follow");
    }

    #[test]
    fn a_reader_that_falls_is_noticed() {
        let count = Cell::new(0);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            survive("fall", &[b"abcdefgh".to_vec()], |bytes| {
                count.set(count.get() + 1);
                assert!(!bytes.contains(&0xff), "a fault of the reader");
            });
        }));
        assert!(outcome.is_err() && count.get() > 9, "after {} inputs", count.get());
    }
}
