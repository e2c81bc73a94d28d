//! Calls of C functions for which the thread leaves managed state (`ir::Transition`).
//!
//! They go through `StubId::CallNative` and its like, whose frame lies between this one and the function's. Where there
//! are too many arguments in memory to be copied below that frame, helpers leave managed state before the call and come
//! back after it. Left out: what is passed where (`native`).

use super::clif_builder::Callee;
use super::context::Lowering;
use crate::error::Lowered;
use crate::struct_classes::{NativeDoor, native_door};
use crate::symbols::RelocTarget;
use cranelift_codegen::ir::{InstBuilder, Signature, Value, types};
use saki_abi::HelperId;
use saki_abi::thread::THREAD_STUB_ARG_OFFSET;
use saki_il::ir::{CallSig, Transition};

/// A call of a C function whose arguments are at hand.
pub(super) struct NativeCall<'a> {
    pub code: Value,
    pub sig: &'a CallSig,
    pub signature: Signature,
    pub values: &'a [Value],
}

impl NativeCall<'_> {
    /// Makes the call; its machine results. An exception that waits for the thread's return is thrown.
    pub(super) fn make(self, cx: &mut Lowering<'_, '_>, transition: Transition) -> Lowered<Vec<Value>> {
        match native_door(cx.native_abi(), transition, self.sig)? {
            NativeDoor::None => return Ok(self.call_function(cx)),
            NativeDoor::Stub { stub, memory_bytes } => {
                cx.set_thread_word(THREAD_STUB_ARG_OFFSET, self.code);
                if memory_bytes != 0 {
                    let bytes = cx.b.ins().iconst(types::I64, i64::from(memory_bytes));
                    cx.set_thread_word(THREAD_STUB_ARG_OFFSET + 8, bytes);
                }
                let function = cx.function(RelocTarget::Stub(stub), self.signature);
                let results = all_results(cx, Callee::Function(function), self.values);
                cx.throw_if_pending_then(false);
                return Ok(results);
            }
            NativeDoor::Helpers => {}
        }
        cx.call_helper_nothrow(HelperId::EnterNative, &[]);
        let results = self.call_function(cx);
        if transition == Transition::LeaveSavingError {
            cx.call_helper_nothrow(HelperId::SaveLastError, &[]);
        }
        cx.call_helper(HelperId::LeaveNative, &[]);
        Ok(results)
    }

    /// No unwinding through C: exceptions of callbacks stop before it.
    fn call_function(self, cx: &mut Lowering<'_, '_>) -> Vec<Value> {
        cx.record_exit_frame();
        let signature = cx.sig_ref(self.signature);
        all_results(cx, Callee::Address(signature, self.code), self.values)
    }
}

fn all_results(cx: &mut Lowering<'_, '_>, callee: Callee, values: &[Value]) -> Vec<Value> {
    let inst = match callee {
        Callee::Function(function) => cx.b.ins().call(function, values),
        Callee::Address(signature, code) => cx.b.ins().call_indirect(signature, code, values),
    };
    cx.b.inst_results(inst).to_vec()
}
