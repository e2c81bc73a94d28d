//! A simulated machine: each core has a value of CTR_EL0, and the thread is on another core after given operations.

use super::*;
use std::collections::BTreeSet;

/// A value of CTR_EL0 with these lines, in bytes.
fn cache_type(data_line: usize, instruction_line: usize, needless: usize) -> usize {
    let log2_words = |bytes: usize| (bytes / 4).ilog2() as usize;
    log2_words(data_line) << DATA_LINE_SHIFT | log2_words(instruction_line) << INSTRUCTION_LINE_SHIFT | needless
}

/// The thread runs on `cores[0]`, and on the next one after each number of operations in `migrations`.
struct Machine {
    cores: Vec<usize>,
    migrations: Vec<usize>,
    operations: usize,
    /// Bytes whose clean was issued, and those of them for which it is complete.
    cleaning: BTreeSet<usize>,
    clean: BTreeSet<usize>,
    /// Bytes invalidated after their clean was complete, and those for which that is complete.
    invalidating: BTreeSet<usize>,
    fresh: BTreeSet<usize>,
    invalidated_lines: usize,
}

impl Machine {
    fn new(cores: &[usize], migrations: &[usize]) -> Self {
        Self {
            cores: cores.to_vec(),
            migrations: migrations.to_vec(),
            operations: 0,
            cleaning: BTreeSet::new(),
            clean: BTreeSet::new(),
            invalidating: BTreeSet::new(),
            fresh: BTreeSet::new(),
            invalidated_lines: 0,
        }
    }

    /// CTR_EL0 of the core that executes the next operation.
    fn step(&mut self) -> usize {
        let core = self.migrations.iter().filter(|&&after| after <= self.operations).count();
        self.operations += 1;
        self.cores[core]
    }
}

fn line_of(cache_type: usize, shift: u32, address: usize) -> Range<usize> {
    let bytes = 4 << (cache_type >> shift & 15);
    address / bytes * bytes..(address / bytes + 1) * bytes
}

impl Caches for Machine {
    fn cache_type(&mut self) -> usize {
        self.step()
    }

    fn clean(&mut self, line: usize) {
        let core = self.step();
        self.cleaning.extend(line_of(core, DATA_LINE_SHIFT, line));
    }

    fn invalidate(&mut self, line: usize) {
        let core = self.step();
        self.invalidated_lines += 1;
        // An invalidation before the clean is complete may fetch old bytes again. With IDC there is nothing to clean.
        let is_clean = |byte: &usize| core & CLEAN_NEEDLESS != 0 || self.clean.contains(byte);
        self.invalidating.extend(line_of(core, INSTRUCTION_LINE_SHIFT, line).filter(is_clean));
    }

    fn complete(&mut self) {
        self.step();
        self.clean.extend(&self.cleaning);
        self.fresh.extend(&self.invalidating);
    }
}

/// The range begins and ends within lines.
const RANGE: Range<usize> = 0x1_0024..0x1_0193;

/// Synchronises the range and checks that no byte was left out that a core needs.
fn check(seen: &Seen, cores: &[usize], migrations: &[usize]) -> Machine {
    let mut machine = Machine::new(cores, migrations);
    seen.synchronise(&mut machine, RANGE);
    for byte in RANGE {
        let context = || format!("byte {byte:#x}, cores {cores:x?}, migrations after {migrations:?}");
        let needed = |needless| cores.iter().any(|core| core & needless == 0);
        assert!(!needed(CLEAN_NEEDLESS) || machine.clean.contains(&byte), "not cleaned: {}", context());
        assert!(!needed(INVALIDATE_NEEDLESS) || machine.fresh.contains(&byte), "not invalidated: {}", context());
    }
    machine
}

/// More than the operations of the longest call in the tests: two passes with steps of 16 bytes.
const MOMENTS: usize = 110;

#[test]
fn equal_cores_are_flushed_in_one_pass() {
    for line in [16, 32, 64, 128, 256] {
        check(&Seen::new(), &[cache_type(line, line, 0)], &[]);
    }
    let machine = check(&Seen::new(), &[cache_type(64, 64, 0)], &[]);
    assert_eq!(machine.invalidated_lines, (0x1_0000..0x1_0193).step_by(64).count());
}

#[test]
fn a_migration_to_a_core_with_smaller_lines_leaves_no_line_out() {
    for (from, to) in [(128, 64), (64, 128), (128, 32), (64, 32), (64, 16), (32, 64)] {
        for moment in 1..MOMENTS {
            // A thread that leaves after the last read no longer works for the call.
            let cores = [cache_type(from, from, 0), cache_type(to, to, 0)];
            check(&Seen::new(), &cores, &[moment]);
            check(&Seen::new(), &[cache_type(from, 64, 0), cache_type(to, 64, 0)], &[moment]);
            check(&Seen::new(), &[cache_type(64, from, 0), cache_type(64, to, 0)], &[moment]);
        }
    }
}

#[test]
fn a_visit_between_the_reads_leaves_no_line_out() {
    let (big, little) = (cache_type(128, 128, 0), cache_type(64, 64, 0));
    for there in 1..30 {
        for back in there..30 {
            check(&Seen::new(), &[big, little, big], &[there, back]);
        }
    }
}

#[test]
fn the_smallest_line_ever_seen_counts_on_other_cores() {
    let seen = Seen::new();
    let (big, little) = (cache_type(128, 128, 0), cache_type(32, 32, 0));
    check(&seen, &[little], &[]);
    // This thread visits the core between its two reads, which both give 128.
    for there in 1..60 {
        check(&seen, &[big, little, big], &[there, there + 7]);
    }
}

#[test]
fn operations_that_no_core_needs_are_left_out() {
    let both = CLEAN_NEEDLESS | INVALIDATE_NEEDLESS;
    let machine = check(&Seen::new(), &[cache_type(64, 64, both)], &[]);
    assert_eq!(machine.operations, 3, "two reads and a barrier");
    let machine = check(&Seen::new(), &[cache_type(64, 64, INVALIDATE_NEEDLESS)], &[]);
    assert_eq!(machine.invalidated_lines, 0);
    let machine = check(&Seen::new(), &[cache_type(64, 64, CLEAN_NEEDLESS)], &[]);
    assert!(machine.clean.is_empty());
}

#[test]
fn a_core_that_needs_an_operation_brings_it_back() {
    let both = CLEAN_NEEDLESS | INVALIDATE_NEEDLESS;
    let (coherent, plain) = (cache_type(64, 64, both), cache_type(64, 64, 0));
    // The thread is on the plain core at the second read, the third operation, at the latest.
    for moment in 1..=2 {
        check(&Seen::new(), &[coherent, plain], &[moment]);
    }
    for moment in 1..MOMENTS {
        check(&Seen::new(), &[plain, coherent], &[moment]);
    }
    // The value is kept: the next call flushes on the coherent core too, for the sake of the other.
    let seen = Seen::new();
    check(&seen, &[plain], &[]);
    let machine = check(&seen, &[coherent], &[]);
    assert!(machine.invalidated_lines > 0 && !machine.clean.is_empty());
}
