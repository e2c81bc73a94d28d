//! Patch sites: direct calls and jumps in placed code whose target is changed after the code was published.
//!
//! | site | when it is changed | how |
//! |---|---|---|
//! | `Branch`: the field lies in one aligned word | at any time, while other threads execute it | one read-modify-write of the word |
//! | `Crossing`: the field lies in two | while no thread executes managed code | four bytes are written |
//!
//! The third place that leads to code is a *cell*: a word of data that an indirect jump reads, as entry stubs do. It can
//! be changed at any time, whatever lies around it (`entry`).
//!
//! # Rules
//!
//! 1. *Alignment.* Processors fetch a naturally aligned word of 8 bytes whole: they see the old field or the new one. Of
//!    the places that a field of 4 bytes can have, three of eight cross such a boundary on x86-64; on aarch64, where
//!    instructions are aligned, none does.
//! 2. *Only the field changes*: the instruction stays where it is, as long as it is, and does what it did. So a thread
//!    that is stopped at any instruction may go on, and a return address means what it meant.
//! 3. *Both targets are right.* Other threads may go to the old target for some time after the change. Whoever frees it
//!    waits until no thread can be on its way there (`walks`, safepoints); this file knows nothing about it.
//! 4. *The new target is complete*: code, tables and instruction cache, before it is stored here.
//!
//! Orderings: instruction fetch pairs with nothing, so rule 4 is kept by `i_cache::synchronise`, which ran when the
//! target was placed. Writers pair with each other: a change is AcqRel, so that the last of several writers has acquired
//! what the others released (`linked_calls`).
//!
//! Left out: which calls lead to which method (`call_sites`), and the slots of vtables, which lie in the memory of
//! types.

use super::{Arch, Architecture, FIELD_BYTES};
use crate::region::Region;
use std::sync::atomic::Ordering;

/// Size of the aligned word by which a field is changed.
const WORD_BYTES: usize = 8;

/// A direct call or jump in placed code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PatchSite {
    Branch(BranchSite),
    Crossing(CrossingSite),
}

impl PatchSite {
    /// The call or jump whose field is at this offset from the region's base.
    pub fn at(offset: usize) -> PatchSite {
        // Offsets in the region are below its size, at most 1 GiB.
        let at = offset as u32;
        match offset % WORD_BYTES <= WORD_BYTES - FIELD_BYTES {
            true => PatchSite::Branch(BranchSite { offset: at }),
            false => PatchSite::Crossing(CrossingSite { offset: at }),
        }
    }
}

/// A call or jump whose field lies in one aligned word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BranchSite {
    /// Of the field, in bytes from the region's base.
    offset: u32,
}

impl BranchSite {
    /// Bits by which the field is shifted in its word.
    fn shift(self) -> u32 {
        self.offset % WORD_BYTES as u32 * 8
    }

    /// Makes it go to `target`, an address in the region. The bytes around the field stay as they are; others may
    /// change those at the same time.
    pub fn set_target(self, region: &Region, target: usize) {
        let start = region.base + self.offset as usize;
        let mask = u64::from(u32::MAX) << self.shift();
        let led = |old: u64| {
            let field = ((old & mask) >> self.shift()) as u32;
            let field = Arch::call_field(start, field.to_le_bytes(), target);
            old & !mask | u64::from(u32::from_le_bytes(field)) << self.shift()
        };
        let word = region.code_word(self.offset as usize);
        // AcqRel: see the header. Relaxed: the exchange that follows acquires.
        let _ = word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |old| Some(led(old)));
        saki_os::i_cache::synchronise(start..start + FIELD_BYTES);
    }
}

/// A call or jump whose field lies in two aligned words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CrossingSite {
    /// Of the field, in bytes from the region's base.
    offset: u32,
}

impl CrossingSite {
    /// Makes it go to `target`, an address in the region.
    ///
    /// # Safety
    /// No thread executes the call meanwhile: its code is not published, or the world is stopped and all processors
    /// fetch code anew before it goes on.
    pub unsafe fn set_target(self, region: &Region, target: usize) {
        let start = region.base + self.offset as usize;
        // SAFETY: placed code is readable, and here are four bytes of it, which nobody else changes (contract).
        let old = unsafe { (start as *const [u8; FIELD_BYTES]).read() };
        let field = Arch::call_field(start, old, target);
        // SAFETY: the field of a call in placed code, which no thread executes.
        unsafe { region.write(self.offset as usize, &field) };
    }
}

/// Where the call or jump goes whose field is at this offset from the region's base.
///
/// # Safety
/// It is the field of a call or jump in placed code, which no thread changes meanwhile.
pub(crate) unsafe fn target_of(region: &Region, offset: usize) -> usize {
    let start = region.base + offset;
    // SAFETY: placed code is readable, and here are four bytes of it.
    let field = unsafe { (start as *const [u8; FIELD_BYTES]).read() };
    Arch::call_target(start, field)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::masm::{HostAssembler, MacroAssembler};
    use crate::region::region;
    use crate::{CodeInfo, CodeKind, NewBody, PlacedTarget, enter, place};
    use saki_abi::{Reloc, ThreadAbi};
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    type Masm = HostAssembler<usize>;

    fn place_body(code: &mut Masm) -> &'static CodeInfo {
        let finished = code.finish(0, 0).expect("labels are bound");
        let relocs: Vec<Reloc<PlacedTarget>> = finished
            .relocs
            .iter()
            .map(|&Reloc { offset, kind, usage, target, addend }| Reloc {
                offset,
                kind,
                usage,
                target: PlacedTarget::Address(target),
                addend,
            })
            .collect();
        place(finished.bytes, 32, &relocs, NewBody::new(CodeKind::Method, std::ptr::null(), "test")).expect("room")
    }

    /// The address of code that returns the number.
    fn place_constant(value: i64) -> usize {
        let mut code = Masm::default();
        code.constant(Masm::RESULT, value);
        code.ret(0);
        place_body(&mut code).start
    }

    /// Code that calls `target` behind so many instructions of five bytes, and returns what that returns; with the
    /// offset of the call's field from the region's base.
    fn place_caller(region: &Region, target: usize, instructions: usize) -> (usize, usize) {
        const PROLOGUE_BYTES: usize = 4;
        let mut code = Masm::default();
        for _ in 0..instructions {
            code.constant(Masm::RESULT, 0);
        }
        let field = PROLOGUE_BYTES + code.offset() as usize + 1;
        code.call(target);
        code.ret(0);
        let start = place_body(&mut code).start;
        (start, region.offset_of(start).expect("placed in the region") + field)
    }

    fn call(target: usize) -> u64 {
        // SAFETY: all fields are integers, atomics or nullable pointers.
        let mut thread: Box<ThreadAbi> = Box::new(unsafe { std::mem::zeroed() });
        let mut result = 0;
        // SAFETY: the tests' bodies take no arguments, keep the conventions and return an integer.
        let status = unsafe { enter(&mut *thread, target, [0; 3], &mut result) };
        assert_eq!(status, 0);
        result
    }

    fn branch(offset: usize) -> Option<BranchSite> {
        match PatchSite::at(offset) {
            PatchSite::Branch(site) => Some(site),
            PatchSite::Crossing(_) => None,
        }
    }

    #[test]
    fn a_field_that_crosses_a_word_is_changed_while_no_thread_executes_it() {
        let patchable: Vec<usize> = (64..72).filter(|&offset| branch(offset).is_some()).collect();
        assert_eq!(patchable, [64, 65, 66, 67, 68]);
    }

    #[test]
    fn every_call_can_be_led_elsewhere_and_back() {
        let region = region().expect("a region");
        let [one, two] = [1, 2].map(place_constant);
        let mut crossing = 0;
        for instructions in 0..8 {
            let (caller, field) = place_caller(region, one, instructions);
            for target in [two, one, two] {
                match PatchSite::at(field) {
                    PatchSite::Branch(site) => site.set_target(region, target),
                    PatchSite::Crossing(site) => {
                        crossing += 1;
                        // SAFETY: only this thread knows the code, and it is here.
                        unsafe { site.set_target(region, target) };
                    }
                }
                // SAFETY: the field of the call, which no other thread knows.
                assert_eq!(unsafe { target_of(region, field) }, target);
                assert_eq!(call(caller), if target == one { 1 } else { 2 }, "{instructions}");
            }
        }
        assert_eq!(crossing, 3 * 3);
    }

    /// Threads call all the time, while the call's target changes ten thousand times.
    #[test]
    fn calls_go_to_one_of_the_targets_while_they_are_changed() {
        let region = region().expect("a region");
        let targets = [1, 2, 3].map(place_constant);
        let callers: Vec<(usize, BranchSite)> = (0..8)
            .filter_map(|instructions| {
                let (caller, field) = place_caller(region, targets[0], instructions);
                Some((caller, branch(field)?))
            })
            .collect();
        let (is_done, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    // Relaxed: only ends the loop.
                    while !is_done.load(Ordering::Relaxed) {
                        for &(caller, _) in &callers {
                            assert!((1..=3).contains(&call(caller)));
                        }
                        // Relaxed: a counter.
                        rounds.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            // Relaxed: a counter.
            let calling = || rounds.load(Ordering::Relaxed) < 1_000;
            for round in (0..).take_while(|&round| round < 10_000 || calling()) {
                for (number, (_, site)) in callers.iter().enumerate() {
                    site.set_target(region, targets[(round * 7 + number) % 3]);
                }
            }
            // Relaxed: only ends the loops.
            is_done.store(true, Ordering::Relaxed);
        });
        for (caller, site) in callers {
            site.set_target(region, targets[2]);
            assert_eq!(call(caller), 3);
        }
    }

    /// Two calls in one word are changed by two threads at once: neither loses the other's change.
    #[test]
    fn neighbours_in_a_word_are_changed_at_the_same_time() {
        let region = region().expect("a region");
        let start = place(vec![0xcc; 64], 32, &[], NewBody::new(CodeKind::Method, std::ptr::null(), "words"))
            .expect("room")
            .start;
        let base = region.offset_of(start).expect("placed in the region");
        let sites = [base, base + 4].map(|offset| branch(offset).expect("aligned"));
        std::thread::scope(|scope| {
            for site in sites {
                scope.spawn(move || (0..10_000).for_each(|round| site.set_target(region, start + round % 64)));
            }
        });
        // SAFETY: the threads that changed them have ended.
        let targets = [base, base + 4].map(|offset| unsafe { target_of(region, offset) });
        assert_eq!(targets, [start + 9_999 % 64; 2]);
    }
}
