//! Delegates as C function pointers, and C function pointers as delegates.
//!
//! To native code: each delegate passed to native code gets its own small C entry, which calls `dispatch` with the
//! delegate's context. The entry refers to the delegate only weakly: as the CLI documents, the program must keep the
//! delegate alive while native code may call it. Entries of dead delegates are reused for new delegates of the same
//! type. From native code: a delegate over a native function is of kind `SelfPassing`: its code is a wrapper that finds
//! the address in the delegate's `extra_arg`.
//!
//! Invariants: wrappers are made once per delegate type; converting a function pointer that was made of a delegate
//! gives that same delegate. Left out: C functions with variable arguments.

use crate::host_functions;
use crate::refusals::directive_error;
use crate::reverse_calls::{self, NativeSignature, ReverseCall, in_domain};
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_il::synth::delegate::{DelegateKind, invoke_method};
use saki_il::synth::{callback, pinvoke};
use saki_runtime::ExceptionType;
use saki_runtime::exec::callback_exceptions;
use saki_runtime::exec::code_cache::Identity;
use saki_runtime::exec::compile::{self, CallbackEntry};
use saki_runtime::object::delegates::{INVOKE_IMPL, METHOD, METHOD_PTR};
use saki_runtime::object::exceptions::{self, Thrown, ToManaged};
use saki_runtime::object::fields::ManagedField;
use saki_runtime::object::handles;
use saki_runtime::object::references::Obj;
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_runtime::vm::domains::Domain;
use saki_runtime::vm::{domains, threads, unhandled};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_types::{LibraryType, Method, Ty, collectible};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};

/// The C entry of a delegate, 0 until one is needed.
static DELEGATE_TRAMPOLINE: ManagedField = ManagedField::new(LibraryType::Delegate, "delegate_trampoline");
/// The native function of a `SelfPassing` delegate.
static EXTRA_ARG: ManagedField = ManagedField::new(LibraryType::Delegate, "extra_arg");

/// The number of entries that are tried for reuse when one is needed.
const REUSE_ATTEMPTS: usize = 4;

/// Data common to all delegates of one type. It stays when the type is freed, since native code may still have entries;
/// then no delegate is called, and no type in
/// `signature` is read.
struct CallbackType {
    domain: &'static Domain,
    /// Its wrapper lives as long as the delegate type.
    signature: NativeSignature,
    entry: CallbackEntry,
    contexts: Mutex<rank::CallbackContexts, VecDeque<&'static CallbackContext>>,
}

/// The context that a C entry passes: never freed, reused when its delegate is gone.
struct CallbackContext {
    /// Weak handle of the delegate, in its 32-bit form. Unloading the delegate's domain frees the handle; the context
    /// stays.
    delegate: AtomicU32,
    class: &'static CallbackType,
}

static CALLBACK_TYPES: Mutex<rank::CallbackTypes, Option<FxHashMap<Ty, &'static CallbackType>>> = Mutex::new(None);
static ENTRIES: Mutex<rank::CallbackEntries, Option<FxHashMap<usize, &'static CallbackContext>>> = Mutex::new(None);
static NATIVE_INVOKES: Mutex<rank::NativeInvokes, Option<FxHashMap<Ty, usize>>> = Mutex::new(None);

impl CallbackContext {
    /// The delegate; None when it has been collected or its domain is unloaded.
    fn target<'t>(&self, t: CurrentThread<'t>) -> Option<Obj<'t>> {
        // Acquire: pairs with the Release of the thread that reused the entry.
        let handle = Handle::from_bits(self.delegate.load(Ordering::Acquire))?;
        handles::target(t, handle).ok()?
    }
}

/// The C function pointer of a delegate.
///
/// # Errors
/// OutOfMemoryException, load errors. Parameters that cannot be marshalled raise MarshalDirectiveException at the first
/// call only.
pub fn function_pointer(t: CurrentThread, delegate: Obj) -> Managed<usize> {
    let is_native = INVOKE_IMPL.get::<usize>(delegate) as i32 == DelegateKind::SelfPassing as i32;
    // A host's function takes no arguments of native code.
    if is_native && !host_functions::is_host_delegate(delegate) {
        return Ok(EXTRA_ARG.get(delegate));
    }
    let known = DELEGATE_TRAMPOLINE.get::<usize>(delegate);
    if known != 0 {
        return Ok(known);
    }
    let class = callback_type(t, delegate.ty())?;
    let Some(handle) = handles::allocate(t, HandleKind::Weak, delegate) else {
        return Err(exceptions::out_of_memory(t));
    };
    let mut contexts = class.contexts.lock();
    for _ in 0..REUSE_ATTEMPTS.min(contexts.len()) {
        let Some(context) = contexts.pop_front() else { break };
        contexts.push_back(context);
        if context.target(t).is_some() {
            continue;
        }
        // Release: the new handle is complete.
        let stale = context.delegate.swap(handle.bits(), Ordering::AcqRel);
        if let Some(stale) = Handle::from_bits(stale) {
            let _ = handles::free(t, stale);
        }
        let found = ENTRIES.lock().iter().flatten().find(|(_, c)| std::ptr::eq(**c, context)).map(|(entry, _)| *entry);
        if let Some(entry) = found {
            DELEGATE_TRAMPOLINE.set(delegate, entry);
            return Ok(entry);
        }
    }
    // Placing code takes the locks of tools that describe it, and an error of it is a new object: both without the lock.
    drop(contexts);
    let context: &'static CallbackContext =
        Box::leak(Box::new(CallbackContext { delegate: AtomicU32::new(handle.bits()), class }));
    let cookie = context as *const CallbackContext as usize;
    let entry = compile::place_callback_entry(&class.entry, dispatch as *const () as usize, cookie).to_managed(t)?;
    // Before others may use the context again: they look for its entry.
    ENTRIES.lock().get_or_insert_default().insert(entry, context);
    class.contexts.lock().push_back(context);
    DELEGATE_TRAMPOLINE.set(delegate, entry);
    Ok(entry)
}

fn callback_type(t: CurrentThread, ty: Ty) -> Managed<&'static CallbackType> {
    if let Some(known) = CALLBACK_TYPES.lock().as_ref().and_then(|table| table.get(&ty)) {
        return Ok(known);
    }
    let invoke = invoke_method(ty).to_managed(t)?;
    let function = callback::callback(invoke).to_managed(t)?;
    let wrapper = compile::place_wrapper(t, Some(Identity::Callback(invoke)), invoke, &function)?;
    let result_in_memory_bytes = callback::result_in_memory_bytes(invoke).to_managed(t)?;
    let signature = NativeSignature::new(wrapper, function.sig.clone(), result_in_memory_bytes);
    let entry = compile::compile_callback_entry(&signature.of_entry()).to_managed(t)?;
    let domain = domains::of_universe(ty.universe());
    let made = CallbackType { domain, signature, entry, contexts: Mutex::default() };
    Ok(CALLBACK_TYPES.lock().get_or_insert_default().entry(ty).or_insert_with(|| Box::leak(Box::new(made))))
}

/// Called by C entries: runs the wrapper with the C arguments in `slots` (structs: addresses) and leaves the result in
/// `result`. An exception is kept and thrown when the native code returns to managed code; until then native code sees
/// a zero result. If the native code was not called by managed code, the exception ends the process.
///
/// # Safety
/// A C entry made for `context` calls it: `slots` has one word per parameter, `result` room for the result.
unsafe extern "C" fn dispatch(context: &'static CallbackContext, slots: *const u64, result: *mut u8) {
    let class = context.class;
    // SAFETY: the C entry for `context`, whose signature this is, spills its arguments to `slots` and has room for the
    // result.
    let frame = unsafe { class.signature.frame(slots, result) };
    let call = ReverseCall::enter();
    // SAFETY: `enter` has made the thread current and RUNNING; `t` does not leave this function.
    let t = unsafe { CurrentThread::from_abi(call.abi()) };
    let delegate = context.target(t);
    let called = match delegate {
        None => Err(throw_delegate_is_gone(t, class.domain)),
        // Native code may call the delegate from any domain.
        Some(delegate) => in_domain(t, domains::of_universe(delegate.ty().universe()), || {
            called_by_native(t, delegate, false);
            // SAFETY: the wrapper lives as long as the delegate's type, which the delegate keeps.
            let result = unsafe { class.signature.invoke(t, std::ptr::from_ref(context).addr(), &frame) };
            called_by_native(t, delegate, true);
            result
        }),
    };
    // Keeps the delegate on the stack until here: it keeps its type alive, and the type the wrapper.
    std::hint::black_box(delegate);
    match called {
        Ok(value) => class.signature.write_result(&frame, value),
        Err(_) => {
            if !call.is_of_native_code() {
                unhandled::report_and_exit(t);
            }
            let exception = t.take_exception();
            if !threads::request_abort_again(t, exception) {
                callback_exceptions::keep(t, exception);
            }
            class.signature.write_zero_result(&frame);
        }
    }
    // SAFETY: the C frames above hold no references, nor does this one from here on.
    unsafe { call.leave() };
}

/// Tells a profile of calls, or a trace, that native code calls the delegate's method, or that the call has ended.
fn called_by_native(t: CurrentThread, delegate: Obj, has_ended: bool) {
    if reverse_calls::are_noted()
        && let Some(method) = saki_runtime::object::delegates::method_of(delegate)
    {
        reverse_calls::note_call(t, method, has_ended);
    }
}

/// The exception for native code that calls a delegate which has been collected or whose domain is unloaded.
fn throw_delegate_is_gone(t: CurrentThread, domain: &Domain) -> Thrown {
    if domain.is_unloading() {
        return domains::throw_unloaded(t);
    }
    let message = "A callback was made on a garbage collected delegate.";
    exceptions::throw(t, ExceptionType::InvalidOperation, message)
}

/// Drops the wrappers of delegate types of dead assemblies and domains. The data that C entries use stays.
pub(crate) fn forget_dead() {
    let is_dead = |ty: &Ty| collectible::is_dead(std::ptr::from_ref(*ty).addr());
    if let Some(types) = CALLBACK_TYPES.lock().as_mut() {
        types.retain(|ty, _| !is_dead(ty));
    }
    if let Some(invokes) = NATIVE_INVOKES.lock().as_mut() {
        invokes.retain(|ty, _| !is_dead(ty));
    }
    host_functions::forget_dead(is_dead);
}

/// The delegate that a C entry's context stands for.
///
/// # Errors
/// InvalidOperationException when it has been collected.
///
/// # Safety
/// The context is that of the C entry which `dispatch` called the wrapper for.
pub unsafe fn callback_delegate<'t>(t: CurrentThread<'t>, context: usize) -> Managed<Option<Obj<'t>>> {
    // SAFETY: the address is a context's that `dispatch` put into the wrapper's arguments; contexts are never freed.
    let context = unsafe { &*(context as *const CallbackContext) };
    context.target(t).map(Some).ok_or_else(|| throw_delegate_is_gone(t, context.class.domain))
}

/// Whether an object belongs to the domain of a type.
fn is_of_domain(object: Obj, ty: Ty) -> bool {
    std::ptr::eq(object.ty().universe(), ty.universe())
}

/// A delegate of type `ty` for a C function pointer; None for 0. If `ty` is Delegate or MulticastDelegate, the pointer
/// must have been made of a delegate.
///
/// # Errors
/// MarshalDirectiveException when `ty` is no delegate type and the pointer is not a delegate's; OutOfMemoryException,
/// load errors.
pub fn delegate_for<'t>(t: CurrentThread<'t>, address: usize, ty: Ty) -> Managed<Option<Obj<'t>>> {
    if address == 0 {
        return Ok(None);
    }
    let ours = ENTRIES.lock().as_ref().and_then(|table| table.get(&address).copied());
    if let Some(original) = ours.and_then(|context| context.target(t))
        && (original.ty() == ty || (!ty.is_delegate() && is_of_domain(original, ty)))
    {
        return Ok(Some(original));
    }
    if !ty.is_delegate() {
        let message = format!("A function pointer cannot become a '{}': its type is not known.", ty.full_name());
        return Err(directive_error(t, &message));
    }
    let invoke = invoke_method(ty).to_managed(t)?;
    let code = native_invoke(t, ty, invoke)?;
    over_native(t, ty, invoke, code, address).map(Some)
}

/// A delegate whose `Invoke` runs `code`, a wrapper that calls the native function at `address`.
pub(crate) fn over_native<'t>(
    t: CurrentThread<'t>,
    ty: Ty,
    invoke: &'static Method,
    code: usize,
    address: usize,
) -> Managed<Obj<'t>> {
    let delegate = Obj::new(t, ty)?;
    METHOD_PTR.set(delegate, code);
    INVOKE_IMPL.set(delegate, DelegateKind::SelfPassing as i32 as usize);
    METHOD.set(delegate, invoke as *const Method as usize);
    EXTRA_ARG.set(delegate, address);
    Ok(delegate)
}

/// Code of the wrapper that calls the native function of a delegate.
fn native_invoke(t: CurrentThread, ty: Ty, invoke: &'static Method) -> Managed<usize> {
    if let Some(&known) = NATIVE_INVOKES.lock().as_ref().and_then(|table| table.get(&ty)) {
        return Ok(known);
    }
    let function = pinvoke::native_delegate_invoke(invoke).to_managed(t)?;
    let code = compile::place_wrapper(t, Some(Identity::NativeInvoke(invoke)), invoke, &function)?;
    Ok(*NATIVE_INVOKES.lock().get_or_insert_default().entry(ty).or_insert(code))
}
