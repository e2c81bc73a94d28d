//! Memory of `localloc` outside the frame: a word of the frame tells whether there is some, which returns must free.

use super::Lowering;
use crate::type_facts::ValueLayout;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use saki_abi::HelperId;

impl Lowering<'_, '_> {
    /// Before the body of a function that may take memory outside the frame: makes the word.
    pub(crate) fn declare_localloc_flag(&mut self) {
        let flag = self.slot(ValueLayout::plain(8, 8));
        let zero = self.i64_const(0);
        self.store_slot(flag, zero);
        self.localloc_flag = Some(flag);
    }

    /// Whether the function may take memory outside the frame.
    pub(crate) fn has_localloc_flag(&self) -> bool {
        self.localloc_flag.is_some()
    }

    /// Allocates zeroed memory outside the frame, which returns must free.
    pub(crate) fn localloc_outside(&mut self, bytes: Value) -> Value {
        if let Some(flag) = self.localloc_flag {
            let one = self.i64_const(1);
            self.store_slot(flag, one);
        }
        let frame = self.b.ins().get_frame_pointer(types::I64);
        self.call_helper(HelperId::LocAlloc, &[bytes, frame]).expect("LocAlloc has a result")
    }

    /// Before a return: frees the memory outside the frame.
    pub(crate) fn free_localloc(&mut self) {
        let Some(flag) = self.localloc_flag else { return };
        let (free, next) = (self.new_block(true), self.new_block(false));
        let is_set = self.load_slot(flag);
        self.branch(is_set, free, next);
        self.continue_in(free);
        let frame = self.b.ins().get_frame_pointer(types::I64);
        self.call_helper_nothrow(HelperId::LocFree, &[frame]);
        self.jump_clif(next, &[]);
        self.continue_in(next);
    }
}
