//! Managed calls, helper calls, internal calls, class initialisation, polls.
//!
//! Managed callees may change struct arguments, so the caller passes the addresses of copies in its frame: those that the
//! importer made (`LocalKind::Argument`), or copies made here. Vectors are not passed like structs: they are values in
//! registers (`signatures`).
//!
//! # Struct arguments of tail calls
//!
//! The copies of a tail call cannot be in the frame, which is gone when the callee runs. They are stored in
//! `ThreadAbi::tail_args`, one after the other, and the callee receives their addresses there. Each function with struct
//! parameters begins by testing whether the first of them is in that buffer (then all are), and if so moves them to its
//! own frame. So the buffer is in use only between the last instructions of one function and the first of another:
//!
//! - each link of a chain of tail calls reuses it; source and buffer never overlap, since no pointer into the buffer
//!   outlives a prologue;
//! - nothing in between runs managed code or collects, except the hooks that compile the callee or resolve an interface
//!   call: `runtime` saves the buffer on its (scanned) stack around those. The collector need not know the buffer;
//! - after an exception in between, the contents are never read.
//!
//! A tail call whose arguments are larger than the buffer is an ordinary call. A struct result is stored at the address that
//! the caller itself received for its result.

use super::{Lowered, Lowering, MemoryKind};
use crate::error::CompileError;
use crate::signatures::{self, call_has_this, machine_type, returns_struct, struct_result_index};
use crate::symbols::RelocTarget;
use crate::type_facts::value_layout;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, BlockArg, FuncRef, InstBuilder, SigRef, Value, types};
use cranelift_codegen::isa::CallConv;
use saki_abi::thread::{
    TAIL_ARGS_BYTES, THREAD_EXIT_FRAME_OFFSET, THREAD_IMT_METHOD_OFFSET, THREAD_POLL_OFFSET, THREAD_STUB_ARG_OFFSET,
    THREAD_TAIL_ARGS_OFFSET,
};
use saki_abi::vtable::{VTABLE_SLOTS_OFFSET, imt_slot_offset};
use saki_abi::{HelperId, StubId};
use saki_il::ir::{CallSig, CallTarget, IrType, LocalKind, Op, Symbol, ValueId};
use saki_types::{Method, Ty};

/// The callee of a machine-level call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Callee {
    Function(FuncRef),
    Address(SigRef, Value),
}

/// The place for copies of struct arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Copies {
    Frame,
    /// The thread's buffer for tail calls, in which they fit (`fits_tail_args`).
    TailArgs,
}

/// A managed call ready to be emitted.
pub(super) struct PreparedCall {
    pub callee: Callee,
    pub args: Vec<Value>,
}

impl Lowering<'_, '_> {
    pub(super) fn call_op(
        &mut self,
        target: &CallTarget,
        sig: &CallSig,
        args: &[ValueId],
        struct_result: Option<ValueId>,
    ) -> Lowered<Option<Value>> {
        match target {
            CallTarget::InternalCall(method) => self.internal_call(method, sig, args, struct_result),
            CallTarget::Native(code) => self.native_call(*code, sig, args, struct_result),
            CallTarget::Helper(HelperId::CheckArrayStore) => {
                let &[array, value] = args else {
                    return Err(CompileError::invalid_ir("CheckArrayStore takes an array and a value"));
                };
                self.check_array_store(array, value)?;
                Ok(None)
            }
            CallTarget::Helper(HelperId::DelegateInit) => {
                let &[delegate, target, code, method] = args else {
                    return Err(CompileError::invalid_ir("DelegateInit takes a delegate, target, code and method"));
                };
                self.delegate_init([delegate, target, code, method])?;
                Ok(None)
            }
            _ => {
                let struct_result = struct_result.map(|id| self.value_as(id, types::I64)).transpose()?;
                self.managed_call(target, sig, args, struct_result)
            }
        }
    }

    pub(super) fn managed_call(
        &mut self,
        target: &CallTarget,
        sig: &CallSig,
        args: &[ValueId],
        struct_result: Option<Value>,
    ) -> Lowered<Option<Value>> {
        let prepared = self.prepare_call(target, sig, args, struct_result, Copies::Frame)?;
        let result = self.call(prepared.callee, &prepared.args);
        self.release_temps();
        if let (Some(place), Some(mem), Some(value)) = (struct_result, sig.ret.and_then(IrType::vector), result) {
            self.store_vector(place, value, mem);
            return Ok(None);
        }
        Ok(result)
    }

    /// Evaluates the arguments and the code address; the caller emits the call.
    pub(super) fn prepare_call(
        &mut self,
        target: &CallTarget,
        sig: &CallSig,
        args: &[ValueId],
        struct_result: Option<Value>,
        copies: Copies,
    ) -> Lowered<PreparedCall> {
        let args = self.managed_args(target, sig, args, struct_result, copies)?;
        let callee = match *target {
            CallTarget::Direct(method) => self.signature_callee(target, sig, Symbol::MethodEntry(method)),
            CallTarget::Helper(helper) => self.helper_callee(helper),
            CallTarget::Indirect(code) => {
                let code = self.value_as(code, types::I64)?;
                self.address_callee(target, sig, code)
            }
            CallTarget::Virtual { slot, .. } => {
                let offset = VTABLE_SLOTS_OFFSET + slot as i32 * 8;
                self.vtable_callee(target, sig, &args, offset)?
            }
            CallTarget::Interface { method } => {
                let handle = self.symbol_address(Symbol::MethodHandle(method));
                let offset = imt_slot_offset(saki_types::vtable::imt_slot_index(method));
                let callee = self.vtable_callee(target, sig, &args, offset)?;
                self.set_thread_word(THREAD_IMT_METHOD_OFFSET, handle);
                callee
            }
            CallTarget::InternalCall(_) | CallTarget::Native(_) => {
                return Err(CompileError::invalid_ir("an unmanaged call where a managed one is expected"));
            }
        };
        Ok(PreparedCall { callee, args })
    }

    fn signature_callee(&mut self, target: &CallTarget, sig: &CallSig, symbol: Symbol) -> Callee {
        let signature = signatures::managed(sig, call_has_this(target, sig), CallConv::Tail);
        Callee::Function(self.function(RelocTarget::Symbol(symbol), signature))
    }

    fn address_callee(&mut self, target: &CallTarget, sig: &CallSig, code: Value) -> Callee {
        let signature = signatures::managed(sig, call_has_this(target, sig), CallConv::Tail);
        Callee::Address(self.sig_ref(signature), code)
    }

    fn vtable_callee(&mut self, target: &CallTarget, sig: &CallSig, args: &[Value], offset: i32) -> Lowered<Callee> {
        let Some(&receiver) = args.first() else {
            return Err(CompileError::invalid_ir("a virtual call without a receiver"));
        };
        let vtable = self.vtable_of(None, receiver);
        let flags = self.trusted(MemoryKind::ClassData);
        let code = self.b.ins().load(types::I64, flags, vtable, offset);
        Ok(self.address_callee(target, sig, code))
    }

    pub(super) fn helper_callee(&mut self, helper: HelperId) -> Callee {
        let signature = signatures::helper(helper, CallConv::Tail, false);
        Callee::Function(self.function(RelocTarget::Symbol(Symbol::Helper(helper)), signature))
    }

    /// Machine arguments in managed order; structs are copied.
    fn managed_args(
        &mut self,
        target: &CallTarget,
        sig: &CallSig,
        args: &[ValueId],
        struct_result: Option<Value>,
        copies: Copies,
    ) -> Lowered<Vec<Value>> {
        if args.len() != sig.params.len() {
            let (given, wanted) = (args.len(), sig.params.len());
            return Err(CompileError::invalid_ir(format!("{given} arguments for {wanted} parameters of {target:?}")));
        }
        let convention = signatures::convention_of(target);
        let mut values = Vec::with_capacity(args.len() + 1);
        let mut tail_offset_bytes = 0;
        for (&arg, &param) in args.iter().zip(&sig.params) {
            if let Some(mem) = signatures::vector(param, convention) {
                values.push(self.vector_operand(arg, mem)?);
                continue;
            }
            let value = match (param, machine_type(param)) {
                (IrType::Struct(ty), _) => {
                    let source = self.value_as(arg, types::I64)?;
                    match copies {
                        Copies::Frame if self.is_argument(arg) => source,
                        Copies::Frame => self.argument_copy(source, ty)?,
                        Copies::TailArgs => self.tail_argument_copy(source, ty, &mut tail_offset_bytes)?,
                    }
                }
                (_, Some(ty)) => self.value_as(arg, ty)?,
                (_, None) => return Err(CompileError::invalid_ir("a void parameter")),
            };
            values.push(value);
        }
        if returns_struct(sig, convention) {
            let Some(place) = struct_result else {
                return Err(CompileError::invalid_ir(format!("no place for the struct result of {target:?}")));
            };
            values.insert(struct_result_index(sig, call_has_this(target, sig)), place);
        }
        Ok(values)
    }

    /// Whether a struct operand is already a copy for the callee (`LocalKind::Argument`).
    fn is_argument(&self, id: ValueId) -> bool {
        let op = self.func.insts.get(id.0 as usize).map(|inst| &inst.op);
        matches!(op, Some(Op::LocalAddr(local)) if self.func.locals[local.0 as usize].kind == LocalKind::Argument)
    }

    fn argument_copy(&mut self, source: Value, ty: Ty) -> Lowered<Value> {
        let layout = value_layout(ty)?;
        let slot = self.struct_temp(layout);
        let address = self.b.ins().stack_addr(types::I64, slot, 0);
        self.copy_memory(address, source, layout);
        Ok(address)
    }

    /// Copies a struct to the next free place of the thread's tail arguments.
    fn tail_argument_copy(&mut self, source: Value, ty: Ty, offset_bytes: &mut u32) -> Lowered<Value> {
        let layout = value_layout(ty)?;
        let base = self.tail_args();
        let address = self.b.ins().iadd_imm_s(base, i64::from(*offset_bytes));
        *offset_bytes += layout.size_bytes.next_multiple_of(8);
        self.copy_memory(address, source, layout);
        Ok(address)
    }

    /// Address of the thread's tail arguments.
    fn tail_args(&mut self) -> Value {
        let thread = self.thread();
        self.b.ins().iadd_imm_s(thread, i64::from(THREAD_TAIL_ARGS_OFFSET))
    }

    /// Whether the struct arguments of a tail call have room in the thread's buffer.
    pub(super) fn fits_tail_args(sig: &CallSig) -> Lowered<bool> {
        let mut total_bytes = 0;
        for param in &sig.params {
            if let (IrType::Struct(ty), None) = (param, param.vector()) {
                total_bytes += u64::from(value_layout(ty)?.size_bytes.next_multiple_of(8));
            }
        }
        Ok(total_bytes <= TAIL_ARGS_BYTES as u64)
    }

    /// At the function's entry: moves struct parameters that a tail call left in the thread's buffer to the frame.
    pub(super) fn receive_tail_args(&mut self) -> Lowered {
        let mut structs = Vec::new();
        for (index, param) in self.func.sig.params.iter().enumerate() {
            if let (IrType::Struct(ty), None) = (param, param.vector()) {
                structs.push((index, value_layout(ty)?));
            }
        }
        let Some(&(first, _)) = structs.first() else { return Ok(()) };
        if !Self::fits_tail_args(&self.func.sig)? {
            return Ok(());
        }
        let given: Vec<Value> = structs.iter().map(|&(index, _)| self.entry_params[index]).collect();
        let buffer = self.tail_args();
        let distance = self.b.ins().isub(self.entry_params[first], buffer);
        let size = self.i64_const(TAIL_ARGS_BYTES as i64);
        let is_in_buffer = self.b.ins().icmp(IntCC::UnsignedLessThan, distance, size);
        let receive = self.new_block(true);
        let next = self.new_block(false);
        for _ in &structs {
            self.b.append_block_param(next, types::I64);
        }
        let given_args: Vec<BlockArg> = given.iter().map(|&value| value.into()).collect();
        self.b.ins().brif(is_in_buffer, receive, &[], next, &given_args);
        self.continue_in(receive);
        let mut moved = Vec::with_capacity(structs.len());
        for (&(_, layout), &source) in structs.iter().zip(&given) {
            let slot = self.slot(layout);
            let address = self.b.ins().stack_addr(types::I64, slot, 0);
            self.copy_memory(address, source, layout);
            moved.push(address);
        }
        self.jump_clif(next, &moved);
        self.continue_in(next);
        let received = self.b.block_params(next).to_vec();
        for ((index, _), value) in structs.into_iter().zip(received) {
            self.entry_params[index] = value;
        }
        Ok(())
    }

    /// Calls a helper's thunk, which may throw.
    pub(super) fn call_helper(&mut self, helper: HelperId, args: &[Value]) -> Option<Value> {
        let callee = self.helper_callee(helper);
        self.call(callee, args)
    }

    /// Calls the thunk of a helper that never throws.
    pub(super) fn call_helper_nothrow(&mut self, helper: HelperId, args: &[Value]) -> Option<Value> {
        let callee = self.helper_callee(helper);
        self.call_unprotected(callee, args)
    }

    /// Stores this frame as the exit frame, where stack walks from the callee begin.
    pub(super) fn record_exit_frame(&mut self) {
        let frame = self.b.ins().get_frame_pointer(types::I64);
        self.set_thread_word(THREAD_EXIT_FRAME_OFFSET, frame);
    }

    /// The Rust function of an internal call, System V: thread, then the managed order.
    fn internal_call(
        &mut self,
        method: &'static Method,
        sig: &CallSig,
        args: &[ValueId],
        struct_result: Option<ValueId>,
    ) -> Lowered<Option<Value>> {
        if let (true, [handle]) = (saki_il::synth::internal_call::is_handle_target(method), args) {
            return self.handle_target(method, *handle).map(Some);
        }
        if let (true, [handle]) = (saki_il::synth::internal_call::is_handle_free(method), args) {
            return self.handle_free(method, *handle).map(|()| None);
        }
        let target = CallTarget::InternalCall(method);
        let struct_result = struct_result.map(|id| self.value_as(id, types::I64)).transpose()?;
        let mut values = self.managed_args(&target, sig, args, struct_result, Copies::Frame)?;
        values.insert(0, self.thread());
        let mut signature = signatures::managed(sig, call_has_this(&target, sig), CallConv::SystemV);
        signature.params.insert(0, AbiParam::new(types::I64));
        let is_leaf = saki_il::synth::internal_call::is_leaf(method);
        if !is_leaf {
            self.record_exit_frame();
        }
        let function = self.function(RelocTarget::Symbol(Symbol::InternalCall(method)), signature);
        let result = self.call_unprotected(Callee::Function(function), &values);
        self.release_temps();
        if !is_leaf {
            self.throw_if_pending_then(false);
        }
        Ok(result)
    }

    pub(super) fn class_init(&mut self, ty: Ty) -> Lowered {
        if self.is_initialized(ty) {
            return Ok(());
        }
        let flag = self.symbol_address(Symbol::ClassInitFlag(ty));
        let initialized = if self.is_aarch64() {
            let flags = self.trusted(MemoryKind::ClassData);
            let byte = self.b.ins().atomic_load(types::I8, flags, flag);
            self.b.ins().uextend(types::I32, byte)
        } else {
            let flags = self.trusted(MemoryKind::ClassData);
            self.b.ins().uload8(types::I32, flags, flag, 0)
        };
        let slow = self.new_block(true);
        let next = self.new_block(false);
        self.branch(initialized, next, slow);
        self.continue_in(slow);
        let handle = self.symbol_address(Symbol::TypeHandle(ty));
        self.set_thread_word(THREAD_STUB_ARG_OFFSET, handle);
        self.call_preserving_stub(StubId::ClassInit);
        self.throw_if_pending();
        self.jump_clif(next, &[]);
        self.continue_in(next);
        self.note_initialized(ty);
        Ok(())
    }

    pub(super) fn poll(&mut self) -> Lowered {
        let slow = self.new_block(true);
        let next = self.new_block(false);
        if self.options.stress_poll {
            self.jump_clif(slow, &[]);
        } else {
            let thread = self.thread();
            let flags = self.trusted(MemoryKind::Thread);
            let address = self.displaced(thread, THREAD_POLL_OFFSET);
            // Atomic, or it would be hoisted out of loops.
            let requested = self.b.ins().atomic_load(types::I32, flags, address);
            self.branch(requested, slow, next);
        }
        self.continue_in(slow);
        self.call_preserving_stub(StubId::Poll);
        self.throw_if_pending();
        self.jump_clif(next, &[]);
        self.continue_in(next);
        Ok(())
    }
}
