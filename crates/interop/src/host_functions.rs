//! Functions of a host in Rust that managed code calls: as internal calls, and as delegates.
//!
//! Such a function is a closure over typed arguments. Managed code leaves for native code to call it
//! (`il::synth::host_call`), with the arguments as they are; a C entry comes back and calls the closure. Invariants:
//! the caller's frame keeps argument objects in place; a result object is kept in place by a handle of the thread until
//! it returns its next one, since the thread is in native code for a moment on its way back. The function of an
//! internal call is never freed. The function of a delegate is an argument's: the delegate passes itself, so that it is
//! alive while its function runs, and a later delegate of the type takes the entry over once it is dead. Left out:
//! hosts in C (`runtime::exec::host_calls`); functions of delegates whose domain was unloaded are kept.

use crate::delegates;
use crate::reverse_calls::{NativeSignature, ReverseCall};
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_il::ir::{CallSig, IrType};
use saki_il::synth::builder::{ir_type, return_type};
use saki_il::synth::delegate::invoke_method;
use saki_il::synth::host_call;
use saki_runtime::exec::compile::{self, CallbackEntry};
use saki_runtime::exec::{callback_exceptions, thread_data};
use saki_runtime::object::delegates::{METHOD_PTR, TARGET};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::handles;
use saki_runtime::object::references::{Obj, Word};
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_types::{LoadResult, Method, Ty};
use std::collections::VecDeque;
use std::sync::Arc;

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

/// The number of entries that are looked at for reuse when one is needed.
const REUSE_ATTEMPTS: usize = 4;

/// What the entries of one method, or of the delegates of one type, have in common.
struct HostSignature {
    params: Vec<Ty>,
    ret: Ty,
    result_size_bytes: usize,
    native: NativeSignature,
}

impl HostSignature {
    /// `this` comes first if `has_this`.
    fn new(method: &'static Method, has_this: bool) -> LoadResult<HostSignature> {
        let sig = method.sig()?;
        let params: Vec<Ty> = has_this.then_some(method.owner).into_iter().chain(sig.params.iter().copied()).collect();
        // The first word is the context that the wrapper of a delegate would get.
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
        let result_size_bytes = if ret.is_some() { sig.ret.value_size_bytes()? as usize } else { 0 };
        let native = NativeSignature::new(0, CallSig { has_this: false, params: words, ret }, None);
        Ok(HostSignature { params, ret: sig.ret, result_size_bytes, native })
    }

    fn compile(&self) -> LoadResult<CallbackEntry> {
        compile::compile_callback_entry(&self.native.of_entry())
    }
}

/// What a C entry calls: never freed.
struct HostEntry {
    signature: Arc<HostSignature>,
    body: Body,
}

enum Body {
    /// Of an internal call.
    Always(Box<HostFunction>),
    /// Of the delegate that uses the entry now.
    OfDelegate(Mutex<rank::HostDelegate, Option<DelegateBody>>),
}

struct DelegateBody {
    /// Weak, until the delegate is gone: finalizers may still call it.
    delegate: Handle,
    function: Arc<HostFunction>,
}

/// The delegates of one type over functions of the host.
struct HostDelegates {
    /// The wrapper that is their `Invoke`.
    code: usize,
    signature: Arc<HostSignature>,
    compiled: CallbackEntry,
    /// All entries by address, but for those that are about to get a delegate.
    entries: Mutex<rank::HostDelegateEntries, VecDeque<(usize, &'static HostEntry)>>,
}

static HOST_DELEGATES: Mutex<rank::HostDelegateTypes, Option<FxHashMap<Ty, &'static HostDelegates>>> = Mutex::new(None);

/// A C function of the method's signature, arguments as they are, that calls `body`; `this` comes first if `has_this`.
///
/// # Errors
/// Those of the signature and of the types' layouts; `NotSupported` when the code region is full.
pub fn entry(method: &'static Method, has_this: bool, body: Box<HostFunction>) -> LoadResult<usize> {
    let signature = Arc::new(HostSignature::new(method, has_this)?);
    let compiled = signature.compile()?;
    place(&compiled, Box::leak(Box::new(HostEntry { signature, body: Body::Always(body) })))
}

fn place(compiled: &CallbackEntry, entry: &'static HostEntry) -> LoadResult<usize> {
    compile::place_callback_entry(compiled, dispatch as *const () as usize, std::ptr::from_ref(entry).addr())
}

/// A delegate of this type that calls `body`, which is dropped some time after the delegate has been collected: by a
/// thread that makes another one.
///
/// # Errors
/// Load errors; OutOfMemoryException.
pub fn delegate<'t>(t: CurrentThread<'t>, ty: Ty, body: Box<HostFunction>) -> Managed<Obj<'t>> {
    let class = delegates_of(t, ty)?;
    let (address, entry) = match class.unused_entry(t) {
        Some(unused) => unused,
        None => {
            let signature = Arc::clone(&class.signature);
            let entry: &'static HostEntry =
                Box::leak(Box::new(HostEntry { signature, body: Body::OfDelegate(Mutex::new(None)) }));
            (place(&class.compiled, entry).to_managed(t)?, entry)
        }
    };
    let made = delegates::over_native(t, ty, invoke_method(ty).to_managed(t)?, class.code, address).and_then(|made| {
        // The entry is this delegate's as long as this one or a clone of it is alive: clones have the same target.
        TARGET.set_ref(t, made, Some(made));
        let handle = handles::allocate(t, HandleKind::WeakTrack, made).ok_or_else(|| exceptions::out_of_memory(t))?;
        entry.set_delegate(Some(DelegateBody { delegate: handle, function: Arc::from(body) }));
        Ok(made)
    });
    class.entries.lock().push_back((address, entry));
    made
}

fn delegates_of(t: CurrentThread, ty: Ty) -> Managed<&'static HostDelegates> {
    if let Some(known) = HOST_DELEGATES.lock().as_ref().and_then(|table| table.get(&ty)) {
        return Ok(known);
    }
    let invoke = invoke_method(ty).to_managed(t)?;
    let function = host_call::host_delegate_invoke(invoke).to_managed(t)?;
    let code = compile::place_wrapper(t, None, invoke, &function)?;
    let signature = Arc::new(HostSignature::new(invoke, true).to_managed(t)?);
    let compiled = signature.compile().to_managed(t)?;
    let made = HostDelegates { code, signature, compiled, entries: Mutex::default() };
    Ok(HOST_DELEGATES.lock().get_or_insert_default().entry(ty).or_insert_with(|| Box::leak(Box::new(made))))
}

/// Whether the delegate calls a function of a host in Rust.
pub(crate) fn is_host_delegate(delegate: Obj) -> bool {
    let code = METHOD_PTR.get::<usize>(delegate);
    HOST_DELEGATES.lock().as_ref().and_then(|table| table.get(&delegate.ty())).is_some_and(|class| class.code == code)
}

/// Drops the wrappers of dead delegate types. What their entries call stays.
pub(crate) fn forget_dead(is_dead: impl Fn(&Ty) -> bool) {
    if let Some(types) = HOST_DELEGATES.lock().as_mut() {
        types.retain(|ty, _| !is_dead(ty));
    }
}

impl HostDelegates {
    /// An entry whose delegate has been collected; its function is dropped. The caller gives the entry back.
    fn unused_entry(&self, t: CurrentThread) -> Option<(usize, &'static HostEntry)> {
        let (found, last) = self.next_unused(t)?;
        // Without the locks: what the function owns may be the host's, and its drop may call the machine.
        if let Some(last) = last {
            let _ = handles::free(t, last.delegate);
        }
        Some(found)
    }

    fn next_unused(&self, t: CurrentThread) -> Option<((usize, &'static HostEntry), Option<DelegateBody>)> {
        let mut entries = self.entries.lock();
        for _ in 0..REUSE_ATTEMPTS.min(entries.len()) {
            let (address, entry) = entries.pop_front()?;
            let Body::OfDelegate(body) = &entry.body else { continue };
            let mut body = body.lock();
            let is_alive = |body: &DelegateBody| matches!(handles::target(t, body.delegate), Ok(Some(_)));
            if !body.as_ref().is_some_and(is_alive) {
                return Some(((address, entry), body.take()));
            }
            drop(body);
            entries.push_back((address, entry));
        }
        None
    }
}

impl HostEntry {
    fn set_delegate(&self, delegate: Option<DelegateBody>) {
        if let Body::OfDelegate(body) = &self.body {
            *body.lock() = delegate;
        }
    }

    /// Calls the function with the arguments of a C entry.
    fn call<'t>(&self, t: CurrentThread<'t>, arguments: &[Argument]) -> Managed<Option<Obj<'t>>> {
        let body = match &self.body {
            Body::Always(function) => return function(t, arguments),
            Body::OfDelegate(body) => body,
        };
        // The delegate, an argument, is alive, so that the entry is still its own.
        let function = body.lock().as_ref().map(|body| Arc::clone(&body.function));
        let Some(function) = function else { saki_base::bug!("an entry for a delegate has no function") };
        function(t, arguments.get(1..).unwrap_or_default())
    }
}

/// Called by C entries.
///
/// # Safety
/// A C entry made for `entry` calls it: `slots` has one word per parameter (structs: addresses), `result` room for the
/// result. References are in the calling wrapper's frame, too.
unsafe extern "C" fn dispatch(entry: &'static HostEntry, slots: *const u64, result: *mut u8) {
    // SAFETY: the C entry for `entry`, whose signature this is, spills its arguments to `slots` and has room for the
    // result.
    let frame = unsafe { entry.signature.native.frame(slots, result) };
    let call = ReverseCall::enter();
    // SAFETY: `enter` has made the thread current and RUNNING; `t` does not leave this function.
    let t = unsafe { CurrentThread::from_abi(call.abi()) };
    let arguments: Vec<Argument> = entry
        .signature
        .params
        .iter()
        .zip(frame.arguments())
        .map(|(&ty, word)| {
            let is_struct = matches!(ir_type(ty), Ok(IrType::Struct(_)));
            let address = if is_struct { *word as *const u8 } else { std::ptr::from_ref(word).cast() };
            Argument { ty, address }
        })
        .collect();
    match entry.call(t, &arguments) {
        Ok(made) => {
            // SAFETY: the result is of the method's type, or null.
            unsafe { write_result(t, &entry.signature, made, result) };
        }
        Err(_) => {
            let exception = t.take_exception();
            callback_exceptions::keep(t, exception);
            // SAFETY: room for the result, of at least a word.
            unsafe { result.write_bytes(0, entry.signature.result_size_bytes) };
        }
    }
    // SAFETY: what this frame and those up to the wrapper's hold is in place: see the module header.
    unsafe { call.leave() };
}

/// # Safety
/// `made` is null or of the entry's result type, and `result` has room for it.
unsafe fn write_result(t: CurrentThread, entry: &HostSignature, made: Option<Obj>, result: *mut u8) {
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
