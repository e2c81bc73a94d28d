//! The profilers of Mono before 5.6, whose functions its library still exports without a public header
//! (`mono/metadata/profiler-legacy.h`). They are set on the profiler that was installed last, and become callbacks of
//! today's kind (`profilers`). As under Mono, calls are told of if a filter chooses them, and allocations if they were
//! asked for, both by functions of today's kind.
//!
//! | field of `OldProfiler` | who moves it |
//! |---|---|
//! | callbacks | `mono_profiler_install_…`: AcqRel; the adapters on any thread: Acquire (`profilers::Callback`) |
//!
//! Profilers are never freed.

use crate::jit_info::MonoJitInfo;
use crate::machine::end;
use crate::objects::mono_object_get_class;
use crate::profiler_calls::MonoProfilerCallContext;
use crate::profilers::{self, Callback, Data, Profiler, mono_profiler_create};
use saki_abi::ObjRef;
use saki_types::{Method, Ty};
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

type OfProfiler = unsafe extern "C" fn(Data);
type OfThread = unsafe extern "C" fn(Data, usize);
type OfMethod = unsafe extern "C" fn(Data, &'static Method);
type OfCollection = unsafe extern "C" fn(Data, c_int, c_int);
type OfSize = unsafe extern "C" fn(Data, i64);
type OfCompilation = unsafe extern "C" fn(Data, &'static Method, *const MonoJitInfo, c_int);
type OfAllocation = unsafe extern "C" fn(Data, ObjRef, Ty);
type OfObject = unsafe extern "C" fn(Data, ObjRef);
type OfClause = unsafe extern "C" fn(Data, &'static Method, c_int, c_int);

/// An installed profiler of the old kind.
struct OldProfiler {
    data: Data,
    handle: &'static Profiler,
    ended: Callback<OfProfiler>,
    thread_started: Callback<OfThread>,
    thread_ended: Callback<OfThread>,
    collection: Callback<OfCollection>,
    resized: Callback<OfSize>,
    compiled: Callback<OfCompilation>,
    allocated: Callback<OfAllocation>,
    entered: Callback<OfMethod>,
    left: Callback<OfMethod>,
    thrown: Callback<OfObject>,
    left_by_exception: Callback<OfMethod>,
    clause: Callback<OfClause>,
}

/// The profiler that was installed last: leaked. Written by `mono_profiler_install`: Release; read with Acquire.
static CURRENT: AtomicPtr<OldProfiler> = AtomicPtr::new(ptr::null_mut());

/// Installs a profiler; `ended` is called with `data` when the machine has ended.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_install(data: Data, ended: Option<OfProfiler>) {
    // The profiler's data leads to this record, which is made first, since it has the handle.
    let cell = Box::leak(Box::new(Adapted(AtomicPtr::new(ptr::null_mut()))));
    let handle = mono_profiler_create(ptr::from_ref::<Adapted>(cell).cast_mut().cast());
    let profiler = Box::into_raw(Box::new(OldProfiler {
        data,
        handle,
        ended: Callback::default(),
        thread_started: Callback::default(),
        thread_ended: Callback::default(),
        collection: Callback::default(),
        resized: Callback::default(),
        compiled: Callback::default(),
        allocated: Callback::default(),
        entered: Callback::default(),
        left: Callback::default(),
        thrown: Callback::default(),
        left_by_exception: Callback::default(),
        clause: Callback::default(),
    }));
    // Release, both: whoever finds the profiler finds it whole.
    cell.0.store(profiler, Ordering::Release);
    CURRENT.store(profiler, Ordering::Release);
    if ended.is_some() {
        current("mono_profiler_install").ended.set(ended);
        profilers::mono_profiler_set_runtime_shutdown_end_callback(handle, Some(tell_end));
    }
}

/// What today's callbacks get as their data. Its profiler is written before a callback is set: Release, Acquire.
struct Adapted(AtomicPtr<OldProfiler>);

/// The profiler whose callbacks are set.
fn current(function: &str) -> &'static OldProfiler {
    // SAFETY: null or leaked.
    match unsafe { CURRENT.load(Ordering::Acquire).as_ref() } {
        Some(profiler) => profiler,
        None => end(function, "is called before mono_profiler_install"),
    }
}

/// Calls the function in `place` of the profiler that a callback's data leads to.
///
/// # Safety
/// `data` is that of a profiler that [`mono_profiler_install`] made; `call` calls the host's function as its type says.
unsafe fn tell<F: Copy>(data: Data, place: impl FnOnce(&OldProfiler) -> &Callback<F>, call: impl FnOnce(F, Data)) {
    // SAFETY: leaked, both.
    let profiler = unsafe { (*data.cast::<Adapted>()).0.load(Ordering::Acquire).as_ref() };
    if let Some(profiler) = profiler
        && let Some(function) = place(profiler).get()
    {
        call(function, profiler.data);
    }
}

macro_rules! adapters {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) => $place:ident($($given:expr),*);)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// `data` is that of a profiler of the old kind.
        unsafe extern "C" fn $name(data: Data, $($arg: $ty),*) {
            // SAFETY: the data with which it was set; the host's function gets what its type says.
            unsafe { tell(data, |profiler| &profiler.$place, |function, data| function(data, $($given),*)) }
        }
    )* };
}

adapters! {
    /// The machine has ended.
    tell_end() => ended();
    /// A thread is managed from now on.
    tell_thread_start(tid: usize) => thread_started(tid);
    /// A thread is managed no longer.
    tell_thread_end(tid: usize) => thread_ended(tid);
    /// A step of a collection.
    tell_collection(event: c_int, generation: u32, _is_serial: c_int) => collection(event, generation as c_int);
    /// The heap has another size.
    tell_size(size: usize) => resized(size as i64);
    /// A method was compiled: 0.
    tell_compiled(method: &'static Method, info: *const MonoJitInfo) => compiled(method, info, 0);
    /// A method could not be compiled: 1.
    tell_not_compiled(method: &'static Method) => compiled(method, ptr::null(), 1);
    /// An object was made.
    tell_allocated(object: ObjRef) => allocated(object, mono_object_get_class(object));
    /// A method is called.
    tell_entered(method: &'static Method, _context: *const MonoProfilerCallContext) => entered(method);
    /// A method returns.
    tell_left(method: &'static Method, _context: *const MonoProfilerCallContext) => left(method);
    /// A method ends by a call of another one.
    tell_tail_call(method: &'static Method, _target: *const Method) => left(method);
    /// An exception is thrown.
    tell_thrown(exception: ObjRef) => thrown(exception);
    /// An exception leaves a method.
    tell_left_by_exception(method: &'static Method, _exception: ObjRef) => left_by_exception(method);
    /// A clause is about to run.
    tell_clause(method: &'static Method, index: u32, kind: c_int, _exception: ObjRef)
        => clause(method, kind, index as c_int);
}

macro_rules! installers {
    ($($(#[$doc:meta])* $install:ident($($place:ident: $ty:ty => $($set:ident $tell:ident),+);+);)*) => { $(
        $(#[$doc])*
        /// Null: nothing.
        #[unsafe(no_mangle)]
        pub extern "C" fn $install($($place: Option<$ty>),+) {
            let profiler = current(stringify!($install));
            $(
                profiler.$place.set($place);
                if $place.is_some() {
                    $(profilers::$set(profiler.handle, Some($tell));)+
                }
            )+
        }
    )* };
}

installers! {
    /// Sets what is called when threads begin and end.
    mono_profiler_install_thread(
        thread_started: OfThread => mono_profiler_set_thread_started_callback tell_thread_start;
        thread_ended: OfThread => mono_profiler_set_thread_stopped_callback tell_thread_end
    );
    /// Sets what is called at the steps of a collection, and when the heap has another size.
    mono_profiler_install_gc(
        collection: OfCollection => mono_profiler_set_gc_event_callback tell_collection;
        resized: OfSize => mono_profiler_set_gc_resize_callback tell_size
    );
    /// Sets what is called when a method was compiled.
    mono_profiler_install_jit_end(
        compiled: OfCompilation => mono_profiler_set_jit_done_callback tell_compiled,
            mono_profiler_set_jit_failed_callback tell_not_compiled
    );
    /// Sets what is called when an object was made.
    mono_profiler_install_allocation(
        allocated: OfAllocation => mono_profiler_set_gc_allocation_callback tell_allocated
    );
    /// Sets what is called when a method is called, and when it returns.
    mono_profiler_install_enter_leave(
        entered: OfMethod => mono_profiler_set_method_enter_callback tell_entered;
        left: OfMethod => mono_profiler_set_method_leave_callback tell_left,
            mono_profiler_set_method_tail_call_callback tell_tail_call
    );
    /// Sets what is called when an exception is thrown, when it leaves a method, and before a clause.
    mono_profiler_install_exception(
        thrown: OfObject => mono_profiler_set_exception_throw_callback tell_thrown;
        left_by_exception: OfMethod => mono_profiler_set_method_exception_leave_callback tell_left_by_exception;
        clause: OfClause => mono_profiler_set_exception_clause_callback tell_clause
    );
}

/// What is told depends on the callbacks alone: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_set_events(_flags: c_int) {}
