//! Addresses of thread-static fields.

use super::clif_builder::MemoryKind;
use super::context::Lowering;
use crate::error::Lowered;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use saki_abi::HelperId;
use saki_abi::thread::{THREAD_STATICS_LEN_OFFSET, THREAD_STATICS_OFFSET};
use saki_il::ir::Symbol;
use saki_types::Field;

/// Finds the field through the thread's table of blocks; a helper makes missing blocks.
pub(super) fn thread_static_address(cx: &mut Lowering<'_, '_>, field: &'static Field) -> Lowered<Value> {
    let place = cx.symbol_address(Symbol::ThreadStaticPlace(field));
    let number = cx.b.ins().ireduce(types::I32, place);
    let number = cx.b.ins().uextend(types::I64, number);
    let offset = cx.b.ins().ushr_imm_u(place, i64::from(u32::BITS));
    let slow = cx.new_block(true);
    let (within, found, next) = (cx.new_block(false), cx.new_block(false), cx.new_block(false));
    let result = cx.b.append_block_param(next, types::I64);
    let len = cx.thread_word(THREAD_STATICS_LEN_OFFSET);
    let is_beyond = cx.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, number, len);
    cx.branch(is_beyond, slow, within);
    cx.continue_in(within);
    let table = cx.thread_word(THREAD_STATICS_OFFSET);
    let position = cx.b.ins().ishl_imm_u(number, 3);
    let entry = cx.b.ins().iadd(table, position);
    let flags = cx.trusted(MemoryKind::Thread);
    let block = cx.b.ins().load(types::I64, flags, entry, 0);
    cx.branch(block, found, slow);
    cx.continue_in(found);
    let address = cx.b.ins().iadd(block, offset);
    cx.jump_clif(next, &[address]);
    cx.continue_in(slow);
    let handle = cx.symbol_address(Symbol::FieldHandle(field));
    let address = cx.call_helper(HelperId::ThreadStaticAddress, &[handle]).expect("ThreadStaticAddress has a result");
    cx.jump_clif(next, &[address]);
    cx.continue_in(next);
    Ok(result)
}
