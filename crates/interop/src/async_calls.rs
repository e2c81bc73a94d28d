//! `BeginInvoke` and `EndInvoke` of delegates, and the thread pool's work item that runs the call.
//!
//! `AsyncResult.object_data` holds object[3]: the boxed arguments (changed in place by the call), the boxed result, the
//! exception. The thread pool runs `AsyncResult.ExecuteWorkItem`, which calls `AsyncResult.Invoke` here.
//! Invariant: the result is complete before `completed` is set, and that before the wait handle is signalled.
//! Left out: transparent proxies, and the flow of the execution context.

use saki_abi::ObjRef;
use saki_il::synth::delegate::invoke_method;
use saki_runtime::InternalCall;
use saki_runtime::delegates::DELEGATES;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::fields::ManagedField;
use saki_runtime::invoke::{self, Slot};
use saki_runtime::monitors;
use saki_runtime::object;
use saki_runtime::thread::{CurrentThread, Managed};
use saki_runtime::{pending, threads};
use saki_types::{Method, Ty, universe};

const NAMESPACE: &str = "System.Runtime.Remoting.Messaging";

macro_rules! field {
    ($name:ident = $field:literal) => {
        static $name: ManagedField = ManagedField::corlib(NAMESPACE, "AsyncResult", $field);
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

fn class_method(t: CurrentThread, namespace: &str, class: &str, name: &str, params: usize) -> Managed<&'static Method> {
    let ty = universe().corlib_type(namespace, class).to_managed(t)?;
    match ty.find_method(name, params).to_managed(t)? {
        Some(method) => Ok(method),
        None => {
            let message = format!("{namespace}.{class}.{name}");
            Err(exceptions::throw(t, "System", "MissingMethodException", &message))
        }
    }
}

/// (delegate, boxed arguments, callback and state last) → the AsyncResult, queued.
///
/// # Errors
/// ArgumentException for several targets; OutOfMemoryException.
pub fn begin_invoke(t: CurrentThread, delegate: ObjRef, arguments: ObjRef) -> Managed<ObjRef> {
    if !DELEGATES.get_ref(delegate).is_null() {
        return Err(exceptions::throw(t, "System", "ArgumentException", "The delegate must have only one target"));
    }
    let count = object::array_length(arguments);
    let class = universe().corlib_type(NAMESPACE, "AsyncResult").to_managed(t)?;
    let result = object::new_instance(t, class)?;
    let data = object::new_array(t, universe().object(), 3)?;
    object::set_element_ref(t, data, ARGUMENTS, arguments);
    ASYNC_DELEGATE.set_ref(t, result, delegate);
    OBJECT_DATA.set_ref(t, result, data);
    if count >= 2 {
        ASYNC_CALLBACK.set_ref(t, result, object::get_element_ref(arguments, count - 2));
        ASYNC_STATE.set_ref(t, result, object::get_element_ref(arguments, count - 1));
    }
    let queue = class_method(t, "System.Threading", "ThreadPool", "UnsafeQueueCustomWorkItem", 2)?;
    invoke::invoke(t, queue, &[Slot::from_ref(result), Slot::from_bool(false)])?;
    Ok(result)
}

/// `AsyncResult.Invoke`: runs the call, stores its result or exception, and signals the waiting threads.
///
/// # Safety
/// `t` is the current thread, and `this` a live AsyncResult that `BeginInvoke` made.
fn async_result_invoke(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        let delegate = ASYNC_DELEGATE.get_ref(this);
        let data = OBJECT_DATA.get_ref(this);
        if data.is_null() {
            let invoke_delegate = invoke_method(object::type_of(delegate)).to_managed(t)?;
            let state = ASYNC_STATE.get_ref(this);
            return Ok(invoke::invoke(t, invoke_delegate, &[Slot::from_ref(delegate), Slot::from_ref(state)])?.as_ref());
        }
        let arguments = object::get_element_ref(data, ARGUMENTS);
        match call_boxed(t, delegate, arguments) {
            Ok(result) => object::set_element_ref(t, data, RESULT, result),
            Err(_) => {
                object::set_element_ref(t, data, EXCEPTION, t.take_pending());
                // An abort is passed to the thread that waits for the call; it must not prevent the signal.
                pending::forget_abort(t);
                threads::end_abort(t);
            }
        }
        monitors::try_enter(t, this, WAIT_FOREVER)?;
        COMPLETED.set(this, 1u8);
        let handle = HANDLE.get_ref(this);
        monitors::exit(t, this)?;
        if !handle.is_null() {
            let set = class_method(t, "System.Threading", "EventWaitHandle", "Set", 0)?;
            invoke::invoke(t, set, &[Slot::from_ref(handle)])?;
        }
        let callback = ASYNC_CALLBACK.get_ref(this);
        if !callback.is_null() {
            let call = invoke_method(object::type_of(callback)).to_managed(t)?;
            invoke::invoke(t, call, &[Slot::from_ref(callback), Slot::from_ref(this)])?;
        }
        Ok(object::get_element_ref(data, RESULT))
    })
}

/// Delegate, result address and parameters of an asynchronous call.
const MAX_ARGUMENT_WORDS: usize = 66;

/// Calls a delegate with boxed arguments (its first parameters); by-reference ones are changed in the array.
fn call_boxed(t: CurrentThread, delegate: ObjRef, arguments: ObjRef) -> Managed<ObjRef> {
    let call = invoke_method(object::type_of(delegate)).to_managed(t)?;
    let sig = call.sig().to_managed(t)?;
    if sig.params.len() + 2 > MAX_ARGUMENT_WORDS {
        let message = "The delegate has too many parameters for an asynchronous call.";
        return Err(exceptions::throw(t, "System", "NotSupportedException", message));
    }
    // In this frame, which the collector scans: a heap block would hide the references from it.
    let mut words = [Slot(0); MAX_ARGUMENT_WORDS];
    let mut used = 0;
    let mut push = |slot: Slot| {
        words[used] = slot;
        used += 1;
    };
    push(Slot::from_ref(delegate));
    // A struct result is written into its box at once; the box is found on this stack.
    let mut boxed_result = ObjRef::NULL;
    let returns_struct =
        saki_il::synth::builder::mem_type(sig.ret).to_managed(t)?.is_none() && sig.ret != universe().void();
    if returns_struct {
        boxed_result = object::new_instance(t, sig.ret)?;
        push(Slot::from_ptr(object::unboxed(boxed_result)));
    }
    let mut nullables = Vec::new();
    for (index, param) in sig.params.iter().enumerate() {
        let pointee = param.element().filter(|_| param.is_byref());
        let ty: Ty = pointee.unwrap_or(param);
        let mut value = object::get_element_ref(arguments, index);
        if ty.is_nullable() {
            value = nullable_instance(t, ty, value)?;
            nullables.push((index, ty));
            // Where it is found again after the call.
            object::set_element_ref(t, arguments, index, value);
        }
        push(if ty.is_reference_type() {
            match pointee {
                Some(_) => Slot::from_ptr(object::element_address(arguments, index, 8)),
                None => Slot::from_ref(value),
            }
        } else if pointee.is_some() {
            Slot::from_ptr(object::unboxed(value))
        } else {
            // SAFETY: the wrapper of BeginInvoke boxed a value of this type.
            unsafe { invoke::load_slot(ty, object::unboxed(value)) }
        });
    }
    let outcome = invoke::invoke(t, call, &words[..used]);
    for (index, ty) in nullables {
        let value = object::get_element_ref(arguments, index);
        let reboxed = object::box_value(t, ty, object::unboxed(value))?;
        object::set_element_ref(t, arguments, index, reboxed);
    }
    let result = outcome?;
    if !returns_struct {
        return invoke::box_slot(t, sig.ret, result);
    }
    if sig.ret.is_nullable() {
        return object::box_value(t, sig.ret, object::unboxed(boxed_result));
    }
    Ok(boxed_result)
}

/// A `Nullable<T>` with an object header, from a boxed T or null.
fn nullable_instance(t: CurrentThread, ty: Ty, boxed: ObjRef) -> Managed<ObjRef> {
    let made = object::new_instance(t, ty)?;
    if boxed.is_null() {
        return Ok(made);
    }
    let (has_value, value) = object::nullable_offsets(t, ty)?;
    let data = object::unboxed(made);
    // SAFETY: both offsets lie inside the new value.
    unsafe { *data.add(has_value) = 1 };
    // SAFETY: as above; the box holds a T.
    unsafe { object::copy_struct(t, data.add(value), object::unboxed(boxed), ty.args[0]) };
    Ok(made)
}

/// (delegate, object[] with the AsyncResult last) → the boxed result; by-reference results go into the array.
///
/// # Errors
/// The exception of the call; InvalidOperationException for a second call or another delegate's result.
pub fn end_invoke(t: CurrentThread, delegate: ObjRef, arguments: ObjRef) -> Managed<ObjRef> {
    let count = object::array_length(arguments);
    let result = if count == 0 { ObjRef::NULL } else { object::get_element_ref(arguments, count - 1) };
    let class = universe().corlib_type(NAMESPACE, "AsyncResult").to_managed(t)?;
    if result.is_null() || !object::is_instance(t, result, class)? {
        let message = "The async result object is null or of an unexpected type.";
        return Err(exceptions::throw(t, "System.Runtime.Remoting", "RemotingException", message));
    }
    if ASYNC_DELEGATE.get_ref(result) != delegate {
        let message = "The IAsyncResult object provided does not match this delegate.";
        return Err(exceptions::throw(t, "System", "InvalidOperationException", message));
    }
    monitors::try_enter(t, result, WAIT_FOREVER)?;
    let was_called = END_INVOKE_CALLED.get::<u8>(result) != 0;
    END_INVOKE_CALLED.set(result, 1u8);
    let is_complete = COMPLETED.get::<u8>(result) != 0;
    monitors::exit(t, result)?;
    if was_called {
        let message = "Delegate EndInvoke method called more than once";
        return Err(exceptions::throw(t, "System", "InvalidOperationException", message));
    }
    if !is_complete {
        let wait_handle = class_method(t, NAMESPACE, "AsyncResult", "get_AsyncWaitHandle", 0)?;
        let handle = invoke::invoke(t, wait_handle, &[Slot::from_ref(result)])?;
        let wait = class_method(t, "System.Threading", "WaitHandle", "WaitOne", 0)?;
        invoke::invoke_virtual(t, wait, handle.as_ref(), &[])?;
    }
    let data = OBJECT_DATA.get_ref(result);
    let exception = object::get_element_ref(data, EXCEPTION);
    if !exception.is_null() {
        return Err(t.throw(exception));
    }
    // EndInvoke has the by-reference parameters of Invoke, in the same order.
    let sent = object::get_element_ref(data, ARGUMENTS);
    let sig = invoke_method(object::type_of(delegate)).to_managed(t)?.sig().to_managed(t)?;
    let changed = sig.params.iter().enumerate().filter(|(_, param)| param.is_byref());
    for (place, (index, _)) in changed.enumerate().take(count - 1) {
        object::set_element_ref(t, arguments, place, object::get_element_ref(sent, index));
    }
    Ok(object::get_element_ref(data, RESULT))
}

pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Runtime.Remoting.Messaging.AsyncResult::Invoke", &async_result_invoke)];
