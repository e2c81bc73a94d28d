//! Methods with UnmanagedCallersOnlyAttribute, and other static methods that a host asks for: the C functions through
//! which native code calls them.
//!
//! Invariants: a method has one such function, which stays for ever, since nobody knows who holds the address. If the
//! method's assembly is collected, the function has no method any more, and calling it ends the process. A method that
//! the attribute does not fit has one, too: the exception is thrown where the native code that calls it returns to
//! managed code, as in .NET. Left out: `EntryPoint`, a name for hosts.

use crate::reverse_calls::{EntryFrame, NativeSignature, ReverseCall, in_domain, note_call};
use saki_il::ir::{CallSig, IrType};
use saki_il::synth::callback;
use saki_runtime::exec::callback_exceptions;
use saki_runtime::exec::code_cache::Identity;
use saki_runtime::exec::compile;
use saki_runtime::exec::invoke::Slot;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_runtime::vm::{domains, threads, unhandled};
use saki_types::{LoadError, Method, collectible};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the C function of a method passes to `dispatch`. Never freed.
struct ExportedMethod {
    /// Address of the method; 0 once its assembly is dead (`Owner::add_weak_word`). Relaxed: it is read by threads that
    /// collections stop, and changes while they are stopped.
    method: AtomicUsize,
    /// Without parameters and result for a method that is refused.
    signature: NativeSignature,
    refused: Option<LoadError>,
}

/// The C function through which native code calls the method.
///
/// # Errors
/// Load errors; InvalidProgramException with the compiler's message; NotSupportedException when the code region is
/// full.
pub(crate) fn native_entry(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    entry(t, method, || {
        if let Some(error) = callback::refused_by_callers(method).to_managed(t)? {
            let no_arguments = CallSig { params: vec![IrType::I64], ..CallSig::default() };
            return Ok((NativeSignature::new(0, no_arguments, None), Some(error)));
        }
        let function = callback::callers_only(method).to_managed(t)?;
        let wrapper = compile::place_wrapper(t, Some(Identity::Callback(method)), method, &function)?;
        Ok((NativeSignature::new(wrapper, function.sig.clone(), None), None))
    })
}

/// The C function through which a host calls a static method; without UnmanagedCallersOnlyAttribute its arguments are
/// converted as those of callbacks.
///
/// # Errors
/// Those of `native_entry`. Parameters that cannot be marshalled raise MarshalDirectiveException at the call only.
pub fn host_entry(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    if method.is_unmanaged_callers_only().to_managed(t)? {
        return native_entry(t, method);
    }
    entry(t, method, || {
        let function = callback::of_static(method).to_managed(t)?;
        let wrapper = compile::place_wrapper(t, Some(Identity::Callback(method)), method, &function)?;
        let result_in_memory_bytes = callback::result_in_memory_bytes(method).to_managed(t)?;
        Ok((NativeSignature::new(wrapper, function.sig.clone(), result_in_memory_bytes), None))
    })
}

/// The method's C function, made for the signature, or the reason of a refusal, that `signature` gives.
fn entry(
    t: CurrentThread,
    method: &'static Method,
    signature: impl FnOnce() -> Managed<(NativeSignature, Option<LoadError>)>,
) -> Managed<usize> {
    let place = &method.runtime.rare().native;
    // Acquire: pairs with the Release below; the function and what it names are complete.
    match place.load(Ordering::Acquire) {
        0 => {}
        known => return Ok(known),
    }
    let (signature, refused) = signature()?;
    let entry = compile::compile_callback_entry(&signature.of_entry()).to_managed(t)?;
    let address = AtomicUsize::new(std::ptr::from_ref(method).addr());
    let exported: &'static ExportedMethod = Box::leak(Box::new(ExportedMethod { method: address, signature, refused }));
    match collectible::owner_of(method) {
        // The exception for an unloaded domain is of that domain, to which the method leads.
        Some(owner) if owner.is_domain() => owner.keep_for_ever(),
        Some(owner) => owner.add_weak_word(&exported.method),
        None => {}
    }
    let cookie = std::ptr::from_ref(exported).addr();
    let address = compile::place_callback_entry(&entry, dispatch as *const () as usize, cookie).to_managed(t)?;
    // Release: see above. If two threads make a function, the first one wins; nothing names the other.
    match place.compare_exchange(0, address, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(address),
        Err(earlier) => Ok(earlier),
    }
}

/// Called by C entries: runs the method with the C arguments in `slots` and leaves its result in `result`. An exception
/// of the method ends the process: there is no managed code that could expect it.
///
/// # Safety
/// A C entry made for `exported` calls it: `slots` has one word per parameter (structs: addresses), `result` room for
/// the result.
unsafe extern "C" fn dispatch(exported: &'static ExportedMethod, slots: *const u64, result: *mut u8) {
    let signature = &exported.signature;
    // SAFETY: the C entry for `exported`, whose signature this is, spills its arguments to `slots` and has room for the
    // result.
    let frame = unsafe { signature.frame(slots, result) };
    let call = ReverseCall::enter();
    if call.is_of_managed_code() {
        saki_base::tell!(
            "Fatal error. Invalid Program: attempted to call a UnmanagedCallersOnly method from managed code."
        );
        std::process::abort();
    }
    // SAFETY: `enter` has made the thread current and RUNNING; `t` does not leave this function.
    let t = unsafe { CurrentThread::from_abi(call.abi()) };
    // Relaxed: see the field. The thread is RUNNING, so the method lives until the next safepoint at least.
    let address = exported.method.load(Ordering::Relaxed);
    // SAFETY: 0, or the address of a method whose owner is not dead.
    let Some(method) = (unsafe { (address as *const Method).as_ref::<'static>() }) else {
        saki_base::tell!("Fatal error. Native code called a method whose assembly has been unloaded.");
        std::process::abort();
    };
    let called = match &exported.refused {
        Some(error) => Err(exceptions::throw_load_error(t, error)),
        None => in_domain(t, domains::of_universe(method.owner.universe()), || run(t, exported, method, &frame)),
    };
    // Keeps the method on the stack until here: it keeps its assembly alive, and that the wrapper.
    std::hint::black_box(method);
    match called {
        Ok(value) => signature.write_result(&frame, value),
        Err(_) => {
            let exception = t.take_exception();
            if call.is_of_native_code() && exported.refused.is_some() {
                callback_exceptions::keep(t, exception);
            } else if !call.is_of_native_code() || !threads::request_abort_again(t, exception) {
                t.set_pending(exception);
                unhandled::report_and_exit(t);
            }
            signature.write_zero_result(&frame);
        }
    }
    // SAFETY: the C frames above hold no references, nor does this one from here on.
    unsafe { call.leave() };
}

fn run(t: CurrentThread, exported: &ExportedMethod, method: &'static Method, frame: &EntryFrame) -> Managed<Slot> {
    note_call(t, method, false);
    // SAFETY: the wrapper lives as long as the method, which `dispatch` has on its stack; it does not look at the
    // context.
    let result = unsafe { exported.signature.invoke(t, 0, frame) };
    note_call(t, method, true);
    result
}
