//! The machine's events as those of `mono/metadata/profiler.h`: which callbacks each makes, with which arguments.
//!
//! Mono reports the begin and the end of loading an image or an assembly; the machine knows both when the assembly is
//! there. Left out: the callbacks themselves (`profilers`).

use crate::host_records;
use crate::jit_info::{mono_jit_info_get_code_size, mono_jit_info_table_find};
use crate::profiler_calls::{self, with_context};
use crate::profiler_coverage;
use crate::profiler_sampling;
use crate::profilers::*;
use saki_abi::ObjRef;
use saki_runtime::object::host_events::{CollectionStep, HostEvent};
use saki_runtime::{CurrentThread, HostEvents, Word};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_types::Method;
use saki_types::assembly::Assembly;
use std::ffi::{CString, c_int};
use std::ptr;

/// `MonoProfilerGCEvent`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
enum GcEvent {
    Start = 0,
    End = 5,
    PreStopWorld = 6,
    PostStopWorld = 7,
    PreStartWorld = 8,
    PostStartWorld = 9,
    PreStopWorldLocked = 10,
    PostStartWorldUnlocked = 11,
}

/// What the machine tells profilers, and asks them.
pub(crate) fn host_events() -> HostEvents {
    HostEvents {
        before_exit,
        after_exit: || {
            profiler_sampling::end();
            after_exit();
        },
        profiler: notify,
        probes: profiler_calls::probes,
        is_covered: profiler_coverage::is_covered,
        ..HostEvents::default()
    }
}

/// `MONO_PROFILER_CODE_BUFFER_METHOD`.
const CODE_OF_METHOD: c_int = 0;

/// Calls the callbacks for an event. An exception that the thread has in flight stays out of their sight.
pub(crate) fn notify(event: HostEvent<'_>) {
    let is_managed = saki_thread::current().is_some_and(|thread| thread.is_running());
    if !is_managed {
        return raise(event);
    }
    CurrentThread::with(|t| {
        let pending = t.take_pending();
        raise(event);
        if pending.is_some() {
            t.set_pending(pending);
        }
    });
}

fn raise(event: HostEvent<'_>) {
    match event {
        HostEvent::DomainLoading(domain) => raise_domain_loading(domain),
        HostEvent::DomainLoaded(domain) => raise_domain_loaded(domain),
        HostEvent::DomainUnloading(domain) => raise_domain_unloading(domain),
        HostEvent::DomainUnloaded(domain) => raise_domain_unloaded(domain),
        HostEvent::DomainNamed(domain) => {
            let name = CString::new(domain.friendly_name()).unwrap_or_default();
            raise_domain_name(domain, name.as_ptr());
        }
        HostEvent::AssemblyLoaded(assembly) => assembly_loaded(assembly),
        HostEvent::AssemblyUnloaded(assembly) => assembly_unloaded(assembly),
        HostEvent::TypeLoading(ty) => raise_class_loading(ty),
        HostEvent::TypeLoaded(ty) => raise_class_loaded(ty),
        HostEvent::TypeFailed(ty) => raise_class_failed(ty),
        HostEvent::VTableLoading(ty) => raise_vtable_loading(ty),
        HostEvent::VTableLoaded(ty) => raise_vtable_loaded(ty),
        HostEvent::VTableFailed(ty) => raise_vtable_failed(ty),
        HostEvent::CompilationBegins(method) => {
            raise_jit_begin(method);
            profiler_calls::choose_probes(method);
            profiler_coverage::choose(method);
        }
        HostEvent::CompilationFailed(method) => raise_jit_failed(method),
        HostEvent::Compiled(method, code) => compiled(method, code),
        HostEvent::MethodFreed(method) => raise_method_free(ptr::from_ref(method)),
        HostEvent::InvocationBegins(method) => raise_method_begin_invoke(method),
        HostEvent::InvocationEnds(method) => raise_method_end_invoke(method),
        HostEvent::Thrown(exception) => raise_exception_throw(exception.word()),
        HostEvent::ClauseEntered(method, index, part, exception) => {
            raise_exception_clause(method, index, part as c_int, exception.word());
        }
        HostEvent::Collection(step, is_full) => collection(step, is_full),
        HostEvent::HeapResized(bytes) => raise_gc_resize(bytes),
        HostEvent::ObjectsMoved(moves) => objects_moved(moves),
        HostEvent::HandleCreated(handle, object) => {
            raise_gc_handle_created(handle.bits(), handle_type(handle), object);
        }
        HostEvent::HandleFreed(handle) => raise_gc_handle_deleted(handle.bits(), handle_type(handle)),
        HostEvent::FinalizersBegin => raise_gc_finalizing(),
        HostEvent::FinalizersEnd => raise_gc_finalized(),
        HostEvent::FinalizerBegins(object) => raise_gc_finalizing_object(object.word()),
        HostEvent::FinalizerEnds(object) => raise_gc_finalized_object(object.word()),
        HostEvent::LockContended(object) => raise_monitor_contention(object.word()),
        HostEvent::LockAcquired(object) => raise_monitor_acquired(object.word()),
        HostEvent::LockFailed(object) => raise_monitor_failed(object.word()),
        HostEvent::ThreadStarted => {
            host_records::note_thread(current_tid());
            raise_thread_started(current_tid());
        }
        HostEvent::ThreadStopping => raise_thread_stopping(current_tid()),
        HostEvent::ThreadStopped => raise_thread_stopped(current_tid()),
        HostEvent::ThreadExited => raise_thread_exited(current_tid()),
        HostEvent::ThreadNamed(id, name) => {
            let name = CString::new(name).unwrap_or_default();
            if let Some(tid) = host_records::tid_of(id) {
                raise_thread_name(tid, name.as_ptr());
            }
        }
        HostEvent::Allocated(object) => raise_gc_allocation(object.word()),
        HostEvent::ContextMade(context) => raise_context_loaded(context.word()),
        HostEvent::ContextReleased(context) => raise_context_unloaded(context.word()),
        HostEvent::MethodEntered(method, rooms) => with_context(method, rooms, false, raise_method_enter),
        HostEvent::MethodLeft(method, rooms) => with_context(method, rooms, true, raise_method_leave),
        HostEvent::MethodTailCalls(method, called) => {
            raise_method_tail_call(method, called.map_or(ptr::null(), ptr::from_ref));
        }
        HostEvent::MethodLeftByException(method, exception) => {
            raise_method_exception_leave(method, exception.word());
        }
        // These say what code is compiled with.
        HostEvent::Probes | HostEvent::ClausesLeft => {}
        HostEvent::Never(never, _) => match never {},
    }
}

fn assembly_loaded(assembly: &'static Assembly) {
    raise_image_loading(assembly.image);
    raise_image_loaded(assembly.image);
    raise_assembly_loading(assembly);
    raise_assembly_loaded(assembly);
}

fn assembly_unloaded(assembly: &'static Assembly) {
    raise_assembly_unloading(assembly);
    raise_image_unloading(assembly.image);
    raise_assembly_unloaded(assembly);
    raise_image_unloaded(assembly.image);
}

fn compiled(method: &'static Method, code: usize) {
    let info = mono_jit_info_table_find(ptr::null(), ptr::without_provenance(code));
    // SAFETY: null or a record that is never freed.
    if let Some(info) = unsafe { info.as_ref() } {
        let bytes = mono_jit_info_get_code_size(info) as u64;
        raise_jit_code_buffer(ptr::without_provenance(code), bytes, CODE_OF_METHOD, ptr::from_ref(method).cast());
    }
    raise_jit_done(method, info);
}

fn collection(step: CollectionStep, is_full: bool) {
    let steps = match step {
        CollectionStep::BeforeStop => [GcEvent::PreStopWorld, GcEvent::PreStopWorldLocked],
        CollectionStep::Begin => [GcEvent::PostStopWorld, GcEvent::Start],
        CollectionStep::End => [GcEvent::End, GcEvent::PreStartWorld],
        CollectionStep::AfterStop => [GcEvent::PostStartWorld, GcEvent::PostStartWorldUnlocked],
    };
    for step in steps {
        // As under Mono, stops are serial, and collections not concurrent.
        let is_serial = !matches!(step, GcEvent::Start | GcEvent::End);
        raise_gc_event(step as c_int, u32::from(is_full), c_int::from(is_serial));
    }
}

/// Addresses before and after take turns, at most as many at once as under Mono.
fn objects_moved(moves: &[(usize, usize)]) {
    const AT_ONCE: usize = 64;
    let object = |address: usize| ObjRef(ptr::without_provenance_mut(address));
    for some in moves.chunks(AT_ONCE) {
        let objects: Vec<ObjRef> = some.iter().flat_map(|&(from, to)| [object(from), object(to)]).collect();
        raise_gc_moves(objects.as_ptr(), objects.len() as u64);
    }
}

/// `MonoGCHandleType`, which numbers the kinds as the machine orders them.
fn handle_type(handle: Handle) -> c_int {
    const KINDS: [HandleKind; 4] = [HandleKind::Weak, HandleKind::WeakTrack, HandleKind::Normal, HandleKind::Pinned];
    KINDS.iter().position(|kind| *kind == handle.kind()).unwrap_or_default() as c_int
}
