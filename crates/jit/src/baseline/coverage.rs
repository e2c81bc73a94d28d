//! What the baseline compiler covers.

use super::types::{machine_type, result_type};
use crate::null_area::faults_on_null;
use crate::type_facts::value_layout;
use saki_abi::HelperId;
use saki_abi::thread::TAIL_ARGS_BYTES;
use saki_code::masm::{MachineType, MacroAssembler};
use saki_il::ir::{
    BinOp, BlockId, CallSig, CallTarget, ConvTarget, Function, Inst, IrType, MemFlags, MemType, NullCheck, Op,
    RegionId, Terminator, UnOp, ValueId,
};
use saki_il::synth::internal_call::is_leaf;

/// Which functions are compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Covers {
    /// Small ones without loops, whose code need not be good.
    Small,
    /// All that can be.
    All,
}

/// Instructions of the largest function of `Covers::Small`.
const MAX_SMALL_INSTRUCTIONS: usize = 64;
/// Larger frames are left to the optimising compiler, which shares slots among values.
pub(super) const MAX_FRAME_BYTES: u32 = 1 << 16;
/// Structs in the frame of a function that is covered.
const MAX_STRUCT_BYTES: u32 = 1024;

pub(super) fn is_covered<M: MacroAssembler>(func: &Function, covers: Covers) -> bool {
    let is_small = covers == Covers::All || func.insts.len() <= MAX_SMALL_INSTRUCTIONS && func.clauses.is_empty();
    is_small
        && func.filters.is_empty()
        && !func.is_filter
        && is_covered_sig(&func.sig)
        && func.sig.params.iter().map(tail_argument_bytes).sum::<u32>() <= TAIL_ARGS_BYTES as u32
        && func.locals.iter().all(|local| {
            let is_covered_type = match local.ty {
                IrType::Struct(ty) => value_layout(ty).is_ok_and(|layout| layout.size_bytes <= MAX_STRUCT_BYTES),
                IrType::Block(bytes) => bytes <= MAX_STRUCT_BYTES,
                // Nothing names it.
                IrType::Void => true,
                ty => machine_type(ty).is_some(),
            };
            is_covered_type && !local.kind.is_elsewhere()
        })
        && func.clauses.iter().all(|clause| clause.handler.0 != 0)
        && func.insts.iter().all(|inst| is_covered_inst(func, inst))
        && func
            .blocks
            .iter()
            .enumerate()
            .all(|(number, block)| is_covered_end::<M>(func, covers, number, block.region, &block.terminator))
}

/// Bytes of a parameter in the buffer for tail calls.
fn tail_argument_bytes(param: &IrType) -> u32 {
    match param {
        IrType::Struct(ty) => value_layout(ty).map_or(u32::MAX / 64, |layout| layout.size_bytes.next_multiple_of(8)),
        _ => 0,
    }
}

fn is_covered_inst(func: &Function, inst: &Inst) -> bool {
    let of = |value: &ValueId| machine_type(func.insts[value.0 as usize].ty);
    let is_address = |value: &ValueId| of(value) == Some(MachineType::I64);
    let result = machine_type(inst.ty);
    match &inst.op {
        Op::ConstI32(_) | Op::ConstI64(_) | Op::ConstF32(_) | Op::ConstF64(_) | Op::Null | Op::SymbolAddr(_) => true,
        Op::LocalGet(local) => result == machine_type(func.locals[local.0 as usize].ty),
        Op::LocalSet(local, value) => of(value) == machine_type(func.locals[local.0 as usize].ty),
        Op::LocalAddr(_)
        | Op::Poll
        | Op::CountCall
        | Op::CountLoop(_)
        | Op::CurrentThread
        | Op::FramePointer
        | Op::ClassInit(_) => true,
        Op::Bin(BinOp::Shl | BinOp::Shr | BinOp::ShrUn, a, b) => {
            of(a) == result && matches!(of(b), Some(MachineType::I32 | MachineType::I64))
        }
        Op::Bin(op, a, b) => of(a) == result && of(b) == result && is_covered_binary(*op, result),
        Op::Un(UnOp::Neg, a) => of(a) == result,
        Op::Un(UnOp::Not, a) => of(a) == result && matches!(result, Some(MachineType::I32 | MachineType::I64)),
        Op::Cmp(_, a, b) => of(a).is_some() && of(a) == of(b),
        Op::Conv { value, target, checked: false, source_unsigned } => {
            is_covered_conversion(of(value), *target, *source_unsigned)
        }
        Op::Select(condition, a, b) => {
            matches!(of(condition), Some(MachineType::I32 | MachineType::I64)) && of(a) == result && of(b) == result
        }
        Op::Load { addr, mem, .. } => is_scalar(*mem) && is_address(addr),
        Op::Store { addr, value, mem, .. } => {
            is_address(addr) && of(value).is_some() && of(value) == machine_type(mem.loaded()) && is_scalar(*mem)
        }
        Op::StoreRef { addr, value, .. } => is_address(addr) && is_address(value),
        Op::CopyStruct { dst, src, ty, flags, .. } => {
            is_address(dst) && is_address(src) && !flags.volatile && value_layout(ty).is_ok()
        }
        Op::InitStruct { addr, ty } => is_address(addr) && value_layout(ty).is_ok(),
        Op::CopyBlock { dst, src, .. } => is_address(dst) && is_address(src),
        Op::InitBlock { addr, value, .. } => is_address(addr) && of(value) == Some(MachineType::I32),
        Op::NullCheck(a) | Op::ArrayLen(a) => is_address(a),
        Op::BoundsCheck { index, length } => of(index).is_some() && of(index) == of(length),
        Op::ElementAddr { array, element_size_bytes, .. } => {
            is_address(array) && i32::try_from(*element_size_bytes).is_ok()
        }
        Op::NewObject(ty) => ty.instance_size_bytes().is_ok() && ty.finalizer().is_ok(),
        Op::NewArray(ty, _) => ty.is_sz_array(),
        Op::NewString(length) => of(length) == Some(MachineType::I32),
        Op::ThreadStaticAddr(_) => true,
        Op::CastClass(object, ty) | Op::IsInst(object, ty) => {
            is_address(object) && crate::type_facts::cast_kind(ty).is_ok()
        }
        Op::Unbox(object, _) => is_address(object),
        Op::Call { target, sig, args, struct_result } => {
            struct_result.is_some() == returns_struct(sig) && is_covered_call(func, target, sig, args)
        }
        _ => false,
    }
}

fn is_covered_binary(op: BinOp, ty: Option<MachineType>) -> bool {
    match ty {
        Some(MachineType::I32 | MachineType::I64) => !matches!(op, BinOp::MulOvfUn | BinOp::FCopySign),
        Some(MachineType::F32 | MachineType::F64) => {
            matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div)
        }
        None => false,
    }
}

fn is_covered_conversion(from: Option<MachineType>, target: ConvTarget, source_unsigned: bool) -> bool {
    let is_float = matches!(from, Some(MachineType::F32 | MachineType::F64));
    match target {
        ConvTarget::R4 | ConvTarget::R8 => from.is_some() && (is_float || !source_unsigned),
        ConvTarget::RUn => false,
        _ => from.is_some() && !is_float,
    }
}

fn is_scalar(mem: MemType) -> bool {
    machine_type(mem.loaded()).is_some()
}

/// Whether the fault of the access itself serves as its null check, outside regions.
pub(super) fn faults(offset: i32, flags: MemFlags) -> bool {
    flags.null_check == NullCheck::None || faults_on_null(offset)
}

/// Whether the result is returned through a pointer.
pub(super) fn returns_struct(sig: &CallSig) -> bool {
    matches!(sig.ret, Some(IrType::Struct(_)))
}

/// Whether no parameter or result is a vector.
fn is_covered_sig(sig: &CallSig) -> bool {
    let is_vector = |ty: &IrType| ty.vector().is_some() || *ty == IrType::V128;
    !sig.params.iter().chain(&sig.ret).any(is_vector) && sig.params.iter().all(|&ty| machine_type(ty).is_some())
}

/// Whether all parameters and the result are scalars in registers.
fn fits_registers<M: MacroAssembler>(sig: &CallSig) -> bool {
    let floats = sig.params.iter().filter(|param| matches!(param, IrType::F32 | IrType::F64)).count();
    let has_struct = sig.params.iter().chain(&sig.ret).any(|ty| matches!(ty, IrType::Struct(_)));
    sig.params.len() - floats <= M::ARGUMENTS.len() && floats <= M::FLOAT_ARGUMENTS.len() && !has_struct
}

fn is_covered_call(func: &Function, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> bool {
    let is_covered_target = match target {
        CallTarget::Direct(_) => true,
        CallTarget::Virtual { .. } | CallTarget::Interface { .. } => !args.is_empty(),
        CallTarget::Indirect(code) => machine_type(func.insts[code.0 as usize].ty) == Some(MachineType::I64),
        CallTarget::Helper(helper) => *helper != HelperId::CheckArrayStore || args.len() == 2,
        CallTarget::InternalCall(method) => !is_leaf(method),
        CallTarget::Native(_) => false,
    };
    is_covered_target
        && is_covered_sig(sig)
        && args.len() == sig.params.len()
        && args
            .iter()
            .zip(&sig.params)
            .all(|(arg, &param)| machine_type(func.insts[arg.0 as usize].ty) == machine_type(param))
}

/// Whether the terminator is covered. Values that other blocks use and locals that they read are in memory between
/// blocks, so that values need no merging. The first block is never entered again: it knows what the locals hold.
fn is_covered_end<M: MacroAssembler>(
    func: &Function,
    covers: Covers,
    number: usize,
    region: Option<RegionId>,
    terminator: &Terminator,
) -> bool {
    let may_jump = |target: &BlockId| match covers {
        Covers::Small => target.0 as usize > number,
        Covers::All => target.0 != 0,
    };
    let of = |value: &ValueId| machine_type(func.insts[value.0 as usize].ty);
    let is_address = |value: &ValueId| of(value) == Some(MachineType::I64);
    match terminator {
        Terminator::Jump(target) => may_jump(target),
        Terminator::Brif { cond, then, otherwise } => {
            matches!(of(cond), Some(MachineType::I32 | MachineType::I64)) && may_jump(then) && may_jump(otherwise)
        }
        Terminator::Switch { value, targets, default } => {
            matches!(of(value), Some(MachineType::I32 | MachineType::I64))
                && targets.iter().all(may_jump)
                && may_jump(default)
        }
        Terminator::Ret(None) => result_type(&func.sig).is_none(),
        Terminator::Ret(Some(value)) => match result_type(&func.sig) {
            Some(result) => of(value) == Some(result),
            None => !returns_struct(&func.sig) || is_address(value),
        },
        Terminator::TailCall { target, sig, args } => {
            region.is_none()
                && func.clauses.is_empty()
                && !matches!(target, CallTarget::Helper(_) | CallTarget::InternalCall(_))
                && fits_registers::<M>(sig)
                && fits_registers::<M>(&func.sig)
                && is_covered_call(func, target, sig, args)
                && result_type(sig) == result_type(&func.sig)
        }
        Terminator::Throw(value) | Terminator::Rethrow(value) => is_address(value),
        Terminator::ResumeUnwind { .. } | Terminator::Unreachable => true,
        Terminator::EndFilter(_) => false,
    }
}
