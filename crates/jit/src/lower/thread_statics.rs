//! Addresses of thread-static fields.

use super::{Lowered, Lowering, MemoryKind};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use saki_abi::HelperId;
use saki_abi::thread::{THREAD_STATICS_LEN_OFFSET, THREAD_STATICS_OFFSET};
use saki_il::ir::Symbol;
use saki_types::Field;

impl Lowering<'_, '_> {
    /// Finds the field through the thread's table of blocks; a helper makes missing blocks.
    pub(super) fn thread_static_address(&mut self, field: &'static Field) -> Lowered<Value> {
        let place = self.symbol_address(Symbol::ThreadStaticPlace(field));
        let number = self.b.ins().ireduce(types::I32, place);
        let number = self.b.ins().uextend(types::I64, number);
        let offset = self.b.ins().ushr_imm_u(place, i64::from(u32::BITS));
        let slow = self.new_block(true);
        let (within, found, next) = (self.new_block(false), self.new_block(false), self.new_block(false));
        let result = self.b.append_block_param(next, types::I64);
        let len = self.thread_word(THREAD_STATICS_LEN_OFFSET);
        let is_beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, number, len);
        self.branch(is_beyond, slow, within);
        self.continue_in(within);
        let table = self.thread_word(THREAD_STATICS_OFFSET);
        let position = self.b.ins().ishl_imm_u(number, 3);
        let entry = self.b.ins().iadd(table, position);
        let flags = self.trusted(MemoryKind::Thread);
        let block = self.b.ins().load(types::I64, flags, entry, 0);
        self.branch(block, found, slow);
        self.continue_in(found);
        let address = self.b.ins().iadd(block, offset);
        self.jump_clif(next, &[address]);
        self.continue_in(slow);
        let handle = self.symbol_address(Symbol::FieldHandle(field));
        let address =
            self.call_helper(HelperId::ThreadStaticAddress, &[handle]).expect("ThreadStaticAddress has a result");
        self.jump_clif(next, &[address]);
        self.continue_in(next);
        Ok(result)
    }
}
