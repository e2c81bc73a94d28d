//! Managed calls with all arguments in registers.
//!
//! Before a call every value that is needed later and cannot be rematerialised is stored to its slot; then the
//! arguments move to their registers in one parallel move. After the call all registers are free, and the result is in
//! the register for results.

use super::emit::{Emitter, argument_register};
use super::machine_type;
use super::plan::Value;
use crate::symbols::RelocTarget;
use saki_abi::object::OBJECT_VTABLE_OFFSET;
use saki_abi::thread::THREAD_IMT_METHOD_OFFSET;
use saki_abi::vtable::{VTABLE_SLOTS_OFFSET, imt_slot_offset};
use saki_code::masm::{Address, MachineType, MacroAssembler, MemoryAccess, Reg};
use saki_il::ir::{CallSig, CallTarget, IrType, Symbol, ValueId};

const ADDRESS: MemoryAccess = MemoryAccess::Whole(MachineType::I64);

/// Where the address of the callee's code is found, after the arguments are in place.
enum Callee {
    Near(RelocTarget),
    Register(Reg),
    /// In the vtable whose address is in a register, at an offset.
    Slot(Address),
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    pub(super) fn call(&mut self, result: Value, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> Option<()> {
        let callee = self.prepare(target, sig, args, true)?;
        match callee {
            Callee::Near(target) => self.masm.call(target),
            Callee::Register(register) => self.masm.call_register(register),
            Callee::Slot(slot) => self.masm.call_slot(slot),
        }
        self.registers.vacate_all();
        if let Some(ty) = sig.ret.and_then(machine_type) {
            self.define(result, if ty.is_float() { M::FLOAT_RESULT } else { M::RESULT });
        }
        Some(())
    }

    pub(super) fn tail_call(&mut self, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> Option<()> {
        let callee = self.prepare(target, sig, args, false)?;
        if let Callee::Slot(slot) = callee {
            self.masm.load(ADDRESS, slot.base, slot);
        }
        match callee {
            Callee::Near(target) => self.masm.tail_jump(target),
            Callee::Register(register) | Callee::Slot(Address { base: register, .. }) => {
                self.masm.tail_jump_register(register);
            }
        }
        Some(())
    }

    /// Saves the values that are needed later (if `returns`), and moves the arguments.
    fn prepare(&mut self, target: &CallTarget, sig: &CallSig, args: &[ValueId], returns: bool) -> Option<Callee> {
        let (mut integers, mut floats) = (0, 0);
        let mut moves: Vec<(Reg, Value)> = Vec::with_capacity(args.len() + 1);
        for (&arg, &param) in args.iter().zip(&sig.params) {
            let is_float = matches!(param, IrType::F32 | IrType::F64);
            let counter = if is_float { &mut floats } else { &mut integers };
            moves.push((argument_register::<M>(is_float, *counter), self.value(arg)));
            *counter += 1;
        }
        if let CallTarget::Indirect(code) = target {
            moves.push((M::CALLEE, self.value(*code)));
        }
        for &(_, value) in &moves {
            let place = &mut self.registers.places[value as usize];
            place.uses_left = place.uses_left.saturating_sub(1);
        }
        if returns {
            let occupied: Vec<(Reg, Value)> = self.registers.occupied().collect();
            for (_, value) in occupied {
                self.spill(value);
            }
        }
        self.move_all(&moves);
        Some(match *target {
            CallTarget::Direct(method) => Callee::Near(RelocTarget::Symbol(Symbol::MethodEntry(method))),
            CallTarget::Helper(helper) => Callee::Near(RelocTarget::Symbol(Symbol::Helper(helper))),
            CallTarget::Indirect(_) => Callee::Register(M::CALLEE),
            CallTarget::Virtual { slot, .. } => {
                self.load_vtable();
                Callee::Slot(Address::new(M::CALLEE_VTABLE, VTABLE_SLOTS_OFFSET + slot as i32 * 8))
            }
            CallTarget::Interface { method } => {
                self.load_vtable();
                self.symbol_address(Symbol::MethodHandle(method), M::SCRATCH);
                self.masm.store(ADDRESS, Address::new(M::THREAD, THREAD_IMT_METHOD_OFFSET), M::SCRATCH);
                let slot = saki_types::vtable::imt_slot_index(method);
                Callee::Slot(Address::new(M::CALLEE_VTABLE, imt_slot_offset(slot)))
            }
            CallTarget::InternalCall(_) | CallTarget::Native(_) => return None,
        })
    }

    /// Loads the vtable of the receiver, the first argument. A null receiver faults here.
    fn load_vtable(&mut self) {
        self.masm.load(ADDRESS, M::CALLEE_VTABLE, Address::new(M::ARGUMENTS[0], OBJECT_VTABLE_OFFSET));
    }

    /// A parallel move: each register gets its value, and none is overwritten before it is read.
    fn move_all(&mut self, moves: &[(Reg, Value)]) {
        let mut pending: Vec<(Reg, Reg)> = Vec::with_capacity(moves.len());
        for &(to, value) in moves {
            if let Some(from) = self.registers.place(value).register
                && from != to
            {
                pending.push((to, from));
            }
        }
        while !pending.is_empty() {
            let is_read = |register: Reg| pending.iter().any(|&(_, from)| from == register);
            if let Some(free) = pending.iter().position(|&(to, _)| !is_read(to)) {
                let (to, from) = pending.swap_remove(free);
                self.move_register(to, from);
            } else {
                // All targets are sources: a cycle. One value waits in the scratch register.
                let (_, from) = pending[0];
                let scratch = if from.is_float() { M::FLOAT_SCRATCH } else { M::SCRATCH };
                self.move_register(scratch, from);
                for entry in pending.iter_mut().filter(|entry| entry.1 == from) {
                    entry.1 = scratch;
                }
            }
        }
        // The old contents are not needed any more.
        for &(to, value) in moves {
            if self.registers.place(value).register.is_none() {
                self.load_value(value, to);
            }
        }
    }
}
