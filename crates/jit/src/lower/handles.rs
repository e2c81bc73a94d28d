//! `GCHandle.GetTarget` in line.
//!
//! The table and its slots are `sync::handle_table`'s; this is its `target` for a live handle with an object. A number that is
//! no handle, a stale one, and a null or expired target go to the Rust function. The slot's load has no ordering of its own:
//! what it leads to is reached through the address it gives, which x86-64 orders; elsewhere it is an atomic load. Left out:
//! allocating and freeing.

use super::calls::Callee;
use super::{Lowered, Lowering, MemoryKind};
use crate::symbols::RelocTarget;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature, Value, types};
use cranelift_codegen::isa::CallConv;
use saki_abi::thread::THREAD_HANDLE_TABLE_OFFSET;
use saki_il::ir::{Symbol, ValueId};
use saki_sync::handle_table::layout;
use saki_types::Method;

impl Lowering<'_, '_> {
    /// Object of the handle, null if it has none.
    pub(super) fn handle_target(&mut self, method: &'static Method, handle: ValueId) -> Lowered<Value> {
        let handle = self.value_as(handle, types::I32)?;
        let thread = self.thread();
        let flags = self.constant_word(MemoryKind::Thread);
        let table = self.b.ins().load(types::I64, flags, thread, THREAD_HANDLE_TABLE_OFFSET);
        let slow = self.new_block(true);
        let done = self.new_block(false);
        let result = self.b.append_block_param(done, types::I64);

        let wide = self.b.ins().uextend(types::I64, handle);
        let kind = self.b.ins().band_imm_s(wide, i64::from(layout::KIND_MASK));
        let of_kind = self.b.ins().imul_imm_s(kind, layout::KIND_BYTES as i64);
        let of_kind = self.b.ins().iadd(table, of_kind);
        let index = self.b.ins().ushr_imm_u(wide, i64::from(layout::HANDLE_INDEX_SHIFT));
        let scaled = self.b.ins().ushr_imm_u(wide, i64::from(layout::HANDLE_INDEX_SHIFT + layout::FIRST_BUCKET_SHIFT));
        let scaled = self.b.ins().iadd_imm_s(scaled, 1);
        let zeros = self.b.ins().clz(scaled);
        // 63 - zeros: the result of `clz` is below 64.
        let bucket = self.b.ins().bxor_imm_s(zeros, 63);
        let place = self.b.ins().ishl_imm_u(bucket, 3);
        let place = self.b.ins().iadd(of_kind, place);
        // Written by other threads: of no alias region, and not to be moved.
        let flags = MemFlagsData::trusted();
        let base = self.b.ins().load(types::I64, flags, place, 0);
        let there = self.new_block(false);
        self.branch(base, there, slow);

        self.continue_in(there);
        let first = self.b.ins().iconst(types::I64, 1 << layout::FIRST_BUCKET_SHIFT);
        let skipped = self.b.ins().ishl(first, bucket);
        let offset = self.b.ins().isub(index, skipped);
        let offset = self.b.ins().ishl_imm_u(offset, 3);
        let slot = self.b.ins().iadd(base, offset);
        let slot = self.b.ins().iadd_imm_s(slot, 8 << layout::FIRST_BUCKET_SHIFT);
        let word = if self.is_aarch64() {
            self.b.ins().atomic_load(types::I64, flags, slot)
        } else {
            self.b.ins().load(types::I64, flags, slot, 0)
        };
        let generation = i64::from(layout::GENERATION_SHIFT - layout::HANDLE_GENERATION_SHIFT);
        let generation = self.b.ins().ishl_imm_u(wide, generation);
        let generation = self.b.ins().band_imm_s(generation, layout::GENERATION_MASK as i64);
        let object = self.b.ins().bxor(word, generation);
        let object = self.b.ins().bxor_imm_s(object, layout::LIVE as i64);
        let foreign = self.b.ins().band_imm_s(object, (layout::GENERATION_MASK | layout::LIVE) as i64);
        self.b.ins().brif(foreign, slow, &[], done, &[object.into()]);

        self.continue_in(slow);
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I32)]);
        signature.returns.push(AbiParam::new(types::I64));
        let function = self.function(RelocTarget::Symbol(Symbol::InternalCall(method)), signature);
        let found = self.call_unprotected(Callee::Function(function), &[thread, handle]);
        self.jump_clif(done, &[found.expect("GetTarget has a result")]);
        self.continue_in(done);
        Ok(result)
    }
}
