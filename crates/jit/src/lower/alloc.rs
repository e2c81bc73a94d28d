//! Objects, arrays, localloc.
//!
//! Small objects are allocated in line, as `abi::heap` says: the thread's buffer is zeroed memory, so an allocation moves the cursor,
//! stores the vtable and sets the valid-object bit.

use super::{Lowered, Lowering, MemoryKind};
use crate::error::CompileError;
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
/// Room in the frame for each `localloc` of a size that is not constant or too large, used if it suffices; formatting a number needs less.
const SMALL_LOCALLOC_BYTES: u32 = 128;

impl Lowering<'_, '_> {
    pub(super) fn new_object(&mut self, ty: Ty) -> Lowered<Value> {
        let size = i64::from(ty.instance_size_bytes()?.next_multiple_of(8));
        let vtable = self.symbol_address(Symbol::VTable(ty));
        if size > self.max_inline_bytes() || ty.finalizer()?.is_some() {
            let object = self.call_helper(HelperId::NewObject, &[vtable]).expect("NewObject has a result");
            self.note_not_null(object);
            return Ok(object);
        }
        let slow = self.new_block(true);
        let next = self.new_block(false);
        let result = self.b.append_block_param(next, types::I64);
        let size = self.i64_const(size);
        let object = self.bump(size, vtable, slow);
        self.jump_clif(next, &[object]);
        self.continue_in(slow);
        self.set_thread_word(THREAD_STUB_ARG_OFFSET, vtable);
        self.call_preserving_stub(StubId::AllocSlow);
        self.throw_if_pending();
        let object = self.thread_word(THREAD_STUB_RESULT_OFFSET);
        self.jump_clif(next, &[object]);
        self.continue_in(next);
        self.note_not_null(result);
        Ok(result)
    }

    /// Greatest size of an object that is allocated in line.
    fn max_inline_bytes(&self) -> i64 {
        i64::from(self.options.heap.max_inline_bytes)
    }

    /// Allocates an object of `size` bytes (a multiple of 8) from the thread's buffer; branches to `slow` when the buffer is too short.
    fn bump(&mut self, size: Value, vtable: Value, slow: ClifBlock) -> Value {
        let thread = self.thread();
        let flags = self.trusted(MemoryKind::Thread);
        let cursor = self.b.ins().load(types::I64, flags, thread, self.options.heap.alloc_cursor_offset);
        let limit = self.b.ins().load(types::I64, flags, thread, self.options.heap.alloc_limit_offset);
        let end = self.b.ins().iadd(cursor, size);
        let fits = self.new_block(false);
        let full = if self.options.stress_allocation {
            self.i32_const(1)
        } else {
            self.b.ins().icmp(IntCC::UnsignedGreaterThan, end, limit)
        };
        self.branch(full, slow, fits);
        self.continue_in(fits);
        self.b.ins().store(flags, end, thread, self.options.heap.alloc_cursor_offset);
        let word = self.trusted(MemoryKind::VTableWord);
        self.b.ins().store(word, vtable, cursor, OBJECT_VTABLE_OFFSET);
        let (byte_address, bit) = self.bit_of(thread, self.options.heap.valid_object_bits, cursor);
        let one = self.i32_const(1);
        let mask = self.b.ins().ishl(one, bit);
        let side = self.trusted(MemoryKind::SideMetadata);
        let byte = self.b.ins().uload8(types::I32, side, byte_address, 0);
        let byte = self.b.ins().bor(byte, mask);
        self.b.ins().istore8(side, byte, byte_address, 0);
        cursor
    }

    pub(super) fn new_array(&mut self, ty: Ty, length_id: ValueId) -> Lowered<Value> {
        let Some(element) = ty.element().filter(|_| ty.is_sz_array()) else {
            return Err(CompileError::invalid_ir("NewArray of a type that is no vector"));
        };
        let element_size = i64::from(element.value_size_bytes()?);
        let vtable = self.symbol_address(Symbol::VTable(ty));
        let length = self.value_as(length_id, types::I64)?;
        let room = self.max_inline_bytes() - i64::from(ARRAY_DATA_OFFSET);
        let greatest_inline = if element_size == 0 { 0 } else { room / element_size };
        let known = self.constant(length_id);
        if known.is_some_and(|n| !(0..=greatest_inline).contains(&n)) || greatest_inline < 4 {
            let array = self.call_helper(HelperId::NewSzArray, &[vtable, length]).expect("NewSzArray has a result");
            self.note_not_null(array);
            return Ok(array);
        }
        let slow = self.new_block(true);
        let next = self.new_block(false);
        let result = self.b.append_block_param(next, types::I64);
        let size = match known {
            Some(n) => {
                let size = (i64::from(ARRAY_DATA_OFFSET) + n * element_size + 7) & !7;
                self.i64_const(size)
            }
            None => {
                let small = self.new_block(false);
                let too_long = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, length, greatest_inline);
                self.branch(too_long, slow, small);
                self.continue_in(small);
                let bytes = self.b.ins().imul_imm_s(length, element_size);
                let padded = self.b.ins().iadd_imm_s(bytes, i64::from(ARRAY_DATA_OFFSET) + 7);
                self.b.ins().band_imm_s(padded, -8)
            }
        };
        let array = self.bump(size, vtable, slow);
        let short = self.b.ins().ireduce(types::I32, length);
        let flags = self.trusted(MemoryKind::Length);
        self.b.ins().store(flags, short, array, ARRAY_LENGTH_OFFSET);
        self.jump_clif(next, &[array]);
        self.continue_in(slow);
        let array = self.call_helper(HelperId::NewSzArray, &[vtable, length]).expect("NewSzArray has a result");
        self.jump_clif(next, &[array]);
        self.continue_in(next);
        self.note_not_null(result);
        // A length outside i32 has thrown by now.
        let length = self.value(length_id)?;
        if self.type_of(length) == types::I32 {
            self.note_length(result, length);
        }
        Ok(result)
    }

    pub(super) fn new_string(&mut self, length_id: ValueId) -> Lowered<Value> {
        let ty = universe().string();
        let vtable = self.symbol_address(Symbol::VTable(ty));
        let length = self.value_as(length_id, types::I32)?;
        let slow = self.new_block(true);
        let next = self.new_block(false);
        let small = self.new_block(false);
        let result = self.b.append_block_param(next, types::I64);
        // Unsigned comparison: negative lengths are left to the helper, too.
        let greatest_inline = (self.max_inline_bytes() - i64::from(STRING_CHARS_OFFSET)) / UTF16_BYTES - 1;
        let too_long = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, length, greatest_inline);
        self.branch(too_long, slow, small);
        self.continue_in(small);
        let units = self.b.ins().uextend(types::I64, length);
        let bytes = self.b.ins().imul_imm_s(units, UTF16_BYTES);
        // With the terminating zero, which strings always have.
        let padded = self.b.ins().iadd_imm_s(bytes, i64::from(STRING_CHARS_OFFSET) + UTF16_BYTES + 7);
        let size = self.b.ins().band_imm_s(padded, -8);
        let string = self.bump(size, vtable, slow);
        let flags = self.trusted(MemoryKind::Length);
        self.b.ins().store(flags, length, string, STRING_LENGTH_OFFSET);
        self.jump_clif(next, &[string]);
        self.continue_in(slow);
        let string = self.call_helper(HelperId::NewString, &[length]).expect("NewString has a result");
        self.jump_clif(next, &[string]);
        self.continue_in(next);
        self.note_not_null(result);
        Ok(result)
    }

    pub(super) fn localloc(&mut self, bytes_id: ValueId, zero: bool) -> Lowered<Value> {
        if let Some(bytes) = self.constant(bytes_id)
            && (0..=STACK_LOCALLOC_BYTES).contains(&bytes)
            && !self.in_loop(self.current)
        {
            let layout = ValueLayout { size_bytes: bytes as u32, align_bytes: 16 };
            let slot = self.slot(layout);
            let address = self.b.ins().stack_addr(types::I64, slot, 0);
            if zero {
                self.zero_memory(address, layout);
            }
            return Ok(address);
        }
        let bytes = self.value(bytes_id)?;
        let bytes = if self.type_of(bytes) == types::I32 { self.b.ins().uextend(types::I64, bytes) } else { bytes };
        if self.in_loop(self.current) {
            return Ok(self.localloc_outside(bytes));
        }
        // Small blocks get memory in the frame.
        let layout = ValueLayout { size_bytes: SMALL_LOCALLOC_BYTES, align_bytes: 16 };
        let slot = self.slot(layout);
        let (small, large, next) = (self.new_block(false), self.new_block(true), self.new_block(false));
        let result = self.b.append_block_param(next, types::I64);
        let is_large = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, bytes, i64::from(SMALL_LOCALLOC_BYTES));
        self.branch(is_large, large, small);
        self.continue_in(small);
        let address = self.b.ins().stack_addr(types::I64, slot, 0);
        if zero {
            self.zero_memory(address, layout);
        }
        let none = self.i64_const(0);
        let address = self.b.ins().select(bytes, address, none);
        self.jump_clif(next, &[address]);
        self.continue_in(large);
        let address = self.localloc_outside(bytes);
        self.jump_clif(next, &[address]);
        self.continue_in(next);
        Ok(result)
    }

    /// Allocates zeroed memory outside the frame, which returns must free.
    fn localloc_outside(&mut self, bytes: Value) -> Value {
        if let Some(flag) = self.localloc_flag {
            let one = self.i64_const(1);
            self.store_slot(flag, one);
        }
        let frame = self.b.ins().get_frame_pointer(types::I64);
        self.call_helper(HelperId::LocAlloc, &[bytes, frame]).expect("LocAlloc has a result")
    }

    /// Before the body: makes the word that tells whether there is memory outside the frame.
    pub(super) fn declare_localloc(&mut self) {
        if self.has_dynamic_localloc() {
            let flag = self.slot(ValueLayout { size_bytes: 8, align_bytes: 8 });
            let zero = self.i64_const(0);
            self.store_slot(flag, zero);
            self.localloc_flag = Some(flag);
        }
    }

    /// Whether some `localloc` may take memory outside the frame.
    fn has_dynamic_localloc(&self) -> bool {
        self.flow.order.iter().any(|&block| {
            self.func.blocks[block.0 as usize].insts.iter().any(|inst| match self.func.insts.get(inst.0 as usize) {
                Some(inst) => match inst.op {
                    Op::LocAlloc { bytes, .. } => {
                        !self.constant(bytes).is_some_and(|n| (0..=STACK_LOCALLOC_BYTES).contains(&n))
                            || self.in_loop(block)
                    }
                    _ => false,
                },
                None => false,
            })
        })
    }

    /// Before a return: frees the memory outside the frame.
    pub(super) fn free_localloc(&mut self) {
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

    /// Whether `block` is in a loop.
    fn in_loop(&self, block: BlockId) -> bool {
        let mut seen = vec![false; self.func.blocks.len()];
        let mut stack = crate::cfg::targets(&self.func.blocks[block.0 as usize].terminator);
        while let Some(next) = stack.pop() {
            if next == block {
                return true;
            }
            if !std::mem::replace(&mut seen[next.0 as usize], true) {
                let next = &self.func.blocks[next.0 as usize];
                stack.extend(crate::cfg::targets(&next.terminator));
                let handlers = self.flow.handlers_of(next.region);
                stack.extend(handlers.iter().map(|&c| self.func.clauses[c as usize].handler));
            }
        }
        false
    }
}
