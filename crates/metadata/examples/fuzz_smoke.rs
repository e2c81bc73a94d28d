//! A deterministic mutation fuzzer for the stable toolchain: the same seed gives the same inputs.
//!
//! `cargo run --release -p saki-metadata --example fuzz_smoke -- [iterations] [seed] [seed files…]`
//!
//! Each input is a mutated copy of a seed image; all of it is read (`walk`, `dump`). A panic ends the run and
//! names its input `n`; `fuzz_smoke 1 n` repeats that input alone, because input `i` of a run with seed `s`
//! has a generator of its own, seeded with `s + i`.

use std::cell::Cell;
use std::process::ExitCode;
use std::time::Instant;

use saki_metadata::walk::walk;
use saki_metadata::{CaEnumType, ElementType, Image, dump};

const SEED_IMAGE: &[u8] = include_bytes!("../../../fuzz/seeds/seed.exe");

/// Values that lie on the edges of the format's fields.
const EDGES: [u32; 12] =
    [0, 1, 0x7f, 0x80, 0xff, 0x3fff, 0x4000, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

thread_local! {
    static CURRENT_INPUT: Cell<u64> = const { Cell::new(0) };
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// The part of a seed that is worth mutating: everything but the padding of the headers.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(8) {
        if bytes.len() < 8 {
            return;
        }
        let at = random.below(bytes.len() - 4);
        match random.below(16) {
            0..=4 => bytes[at] ^= 1 << random.below(8),
            5..=7 => bytes[at] = random.next() as u8,
            8..=9 => {
                let edge = EDGES[random.below(EDGES.len())].to_le_bytes();
                let width = [1, 2, 4][random.below(3)];
                bytes[at..at + width].copy_from_slice(&edge[..width]);
            }
            10..=11 => bytes[at] = bytes[at].wrapping_add(random.below(5) as u8).wrapping_sub(2),
            12 => {
                let from = random.below(bytes.len() - 4);
                let len = (1 + random.below(32)).min(bytes.len() - at.max(from));
                bytes.copy_within(from..from + len, at);
            }
            13 => {
                let len = (1 + random.below(8)).min(bytes.len() - at);
                bytes.drain(at..at + len);
            }
            14 => {
                let value = random.next().to_le_bytes();
                let len = 1 + random.below(8);
                bytes.splice(at..at, value[..len].iter().copied());
            }
            _ => {
                if random.below(8) == 0 {
                    bytes.truncate(at);
                }
            }
        }
    }
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let mut number = |default: u64| args.next().map_or(Some(default), |text| text.parse().ok());
    let (Some(iterations), Some(seed)) = (number(1_000_000), number(1)) else {
        eprintln!("usage: fuzz_smoke [iterations] [seed] [seed files…]");
        return ExitCode::FAILURE;
    };
    let mut seeds = vec![SEED_IMAGE.to_vec()];
    for path in args {
        match std::fs::read(&path) {
            Ok(bytes) => seeds.push(bytes),
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        eprintln!("panic at input {}", CURRENT_INPUT.get());
        default_hook(info);
    }));

    let start = Instant::now();
    let (mut opened, mut problems, mut clean) = (0_u64, 0_u64, 0_u64);
    let mut slowest = (std::time::Duration::ZERO, 0);
    for input in 0..iterations {
        CURRENT_INPUT.set(seed.wrapping_add(input));
        let mut random = Random(seed.wrapping_add(input));
        let mut bytes = seeds[random.below(seeds.len())].clone();
        mutate(&mut bytes, &mut random);
        let input_start = Instant::now();
        if let Ok(image) = Image::from_bytes("mutated".to_owned(), bytes) {
            opened += 1;
            let underlying = ElementType::from_u8(0x04 + random.below(8) as u8);
            let report = walk(&image, &|_: &CaEnumType| underlying);
            problems += report.problem_count;
            clean += u64::from(report.problem_count == 0);
            std::hint::black_box(dump(&image));
        }
        slowest = slowest.max((input_start.elapsed(), input));
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{iterations} inputs from seed {seed} without a panic in {seconds:.1} s ({:.1} µs each); \
         {opened} opened, {clean} without a problem, {problems} problems; slowest: input {} in {:?}",
        seconds * 1e6 / iterations.max(1) as f64,
        slowest.1,
        slowest.0,
    );
    ExitCode::SUCCESS
}
