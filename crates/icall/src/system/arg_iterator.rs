//! System.ArgIterator: walking the variable arguments of a vararg call.
//!
//! A call site passes a block: the address of its `VarArgCookie`, then an 8-byte slot for each variable argument
//! (structs: the address of a copy).

use super::typed_reference;
use saki_base::locks::{Mutex, rank};
use saki_metadata::TableId;
use saki_runtime::ExceptionType;
use saki_runtime::VarArgCookie;
use saki_runtime::object::exceptions;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField};
use saki_types::{GenericContext, LibraryType, LoadResult, MethodSig, Ty, Type};
use std::collections::HashMap;

static SIG: ManagedField = ManagedField::new(LibraryType::ArgIterator, "sig");
static ARGS: ManagedField = ManagedField::new(LibraryType::ArgIterator, "args");
static NEXT_ARG: ManagedField = ManagedField::new(LibraryType::ArgIterator, "next_arg");
static NUM_ARGS: ManagedField = ManagedField::new(LibraryType::ArgIterator, "num_args");

const SLOT_BYTES: usize = 8;

/// Decoded signatures by cookie address: they are leaked, so decode each once.
static SIGNATURES: Mutex<rank::VarargSignatures, Option<HashMap<usize, &'static MethodSig>>> = Mutex::new(None);

/// Address of a field of the iterator, which is a struct on the caller's stack.
fn place<T>(iterator: *mut u8, field: &ManagedField) -> *mut T {
    iterator.wrapping_add(field.offset_bytes()) as *mut T
}

fn decode(cookie: &VarArgCookie) -> LoadResult<Option<&'static MethodSig>> {
    let token = saki_metadata::Token(cookie.token);
    match token.table() {
        TableId::MemberRef => Ok(cookie.image.resolve_method_call(token, &GenericContext::NONE)?.1),
        TableId::StandAloneSig => cookie.image.resolve_standalone_sig(token, &GenericContext::NONE).map(Some),
        _ => Ok(Some(cookie.image.resolve_method(token, &GenericContext::NONE)?.sig()?)),
    }
}

fn signature(t: CurrentThread, cookie: *const VarArgCookie) -> Managed<&'static MethodSig> {
    let invalid = |t| exceptions::throw(t, ExceptionType::Argument, "The handle names no variable arguments.");
    if cookie.is_null() {
        return Err(invalid(t));
    }
    if let Some(&known) = SIGNATURES.lock().as_ref().and_then(|table| table.get(&(cookie as usize))) {
        return Ok(known);
    }
    // SAFETY: the block's first word is the address of a leaked cookie.
    let sig = decode(unsafe { &*cookie }).to_managed(t)?.ok_or_else(|| invalid(t))?;
    SIGNATURES.lock().get_or_insert_default().insert(cookie as usize, sig);
    Ok(sig)
}

fn setup(t: CurrentThread, this: *mut u8, block: *mut usize, start: *mut u8) -> Managed<()> {
    // A RuntimeArgumentHandle that `arglist` has not made is null.
    // SAFETY: `block` is what `arglist` gave; its first word is the cookie.
    let cookie = if block.is_null() { std::ptr::null() } else { unsafe { *block as *const VarArgCookie } };
    let sig = signature(t, cookie)?;
    let fixed = sig.sentinel.unwrap_or(sig.params.len());
    let args = if start.is_null() { block.wrapping_add(1) as *mut u8 } else { start };
    // SAFETY: all are fields of the iterator.
    unsafe {
        place::<usize>(this, &SIG).write(sig as *const MethodSig as usize);
        place::<*mut u8>(this, &ARGS).write(args);
        place::<i32>(this, &NEXT_ARG).write(0);
        place::<i32>(this, &NUM_ARGS).write((sig.params.len() - fixed) as i32);
    }
    Ok(())
}

/// Type of the next argument; None after the last.
fn next_type(iterator: *mut u8) -> Option<Ty> {
    // SAFETY: fields of an iterator that `setup` filled in; managed code checks that it was.
    let (sig, next) = unsafe { (*place::<*const MethodSig>(iterator, &SIG), *place::<i32>(iterator, &NEXT_ARG)) };
    if sig.is_null() {
        return None;
    }
    // SAFETY: stored by `setup` from a `&'static`.
    let sig = unsafe { &*sig };
    sig.params.get(sig.sentinel.unwrap_or(sig.params.len()) + next as usize).copied()
}

/// Steps to the next argument, and returns the address of the value of the present one, which has type `ty`.
fn step(iterator: *mut u8, ty: Ty) -> *mut u8 {
    // SAFETY: fields of the iterator.
    let slot = unsafe {
        let slot = *place::<*mut u8>(iterator, &ARGS);
        place::<*mut u8>(iterator, &ARGS).write(slot.wrapping_add(SLOT_BYTES));
        *place::<i32>(iterator, &NEXT_ARG) += 1;
        slot
    };
    match ty.element_type {
        saki_metadata::ElementType::ValueType | saki_metadata::ElementType::TypedByRef if !ty.is_enum() => {
            // SAFETY: structs are passed as the address of a copy.
            unsafe { *(slot as *const *mut u8) }
        }
        _ => slot,
    }
}

fn at_end(t: CurrentThread) -> exceptions::Thrown {
    exceptions::throw(t, ExceptionType::InvalidOperation, "Invalid iterator position.")
}

fn next_arg(t: CurrentThread, this: *mut u8, result: *mut u8) -> Managed<()> {
    let ty = next_type(this).ok_or_else(|| at_end(t))?;
    typed_reference::write(result, ty, step(this, ty));
    Ok(())
}

fn next_arg_with_type(t: CurrentThread, this: *mut u8, result: *mut u8, wanted: Option<&'static Type>) -> Managed<()> {
    let actual = next_type(this).ok_or_else(|| at_end(t))?;
    let Some(wanted) = wanted else { return Err(exceptions::throw_argument_null(t, "rth")) };
    typed_reference::write(result, wanted, step(this, actual));
    Ok(())
}

fn next_arg_type(t: CurrentThread, this: *mut u8) -> Managed<usize> {
    Ok(next_type(this).ok_or_else(|| at_end(t))? as *const Type as usize)
}

/// The internal calls of `System.ArgIterator`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.ArgIterator::Setup", &setup),
    InternalCall::new("System.ArgIterator::IntGetNextArg", &next_arg),
    InternalCall::new("System.ArgIterator::IntGetNextArgWithType", &next_arg_with_type),
    InternalCall::new("System.ArgIterator::IntGetNextArgType", &next_arg_type),
];
