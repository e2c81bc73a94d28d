//! Events of the runtime, written to the log. Each function is called only if `is_on` said that the event is wanted, by
//! the thread that causes the event, between two safepoints.

use super::names::{Part, STEP};
use super::stacks::{STACKS, Stacks};
use super::{COLLECTOR_THREAD, Log, LogEvents, log_of, now_ns};
use crate::references::Obj;
use crate::stack_trace;
use crate::thread::CurrentThread;
use crate::thread_data;
use crate::vtables::type_of_vtable;
use saki_abi::{ObjRef, VTable};
use saki_code::PlacedClause;
use saki_gc::Collection;
use saki_profile::mlpd::event::{self, collection as steps};
use saki_profile::mlpd::log::ThreadLog;
use saki_profile::mlpd::{Allocation, EncodedStack};
use saki_sampler::allocations::{self, AllocationRecord, Listener, Recorder, Tables};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_thread::ManagedThread;
use saki_types::Method;
use saki_unwind::{Frame, Frames};
use std::cell::{OnceCell, RefCell};
use std::sync::atomic::Ordering;
use std::thread::LocalKey;

impl Log {
    /// The number of a stack's methods in events: 0 if calls are written, since readers know the stack then.
    pub(super) fn stack_frames(&self) -> usize {
        if self.settings.calls { 0 } else { self.max_frames.load(Ordering::Relaxed) }
    }

    /// The methods on the current thread's stack, outermost first.
    fn stack(&self, thread: &ManagedThread) -> Vec<u64> {
        let mut methods = Vec::new();
        let max_frames = self.stack_frames();
        if max_frames == 0 {
            return methods;
        }
        // SAFETY: the current thread's own stack, walked from the code that called the runtime.
        for frame in unsafe { Frames::of_thread(thread.abi()) } {
            stack_trace::for_each_method(&frame, |frame| {
                if methods.len() < max_frames {
                    methods.push(self.names.method(&self.writer, frame.method, Part::Body));
                }
            });
            if methods.len() >= max_frames {
                break;
            }
        }
        methods.reverse();
        methods
    }

    /// Adds events of the current thread, after its allocations that were not written yet.
    pub(super) fn write(&self, thread: &ManagedThread, add: impl FnOnce(&mut ThreadLog)) {
        if super::is_on(LogEvents::ALLOCATION) {
            allocations::flush::<ToLog>(thread);
        }
        self.writer.write(thread.managed_id().into(), add);
    }

    /// Writes an event of the current thread: `kinds` without and with a stack, which is written behind `fields`.
    fn write_with_stack(
        &self,
        thread: &ManagedThread,
        kinds: [u8; 2],
        fields: impl FnOnce(&mut saki_profile::mlpd::Buffer),
    ) {
        let stack = self.stack(thread);
        let has_stack = self.stack_frames() > 0;
        self.write(thread, |log| {
            fields(log.buffer.event(kinds[usize::from(has_stack)], now_ns()));
            if has_stack {
                log.buffer.stack(stack.into_iter());
            }
        });
    }
}

/// Writes each allocation to the log.
pub(crate) struct ToLog;

impl Listener for ToLog {
    /// The most records before they are written: 32 KB, which become events of at least as many bytes.
    const MAX_UNSENT: usize = 1 << 10;
    const MAX_AGE_NS: u64 = 1_000_000;

    fn tables() -> &'static LocalKey<RefCell<Tables>> {
        thread_local! {
            static TABLES: RefCell<Tables> = RefCell::default();
        }
        &TABLES
    }

    fn recorder(thread: &ManagedThread) -> Option<&OnceCell<Box<Recorder>>> {
        thread_data::of_managed(thread).map(|data| &data.allocations_of_log)
    }

    fn wants_stacks() -> bool {
        log_of(LogEvents::ALLOCATION).is_some_and(|log| log.stack_frames() > 0)
    }

    fn type_number(vtable: &VTable) -> u32 {
        let (address, ty) = (std::ptr::from_ref(vtable).addr(), type_of_vtable(vtable));
        log_of(LogEvents::ALWAYS).map_or(0, |log| (log.names.vtable(&log.writer, address, ty) / STEP) as u32)
    }

    fn stack_number(outer: u32, pc: usize) -> u32 {
        let (Some(log), Some(code)) = (log_of(LogEvents::ALWAYS), saki_code::lookup(pc - 1)) else { return outer };
        let mut methods = Vec::new();
        stack_trace::for_each_method_at(code, (pc - 1 - code.start) as u32, |frame| {
            methods.push(log.names.method(&log.writer, frame.method, Part::Body));
        });
        let mut guard = STACKS.write();
        let stacks = guard.get_or_insert_default();
        methods.iter().rev().fold(outer, |outer, &method| stacks.number(outer, method))
    }

    fn tell(thread: &ManagedThread, records: &[AllocationRecord], time_ns: u64) {
        if let Some(log) = log_of(LogEvents::ALLOCATION) {
            log.add_allocations(thread, records, time_ns);
        }
    }
}

impl Log {
    fn add_allocations(&self, thread: &ManagedThread, records: &[AllocationRecord], time_ns: u64) {
        let max_frames = self.stack_frames();
        let mut guard = STACKS.read();
        let are_encoded = |stacks: &Stacks| records.iter().all(|record| stacks.is_encoded(record.stack, max_frames));
        if max_frames > 0 && !guard.as_ref().is_none_or(are_encoded) {
            drop(guard);
            STACKS.write().get_or_insert_default().encode(records, max_frames);
            guard = STACKS.read();
        }
        let no_methods = EncodedStack::new(&[]);
        let stacks = guard.as_ref();
        let events = records.iter().map(|record| {
            let vtable = u64::from(record.ty) * STEP;
            let allocation = Allocation { vtable, address: record.address as u64, size_bytes: record.size_bytes };
            let encoded = || stacks.and_then(|stacks| stacks.get(record.stack)?.encoded.as_ref());
            (allocation, (max_frames > 0).then(|| encoded().map_or(&no_methods, |encoded| &encoded.1)))
        });
        self.writer.write(thread.managed_id().into(), |log| log.buffer.allocations(time_ns, events));
    }
}

/// Writes that `exception` is being thrown.
#[cold]
pub(crate) fn thrown(t: CurrentThread, exception: Obj) {
    let Some(log) = log_of(LogEvents::EXCEPTION) else { return };
    log.write_with_stack(t.managed(), [event::THROW, event::THROW_WITH_STACK], |buffer| {
        buffer.object(exception.address() as u64);
    });
}

/// Writes that a clause of the frame's method is about to run.
#[cold]
pub(crate) fn clause_entered(thread: &ManagedThread, exception: Obj, frame: &Frame, kind: PlacedClause, index: u32) {
    let Some(log) = log_of(LogEvents::EXCEPTION) else { return };
    let Some(method) = method_of(frame) else { return };
    let kind = match kind {
        PlacedClause::Catch(_) => 0,
        PlacedClause::Filter(_) => 1,
        PlacedClause::Finally => 2,
        PlacedClause::Fault => 4,
    };
    let method = log.names.method(&log.writer, method, Part::Body);
    log.write(thread, |log| {
        let buffer = log.buffer.event(event::CLAUSE, now_ns()).byte(kind).number(index.into());
        buffer.method(method).object(exception.address() as u64);
    });
}

/// The method whose code a frame runs.
pub(crate) fn method_of(frame: &Frame) -> Option<&'static Method> {
    let info = frame.code()?;
    // SAFETY: null or the `&'static Method` that the code was placed with.
    unsafe { (info.method as *const Method).as_ref() }
}

/// Writes an event of a lock. `what`: a kind of `event::monitor`.
#[cold]
pub(crate) fn monitor(t: CurrentThread, object: Obj, what: u8) {
    let Some(log) = log_of(LogEvents::MONITOR) else { return };
    log.write_with_stack(t.managed(), [event::MONITOR, event::MONITOR_WITH_STACK], |buffer| {
        buffer.byte(what).object(object.address() as u64);
    });
}

fn kind_number(kind: HandleKind) -> u64 {
    match kind {
        HandleKind::Weak => 0,
        HandleKind::WeakTrack => 1,
        HandleKind::Normal => 2,
        HandleKind::Pinned => 3,
    }
}

#[cold]
pub(crate) fn handle_created(t: CurrentThread, handle: Handle, target: ObjRef) {
    let Some(log) = log_of(LogEvents::HANDLE) else { return };
    log.write_with_stack(t.managed(), [event::HANDLE_CREATED, event::HANDLE_CREATED_WITH_STACK], |buffer| {
        buffer.number(kind_number(handle.kind())).number(handle.bits().into()).object(target.address() as u64);
    });
}

#[cold]
pub(crate) fn handle_to_be_freed(t: CurrentThread, handle: Handle) {
    let Some(log) = log_of(LogEvents::HANDLE) else { return };
    log.write_with_stack(t.managed(), [event::HANDLE_DESTROYED, event::HANDLE_DESTROYED_WITH_STACK], |buffer| {
        buffer.number(kind_number(handle.kind())).number(handle.bits().into());
    });
}

/// Writes that finalizers are about to run, or have run.
#[cold]
pub(crate) fn finalizers(t: CurrentThread, have_ended: bool) {
    let Some(log) = log_of(LogEvents::FINALIZATION) else { return };
    let kind = if have_ended { event::FINALIZERS_END } else { event::FINALIZERS_START };
    log.write(t.managed(), |log| _ = log.buffer.event(kind, now_ns()));
}

/// Writes that the finalizer of an object is about to run, or has run.
#[cold]
pub(crate) fn finalizer(t: CurrentThread, object: Obj, has_ended: bool) {
    let Some(log) = log_of(LogEvents::FINALIZATION) else { return };
    let kind = if has_ended { event::FINALIZER_END } else { event::FINALIZER_START };
    log.write(t.managed(), |log| _ = log.buffer.event(kind, now_ns()).object(object.address() as u64));
}

/// Writes all steps of a collection that is over, with the times of their begin and end. The world is still stopped.
#[cold]
pub(crate) fn collected(collection: &Collection, moves: &[(usize, usize)]) {
    let end_ns = now_ns();
    let was_full = collection.was_full;
    let start_ns = end_ns - collection.pause().as_nanos() as u64;
    if let Some(log) = log_of(LogEvents::MOVE) {
        write_moves(log, moves, start_ns);
    }
    let Some(log) = log_of(LogEvents::GC) else { return };
    let stopped_ns = start_ns + collection.phases()[0].as_nanos() as u64;
    let heap_bytes = saki_gc::heap_bytes_used() as u64;
    log.writer.write(COLLECTOR_THREAD, |log| {
        let stop = [steps::PRE_STOP_WORLD, steps::PRE_STOP_WORLD_LOCKED];
        let collect = [steps::POST_STOP_WORLD, steps::START];
        let end = [steps::END, steps::PRE_START_WORLD, steps::POST_START_WORLD, steps::POST_START_WORLD_UNLOCKED];
        let mut step = |step, time_ns| {
            log.buffer.event(event::COLLECTION, time_ns).byte(step).byte(u8::from(was_full));
        };
        stop.into_iter().for_each(|it| step(it, start_ns));
        collect.into_iter().for_each(|it| step(it, stopped_ns));
        end.into_iter().for_each(|it| step(it, end_ns));
        log.buffer.event(event::HEAP_RESIZE, end_ns).number(heap_bytes);
    });
}

/// Writes the moves of objects. Readers follow objects by their addresses, so all earlier events must be in the file
/// before the moves.
fn write_moves(log: &Log, moves: &[(usize, usize)], time_ns: u64) {
    /// The number of moves that Mono puts into one event.
    const MOVES_OF_EVENT: usize = 64;
    if moves.is_empty() {
        return;
    }
    log.writer.flush();
    for some in moves.chunks(MOVES_OF_EVENT) {
        log.writer.write(COLLECTOR_THREAD, |log| {
            log.buffer.event(event::MOVES, time_ns).number(2 * some.len() as u64);
            for &(from, to) in some {
                log.buffer.object(from as u64).object(to as u64);
            }
        });
    }
}

/// Writes that a method has got its code.
#[cold]
pub(crate) fn compiled(method: &'static Method, code: usize) {
    let Some(log) = log_of(LogEvents::ALWAYS) else { return };
    let len_bytes = saki_code::lookup(code).map_or(1, |info| info.len_bytes);
    log.names.compiled(&log.writer, method, len_bytes);
}

/// Writes the end of a method that is freed while the process runs.
#[cold]
pub(crate) fn method_freed(method: &Method) {
    if let Some(log) = log_of(LogEvents::ALWAYS) {
        log.names.forget_method(method);
    }
}
