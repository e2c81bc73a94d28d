//! The write barrier of reference stores.

use super::clif_builder::MemoryKind;
use super::context::Lowering;
use crate::destination::{self, Destination};
use crate::error::Lowered;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use saki_abi::thread::THREAD_STUB_ARG_OFFSET;
use saki_abi::{HelperId, StubId};
use saki_il::ir::ValueId;

/// The barrier for a reference that was stored at `addr` by other means than `store_ref`.
pub(super) fn barrier_after(cx: &mut Lowering<'_, '_>, addr: ValueId, address: Value, stored: ValueId) -> Lowered {
    if cx.constant(stored) == Some(0) {
        return Ok(());
    }
    match destination(cx, addr) {
        Destination::Private | Destination::Root => {}
        Destination::Object(object) => {
            let object = cx.value_as(object, types::I64)?;
            barrier(cx, object);
        }
        Destination::Unknown => {
            cx.call_helper_nothrow(HelperId::BarrierUnknown, &[address]);
        }
    }
    Ok(())
}

/// The destination to which an address belongs, as far as its computation shows.
pub(super) fn destination(cx: &Lowering<'_, '_>, addr: ValueId) -> Destination {
    destination::of_address(cx.func(), addr, |local| cx.is_in_frame(local))
}

/// After a reference store: objects whose log bit is set must be remembered.
pub(super) fn barrier(cx: &mut Lowering<'_, '_>, object: Value) {
    let slow = cx.new_block(true);
    let next = cx.new_block(false);
    if cx.options.stress_barrier {
        cx.jump_clif(slow, &[]);
    } else {
        let unlogged_bits = cx.options.heap.unlogged_bits;
        let thread = cx.thread();
        let (byte_address, bit) = cx.bit_of(thread, unlogged_bits, object);
        let flags = cx.trusted(MemoryKind::SideMetadata);
        // Mostly no object in reach of the byte has its bit set, so the bit is singled out elsewhere.
        let byte = cx.b.ins().uload8(types::I32, flags, byte_address, 0);
        let look = cx.new_block(true);
        cx.branch(byte, look, next);
        cx.continue_in(look);
        let shifted = cx.b.ins().ushr(byte, bit);
        let logged = cx.b.ins().band_imm_s(shifted, 1);
        cx.branch(logged, slow, next);
    }
    cx.continue_in(slow);
    cx.set_thread_word(THREAD_STUB_ARG_OFFSET, object);
    cx.call_preserving_stub(StubId::BarrierSlow);
    cx.jump_clif(next, &[]);
    cx.continue_in(next);
}
