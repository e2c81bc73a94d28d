//! Objects, arrays, localloc.
//!
//! Small objects are allocated in line, as `abi::heap` says: the thread's buffer is zeroed memory, so an allocation
//! moves the cursor, stores the vtable and sets the valid-object bit.

use super::clif_builder::MemoryKind;
use super::context::Lowering;
use crate::error::CompileError;
use crate::error::Lowered;
use crate::type_facts::ValueLayout;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value, types};
use saki_abi::object::{
    ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET, OBJECT_VTABLE_OFFSET, STRING_CHARS_OFFSET, STRING_LENGTH_OFFSET,
};
use saki_abi::thread::{THREAD_STUB_ARG_OFFSET, THREAD_STUB_RESULT_OFFSET};
use saki_abi::{HelperId, StubId};
use saki_il::ir::{BlockId, Op, Symbol, ValueId};
use saki_types::{Ty, universe};

const UTF16_BYTES: i64 = 2;
/// `localloc`s of a constant size up to this are stack slots.
const STACK_LOCALLOC_BYTES: i64 = 4096;
/// Room in the frame for each `localloc` of a size that is not constant or too large, used if it suffices; formatting a
/// number needs less.
const SMALL_LOCALLOC_BYTES: u32 = 128;

pub(super) fn new_object(cx: &mut Lowering<'_, '_>, ty: Ty) -> Lowered<Value> {
    let size = i64::from(ty.instance_size_bytes()?.next_multiple_of(8));
    let vtable = cx.symbol_address(Symbol::VTable(ty));
    if size > max_inline_bytes(cx) || ty.finalizer()?.is_some() {
        let object = cx.call_helper(HelperId::NewObject, &[vtable]).expect("NewObject has a result");
        cx.facts.note_not_null(object);
        return Ok(object);
    }
    let slow = cx.new_block(true);
    let next = cx.new_block(false);
    let result = cx.b.append_block_param(next, types::I64);
    let size = cx.i64_const(size);
    let object = bump(cx, size, vtable, slow);
    cx.jump_clif(next, &[object]);
    cx.continue_in(slow);
    cx.set_thread_word(THREAD_STUB_ARG_OFFSET, vtable);
    cx.call_preserving_stub(StubId::AllocSlow);
    cx.throw_if_pending();
    let object = cx.thread_word(THREAD_STUB_RESULT_OFFSET);
    cx.jump_clif(next, &[object]);
    cx.continue_in(next);
    cx.facts.note_not_null(result);
    Ok(result)
}

/// Greatest size of an object that is allocated in line.
fn max_inline_bytes(cx: &Lowering<'_, '_>) -> i64 {
    i64::from(cx.options.heap.max_inline_bytes)
}

/// Allocates an object of `size` bytes (a multiple of 8) from the thread's buffer; branches to `slow` when the buffer
/// is too short.
fn bump(cx: &mut Lowering<'_, '_>, size: Value, vtable: Value, slow: ClifBlock) -> Value {
    let heap = &cx.options.heap;
    let thread = cx.thread();
    let flags = cx.trusted(MemoryKind::Thread);
    let cursor = cx.b.ins().load(types::I64, flags, thread, heap.alloc_cursor_offset);
    let limit = cx.b.ins().load(types::I64, flags, thread, heap.alloc_limit_offset);
    let end = cx.b.ins().iadd(cursor, size);
    let fits = cx.new_block(false);
    let full = if cx.options.stress_allocation {
        cx.i32_const(1)
    } else {
        cx.b.ins().icmp(IntCC::UnsignedGreaterThan, end, limit)
    };
    cx.branch(full, slow, fits);
    cx.continue_in(fits);
    cx.b.ins().store(flags, end, thread, heap.alloc_cursor_offset);
    let word = cx.trusted(MemoryKind::VTableWord);
    cx.b.ins().store(word, vtable, cursor, OBJECT_VTABLE_OFFSET);
    let (byte_address, bit) = cx.bit_of(thread, heap.valid_object_bits, cursor);
    let one = cx.i32_const(1);
    let mask = cx.b.ins().ishl(one, bit);
    let side = cx.trusted(MemoryKind::SideMetadata);
    let byte = cx.b.ins().uload8(types::I32, side, byte_address, 0);
    let byte = cx.b.ins().bor(byte, mask);
    cx.b.ins().istore8(side, byte, byte_address, 0);
    cursor
}

pub(super) fn new_array(cx: &mut Lowering<'_, '_>, ty: Ty, length_id: ValueId) -> Lowered<Value> {
    let Some(element) = ty.element().filter(|_| ty.is_sz_array()) else {
        return Err(CompileError::invalid_ir("NewArray of a type that is no vector"));
    };
    let element_size = i64::from(element.value_size_bytes()?);
    let vtable = cx.symbol_address(Symbol::VTable(ty));
    let length = cx.value_as(length_id, types::I64)?;
    let room = max_inline_bytes(cx) - i64::from(ARRAY_DATA_OFFSET);
    let greatest_inline = if element_size == 0 { 0 } else { room / element_size };
    let known = cx.constant(length_id);
    if known.is_some_and(|n| !(0..=greatest_inline).contains(&n)) || greatest_inline < 4 {
        let array = cx.call_helper(HelperId::NewSzArray, &[vtable, length]).expect("NewSzArray has a result");
        cx.facts.note_not_null(array);
        return Ok(array);
    }
    let slow = cx.new_block(true);
    let next = cx.new_block(false);
    let result = cx.b.append_block_param(next, types::I64);
    let size = match known {
        Some(n) => {
            let size = (i64::from(ARRAY_DATA_OFFSET) + n * element_size + 7) & !7;
            cx.i64_const(size)
        }
        None => {
            let small = cx.new_block(false);
            let too_long = cx.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, length, greatest_inline);
            cx.branch(too_long, slow, small);
            cx.continue_in(small);
            let bytes = cx.b.ins().imul_imm_s(length, element_size);
            let padded = cx.b.ins().iadd_imm_s(bytes, i64::from(ARRAY_DATA_OFFSET) + 7);
            cx.b.ins().band_imm_s(padded, -8)
        }
    };
    let array = bump(cx, size, vtable, slow);
    let short = cx.b.ins().ireduce(types::I32, length);
    let flags = cx.trusted(MemoryKind::Length);
    cx.b.ins().store(flags, short, array, ARRAY_LENGTH_OFFSET);
    cx.jump_clif(next, &[array]);
    cx.continue_in(slow);
    let array = cx.call_helper(HelperId::NewSzArray, &[vtable, length]).expect("NewSzArray has a result");
    cx.jump_clif(next, &[array]);
    cx.continue_in(next);
    cx.facts.note_not_null(result);
    // A length outside i32 has thrown by now.
    let length = cx.value(length_id)?;
    if cx.type_of(length) == types::I32 {
        cx.facts.note_length(result, length);
    }
    Ok(result)
}

pub(super) fn new_string(cx: &mut Lowering<'_, '_>, length_id: ValueId) -> Lowered<Value> {
    let ty = universe().string();
    let vtable = cx.symbol_address(Symbol::VTable(ty));
    let length = cx.value_as(length_id, types::I32)?;
    let slow = cx.new_block(true);
    let next = cx.new_block(false);
    let small = cx.new_block(false);
    let result = cx.b.append_block_param(next, types::I64);
    // Unsigned comparison: negative lengths are left to the helper, too.
    let greatest_inline = (max_inline_bytes(cx) - i64::from(STRING_CHARS_OFFSET)) / UTF16_BYTES - 1;
    let too_long = cx.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, length, greatest_inline);
    cx.branch(too_long, slow, small);
    cx.continue_in(small);
    let units = cx.b.ins().uextend(types::I64, length);
    let bytes = cx.b.ins().imul_imm_s(units, UTF16_BYTES);
    // With the terminating zero, which strings always have.
    let padded = cx.b.ins().iadd_imm_s(bytes, i64::from(STRING_CHARS_OFFSET) + UTF16_BYTES + 7);
    let size = cx.b.ins().band_imm_s(padded, -8);
    let string = bump(cx, size, vtable, slow);
    let flags = cx.trusted(MemoryKind::Length);
    cx.b.ins().store(flags, length, string, STRING_LENGTH_OFFSET);
    cx.jump_clif(next, &[string]);
    cx.continue_in(slow);
    let string = cx.call_helper(HelperId::NewString, &[length]).expect("NewString has a result");
    cx.jump_clif(next, &[string]);
    cx.continue_in(next);
    cx.facts.note_not_null(result);
    Ok(result)
}

pub(super) fn localloc(cx: &mut Lowering<'_, '_>, bytes_id: ValueId, zero: bool) -> Lowered<Value> {
    if let Some(bytes) = cx.constant(bytes_id)
        && (0..=STACK_LOCALLOC_BYTES).contains(&bytes)
        && !in_loop(cx, cx.block())
    {
        let layout = ValueLayout::plain(bytes as u32, 16);
        let slot = cx.slot(layout);
        let address = cx.b.ins().stack_addr(types::I64, slot, 0);
        if zero {
            cx.zero_memory(address, layout);
        }
        return Ok(address);
    }
    let bytes = cx.value(bytes_id)?;
    let bytes = if cx.type_of(bytes) == types::I32 { cx.b.ins().uextend(types::I64, bytes) } else { bytes };
    if in_loop(cx, cx.block()) {
        return Ok(cx.localloc_outside(bytes));
    }
    // Small blocks get memory in the frame.
    let layout = ValueLayout::plain(SMALL_LOCALLOC_BYTES, 16);
    let slot = cx.slot(layout);
    let (small, large, next) = (cx.new_block(false), cx.new_block(true), cx.new_block(false));
    let result = cx.b.append_block_param(next, types::I64);
    let is_large = cx.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, bytes, i64::from(SMALL_LOCALLOC_BYTES));
    cx.branch(is_large, large, small);
    cx.continue_in(small);
    let address = cx.b.ins().stack_addr(types::I64, slot, 0);
    if zero {
        cx.zero_memory(address, layout);
    }
    let none = cx.i64_const(0);
    let address = cx.b.ins().select(bytes, address, none);
    cx.jump_clif(next, &[address]);
    cx.continue_in(large);
    let address = cx.localloc_outside(bytes);
    cx.jump_clif(next, &[address]);
    cx.continue_in(next);
    Ok(result)
}

/// Before the body: makes the word that tells whether there is memory outside the frame.
pub(super) fn declare_localloc(cx: &mut Lowering<'_, '_>) {
    if has_dynamic_localloc(cx) {
        cx.declare_localloc_flag();
    }
}

/// Whether some `localloc` may take memory outside the frame.
fn has_dynamic_localloc(cx: &Lowering<'_, '_>) -> bool {
    cx.flow().order.iter().any(|&block| {
        cx.func().blocks[block.0 as usize].insts.iter().any(|inst| match cx.inst(*inst) {
            Some(inst) => match inst.op {
                Op::LocAlloc { bytes, .. } => {
                    !cx.constant(bytes).is_some_and(|n| (0..=STACK_LOCALLOC_BYTES).contains(&n)) || in_loop(cx, block)
                }
                _ => false,
            },
            None => false,
        })
    })
}

/// Whether `block` is in a loop.
fn in_loop(cx: &Lowering<'_, '_>, block: BlockId) -> bool {
    let mut seen = vec![false; cx.func().blocks.len()];
    let mut stack = crate::cfg::targets(&cx.func().blocks[block.0 as usize].terminator);
    while let Some(next) = stack.pop() {
        if next == block {
            return true;
        }
        if !std::mem::replace(&mut seen[next.0 as usize], true) {
            let next = &cx.func().blocks[next.0 as usize];
            stack.extend(crate::cfg::targets(&next.terminator));
            let handlers = cx.flow().handlers_of(next.region);
            stack.extend(handlers.iter().map(|&c| cx.func().clauses[c as usize].handler));
        }
    }
    false
}
