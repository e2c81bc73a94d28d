//! Interlocked operations.
//!
//! After the exchange of a reference comes its write barrier, with no safepoint in between. The barrier also runs after
//! a failed exchange, which is harmless. Left out: memory orders weaker than sequential consistency.

use super::barriers;
use super::clif_builder::{integer_type, value_type};
use super::context::Lowering;
use super::failure::Failure;
use crate::error::Lowered;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, Type, Value, types};
use saki_il::ir::{AtomicRmw, MemType, ValueId};

fn atomic_operand(cx: &mut Lowering<'_, '_>, id: ValueId, mem: MemType, ty: Type) -> Lowered<Value> {
    let value = cx.value_as(id, value_type(mem))?;
    Ok(match mem {
        MemType::F32 | MemType::F64 => cx.b.ins().bitcast(ty, MemFlagsData::new(), value),
        _ if cx.type_of(value) != ty => cx.b.ins().ireduce(ty, value),
        _ => value,
    })
}

fn atomic_flags(cx: &mut Lowering<'_, '_>, addr: ValueId, address: Value) -> MemFlagsData {
    cx.facts.take_deferred_null_check(addr);
    if cx.is_protected() && !cx.facts.is_not_null(address) {
        cx.check_non_zero(address, Failure::NullReference);
        cx.facts.note_not_null(address);
    }
    MemFlagsData::new().with_aligned().with_trap_code(Some(Failure::NullReference.trap_code()))
}

pub(super) fn atomic_rmw(
    cx: &mut Lowering<'_, '_>,
    op: AtomicRmw,
    addr: ValueId,
    value: ValueId,
    mem: MemType,
) -> Lowered<Value> {
    let address = cx.value_as(addr, types::I64)?;
    let ty = integer_type(mem);
    let operand = atomic_operand(cx, value, mem, ty)?;
    let flags = atomic_flags(cx, addr, address);
    let op = match op {
        AtomicRmw::Add => clif::AtomicRmwOp::Add,
        AtomicRmw::And => clif::AtomicRmwOp::And,
        AtomicRmw::Or => clif::AtomicRmwOp::Or,
        AtomicRmw::Xor => clif::AtomicRmwOp::Xor,
        AtomicRmw::Exchange => clif::AtomicRmwOp::Xchg,
    };
    let old = cx.b.ins().atomic_rmw(ty, flags, op, address, operand);
    cx.fence_after_atomic();
    if mem == MemType::Ref {
        barriers::barrier_after(cx, addr, address, value)?;
    }
    cx.extend_loaded(old, mem)
}

/// `casal` that stores nothing is a load-acquire and no barrier: later loads may be done before earlier stores (Arm ARM
/// §B2.3.7 demands both a load and a store of it).
fn fence_if_refused(cx: &mut Lowering<'_, '_>, old: Value, expected: Value) {
    let (refused, done) = (cx.new_block(true), cx.new_block(false));
    let is_stored = cx.b.ins().icmp(IntCC::Equal, old, expected);
    cx.branch(is_stored, done, refused);
    cx.continue_in(refused);
    cx.b.ins().fence();
    cx.jump_clif(done, &[]);
    cx.continue_in(done);
}

pub(super) fn atomic_cas(
    cx: &mut Lowering<'_, '_>,
    addr: ValueId,
    expected: ValueId,
    new: ValueId,
    mem: MemType,
) -> Lowered<Value> {
    let address = cx.value_as(addr, types::I64)?;
    let ty = integer_type(mem);
    let expected = atomic_operand(cx, expected, mem, ty)?;
    let operand = atomic_operand(cx, new, mem, ty)?;
    let flags = atomic_flags(cx, addr, address);
    let old = cx.b.ins().atomic_cas(flags, address, expected, operand);
    if cx.options.fence_after_atomics || !cx.is_aarch64() {
        cx.fence_after_atomic();
    } else {
        fence_if_refused(cx, old, expected);
    }
    if mem == MemType::Ref {
        barriers::barrier_after(cx, addr, address, new)?;
    }
    cx.extend_loaded(old, mem)
}
