//! System.Threading.Interlocked. Most calls are intrinsics; these serve delegates, reflection and what is left.
//!
//! All operations are sequentially consistent, as documented for the class.

use crate::arguments::store_out;
use saki_abi::{ObjRef, Object};
use saki_runtime::{CurrentThread, InternalCall, Managed, exceptions};
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// The variable as an atomic.
///
/// # Errors
/// NullReferenceException.
fn variable<'a, A>(t: CurrentThread, place: *const A) -> Managed<&'a A> {
    if place.is_null() {
        return Err(exceptions::throw_default(t, "NullReferenceException"));
    }
    // SAFETY: compiled code passes the address of a variable of the atomic's size, aligned for it.
    Ok(unsafe { &*place })
}

macro_rules! integers {
    ($($int:ty, $atomic:ty: $increment:ident $decrement:ident $add:ident $exchange:ident $compare_exchange:ident;)*) => {
        $(
            fn $increment(t: CurrentThread, place: *const $atomic) -> $int {
                t.run(|| Ok(variable(t, place)?.fetch_add(1, SeqCst).wrapping_add(1)))
            }
            fn $decrement(t: CurrentThread, place: *const $atomic) -> $int {
                t.run(|| Ok(variable(t, place)?.fetch_sub(1, SeqCst).wrapping_sub(1)))
            }
            fn $add(t: CurrentThread, place: *const $atomic, value: $int) -> $int {
                t.run(|| Ok(variable(t, place)?.fetch_add(value, SeqCst).wrapping_add(value)))
            }
            fn $exchange(t: CurrentThread, place: *const $atomic, value: $int) -> $int {
                t.run(|| Ok(variable(t, place)?.swap(value, SeqCst)))
            }
            fn $compare_exchange(t: CurrentThread, place: *const $atomic, value: $int, expected: $int) -> $int {
                t.run(|| Ok(variable(t, place)?.compare_exchange(expected, value, SeqCst, SeqCst).unwrap_or_else(|seen| seen)))
            }
        )*
    };
}

integers! {
    i32, AtomicI32: increment_i32 decrement_i32 add_i32 exchange_i32 compare_exchange_i32;
    i64, AtomicI64: increment_i64 decrement_i64 add_i64 exchange_i64 compare_exchange_i64;
}

fn read_i64(t: CurrentThread, place: *const AtomicI64) -> i64 {
    t.run(|| Ok(variable(t, place)?.load(SeqCst)))
}

fn compare_exchange_i32_flag(
    t: CurrentThread,
    place: *const AtomicI32,
    value: i32,
    expected: i32,
    succeeded: *mut u8,
) -> i32 {
    t.run(|| {
        let outcome = variable(t, place)?.compare_exchange(expected, value, SeqCst, SeqCst);
        crate::arguments::write_out(succeeded, u8::from(outcome.is_ok()));
        Ok(outcome.unwrap_or_else(|seen| seen))
    })
}

fn exchange_pointer(t: CurrentThread, place: *const AtomicUsize, value: usize) -> usize {
    t.run(|| Ok(variable(t, place)?.swap(value, SeqCst)))
}

fn compare_exchange_pointer(t: CurrentThread, place: *const AtomicUsize, value: usize, expected: usize) -> usize {
    t.run(|| Ok(variable(t, place)?.compare_exchange(expected, value, SeqCst, SeqCst).unwrap_or_else(|seen| seen)))
}

fn exchange_single(t: CurrentThread, place: *const AtomicU32, value: f32) -> f32 {
    t.run(|| Ok(f32::from_bits(variable(t, place)?.swap(value.to_bits(), SeqCst))))
}

fn exchange_double(t: CurrentThread, place: *const AtomicU64, value: f64) -> f64 {
    t.run(|| Ok(f64::from_bits(variable(t, place)?.swap(value.to_bits(), SeqCst))))
}

/// Compares bits, so that NaN equals itself and zeroes differ by sign, as .NET does.
fn compare_exchange_single(t: CurrentThread, place: *const AtomicU32, value: f32, expected: f32) -> f32 {
    t.run(|| {
        let outcome = variable(t, place)?.compare_exchange(expected.to_bits(), value.to_bits(), SeqCst, SeqCst);
        Ok(f32::from_bits(outcome.unwrap_or_else(|seen| seen)))
    })
}

/// As `compare_exchange_single`.
fn compare_exchange_double(t: CurrentThread, place: *const AtomicU64, value: f64, expected: f64) -> f64 {
    t.run(|| {
        let outcome = variable(t, place)?.compare_exchange(expected.to_bits(), value.to_bits(), SeqCst, SeqCst);
        Ok(f64::from_bits(outcome.unwrap_or_else(|seen| seen)))
    })
}

/// The reference in a variable that the caller passes by reference.
fn load(place: *const ObjRef) -> ObjRef {
    // SAFETY: compiled code passes the address of a local of a reference type.
    unsafe { *place }
}

/// `result = exchange(place, value)`, all by reference.
fn exchange_object(t: CurrentThread, place: *mut ObjRef, value: *const ObjRef, result: *mut ObjRef) {
    t.run(|| {
        let atomic: &AtomicPtr<Object> = variable(t, place.cast())?;
        let old = ObjRef(atomic.swap(load(value).0, SeqCst));
        saki_gc::barrier::after_store_unknown(t.managed(), place);
        store_out(t, result, old);
        Ok(())
    });
}

/// `result = compare_exchange(place, value, expected)`, all by reference.
fn compare_exchange_object(
    t: CurrentThread,
    place: *mut ObjRef,
    value: *const ObjRef,
    expected: *const ObjRef,
    result: *mut ObjRef,
) {
    t.run(|| {
        let atomic: &AtomicPtr<Object> = variable(t, place.cast())?;
        let seen = match atomic.compare_exchange(load(expected).0, load(value).0, SeqCst, SeqCst) {
            Ok(seen) => {
                saki_gc::barrier::after_store_unknown(t.managed(), place);
                seen
            }
            Err(seen) => seen,
        };
        store_out(t, result, ObjRef(seen));
        Ok(())
    });
}

fn memory_barrier_process_wide(_t: CurrentThread) {
    saki_os::membarrier::heavy();
}

macro_rules! rows {
    ($($signature:literal => $function:ident;)*) => {
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
