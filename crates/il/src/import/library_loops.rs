//! Methods of the class library for which Saki has Rust functions, used instead of their bodies or before them
//! (`Facts::library_loop`).
//!
//! Where the function does all of the method's work, direct calls of the method call the function. Where it may
//! decline, the method's own code calls it at entry, and runs the CIL body if the function declines.

use super::call_sites::PlannedCall;
use super::emitter::Emitter;
use super::kinds::{call_sig, this_type};
use super::options::{DECLINED, LibraryLoop};
use super::stack::StackEntry;
use super::vars::VarRef;
use crate::ir::{CallTarget, CmpOp, IrType, Op, Terminator};
use saki_types::{LoadResult, Method};

impl Emitter<'_> {
    pub(super) fn library_loop(&self, method: &'static Method) -> Option<LibraryLoop> {
        self.facts.0.library_loop(method).filter(|function| self.options.vectors || function.corrects)
    }

    /// Whether direct calls of the method call the Rust function instead.
    pub(super) fn is_called_loop(&self, method: &'static Method) -> bool {
        method.is_static() && self.library_loop(method).is_some_and(LibraryLoop::is_whole)
    }

    pub(super) fn call_library_loop(&mut self, method: &'static Method, args: &[StackEntry]) -> LoadResult<()> {
        let sig = self.closed_sig(method)?;
        let call = PlannedCall {
            target: CallTarget::InternalCall(method),
            this: this_type(method),
            params: &sig.params,
            ret: sig.ret,
        };
        let result = self.emit_call(&call, args)?;
        self.push_native_result(result, sig.ret)
    }

    /// At the entry of a method whose function may decline: calls the function and returns its result, unless the work
    /// is too small for it or it declines.
    pub(super) fn ask_library_loop(&mut self) -> LoadResult<()> {
        let method = self.method;
        let Some(function) = self.library_loop(method) else { return Ok(()) };
        let body = self.b.block(None);
        if let Some(least) = function.least {
            self.load_var(VarRef::Arg(least.argument as usize))?;
            let entry = self.pop()?;
            let count = self.value(&entry)?;
            let few = match self.b.ty(count) {
                IrType::I64 => self.b.i64(i64::from(least.count)),
                _ => self.b.i32(least.count as i32),
            };
            let are_few = self.b.inst(Op::Cmp(CmpOp::Lt, count, few), IrType::I32);
            let many = self.b.block(None);
            self.b.terminate(Terminator::Brif { cond: are_few, then: body, otherwise: many });
            self.b.current = Some(many);
        }
        for index in 0..self.s.arg_count() {
            self.load_var(VarRef::Arg(index))?;
        }
        let sig = self.closed_sig(method)?;
        let args = self.pop_args(sig, !method.is_static())?;
        let mut call = call_sig(sig, this_type(method))?;
        let has_result = call.ret.is_some();
        if function.may_decline && !has_result {
            call.ret = Some(IrType::I32);
        }
        let ir = call.ret.unwrap_or(IrType::Void);
        let args = self.operands(call.has_this, &sig.params, &args)?;
        self.has_calls = true;
        let target = CallTarget::InternalCall(method);
        let result = self.b.inst(Op::Call { target, sig: Box::new(call), args, struct_result: None }, ir);
        if function.may_decline {
            let declined = match ir {
                IrType::Ref => self.b.inst(Op::Null, IrType::Ref),
                _ => self.b.i32(DECLINED),
            };
            let is_declined = self.b.inst(Op::Cmp(CmpOp::Eq, result, declined), IrType::I32);
            let done = self.b.block(None);
            self.b.terminate(Terminator::Brif { cond: is_declined, then: body, otherwise: done });
            self.b.current = Some(done);
        }
        self.b.terminate(Terminator::Ret(has_result.then_some(result)));
        self.b.current = Some(body);
        self.known.forget_block();
        Ok(())
    }
}
