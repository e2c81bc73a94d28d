//! System.Threading.Interlocked on bytes and 16-bit numbers; the rest is compiled in line. All operations are
//! sequentially consistent, and full fences.

use saki_os::membarrier::fenced;
use saki_runtime::{CurrentThread, InternalCall, Place};
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};

fn exchange_u8(_t: CurrentThread, place: Place<AtomicU8>, value: u8) -> u8 {
    // SeqCst: in one order with all other operations of `Interlocked`.
    fenced(place.atomic().swap(value, Ordering::SeqCst))
}

fn exchange_u16(_t: CurrentThread, place: Place<AtomicU16>, value: u16) -> u16 {
    // SeqCst: in one order with all other operations of `Interlocked`.
    fenced(place.atomic().swap(value, Ordering::SeqCst))
}

fn compare_exchange_u8(_t: CurrentThread, place: Place<AtomicU8>, value: u8, expected: u8) -> u8 {
    // SeqCst: in one order with all other operations of `Interlocked`.
    fenced(place.atomic().compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst))
        .unwrap_or_else(|now| now)
}

fn compare_exchange_u16(_t: CurrentThread, place: Place<AtomicU16>, value: u16, expected: u16) -> u16 {
    // SeqCst: in one order with all other operations of `Interlocked`.
    fenced(place.atomic().compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst))
        .unwrap_or_else(|now| now)
}

/// The calls of `Interlocked` that are not compiled in line.
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
];
