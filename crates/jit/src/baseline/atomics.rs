//! Interlocked operations. After the exchange of a reference comes its write barrier, with no safepoint in between; it
//! also runs after a failed exchange, which is harmless.

use super::arguments::Argument;
use super::context::Emitter;
use super::exceptions::Failure;
use super::plan::{Value, exchange_destination};
use super::types::access;
use crate::destination::Destination;
use crate::symbols::RelocTarget;
use saki_abi::HelperId;
use saki_code::masm::{Address, IntegerOp, MachineType, MacroAssembler, MemoryAccess, Reg, RegImm};
use saki_il::ir::{AtomicRmw, MemType, Op, ValueId};

/// The integers as which values in memory are exchanged.
fn exchanged(mem: MemType) -> Option<(MemoryAccess, MachineType)> {
    let access = match mem {
        MemType::F32 => MemoryAccess::Whole(MachineType::I32),
        MemType::F64 => MemoryAccess::Whole(MachineType::I64),
        MemType::V128 | MemType::V64 | MemType::V96 => return None,
        mem => access(mem)?,
    };
    let ty = if access == MemoryAccess::Whole(MachineType::I64) { MachineType::I64 } else { MachineType::I32 };
    Some((access, ty))
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    pub(super) fn atomic_rmw(&mut self, result: Value, op: &Op) -> Option<()> {
        let Op::AtomicRmw { op, addr, value, mem } = *op else { return None };
        let (access, ty) = exchanged(mem)?;
        let (address, operand) = (self.value(addr), self.value(value));
        let arithmetic = match op {
            AtomicRmw::Add | AtomicRmw::Exchange => None,
            AtomicRmw::And => Some(IntegerOp::And),
            AtomicRmw::Or => Some(IntegerOp::Or),
            AtomicRmw::Xor => Some(IntegerOp::ExclusiveOr),
        };
        if arithmetic.is_some() {
            self.claim(M::EXPECTED);
        }
        let place = self.exchange_place(address);
        let old = match arithmetic {
            None => {
                let register = self.bits_of(operand, ty);
                match op {
                    AtomicRmw::Add => self.masm.atomic_add(access, place, register),
                    _ => self.masm.atomic_exchange(access, place, register),
                }
                register
            }
            Some(arithmetic) => {
                let right = self.use_register(operand);
                let new = self.fresh(false);
                self.masm.load(access, M::EXPECTED, place);
                let again = self.masm.label();
                self.masm.bind(again);
                self.move_register(new, M::EXPECTED);
                self.masm.integer(arithmetic, ty, new, RegImm::Reg(right), None);
                self.masm.compare_exchange(access, place, new, Some(again));
                M::EXPECTED
            }
        };
        self.exchanged(result, old, mem);
        self.registers.release(operand);
        self.barrier_after_exchange(addr, value, mem);
        Some(())
    }

    pub(super) fn atomic_cas(&mut self, result: Value, op: &Op) -> Option<()> {
        let Op::AtomicCas { addr, expected, new: value, mem } = *op else { return None };
        let (access, ty) = exchanged(mem)?;
        let (address, expected, new) = (self.value(addr), self.value(expected), self.value(value));
        self.claim(M::EXPECTED);
        let place = self.exchange_place(address);
        let register = if self.machine_of(new).is_float() { self.bits_of(new, ty) } else { self.use_register(new) };
        if self.machine_of(expected).is_float() {
            let source = self.use_register(expected);
            self.masm.move_bits(ty, M::EXPECTED, source);
        } else {
            self.load_value(expected, M::EXPECTED);
        }
        self.masm.compare_exchange(access, place, register, None);
        self.exchanged(result, M::EXPECTED, mem);
        self.registers.release(expected);
        self.registers.release(new);
        self.barrier_after_exchange(addr, value, mem);
        Some(())
    }

    /// The place whose address is the value, which stays in use.
    fn exchange_place(&mut self, address: Value) -> Address {
        let base = self.use_register(address);
        if self.is_protected() {
            self.fail_if_zero(MachineType::I64, base, Failure::NullReference);
        }
        Address::new(base, 0)
    }

    /// A copy of the value's bits in a general purpose register.
    fn bits_of(&mut self, value: Value, ty: MachineType) -> Reg {
        let source = self.use_register(value);
        let register = self.fresh(false);
        if source.is_float() {
            self.masm.move_bits(ty, register, source);
        } else {
            self.move_register(register, source);
        }
        register
    }

    /// Defines the result, which was in memory before.
    fn exchanged(&mut self, result: Value, old: Reg, mem: MemType) {
        if self.options.fence_after_atomics {
            self.masm.fence();
        }
        let register = match (mem, access(mem)) {
            (MemType::F32 | MemType::F64, _) => {
                let ty = if mem == MemType::F32 { MachineType::I32 } else { MachineType::I64 };
                let register = self.fresh(true);
                self.masm.move_bits(ty, register, old);
                register
            }
            (_, Some(MemoryAccess::Narrow(extension))) => {
                self.masm.extend(extension, old, old);
                old
            }
            _ => old,
        };
        self.define(result, register);
    }

    /// Uses the address for the last time.
    fn barrier_after_exchange(&mut self, addr: ValueId, stored: ValueId, mem: MemType) {
        let address = self.value(addr);
        self.registers.unlock_all();
        let destination = match mem {
            MemType::Ref => exchange_destination(self.func, addr, stored),
            _ => Destination::Private,
        };
        match destination {
            Destination::Private | Destination::Root => self.registers.release(address),
            Destination::Object(object) => {
                self.registers.release(address);
                self.barrier(self.value(object));
            }
            Destination::Unknown => self.call_helper(HelperId::BarrierUnknown, &[Argument::Value(address)], None),
        }
    }
}
