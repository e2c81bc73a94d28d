//! A pool of stacks inside large reservations.
//!
//! Each class of sizes (a power of two each) carves its stacks out of chunks of address space that are reserved
//! writable and without accounting; memory comes when a stack is touched.
//!
//! ```text
//!       ┌──────────────┐ slot n
//!       │ guard        │ GUARD_BYTES, a touch of its ends is SIGSEGV
//! low   ├──────────────┤
//!       │ usable       │ the class's size and more, committed on touch, grows down
//! top   ├──────────────┤ 16-byte aligned
//!       │ stagger      │ 0 to 31 cache lines, by the slot
//!       └──────────────┘ slot n + 1: an odd number of pages on
//! ```
//!
//! **Neighbours do not alias.** Threads that switch in turns touch the same offset of many stacks. With a stride of an
//! odd number of pages their top pages spread over all sets of the TLB: a hop of a ring of 503 takes 15 ns instead of
//! 28 (`cargo bench -p saki-fiber`). The stagger spreads their top lines over half of the first-level cache's sets; it
//! costs nothing, and on the processor measured (AMD EPYC) its gain is within the noise. The stagger leaves the other
//! half of the page to the stack, so that a shallow stack still takes one page.
//!
//! **The cost of a stack**, besides the page that it touches, is page tables: of stacks of 64 KiB four share one (1 KB
//! each), and a stack of 8 MiB takes one for itself.
//!
//! **Guards are closed at their ends** where they are markers: a marker is an entry of a page table, and those of a
//! whole guard take 1.0 µs a stack, its ends 0.3. Code that uses a stack downwards meets the *sill*, the upper end,
//! which the stack's user opens; it then closes what is left of the guard. Native code with a frame larger than the
//! sill may step over it, and uses memory that is the stack's own; the *floor*, the lower end, parts it from the
//! neighbour.
//!
//! A class keeps two lists: *warm* stacks, as they were given back, the last one on top, and *cold* ones without
//! memory. `take` prefers warm ones. Guards stay in pooled stacks.
//!
//! Invariant: a slot is on one list or in one [`PooledStack`], never both; chunks are unmapped with the pool only. Left
//! out: the code that runs on a stack, and caches of single carriers.

use saki_base::locks::{Mutex, MutexGuard, rank};
use saki_os::address_space::{scarcity, share_bytes};
use saki_os::memory::{discard_raw, is_resident};
use saki_os::{GuardKind, Reservation, guard, page_size_bytes};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes below each stack that cannot be touched: 64 KiB, larger than any step of compiled code, which probes its
/// frames page by page, and above them 384 KiB that the stack's user may open for the handlers of an overflow.
pub const GUARD_BYTES: usize = (64 + 384) << 10;

/// The ends of a guard that are closed when it consists of markers: more than frames of most native code, which does
/// not probe them page by page. The C library's own threads have a page.
const SILL_BYTES: usize = 16 << 10;
const FLOOR_BYTES: usize = 16 << 10;
const MARKED_PARTS: usize = 2;

/// The smallest and the largest class, as powers of two of bytes: 64 KiB, 1 GiB.
const LEAST_CLASS: u32 = 16;
const MOST_CLASS: u32 = 30;
const CLASSES: usize = (MOST_CLASS - LEAST_CLASS + 1) as usize;

/// Stagger of tops: so many places of a cache line each, half a page.
const STAGGER_LINES: usize = 32;
const LINE_BYTES: usize = 64;

/// Address space of a class's first chunk; each further one doubles what the class has.
const FIRST_CHUNK_BYTES: usize = 256 << 20;
/// And of its largest: few enough areas for a million stacks of 8 MiB.
const MOST_CHUNK_BYTES: usize = 64 << 30;
/// The smallest class, whose stacks are so close that page tables serve several of them.
pub const SMALL_STACK_BYTES: usize = 1 << LEAST_CLASS;
/// Where chunks of the smallest class are reserved, and those of all others: so a stack of another class lies below one
/// of the smallest.
const SMALL_PLACE: usize = 0x6000_0000_0000;
const OTHER_PLACE: usize = 0x4000_0000_0000;

/// Address space that a chunk leaves for other allocations, whose failure would end the process.
const REST_BYTES: usize = 16 << 20;
/// Part of a limited address space that a chunk may take.
const CHUNK_PARTS: usize = 64;

/// Stacks whose markers are installed at a time, so that threads that start at once do not wait for each other's.
const CARVED_AT_ONCE: usize = 32;

/// After a surplus stack was found shallow, this many more are assumed shallow, because the check is a system call (0.2
/// to 1 µs). The threads of a program are mostly alike, and `trim` finds the deep ones.
const SHALLOW_IN_A_ROW: usize = 31;

/// One in so many of the memory areas that a process may have is left for other uses.
const OTHER_AREAS_PARTS: usize = 8;
/// Areas that a stack with protected pages takes.
const AREAS_PER_STACK: usize = 2;

/// How many free stacks a pool keeps, and how it guards stacks.
#[derive(Clone, Copy, Debug)]
pub struct StackPoolOptions {
    /// Free stacks of a class that keep their memory. `trim` gives back the memory of the other free stacks.
    pub warm_stacks: usize,
    /// Memory that a stack keeps when it is given back while there are `warm_stacks` of its class, in bytes. Found by
    /// samples while stacks are shallow.
    pub warm_bytes: usize,
    /// `None`: the best kind that works.
    pub guard: Option<GuardKind>,
}

impl StackPoolOptions {
    /// Keeps the memory of 256 free stacks of a class, 16 KiB of each.
    pub const DEFAULT: StackPoolOptions = StackPoolOptions { warm_stacks: 256, warm_bytes: 16 << 10, guard: None };
}

impl Default for StackPoolOptions {
    fn default() -> StackPoolOptions {
        Self::DEFAULT
    }
}

/// A stack taken from a pool. It is given back by [`StackPool::give`]; dropped, it is lost until the pool ends.
#[derive(PartialEq, Eq, Debug)]
#[must_use = "a stack that is dropped is never used again"]
pub struct PooledStack {
    low: usize,
    top: usize,
    class: u8,
}

impl PooledStack {
    /// The stack whose usable addresses begin at `low`.
    fn at(low: usize, class: usize) -> PooledStack {
        PooledStack { low, top: top_of(low, class), class: class as u8 }
    }

    /// The usable addresses.
    pub fn bounds(&self) -> Range<usize> {
        self.low..self.top
    }

    /// The lowest usable address.
    pub fn low(&self) -> usize {
        self.low
    }

    /// Where the first frame begins; 16-byte aligned.
    pub fn top(&self) -> usize {
        self.top
    }

    /// The size that the class promises; the usable part is up to a page larger.
    pub fn size_bytes(&self) -> usize {
        size_of_class(usize::from(self.class))
    }

    /// Whether it is of the smallest class.
    fn is_small(&self) -> bool {
        self.class == 0
    }

    /// The addresses below the stack that cannot be touched.
    pub fn guard(&self) -> Range<usize> {
        self.low - GUARD_BYTES..self.low
    }

    /// Whether a fault at the address means that the stack overflowed.
    pub fn guard_contains(&self, address: usize) -> bool {
        (self.low - GUARD_BYTES..self.low).contains(&address)
    }
}

/// How many stacks a pool has, of all classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackCounts {
    /// Address space of all chunks.
    pub reserved_bytes: usize,
    /// Stacks that were ever made: those in use and the free ones.
    pub stacks: usize,
    /// Stacks that were taken and not given back.
    pub in_use: usize,
    /// Stacks that can be taken, with or without memory.
    pub free: usize,
    /// Free stacks without memory.
    pub cold: usize,
    /// How the stacks made from now on are guarded.
    pub guard: GuardKind,
}

#[derive(Default)]
struct Class {
    /// `low` of free stacks with memory, the last given one last.
    warm: Vec<usize>,
    /// `low` of free stacks without memory.
    cold: Vec<usize>,
    chunks: Vec<Reservation>,
    /// Slots of the last chunk that are carved, and all it has.
    carved_slots: usize,
    chunk_slots: usize,
    /// Stacks that were ever made.
    stacks: usize,
    /// Surplus stacks that are still assumed shallow before one is checked again.
    unchecked: usize,
}

impl Class {
    const fn new() -> Class {
        Class {
            warm: Vec::new(),
            cold: Vec::new(),
            chunks: Vec::new(),
            carved_slots: 0,
            chunk_slots: 0,
            stacks: 0,
            unchecked: 0,
        }
    }

    fn reserved_bytes(&self) -> usize {
        self.chunks.iter().map(Reservation::len_bytes).sum()
    }
}

/// See the module header.
pub struct StackPool {
    options: StackPoolOptions,
    classes: [Mutex<rank::StackClass, Class>; CLASSES],
    /// Stacks with guards by `mprotect`. Relaxed everywhere: a count.
    protected_stacks: AtomicUsize,
}

/// Where the next chunk of the smallest class is to be, and that of another, of any pool. Relaxed: numbers.
static PLACES: [AtomicUsize; 2] = [AtomicUsize::new(SMALL_PLACE), AtomicUsize::new(OTHER_PLACE)];

/// Usable bytes of a class.
fn size_of_class(class: usize) -> usize {
    1 << (class + LEAST_CLASS as usize)
}

/// Bytes from one slot of a class to the next: an odd number of pages.
fn stride_of_class(class: usize) -> usize {
    let page = page_size_bytes();
    (((GUARD_BYTES + size_of_class(class)).div_ceil(page) + 1) | 1) * page
}

fn guard_bytes() -> usize {
    GUARD_BYTES.next_multiple_of(page_size_bytes())
}

/// The parts of a guard that are markers while its stack has never run into it.
fn markers(guard: Range<usize>) -> [Range<usize>; MARKED_PARTS] {
    let page = page_size_bytes();
    let [floor_end, sill] =
        [guard.start + FLOOR_BYTES.next_multiple_of(page), guard.end - SILL_BYTES.next_multiple_of(page)];
    [guard.start..floor_end, sill..guard.end]
}

/// The end of a slot.
fn end_of(low: usize, class: usize) -> usize {
    low - guard_bytes() + stride_of_class(class)
}

/// Slots are an odd number of pages apart, so that successive ones have different staggers.
fn top_of(low: usize, class: usize) -> usize {
    end_of(low, class) - low / page_size_bytes() % STAGGER_LINES * LINE_BYTES
}

fn out_of_memory(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, text)
}

impl StackPool {
    /// A pool without stacks; nothing is mapped before the first one is taken.
    pub const fn new(options: StackPoolOptions) -> StackPool {
        StackPool {
            options,
            classes: [const { Mutex::new(Class::new()) }; CLASSES],
            protected_stacks: AtomicUsize::new(0),
        }
    }

    /// How the stacks are guarded.
    pub fn guard(&self) -> GuardKind {
        self.options.guard.unwrap_or_else(guard::kind)
    }

    fn class(&self, class: usize) -> MutexGuard<'_, rank::StackClass, Class> {
        self.classes[class].lock()
    }

    /// Takes a stack with at least `size_bytes` usable bytes; its contents are left over from its last use. Errors:
    /// `InvalidInput` for more than the largest class has; `OutOfMemory`, with the reason, where there is no address
    /// space or no area left.
    pub fn take(&self, size_bytes: usize) -> io::Result<PooledStack> {
        let class = size_bytes.max(1 << LEAST_CLASS).next_power_of_two().trailing_zeros() - LEAST_CLASS;
        let class = class as usize;
        if size_bytes > 1 << MOST_CLASS {
            let text = format!("a stack of {size_bytes} bytes is larger than {} bytes", 1_usize << MOST_CLASS);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let mut state = self.class(class);
        let state = &mut *state;
        if let Some(low) = state.warm.pop().or_else(|| state.cold.pop()) {
            return Ok(PooledStack::at(low, class));
        }
        self.carve(class, state)?;
        let low = state.cold.pop().expect("just carved");
        Ok(PooledStack::at(low, class))
    }

    /// Gives a stack back that nothing runs on or refers to.
    pub fn give(&self, stack: PooledStack) {
        let class = usize::from(stack.class);
        let mut state = self.class(class);
        if state.warm.len() >= self.options.warm_stacks {
            if state.unchecked > 0 {
                state.unchecked -= 1;
            } else {
                // No other thread can take the stack meanwhile.
                drop(state);
                let was_deep = self.shorten(&stack);
                state = self.class(class);
                state.unchecked = if was_deep { 0 } else { SHALLOW_IN_A_ROW };
            }
        }
        state.warm.push(stack.low);
    }

    /// Gives back the memory of stacks in use, and their guards where these are markers, so that page tables become
    /// free too; not those of small stacks. Their contents are lost; `equip` makes a stack usable again. `stacks` are
    /// ascending by address: one system call serves a run of neighbours.
    ///
    /// # Safety
    /// No code runs on the stacks or refers to their contents.
    pub unsafe fn strip<'a>(&self, stacks: impl IntoIterator<Item = &'a PooledStack, IntoIter: Clone>) {
        let stacks = stacks.into_iter();
        if self.guard() == GuardKind::Markers {
            // Those of small stacks stay, with their page tables, which cost little.
            let large = stacks.clone().filter(|stack| !stack.is_small());
            let guards = large.flat_map(|stack| markers(stack.low - guard_bytes()..stack.low));
            // SAFETY: guards of slots, where nothing lies.
            let removed = unsafe { guard::remove_markers(guards) };
            debug_assert!(removed.is_ok(), "{removed:?}");
        }
        let mut run: Option<Range<usize>> = None;
        for stack in stacks {
            let slot = stack.low - guard_bytes()..end_of(stack.low, usize::from(stack.class));
            match &mut run {
                Some(run) if run.end == slot.start => run.end = slot.end,
                _ => {
                    if let Some(done) = run.replace(slot) {
                        discard(done.start, done.end);
                    }
                }
            }
        }
        if let Some(run) = run {
            discard(run.start, run.end);
        }
    }

    /// Gives a stripped stack its guard again.
    ///
    /// # Errors
    /// The system's, when it has no memory for the page tables.
    pub fn equip(&self, stack: &PooledStack) -> io::Result<()> {
        match self.guard() {
            GuardKind::Markers if stack.is_small() => Ok(()),
            GuardKind::Markers => markers(stack.low - guard_bytes()..stack.low).into_iter().try_for_each(|pages| {
                // SAFETY: the guard of a slot, where nothing lies.
                unsafe { guard::set_markers(pages, true) }
            }),
            GuardKind::Protection => Ok(()),
        }
    }

    /// Gives back the memory below the uppermost `warm_bytes` of a stack, and returns whether there was any. Stacks are
    /// touched downwards without gaps, so the first page below shows it.
    fn shorten(&self, stack: &PooledStack) -> bool {
        let page = page_size_bytes();
        let end = end_of(stack.low, usize::from(stack.class));
        let kept_from = end - self.options.warm_bytes.next_multiple_of(page).min(end - stack.low);
        let was_deep = kept_from > stack.low && is_resident(kept_from - page);
        if was_deep {
            discard(stack.low, kept_from);
        }
        was_deep
    }

    /// Gives back the memory of free stacks beyond `warm_stacks` of each class, the least recently used ones. Returns
    /// how many.
    pub fn trim(&self) -> usize {
        /// Stacks out of both lists at a time, without the lock.
        const AT_ONCE: usize = 256;
        let mut trimmed = 0;
        for class in 0..CLASSES {
            loop {
                let mut state = self.class(class);
                let surplus = state.warm.len().saturating_sub(self.options.warm_stacks).min(AT_ONCE);
                if surplus == 0 {
                    break;
                }
                let batch: Vec<usize> = state.warm.drain(..surplus).collect();
                drop(state);
                for &low in &batch {
                    discard(low, end_of(low, class));
                }
                self.class(class).cold.extend_from_slice(&batch);
                trimmed += surplus;
            }
        }
        trimmed
    }

    /// What the pool has at this moment, summed class by class: threads that take stacks meanwhile may be counted in
    /// part.
    pub fn counts(&self) -> StackCounts {
        let guard = self.guard();
        let mut counts = StackCounts { reserved_bytes: 0, stacks: 0, in_use: 0, free: 0, cold: 0, guard };
        for class in 0..CLASSES {
            let state = self.class(class);
            counts.reserved_bytes += state.reserved_bytes();
            counts.stacks += state.stacks;
            counts.free += state.warm.len() + state.cold.len();
            counts.cold += state.cold.len();
        }
        counts.in_use = counts.stacks - counts.free;
        counts
    }

    /// Makes some stacks of a class and adds them to the cold list.
    fn carve(&self, class: usize, state: &mut Class) -> io::Result<()> {
        let kind = self.guard();
        let stride = stride_of_class(class);
        if state.carved_slots == state.chunk_slots {
            state.add_chunk(class)?;
        }
        let chunk = state.chunks.last().expect("a chunk with slots");
        let left = state.chunk_slots - state.carved_slots;
        // As many as there are already: few threads, few page tables for markers.
        let batch = if kind == GuardKind::Markers { state.stacks.clamp(1, CARVED_AT_ONCE).min(left) } else { 1 };
        let first = state.carved_slots * stride;
        let (carved, result) = match kind {
            GuardKind::Markers => {
                let guards = (0..batch).map(|slot| first + slot * stride..first + slot * stride + guard_bytes());
                let (done, result) = chunk.install_markers(guards.flat_map(markers));
                (done / MARKED_PARTS, result)
            }
            GuardKind::Protection => {
                self.count_areas()?;
                let result = chunk.install_guard(first, guard_bytes(), kind);
                if result.is_err() {
                    // Relaxed: a counter.
                    self.protected_stacks.fetch_sub(1, Ordering::Relaxed);
                }
                (usize::from(result.is_ok()), result)
            }
        };
        if carved == 0 {
            result.map_err(|error| out_of_memory(format!("a stack cannot be guarded by {kind}: {error}")))?;
        }
        let base = chunk.base() as usize + first + guard_bytes();
        // The lowest is taken first.
        state.cold.extend((0..carved).rev().map(|slot| base + slot * stride));
        state.carved_slots += carved;
        state.stacks += carved;
        Ok(())
    }

    /// Counts one more stack with protected pages. Errors: the process would come near its largest number of areas,
    /// after which no `mmap` of the process succeeds.
    fn count_areas(&self) -> io::Result<()> {
        let areas = guard::max_map_count();
        let most = (areas - areas / OTHER_AREAS_PARTS) / AREAS_PER_STACK;
        // Relaxed: a counter; that some threads count too many for a moment only refuses a stack that was nearly too
        // many.
        if self.protected_stacks.fetch_add(1, Ordering::Relaxed) >= most {
            // Relaxed: a counter.
            self.protected_stacks.fetch_sub(1, Ordering::Relaxed);
            return Err(out_of_memory(format!(
                "{most} stacks with guard pages are as many as vm.max_map_count = {areas} allows; Linux 6.13 has no such limit"
            )));
        }
        Ok(())
    }
}

impl Class {
    /// Reserves the next chunk, with fewer slots where there is less room. Errors: there is none for a single slot.
    fn add_chunk(&mut self, class: usize) -> io::Result<()> {
        let stride = stride_of_class(class);
        let wanted_bytes = match scarcity() {
            None => self.reserved_bytes().clamp(FIRST_CHUNK_BYTES, MOST_CHUNK_BYTES),
            Some(_) => share_bytes(FIRST_CHUNK_BYTES, 1 << LEAST_CLASS, CHUNK_PARTS),
        };
        let mut slots = (wanted_bytes / stride).max(1);
        let rest_bytes = wanted_bytes.min(REST_BYTES);
        // Relaxed: only a number; two classes get different ones.
        let place = PLACES[usize::from(class != 0)].fetch_add(slots * stride + rest_bytes, Ordering::Relaxed);
        let chunk = loop {
            match reserve_with_rest(place, slots * stride, rest_bytes) {
                Ok(chunk) => break chunk,
                Err(_) if slots > 1 => slots /= 2,
                Err(error) => {
                    return Err(out_of_memory(format!(
                        "no address space for a stack of {} KiB: {error}",
                        size_of_class(class) >> 10
                    )));
                }
            }
        };
        chunk.forbid_huge_pages();
        self.chunks.push(chunk);
        (self.carved_slots, self.chunk_slots) = (0, slots);
        Ok(())
    }
}

/// Reserves so many bytes if there is room for `rest_bytes` more, as far as one can know: a limit may have been set
/// since the process started.
fn reserve_with_rest(place: usize, len_bytes: usize, rest_bytes: usize) -> io::Result<Reservation> {
    drop(Reservation::reserve_writable_near(place, len_bytes + rest_bytes)?);
    Reservation::reserve_writable_near(place, len_bytes)
}

/// Gives back the memory of pages that are not needed.
fn discard(from: usize, to: usize) {
    // SAFETY: the pages lie inside slots of a chunk, which lives as long as the pool, and the contents of the slots'
    // stacks are not needed.
    let result = unsafe { discard_raw(from, to - from) };
    // Locked memory cannot be discarded, and may stay then.
    debug_assert!(result.is_ok(), "{result:?}");
}

#[cfg(test)]
#[path = "pool/tests.rs"]
mod tests;
