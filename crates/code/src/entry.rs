//! Method entries: the 16-byte stubs that calls go through, and the records they read.
//!
//! ```text
//! stub:  jmp [rip → record.target]     lazy (stub + 6):  call compile_trampoline (through a veneer-like hop)
//! unbox: add rdi, 16; jmp [rip → record.target of the method]
//! ```
//!
//! | `record.target` | meaning | who moves it |
//! |---|---|---|
//! | the stub's own lazy tail | not compiled | initial |
//! | code address | calls go there | `lead_to`, AcqRel; pairs with the data dependency of the jump (and the i-cache step of `place`) |
//!
//! The entry of a freed method (a dynamic method, or a method of an assembly or domain that ended) is reused for
//! another method (`free_all`); its argument is null in between. An unboxing stub stays with its entry, since it jumps
//! through the entry's record.
//!
//! A stub finds its record by its own place, not by the address that led to it. So nothing orders the load of the
//! target behind the load of that address where processors guess the targets of jumps and do later loads before earlier
//! ones (aarch64). The target is therefore a right one before every core has passed a barrier, and the stub's address
//! is made known after that: for a new stub that of its placing, for a freed one that of `free_all`.

use crate::arch::{Arch, Architecture, STUB_BYTES};
use crate::call_sites;
use crate::error::CodeError;
use crate::linked_calls;
use crate::region::{Region, mapped_region};
use crate::stub_slots::{self, EntryRecord, place_stub, veneer};
use saki_base::locks::{Mutex, rank};
use saki_sync::Recycler;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{LazyLock, OnceLock};

/// A method's callable address, before and after it is compiled.
#[derive(Clone, Copy)]
pub struct MethodEntry(&'static EntryRecord);

impl MethodEntry {
    /// Makes an entry that compiles on first call; `argument` is passed to the compile hook (the `types::Method`).
    ///
    /// # Errors
    /// `CodeError` when the region is full.
    pub fn new(argument: *const ()) -> Result<MethodEntry, CodeError> {
        if let Some(entry) = FREED.take(0) {
            // Relaxed: the caller publishes the entry; see `argument`.
            entry.0.argument.store(argument.cast_mut(), Ordering::Relaxed);
            return Ok(entry);
        }
        let hop = compile_hop()?;
        let lazy = |stub: usize, record: &EntryRecord| {
            // Relaxed: every core passes a barrier before the stub's address is known (`place_stub`).
            record.argument.store(argument.cast_mut(), Ordering::Relaxed);
            record.target.store(stub + Arch::LAZY_TAIL_OFFSET, Ordering::Relaxed);
        };
        let (_, record) = place_stub(|stub, record| Arch::encode_entry(stub, record, hop), lazy)?;
        Ok(MethodEntry(record))
    }

    /// Frees entries for use by other methods. Until an entry is reused, its stub must not be called.
    ///
    /// # Safety
    /// Nothing refers to the stubs and no stack holds their addresses: their methods are freed, and so is all code with
    /// calls that wait for them. No entry is listed twice.
    pub unsafe fn free_all(entries: &[MethodEntry]) {
        for &entry in entries {
            call_sites::forget(entry);
            // Relaxed, both: no thread reads it meanwhile; the pool orders it before the next use.
            entry.0.argument.store(std::ptr::null_mut(), Ordering::Relaxed);
            entry.0.target.store(entry.stub_address() + Arch::LAZY_TAIL_OFFSET, Ordering::Relaxed);
        }
        saki_os::i_cache::pass_barriers();
        FREED.free(entries.iter().map(|&entry| (0, entry)));
    }

    /// The entry whose stub is at `stub`; `None` if no stub is there.
    pub fn of_stub(stub: usize) -> Option<MethodEntry> {
        let region = mapped_region()?;
        let record = stub_slots::record_of_stub(region, stub)?;
        // Relaxed: only tells whether the slot is an entry.
        (!record.argument.load(Ordering::Relaxed).is_null()).then_some(MethodEntry(record))
    }

    /// The address that calls may use; it stays the same as long as the entry is not freed.
    pub fn stub_address(self) -> usize {
        let region = mapped_region().expect("an entry exists, so the region is mapped");
        stub_slots::stub_of_record(region, self.writable_cell())
    }

    /// Address of the word that holds the target, readable only and in reach of all code (for `jmp [cell]`).
    pub fn cell_address(self) -> usize {
        let region = mapped_region().expect("an entry exists, so the region is mapped");
        self.writable_cell() - region.writable_base + region.base
    }

    /// The entry's own number, below the number of records that the data area holds.
    pub(crate) fn number(self, region: &Region) -> usize {
        (self.writable_cell() - region.writable(region.data_chunk(0))) / STUB_BYTES
    }

    fn writable_cell(self) -> usize {
        &raw const self.0.target as usize
    }

    /// The argument for the compile hook. The caller has the stub's address, and an Acquire since it was read.
    pub fn argument(self) -> *const () {
        // Relaxed: written once, before the entry was published.
        self.0.argument.load(Ordering::Relaxed)
    }

    /// Makes calls go to the code that is current, which is in the code map; None: the next call through the stub
    /// compiles. To be called after each change of what `current` gives, which is a read-modify-write with Release;
    /// `current` reads with Acquire. Then the entry and the calls in its list that may be changed at any time go to
    /// what is current, whichever thread was last. For the others see `redirect_calls`.
    pub fn lead_to(self, current: impl Fn() -> Option<usize>) {
        let (stub, lazy_tail) = (self.stub_address(), self.stub_address() + Arch::LAZY_TAIL_OFFSET);
        let target = || current().unwrap_or(lazy_tail);
        let lead_calls = |code| call_sites::lead_all(self, if code == lazy_tail { stub } else { code });
        linked_calls::lead(&self.0.target, target, lead_calls);
    }

    /// Makes the calls in the list that `lead_to` could not change go through the stub.
    ///
    /// # Safety
    /// The world is stopped.
    pub unsafe fn redirect_calls(self) {
        // SAFETY: the world is stopped, so no thread executes managed code.
        unsafe { call_sites::redirect_crossing(self) };
    }

    /// Where the calls in the list go, for checks.
    ///
    /// # Safety
    /// The world is stopped.
    pub unsafe fn called_addresses(self) -> Vec<usize> {
        // SAFETY: the world is stopped, so no thread changes a call.
        unsafe { call_sites::called_addresses(self) }
    }

    /// The compiled code, or `None` if there is none.
    pub fn target(self) -> Option<usize> {
        // Acquire: the caller may look the code up.
        let target = self.0.target.load(Ordering::Acquire);
        (target != self.stub_address() + Arch::LAZY_TAIL_OFFSET).then_some(target)
    }

    /// The stub that turns a boxed `this` into the address of its value, then jumps where this entry jumps.
    /// For virtual slots of value types; made on first use.
    ///
    /// # Errors
    /// `CodeError` when the region is full.
    pub fn unbox_stub(self) -> Result<usize, CodeError> {
        let cell = self.cell_address();
        let mut made = UNBOX_STUBS.lock();
        if let Some(&stub) = made.get(&cell) {
            return Ok(stub);
        }
        let stub = place_stub(|stub, _| Arch::encode_unbox(stub, cell), |_, _| ())?.0;
        made.insert(cell, stub);
        Ok(stub)
    }
}

impl std::fmt::Debug for MethodEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Relaxed: only shown.
        let target = self.0.target.load(Ordering::Relaxed);
        write!(f, "MethodEntry({:#x} → {target:#x})", self.stub_address())
    }
}

/// Unboxing stubs, by the cell that they jump through.
static UNBOX_STUBS: LazyLock<Mutex<rank::UnboxStubs, HashMap<usize, usize>>> = LazyLock::new(Mutex::default);

/// Entries of freed methods.
static FREED: Recycler<MethodEntry, 1> = Recycler::new(QUARANTINED_ENTRIES);

/// Entries freed on a processor before the oldest of them is reused, so that an address does not soon denote another
/// method.
const QUARANTINED_ENTRIES: usize = 256;

/// A veneer of the compile trampoline in reach of every entry stub.
fn compile_hop() -> Result<usize, CodeError> {
    static HOP: OnceLock<usize> = OnceLock::new();
    if let Some(&hop) = HOP.get() {
        return Ok(hop);
    }
    let hop = veneer(Arch::compile_trampoline())?;
    Ok(*HOP.get_or_init(|| hop))
}
