//! System.Runtime.RuntimeImports: raw memory.

use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{CurrentThread, InternalCall, Managed};
use saki_types::Type;

fn memmove(_t: CurrentThread, destination: *mut u8, source: *const u8, length_bytes: u32) {
    // SAFETY: the managed caller's unsafe code vouches for both ranges, which may overlap.
    unsafe { std::ptr::copy(source, destination, length_bytes as usize) };
}

/// Moves `count` values of a type that is or holds references; neither place needs to be an array.
fn memmove_with_barrier(
    t: CurrentThread,
    destination: *mut u8,
    source: *const u8,
    count: u32,
    ty: &'static Type,
) -> Managed<()> {
    let is_reference = ty.is_reference_type();
    let size_bytes = ty.value_size_bytes().to_managed(t)? as usize;
    let refs = if is_reference { &[0] } else { ty.ref_offsets().to_managed(t)? };
    // SAFETY: Buffer passes places that hold `count` values each; memmove copies aligned words whole, so that
    // another thread never sees half a reference.
    unsafe { std::ptr::copy(source, destination, size_bytes * count as usize) };
    for index in 0..count as usize {
        for &offset in refs {
            let slot = destination.wrapping_add(index * size_bytes + offset as usize);
            saki_gc::barrier::after_store_unknown(t.managed(), slot.cast());
        }
    }
    Ok(())
}

fn zero_memory(_t: CurrentThread, memory: *mut u8, length_bytes: u32) {
    // SAFETY: the managed caller's unsafe code vouches for the range.
    unsafe { std::ptr::write_bytes(memory, 0, length_bytes as usize) };
}

/// The internal calls of `System.Runtime.RuntimeImports`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Runtime.RuntimeImports::Memmove", &memmove),
    InternalCall::new("System.Runtime.RuntimeImports::Memmove_wbarrier", &memmove_with_barrier),
    InternalCall::new("System.Runtime.RuntimeImports::ZeroMemory", &zero_memory),
];
