//! The cells in which the first tier's code notes what it meets (`abi::Noted`), and what the second tier makes of them;
//! and the counters of blocks.
//!
//! A cell belongs to an instruction of a method; both live as long as the process, and so do counters. Its word may be
//! the address of something that has been freed since: a vtable of a collectible type, a dynamic method. Those are
//! known by the ranges in which they lie, and are not followed.

use crate::object::perturbation;
use rustc_hash::FxHashMap;
use saki_abi::Noted;
use saki_abi::vtable::VTable;
use saki_base::locks::rank;
use saki_sync::word_locks::Mutex;
use saki_thread::child_locks;
use saki_types::{Method, Ty, collectible, dynamic_records};
use std::sync::atomic::{AtomicU32, Ordering};

/// A word is the usual one if it was another one so many times at most, the first time included: one word at first, and
/// another one for good.
const MAX_CHANGES: u32 = 2;
/// Two words are the usual ones if there was a third one so many times at most, their own first times included.
const MAX_MISSES: u32 = 4;

/// What is noted of a method.
#[derive(Default)]
struct Cells {
    /// By IL offset.
    noted: Vec<(u32, &'static Noted)>,
    block_counts: &'static [AtomicU32],
}

#[derive(Default)]
struct AllCells(FxHashMap<*const Method, Cells>);

// SAFETY: the keys are not followed.
unsafe impl Send for AllCells {}

static CELLS: Mutex<rank::NotedCells, Option<AllCells>> = Mutex::new(None);

/// The cell of the instruction at this IL offset of the method.
pub(super) fn cell(method: &'static Method, il_offset: u32) -> &'static Noted {
    let mut cells = CELLS.lock();
    let cells = cells.get_or_insert_default().0.entry(method).or_default();
    if let Some((_, known)) = cells.noted.iter().find(|(offset, _)| *offset == il_offset) {
        return known;
    }
    let cell: &'static Noted = Box::leak(Box::default());
    cells.noted.push((il_offset, cell));
    cell
}

/// The counters of the method's blocks, of which there are so many.
pub(super) fn counters(method: &'static Method, count: usize) -> &'static [AtomicU32] {
    let mut cells = CELLS.lock();
    let cells = cells.get_or_insert_default().0.entry(method).or_default();
    // Both tiers, and the code cache, find the number of blocks in the same CIL; but code must never count elsewhere.
    if cells.block_counts.len() < count {
        cells.block_counts = Vec::leak((0..count).map(|_| AtomicU32::new(0)).collect());
    }
    cells.block_counts
}

/// How often the method's blocks ran, by number; empty if its code has not counted them.
pub(super) fn block_counts(method: &'static Method) -> &'static [AtomicU32] {
    let cells = CELLS.lock();
    let cells = cells.as_ref().and_then(|cells| cells.0.get(&std::ptr::from_ref(method)));
    cells.map_or(&[], |cells| cells.block_counts)
}

/// The words that the instruction has nearly always met, one or two. Those of what may have ended are left out.
fn usual_words(method: &'static Method, il_offset: u32) -> [Option<usize>; 2] {
    let Some(cell) = known_cell(method, il_offset) else { return [None; 2] };
    usual_of(cell).map(|word| Some(word).filter(|&word| word != 0 && !may_have_ended(word)))
}

fn known_cell(method: &'static Method, il_offset: u32) -> Option<&'static Noted> {
    let cells = CELLS.lock();
    let cells = cells.as_ref()?.0.get(&std::ptr::from_ref(method))?;
    cells.noted.iter().find(|(offset, _)| *offset == il_offset).map(|(_, cell)| *cell)
}

/// Those of the cell; 0: none.
fn usual_of(cell: &Noted) -> [usize; 2] {
    // Relaxed, all: any state of the cell is a guess.
    let [word, other] = [&cell.word, &cell.other].map(|word| word.load(Ordering::Relaxed));
    if cell.changes.load(Ordering::Relaxed) <= MAX_CHANGES {
        [word, 0]
    } else if cell.misses.load(Ordering::Relaxed) <= MAX_MISSES {
        [word, other]
    } else {
        [0, 0]
    }
}

fn may_have_ended(address: usize) -> bool {
    let (start, len_bytes) = collectible::address_range();
    (start..start + len_bytes).contains(&address) || dynamic_records::is_record(address)
}

/// The classes, one or two, of nearly all objects that the instruction at this IL offset, a call or a cast, has met.
pub(super) fn usual_classes(method: &'static Method, il_offset: u32) -> [Option<Ty>; 2] {
    let is_wrong = perturbation::is_wrong(method, il_offset);
    usual_words(method, il_offset).map(|word| {
        // SAFETY: the cell of a virtual call or a cast has the vtable of an object. It does not lie where vtables end,
        // so it lives as long as the process.
        let ty = crate::references::type_of_vtable(unsafe { &*(word? as *const VTable) });
        Some(if is_wrong { ty.parent().ok().flatten().unwrap_or(ty) } else { ty })
    })
}

/// The methods, one or two, of nearly all delegates that the call at this IL offset was made on.
pub(super) fn usual_delegates(method: &'static Method, il_offset: u32) -> [Option<&'static Method>; 2] {
    usual_words(method, il_offset).map(|word| {
        // SAFETY: the cell of a delegate's call has the method of a delegate, which lives as long as the process, since
        // it does not lie where methods end.
        word.map(|word| unsafe { &*(word as *const Method) })
    })
}

/// Before a fork: the table does not change.
pub(crate) fn hold() {
    child_locks::hold(&CELLS);
}

/// In the parent.
pub(crate) fn release() {
    child_locks::release(&CELLS);
}

/// In a forked child.
pub(crate) fn begin_child() {
    child_locks::revive(&CELLS);
}

#[cfg(test)]
mod tests {
    use super::{Noted, usual_of};

    #[test]
    fn one_word_or_two_are_usual() {
        for (word, other, changes, misses, expect) in [
            (0, 0, 0, 0, [0, 0]),
            (7, 0, 1, 1, [7, 0]),
            // The first object was of another class.
            (9, 7, 2, 2, [9, 0]),
            (7, 9, 500, 2, [7, 9]),
            // A third one came once, and the other one again.
            (7, 9, 500, 4, [7, 9]),
            (7, 9, 500, 5, [0, 0]),
        ] {
            let cell = Noted { word: word.into(), other: other.into(), changes: changes.into(), misses: misses.into() };
            assert_eq!(usual_of(&cell), expect, "{word} {other} {changes} {misses}");
        }
    }
}
