//! Managed calls with all arguments in registers.
//!
//! Before a call every value that is needed later and cannot be rematerialised is stored to its slot; then the arguments move
//! to their registers in one parallel move. After the call all registers are free, and the result is in rax or xmm0.

use super::Machine;
use super::assembler::*;
use super::emit::{Emitter, argument_register};
use super::plan::Value;
use crate::symbols::RelocTarget;
use saki_abi::object::OBJECT_VTABLE_OFFSET;
use saki_abi::thread::THREAD_IMT_METHOD_OFFSET;
use saki_abi::vtable::{VTABLE_SLOTS_OFFSET, imt_slot_offset};
use saki_il::ir::{CallSig, CallTarget, IrType, Symbol, ValueId};

/// Where the address of the callee's code is found, after the arguments are in place.
enum Callee {
    Near(RelocTarget),
    Register(Reg),
    /// In the vtable whose address is in this register, at this offset.
    Slot(Reg, i32),
}

impl Emitter<'_> {
    pub(super) fn call(&mut self, result: Value, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> Option<()> {
        let callee = self.prepare(target, sig, args, true)?;
        match callee {
            Callee::Near(target) => self.call_near(target),
            Callee::Register(register) => self.asm.call_register(register),
            Callee::Slot(vtable, offset) => self.asm.call_memory(vtable, offset),
        }
        self.registers.vacate_all();
        if let Some(machine) = sig.ret.and_then(Machine::of) {
            self.define(result, if machine.is_float() { XMM0 } else { RAX });
        }
        Some(())
    }

    pub(super) fn tail_call(&mut self, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> Option<()> {
        let callee = self.prepare(target, sig, args, false)?;
        if let Callee::Slot(vtable, offset) = callee {
            self.asm.rm(MOV_LOAD_QUAD, vtable, vtable, offset);
        }
        self.asm.leave();
        match callee {
            Callee::Near(target) => {
                let offset = self.asm.jump_away();
                self.called(offset, target);
            }
            Callee::Register(register) | Callee::Slot(register, _) => self.asm.jump_register(register),
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
            moves.push((argument_register(is_float, *counter), self.value(arg)));
            *counter += 1;
        }
        if let CallTarget::Indirect(code) = target {
            moves.push((R10, self.value(*code)));
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
            CallTarget::Indirect(_) => Callee::Register(R10),
            CallTarget::Virtual { slot, .. } => {
                // A null receiver faults here.
                self.asm.rm(MOV_LOAD_QUAD, RAX, RDI, OBJECT_VTABLE_OFFSET);
                Callee::Slot(RAX, VTABLE_SLOTS_OFFSET + slot as i32 * 8)
            }
            CallTarget::Interface { method } => {
                self.asm.rm(MOV_LOAD_QUAD, RAX, RDI, OBJECT_VTABLE_OFFSET);
                self.symbol_address(Symbol::MethodHandle(method), SCRATCH);
                self.asm.rm(MOV_STORE_QUAD, SCRATCH, R15, THREAD_IMT_METHOD_OFFSET);
                Callee::Slot(RAX, imt_slot_offset(saki_types::vtable::imt_slot_index(method)))
            }
            CallTarget::InternalCall(_) | CallTarget::Native(_) => return None,
        })
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
                let scratch = if from.is_sse() { SCRATCH_SSE } else { SCRATCH };
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
