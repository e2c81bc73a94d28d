//! Filters: functions of their own, which find the locals of their method in its frame.

use super::context::Emitter;
use super::registers::Registers;
use super::types::is_by_address;
use crate::symbols::RelocTarget;
use saki_code::masm::{Address, MachineType, MacroAssembler, MemoryAccess};
use saki_il::ir::{Function, LocalId, LocalKind, ValueId};

/// Where the locals of a method with filters are.
pub(super) struct ParentFrame {
    /// By local: the offset from the frame pointer, if it is in memory, and whether its address is there in its place.
    places: Vec<Option<(i32, bool)>>,
}

impl ParentFrame {
    /// The frame of the function that has just been emitted.
    pub(super) fn new(func: &Function, registers: &Registers) -> ParentFrame {
        let slots = registers.local_slots().iter().zip(&func.locals);
        let is_indirect = |kind, ty| matches!(kind, LocalKind::Param(_)) && is_by_address(ty);
        let places = slots.map(|(slot, local)| slot.map(|slot| (slot, is_indirect(local.kind, local.ty)))).collect();
        ParentFrame { places }
    }

    fn place(&self, local: LocalId) -> Option<(i32, bool)> {
        self.places.get(local.0 as usize).copied().flatten()
    }
}

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
