//! Stack slots, and their reuse for copies of struct arguments.

use crate::type_facts::ValueLayout;
use cranelift_codegen::ir::{StackSlot, StackSlotData, StackSlotKey, StackSlotKind};
use cranelift_frontend::FunctionBuilder;

/// Stack slots for copies of struct arguments; free again after the call.
#[derive(Default)]
pub(super) struct ArgumentSlots {
    free: Vec<(ValueLayout, StackSlot)>,
    used: Vec<(ValueLayout, StackSlot)>,
}

impl ArgumentSlots {
    pub(super) fn take(&mut self, b: &mut FunctionBuilder<'_>, layout: ValueLayout) -> StackSlot {
        let fits = |known: &ValueLayout| {
            known.align_bytes >= layout.align_bytes
                && known.size_bytes.next_multiple_of(8) == layout.size_bytes.next_multiple_of(8)
        };
        let found = self.free.iter().position(|(known, _)| fits(known));
        let temp = match found {
            Some(index) => self.free.swap_remove(index),
            None => (layout, without_key(b, layout)),
        };
        self.used.push(temp);
        temp.1
    }

    pub(super) fn release(&mut self) {
        self.free.append(&mut self.used);
    }
}

pub(super) fn with_key(b: &mut FunctionBuilder<'_>, layout: ValueLayout, key: StackSlotKey) -> StackSlot {
    b.create_sized_stack_slot(StackSlotData::new_with_key(
        StackSlotKind::ExplicitSlot,
        layout.size_bytes.max(1).next_multiple_of(8),
        align_shift(layout),
        key,
    ))
}

pub(super) fn without_key(b: &mut FunctionBuilder<'_>, layout: ValueLayout) -> StackSlot {
    b.create_sized_stack_slot(StackSlotData::new(
        StackSlotKind::ExplicitSlot,
        layout.size_bytes.max(1).next_multiple_of(8),
        align_shift(layout),
    ))
}

fn align_shift(layout: ValueLayout) -> u8 {
    // References on the stack must be on word boundaries: conservative scanning looks there only.
    layout.align_bytes.next_power_of_two().max(8).trailing_zeros() as u8
}
