//! Events that the runtime reports to the profiler: allocations, exceptions, waits, collections, compilations, loads,
//! starts of threads.
//!
//! Invariant: an event without a listener costs a load and a branch, and no event is on a path that compiled code takes
//! inline. The name of a type is built once.

use crate::events::LockWait;
use crate::profile_log::events::ToLog;
use crate::profile_log::{self, LogEvents};
use crate::references::Obj;
use crate::source_lines::source_position;
use crate::stack_trace::for_each_method_at;
use crate::thread::CurrentThread;
use crate::thread_data;
use crate::vtables::type_of_vtable;
use rustc_hash::FxHashMap;
use saki_abi::{ObjRef, VTable};
use saki_base::locks::{Mutex, rank};
use saki_gc::{Collection, SampledAllocation, Sampler};
use saki_jit::CompiledBy;
use saki_sampler::allocations::{self, AllocationRecord, Listener, Recorder, Tables};
use saki_sampler::events::{self, Allocations, EventKind, Kinds, Subject};
use saki_sched::Dispatch;
use saki_sync::{Handle, HandleKind};
use saki_thread::ManagedThread;
use saki_types::{Method, Ty, collectible};
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::LocalKey;

/// Names of types that live as long as the process, by address.
static NAMES: Mutex<rank::SampledNames, Option<FxHashMap<usize, Arc<str>>>> = Mutex::new(None);

/// Whether a session records allocations. Relaxed: allocations that are recorded between sessions are dropped or
/// counted.
static RECORDS_ALLOCATIONS: AtomicBool = AtomicBool::new(false);

/// Makes the heap report the events that `kinds` need; allocations every `mean_bytes` bytes, or each one
/// (`saki_gc::EACH`). To be called before `saki_sampler::start`.
pub fn begin(kinds: Kinds, mean_bytes: usize) {
    if kinds.is_empty() {
        return;
    }
    if kinds.contains(EventKind::Allocation) {
        allocations::forget();
        RECORDS_ALLOCATIONS.store(true, Ordering::Relaxed);
        saki_gc::sample_allocations(Sampler::Session, mean_bytes);
    }
    if kinds.contains(EventKind::Dispatch) {
        saki_sched::observe_dispatch(Some(dispatched));
    }
}

/// Undoes `begin`. To be called before `saki_sampler::stop`.
pub fn end() {
    if RECORDS_ALLOCATIONS.load(Ordering::Relaxed) {
        allocations::flush_all::<ToSession>(|| RECORDS_ALLOCATIONS.store(false, Ordering::Relaxed));
        saki_gc::sample_allocations(Sampler::Session, 0);
    }
    saki_sched::observe_dispatch(None);
}

fn name_of(ty: Ty) -> Arc<str> {
    if collectible::owner_of(ty).is_some() {
        return ty.full_name().into();
    }
    let key = std::ptr::from_ref(ty).addr();
    if let Some(name) = NAMES.lock().as_ref().and_then(|names| names.get(&key)) {
        return name.clone();
    }
    let name: Arc<str> = ty.full_name().into();
    NAMES.lock().get_or_insert_default().insert(key, name.clone());
    name
}

/// Sums each allocation by type and stack, for a session.
pub(crate) struct ToSession;

/// Names of types by their numbers. The same name has one number.
#[derive(Default)]
struct NumberedNames {
    names: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, u32>,
}

/// Numbers of stacks by the places that profiles show; sums by return addresses would be too many where recursion
/// branches.
#[derive(Default)]
struct NumberedStacks {
    epoch: u64,
    /// Numbers of places, by the methods of a frame and their lines.
    places: FxHashMap<Box<[(usize, u32)]>, u32>,
    /// Numbers of stacks, by the outer stack and the place.
    stacks: FxHashMap<(u32, u32), u32>,
}

static NUMBERED_STACKS: Mutex<rank::NumberedStacks, Option<NumberedStacks>> = Mutex::new(None);

static NUMBERED_NAMES: Mutex<rank::NumberedNames, Option<NumberedNames>> = Mutex::new(None);

impl Listener for ToSession {
    /// The most records before they are summed: 200 KB. The more records are summed at once, the fewer sums there are.
    const MAX_UNSENT: usize = 8 << 10;
    const MAX_AGE_NS: u64 = 10_000_000;

    fn tables() -> &'static LocalKey<RefCell<Tables>> {
        thread_local! {
            static TABLES: RefCell<Tables> = RefCell::default();
        }
        &TABLES
    }

    fn recorder(thread: &ManagedThread) -> Option<&OnceCell<Box<Recorder>>> {
        thread_data::of_managed(thread).map(|data| &data.allocations_of_session)
    }

    fn wants_stacks() -> bool {
        true
    }

    fn type_number(vtable: &VTable) -> u32 {
        let name = name_of(type_of_vtable(vtable));
        let mut guard = NUMBERED_NAMES.lock();
        let NumberedNames { names, numbers } = guard.get_or_insert_default();
        *numbers.entry(name.clone()).or_insert_with(|| {
            names.push(name);
            names.len() as u32 - 1
        })
    }

    fn stack_number(outer: u32, pc: usize) -> u32 {
        let Some(code) = saki_code::lookup(pc - 1) else { return outer };
        let native_offset = (pc - 1 - code.start) as u32;
        let mut places = Vec::new();
        for_each_method_at(code, native_offset, |frame| {
            let line = source_position(frame.method, frame.il_offset).map_or(0, |found| found.line);
            places.push((std::ptr::from_ref(frame.method).addr(), line));
        });
        // The code is a stub, which profiles show as an innermost frame only.
        if places.is_empty() {
            return outer;
        }
        let mut guard = NUMBERED_STACKS.lock();
        let numbered = guard.get_or_insert_default();
        let epoch = allocations::epoch();
        if numbered.epoch != epoch {
            *numbered = NumberedStacks { epoch, ..NumberedStacks::default() };
        }
        let next = numbered.places.len() as u32;
        let place = *numbered.places.entry(places.into()).or_insert(next);
        *numbered.stacks.entry((outer, place)).or_insert_with(|| events::number_stack(outer, code, native_offset))
    }

    fn tell(thread: &ManagedThread, records: &[AllocationRecord], time_ns: u64) {
        let mut sums: FxHashMap<(u32, u32), (u64, u64)> = FxHashMap::default();
        let mut rest = records;
        while let Some(first) = rest.first() {
            let is_other = |record: &AllocationRecord| (record.ty, record.stack) != (first.ty, first.stack);
            let len = rest.iter().position(is_other).unwrap_or(rest.len());
            let sum = sums.entry((first.ty, first.stack)).or_default();
            sum.0 += len as u64;
            sum.1 += rest[..len].iter().map(|record| record.size_bytes).sum::<u64>();
            rest = &rest[len..];
        }
        let guard = NUMBERED_NAMES.lock();
        let names = guard.as_ref().map_or(&[][..], |names| &names.names);
        let allocations = sums.into_iter().filter_map(|((ty, stack), (count, bytes))| {
            Some(Allocations { label: names.get(ty as usize)?.clone(), stack, count, bytes })
        });
        events::record_allocations(thread.managed_id(), time_ns, allocations);
    }
}

fn record_each<L: Listener>(allocation: &SampledAllocation<'_>) {
    let SampledAllocation { thread, object, size_bytes, .. } = *allocation;
    // SAFETY: an object that was just allocated, by the current thread.
    unsafe { allocations::record::<L>(thread, (*object.0).vtable, object.address(), size_bytes) };
}

/// Reports that an allocation was sampled. Called on the allocating thread.
pub(crate) fn allocated(allocation: &SampledAllocation<'_>) {
    if profile_log::is_on(LogEvents::ALLOCATION) {
        record_each::<ToLog>(allocation);
    }
    if !events::is_on(EventKind::Allocation) || !RECORDS_ALLOCATIONS.load(Ordering::Relaxed) {
        return;
    }
    let SampledAllocation { thread, object, size_bytes, weight_bytes, is_each } = *allocation;
    if is_each {
        return record_each::<ToSession>(allocation);
    }
    // SAFETY: the object that was allocated.
    let object = unsafe { Obj::known(object) };
    let subject = subject(object, size_bytes);
    // SAFETY: the thread that allocates is the current one.
    unsafe { events::record(EventKind::Allocation, Some(thread), weight_bytes, name_of(object.ty()), subject) };
}

/// To be called when a thread ends: reports its allocations.
pub(crate) fn thread_detaching(thread: &ManagedThread) {
    allocations::flush::<ToSession>(thread);
}

/// Reports that a collection begins. The world is stopped.
pub(crate) fn collection_begins() {
    let is_logged = profile_log::is_on(LogEvents::ALLOCATION);
    // Allocations of the session need not be reported now: they do not name addresses.
    if is_logged {
        saki_thread::for_each_thread(allocations::flush::<ToLog>);
    }
}

/// The subject of an event: an object. `size_bytes` is 0 where it is not needed.
fn subject(object: Obj, size_bytes: usize) -> Subject {
    let vtable = std::ptr::from_ref(object.vtable()).addr();
    Subject::Object { address: object.address(), size_bytes, vtable }
}

/// Reports that a collection is over. The world is stopped.
pub(crate) fn collected(collection: &Collection, moves: &[(usize, usize)]) {
    if profile_log::is_on(LogEvents::GC | LogEvents::MOVE) {
        profile_log::events::collected(collection, moves);
    }
    if events::is_on(EventKind::Collection) {
        let was_full = collection.was_full;
        let label = if was_full { "[full collection]" } else { "[nursery collection]" };
        let phases_ns = collection.phases().map(|length| length.as_nanos() as u64);
        let pause_ns = phases_ns.iter().sum();
        let subject = Subject::Collection { was_full, phases_ns };
        // SAFETY: of no thread.
        unsafe { events::record(EventKind::Collection, None, pause_ns, label.into(), subject) };
    }
}

/// Records an event of the thread.
fn record(t: CurrentThread, kind: EventKind, value: u64, label: Arc<str>, subject: Subject) {
    // SAFETY: the current thread, in a function that compiled code or native code has called.
    unsafe { events::record(kind, Some(t.managed()), value, label, subject) };
}

#[inline]
pub(crate) fn is_listening_to_throws() -> bool {
    events::is_on(EventKind::Exception)
}

/// Reports that `exception` is being thrown; it has no trace yet.
#[cold]
pub(crate) fn thrown(t: CurrentThread, exception: Obj) {
    record(t, EventKind::Exception, 1, name_of(exception.ty()), subject(exception, 0));
}

/// Reports that the wait for the lock of `object` is over.
#[cold]
pub(crate) fn lock_wait_ends(t: CurrentThread, object: Obj, wait: LockWait) {
    let waited_ns = saki_os::clock::monotonic_ns() - wait.began_ns;
    let vtable = std::ptr::from_ref(object.vtable()).addr();
    let LockWait { owner, waiters, .. } = wait;
    let subject = Subject::Lock { address: object.address(), vtable, owner, waiters };
    record(t, EventKind::LockWait, waited_ns, name_of(object.ty()), subject);
}

/// Reports that a method has got its code.
#[cold]
pub(crate) fn compiled(
    t: CurrentThread,
    method: &'static Method,
    address: usize,
    compiled_by: CompiledBy,
    began_ns: u64,
) {
    let took_ns = saki_os::clock::monotonic_ns() - began_ns;
    let by = match compiled_by {
        CompiledBy::Baseline => "baseline",
        CompiledBy::Quick => "quick",
        CompiledBy::Optimising => "optimising",
        CompiledBy::EarlierRun => "from the cache",
    };
    let label = format!("{} [{by}]", method.frame_name()).into();
    let size_bytes = saki_code::lookup(address).map_or(0, |info| info.len_bytes as usize);
    let method = std::ptr::from_ref(method).addr();
    record(t, EventKind::Compilation, took_ns, label, Subject::Code { method, address, size_bytes });
}

/// Reports that a type has got its vtable. Called without the loader's lock, because this may wait.
#[cold]
pub(crate) fn type_loaded(ty: Ty, vtable: &VTable) {
    let subject = Subject::Type { ty: std::ptr::from_ref(ty).addr(), vtable: std::ptr::from_ref(vtable).addr() };
    // SAFETY: the current thread, in the runtime, which has just made the vtable.
    unsafe { events::record(EventKind::TypeLoad, saki_thread::current(), 1, name_of(ty), subject) };
}

/// Reports that the managed thread `id` begins. `starter` is the thread that started it; the thread itself if the
/// machine did.
#[inline]
pub fn thread_started(starter: CurrentThread, id: u32) {
    if events::is_on(EventKind::ThreadStart) {
        record(starter, EventKind::ThreadStart, 1, "[thread started]".into(), Subject::Thread { id });
    }
}

#[inline]
pub(crate) fn thread_ends(t: CurrentThread) {
    if events::is_on(EventKind::ThreadEnd) {
        let subject = Subject::Thread { id: t.id() };
        record(t, EventKind::ThreadEnd, 1, "[thread ended]".into(), subject);
    }
}

#[inline]
pub(crate) fn is_listening_to_handles() -> bool {
    events::is_on(EventKind::HandleCreated)
}

fn kind_of(handle: Handle) -> &'static str {
    match handle.kind() {
        HandleKind::Weak => "weak",
        HandleKind::WeakTrack => "weak, tracking",
        HandleKind::Normal => "normal",
        HandleKind::Pinned => "pinned",
    }
}

#[cold]
pub(crate) fn handle_created(t: CurrentThread, handle: Handle, target: ObjRef) {
    let label = format!("[{} handle created]", kind_of(handle)).into();
    let subject = Subject::Handle { bits: handle.bits(), object: target.address() };
    record(t, EventKind::HandleCreated, 1, label, subject);
}

#[cold]
pub(crate) fn handle_freed(t: CurrentThread, handle: Handle) {
    let label = format!("[{} handle freed]", kind_of(handle)).into();
    let subject = Subject::Handle { bits: handle.bits(), object: 0 };
    record(t, EventKind::HandleFreed, 1, label, subject);
}

/// A call that may wait for an event outside of the process. The call lasts until this is dropped.
pub struct IoWait<'t> {
    t: CurrentThread<'t>,
    what: &'static str,
    /// The begin of the call, if such waits are recorded.
    began_ns: Option<u64>,
}

impl<'t> IoWait<'t> {
    /// Begins a call. `what` is the name of the innermost frame, in brackets.
    #[inline]
    pub fn begin(t: CurrentThread<'t>, what: &'static str) -> IoWait<'t> {
        IoWait { t, what, began_ns: events::is_on(EventKind::IoWait).then(saki_os::clock::monotonic_ns) }
    }
}

impl Drop for IoWait<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(began_ns) = self.began_ns {
            io_wait_ends(self.t, self.what, began_ns);
        }
    }
}

#[cold]
fn io_wait_ends(t: CurrentThread, what: &'static str, began_ns: u64) {
    let waited_ns = saki_os::clock::monotonic_ns() - began_ns;
    record(t, EventKind::IoWait, waited_ns, what.into(), Subject::None);
}

fn dispatched(thread: &'static ManagedThread, dispatch: Dispatch, ready_ns: u64) {
    if !events::is_on(EventKind::Dispatch) {
        return;
    }
    let waited_ns = saki_os::clock::monotonic_ns().saturating_sub(ready_ns);
    let label = match dispatch {
        Dispatch::Parked { has_moved: false } => "[woken]",
        Dispatch::Parked { has_moved: true } => "[woken, on another carrier]",
        Dispatch::CarrierTaken => "[back from native code]",
        Dispatch::Yielded => "[gave way]",
    };
    // SAFETY: the scheduler calls its observer on the thread itself.
    unsafe { events::record(EventKind::Dispatch, Some(thread), waited_ns, label.into(), Subject::None) };
}
