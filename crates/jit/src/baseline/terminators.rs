//! The ends of blocks.

use super::context::Emitter;
use super::plan::Value;
use super::types::{is_by_address, result_type};
use crate::symbols::RelocTarget;
use crate::type_facts::value_layout;
use saki_abi::HelperId;
use saki_abi::stubs::trap;
use saki_code::masm::{Address, Label, MacroAssembler, Reg, RegImm, Relation};
use saki_il::ir::{BlockId, IrType, Terminator, ValueId};

/// Switches of so many targets or less compare with one after the other.
const LINEAR_TARGETS: usize = 4;

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    pub(super) fn terminator(&mut self, number: usize, terminator: &Terminator) -> Option<()> {
        match terminator {
            Terminator::Jump(target) => self.jump_unless_next(number, *target),
            Terminator::Brif { cond, then, otherwise } => {
                let (then_label, otherwise_label) = (self.blocks[then.0 as usize], self.blocks[otherwise.0 as usize]);
                self.branch(*cond, then_label, otherwise_label)?;
                self.jump_unless_next(number, *otherwise);
            }
            Terminator::Switch { value, targets, default } => {
                let value = self.value(*value);
                self.switch(value, targets, *default);
            }
            Terminator::Ret(value) => self.ret(*value)?,
            Terminator::TailCall { target, sig, args } => self.tail_call(target, sig, args)?,
            Terminator::Throw(value) => self.throw(HelperId::Throw, self.value(*value)),
            Terminator::Rethrow(value) => self.throw(HelperId::Rethrow, self.value(*value)),
            Terminator::ResumeUnwind { clause } => self.resume_unwind(*clause)?,
            Terminator::Unreachable => self.trap_here(trap::UNREACHABLE),
            Terminator::EndFilter(value) => self.end_filter(*value),
        }
        Some(())
    }

    fn jump_unless_next(&mut self, number: usize, target: BlockId) {
        if target.0 as usize != number + 1 {
            self.masm.jump(self.blocks[target.0 as usize]);
        }
    }

    fn ret(&mut self, value: Option<ValueId>) -> Option<()> {
        self.free_localloc();
        match (self.func.sig.ret, value) {
            (Some(IrType::Struct(ty)), Some(value)) if is_by_address(IrType::Struct(ty)) => {
                let slot = self.struct_result?;
                self.copy_struct_result(self.value(value), slot, value_layout(ty).ok()?)?;
            }
            (Some(ret), Some(value))
                if let Some(mem) = ret.vector()
                    && !self.is_vector(value) =>
            {
                let value = self.value(value);
                let address = self.use_register(value);
                self.load_vector(M::FLOAT_RESULT, Address::new(address, 0), mem);
            }
            (_, Some(value)) => {
                if let Some(ty) = result_type(&self.func.sig) {
                    self.move_to(value, if ty.is_float() { M::FLOAT_RESULT } else { M::RESULT });
                }
            }
            (_, None) => {}
        }
        self.leave();
        Some(())
    }

    /// A filter's answer.
    fn end_filter(&mut self, answer: ValueId) {
        self.move_to(answer, M::RESULT);
        self.leave();
    }

    /// Finds the target by halving.
    fn switch(&mut self, value: Value, targets: &[BlockId], default: BlockId) {
        let register = self.use_register(value);
        let default = self.blocks[default.0 as usize];
        if let Ok(count) = i32::try_from(targets.len()) {
            let ty = self.machine_of(value);
            self.masm.jump_if(Relation::GreaterOrEqualUnsigned, ty, register, RegImm::Imm(count), default, None);
            self.switch_part(value, register, targets, 0);
        }
        self.masm.jump(default);
        self.registers.release(value);
    }

    /// Jumps to the target of the value, which is among those from number `first` on.
    fn switch_part(&mut self, value: Value, register: Reg, targets: &[BlockId], first: i32) {
        let ty = self.machine_of(value);
        if targets.len() <= LINEAR_TARGETS {
            for (index, target) in targets.iter().enumerate() {
                let label = self.blocks[target.0 as usize];
                let number = RegImm::Imm(first + index as i32);
                self.masm.jump_if(Relation::Equal, ty, register, number, label, None);
            }
            return;
        }
        let (low, high) = targets.split_at(targets.len() / 2);
        let middle = first + low.len() as i32;
        let upper: Label = self.masm.label();
        self.masm.jump_if(Relation::GreaterOrEqualUnsigned, ty, register, RegImm::Imm(middle), upper, None);
        self.switch_part(value, register, low, first);
        self.masm.bind(upper);
        self.switch_part(value, register, high, middle);
    }
}
