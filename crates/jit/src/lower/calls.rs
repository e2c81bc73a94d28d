//! Managed calls, helper calls, internal calls, class initialisation, polls.
//!
//! Managed callees may change struct arguments, so the caller passes the addresses of copies in its frame: those that
//! the importer made (`LocalKind::Argument`), or copies made here. Vectors are not passed like structs: they are values
//! in registers (`signatures`).
//!
//! # Struct arguments of tail calls
//!
//! The copies of a tail call cannot be in the frame, which is gone when the callee runs. They are stored in
//! `ThreadAbi::tail_args`, one after the other, and the callee receives their addresses there. Each function with
//! struct parameters begins by testing whether the first of them is in that buffer (then all are), and if so moves them
//! to its own frame. So the buffer is in use only between the last instructions of one function and the first of
//! another:
//!
//! - each link of a chain of tail calls reuses it; source and buffer never overlap, since no pointer into the buffer
//!   outlives a prologue;
//! - nothing in between runs managed code or collects, except the hooks that compile the callee or resolve an interface
//!   call: `runtime` saves the buffer on its (scanned) stack around those. The collector need not know the buffer;
//! - after an exception in between, the contents are never read.
//!
//! A tail call whose arguments are larger than the buffer is an ordinary call. A struct result is stored at the address
//! that the caller itself received for its result.

use super::clif_builder::{Callee, MemoryKind};
use super::context::Lowering;
use crate::error::CompileError;
use crate::error::Lowered;
use crate::signatures::{self, call_has_this, machine_type, returns_struct, struct_result_index};
use crate::symbols::RelocTarget;
use crate::type_facts::value_layout;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, BlockArg, InstBuilder, Value, types};
use cranelift_codegen::isa::CallConv;
use saki_abi::StubId;
use saki_abi::thread::{
    TAIL_ARGS_BYTES, THREAD_IMT_METHOD_OFFSET, THREAD_POLL_OFFSET, THREAD_STUB_ARG_OFFSET, THREAD_TAIL_ARGS_OFFSET,
};
use saki_abi::vtable::{VTABLE_FLAGS_OFFSET, VTABLE_SLOTS_OFFSET, VTABLE_TYPE_OFFSET, VTableFlags, imt_slot_offset};
use saki_il::ir::{CallSig, CallTarget, IrType, LocalKind, Op, Symbol, ValueId};
use saki_types::ty::TypeRuntime;
use saki_types::{Method, Ty, Type};
use std::mem::offset_of;

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

pub(super) fn managed_call(
    cx: &mut Lowering<'_, '_>,
    target: &CallTarget,
    sig: &CallSig,
    args: &[ValueId],
    struct_result: Option<Value>,
) -> Lowered<Option<Value>> {
    let prepared = prepare_call(cx, target, sig, args, struct_result, Copies::Frame)?;
    let result = cx.call(prepared.callee, &prepared.args);
    cx.release_temps();
    if let (Some(place), Some(mem), Some(value)) = (struct_result, sig.ret.and_then(IrType::vector), result) {
        cx.store_vector(place, value, mem);
        return Ok(None);
    }
    Ok(result)
}

/// Evaluates the arguments and the code address; the caller emits the call.
pub(super) fn prepare_call(
    cx: &mut Lowering<'_, '_>,
    target: &CallTarget,
    sig: &CallSig,
    args: &[ValueId],
    struct_result: Option<Value>,
    copies: Copies,
) -> Lowered<PreparedCall> {
    let args = managed_args(cx, target, sig, args, struct_result, copies)?;
    let callee = match *target {
        CallTarget::Direct(method) => signature_callee(cx, target, sig, Symbol::MethodEntry(method)),
        CallTarget::Helper(helper) => cx.helper_callee(helper),
        CallTarget::Indirect(code) => {
            let code = cx.value_as(code, types::I64)?;
            address_callee(cx, target, sig, code)
        }
        CallTarget::Virtual { slot, .. } => {
            let offset = VTABLE_SLOTS_OFFSET + slot as i32 * 8;
            vtable_callee(cx, target, sig, &args, offset)?
        }
        CallTarget::Interface { method } => {
            let handle = cx.symbol_address(Symbol::MethodHandle(method));
            let offset = imt_slot_offset(saki_types::vtable::imt_slot_index(method));
            let callee = vtable_callee(cx, target, sig, &args, offset)?;
            cx.set_thread_word(THREAD_IMT_METHOD_OFFSET, handle);
            callee
        }
        CallTarget::InternalCall(_) | CallTarget::Native { .. } => {
            return Err(CompileError::invalid_ir("an unmanaged call where a managed one is expected"));
        }
    };
    Ok(PreparedCall { callee, args })
}

fn signature_callee(cx: &mut Lowering<'_, '_>, target: &CallTarget, sig: &CallSig, symbol: Symbol) -> Callee {
    let signature = signatures::managed(sig, call_has_this(target, sig), CallConv::Tail);
    Callee::Function(cx.function(RelocTarget::Symbol(symbol), signature))
}

fn address_callee(cx: &mut Lowering<'_, '_>, target: &CallTarget, sig: &CallSig, code: Value) -> Callee {
    let signature = signatures::managed(sig, call_has_this(target, sig), CallConv::Tail);
    Callee::Address(cx.sig_ref(signature), code)
}

fn vtable_callee(
    cx: &mut Lowering<'_, '_>,
    target: &CallTarget,
    sig: &CallSig,
    args: &[Value],
    offset: i32,
) -> Lowered<Callee> {
    let Some(&receiver) = args.first() else {
        return Err(CompileError::invalid_ir("a virtual call without a receiver"));
    };
    let vtable = cx.vtable_of(None, receiver);
    let flags = cx.trusted(MemoryKind::ClassData);
    let code = cx.b.ins().load(types::I64, flags, vtable, offset);
    Ok(address_callee(cx, target, sig, code))
}

/// Machine arguments in managed order; structs are copied.
fn managed_args(
    cx: &mut Lowering<'_, '_>,
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
            values.push(cx.vector_operand(arg, mem)?);
            continue;
        }
        let value = match (param, machine_type(param)) {
            (IrType::Struct(ty), _) => {
                let source = cx.value_as(arg, types::I64)?;
                match copies {
                    Copies::Frame if is_argument(cx, arg) => source,
                    Copies::Frame => argument_copy(cx, source, ty)?,
                    Copies::TailArgs => tail_argument_copy(cx, source, ty, &mut tail_offset_bytes)?,
                }
            }
            (_, Some(ty)) => cx.value_as(arg, ty)?,
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
fn is_argument(cx: &Lowering<'_, '_>, id: ValueId) -> bool {
    let op = cx.inst(id).map(|inst| &inst.op);
    matches!(op, Some(Op::LocalAddr(local)) if cx.func().locals[local.0 as usize].kind == LocalKind::Argument)
}

fn argument_copy(cx: &mut Lowering<'_, '_>, source: Value, ty: Ty) -> Lowered<Value> {
    let layout = value_layout(ty)?;
    let slot = cx.struct_temp(layout);
    let address = cx.b.ins().stack_addr(types::I64, slot, 0);
    cx.copy_memory(address, source, layout);
    Ok(address)
}

/// Copies a struct to the next free place of the thread's tail arguments.
fn tail_argument_copy(cx: &mut Lowering<'_, '_>, source: Value, ty: Ty, offset_bytes: &mut u32) -> Lowered<Value> {
    let layout = value_layout(ty)?;
    let base = tail_args(cx);
    let address = cx.b.ins().iadd_imm_s(base, i64::from(*offset_bytes));
    *offset_bytes += layout.size_bytes.next_multiple_of(8);
    cx.copy_memory(address, source, layout);
    Ok(address)
}

/// Address of the thread's tail arguments.
fn tail_args(cx: &mut Lowering<'_, '_>) -> Value {
    let thread = cx.thread();
    cx.b.ins().iadd_imm_s(thread, i64::from(THREAD_TAIL_ARGS_OFFSET))
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
pub(super) fn receive_tail_args(cx: &mut Lowering<'_, '_>) -> Lowered {
    let mut structs = Vec::new();
    for (index, param) in cx.func().sig.params.iter().enumerate() {
        if let (IrType::Struct(ty), None) = (param, param.vector()) {
            structs.push((index, value_layout(ty)?));
        }
    }
    if structs.is_empty() || !fits_tail_args(&cx.func().sig)? {
        return Ok(());
    }
    let given = structs.iter().map(|&(index, _)| cx.entry_param(index as u32)).collect::<Lowered<Vec<Value>>>()?;
    let buffer = tail_args(cx);
    let distance = cx.b.ins().isub(given[0], buffer);
    let size = cx.i64_const(TAIL_ARGS_BYTES as i64);
    let is_in_buffer = cx.b.ins().icmp(IntCC::UnsignedLessThan, distance, size);
    let receive = cx.new_block(true);
    let next = cx.new_block(false);
    for _ in &structs {
        cx.b.append_block_param(next, types::I64);
    }
    let given_args: Vec<BlockArg> = given.iter().map(|&value| value.into()).collect();
    cx.b.ins().brif(is_in_buffer, receive, &[], next, &given_args);
    cx.continue_in(receive);
    let mut moved = Vec::with_capacity(structs.len());
    for (&(_, layout), &source) in structs.iter().zip(&given) {
        let slot = cx.slot(layout);
        let address = cx.b.ins().stack_addr(types::I64, slot, 0);
        cx.copy_memory(address, source, layout);
        moved.push(address);
    }
    cx.jump_clif(next, &moved);
    cx.continue_in(next);
    let received = cx.b.block_params(next).to_vec();
    for ((index, _), value) in structs.into_iter().zip(received) {
        cx.replace_entry_param(index, value);
    }
    Ok(())
}

/// The Rust function of an internal call, System V: thread, then the managed order.
pub(super) fn internal_call(
    cx: &mut Lowering<'_, '_>,
    method: &'static Method,
    sig: &CallSig,
    args: &[ValueId],
    struct_result: Option<ValueId>,
) -> Lowered<Option<Value>> {
    let target = CallTarget::InternalCall(method);
    let struct_result = struct_result.map(|id| cx.value_as(id, types::I64)).transpose()?;
    let mut values = managed_args(cx, &target, sig, args, struct_result, Copies::Frame)?;
    values.insert(0, cx.thread());
    let mut signature = signatures::managed(sig, call_has_this(&target, sig), CallConv::SystemV);
    signature.params.insert(0, AbiParam::new(types::I64));
    let is_leaf = saki_il::synth::internal_call::is_leaf(method);
    if !is_leaf {
        cx.record_exit_frame();
    }
    let function = cx.function(RelocTarget::Symbol(Symbol::InternalCall(method)), signature);
    let result = cx.call_unprotected(Callee::Function(function), &values);
    cx.release_temps();
    if !is_leaf {
        cx.throw_if_pending_then(false);
    }
    Ok(result)
}

const TYPE_OBJECT_CELL_OFFSET: i32 = (offset_of!(Type, runtime) + offset_of!(TypeRuntime, type_object_cell)) as i32;

/// The type object of `args[0]`, an object that is not null.
pub(super) fn get_type(
    cx: &mut Lowering<'_, '_>,
    method: &'static Method,
    sig: &CallSig,
    args: &[ValueId],
) -> Lowered<Value> {
    let object = cx.value(args[0])?;
    let (slow, plain, known, next) =
        (cx.new_block(true), cx.new_block(false), cx.new_block(false), cx.new_block(false));
    let result = cx.b.append_block_param(next, types::I64);
    let flags = cx.trusted(MemoryKind::VTableWord);
    let vtable = cx.b.ins().load(types::I64, flags, object, 0);
    let flags = cx.trusted(MemoryKind::ClassData);
    let kind = cx.b.ins().load(types::I32, flags, vtable, VTABLE_FLAGS_OFFSET);
    let is_proxy = cx.b.ins().band_imm_s(kind, i64::from(VTableFlags::PROXY));
    cx.branch(is_proxy, slow, plain);
    cx.continue_in(plain);
    let ty = cx.b.ins().load(types::I64, flags, vtable, VTABLE_TYPE_OFFSET);
    // Written once, when the object is there; what follows depends on the value.
    let cell = cx.b.ins().load(types::I64, flags, ty, TYPE_OBJECT_CELL_OFFSET);
    cx.branch(cell, known, slow);
    cx.continue_in(known);
    let found = cx.b.ins().load(types::I64, flags, cell, 0);
    cx.jump_clif(next, &[found]);
    cx.continue_in(slow);
    let Some(made) = internal_call(cx, method, sig, args, None)? else {
        return Err(CompileError::invalid_ir("GetType without a result"));
    };
    cx.jump_clif(next, &[made]);
    cx.continue_in(next);
    Ok(result)
}

pub(super) fn class_init(cx: &mut Lowering<'_, '_>, ty: Ty) -> Lowered {
    if cx.facts.is_initialized(ty) {
        return Ok(());
    }
    let flag = cx.symbol_address(Symbol::ClassInitFlag(ty));
    let initialized = if cx.is_aarch64() {
        let flags = cx.trusted(MemoryKind::ClassData);
        let byte = cx.b.ins().atomic_load(types::I8, flags, flag);
        cx.b.ins().uextend(types::I32, byte)
    } else {
        let flags = cx.trusted(MemoryKind::ClassData);
        cx.b.ins().uload8(types::I32, flags, flag, 0)
    };
    let slow = cx.new_block(true);
    let next = cx.new_block(false);
    cx.branch(initialized, next, slow);
    cx.continue_in(slow);
    let handle = cx.symbol_address(Symbol::TypeHandle(ty));
    cx.set_thread_word(THREAD_STUB_ARG_OFFSET, handle);
    cx.call_preserving_stub(StubId::ClassInit);
    cx.throw_if_pending();
    cx.jump_clif(next, &[]);
    cx.continue_in(next);
    cx.facts.note_initialized(ty);
    Ok(())
}

/// See `Op::ClassInitSeen`. Until the class is initialised a fence orders what follows behind the load of the
/// instance's reference; afterwards the load of the flag does. x86-64 does loads in order.
pub(super) fn class_init_seen(cx: &mut Lowering<'_, '_>, ty: Ty) {
    if !cx.is_aarch64() || cx.facts.is_initialized(ty) {
        return;
    }
    let address = cx.symbol_address(Symbol::ClassInitFlag(ty));
    let flags = cx.trusted(MemoryKind::ClassData);
    let flag = cx.b.ins().atomic_load(types::I8, flags, address);
    let (early, next) = (cx.new_block(true), cx.new_block(false));
    cx.branch(flag, next, early);
    cx.continue_in(early);
    cx.b.ins().fence();
    cx.jump_clif(next, &[]);
    cx.continue_in(next);
}

/// The stub for the slow path of a safepoint. At the entry the frame may move to another part of the stack, with a
/// limited number of arguments in memory.
pub(crate) fn poll_stub(function: &saki_il::ir::Function, poll: ValueId) -> StubId {
    /// So many arguments take no more memory, whatever their types.
    const MOST_PARAMS: usize = saki_abi::thread::GROWTH_ARGUMENT_BYTES / 16 - 1;
    let is_movable = function.sig.params.len() <= MOST_PARAMS && function.entry_poll() == Some(poll);
    if is_movable { StubId::PollEntry } else { StubId::Poll }
}

pub(super) fn poll(cx: &mut Lowering<'_, '_>, stub: StubId) -> Lowered {
    let slow = cx.new_block(true);
    let next = cx.new_block(false);
    if cx.options.stress_poll {
        cx.jump_clif(slow, &[]);
    } else {
        let thread = cx.thread();
        let flags = cx.trusted(MemoryKind::Thread);
        let address = cx.displaced(thread, THREAD_POLL_OFFSET);
        // Atomic, or it would be hoisted out of loops.
        let requested = cx.b.ins().atomic_load(types::I32, flags, address);
        cx.branch(requested, slow, next);
    }
    cx.continue_in(slow);
    cx.call_preserving_stub(stub);
    cx.throw_if_pending();
    cx.jump_clif(next, &[]);
    cx.continue_in(next);
    Ok(())
}

/// Emits a call that replaces the frame, where possible; else an ordinary call and a return.
pub(super) fn tail_call(cx: &mut Lowering<'_, '_>, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> Lowered {
    let same_result = match (sig.ret, cx.func().sig.ret) {
        (Some(IrType::Struct(a)), Some(IrType::Struct(b))) => a == b,
        (a, b) => a.and_then(machine_type) == b.and_then(machine_type),
    };
    let managed = matches!(
        target,
        CallTarget::Direct(_) | CallTarget::Virtual { .. } | CallTarget::Interface { .. } | CallTarget::Indirect(_)
    );
    let replaces = managed && same_result && cx.region().is_none() && !cx.has_localloc_flag() && fits_tail_args(sig)?;
    if replaces {
        let prepared = prepare_call(cx, target, sig, args, cx.struct_result, Copies::TailArgs)?;
        match prepared.callee {
            Callee::Function(function) => cx.b.ins().return_call(function, &prepared.args),
            Callee::Address(signature, code) => cx.b.ins().return_call_indirect(signature, code, &prepared.args),
        };
        return Ok(());
    }
    let result = managed_call(cx, target, sig, args, cx.struct_result)?;
    cx.free_localloc();
    match (signatures::result_type(&cx.func().sig), result) {
        (None, _) => cx.b.ins().return_(&[]),
        (Some(ty), Some(value)) => {
            let value = cx.coerce(value, ty)?;
            cx.b.ins().return_(&[value])
        }
        (Some(_), None) => return Err(CompileError::invalid_ir("a tail call without the result that is needed")),
    };
    Ok(())
}
