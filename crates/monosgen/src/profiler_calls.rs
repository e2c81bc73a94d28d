//! Calls of methods for profilers: which are instrumented, and what a callback finds out about a call.
//!
//! The filters of all profilers are asked before a method is compiled, since they may call the API; the code gets what
//! they said together. The contents of a context are copies in the C heap, for
//! `mono_profiler_call_context_free_buffer`. Left out: local variables.

use crate::host_records;
use crate::profilers::{Callback, Data, Profiler, ask, changed, profilers};
use crate::text::given;
use saki_runtime::vm::host_probes::ROOM_BYTES;
use saki_types::{ElementType, Method, Ty};
use std::ffi::c_void;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says which probes a method gets.
pub(crate) type CallFilter = unsafe extern "C" fn(Data, &'static Method) -> u32;

/// What `MonoProfilerCallContext` stands for: a call at its begin or its end, while its callback runs.
pub struct MonoProfilerCallContext {
    method: &'static Method,
    /// The rooms of the arguments, and of the result behind them if the call has ended.
    rooms: usize,
    has_ended: bool,
}

/// Whether contexts have contents. Relaxed: hosts ask before managed code runs.
static ARE_CONTEXTS_WANTED: AtomicBool = AtomicBool::new(false);

/// Sets the function that says which probes a method gets.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_set_call_instrumentation_filter_callback(
    handle: &'static Profiler,
    callback: Option<CallFilter>,
) {
    handle.call_filter.set(callback);
    changed();
}

/// Has contexts filled; 0 once the machine has begun to start.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_enable_call_context_introspection() -> i32 {
    i32::from(ask(&ARE_CONTEXTS_WANTED))
}

/// Whether some profiler says which probes methods get.
pub(crate) fn has_filter() -> bool {
    profilers().any(|profiler| has(&profiler.call_filter))
}

fn has<F: Copy>(callback: &Callback<F>) -> bool {
    callback.get().is_some()
}

/// Asks the filters about a method that is about to be compiled.
pub(crate) fn choose_probes(method: &'static Method) {
    let mut chosen = 0;
    for profiler in profilers() {
        if let Some(filter) = profiler.call_filter.get() {
            // SAFETY: the host's function and its data.
            chosen |= unsafe { filter(profiler.data, method) };
        }
    }
    if chosen != 0 {
        host_records::note_probes(method, chosen);
    }
}

/// What the filters have said of a method.
pub(crate) fn probes(method: &'static Method) -> u32 {
    host_records::probes_of(method)
}

/// Calls `raise` with the context of a call; null if its probe has none.
pub(crate) fn with_context(
    method: &'static Method,
    rooms: usize,
    has_ended: bool,
    raise: impl FnOnce(&'static Method, *const MonoProfilerCallContext),
) {
    if rooms == 0 {
        return raise(method, ptr::null());
    }
    raise(method, &MonoProfilerCallContext { method, rooms, has_ended });
}

impl MonoProfilerCallContext {
    /// A copy of the value in a room; null if contexts are empty.
    fn copy(&self, room: usize, ty: Ty) -> *mut c_void {
        if !ARE_CONTEXTS_WANTED.load(Ordering::Relaxed) {
            return ptr::null_mut();
        }
        let at = ptr::with_exposed_provenance::<usize>(self.rooms + room * ROOM_BYTES);
        let is_struct = matches!(ty.underlying().element_type, ElementType::ValueType | ElementType::TypedByRef);
        let value = if is_struct {
            // SAFETY: the room of a struct has the struct's address, of a copy in the frame that the callback's probe
            // belongs to.
            ptr::with_exposed_provenance::<u8>(unsafe { at.read() })
        } else {
            at.cast::<u8>()
        };
        let bytes = if ty.is_value_type() { ty.value_size_bytes().unwrap_or(0) as usize } else { size_of::<usize>() };
        // SAFETY: the value, or the word that it is in, lies there.
        given(unsafe { slice::from_raw_parts(value, bytes) }).cast()
    }

    fn arguments(&self) -> &'static [Ty] {
        self.method.sig().map_or(&[], |sig| &sig.params)
    }

    fn first_argument(&self) -> usize {
        usize::from(!self.method.is_static())
    }
}

/// A copy of the `this` word; null for static methods, and if contexts are empty.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_call_context_get_this(context: &MonoProfilerCallContext) -> *mut c_void {
    if context.method.is_static() || !ARE_CONTEXTS_WANTED.load(Ordering::Relaxed) {
        return ptr::null_mut();
    }
    let at = ptr::with_exposed_provenance::<u8>(context.rooms);
    // SAFETY: the first room of an instance method has `this`, an address.
    given(unsafe { slice::from_raw_parts(at, size_of::<usize>()) }).cast()
}

/// A copy of an argument's value; null if there is none, and if contexts are empty.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_call_context_get_argument(
    context: &MonoProfilerCallContext,
    position: u32,
) -> *mut c_void {
    let position = position as usize;
    let ty = context.arguments().get(position);
    ty.map_or(ptr::null_mut(), |ty| context.copy(context.first_argument() + position, ty))
}

/// A copy of the result's value; null at the begin of a call, for void, and if contexts are empty.
#[unsafe(no_mangle)]
pub extern "C" fn mono_profiler_call_context_get_result(context: &MonoProfilerCallContext) -> *mut c_void {
    let ret = context.method.sig().ok().map(|sig| sig.ret).filter(|ret| ret.element_type != ElementType::Void);
    let room = context.first_argument() + context.arguments().len();
    ret.filter(|_| context.has_ended).map_or(ptr::null_mut(), |ret| context.copy(room, ret))
}

/// Frees what one of the functions above gave.
///
/// # Safety
/// `buffer` is null or such a copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_profiler_call_context_free_buffer(buffer: *mut c_void) {
    // SAFETY: null, or from `given`.
    unsafe { libc::free(buffer) };
}
