//! Calls that cannot throw, or whose exceptions pass this function by.

use super::ClifBuilder;
use crate::signatures;
use crate::symbols::RelocTarget;
use cranelift_codegen::ir::{AbiParam, FuncRef, InstBuilder, SigRef, Signature, Value, types};
use cranelift_codegen::isa::CallConv;
use saki_abi::thread::THREAD_EXIT_FRAME_OFFSET;
use saki_abi::{HelperId, StubId};
use saki_il::ir::Symbol;

/// The callee of a machine-level call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    Function(FuncRef),
    Address(SigRef, Value),
}

impl ClifBuilder<'_, '_> {
    pub(crate) fn helper_callee(&mut self, helper: HelperId) -> Callee {
        let signature = signatures::helper(helper, CallConv::Tail, false);
        Callee::Function(self.function(RelocTarget::Symbol(Symbol::Helper(helper)), signature))
    }
    /// The callee, called by a signature whose landing pads find the values of callee-saved registers, so that what
    /// handlers need may stay in these. There is one for managed functions that get everything in registers: in such
    /// calls the two conventions agree.
    pub(crate) fn keeping_registers(&mut self, callee: Callee) -> Callee {
        let own = match callee {
            Callee::Function(function) => self.b.func.dfg.ext_funcs[function].signature,
            Callee::Address(signature, _) => signature,
        };
        let abi = self.native_abi();
        let signature = &self.b.func.dfg.signatures[own];
        if !abi.landings_keep_registers || signature.call_conv != CallConv::Tail {
            return callee;
        }
        let is_integer = |param: &&AbiParam| param.value_type.is_int();
        let integers = signature.params.iter().filter(is_integer).count();
        let others = signature.params.len() - integers;
        if integers > abi.integer_registers || others > abi.float_registers || signature.returns.len() > 1 {
            return callee;
        }
        let kept = Signature { call_conv: CallConv::SystemV, ..signature.clone() };
        let kept = self.references.signature(&mut self.b, kept);
        match callee {
            Callee::Function(function) => Callee::Function(self.references.with_signature(&mut self.b, function, kept)),
            Callee::Address(_, code) => Callee::Address(kept, code),
        }
    }

    /// A call that cannot throw, or outside every region.
    pub(crate) fn call_unprotected(&mut self, callee: Callee, args: &[Value]) -> Option<Value> {
        let inst = match callee {
            Callee::Function(function) => self.b.ins().call(function, args),
            Callee::Address(signature, code) => self.b.ins().call_indirect(signature, code, args),
        };
        self.b.inst_results(inst).first().copied()
    }

    /// Calls the thunk of a helper that never throws.
    pub(crate) fn call_helper_nothrow(&mut self, helper: HelperId, args: &[Value]) -> Option<Value> {
        let callee = self.helper_callee(helper);
        self.call_unprotected(callee, args)
    }

    pub(crate) fn stub_function(&mut self, stub: StubId, params: usize, convention: CallConv) -> Callee {
        let mut signature = Signature::new(convention);
        signature.params.extend(std::iter::repeat_n(AbiParam::new(types::I64), params));
        Callee::Function(self.function(RelocTarget::Stub(stub), signature))
    }

    /// Calls a stub that keeps all registers.
    pub(crate) fn call_preserving_stub(&mut self, stub: StubId) {
        let callee = self.stub_function(stub, 0, CallConv::PreserveAll);
        self.call_unprotected(callee, &[]);
    }

    /// `StubId::DemoteLine`.
    pub(crate) fn call_demote_line(&mut self, address: Value) {
        let callee = self.stub_function(StubId::DemoteLine, 1, CallConv::PreserveAll);
        self.call_unprotected(callee, &[address]);
    }

    /// Stores this frame as the exit frame, where stack walks from the callee begin.
    pub(crate) fn record_exit_frame(&mut self) {
        let frame = self.b.ins().get_frame_pointer(types::I64);
        self.set_thread_word(THREAD_EXIT_FRAME_OFFSET, frame);
    }
}
