//! Tail calls: the callee's arguments replace this function's own.
//!
//! Arguments in memory are stored where this function's own end, since a callee gives back what is its own. If they
//! need more room than those have, the whole frame lies lower, from the prologue on; if they need less, the frame
//! pointer and the return address move up before the jump. Struct arguments are passed in the thread's buffer
//! (`lower::calls` describes it). Where the frame cannot go, a tail call is a call and a return.

use super::arguments::{Argument, Passing};
use super::calls::Callee;
use super::context::{Cold, Emitter};
use super::places::{Passed, Place, Places};
use super::types::{is_by_address, machine_type, passed_type, result_type, returns_struct};
use crate::signatures::{call_has_this, struct_result_index};
use crate::symbols::RelocTarget;
use crate::type_facts::value_layout;
use saki_abi::thread::{TAIL_ARGS_BYTES, THREAD_TAIL_ARGS_OFFSET};
use saki_code::masm::{Address, IntegerOp, MachineType, MacroAssembler, MemoryAccess, Reg, RegImm, Relation};
use saki_il::ir::{CallSig, CallTarget, IrType, LocalKind, ValueId};

const ADDRESS: MemoryAccess = MemoryAccess::Whole(MachineType::I64);

/// Whether the struct arguments have room in the thread's buffer.
fn fits_tail_arguments(sig: &CallSig) -> Option<bool> {
    let mut total_bytes = 0;
    for param in &sig.params {
        if let IrType::Struct(ty) = param
            && is_by_address(*param)
        {
            total_bytes += u64::from(value_layout(ty).ok()?.size_bytes.next_multiple_of(8));
        }
    }
    Some(total_bytes <= TAIL_ARGS_BYTES as u64)
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    pub(super) fn tail_call(&mut self, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> Option<()> {
        let own = &self.func.sig;
        let has_same_result = match (sig.ret, own.ret) {
            (Some(IrType::Struct(a)), Some(IrType::Struct(b))) => a == b,
            (a, b) => a.and_then(machine_type) == b.and_then(machine_type),
        };
        let replaces = target.is_managed()
            && has_same_result
            && self.region.is_none()
            && self.localloc_flag.is_none()
            && fits_tail_arguments(sig)?
            && Passed::new::<M>(sig, false)?.stack_bytes <= self.incoming_bytes + self.plan.lowered_bytes;
        if !replaces {
            return self.call_and_return(target, sig, args);
        }
        let passed = self.tail_arguments(target, sig, args)?;
        let code = match *target {
            CallTarget::Indirect(code) => Some(self.value(code)),
            _ => None,
        };
        let bytes = Passed::new::<M>(sig, false)?.stack_bytes;
        let up = self.incoming_bytes + self.plan.lowered_bytes - bytes;
        let base = M::INCOMING_ARGUMENTS_OFFSET + up as i32;
        let mut places = Places::default();
        let mut moves: Vec<(Reg, Argument)> = Vec::with_capacity(passed.len() + 1);
        for &(argument, ty) in &passed {
            match places.next::<M>(ty) {
                Place::Register(register) => moves.push((register, argument)),
                Place::Stack(offset) => self.store_argument(Address::new(M::FRAME, base + offset), argument, ty),
            }
        }
        self.move_arguments(&mut moves, code, false);
        let callee = self.callee(target)?;
        if let Callee::Slot(slot) = callee {
            self.masm.load(ADDRESS, slot.base, slot);
        }
        self.restore_kept();
        if up > 0 {
            self.masm.raise_frame(up);
        }
        match callee {
            Callee::Near(target) => self.masm.tail_jump(target),
            Callee::Register(register) | Callee::Slot(Address { base: register, .. }) => {
                self.masm.tail_jump_register(register);
            }
        }
        Some(())
    }

    /// The arguments, with structs in the thread's buffer.
    fn tail_arguments(&mut self, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> Option<Vec<Passing>> {
        if args.len() != sig.params.len() {
            return None;
        }
        let mut passed = Vec::with_capacity(args.len() + 1);
        let mut offset = THREAD_TAIL_ARGS_OFFSET;
        for (&arg, &param) in args.iter().zip(&sig.params) {
            let argument = match param {
                IrType::Struct(ty) if is_by_address(param) => {
                    let layout = value_layout(ty).ok()?;
                    let (value, place) = (self.value(arg), offset);
                    offset += layout.size_bytes.next_multiple_of(8) as i32;
                    let source = self.use_register(value);
                    let to = Address::new(M::THREAD, place);
                    self.copy_words(to, Address::new(source, 0), layout.size_bytes, M::SCRATCH);
                    self.registers.release(value);
                    self.registers.unlock_all();
                    Argument::ThreadPlace(place)
                }
                IrType::Struct(_) => self.vector_argument(arg, param.vector()?),
                _ => Argument::Value(self.value(arg)),
            };
            passed.push((argument, passed_type(param)?));
        }
        if returns_struct(sig) {
            let index = struct_result_index(sig, call_has_this(target, sig));
            passed.insert(index, (Argument::Slot(self.struct_result?, MachineType::I64), MachineType::I64));
        }
        Some(passed)
    }

    fn call_and_return(&mut self, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> Option<()> {
        let mut passed = self.arguments(sig, args, true)?;
        if returns_struct(sig) {
            let index = struct_result_index(sig, call_has_this(target, sig));
            passed.insert(index, (Argument::Slot(self.struct_result?, MachineType::I64), MachineType::I64));
        }
        self.managed_call(target, &passed)?;
        self.registers.release_copies();
        self.registers.vacate_all();
        self.registers.unlock_all();
        match (result_type(sig), result_type(&self.func.sig)) {
            (_, None) => self.free_localloc(),
            (Some(ty), Some(own)) => {
                let register = if ty.is_float() { M::FLOAT_RESULT } else { M::RESULT };
                match (ty, own) {
                    (ty, own) if ty == own => {}
                    (MachineType::I32, MachineType::I64) => self.masm.widen(true, register, register),
                    (MachineType::I64, MachineType::I32) => {}
                    (MachineType::F32, MachineType::F64) | (MachineType::F64, MachineType::F32) => {
                        self.masm.convert_float(own, register, register);
                    }
                    _ => return None,
                }
                if self.localloc_flag.is_some() {
                    let slot = self.registers.new_area(16);
                    self.store_slot(register, slot, own);
                    self.free_localloc();
                    self.load_slot(register, slot, own);
                }
            }
            (None, Some(_)) => return None,
        }
        self.leave();
        Some(())
    }

    /// At the function's entry: whether struct parameters are in the thread's buffer for tail calls; if so they move to
    /// the frame.
    pub(super) fn receive_tail_arguments(&mut self) -> Option<()> {
        let func = self.func;
        let is_struct =
            |local: &saki_il::ir::Local| matches!(local.kind, LocalKind::Param(_)) && is_by_address(local.ty);
        // The first in the order of the parameters: either all are in the buffer, or none.
        let first = func.locals.iter().position(is_struct);
        let Some(first) = first else { return Some(()) };
        if !fits_tail_arguments(&func.sig)? {
            return Some(());
        }
        let (from, word) = (self.fresh(false), self.fresh(false));
        let slot = self.registers.local_slot(first);
        self.load_slot(from, slot, MachineType::I64);
        self.masm.load_address(word, Self::thread_word(THREAD_TAIL_ARGS_OFFSET));
        self.masm.integer(IntegerOp::Subtract, MachineType::I64, from, RegImm::Reg(word), None);
        let (slow, next) = (self.masm.label(), self.masm.label());
        let size = RegImm::Imm(TAIL_ARGS_BYTES as i32);
        self.masm.jump_if(Relation::LessUnsigned, MachineType::I64, from, size, slow, None);
        self.masm.bind(next);
        self.later(Cold::TailArguments { slow, next, from, word });
        self.registers.unlock_all();
        Some(())
    }

    /// Moves all struct parameters to the frame.
    pub(super) fn move_tail_arguments(&mut self, from: Reg, word: Reg) -> Option<()> {
        let func = self.func;
        for (number, local) in func.locals.iter().enumerate() {
            let (LocalKind::Param(_), IrType::Struct(ty)) = (local.kind, local.ty) else { continue };
            if !is_by_address(local.ty) {
                continue;
            }
            let layout = value_layout(ty).ok()?;
            let slot = self.registers.local_slot(number);
            let place = self.registers.new_area(layout.size_bytes);
            self.load_slot(from, slot, MachineType::I64);
            self.copy_words(Address::new(M::FRAME, place), Address::new(from, 0), layout.size_bytes, word);
            self.masm.load_address(from, Address::new(M::FRAME, place));
            self.store_slot(from, slot, MachineType::I64);
        }
        Some(())
    }
}
