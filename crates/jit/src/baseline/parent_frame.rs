//! What a filter knows of its method's frame.

use super::registers::Registers;
use super::types::is_by_address;
use saki_il::ir::{Function, LocalId, LocalKind};

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

    pub(super) fn place(&self, local: LocalId) -> Option<(i32, bool)> {
        self.places.get(local.0 as usize).copied().flatten()
    }
}
