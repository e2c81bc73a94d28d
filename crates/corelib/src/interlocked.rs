//! System.Threading.Interlocked on bytes, 16-bit numbers and objects, for delegates and reflection: calls are compiled
//! in line, and the other functions of the class are those of `icall`. All operations are sequentially consistent, and
//! full fences.

use saki_icall::threading::interlocked::variable;
use saki_os::membarrier::fenced;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Place, RefPlace};
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};

fn exchange_u8(t: CurrentThread, place: Option<Place<AtomicU8>>, value: u8) -> Managed<u8> {
    // SeqCst: in one order with all other operations of `Interlocked`.
    Ok(fenced(variable(t, place)?.atomic().swap(value, Ordering::SeqCst)))
}

fn exchange_u16(t: CurrentThread, place: Option<Place<AtomicU16>>, value: u16) -> Managed<u16> {
    // SeqCst: in one order with all other operations of `Interlocked`.
    Ok(fenced(variable(t, place)?.atomic().swap(value, Ordering::SeqCst)))
}

fn compare_exchange_u8(t: CurrentThread, place: Option<Place<AtomicU8>>, value: u8, expected: u8) -> Managed<u8> {
    // SeqCst: in one order with all other operations of `Interlocked`.
    let outcome = variable(t, place)?.atomic().compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst);
    Ok(fenced(outcome).unwrap_or_else(|now| now))
}

fn compare_exchange_u16(t: CurrentThread, place: Option<Place<AtomicU16>>, value: u16, expected: u16) -> Managed<u16> {
    // SeqCst: in one order with all other operations of `Interlocked`.
    let outcome = variable(t, place)?.atomic().compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst);
    Ok(fenced(outcome).unwrap_or_else(|now| now))
}

fn exchange_object<'t>(
    t: CurrentThread<'t>,
    place: Option<RefPlace<'t>>,
    value: Option<Obj<'t>>,
) -> Managed<Option<Obj<'t>>> {
    Ok(variable(t, place)?.swap(t, value))
}

fn compare_exchange_object<'t>(
    t: CurrentThread<'t>,
    place: Option<RefPlace<'t>>,
    value: Option<Obj<'t>>,
    expected: Option<Obj<'t>>,
) -> Managed<Option<Obj<'t>>> {
    Ok(variable(t, place)?.compare_exchange(t, value, expected))
}

/// The calls of `Interlocked` that .NET has beside those of `icall`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net System.Threading.Interlocked::Exchange(System.Byte&,System.Byte)", &exchange_u8),
    InternalCall::new("@net System.Threading.Interlocked::Exchange(System.UInt16&,System.UInt16)", &exchange_u16),
    InternalCall::new(
        "@net System.Threading.Interlocked::CompareExchange(System.Byte&,System.Byte,System.Byte)",
        &compare_exchange_u8,
    ),
    InternalCall::new(
        "@net System.Threading.Interlocked::CompareExchange(System.UInt16&,System.UInt16,System.UInt16)",
        &compare_exchange_u16,
    ),
    InternalCall::new("@net System.Threading.Interlocked::ExchangeObject", &exchange_object),
    InternalCall::new("@net System.Threading.Interlocked::CompareExchangeObject", &compare_exchange_object),
];
