//! Interlocked operations.
//!
//! After the exchange of a reference comes its write barrier, with no safepoint in between. The barrier also runs after a
//! failed exchange, which is harmless. Left out: memory orders weaker than sequential consistency.

use super::memory::{integer_type, value_type};
use super::{Lowered, Lowering};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, Type, Value, types};
use saki_il::ir::{AtomicRmw, MemType, ValueId};

impl Lowering<'_, '_> {
    fn atomic_operand(&mut self, id: ValueId, mem: MemType, ty: Type) -> Lowered<Value> {
        let value = self.value_as(id, value_type(mem))?;
        Ok(match mem {
            MemType::F32 | MemType::F64 => self.b.ins().bitcast(ty, MemFlagsData::new(), value),
            _ if self.type_of(value) != ty => self.b.ins().ireduce(ty, value),
            _ => value,
        })
    }

    fn atomic_flags(&mut self, addr: ValueId, address: Value) -> MemFlagsData {
        self.take_deferred_null_check(addr);
        if self.is_protected() && !self.is_not_null(address) {
            self.check_non_zero(address, super::exceptions::Failure::NullReference);
            self.note_not_null(address);
        }
        MemFlagsData::new().with_aligned().with_trap_code(Some(super::exceptions::Failure::NullReference.trap_code()))
    }

    pub(super) fn atomic_rmw(&mut self, op: AtomicRmw, addr: ValueId, value: ValueId, mem: MemType) -> Lowered<Value> {
        let address = self.value_as(addr, types::I64)?;
        let ty = integer_type(mem);
        let operand = self.atomic_operand(value, mem, ty)?;
        let flags = self.atomic_flags(addr, address);
        let op = match op {
            AtomicRmw::Add => clif::AtomicRmwOp::Add,
            AtomicRmw::And => clif::AtomicRmwOp::And,
            AtomicRmw::Or => clif::AtomicRmwOp::Or,
            AtomicRmw::Xor => clif::AtomicRmwOp::Xor,
            AtomicRmw::Exchange => clif::AtomicRmwOp::Xchg,
        };
        let old = self.b.ins().atomic_rmw(ty, flags, op, address, operand);
        self.fence_after_atomic();
        if mem == MemType::Ref {
            self.barrier_after(addr, address, value)?;
        }
        self.extend_loaded(old, mem)
    }

    pub(super) fn atomic_cas(
        &mut self,
        addr: ValueId,
        expected: ValueId,
        new: ValueId,
        mem: MemType,
    ) -> Lowered<Value> {
        let address = self.value_as(addr, types::I64)?;
        let ty = integer_type(mem);
        let expected = self.atomic_operand(expected, mem, ty)?;
        let operand = self.atomic_operand(new, mem, ty)?;
        let flags = self.atomic_flags(addr, address);
        let old = self.b.ins().atomic_cas(flags, address, expected, operand);
        self.fence_after_atomic();
        if mem == MemType::Ref {
            self.barrier_after(addr, address, new)?;
        }
        self.extend_loaded(old, mem)
    }

    /// See `CompilerOptions::fence_after_atomics`.
    pub(super) fn fence_after_atomic(&mut self) {
        if self.options.fence_after_atomics {
            self.b.ins().fence();
        }
    }
}
