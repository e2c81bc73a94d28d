//! Loads, stores, null and bounds checks, reference stores with their barrier, block and struct copies.

use super::barriers;
use super::clif_builder::{MemoryKind, integer_type, value_type};
use super::context::Lowering;
use super::failure::Failure;
use crate::destination::{self, Destination, store_destination};
use crate::error::Lowered;
use crate::null_area::faults_on_null;
use crate::type_facts::value_layout;
use crate::vector_memory::{self};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, condcodes::IntCC, types};
use saki_abi::HelperId;
use saki_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET};
use saki_il::ir::{AliasClass, IrType, MemFlags, MemType, NullCheck, Op, Symbol, ValueId};
use saki_types::Ty;

/// Instructions that `next_access_checks` examines.
const ACCESS_LOOK_AHEAD: usize = 6;

/// The flags without the promise of alignment for vectors, which may lie at any address.
fn aligned_as_promised(mem: MemType, flags: MemFlags) -> MemFlags {
    MemFlags { unaligned: flags.unaligned || mem.loaded() == IrType::V128, ..flags }
}

/// Whether one of the next instructions accesses memory through `id` before anything else can happen, so that the
/// access can do the null check.
fn next_access_checks(cx: &Lowering<'_, '_>, id: ValueId) -> bool {
    for next in cx.rest().iter().take(ACCESS_LOOK_AHEAD) {
        let Some(inst) = cx.inst(*next) else { return false };
        match &inst.op {
            Op::Load { addr, offset, .. } | Op::Store { addr, offset, .. } if *addr == id => {
                return faults_on_null(*offset);
            }
            Op::StoreRef { addr, offset, object: Some(_), .. } if *addr == id => {
                return faults_on_null(*offset);
            }
            Op::ArrayLen(array) if *array == id => return true,
            Op::ConstI32(_) | Op::ConstI64(_) | Op::ConstF32(_) | Op::ConstF64(_) | Op::Null => {}
            Op::SymbolAddr(_) | Op::LocalGet(_) | Op::LocalAddr(_) | Op::Cmp(..) => {}
            Op::Conv { checked: false, .. } => {}
            _ => return false,
        }
    }
    false
}

pub(super) fn load(
    cx: &mut Lowering<'_, '_>,
    addr: ValueId,
    offset: i32,
    mem: MemType,
    flags: MemFlags,
) -> Lowered<Value> {
    let address = cx.value_as(addr, types::I64)?;
    // Only for arrays and strings: the bounds of multi-dimensional arrays have this alias class too, but native
    // addresses.
    let is_length = flags.alias == AliasClass::Length
        && !flags.volatile
        && mem == MemType::I32
        && cx.func().insts[addr.0 as usize].ty == IrType::Ref;
    if is_length && let Some(length) = cx.facts.known_length(address) {
        return Ok(length);
    }
    let access = cx.access_flags(addr, address, offset, aligned_as_promised(mem, flags));
    if flags.volatile && is_atomic(cx, flags) {
        return atomic_load(cx, address, offset, mem, access);
    }
    if flags.volatile {
        let value = plain_load(cx, address, offset, mem, access);
        cx.b.ins().fence();
        return Ok(value);
    }
    let value = plain_load(cx, address, offset, mem, access);
    if is_length {
        cx.facts.note_length(address, value);
    }
    Ok(value)
}

/// Whether a volatile access is one instruction with acquire or release. On aarch64 these fault where the address is
/// not a multiple of the size.
fn is_atomic(cx: &Lowering<'_, '_>, flags: MemFlags) -> bool {
    !(flags.unaligned && cx.is_aarch64())
}

fn plain_load(cx: &mut Lowering<'_, '_>, address: Value, offset: i32, mem: MemType, flags: MemFlagsData) -> Value {
    let ins = cx.b.ins();
    match mem {
        MemType::I8 => ins.sload8(types::I32, flags, address, offset),
        MemType::U8 => ins.uload8(types::I32, flags, address, offset),
        MemType::I16 => ins.sload16(types::I32, flags, address, offset),
        MemType::U16 => ins.uload16(types::I32, flags, address, offset),
        MemType::I32 => ins.load(types::I32, flags, address, offset),
        MemType::I64 | MemType::Ref | MemType::ByRef => ins.load(types::I64, flags, address, offset),
        MemType::F32 => ins.load(types::F32, flags, address, offset),
        MemType::F64 => ins.load(types::F64, flags, address, offset),
        MemType::V128 | MemType::V64 | MemType::V96 => vector_memory::load(&mut cx.b, address, offset, mem, flags),
    }
}

fn atomic_load(
    cx: &mut Lowering<'_, '_>,
    address: Value,
    offset: i32,
    mem: MemType,
    flags: MemFlagsData,
) -> Lowered<Value> {
    let address = cx.displaced(address, offset);
    let loaded = cx.b.ins().atomic_load(integer_type(mem), flags, address);
    cx.extend_loaded(loaded, mem)
}

pub(super) fn store(
    cx: &mut Lowering<'_, '_>,
    addr: ValueId,
    offset: i32,
    value_id: ValueId,
    mem: MemType,
    flags: MemFlags,
) -> Lowered {
    let address = cx.value_as(addr, types::I64)?;
    let value = cx.value_as(value_id, value_type(mem))?;
    // A reference publishes an object, as in `store_ref`: that to a static comes here, which needs no barrier.
    let publishes = mem == MemType::Ref
        && store_destination(cx.func(), None, addr, value_id, |local| cx.is_in_frame(local)) != Destination::Private;
    let access = cx.access_flags(addr, address, offset, aligned_as_promised(mem, flags));
    let is_atomic = is_atomic(cx, flags);
    if flags.volatile && !is_atomic {
        cx.b.ins().fence();
    }
    plain_store(cx, address, offset, value, mem, access, (flags.volatile || publishes) && is_atomic);
    Ok(())
}

fn plain_store(
    cx: &mut Lowering<'_, '_>,
    address: Value,
    offset: i32,
    value: Value,
    mem: MemType,
    flags: MemFlagsData,
    is_release: bool,
) {
    // x86 stores are releases; Cranelift's own atomic store would add a full fence.
    if is_release && cx.is_aarch64() {
        let address = cx.displaced(address, offset);
        let ty = integer_type(mem);
        let bits = match mem {
            MemType::F32 | MemType::F64 => cx.b.ins().bitcast(ty, MemFlagsData::new(), value),
            _ if cx.type_of(value) != ty => cx.b.ins().ireduce(ty, value),
            _ => value,
        };
        cx.b.ins().atomic_store(flags, bits, address);
        return;
    }
    match mem {
        MemType::I8 | MemType::U8 => _ = cx.b.ins().istore8(flags, value, address, offset),
        MemType::I16 | MemType::U16 => _ = cx.b.ins().istore16(flags, value, address, offset),
        MemType::V128 | MemType::V64 | MemType::V96 => {
            vector_memory::store(&mut cx.b, address, offset, value, mem, flags);
        }
        _ => _ = cx.b.ins().store(flags, value, address, offset),
    }
}

pub(super) fn store_ref(
    cx: &mut Lowering<'_, '_>,
    object: Option<ValueId>,
    addr: ValueId,
    offset: i32,
    value: ValueId,
    flags: MemFlags,
) -> Lowered {
    let address = cx.value_as(addr, types::I64)?;
    let destination = store_destination(cx.func(), object, addr, value, |local| cx.is_in_frame(local));
    let value = cx.value_as(value, types::I64)?;
    if destination == Destination::Unknown {
        cx.explicit_null_check(addr, address, flags);
        let slot = cx.displaced(address, offset);
        cx.call_helper_nothrow(HelperId::StoreRefUnknown, &[slot, value]);
        return Ok(());
    }
    let access = cx.access_flags(addr, address, offset, flags);
    // Who finds an object by a reference also finds its header and what was written to it before; a load through the
    // reference depends on it, so loads need no order. .NET's memory model, "Object assignment".
    let publishes = destination != Destination::Private;
    plain_store(cx, address, offset, value, MemType::Ref, access, flags.volatile || publishes);
    if let Destination::Object(object) = destination {
        let object = cx.value_as(object, types::I64)?;
        barriers::barrier(cx, object);
    }
    Ok(())
}

pub(super) fn bounds_check(cx: &mut Lowering<'_, '_>, index: ValueId, length: ValueId) -> Lowered {
    let (mut index, mut length) = (cx.value(index)?, cx.value(length)?);
    if cx.facts.is_in_bounds(index, length) {
        return Ok(());
    }
    let facts = (index, length);
    if cx.type_of(index) != cx.type_of(length) {
        index = cx.coerce(index, types::I64)?;
        length = cx.coerce(length, types::I64)?;
    }
    let bad = cx.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, length);
    cx.check(bad, Failure::IndexOutOfRange);
    cx.facts.note_in_bounds(facts.0, facts.1);
    Ok(())
}

pub(super) fn array_length(cx: &mut Lowering<'_, '_>, id: ValueId) -> Lowered<Value> {
    let array = cx.value(id)?;
    if let Some(length) = cx.facts.known_length(array) {
        cx.facts.take_deferred_null_check(id);
        return Ok(length);
    }
    let flags =
        MemFlags { null_check: NullCheck::Needed, alias: AliasClass::Length, volatile: false, unaligned: false };
    let access = cx.access_flags(id, array, ARRAY_LENGTH_OFFSET, flags);
    let length = cx.b.ins().load(types::I32, access, array, ARRAY_LENGTH_OFFSET);
    cx.facts.note_length(array, length);
    Ok(length)
}

pub(super) fn element_address(
    cx: &mut Lowering<'_, '_>,
    array: ValueId,
    index: ValueId,
    element_size_bytes: u32,
) -> Lowered<Value> {
    let array = cx.value_as(array, types::I64)?;
    if let Some(index) = cx.constant(index)
        && let Some(offset) = index.checked_mul(i64::from(element_size_bytes)).filter(|&o| (0..1 << 31).contains(&o))
    {
        return Ok(cx.b.ins().iadd_imm_s(array, offset + i64::from(ARRAY_DATA_OFFSET)));
    }
    let mut index = cx.value(index)?;
    if cx.type_of(index) == types::I32 {
        // Checked against a length before, hence not negative.
        index = cx.b.ins().uextend(types::I64, index);
    }
    let scaled = if element_size_bytes.is_power_of_two() {
        cx.b.ins().ishl_imm_u(index, i64::from(element_size_bytes.trailing_zeros()))
    } else {
        cx.b.ins().imul_imm_s(index, i64::from(element_size_bytes))
    };
    let base = cx.b.ins().iadd(array, scaled);
    Ok(cx.b.ins().iadd_imm_s(base, i64::from(ARRAY_DATA_OFFSET)))
}

pub(super) fn copy_struct(
    cx: &mut Lowering<'_, '_>,
    dst: ValueId,
    src: ValueId,
    ty: Ty,
    barrier: bool,
    flags: MemFlags,
) -> Lowered {
    let (destination, source) = (cx.value_as(dst, types::I64)?, cx.value_as(src, types::I64)?);
    cx.explicit_null_check(src, source, flags);
    cx.explicit_null_check(dst, destination, flags);
    if flags.volatile {
        cx.b.ins().fence();
    }
    let place = barriers::destination(cx, dst);
    let destination_kind = if barrier { place } else { Destination::Private };
    if cx.is_aarch64() && !flags.volatile && destination::publishes(place, ty, barrier)? {
        // The references in it publish objects, like those of `store_ref`.
        cx.b.ins().fence();
    }
    match destination_kind {
        Destination::Unknown => {
            let ty = cx.symbol_address(Symbol::TypeHandle(ty));
            cx.call_helper_nothrow(HelperId::CopyStructBarrier, &[destination, source, ty]);
        }
        Destination::Private | Destination::Root => {
            let layout = value_layout(ty)?;
            cx.copy_memory(destination, source, layout);
        }
        Destination::Object(object) => {
            let layout = value_layout(ty)?;
            cx.copy_memory(destination, source, layout);
            let object = cx.value_as(object, types::I64)?;
            barriers::barrier(cx, object);
        }
    }
    if flags.volatile {
        cx.b.ins().fence();
    }
    Ok(())
}

pub(super) fn init_struct(cx: &mut Lowering<'_, '_>, addr: ValueId, ty: Ty) -> Lowered {
    let address = cx.value_as(addr, types::I64)?;
    cx.facts.take_deferred_null_check(addr);
    let layout = value_layout(ty)?;
    cx.zero_memory(address, layout);
    Ok(())
}

pub(super) fn copy_block(cx: &mut Lowering<'_, '_>, dst: ValueId, src: ValueId, bytes: ValueId) -> Lowered {
    let (destination, source) = (cx.value_as(dst, types::I64)?, cx.value_as(src, types::I64)?);
    let bytes = byte_count(cx, bytes)?;
    cx.call_helper(HelperId::MemMove, &[destination, source, bytes]);
    Ok(())
}

pub(super) fn init_block(cx: &mut Lowering<'_, '_>, addr: ValueId, value: ValueId, bytes: ValueId) -> Lowered {
    let address = cx.value_as(addr, types::I64)?;
    let value = cx.value_as(value, types::I32)?;
    let bytes = byte_count(cx, bytes)?;
    cx.call_helper(HelperId::MemSet, &[address, value, bytes]);
    Ok(())
}

/// Counts of cpblk and initblk are unsigned 32-bit numbers.
fn byte_count(cx: &mut Lowering<'_, '_>, bytes: ValueId) -> Lowered<Value> {
    let bytes = cx.value(bytes)?;
    if cx.type_of(bytes) == types::I32 {
        return Ok(cx.b.ins().uextend(types::I64, bytes));
    }
    Ok(bytes)
}

pub(super) fn null_check(cx: &mut Lowering<'_, '_>, id: ValueId) -> Lowered {
    let value = cx.value(id)?;
    if cx.facts.is_not_null(value) {
        return Ok(());
    }
    if cx.is_protected() {
        cx.check_non_zero(value, Failure::NullReference);
    } else if next_access_checks(cx, id) {
        cx.facts.defer_null_check(id);
        return Ok(());
    } else {
        let flags = cx.faulting(MemoryKind::Program);
        cx.b.ins().load(types::I8, flags, value, 0);
    }
    cx.facts.note_not_null(value);
    Ok(())
}
