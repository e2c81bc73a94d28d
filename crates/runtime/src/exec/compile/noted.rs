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

/// The word that the instruction has nearly always met.
fn usual_word(method: &'static Method, il_offset: u32) -> Option<usize> {
    let cells = CELLS.lock();
    let cells = cells.as_ref()?.0.get(&std::ptr::from_ref(method))?;
    let (_, cell) = cells.noted.iter().find(|(offset, _)| *offset == il_offset)?;
    // Relaxed, both: any state of the cell is a guess.
    let is_usual = cell.changes.load(Ordering::Relaxed) <= MAX_CHANGES;
    Some(cell.word.load(Ordering::Relaxed)).filter(|&word| is_usual && word != 0)
}

fn may_have_ended(address: usize) -> bool {
    let (start, len_bytes) = collectible::address_range();
    (start..start + len_bytes).contains(&address) || dynamic_records::is_record(address)
}

/// The class of nearly all objects that the call at this IL offset was made on.
pub(super) fn usual_receiver(method: &'static Method, il_offset: u32) -> Option<Ty> {
    let word = usual_word(method, il_offset).filter(|&word| !may_have_ended(word))?;
    // SAFETY: the cell of a virtual call has the vtable of an object. It does not lie where vtables end, so it lives as
    // long as the process.
    let ty = crate::references::type_of_vtable(unsafe { &*(word as *const VTable) });
    Some(if perturbation::is_wrong(method, il_offset) { ty.parent().ok().flatten().unwrap_or(ty) } else { ty })
}

/// The method of nearly all delegates that the call at this IL offset was made on.
pub(super) fn usual_delegate(method: &'static Method, il_offset: u32) -> Option<&'static Method> {
    let word = usual_word(method, il_offset).filter(|&word| !may_have_ended(word))?;
    // SAFETY: the cell of a delegate's call has the method of a delegate, which lives as long as the process, since it
    // does not lie where methods end.
    Some(unsafe { &*(word as *const Method) })
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
