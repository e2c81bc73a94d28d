//! Calling managed code from Rust.
//!
//! A call is made of 8-byte `Slot`s in the order of the managed convention: `this`, the result buffer when the result is a
//! struct, then the parameters (structs by address, vectors too: the thunk brings those into registers). One invoke thunk is compiled
//! per machine signature.

use crate::compile;
use crate::exceptions::{Thrown, ToManaged};
use crate::host_events::{HostEvent, tell_if_wanted};
use crate::object;
use crate::references::Obj;
pub use crate::slot::Slot;
use crate::thread::{CurrentThread, Managed};
use rustc_hash::FxHashMap;
use saki_base::locks::{RwLock, rank};
use saki_il::ir::{CallSig, IrType};
use saki_metadata::ElementType;
use saki_types::{Method, Ty};
use std::sync::atomic::Ordering;

/// By machine signature.
static THUNKS: RwLock<rank::InvokeThunks, Option<FxHashMap<Vec<u8>, usize>>> = RwLock::new(None);

/// What a thunk depends on: the class of each parameter, that of the result, whether the result is a struct, and whether there is a `this`.
fn machine_signature(sig: &CallSig, has_this: bool) -> Vec<u8> {
    let has_struct_result = matches!(sig.ret, Some(IrType::Struct(_)));
    let last = [sig.ret.map_or(0, class), u8::from(has_struct_result), u8::from(has_this)];
    sig.params.iter().map(|param| class(*param)).chain(last).collect()
}

fn class(ty: IrType) -> u8 {
    match ty {
        IrType::Void => 0,
        IrType::I32 => 1,
        IrType::F32 => 2,
        IrType::F64 => 3,
        IrType::I64 | IrType::Ref | IrType::ByRef | IrType::Block(_) => 4,
        IrType::Struct(_) => match ty.vector() {
            None => 4,
            Some(mem) => mem.bytes() as u8,
        },
        // No signature has this type.
        IrType::V128 => 5,
    }
}

/// The number of words that a call takes.
fn argument_words(sig: &CallSig) -> usize {
    sig.params.len() + usize::from(matches!(sig.ret, Some(IrType::Struct(_))))
}

/// The thunk for calls of this signature.
fn thunk(t: CurrentThread, sig: &CallSig, has_this: bool) -> Managed<usize> {
    let signature = machine_signature(sig, has_this);
    if let Some(&thunk) = THUNKS.read().as_ref().and_then(|table| table.get(&signature)) {
        return Ok(thunk);
    }
    let thunk = compile::invoke_thunk(sig, &signature).to_managed(t)?;
    THUNKS.write().get_or_insert_default().insert(signature, thunk);
    Ok(thunk)
}

/// The thunk for calls of `method`.
fn thunk_of(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    // Acquire: pairs with the Release below; the thunk was published before.
    let known = method.runtime.rare().invoke_thunk.load(Ordering::Acquire);
    if known != 0 {
        return Ok(known);
    }
    let sig = saki_il::synth::builder::call_sig(method).to_managed(t)?;
    let thunk = thunk(t, &sig, !method.is_static())?;
    // Release: publishes the thunk, whichever thread made it.
    method.runtime.rare().invoke_thunk.store(thunk, Ordering::Release);
    Ok(thunk)
}

/// Calls `method` non-virtually. `args`: see the module header. The result is the scalar result, if any.
///
/// # Errors
/// The exception that left the method, or one from compiling it, is pending.
pub fn invoke(t: CurrentThread, method: &'static Method, args: &[Slot]) -> Managed<Slot> {
    let call = prepare(t, method)?;
    debug_assert!(
        saki_il::synth::builder::call_sig(method).is_ok_and(|sig| args.len() == argument_words(&sig)),
        "argument words for {}",
        method.full_name()
    );
    tell_if_wanted(HostEvent::InvocationBegins(method));
    let result = invoke_prepared(t, &call, args);
    tell_if_wanted(HostEvent::InvocationEnds(method));
    result
}

/// A method's code and the thunk for its signature, for many calls of one method.
#[derive(Clone, Copy)]
pub struct PreparedCall {
    target: usize,
    thunk: usize,
}

/// Looks up in advance the data that `invoke` looks up at each call.
///
/// # Errors
/// An exception from compiling is pending.
pub fn prepare(t: CurrentThread, method: &'static Method) -> Managed<PreparedCall> {
    let thunk = thunk_of(t, method)?;
    Ok(PreparedCall { target: crate::entries::entry_address(method).to_managed(t)?, thunk })
}

/// Calls the method that was prepared, non-virtually. `args`: see the module header. The result is the scalar result,
/// if any.
///
/// # Errors
/// The exception that left the method, or one from compiling it, is pending.
pub fn invoke_prepared(t: CurrentThread, call: &PreparedCall, args: &[Slot]) -> Managed<Slot> {
    debug_assert!(!t.is_pending(), "managed code is entered with an exception pending");
    t.managed().get_ready();
    let mut result = 0u64;
    let arguments = [call.target as u64, args.as_ptr() as u64, &raw mut result as u64];
    // SAFETY: the thunk was compiled for the method's signature, `args` has its words, `result` outlives the call.
    let outcome = unsafe { saki_code::enter(t.abi(), call.thunk, arguments, std::ptr::null_mut()) };
    if outcome != 0 { Err(Thrown(())) } else { Ok(Slot(result)) }
}

/// Looks up in advance what calls of the code at `target` with this signature need.
///
/// # Errors
/// An exception from compiling the thunk for the signature is pending.
///
/// # Safety
/// Managed code of this signature begins at `target`, and stays there as long as it is called by what this gives.
pub unsafe fn prepare_address(t: CurrentThread, target: usize, sig: &CallSig, has_this: bool) -> Managed<PreparedCall> {
    Ok(PreparedCall { target, thunk: thunk(t, sig, has_this)? })
}

/// `this` and arguments of a virtual call made by the runtime itself.
const MAX_VIRTUAL_WORDS: usize = 8;

/// Calls `method` on `receiver` virtually.
///
/// # Errors
/// The exception that left the method, or one from finding or compiling it, is pending.
pub fn invoke_virtual(t: CurrentThread, method: &'static Method, receiver: Obj, args: &[Slot]) -> Managed<Slot> {
    let target = crate::proxies::implementation_on(t, receiver, method)?;
    let target = crate::proxies::stub_for(receiver, target);
    let this = if target.owner.is_value_type() { Slot::from_ptr(receiver.data()) } else { Slot::from_ref(receiver) };
    if args.len() >= MAX_VIRTUAL_WORDS {
        saki_base::bug!("{} argument words for {}", args.len(), method.name);
    }
    // The words lie in this frame, which the collector scans; a block of Rust's heap would hide the references from it.
    let mut words = [Slot(0); MAX_VIRTUAL_WORDS];
    words[0] = this;
    words[1..=args.len()].copy_from_slice(args);
    invoke(t, target, &words[..=args.len()])
}

/// Turns a word into an object: boxes value types, returns null for void.
///
/// # Errors
/// OutOfMemoryException.
///
/// # Safety
/// The word is an argument or a result of type `ty`, which has at most 8 bytes.
pub unsafe fn box_slot<'t>(t: CurrentThread<'t>, ty: Ty, slot: Slot) -> Managed<Option<Obj<'t>>> {
    match ty.element_type {
        ElementType::Void => Ok(None),
        // SAFETY: the caller's promise.
        _ if ty.is_value_type() => unsafe { object::box_value(t, ty, &raw const slot as *const u8) },
        // SAFETY: as above.
        _ => Ok(unsafe { slot.as_obj() }),
    }
}

/// Reads a value of a scalar type from memory into a word, extended as the calling convention requires.
///
/// # Safety
/// `data` holds a value of `ty`.
pub unsafe fn load_slot(ty: Ty, data: *const u8) -> Slot {
    use ElementType as E;
    let scalar = ty.underlying();
    // SAFETY: the caller's promise, for each width.
    unsafe {
        match scalar.element_type {
            E::Boolean | E::U1 => Slot(u64::from(*data)),
            E::I1 => Slot::from_i32(i32::from(*(data as *const i8))),
            E::Char | E::U2 => Slot(u64::from(*(data as *const u16))),
            E::I2 => Slot::from_i32(i32::from(*(data as *const i16))),
            E::I4 => Slot::from_i32(*(data as *const i32)),
            E::U4 | E::R4 => Slot(u64::from(*(data as *const u32))),
            E::ValueType | E::TypedByRef => Slot(data as u64),
            _ => Slot(*(data as *const u64)),
        }
    }
}
