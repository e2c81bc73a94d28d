//! The machine types of values and results.

use saki_code::masm::MachineType;
use saki_il::ir::{CallSig, IrType};

/// The machine type of values of a type: that of their address for structs; None for types without values here.
pub(super) fn machine_type(ty: IrType) -> Option<MachineType> {
    match ty {
        IrType::I32 => Some(MachineType::I32),
        IrType::I64 | IrType::Ref | IrType::ByRef | IrType::Struct(_) => Some(MachineType::I64),
        IrType::F32 => Some(MachineType::F32),
        IrType::F64 => Some(MachineType::F64),
        IrType::Void | IrType::V128 | IrType::Block(_) => None,
    }
}

/// The machine type of the register with the result; None if there is none, or if a struct is returned through a
/// pointer.
pub(super) fn result_type(sig: &CallSig) -> Option<MachineType> {
    sig.ret.filter(|ret| !matches!(ret, IrType::Struct(_))).and_then(machine_type)
}
