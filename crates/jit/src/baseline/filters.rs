//! Filters: functions of their own, which find the locals of their method in its frame.

use super::context::Emitter;
use crate::symbols::RelocTarget;
use saki_code::masm::{Address, MachineType, MacroAssembler, MemoryAccess};
use saki_il::ir::{LocalId, ValueId};

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    /// Where a local of the method is, by way of the scratch register; None if it is not in memory.
    pub(super) fn parent_place(&mut self, local: LocalId) -> Option<Address> {
        let (offset_bytes, is_indirect) = self.parent?.place(local)?;
        self.load_slot(M::SCRATCH, self.parent_slot?, MachineType::I64);
        let place = Address::new(M::SCRATCH, offset_bytes);
        if !is_indirect {
            return Some(place);
        }
        self.masm.load(MemoryAccess::Whole(MachineType::I64), M::SCRATCH, place);
        Some(Address::new(M::SCRATCH, 0))
    }

    /// The filter's answer.
    pub(super) fn end_filter(&mut self, answer: ValueId) {
        self.move_to(answer, M::RESULT);
        self.leave();
    }
}
