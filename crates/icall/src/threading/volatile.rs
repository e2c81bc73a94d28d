//! System.Threading.Volatile and the older calls of Thread: reads with acquire order, writes with release order.
//!
//! Most are intrinsics; these serve delegates, reflection and what is left.

use saki_abi::{ObjRef, Object};
use saki_runtime::{CurrentThread, InternalCall, Managed, exceptions};
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::sync::atomic::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize, fence,
};

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
    ($($value:ty, $register:ty, $atomic:ty: $read:ident $write:ident;)*) => {
        $(
            fn $read(t: CurrentThread, place: *const $atomic) -> $register {
                t.run(|| Ok(<$register>::from(variable(t, place)?.load(Acquire))))
            }
            fn $write(t: CurrentThread, place: *const $atomic, value: $value) {
                t.run(|| {
                    variable(t, place)?.store(value, Release);
                    Ok(())
                });
            }
        )*
    };
}

integers! {
    u8, i32, AtomicU8: read_u8 write_u8;
    i8, i32, AtomicI8: read_i8 write_i8;
    i16, i32, AtomicI16: read_i16 write_i16;
    u16, i32, AtomicU16: read_u16 write_u16;
    i32, i32, AtomicI32: read_i32 write_i32;
    u32, u32, AtomicU32: read_u32 write_u32;
    i64, i64, AtomicI64: read_i64 write_i64;
    u64, u64, AtomicU64: read_u64 write_u64;
    isize, isize, AtomicIsize: read_isize write_isize;
    usize, usize, AtomicUsize: read_usize write_usize;
}

fn read_single(t: CurrentThread, place: *const AtomicU32) -> f32 {
    t.run(|| Ok(f32::from_bits(variable(t, place)?.load(Acquire))))
}

fn write_single(t: CurrentThread, place: *const AtomicU32, value: f32) {
    t.run(|| {
        variable(t, place)?.store(value.to_bits(), Release);
        Ok(())
    });
}

fn read_double(t: CurrentThread, place: *const AtomicU64) -> f64 {
    t.run(|| Ok(f64::from_bits(variable(t, place)?.load(Acquire))))
}

fn write_double(t: CurrentThread, place: *const AtomicU64, value: f64) {
    t.run(|| {
        variable(t, place)?.store(value.to_bits(), Release);
        Ok(())
    });
}

fn read_object(t: CurrentThread, place: *const AtomicPtr<Object>) -> ObjRef {
    t.run(|| Ok(ObjRef(variable(t, place)?.load(Acquire))))
}

fn write_object(t: CurrentThread, place: *mut ObjRef, value: ObjRef) {
    t.run(|| {
        let atomic: &AtomicPtr<Object> = variable(t, place.cast())?;
        atomic.store(value.0, Release);
        saki_gc::barrier::after_store_unknown(t.managed(), place);
        Ok(())
    });
}

fn memory_barrier(_t: CurrentThread) {
    // SeqCst: a full fence is what `Thread.MemoryBarrier` promises.
    fence(SeqCst);
}

fn spin_wait_nop(_t: CurrentThread) {
    saki_os::cpu::spin_hint();
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Threading.Volatile::Read(System.Int64&)", &read_i64),
    InternalCall::new("System.Threading.Volatile::Read(System.UInt64&)", &read_u64),
    InternalCall::new("System.Threading.Volatile::Read(System.Double&)", &read_double),
    InternalCall::new("System.Threading.Volatile::Write(System.Int64&,System.Int64)", &write_i64),
    InternalCall::new("System.Threading.Volatile::Write(System.UInt64&,System.UInt64)", &write_u64),
    InternalCall::new("System.Threading.Volatile::Write(System.Double&,System.Double)", &write_double),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.Byte&)", &read_u8),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.Byte&,System.Byte)", &write_u8),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.SByte&)", &read_i8),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.SByte&,System.SByte)", &write_i8),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.Int16&)", &read_i16),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.Int16&,System.Int16)", &write_i16),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.UInt16&)", &read_u16),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.UInt16&,System.UInt16)", &write_u16),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.Int32&)", &read_i32),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.Int32&,System.Int32)", &write_i32),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.UInt32&)", &read_u32),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.UInt32&,System.UInt32)", &write_u32),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.Int64&)", &read_i64),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.Int64&,System.Int64)", &write_i64),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.UInt64&)", &read_u64),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.UInt64&,System.UInt64)", &write_u64),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.IntPtr&)", &read_isize),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.IntPtr&,System.IntPtr)", &write_isize),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.UIntPtr&)", &read_usize),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.UIntPtr&,System.UIntPtr)", &write_usize),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.Single&)", &read_single),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.Single&,System.Single)", &write_single),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.Double&)", &read_double),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.Double&,System.Double)", &write_double),
    InternalCall::new("System.Threading.Thread::VolatileRead(System.Object&)", &read_object),
    InternalCall::new("System.Threading.Thread::VolatileWrite(System.Object&,System.Object)", &write_object),
    InternalCall::new("System.Threading.Thread::MemoryBarrier", &memory_barrier),
    InternalCall::new("System.Threading.Thread::SpinWait_nop", &spin_wait_nop),
];
