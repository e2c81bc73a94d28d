//! Functions of a host in Rust that managed code calls: as internal calls, and as delegates.
//!
//! Such a function is a closure over typed arguments. Managed code leaves for native code to call it
//! (`il::synth::host_call`), with the arguments as they are; a C entry comes back and calls the closure. Invariants:
//! the caller's frame keeps argument objects in place; a result object is kept in place by a handle of the thread until
//! it returns its next one, since the thread is in native code for a moment on its way back. Functions are never freed.
//! Left out: hosts in C (`runtime::exec::host_calls`).

use crate::delegates;
use crate::reverse_calls::{NativeSignature, ReverseCall};
use saki_il::ir::{CallSig, IrType};
use saki_il::synth::builder::{ir_type, return_type};
use saki_il::synth::delegate::invoke_method;
use saki_il::synth::host_call;
use saki_runtime::exec::{callback_exceptions, compile, thread_data};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::object::references::{Obj, Word};
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_types::{LoadResult, Method, Ty};

/// An argument: the address of a value of the type.
#[derive(Clone, Copy)]
pub struct Argument {
    /// The declared type. Its value lies at the address while the function runs; references are seen by the collector.
    pub ty: Ty,
    /// Where the value lies.
    pub address: *const u8,
}

/// The function: gives its result, boxed if it is a value, or throws. It gets `this` of an instance method first.
pub type HostFunction = dyn for<'t> Fn(CurrentThread<'t>, &[Argument]) -> Managed<Option<Obj<'t>>> + Send + Sync;

struct HostEntry {
    params: Vec<Ty>,
    ret: Ty,
    result_size_bytes: usize,
    signature: NativeSignature,
    body: Box<HostFunction>,
}

/// A C function of the method's signature, arguments as they are, that calls `body`; `this` comes first if `has_this`.
///
/// # Errors
/// Those of the signature and of the types' layouts; `NotSupported` when the code region is full.
pub fn entry(method: &'static Method, has_this: bool, body: Box<HostFunction>) -> LoadResult<usize> {
    let sig = method.sig()?;
    let params: Vec<Ty> = has_this.then_some(method.owner).into_iter().chain(sig.params.iter().copied()).collect();
    let mut words = vec![IrType::I64];
    for (index, &ty) in params.iter().enumerate() {
        let is_address = has_this && index == 0;
        words.push(match ir_type(ty)? {
            _ if is_address => IrType::I64,
            IrType::Ref | IrType::ByRef => IrType::I64,
            other => other,
        });
    }
    let ret = return_type(sig.ret)?.map(|ty| if ty == IrType::Ref { IrType::I64 } else { ty });
    let wrapper_sig = CallSig { has_this: false, params: words, ret };
    let entry_sig = CallSig { has_this: false, params: wrapper_sig.params[1..].to_vec(), ret };
    let compiled = compile::compile_callback_entry(&entry_sig)?;
    let result_size_bytes = if ret.is_some() { sig.ret.value_size_bytes()? as usize } else { 0 };
    let entry: &'static HostEntry = Box::leak(Box::new(HostEntry {
        params,
        ret: sig.ret,
        result_size_bytes,
        signature: NativeSignature::new(0, wrapper_sig, None),
        body,
    }));
    compile::place_callback_entry(&compiled, dispatch as *const () as usize, std::ptr::from_ref(entry).addr())
}

/// A delegate of this type that calls `body`.
///
/// # Errors
/// Load errors; OutOfMemoryException.
pub fn delegate<'t>(t: CurrentThread<'t>, ty: Ty, body: Box<HostFunction>) -> Managed<Obj<'t>> {
    let invoke = invoke_method(ty).to_managed(t)?;
    let address = entry(invoke, false, body).to_managed(t)?;
    let function = host_call::host_delegate_invoke(invoke).to_managed(t)?;
    let code = compile::place_wrapper(t, None, invoke, &function)?;
    delegates::over_native(t, ty, invoke, code, address)
}

/// Called by C entries.
///
/// # Safety
/// A C entry made for `entry` calls it: `slots` has one word per parameter (structs: addresses), `result` room for the
/// result. References are in the calling wrapper's frame, too.
unsafe extern "C" fn dispatch(entry: &'static HostEntry, slots: *const u64, result: *mut u8) {
    // SAFETY: the C entry for `entry`, whose signature this is, spills its arguments to `slots` and has room for the
    // result.
    let frame = unsafe { entry.signature.frame(slots, result) };
    let call = ReverseCall::enter();
    // SAFETY: `enter` has made the thread current and RUNNING; `t` does not leave this function.
    let t = unsafe { CurrentThread::from_abi(call.abi()) };
    let arguments: Vec<Argument> = entry
        .params
        .iter()
        .zip(frame.arguments())
        .map(|(&ty, word)| {
            let is_struct = matches!(ir_type(ty), Ok(IrType::Struct(_)));
            let address = if is_struct { *word as *const u8 } else { std::ptr::from_ref(word).cast() };
            Argument { ty, address }
        })
        .collect();
    match (entry.body)(t, &arguments) {
        Ok(made) => {
            // SAFETY: the result is of the method's type, or null.
            unsafe { write_result(t, entry, made, result) };
        }
        Err(_) => {
            let exception = t.take_exception();
            callback_exceptions::keep(t, exception);
            // SAFETY: room for the result, of at least a word.
            unsafe { result.write_bytes(0, entry.result_size_bytes) };
        }
    }
    // SAFETY: what this frame and those up to the wrapper's hold is in place: see the module header.
    unsafe { call.leave() };
}

/// # Safety
/// `made` is null or of the entry's result type, and `result` has room for it.
unsafe fn write_result(t: CurrentThread, entry: &HostEntry, made: Option<Obj>, result: *mut u8) {
    if entry.result_size_bytes == 0 {
        return;
    }
    if entry.ret.is_value_type() {
        match made {
            // SAFETY: a box of this size.
            Some(boxed) => unsafe { result.copy_from_nonoverlapping(boxed.data(), entry.result_size_bytes) },
            // SAFETY: room for the result.
            None => unsafe { result.write_bytes(0, entry.result_size_bytes) },
        }
        return;
    }
    if let Some(object) = made {
        thread_data::of(t).keep_host_result(t, object);
    }
    // SAFETY: room for a reference.
    unsafe { result.cast::<saki_abi::ObjRef>().write(made.word()) };
}
