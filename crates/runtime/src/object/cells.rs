//! Root cells: words at fixed addresses that hold an object for ever, for compiled code to load from.
//!
//! Used for string literals, type objects, cached reflection objects and the runtime's own objects. Only two sorts of
//! cells are ever freed: literals of dynamic methods, and cells of collectible assemblies and of domains, which are
//! allocated among the owner's records.
//!
//! A cell changes by `set`, with Release, and with the world stopped; readers in Rust pair with Acquire, compiled code
//! by the address dependency of what it reads of the object.

use crate::references::{Obj, Word};
use crate::thread::CurrentThread;
use saki_abi::{ObjRef, Object};
use saki_base::locks::{Mutex, rank};
use saki_types::Universe;
use saki_types::collectible::{self, Owner};
use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, Ordering};

const CELLS_PER_CHUNK: usize = 1022;

struct Chunk {
    used: usize,
    cells: Box<[UnsafeCell<ObjRef>]>,
}

// SAFETY: cells are written under the `CHUNKS` lock before their address is given out, by `set` on aligned words, or by
// the collector with the world stopped.
unsafe impl Send for Chunk {}

static CHUNKS: Mutex<rank::CellChunks, Vec<Chunk>> = Mutex::new(Vec::new());
/// Cells to use again.
static FREED: Mutex<rank::FreedCells, Vec<RootCell>> = Mutex::new(Vec::new());

/// Address of a root cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RootCell(*mut ObjRef);

// SAFETY: a cell is one aligned word that lives for ever; readers see either value of a racing store.
unsafe impl Send for RootCell {}
// SAFETY: all reads and writes of the cell are atomic accesses of one aligned word, which is never freed, or are made
// while no other thread has it.
unsafe impl Sync for RootCell {}

impl RootCell {
    /// A new cell holding `object`.
    pub fn new(object: impl Word) -> RootCell {
        if let Some(cell) = FREED.lock().pop() {
            cell.set(object);
            return cell;
        }
        let mut chunks = CHUNKS.lock();
        if chunks.last().is_none_or(|c| c.used == c.cells.len()) {
            let cells = (0..CELLS_PER_CHUNK).map(|_| UnsafeCell::new(ObjRef::NULL)).collect();
            chunks.push(Chunk { used: 0, cells });
        }
        let chunk = chunks.last_mut().expect("pushed above");
        let cell = chunk.cells[chunk.used].get();
        chunk.used += 1;
        // SAFETY: the slot was not handed out before.
        unsafe { *cell = object.word() };
        RootCell(cell)
    }

    /// A new cell that lives as long as the record at `anchor`. For a record of a collectible assembly the cell is a
    /// root only while something refers to the assembly.
    pub fn beside(anchor: usize, object: impl Word) -> RootCell {
        RootCell::with_owner(collectible::of(anchor), object)
    }

    /// A new cell that lives as long as a domain.
    pub fn of_domain(universe: &Universe, object: impl Word) -> RootCell {
        RootCell::with_owner(universe.owner(), object)
    }

    fn with_owner(owner: Option<&'static Owner>, object: impl Word) -> RootCell {
        let Some(owner) = owner else { return RootCell::new(object) };
        let Some(place) = owner.allocate(Layout::new::<ObjRef>()) else { return RootCell::new(object) };
        let cell = RootCell(place as *mut ObjRef);
        cell.set(object);
        owner.add_slot(place);
        cell
    }

    /// Makes the cell available for reuse.
    ///
    /// # Safety
    /// The cell and its address are not used again.
    pub unsafe fn free(self) {
        self.set(None::<Obj>);
        FREED.lock().push(self);
    }

    /// The object, for as long as the caller runs.
    pub fn obj<'t>(self, _t: CurrentThread<'t>) -> Option<Obj<'t>> {
        // Acquire: pairs with `set`.
        let object = ObjRef(self.word().load(Ordering::Acquire));
        // SAFETY: a cell is a root.
        unsafe { Obj::from_word(object) }
    }

    pub fn set(self, object: impl Word) {
        // Release: who finds the object sees what was written to it. Roots need no barrier, since each collection scans
        // them.
        self.word().store(object.word().0, Ordering::Release);
    }

    fn word(&self) -> &AtomicPtr<Object> {
        // SAFETY: an aligned word with the layout of a pointer; the memory of cells is never given back.
        unsafe { AtomicPtr::from_ptr(self.0.cast()) }
    }

    pub fn address(self) -> usize {
        self.0 as usize
    }

    /// # Safety
    /// `address` came from `address`.
    pub unsafe fn from_address(address: usize) -> RootCell {
        RootCell(address as *mut ObjRef)
    }
}

/// Empties the cells and statics of the universe of an unloaded domain, so that their objects can be freed. Cells that
/// do not lie among its records are recognised by the objects that they hold.
pub fn release_domain(universe: &Universe) {
    collectible::for_each_owner(&mut |owner| {
        if *owner.universe() == *universe {
            // SAFETY: a slot of an owner that has not ended; no code runs in the domain, so no other thread writes it.
            owner.for_each_slot(&mut |slot| unsafe { (slot as *mut ObjRef).write_volatile(ObjRef::NULL) });
        }
    });
    for chunk in CHUNKS.lock().iter() {
        for cell in &chunk.cells[..chunk.used] {
            // SAFETY: cells are never freed.
            let object = unsafe { cell.get().read_volatile() };
            // SAFETY: a cell is a root.
            let object = unsafe { Obj::from_word(object) };
            if object.is_some_and(|object| *object.ty().universe() == *universe) {
                // SAFETY: cells are never freed, and no code of the domain runs that could write this one.
                unsafe { cell.get().write_volatile(ObjRef::NULL) };
            }
        }
    }
}

/// All cells in use, for the collector.
pub fn for_each(visit: &mut dyn FnMut(*mut ObjRef)) {
    for chunk in CHUNKS.lock().iter() {
        for cell in &chunk.cells[..chunk.used] {
            visit(cell.get());
        }
    }
}
