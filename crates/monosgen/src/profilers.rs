//! The profilers of `mono/metadata/profiler.h`: who is installed, their callbacks, and calling them.
//!
//! A callback runs on the thread where the event happens. The thread stays RUNNING: a collection waits for it, as
//! Mono's do, and may begin where the callback calls the API. Callbacks of a collection run on a collector thread while
//! other threads are stopped, so that they may take no lock of others, nor call the API. The newest profiler comes
//! first.
//!
//! | `Callback` | who moves it |
//! |---|---|
//! | null | |
//! | a box with the host's function | setters, at any time: AcqRel; who calls it: Acquire |
//!
//! Boxes are never freed, since another thread may be about to call the function. Left out: what makes the events
//! (`saki_runtime::object::host_events`), and the kinds of events whose setters `missing` lists.

use crate::jit_info::MonoJitInfo;
use crate::profiler_calls::{self, CallFilter, MonoProfilerCallContext};
use saki_abi::ObjRef;
use saki_runtime::object::host_events::HostEventKind;
use saki_runtime::vm::domains::Domain;
use saki_runtime::vm::host_profiler;
use saki_types::assembly::{Assembly, Image};
use saki_types::{Method, Ty};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// A function of the host that may be set and exchanged at any time; see the module header.
pub(crate) struct Callback<F>(AtomicPtr<F>);

impl<F> Default for Callback<F> {
    fn default() -> Self {
        Callback(AtomicPtr::new(ptr::null_mut()))
    }
}

impl<F: Copy> Callback<F> {
    pub(crate) fn set(&self, function: Option<F>) {
        let new = function.map_or(ptr::null_mut(), |function| Box::into_raw(Box::new(function)));
        self.0.swap(new, Ordering::AcqRel);
    }

    pub(crate) fn get(&self) -> Option<F> {
        // SAFETY: null or a box, which is never freed.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }.copied()
    }
}

/// The host's data of a profiler, which it gets back with each event.
pub(crate) type Data = *mut c_void;

/// `MonoProfilerHandle`: an installed profiler. It is never freed.
pub struct Profiler {
    pub(crate) data: Data,
    pub(crate) call_filter: Callback<CallFilter>,
    pub(crate) coverage_filter: Callback<unsafe extern "C" fn(Data, &'static Method) -> c_int>,
    cleanup: Callback<unsafe extern "C" fn(Data)>,
    callbacks: Callbacks,
    older: Option<&'static Profiler>,
}

// SAFETY: the host's data goes from thread to thread with its callbacks, as the API says.
unsafe impl Sync for Profiler {}

/// The newest profiler. Written by `mono_profiler_create` before managed code runs, by compare-and-swap: Release; read
/// with Acquire.
static NEWEST: AtomicPtr<Profiler> = AtomicPtr::new(ptr::null_mut());

/// Whether the machine has begun to start. Relaxed: hosts install profilers on the thread that starts it.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
/// What a profiler has asked for before that. Relaxed, as above.
static ARE_ALLOCATIONS_WANTED: AtomicBool = AtomicBool::new(false);
static ARE_CLAUSES_WANTED: AtomicBool = AtomicBool::new(false);

/// All profilers, the newest first.
pub(crate) fn profilers() -> impl Iterator<Item = &'static Profiler> {
    // SAFETY: null or a leaked profiler.
    let newest = unsafe { NEWEST.load(Ordering::Acquire).as_ref() };
    std::iter::successors(newest, |profiler| profiler.older)
}

/// Whether it is too late to ask for what code is compiled with.
pub(crate) fn has_begun() -> bool {
    HAS_BEGUN.load(Ordering::Relaxed)
}

/// Installs a profiler; its handle. `data` goes to its callbacks.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_create(data: Data) -> &'static Profiler {
    let mut profiler = Box::new(Profiler {
        data,
        call_filter: Callback::default(),
        coverage_filter: Callback::default(),
        cleanup: Callback::default(),
        callbacks: Callbacks::default(),
        older: None,
    });
    loop {
        let newest = NEWEST.load(Ordering::Acquire);
        // SAFETY: null or a leaked profiler.
        profiler.older = unsafe { newest.as_ref() };
        let made = Box::into_raw(profiler);
        if NEWEST.compare_exchange(newest, made, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            // SAFETY: never freed from here on.
            return unsafe { &*made };
        }
        // SAFETY: nobody has seen it.
        profiler = unsafe { Box::from_raw(made) };
    }
}

/// Sets what is called when the machine has ended, with the profiler's data.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_set_cleanup_callback(
    handle: &'static Profiler,
    callback: Option<unsafe extern "C" fn(Data)>,
) {
    handle.cleanup.set(callback);
}

/// Has allocations reported; 0 once the machine has begun to start.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_enable_allocations() -> c_int {
    c_int::from(ask(&ARE_ALLOCATIONS_WANTED))
}

/// Has clauses reported; 0 once the machine has begun to start.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_enable_clauses() -> c_int {
    c_int::from(ask(&ARE_CLAUSES_WANTED))
}

/// Notes what a profiler asks for. False: it is too late.
pub(crate) fn ask(wish: &AtomicBool) -> bool {
    if !has_begun() {
        // Relaxed: on the thread that starts the machine.
        wish.store(true, Ordering::Relaxed);
    }
    !has_begun()
}

/// The kinds that the machine is to tell of.
fn wanted() -> u64 {
    let mut kinds = profilers().fold(0, |kinds, profiler| kinds | profiler.callbacks.kinds());
    let mut only_if = |wish: &AtomicBool, kind: HostEventKind| {
        // Relaxed: a wish was made before there were other threads.
        if !wish.load(Ordering::Relaxed) {
            kinds &= !(1 << kind as u8);
        }
    };
    only_if(&ARE_ALLOCATIONS_WANTED, HostEventKind::Allocated);
    only_if(&ARE_CLAUSES_WANTED, HostEventKind::ClauseEntered);
    if kinds & (1 << HostEventKind::ClauseEntered as u8) != 0 {
        kinds |= 1 << HostEventKind::ClausesLeft as u8;
    }
    if profiler_calls::has_filter() {
        kinds |= const { self::kinds(&[HostEventKind::Probes, HostEventKind::CompilationBegins]) };
    }
    if profilers().any(|profiler| profiler.coverage_filter.get().is_some()) {
        kinds |= const { self::kinds(&[HostEventKind::CompilationBegins]) };
    }
    kinds
}

/// A callback was set or taken away.
pub(crate) fn changed() {
    if crate::machine::is_started() {
        host_profiler::want(wanted());
    }
}

/// The machine begins to start: from now on events are told.
pub(crate) fn begin() {
    HAS_BEGUN.store(true, Ordering::Relaxed);
    saki_runtime::object::host_events::set_wanted(wanted());
}

/// The machine has started, on the calling thread.
pub(crate) fn machine_started() {
    if NEWEST.load(Ordering::Acquire).is_null() {
        return;
    }
    host_profiler::want(wanted());
    raise_thread_started(current_tid());
    raise_thread_name(current_tid(), c"Main".as_ptr());
    raise_runtime_initialized();
}

/// The machine begins to end.
pub(crate) fn before_exit() {
    raise_runtime_shutdown_begin();
}

/// Finalizers at exit have run: nothing is told any more.
pub(crate) fn after_exit() {
    raise_runtime_shutdown_end();
    saki_runtime::object::host_events::set_wanted(0);
    for profiler in profilers() {
        profiler.callbacks.clear();
        if let Some(cleanup) = profiler.cleanup.get() {
            // SAFETY: the host's function and its data.
            unsafe { cleanup(profiler.data) };
        }
    }
}

/// The kinds of events as sets of bits.
const fn kinds(list: &[HostEventKind]) -> u64 {
    let (mut bits, mut index) = (0, 0);
    while index < list.len() {
        bits |= 1 << list[index] as u8;
        index += 1;
    }
    bits
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident, $set:ident, $raise:ident($($arg:ident: $ty:ty),*) in [$($kind:ident),*];)*) => {
        /// A place for each kind of event.
        #[derive(Default)]
        struct Callbacks {
            $($name: Callback<unsafe extern "C" fn(Data, $($ty),*)>,)*
        }

        impl Callbacks {
            /// The kinds of events that these callbacks want.
            fn kinds(&self) -> u64 {
                let mut all = 0;
                $(if self.$name.get().is_some() {
                    all |= const { kinds(&[$(HostEventKind::$kind),*]) };
                })*
                all
            }

            fn clear(&self) {
                $(self.$name.set(None);)*
            }
        }

        $(
            $(#[$doc])*
            /// Sets what is called then; null = nothing.
            #[unsafe(no_mangle)]
            pub extern "C" fn $set(
                handle: &'static Profiler,
                callback: Option<unsafe extern "C" fn(Data, $($ty),*)>,
            ) {
                handle.callbacks.$name.set(callback);
                changed();
            }

            /// Calls the callbacks of all profilers.
            pub(crate) fn $raise($($arg: $ty),*) {
                for profiler in profilers() {
                    if let Some(callback) = profiler.callbacks.$name.get() {
                        // SAFETY: the host's function, with its data and what its event has.
                        unsafe { callback(profiler.data, $($arg),*) };
                    }
                }
            }
        )*
    };
}

events! {
    /// The machine has started.
    runtime_initialized, mono_profiler_set_runtime_initialized_callback, raise_runtime_initialized() in [];
    /// The machine begins to end.
    runtime_shutdown_begin, mono_profiler_set_runtime_shutdown_begin_callback, raise_runtime_shutdown_begin() in [];
    /// The machine has ended.
    runtime_shutdown_end, mono_profiler_set_runtime_shutdown_end_callback, raise_runtime_shutdown_end() in [];
    /// The program has made a remoting context, which is its object.
    context_loaded, mono_profiler_set_context_loaded_callback,
        raise_context_loaded(context: ObjRef) in [ContextMade];
    /// A remoting context is finalized.
    context_unloaded, mono_profiler_set_context_unloaded_callback,
        raise_context_unloaded(context: ObjRef) in [ContextReleased];
    /// A domain is made.
    domain_loading, mono_profiler_set_domain_loading_callback,
        raise_domain_loading(domain: &'static Domain) in [DomainLoading];
    /// A domain was made.
    domain_loaded, mono_profiler_set_domain_loaded_callback,
        raise_domain_loaded(domain: &'static Domain) in [DomainLoaded];
    /// A domain is unloaded: no code runs in it any more.
    domain_unloading, mono_profiler_set_domain_unloading_callback,
        raise_domain_unloading(domain: &'static Domain) in [DomainUnloading];
    /// A domain was unloaded.
    domain_unloaded, mono_profiler_set_domain_unloaded_callback,
        raise_domain_unloaded(domain: &'static Domain) in [DomainUnloaded];
    /// A domain has got its name.
    domain_name, mono_profiler_set_domain_name_callback,
        raise_domain_name(domain: &'static Domain, name: *const c_char) in [DomainNamed];
    /// A method is about to be compiled.
    jit_begin, mono_profiler_set_jit_begin_callback,
        raise_jit_begin(method: &'static Method) in [CompilationBegins];
    /// A method could not be compiled.
    jit_failed, mono_profiler_set_jit_failed_callback,
        raise_jit_failed(method: &'static Method) in [CompilationFailed];
    /// A method was compiled; hot methods are compiled again.
    jit_done, mono_profiler_set_jit_done_callback,
        raise_jit_done(method: &'static Method, info: *const MonoJitInfo) in [Compiled];
    /// A method's code was placed. Only methods are told of.
    jit_code_buffer, mono_profiler_set_jit_code_buffer_callback,
        raise_jit_code_buffer(start: *const u8, size: u64, kind: c_int, data: *const c_void) in [Compiled];
    /// A class's record was made.
    class_loading, mono_profiler_set_class_loading_callback, raise_class_loading(class: Ty) in [TypeLoading];
    /// A class's parent cannot be loaded.
    class_failed, mono_profiler_set_class_failed_callback, raise_class_failed(class: Ty) in [TypeFailed];
    /// A class and its parents are loaded.
    class_loaded, mono_profiler_set_class_loaded_callback, raise_class_loaded(class: Ty) in [TypeLoaded];
    /// A class's vtable is made.
    vtable_loading, mono_profiler_set_vtable_loading_callback, raise_vtable_loading(vtable: Ty) in [VTableLoading];
    /// A class's vtable could not be made.
    vtable_failed, mono_profiler_set_vtable_failed_callback, raise_vtable_failed(vtable: Ty) in [VTableFailed];
    /// A class's vtable was made.
    vtable_loaded, mono_profiler_set_vtable_loaded_callback, raise_vtable_loaded(vtable: Ty) in [VTableLoaded];
    /// An image is loaded.
    image_loading, mono_profiler_set_image_loading_callback,
        raise_image_loading(image: &'static Image) in [AssemblyLoaded];
    /// An image was loaded.
    image_loaded, mono_profiler_set_image_loaded_callback,
        raise_image_loaded(image: &'static Image) in [AssemblyLoaded];
    /// An image is unloaded, with its domain.
    image_unloading, mono_profiler_set_image_unloading_callback,
        raise_image_unloading(image: &'static Image) in [AssemblyUnloaded];
    /// An image was unloaded.
    image_unloaded, mono_profiler_set_image_unloaded_callback,
        raise_image_unloaded(image: &'static Image) in [AssemblyUnloaded];
    /// An assembly is loaded.
    assembly_loading, mono_profiler_set_assembly_loading_callback,
        raise_assembly_loading(assembly: &'static Assembly) in [AssemblyLoaded];
    /// An assembly was loaded.
    assembly_loaded, mono_profiler_set_assembly_loaded_callback,
        raise_assembly_loaded(assembly: &'static Assembly) in [AssemblyLoaded];
    /// An assembly is unloaded, with its domain.
    assembly_unloading, mono_profiler_set_assembly_unloading_callback,
        raise_assembly_unloading(assembly: &'static Assembly) in [AssemblyUnloaded];
    /// An assembly was unloaded.
    assembly_unloaded, mono_profiler_set_assembly_unloaded_callback,
        raise_assembly_unloaded(assembly: &'static Assembly) in [AssemblyUnloaded];
    /// A method is freed.
    method_free, mono_profiler_set_method_free_callback, raise_method_free(method: *const Method) in [MethodFreed];
    /// The machine or the host calls a method.
    method_begin_invoke, mono_profiler_set_method_begin_invoke_callback,
        raise_method_begin_invoke(method: &'static Method) in [InvocationBegins];
    /// Such a call is over.
    method_end_invoke, mono_profiler_set_method_end_invoke_callback,
        raise_method_end_invoke(method: &'static Method) in [InvocationEnds];
    /// A method that is instrumented is called.
    method_enter, mono_profiler_set_method_enter_callback,
        raise_method_enter(method: &'static Method, context: *const MonoProfilerCallContext) in [MethodEntered];
    /// A method that is instrumented returns.
    method_leave, mono_profiler_set_method_leave_callback,
        raise_method_leave(method: &'static Method, context: *const MonoProfilerCallContext) in [MethodLeft];
    /// A method that is instrumented ends by a call of another one.
    method_tail_call, mono_profiler_set_method_tail_call_callback,
        raise_method_tail_call(method: &'static Method, target: *const Method) in [MethodTailCalls];
    /// An exception leaves a method that is instrumented.
    method_exception_leave, mono_profiler_set_method_exception_leave_callback,
        raise_method_exception_leave(method: &'static Method, exception: ObjRef) in [MethodLeftByException];
    /// An exception is thrown.
    exception_throw, mono_profiler_set_exception_throw_callback, raise_exception_throw(exception: ObjRef) in [Thrown];
    /// A clause is about to run.
    exception_clause, mono_profiler_set_exception_clause_callback,
        raise_exception_clause(method: &'static Method, index: u32, kind: c_int, exception: ObjRef) in [ClauseEntered];
    /// A step of a collection.
    gc_event, mono_profiler_set_gc_event_callback,
        raise_gc_event(event: c_int, generation: u32, is_serial: c_int) in [Collection];
    /// An object was made.
    gc_allocation, mono_profiler_set_gc_allocation_callback, raise_gc_allocation(object: ObjRef) in [Allocated];
    /// A collection has moved objects.
    gc_moves, mono_profiler_set_gc_moves_callback,
        raise_gc_moves(objects: *const ObjRef, count: u64) in [ObjectsMoved];
    /// The heap has another size.
    gc_resize, mono_profiler_set_gc_resize_callback, raise_gc_resize(size: usize) in [HeapResized];
    /// A GC handle was made.
    gc_handle_created, mono_profiler_set_gc_handle_created_callback,
        raise_gc_handle_created(handle: u32, kind: c_int, object: ObjRef) in [HandleCreated];
    /// A GC handle was freed.
    gc_handle_deleted, mono_profiler_set_gc_handle_deleted_callback,
        raise_gc_handle_deleted(handle: u32, kind: c_int) in [HandleFreed];
    /// Finalizers are about to run.
    gc_finalizing, mono_profiler_set_gc_finalizing_callback, raise_gc_finalizing() in [FinalizersBegin];
    /// Finalizers have run.
    gc_finalized, mono_profiler_set_gc_finalized_callback, raise_gc_finalized() in [FinalizersEnd];
    /// An object is finalized.
    gc_finalizing_object, mono_profiler_set_gc_finalizing_object_callback,
        raise_gc_finalizing_object(object: ObjRef) in [FinalizerBegins];
    /// An object was finalized.
    gc_finalized_object, mono_profiler_set_gc_finalized_object_callback,
        raise_gc_finalized_object(object: ObjRef) in [FinalizerEnds];
    /// Another thread has the lock.
    monitor_contention, mono_profiler_set_monitor_contention_callback,
        raise_monitor_contention(object: ObjRef) in [LockContended];
    /// The thread gives up waiting for the lock.
    monitor_failed, mono_profiler_set_monitor_failed_callback, raise_monitor_failed(object: ObjRef) in [LockFailed];
    /// The thread has waited for the lock and has it.
    monitor_acquired, mono_profiler_set_monitor_acquired_callback,
        raise_monitor_acquired(object: ObjRef) in [LockAcquired];
    /// A thread is managed from now on.
    thread_started, mono_profiler_set_thread_started_callback, raise_thread_started(tid: usize) in [ThreadStarted];
    /// A thread runs no managed code any more.
    thread_stopping, mono_profiler_set_thread_stopping_callback,
        raise_thread_stopping(tid: usize) in [ThreadStopping];
    /// A thread counts as stopped.
    thread_stopped, mono_profiler_set_thread_stopped_callback, raise_thread_stopped(tid: usize) in [ThreadStopped];
    /// A thread is about to end.
    thread_exited, mono_profiler_set_thread_exited_callback, raise_thread_exited(tid: usize) in [ThreadExited];
    /// A thread has got a name.
    thread_name, mono_profiler_set_thread_name_callback,
        raise_thread_name(tid: usize, name: *const c_char) in [ThreadNamed, ThreadStarted];
    /// A sample of the thread is taken, in a signal handler.
    sample_hit, mono_profiler_set_sample_hit_callback,
        raise_sample_hit(pc: *const u8, context: *const c_void) in [];
}

/// What Mono identifies the calling thread by.
pub(crate) fn current_tid() -> usize {
    // SAFETY: no preconditions.
    unsafe { libc::pthread_self() as usize }
}
