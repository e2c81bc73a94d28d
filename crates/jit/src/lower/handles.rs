//! `GCHandle.GetTarget` in line, and `FreeHandle`.
//!
//! The class libraries declare a handle as an int or as a native int; a native int with more than 32 bits is not a
//! handle.
//!
//! The table and its slots are `sync::handle_table`'s; this code is its function `target` for a live handle with an
//! object. For a number that is no handle, a stale handle, and a null or expired target it calls the Rust function,
//! which tells them apart; the exception for the first two is thrown from here. The load of the slot is plain on
//! x86-64: the loads of what it refers to depend on the address that it returns, which orders them; elsewhere it is an
//! atomic load. Left out: allocating and freeing in line.
//!
//! Cost: 1.1 ns in a loop that does nothing else (3.5 cycles, 17 instructions, of which the class library's test for 0
//! and the loop with its poll are seven). A runtime whose handle is the slot's address, without any check, needs one
//! load: 0.3 ns. Here two shifts extract the slot's number and the generation, and two exclusive ors and a test compare
//! generation and tags at once; in return, a stale handle raises an exception instead of yielding another object.

use super::clif_builder::Callee;
use super::clif_builder::MemoryKind;
use super::context::Lowering;
use crate::error::Lowered;
use crate::symbols::RelocTarget;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, MemFlagsData, Signature, Type, Value, types};
use cranelift_codegen::isa::CallConv;
use saki_abi::thread::THREAD_HANDLE_SLOTS_OFFSET;
use saki_abi::{HelperId, handle as layout};
use saki_il::ir::{Symbol, ValueId};
use saki_types::Method;

/// The object of the handle, or null.
pub(super) fn handle_target(cx: &mut Lowering<'_, '_>, method: &'static Method, handle: ValueId) -> Lowered<Value> {
    let handle = cx.value(handle)?;
    let slow = cx.new_block(true);
    let done = cx.new_block(false);
    let result = cx.b.append_block_param(done, types::I64);
    if !cx.options.inline_handles {
        cx.b.ins().jump(slow, &[]);
        handle_target_out_of_line(cx, method, handle, slow, done);
        return Ok(result);
    }
    let thread = cx.thread();
    let flags = cx.constant_word(MemoryKind::Thread);
    let slots = cx.b.ins().load(types::I64, flags, thread, THREAD_HANDLE_SLOTS_OFFSET);

    // The lowest 32 bits of a native int alone choose the slot, which is inside the table then.
    let is_native = cx.b.func.dfg.value_type(handle) == types::I64;
    let narrow = if is_native { cx.b.ins().ireduce(types::I32, handle) } else { handle };
    let wide = cx.b.ins().uextend(types::I64, narrow);
    let number = cx.b.ins().ushr_imm_u(wide, i64::from(layout::SLOT_SHIFT));
    let offset = cx.b.ins().ishl_imm_u(number, 3);
    let slot = cx.b.ins().iadd(slots, offset);
    // The slot is written by other threads: its load has no alias region and must not be moved.
    let flags = MemFlagsData::trusted();
    let word = if cx.is_aarch64() {
        cx.b.ins().atomic_load(types::I64, flags, slot)
    } else {
        cx.b.ins().load(types::I64, flags, slot, 0)
    };
    // The handle's lowest bits are the generation.
    let generation = cx.b.ins().ishl_imm_u(wide, i64::from(layout::GENERATION_SHIFT));
    let object = cx.b.ins().bxor(word, generation);
    let object = cx.b.ins().bxor_imm_s(object, layout::LIVE as i64);
    let mut foreign = cx.b.ins().band_imm_s(object, (layout::GENERATION_MASK | layout::LIVE) as i64);
    if is_native {
        let upper = cx.b.ins().bxor(handle, wide);
        foreign = cx.b.ins().bor(foreign, upper);
    }
    cx.b.ins().brif(foreign, slow, &[], done, &[object.into()]);
    handle_target_out_of_line(cx, method, handle, slow, done);
    Ok(result)
}

/// In block `slow`, calls the Rust function; continues in `done`, whose parameter is the object.
fn handle_target_out_of_line(
    cx: &mut Lowering<'_, '_>,
    method: &'static Method,
    handle: Value,
    slow: Block,
    done: Block,
) {
    cx.continue_in(slow);
    let found = handle_function(cx, method, handle, types::I64);
    let is_stale = cx.b.ins().icmp_imm_u(IntCC::Equal, found, layout::STALE_TARGET as i64);
    let stale = cx.new_block(true);
    cx.b.ins().brif(is_stale, stale, &[], done, &[found.into()]);
    cx.continue_in(stale);
    cx.call_helper_noreturn(HelperId::ThrowStaleHandle, &[]);
    cx.continue_in(done);
}

/// Frees the handle; throws if there is no such handle.
pub(super) fn handle_free(cx: &mut Lowering<'_, '_>, method: &'static Method, handle: ValueId) -> Lowered {
    let handle = cx.value(handle)?;
    let is_freed = handle_function(cx, method, handle, types::I32);
    let stale = cx.new_block(true);
    let done = cx.new_block(false);
    cx.branch(is_freed, done, stale);
    cx.continue_in(stale);
    cx.call_helper_noreturn(HelperId::ThrowStaleHandle, &[]);
    cx.continue_in(done);
    Ok(())
}

/// Calls the Rust function, which neither throws nor allocates.
fn handle_function(cx: &mut Lowering<'_, '_>, method: &'static Method, handle: Value, result: Type) -> Value {
    let mut signature = Signature::new(CallConv::SystemV);
    let number = cx.b.func.dfg.value_type(handle);
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(number)]);
    signature.returns.push(AbiParam::new(result));
    let function = cx.function(RelocTarget::Symbol(Symbol::InternalCall(method)), signature);
    let thread = cx.thread();
    cx.call_unprotected(Callee::Function(function), &[thread, handle]).expect("it has a result")
}
