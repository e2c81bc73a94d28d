//! `BeginInvoke` and `EndInvoke` of delegates, and the thread pool's work item that runs the call.
//!
//! `AsyncResult.object_data` holds object[3]: the boxed arguments (changed in place by the call), the boxed result, the
//! exception. The thread pool runs `AsyncResult.ExecuteWorkItem`, which calls `AsyncResult.Invoke` here. Invariant: the
//! result is complete before `completed` is set, and `completed` is set before the wait handle is signalled. Left out:
//! transparent proxies, and the flow of the execution context.

use saki_il::synth::delegate::invoke_method;
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::exec::{monitors, thread_aborts};
use saki_runtime::object::delegates::DELEGATES;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::typed_values;
use saki_runtime::vm::threads;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, object};
use saki_types::{LibraryType, Method, Ty, universe};

macro_rules! field {
    ($name:ident = $field:literal) => {
        static $name: ManagedField = ManagedField::new(LibraryType::AsyncResult, $field);
    };
}

field!(ASYNC_STATE = "async_state");
field!(HANDLE = "handle");
field!(ASYNC_DELEGATE = "async_delegate");
field!(OBJECT_DATA = "object_data");
field!(COMPLETED = "completed");
field!(END_INVOKE_CALLED = "endinvoke_called");
field!(ASYNC_CALLBACK = "async_callback");

/// Timeout of a monitor, in milliseconds.
const WAIT_FOREVER: i32 = -1;

/// Places in `object_data`.
const ARGUMENTS: usize = 0;
const RESULT: usize = 1;
const EXCEPTION: usize = 2;

fn class_method(t: CurrentThread, class: LibraryType, name: &str, params: usize) -> Managed<&'static Method> {
    let ty = universe().library_type(class).to_managed(t)?;
    match ty.find_method(name, params).to_managed(t)? {
        Some(method) => Ok(method),
        None => {
            let message = format!("{}.{name}", ty.full_name());
            Err(exceptions::throw(t, ExceptionType::MissingMethod, &message))
        }
    }
}

/// The class of results.
///
/// # Errors
/// PlatformNotSupportedException on .NET's class libraries, which have none.
fn async_result(t: CurrentThread) -> Managed<Ty> {
    match universe().find_library_type(LibraryType::AsyncResult).to_managed(t)? {
        Some(class) => Ok(class),
        None => {
            let message = "Operation is not supported on this platform.";
            Err(exceptions::throw(t, ExceptionType::PlatformNotSupported, message))
        }
    }
}

/// Queues a call of the delegate and returns its AsyncResult. `arguments` holds the boxed arguments, then callback and
/// state.
///
/// # Errors
/// ArgumentException for several targets; OutOfMemoryException.
pub fn begin_invoke<'t>(
    t: CurrentThread<'t>,
    delegate: Option<Obj<'t>>,
    arguments: Option<Array<'t>>,
) -> Managed<Option<Obj<'t>>> {
    let (delegate, arguments) = operands(t, delegate, arguments)?;
    if DELEGATES.obj(delegate).is_some() {
        return Err(exceptions::throw(t, ExceptionType::Argument, "The delegate must have only one target"));
    }
    let count = arguments.length();
    let class = async_result(t)?;
    let result = Obj::new(t, class)?;
    let data = Array::new(t, universe().object(), 3)?;
    data.set(t, ARGUMENTS, Some(*arguments));
    ASYNC_DELEGATE.set_ref(t, result, delegate);
    OBJECT_DATA.set_ref(t, result, data);
    if count >= 2 {
        ASYNC_CALLBACK.set_ref(t, result, arguments.get(count - 2));
        ASYNC_STATE.set_ref(t, result, arguments.get(count - 1));
    }
    let queue = class_method(t, LibraryType::ThreadPool, "UnsafeQueueCustomWorkItem", 2)?;
    invoke::invoke(t, queue, &[Slot::from_ref(result), Slot::from_bool(false)])?;
    Ok(Some(result))
}

/// The delegate and the object[] that the wrappers of BeginInvoke and EndInvoke pass.
///
/// # Errors
/// NullReferenceException for a delegate that is null.
fn operands<'t>(
    t: CurrentThread<'t>,
    delegate: Option<Obj<'t>>,
    arguments: Option<Array<'t>>,
) -> Managed<(Obj<'t>, Array<'t>)> {
    Ok((filled(t, delegate)?, filled(t, arguments)?))
}

/// What `BeginInvoke` has put in an AsyncResult.
///
/// # Errors
/// NullReferenceException for an AsyncResult that it has not made (`GetUninitializedObject`).
fn filled<T>(t: CurrentThread, field: Option<T>) -> Managed<T> {
    field.ok_or_else(|| exceptions::throw_null_reference(t))
}

/// `AsyncResult.Invoke`: runs the call, stores its result or exception, and signals the waiting threads.
fn async_result_invoke<'t>(t: CurrentThread<'t>, this: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    let this = this.ok_or_else(|| exceptions::throw_null_reference(t))?;
    let delegate = filled(t, ASYNC_DELEGATE.obj(this))?;
    let Some(data) = OBJECT_DATA.array(this) else {
        let invoke_delegate = invoke_method(delegate.ty()).to_managed(t)?;
        let state = ASYNC_STATE.obj(this);
        let result = invoke::invoke(t, invoke_delegate, &[Slot::from_ref(delegate), Slot::from_ref(state)])?;
        return boxed(t, invoke_delegate, result);
    };
    let arguments = filled(t, data.get(ARGUMENTS).and_then(Obj::as_array))?;
    match call_boxed(t, delegate, arguments) {
        Ok(result) => data.set(t, RESULT, result),
        Err(_) => {
            data.set(t, EXCEPTION, t.take_pending());
            // An abort is reported to the thread that waits for the call; it must not prevent the signal.
            thread_aborts::forget_abort(t);
            threads::end_abort(t);
        }
    }
    monitors::try_enter(t, Some(this), WAIT_FOREVER)?;
    COMPLETED.set(this, 1u8);
    let handle = HANDLE.obj(this);
    monitors::exit(t, Some(this))?;
    if let Some(handle) = handle {
        let set = class_method(t, LibraryType::EventWaitHandle, "Set", 0)?;
        invoke::invoke(t, set, &[Slot::from_ref(handle)])?;
    }
    if let Some(callback) = ASYNC_CALLBACK.obj(this) {
        let call = invoke_method(callback.ty()).to_managed(t)?;
        invoke::invoke(t, call, &[Slot::from_ref(callback), Slot::from_ref(this)])?;
    }
    Ok(data.get(RESULT))
}

/// The most words of an asynchronous call: the delegate, the address of the result, and the parameters.
const MAX_ARGUMENT_WORDS: usize = 66;

/// Calls a delegate with the first elements of `arguments`; by-reference arguments are changed in the array.
fn call_boxed<'t>(t: CurrentThread<'t>, delegate: Obj<'t>, arguments: Array<'t>) -> Managed<Option<Obj<'t>>> {
    let call = invoke_method(delegate.ty()).to_managed(t)?;
    let sig = call.sig().to_managed(t)?;
    if arguments.length() < sig.params.len() {
        return Err(exceptions::throw_default(t, ExceptionType::TargetParameterCount));
    }
    if sig.params.len() + 2 > MAX_ARGUMENT_WORDS {
        let message = "The delegate has too many parameters for an asynchronous call.";
        return Err(exceptions::throw(t, ExceptionType::NotSupported, message));
    }
    // The words lie in this frame, which the collector scans; a block of Rust's heap would hide the references from it.
    let mut words = [Slot(0); MAX_ARGUMENT_WORDS];
    let mut used = 0;
    let mut push = |slot: Slot| {
        words[used] = slot;
        used += 1;
    };
    push(Slot::from_ref(delegate));
    let returns_struct =
        saki_il::synth::builder::mem_type(sig.ret).to_managed(t)?.is_none() && sig.ret != universe().void();
    // A struct result is written directly into its box, which a word of this frame keeps alive.
    let struct_result = if returns_struct { Some(Obj::new(t, sig.ret)?) } else { None };
    if let Some(result) = struct_result {
        push(Slot::from_ptr(result.data()));
    }
    let mut nullables = Vec::new();
    for (index, param) in sig.params.iter().enumerate() {
        let pointee = param.element().filter(|_| param.is_byref());
        let ty: Ty = pointee.unwrap_or(param);
        let given = arguments.get(index);
        let mut value = given.map(|given| typed_values::converted(t, given, ty)).transpose()?;
        if ty.is_nullable() {
            value = Some(nullable_instance(t, ty, value)?);
            nullables.push((index, ty));
            // The array keeps the value, which is read again after the call.
            arguments.set(t, index, value);
        }
        push(if ty.is_reference_type() {
            match pointee {
                Some(_) => Slot::from_ptr(arguments.element_address(index)),
                None => Slot::from_ref(value),
            }
        } else {
            let value = filled(t, value)?.data();
            match pointee {
                Some(_) => Slot::from_ptr(value),
                // SAFETY: a box of this type, by the check above.
                None => unsafe { invoke::load_slot(ty, value) },
            }
        });
    }
    let outcome = invoke::invoke(t, call, &words[..used]);
    for (index, ty) in nullables {
        let value = filled(t, arguments.get(index))?;
        // SAFETY: the Nullable<T> with an object header that was stored before the call.
        let reboxed = unsafe { Obj::boxed(t, ty, value.data()) }?;
        arguments.set(t, index, reboxed);
    }
    let result = outcome?;
    match struct_result {
        None => boxed(t, call, result),
        // SAFETY: the Nullable<T> with an object header that the call filled in.
        Some(filled) if sig.ret.is_nullable() => unsafe { Obj::boxed(t, sig.ret, filled.data()) },
        filled => Ok(filled),
    }
}

/// The result of a method, which is not a struct, as an object; None for void.
fn boxed<'t>(t: CurrentThread<'t>, method: &'static Method, result: Slot) -> Managed<Option<Obj<'t>>> {
    // SAFETY: the word that the method gave.
    unsafe { invoke::box_slot(t, method.sig().to_managed(t)?.ret, result) }
}

/// A `Nullable<T>` with an object header, from a boxed T or null.
fn nullable_instance<'t>(t: CurrentThread<'t>, ty: Ty, boxed: Option<Obj>) -> Managed<Obj<'t>> {
    let made = Obj::new(t, ty)?;
    let Some(boxed) = boxed else { return Ok(made) };
    let (has_value, value) = object::nullable_offsets(t, ty)?;
    // SAFETY: the flag lies inside the new value.
    unsafe { made.data().add(has_value).write(1) };
    // SAFETY: the value lies inside the new one; the box holds a T.
    unsafe { object::copy_struct(t, made.data().add(value), boxed.data(), ty.args[0]) };
    Ok(made)
}

/// Waits for the call of an AsyncResult, the last of `arguments`, and returns the boxed result; by-reference results
/// are stored into `arguments`.
///
/// # Errors
/// The exception of the call; InvalidOperationException for a second call or another delegate's result.
pub fn end_invoke<'t>(
    t: CurrentThread<'t>,
    delegate: Option<Obj<'t>>,
    arguments: Option<Array<'t>>,
) -> Managed<Option<Obj<'t>>> {
    let (delegate, arguments) = operands(t, delegate, arguments)?;
    let count = arguments.length();
    let class = async_result(t)?;
    let wrong_type = || {
        let message = "The async result object is null or of an unexpected type.";
        exceptions::throw(t, ExceptionType::Remoting, message)
    };
    let result = count.checked_sub(1).and_then(|last| arguments.get(last)).ok_or_else(wrong_type)?;
    if !result.is_instance(t, class)? {
        return Err(wrong_type());
    }
    if ASYNC_DELEGATE.obj(result) != Some(delegate) {
        let message = "The IAsyncResult object provided does not match this delegate.";
        return Err(exceptions::throw(t, ExceptionType::InvalidOperation, message));
    }
    monitors::try_enter(t, Some(result), WAIT_FOREVER)?;
    let was_called = END_INVOKE_CALLED.get::<u8>(result) != 0;
    END_INVOKE_CALLED.set(result, 1u8);
    let is_complete = COMPLETED.get::<u8>(result) != 0;
    monitors::exit(t, Some(result))?;
    if was_called {
        let message = "Delegate EndInvoke method called more than once";
        return Err(exceptions::throw(t, ExceptionType::InvalidOperation, message));
    }
    if !is_complete {
        let wait_handle = class_method(t, LibraryType::AsyncResult, "get_AsyncWaitHandle", 0)?;
        // SAFETY: the method gives an object.
        let handle = unsafe { invoke::invoke(t, wait_handle, &[Slot::from_ref(result)])?.as_obj() };
        let wait = class_method(t, LibraryType::WaitHandle, "WaitOne", 0)?;
        invoke::invoke_virtual(t, wait, filled(t, handle)?, &[])?;
    }
    let data = filled(t, OBJECT_DATA.array(result))?;
    if let Some(exception) = data.get(EXCEPTION) {
        return Err(t.throw(exception));
    }
    // EndInvoke has the by-reference parameters of Invoke, in the same order.
    let sent = filled(t, data.get(ARGUMENTS).and_then(Obj::as_array))?;
    let sig = invoke_method(delegate.ty()).to_managed(t)?.sig().to_managed(t)?;
    let changed = sig.params.iter().enumerate().filter(|(_, param)| param.is_byref());
    for (place, (index, _)) in changed.enumerate().take(count - 1) {
        arguments.set(t, place, sent.get(index));
    }
    Ok(data.get(RESULT))
}

/// The internal calls of `System.Runtime.Remoting.Messaging.AsyncResult`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Runtime.Remoting.Messaging.AsyncResult::Invoke", &async_result_invoke)];
