//! Calls of managed code by native code: the state of the thread around them, arguments and results.
//!
//! A C entry (`compile::CallbackEntry`) spills its arguments and calls a dispatcher (`delegates`, `callers_only`),
//! which runs a managed wrapper over native words. Invariant: between `ReverseCall::enter` and `leave` the thread is
//! RUNNING and stays on its OS thread, since the native frames below depend on it. Left out: which managed code is
//! called.

use crate::slots::NativeSlot;
use saki_abi::ThreadAbi;
use saki_il::ir::{CallSig, IrType};
use saki_runtime::exec::invoke::{PreparedCall, Slot, invoke_prepared, prepare_address};
use saki_runtime::exec::thread_data;
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_runtime::vm::domains::Domain;
use saki_runtime::vm::profile_log::calls;
use saki_runtime::vm::{call_trace, domain_copy, domains, host_profiler, threads};
use saki_thread::{ManagedThread, ThreadKind};
use saki_types::Method;
use std::sync::OnceLock;

/// A native signature whose calls a managed wrapper serves.
pub(crate) struct NativeSignature {
    /// Managed wrapper: `fn(context, native words…)`.
    wrapper: usize,
    /// The wrapper's signature.
    sig: CallSig,
    /// Size of a struct result that is written to the address in the first C argument.
    result_in_memory_bytes: Option<u32>,
    /// Size of another struct result; 0 without one.
    struct_result_bytes: u32,
    /// How the wrapper is called, since the first call.
    prepared: OnceLock<PreparedCall>,
}

/// Words of a call for which the frame has room; more are in a block of Rust's heap.
const MAX_WORDS_IN_FRAME: usize = 16;

/// The arguments of a C entry, and its room for the result.
pub(crate) struct EntryFrame<'f> {
    arguments: &'f [u64],
    result: NativeSlot<'f>,
}

impl EntryFrame<'_> {
    /// One word for each parameter.
    pub fn arguments(&self) -> &[u64] {
        self.arguments
    }

    /// The last parameter's word.
    pub fn last_argument(&self) -> u64 {
        self.arguments.last().copied().unwrap_or(0)
    }
}

impl NativeSignature {
    /// `sig`: the wrapper's. `result_in_memory_bytes`: see the field.
    pub fn new(wrapper: usize, sig: CallSig, result_in_memory_bytes: Option<u32>) -> NativeSignature {
        let struct_result_bytes = match sig.ret {
            Some(IrType::Struct(ty)) => ty.value_size_bytes().unwrap_or(0),
            _ => 0,
        };
        NativeSignature { wrapper, sig, result_in_memory_bytes, struct_result_bytes, prepared: OnceLock::new() }
    }

    /// The signature of the C entry, which has no context: the entry adds it.
    pub fn of_entry(&self) -> CallSig {
        CallSig { has_this: false, params: self.sig.params[1..].to_vec(), ret: self.sig.ret }
    }

    fn returns_struct(&self) -> bool {
        matches!(self.sig.ret, Some(IrType::Struct(_)))
    }

    /// The frame of a C entry for this signature.
    ///
    /// # Safety
    /// `slots` has one word for each parameter of the entry (structs: addresses), `result` room for the result: a word,
    /// or the struct's bytes. Both stay until the frame is dropped.
    pub unsafe fn frame<'f>(&self, slots: *const u64, result: *mut u8) -> EntryFrame<'f> {
        // SAFETY: a word for each parameter after the context, see above.
        let arguments = unsafe { std::slice::from_raw_parts(slots, self.sig.params.len() - 1) };
        let result_bytes = if self.returns_struct() { self.struct_result_bytes as usize } else { size_of::<u64>() };
        // SAFETY: room of this size, see above.
        let Some(result) = (unsafe { NativeSlot::at(result, result_bytes) }) else {
            saki_base::bug!("a C entry without room for the result")
        };
        EntryFrame { arguments, result }
    }

    /// Runs the wrapper with the arguments of the frame.
    ///
    /// # Errors
    /// What the managed code throws.
    ///
    /// # Safety
    /// The wrapper has not been freed, and `context` is what it wants.
    pub unsafe fn invoke(&self, t: CurrentThread, context: usize, frame: &EntryFrame) -> Managed<Slot> {
        let prepared = match self.prepared.get() {
            Some(prepared) => prepared,
            None => {
                // SAFETY: the wrapper was compiled for the signature, and has not been freed.
                let prepared = unsafe { prepare_address(t, self.wrapper, &self.sig, false) }?;
                self.prepared.get_or_init(|| prepared)
            }
        };
        let result = self.returns_struct().then(|| Slot::from_ptr(frame.result.address()));
        let arguments = frame.arguments.iter().map(|word| Slot(*word));
        let words = result.into_iter().chain([Slot(context as u64)]).chain(arguments);
        let count = frame.arguments.len() + 1 + usize::from(result.is_some());
        if count > MAX_WORDS_IN_FRAME {
            return invoke_prepared(t, prepared, &words.collect::<Vec<_>>());
        }
        let mut in_frame = [Slot(0); MAX_WORDS_IN_FRAME];
        in_frame.iter_mut().zip(words).for_each(|(place, word)| *place = word);
        invoke_prepared(t, prepared, &in_frame[..count])
    }

    /// Passes the wrapper's result to native code; structs are there already.
    pub fn write_result(&self, frame: &EntryFrame, value: Slot) {
        if self.sig.ret.is_some() && !self.returns_struct() {
            frame.result.write(value.0);
        }
    }

    /// The result that native code sees instead of an exception.
    pub fn write_zero_result(&self, frame: &EntryFrame) {
        match (self.result_in_memory_bytes, frame.arguments.first()) {
            (Some(size_bytes), Some(&address)) => {
                // SAFETY: native code gave the address of its own room for a struct of this size.
                let room = unsafe { NativeSlot::at(address as *mut u8, size_bytes as usize) };
                if let Some(room) = room {
                    room.fill_zero();
                }
                frame.result.write(address);
            }
            _ if self.sig.ret.is_some() => frame.result.fill_zero(),
            _ => {}
        }
    }
}

/// A call from native code, until it returns there.
pub struct ReverseCall {
    thread: &'static ManagedThread,
    /// The OS thread was unknown to the machine.
    is_foreign: bool,
    was_safe: bool,
}

impl ReverseCall {
    /// Makes the calling OS thread a managed thread, if it is none, and RUNNING.
    pub fn enter() -> ReverseCall {
        let is_foreign = saki_thread::current().is_none();
        let thread = saki_thread::attach_foreign(ThreadKind::Background);
        let was_safe = thread.is_in_safe_region();
        // The native frames below depend on their OS thread, by thread-local storage or locks that they hold.
        thread.pin();
        if was_safe {
            // SAFETY: the current thread, which called `enter_native` before the native code ran.
            unsafe { saki_thread::leave_native(thread.abi()) };
        }
        if is_foreign {
            // SAFETY: the current thread, attached and RUNNING.
            host_profiler::thread_started(unsafe { CurrentThread::from_abi(thread.abi()) });
        }
        ReverseCall { thread, is_foreign, was_safe }
    }

    /// The data of the current thread.
    pub fn abi(&self) -> *mut ThreadAbi {
        self.thread.abi()
    }

    /// Whether the thread may have run managed code.
    pub fn may_have_run_managed_code(&self) -> bool {
        self.thread.is_ready()
    }

    /// Whether managed code called the native code that calls: an exception can be thrown there.
    pub fn is_of_native_code(&self) -> bool {
        !self.is_foreign && self.was_safe
    }

    /// Whether managed code called the C entry as if it were managed code, without leaving for native code.
    pub fn is_of_managed_code(&self) -> bool {
        !self.is_foreign && !self.was_safe
    }

    /// # Safety
    /// From here to the native code that called, no frame of this thread holds a reference.
    pub unsafe fn leave(self) {
        self.thread.unpin();
        if self.was_safe || self.is_foreign {
            // SAFETY: the current thread, running; the frames down to the native code hold no references.
            unsafe { saki_thread::enter_native(self.thread.abi()) };
        }
    }
}

/// Runs `body` in this domain. An exception thrown there becomes one of the caller's domain.
///
/// # Errors
/// What `body` throws; AppDomainUnloadedException.
pub(crate) fn in_domain(
    t: CurrentThread,
    domain: &'static Domain,
    body: impl FnOnce() -> Managed<Slot>,
) -> Managed<Slot> {
    if std::ptr::eq(domain, domains::current()) {
        return body();
    }
    let home = domains::current();
    domain.add_thread(t)?;
    thread_data::of(t).domains_entered().borrow_mut().push(domain);
    let result = domains::run_in(t, domain, || match body() {
        Err(_) if threads::end_abort_by_unload(t, domain) => Err(None),
        Err(_) => Err(Some(domain_copy::copy_pending(t, home.universe))),
        Ok(result) => Ok(result),
    });
    thread_data::of(t).domains_entered().borrow_mut().pop();
    domain.remove_thread(t);
    result.map_err(|thrown| thrown.unwrap_or_else(|| domains::throw_unloaded(t)))
}

/// Whether a profile of calls, or a trace, is told of calls by native code.
pub(crate) fn are_noted() -> bool {
    calls::are_written() || call_trace::is_enabled()
}

/// Tells a profile of calls, or a trace, that native code calls the method, or that the call has ended.
pub(crate) fn note_call(t: CurrentThread, method: &'static Method, has_ended: bool) {
    if calls::are_written() {
        calls::called_by_native(t, method, has_ended);
    }
    if call_trace::is_enabled() {
        call_trace::called_by_native(t, method, has_ended);
    }
}
