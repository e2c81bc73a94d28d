//! The walk over the IR function, and the dispatch of its instructions to their families.

use super::context::Lowering;
use super::{alloc, arith, atomics, calls, casts, control, conv, delegates, handles, memory, monitors, native};
use super::{ranges, thread_statics, vectors};
use crate::error::{CompileError, Lowered};
use crate::loops::Loops;
use crate::signatures;
use cranelift_codegen::ir::{self as clif, InstBuilder, Value, types};
use cranelift_codegen::isa::CallConv;
use saki_abi::HelperId;
use saki_il::ir::{BlockId, CallSig, CallTarget, IrType, Op, Terminator, ValueId};
use saki_il::synth::internal_call::{is_get_type, is_handle_free, is_handle_target};

/// Translates all blocks. `has_this`: the first parameter is `this`.
pub(super) fn function(cx: &mut Lowering<'_, '_>, has_this: bool) -> Lowered {
    let flow = cx.flow();
    let loops = Loops::compute(cx.func(), flow);
    prologue(cx, has_this)?;
    for &id in &flow.order {
        cx.begin_block(id)?;
        let block = &cx.func().blocks[id.0 as usize];
        for (position, &inst) in block.insts.iter().enumerate() {
            cx.set_rest(&block.insts[position + 1..]);
            instruction(cx, inst)?;
        }
        cx.set_rest(&[]);
        cx.set_il_offset(block.terminator_il_offset);
        match &block.terminator {
            Terminator::TailCall { target, sig, args } => calls::tail_call(cx, target, sig, args)?,
            terminator => control::terminator(cx, &loops, terminator)?,
        }
    }
    cx.emit_pending_throws();
    cx.emit_pending_landings()
}

fn prologue(cx: &mut Lowering<'_, '_>, has_this: bool) -> Lowered {
    let entry = cx.b.create_block();
    cx.b.append_block_params_for_function_params(entry);
    cx.b.switch_to_block(entry);
    cx.b.seal_block(entry);
    let mut params = cx.b.block_params(entry).to_vec();
    if signatures::returns_struct(&cx.func().sig, CallConv::Tail) {
        let index = signatures::struct_result_index(&cx.func().sig, has_this);
        cx.struct_result = Some(params.remove(index));
    }
    cx.set_entry_params(params);
    calls::receive_tail_args(cx)?;
    cx.declare_locals()?;
    cx.declare_in_flight()?;
    alloc::declare_localloc(cx);
    cx.jump_to(BlockId(0))
}

fn instruction(cx: &mut Lowering<'_, '_>, id: ValueId) -> Lowered {
    let Some(inst) = cx.inst(id) else {
        return Err(CompileError::invalid_ir(format!("instruction {} does not exist", id.0)));
    };
    cx.set_il_offset(inst.il_offset);
    if matches!(inst.op, Op::Poll) {
        return calls::poll(cx, calls::poll_stub(cx.func(), id));
    }
    let result = op(cx, &inst.op, inst.ty)?;
    if let Some(value) = result {
        let value = match signatures::machine_type(inst.ty) {
            Some(ty) => cx.coerce(value, ty)?,
            None => value,
        };
        cx.define(id, value);
    }
    Ok(())
}

fn op(cx: &mut Lowering<'_, '_>, op: &Op, ty: IrType) -> Lowered<Option<Value>> {
    Ok(Some(match *op {
        Op::ConstI32(n) => cx.b.ins().iconst(types::I32, i64::from(n)),
        Op::ConstI64(n) => cx.b.ins().iconst(types::I64, n),
        Op::ConstF32(n) => cx.b.ins().f32const(clif::immediates::Ieee32::with_bits(n.to_bits())),
        Op::ConstF64(n) => cx.b.ins().f64const(clif::immediates::Ieee64::with_bits(n.to_bits())),
        Op::ConstV128(bits) => cx.vector_const(bits),
        Op::Null => cx.b.ins().iconst(types::I64, 0),
        Op::SymbolAddr(symbol) => cx.symbol_address(symbol),
        Op::LocalGet(local) => cx.local_get(local)?,
        Op::LocalSet(local, value) => {
            let value = cx.value(value)?;
            cx.local_set(local, value)?;
            return Ok(None);
        }
        Op::LocalAddr(local) => cx.local_address(local)?,
        Op::Bin(op, a, b) => arith::binary(cx, op, a, b, ty)?,
        Op::Un(op, a) => arith::unary(cx, op, a)?,
        Op::Cmp(op, a, b) => arith::compare(cx, op, a, b)?,
        Op::Conv { value, target, checked, source_unsigned } => {
            let checked = checked && !ranges::fits(cx, value, target);
            let value = cx.value(value)?;
            conv::convert(cx, value, target, checked, source_unsigned)?
        }
        Op::Select(condition, a, b) => arith::select(cx, condition, a, b)?,
        Op::Vector { op, lanes, a, b, c } => vectors::vector(cx, op, lanes, a, b, c)?,
        Op::Load { addr, offset, mem, flags } => memory::load(cx, addr, offset, mem, flags)?,
        Op::ArrayLen(array) => memory::array_length(cx, array)?,
        Op::ElementAddr { array, index, element_size_bytes } => {
            memory::element_address(cx, array, index, element_size_bytes)?
        }
        Op::Call { ref target, ref sig, ref args, struct_result } => {
            return call_op(cx, target, sig, args, struct_result);
        }
        Op::NewObject(ty) => alloc::new_object(cx, ty)?,
        Op::NewArray(ty, length) => alloc::new_array(cx, ty, length)?,
        Op::ThreadStaticAddr(field) => thread_statics::thread_static_address(cx, field)?,
        Op::NewString(length) => alloc::new_string(cx, length)?,
        Op::CastClass(object, ty) => casts::cast_class(cx, object, ty)?,
        Op::IsInst(object, ty) => casts::is_instance(cx, object, ty)?,
        Op::Unbox(object, ty) => casts::unbox(cx, object, ty)?,
        Op::LocAlloc { bytes, zero } => alloc::localloc(cx, bytes, zero)?,
        Op::AtomicRmw { op, addr, value, mem } => atomics::atomic_rmw(cx, op, addr, value, mem)?,
        Op::AtomicCas { addr, expected, new, mem } => atomics::atomic_cas(cx, addr, expected, new, mem)?,
        Op::MonitorTryEnter { object, milliseconds } => monitors::monitor_try_enter(cx, object, milliseconds)?,
        Op::CurrentThread => cx.thread(),
        Op::FramePointer => cx.b.ins().get_frame_pointer(types::I64),
        _ => {
            effect(cx, op)?;
            return Ok(None);
        }
    }))
}

/// Operations without a result.
fn effect(cx: &mut Lowering<'_, '_>, op: &Op) -> Lowered {
    match *op {
        Op::Store { addr, offset, value, mem, flags } => memory::store(cx, addr, offset, value, mem, flags),
        Op::StoreRef { object, addr, offset, value, flags } => {
            memory::store_ref(cx, object, addr, offset, value, flags)
        }
        Op::CopyStruct { dst, src, ty, barrier, flags } => memory::copy_struct(cx, dst, src, ty, barrier, flags),
        Op::InitStruct { addr, ty } => memory::init_struct(cx, addr, ty),
        Op::CopyBlock { dst, src, bytes } => memory::copy_block(cx, dst, src, bytes),
        Op::InitBlock { addr, value, bytes } => memory::init_block(cx, addr, value, bytes),
        Op::NullCheck(value) => memory::null_check(cx, value),
        Op::BoundsCheck { index, length } => memory::bounds_check(cx, index, length),
        Op::ClassInit(ty) => calls::class_init(cx, ty),
        Op::ClassInitSeen(ty) => {
            calls::class_init_seen(cx, ty);
            Ok(())
        }
        // Code of the last tier.
        Op::CountCall | Op::CountLoop(_) | Op::CountBlock { .. } | Op::Note { .. } | Op::NoteClass { .. } => Ok(()),
        Op::MonitorEnter(object) => monitors::monitor_enter(cx, object),
        Op::MonitorExit(object) => monitors::monitor_exit(cx, object),
        Op::Fence => {
            cx.b.ins().fence();
            Ok(())
        }
        _ => Err(CompileError::invalid_ir(format!("{op:?} has no lowering"))),
    }
}

fn call_op(
    cx: &mut Lowering<'_, '_>,
    target: &CallTarget,
    sig: &CallSig,
    args: &[ValueId],
    struct_result: Option<ValueId>,
) -> Lowered<Option<Value>> {
    match target {
        CallTarget::InternalCall(method) if is_handle_target(method) && args.len() == 1 => {
            handles::handle_target(cx, method, args[0]).map(Some)
        }
        CallTarget::InternalCall(method) if is_handle_free(method) && args.len() == 1 => {
            handles::handle_free(cx, method, args[0]).map(|()| None)
        }
        CallTarget::InternalCall(method) if is_get_type(method) && args.len() == 1 => {
            calls::get_type(cx, method, sig, args).map(Some)
        }
        CallTarget::InternalCall(method) => calls::internal_call(cx, method, sig, args, struct_result),
        CallTarget::Native { code, transition } => {
            native::native_call(cx, *code, *transition, sig, args, struct_result)
        }
        CallTarget::Helper(HelperId::CheckArrayStore) => {
            let &[array, value] = args else {
                return Err(CompileError::invalid_ir("CheckArrayStore takes an array and a value"));
            };
            casts::check_array_store(cx, array, value)?;
            Ok(None)
        }
        CallTarget::Helper(HelperId::DelegateInit) => {
            let &[delegate, target, code, method] = args else {
                return Err(CompileError::invalid_ir("DelegateInit takes a delegate, target, code and method"));
            };
            delegates::delegate_init(cx, [delegate, target, code, method])?;
            Ok(None)
        }
        _ => {
            let struct_result = struct_result.map(|id| cx.value_as(id, types::I64)).transpose()?;
            calls::managed_call(cx, target, sig, args, struct_result)
        }
    }
}
