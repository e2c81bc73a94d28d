//! System.Threading.Interlocked. Most calls are intrinsics; these rows serve delegates, reflection and calls that are
//! no intrinsics.
//!
//! All operations are SeqCst (sequentially consistent) and full fences, as documented for the class.

use saki_os::membarrier::fenced;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, InternalCall, Managed, Place, RefPlace};
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// The variable; unverifiable code may pass null.
///
/// # Errors
/// NullReferenceException.
pub fn variable<P>(t: CurrentThread, place: Option<P>) -> Managed<P> {
    place.ok_or_else(|| exceptions::throw_default(t, ExceptionType::NullReference))
}

macro_rules! integers {
    ($($int:ty, $atomic:ty: $increment:ident $decrement:ident $add:ident $exchange:ident $compare_exchange:ident;)*) => {
        $(
            fn $increment(t: CurrentThread, place: Option<Place<$atomic>>) -> Managed<$int> {
                Ok(fenced(variable(t, place)?.atomic().fetch_add(1, SeqCst)).wrapping_add(1))
            }
            fn $decrement(t: CurrentThread, place: Option<Place<$atomic>>) -> Managed<$int> {
                Ok(fenced(variable(t, place)?.atomic().fetch_sub(1, SeqCst)).wrapping_sub(1))
            }
            fn $add(t: CurrentThread, place: Option<Place<$atomic>>, value: $int) -> Managed<$int> {
                Ok(fenced(variable(t, place)?.atomic().fetch_add(value, SeqCst)).wrapping_add(value))
            }
            fn $exchange(t: CurrentThread, place: Option<Place<$atomic>>, value: $int) -> Managed<$int> {
                Ok(fenced(variable(t, place)?.atomic().swap(value, SeqCst)))
            }
            fn $compare_exchange(t: CurrentThread, place: Option<Place<$atomic>>, value: $int, expected: $int) -> Managed<$int> {
                Ok(fenced(variable(t, place)?.atomic().compare_exchange(expected, value, SeqCst, SeqCst)).unwrap_or_else(|seen| seen))
            }
        )*
    };
}

integers! {
    i32, AtomicI32: increment_i32 decrement_i32 add_i32 exchange_i32 compare_exchange_i32;
    i64, AtomicI64: increment_i64 decrement_i64 add_i64 exchange_i64 compare_exchange_i64;
}

fn read_i64(t: CurrentThread, place: Option<Place<AtomicI64>>) -> Managed<i64> {
    // As the exchange by which .NET reads: what was stored before is seen before this load is done.
    std::sync::atomic::fence(SeqCst);
    Ok(variable(t, place)?.atomic().load(SeqCst))
}

fn compare_exchange_i32_flag(
    t: CurrentThread,
    place: Option<Place<AtomicI32>>,
    value: i32,
    expected: i32,
    succeeded: Place<u8>,
) -> Managed<i32> {
    let outcome = fenced(variable(t, place)?.atomic().compare_exchange(expected, value, SeqCst, SeqCst));
    succeeded.set(u8::from(outcome.is_ok()));
    Ok(outcome.unwrap_or_else(|seen| seen))
}

fn exchange_pointer(t: CurrentThread, place: Option<Place<AtomicUsize>>, value: usize) -> Managed<usize> {
    Ok(fenced(variable(t, place)?.atomic().swap(value, SeqCst)))
}

fn compare_exchange_pointer(
    t: CurrentThread,
    place: Option<Place<AtomicUsize>>,
    value: usize,
    expected: usize,
) -> Managed<usize> {
    Ok(fenced(variable(t, place)?.atomic().compare_exchange(expected, value, SeqCst, SeqCst))
        .unwrap_or_else(|seen| seen))
}

fn exchange_single(t: CurrentThread, place: Option<Place<AtomicU32>>, value: f32) -> Managed<f32> {
    Ok(f32::from_bits(fenced(variable(t, place)?.atomic().swap(value.to_bits(), SeqCst))))
}

fn exchange_double(t: CurrentThread, place: Option<Place<AtomicU64>>, value: f64) -> Managed<f64> {
    Ok(f64::from_bits(fenced(variable(t, place)?.atomic().swap(value.to_bits(), SeqCst))))
}

/// Compares bits, so that NaN equals itself and zeroes differ by sign, as .NET does.
fn compare_exchange_single(
    t: CurrentThread,
    place: Option<Place<AtomicU32>>,
    value: f32,
    expected: f32,
) -> Managed<f32> {
    let place = variable(t, place)?.atomic();
    let outcome = fenced(place.compare_exchange(expected.to_bits(), value.to_bits(), SeqCst, SeqCst));
    Ok(f32::from_bits(outcome.unwrap_or_else(|seen| seen)))
}

/// Compares bits, so that NaN equals itself and zeroes differ by sign.
fn compare_exchange_double(
    t: CurrentThread,
    place: Option<Place<AtomicU64>>,
    value: f64,
    expected: f64,
) -> Managed<f64> {
    let place = variable(t, place)?.atomic();
    let outcome = fenced(place.compare_exchange(expected.to_bits(), value.to_bits(), SeqCst, SeqCst));
    Ok(f64::from_bits(outcome.unwrap_or_else(|seen| seen)))
}

/// `result = exchange(place, value)`; all three are passed by reference.
fn exchange_object(t: CurrentThread, place: Option<RefPlace>, value: RefPlace, result: RefPlace) -> Managed<()> {
    let before = variable(t, place)?.swap(t, value.get());
    result.set(t, before);
    Ok(())
}

/// `result = compare_exchange(place, value, expected)`, all by reference.
fn compare_exchange_object(
    t: CurrentThread,
    place: Option<RefPlace>,
    value: RefPlace,
    expected: RefPlace,
    result: RefPlace,
) -> Managed<()> {
    let before = variable(t, place)?.compare_exchange(t, value.get(), expected.get());
    result.set(t, before);
    Ok(())
}

fn memory_barrier_process_wide(_t: CurrentThread) {
    saki_os::membarrier::heavy();
}

macro_rules! rows {
    ($($signature:literal => $function:ident;)*) => {
        /// The internal calls of `System.Threading.Interlocked`.
        pub const TABLE: &[InternalCall] =
            &[$(InternalCall::new(concat!("System.Threading.Interlocked::", $signature), &$function),)*];
    };
}

rows! {
    "Increment(System.Int32&)" => increment_i32;
    "Increment(System.Int64&)" => increment_i64;
    "Decrement(System.Int32&)" => decrement_i32;
    "Decrement(System.Int64&)" => decrement_i64;
    "Add(System.Int32&,System.Int32)" => add_i32;
    "Add(System.Int64&,System.Int64)" => add_i64;
    "Read" => read_i64;
    "Exchange(System.Int32&,System.Int32)" => exchange_i32;
    "Exchange(System.Int64&,System.Int64)" => exchange_i64;
    "Exchange(System.IntPtr&,System.IntPtr)" => exchange_pointer;
    "Exchange(System.Single&,System.Single)" => exchange_single;
    "Exchange(System.Double&,System.Double)" => exchange_double;
    "Exchange(System.Object&,System.Object&,System.Object&)" => exchange_object;
    "CompareExchange(System.Int32&,System.Int32,System.Int32)" => compare_exchange_i32;
    "CompareExchange(System.Int32&,System.Int32,System.Int32,System.Boolean&)" => compare_exchange_i32_flag;
    "CompareExchange(System.Int64&,System.Int64,System.Int64)" => compare_exchange_i64;
    "CompareExchange(System.IntPtr&,System.IntPtr,System.IntPtr)" => compare_exchange_pointer;
    "CompareExchange(System.Single&,System.Single,System.Single)" => compare_exchange_single;
    "CompareExchange(System.Double&,System.Double,System.Double)" => compare_exchange_double;
    "CompareExchange(System.Object&,System.Object&,System.Object&,System.Object&)" => compare_exchange_object;
    "MemoryBarrierProcessWide" => memory_barrier_process_wide;
}
