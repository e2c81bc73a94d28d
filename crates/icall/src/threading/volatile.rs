//! System.Threading.Volatile and the older calls of Thread: reads are Acquire, writes are Release.
//!
//! Most are intrinsics; these rows serve delegates, reflection and calls that are no intrinsics.

use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Place, RefPlace};
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::sync::atomic::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
    fence,
};

/// The variable; unverifiable code may pass null.
///
/// # Errors
/// NullReferenceException.
fn variable<P>(t: CurrentThread, place: Option<P>) -> Managed<P> {
    place.ok_or_else(|| exceptions::throw_default(t, ExceptionType::NullReference))
}

macro_rules! integers {
    ($($value:ty, $atomic:ty: $read:ident $write:ident;)*) => {
        $(
            fn $read(t: CurrentThread, place: Option<Place<$atomic>>) -> Managed<$value> {
                Ok(variable(t, place)?.atomic().load(Acquire))
            }
            fn $write(t: CurrentThread, place: Option<Place<$atomic>>, value: $value) -> Managed<()> {
                variable(t, place)?.atomic().store(value, Release);
                Ok(())
            }
        )*
    };
}

integers! {
    u8, AtomicU8: read_u8 write_u8;
    i8, AtomicI8: read_i8 write_i8;
    i16, AtomicI16: read_i16 write_i16;
    u16, AtomicU16: read_u16 write_u16;
    i32, AtomicI32: read_i32 write_i32;
    u32, AtomicU32: read_u32 write_u32;
    i64, AtomicI64: read_i64 write_i64;
    u64, AtomicU64: read_u64 write_u64;
    isize, AtomicIsize: read_isize write_isize;
    usize, AtomicUsize: read_usize write_usize;
}

fn read_single(t: CurrentThread, place: Option<Place<AtomicU32>>) -> Managed<f32> {
    Ok(f32::from_bits(variable(t, place)?.atomic().load(Acquire)))
}

fn write_single(t: CurrentThread, place: Option<Place<AtomicU32>>, value: f32) -> Managed<()> {
    variable(t, place)?.atomic().store(value.to_bits(), Release);
    Ok(())
}

fn read_double(t: CurrentThread, place: Option<Place<AtomicU64>>) -> Managed<f64> {
    Ok(f64::from_bits(variable(t, place)?.atomic().load(Acquire)))
}

fn write_double(t: CurrentThread, place: Option<Place<AtomicU64>>, value: f64) -> Managed<()> {
    variable(t, place)?.atomic().store(value.to_bits(), Release);
    Ok(())
}

fn read_object<'t>(t: CurrentThread<'t>, place: Option<RefPlace<'t>>) -> Managed<Option<Obj<'t>>> {
    Ok(variable(t, place)?.load())
}

fn write_object(t: CurrentThread, place: Option<RefPlace>, value: Option<Obj>) -> Managed<()> {
    variable(t, place)?.store(t, value);
    Ok(())
}

fn memory_barrier(_t: CurrentThread) {
    // SeqCst: a full fence is what `Thread.MemoryBarrier` promises.
    fence(SeqCst);
}

fn spin_wait_nop(_t: CurrentThread) {
    saki_os::cpu::spin_hint();
}

/// The internal calls of `System.Threading.Volatile` and `System.Threading.Thread`.
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
