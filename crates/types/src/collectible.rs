//! Records that are freed together: those of a collectible assembly (AssemblyBuilderAccess.RunAndCollect), freed when
//! it is no longer reachable, those of a collectible load context of .NET's, freed when it is unloaded and no longer
//! reachable, and those of an application domain other than the first, freed after it is unloaded.
//!
//! Everything such an assembly or domain consists of (images, types, members, layouts, vtables, statics, root cells,
//! instantiations over its types) lies in chunks of one reserved address range, and each chunk belongs to one
//! [`Owner`]. So for any word it can be decided whether it points into an owner's records, which is how collections
//! find out whether the owner is still reachable (`runtime::collectible`).
//!
//! | state of an owner | means | next |
//! |---|---|---|
//! | in use | a domain or context that is not unloaded; collections do not ask whether it is reachable | live, by `release` |
//! | live | a record of it may be reachable | dead: a full collection saw no word that points into its records |
//! | dead | not reachable; no list that can be searched by name leads to it | ended, by `end` |
//! | ended | memory given back; its addresses are not used again in this process | – |
//!
//! A collectible assembly in a domain other than the first has its own owner, whose records refer to the domain's: it
//! ends with the domain at the latest. Because addresses are never used again, stale keys in tables are harmless: they
//! equal no other key. The records of the first domain are leaked. Left out: the code and entries of the methods, which
//! are the runtime's.

use saki_base::locks::{Mutex, rank};
use saki_os::Reservation;
use std::alloc::Layout;
use std::any::Any;
use std::mem::needs_drop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Address space for all owners that a process ever makes: four million small assemblies.
const MAX_REGION_BYTES: usize = 64 << 30;
/// Where address space is scarce: one `REGION_SHARE`th of it, but at least this, which is room for a thousand
/// assemblies.
const MIN_REGION_BYTES: usize = 16 << 20;
const REGION_SHARE: usize = 16;
/// Granularity at which owners take memory; a small emitted type with its assembly fills about one chunk.
const CHUNK_BYTES: usize = 16 << 10;

/// The domain that an owner's records are part of; opaque in this module.
pub(crate) type Domain = dyn Any + Send + Sync;

/// Records that are freed together; see the module header.
pub struct Owner {
    /// The domain to which the records belong: a `Universe`, whose tables refer to such records (`Owner::universe`).
    pub(crate) domain: &'static Domain,
    /// This owner is a domain's own: it has all records of the domain that do not belong to a collectible assembly.
    is_domain: bool,
    /// The domain or the context is not unloaded.
    is_in_use: AtomicBool,
    inner: Mutex<rank::OwnerState, Inner>,
    /// A record is held by something that collections do not trace, so the owner lives for ever.
    is_kept: AtomicBool,
    /// The running collection has seen a word that points into the records.
    is_seen: AtomicBool,
    is_dead: AtomicBool,
}

#[derive(Default)]
struct Inner {
    /// (first address, bytes), newest last; each a multiple of `CHUNK_BYTES`.
    runs: Vec<(usize, usize)>,
    next: usize,
    end: usize,
    /// Values with destructors.
    drops: Vec<(usize, unsafe fn(usize))>,
    /// Owners to whose records this owner's records refer.
    named: Vec<&'static Owner>,
    /// Addresses of words that hold references to objects: root cells and statics.
    slots: Vec<usize>,
    /// Bodies of compiled code; the runtime's `CodeInfo`.
    bodies: Vec<usize>,
    /// Methods that have an entry stub.
    entries: Vec<usize>,
    /// Words outside of the records that refer to them, which the owner's death makes 0.
    weak_words: Vec<&'static AtomicUsize>,
}

struct Region {
    memory: Reservation,
    /// The owner of each chunk; null: none yet, or one that has ended.
    owners: &'static [AtomicPtr<Owner>],
    next_chunk: AtomicUsize,
}

static REGION: OnceLock<Option<Region>> = OnceLock::new();

/// The region, once there has been an owner.
fn region() -> Option<&'static Region> {
    REGION.get()?.as_ref()
}

impl Region {
    fn map() -> Option<Region> {
        let len_bytes = saki_os::address_space::share_bytes(MAX_REGION_BYTES, MIN_REGION_BYTES, REGION_SHARE);
        let memory = Reservation::reserve_writable(len_bytes).ok()?;
        let chunks = len_bytes / CHUNK_BYTES;
        let (table, _) = Reservation::reserve_writable(chunks * size_of::<AtomicPtr<Owner>>()).ok()?.leak();
        // SAFETY: zeroed memory of that size, which stays; null is a valid pointer. Pages are committed when touched.
        let owners = unsafe { std::slice::from_raw_parts(table.cast::<AtomicPtr<Owner>>(), chunks) };
        Some(Region { memory, owners, next_chunk: AtomicUsize::new(0) })
    }

    fn chunk_of(&self, address: usize) -> Option<&AtomicPtr<Owner>> {
        self.owners.get(address.wrapping_sub(self.memory.base() as usize) / CHUNK_BYTES)
    }

    /// Adjacent chunks of at least `len_bytes` in all; None when the address space is used up.
    fn take(&self, len_bytes: usize) -> Option<(usize, usize)> {
        let count = len_bytes.div_ceil(CHUNK_BYTES);
        // Relaxed: hands out numbers.
        let first = self.next_chunk.fetch_add(count, Ordering::Relaxed);
        (first + count <= self.owners.len())
            .then(|| (self.memory.base() as usize + first * CHUNK_BYTES, count * CHUNK_BYTES))
    }

    fn set_owner(&self, (start, len_bytes): (usize, usize), owner: *mut Owner) {
        let first = (start - self.memory.base() as usize) / CHUNK_BYTES;
        for chunk in &self.owners[first..first + len_bytes / CHUNK_BYTES] {
            // Release: a thread that finds the owner sees it initialised.
            chunk.store(owner, Ordering::Release);
        }
    }
}

/// First address and length in bytes of the range in which all owners' records lie; empty without any.
pub fn address_range() -> (usize, usize) {
    region().map_or((0, 0), |region| (region.memory.base() as usize, region.memory.len_bytes()))
}

/// The owner of the record that `address` points to or into; None for records that live for ever.
#[inline]
pub fn of(address: usize) -> Option<&'static Owner> {
    // Acquire: pairs with `set_owner`.
    let owner = region()?.chunk_of(address)?.load(Ordering::Acquire);
    // SAFETY: null, or an owner that has not ended: it lies in its first chunk, which is given back after the table is
    // cleared.
    unsafe { owner.as_ref() }
}

/// The owner of a record.
pub fn owner_of<T>(record: &T) -> Option<&'static Owner> {
    of(std::ptr::from_ref(record).addr())
}

/// Whether the record may be freed before its domain: code and tables that live as long as the domain must not refer to
/// it.
pub fn ends_alone<T>(record: &T) -> bool {
    owner_of(record).is_some_and(|owner| !owner.is_domain)
}

/// Keeps a value as long as `anchor`.
pub fn keep_beside<A, T: 'static>(anchor: &A, value: T) -> &'static T {
    keep_with(owner_of(anchor), value)
}

/// Keeps a value as long as `owner`; for ever without one.
pub fn keep_with<T: 'static>(owner: Option<&'static Owner>, value: T) -> &'static T {
    let Some(place) = owner.and_then(|owner| owner.allocate(Layout::new::<T>())) else {
        return Box::leak(Box::new(value));
    };
    let place: *mut T = (place as *mut u8).cast();
    // SAFETY: fresh memory of that layout.
    unsafe { place.write(value) };
    if let Some(owner) = owner.filter(|_| needs_drop::<T>()) {
        owner.inner.lock().drops.push((place as usize, drop_value::<T>));
    }
    // SAFETY: just written; it lives as long as its owner, which lives while something refers to the value.
    unsafe { &*place }
}

/// Keeps a list as long as `owner`; for ever without one.
pub fn keep_slice_with<T: Copy + 'static>(owner: Option<&'static Owner>, values: Vec<T>) -> &'static [T] {
    let layout = Layout::array::<T>(values.len()).ok();
    let Some(place) = owner.and_then(|owner| owner.allocate(layout?)) else {
        return Box::leak(values.into_boxed_slice());
    };
    let place: *mut T = (place as *mut u8).cast();
    // SAFETY: fresh memory for that many values, which do not overlap the vector.
    unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), place, values.len()) };
    // SAFETY: just written.
    unsafe { std::slice::from_raw_parts(place, values.len()) }
}

/// # Safety
/// At `address` is a `T` that is not used any more.
unsafe fn drop_value<T>(address: usize) {
    // SAFETY: as the caller promises.
    unsafe { std::ptr::drop_in_place(address as *mut T) };
}

/// The owner for a record that is composed of `parts`: that of the first part that has an owner, but an assembly's
/// rather than the domain's, since the domain lives longer. Notes that this owner refers to those of the other parts.
pub fn owner_of_all(parts: impl IntoIterator<Item = usize>) -> Option<&'static Owner> {
    let mut found: Option<&'static Owner> = None;
    for part in parts.into_iter().filter_map(of) {
        match found {
            None => found = Some(part),
            Some(domain) if domain.is_domain && !part.is_domain => {
                part.name(domain);
                found = Some(part);
            }
            Some(owner) => owner.name(part),
        }
    }
    found
}

/// Number of `Hold`s.
static HOLDS: AtomicUsize = AtomicUsize::new(0);

/// While a `Hold` exists, no owner becomes dead: for lists outside the heap that may hold the only reference to a
/// record. A collection that has looked for `Hold`s already may still find owners dead that a list has, so a thread
/// that collections do not stop is in a walk, too (`code::walks`), before it reads the list: dead records outlive the
/// walks that are under way.
#[must_use]
pub struct Hold(());

impl Hold {
    pub fn new() -> Hold {
        // Relaxed, here and below: collections read it with the world stopped.
        HOLDS.fetch_add(1, Ordering::Relaxed);
        Hold(())
    }
}

impl Default for Hold {
    fn default() -> Hold {
        Hold::new()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // Relaxed: collections read it with the world stopped.
        HOLDS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All owners that are in use or live.
static OWNERS: Mutex<rank::Owners, Vec<&'static Owner>> = Mutex::new(Vec::new());

impl Owner {
    /// A new owner for an assembly, without records yet; it refers to `domain_owner`. None without address space for
    /// it.
    pub(crate) fn create(domain: &'static Domain, domain_owner: Option<&'static Owner>) -> Option<&'static Owner> {
        let owner = Owner::make(domain, false, false)?;
        domain_owner.inspect(|domain| owner.name(domain));
        Some(owner)
    }

    /// A new owner for the assemblies of a load context, in use until `release`; it refers to `domain_owner`. None
    /// without address space for it.
    pub(crate) fn create_for_context(
        domain: &'static Domain,
        domain_owner: Option<&'static Owner>,
    ) -> Option<&'static Owner> {
        let owner = Owner::make(domain, false, true)?;
        domain_owner.inspect(|domain| owner.name(domain));
        Some(owner)
    }

    /// The owner of a domain's records, in use until `release`; None without address space for it.
    pub(crate) fn create_for_domain(domain: &'static Domain) -> Option<&'static Owner> {
        Owner::make(domain, true, true)
    }

    fn make(domain: &'static Domain, is_domain: bool, is_in_use: bool) -> Option<&'static Owner> {
        let region = REGION.get_or_init(Region::map).as_ref()?;
        let run = region.take(CHUNK_BYTES)?;
        let place = run.0 as *mut Owner;
        let inner = Inner { runs: vec![run], next: run.0 + size_of::<Owner>(), end: run.0 + run.1, ..Inner::default() };
        let owner = Owner {
            domain,
            is_domain,
            is_in_use: AtomicBool::new(is_in_use),
            inner: Mutex::new(inner),
            is_kept: AtomicBool::new(false),
            is_seen: AtomicBool::new(false),
            is_dead: AtomicBool::new(false),
        };
        // SAFETY: the start of a fresh, page-aligned run that is larger than an owner.
        unsafe { place.write(owner) };
        // SAFETY: just written; see `of`.
        let owner: &'static Owner = unsafe { &*place };
        region.set_owner(run, place);
        OWNERS.lock().push(owner);
        Some(owner)
    }

    /// Zeroed memory, aligned to 16 bytes at most.
    pub fn allocate(&'static self, layout: Layout) -> Option<usize> {
        debug_assert!(layout.align() <= 16);
        let mut inner = self.inner.lock();
        let start = inner.next.next_multiple_of(layout.align());
        if start + layout.size() <= inner.end {
            inner.next = start + layout.size();
            return Some(start);
        }
        let region = region()?;
        let Some(run) = region.take(layout.size().max(1)) else {
            // The caller leaks its value instead, which would outlive the owner's records to which it refers.
            self.keep_for_ever();
            return None;
        };
        region.set_owner(run, std::ptr::from_ref(self).cast_mut());
        inner.runs.push(run);
        let (next, end) = (run.0 + layout.size(), run.0 + run.1);
        if end - next > inner.end - inner.next {
            (inner.next, inner.end) = (next, end);
        }
        Some(run.0)
    }

    /// Notes that records of this owner refer to records of `other`, which from now on lives at least as long.
    pub fn name(&self, other: &'static Owner) {
        if std::ptr::eq(self, other) {
            return;
        }
        let mut inner = self.inner.lock();
        if !inner.named.iter().any(|known| std::ptr::eq(*known, other)) {
            inner.named.push(other);
        }
    }

    /// Keeps the owner for ever, with the owners to which it refers: a record is held by something that collections do
    /// not trace.
    pub fn keep_for_ever(&self) {
        // Relaxed: collections read it with the world stopped.
        self.is_kept.store(true, Ordering::Relaxed);
    }

    /// Whether it is kept for ever (`keep_for_ever`).
    pub fn is_kept(&self) -> bool {
        // Relaxed, both: collections read them with the world stopped.
        self.is_in_use.load(Ordering::Relaxed) || self.is_kept.load(Ordering::Relaxed)
    }

    /// Whether these are the records of a domain.
    pub fn is_domain(&self) -> bool {
        self.is_domain
    }

    /// Notes that the domain or the context is unloaded: from now on the owner lives only as long as a record of it is
    /// reachable.
    pub fn release(&self) {
        // Relaxed: collections read it with the world stopped.
        self.is_in_use.store(false, Ordering::Relaxed);
    }

    /// Bytes of memory taken for its records.
    pub fn size_bytes(&self) -> usize {
        self.inner.lock().runs.iter().map(|(_, len_bytes)| len_bytes).sum()
    }

    /// Clears the mark of `see`, at the beginning of a collection.
    pub fn unsee(&self) {
        // Relaxed, here and in `see`: only tells whether; the collector orders its phases.
        self.is_seen.store(false, Ordering::Relaxed);
    }

    /// Marks the owner as seen by the running collection; true if it was not marked before.
    pub fn see(&self) -> bool {
        // Relaxed: as in `unsee`; of several collector threads one wins all the same.
        !self.is_seen.swap(true, Ordering::Relaxed)
    }

    pub fn is_seen(&self) -> bool {
        // Relaxed: as in `unsee`.
        self.is_seen.load(Ordering::Relaxed)
    }

    pub fn is_dead(&self) -> bool {
        // Relaxed: set with the world stopped, before the owner comes into the runtime's list of dead ones; that list's
        // lock orders it for the thread that frees them.
        self.is_dead.load(Ordering::Relaxed)
    }

    /// Notes the address of a word among the records that holds a reference to an object, or null.
    pub fn add_slot(&self, address: usize) {
        self.inner.lock().slots.push(address);
    }

    pub fn add_body(&self, info: usize) {
        self.inner.lock().bodies.push(info);
    }

    pub fn add_entry(&self, method: usize) {
        self.inner.lock().entries.push(method);
    }

    /// Notes a word outside of the records that holds the address of one of them. It becomes 0 in the pause in which
    /// the owner dies, so a thread that collections stop has a live record if it finds another value, until its next
    /// safepoint, and longer if the address is on its stack.
    pub fn add_weak_word(&self, word: &'static AtomicUsize) {
        self.inner.lock().weak_words.push(word);
    }

    pub fn for_each_slot(&self, visit: &mut dyn FnMut(usize)) {
        // A copy: visitors move objects and write logs, for which they take other locks.
        let slots = self.inner.lock().slots.clone();
        slots.into_iter().for_each(visit);
    }

    pub fn for_each_named(&self, visit: &mut dyn FnMut(&'static Owner)) {
        self.inner.lock().named.iter().for_each(|&owner| visit(owner));
    }

    /// The bodies and entries of a dead owner, from `add_body` and `add_entry`.
    pub fn take_code(&self) -> (Vec<usize>, Vec<usize>) {
        let mut inner = self.inner.lock();
        (std::mem::take(&mut inner.bodies), std::mem::take(&mut inner.entries))
    }

    /// Drops the records and gives their memory back.
    ///
    /// # Safety
    /// The owner is dead, its code is freed and no stack walk can meet it; none of its records is used afterwards.
    pub unsafe fn end(&'static self) {
        let Some(region) = region() else { return };
        let inner = std::mem::take(&mut *self.inner.lock());
        for (address, drop) in inner.drops.into_iter().rev() {
            // SAFETY: written by `keep_with`, dropped once; by the contract of `end` nothing refers to it.
            unsafe { drop(address) };
        }
        for run in &inner.runs {
            region.set_owner(*run, std::ptr::null_mut());
        }
        for (start, len_bytes) in inner.runs {
            // The records are gone; memory that stays would only be wasted.
            let _ = region.memory.discard(start - region.memory.base() as usize, len_bytes);
        }
    }
}

/// Calls `visit` for all owners that are in use or live.
pub fn for_each_owner(visit: &mut dyn FnMut(&'static Owner)) {
    OWNERS.lock().iter().for_each(|owner| visit(owner));
}

/// Whether there are `Hold`s.
pub(crate) fn is_held() -> bool {
    // Relaxed: the world is stopped.
    HOLDS.load(Ordering::Relaxed) != 0
}

/// Removes the owners that were not seen from the live ones; they are dead from now on.
pub(crate) fn take_unseen() -> Vec<&'static Owner> {
    let dead: Vec<_> = OWNERS.lock().extract_if(.., |owner| !owner.is_seen()).collect();
    for owner in &dead {
        // Relaxed: as in `is_dead`.
        owner.is_dead.store(true, Ordering::Relaxed);
        for word in std::mem::take(&mut owner.inner.lock().weak_words) {
            // Relaxed: threads that read it are stopped, and see it when they go on.
            word.store(0, Ordering::Relaxed);
        }
    }
    dead
}

/// Whether `address` lies in the records of a dead owner.
pub fn is_dead(address: usize) -> bool {
    of(address).is_some_and(Owner::is_dead)
}
