//! The machine types of values and results.

use saki_code::masm::{Extension, MachineType, MemoryAccess};
use saki_il::ir::{CallSig, IrType, MemType};

/// The machine type of values of a type: that of their address for structs; None for types without values here.
pub(super) fn machine_type(ty: IrType) -> Option<MachineType> {
    match ty {
        IrType::I32 => Some(MachineType::I32),
        IrType::I64 | IrType::Ref | IrType::ByRef | IrType::Struct(_) => Some(MachineType::I64),
        IrType::F32 => Some(MachineType::F32),
        IrType::F64 => Some(MachineType::F64),
        IrType::V128 => Some(MachineType::V128),
        IrType::Void | IrType::Block(_) => None,
    }
}

/// Whether the result of a managed function is returned through a pointer.
pub(super) fn returns_struct(sig: &CallSig) -> bool {
    sig.ret.is_some_and(is_by_address)
}

/// Whether managed functions pass a value of the type by its address: structs, but for vectors.
pub(super) fn is_by_address(ty: IrType) -> bool {
    matches!(ty, IrType::Struct(_)) && ty.vector().is_none()
}

/// The machine type in which managed functions pass a value.
pub(super) fn passed_type(ty: IrType) -> Option<MachineType> {
    if ty.vector().is_some() { Some(MachineType::V128) } else { machine_type(ty) }
}

/// The machine type of the register with the result of a managed function; None if there is none, or if a struct is
/// returned through a pointer.
pub(super) fn result_type(sig: &CallSig) -> Option<MachineType> {
    sig.ret.filter(|&ret| !is_by_address(ret)).and_then(passed_type)
}

/// The type of an access to memory; None for vectors that are not whole there.
pub(super) fn access(mem: MemType) -> Option<MemoryAccess> {
    Some(match mem {
        MemType::I8 => MemoryAccess::Narrow(Extension::S8),
        MemType::U8 => MemoryAccess::Narrow(Extension::Z8),
        MemType::I16 => MemoryAccess::Narrow(Extension::S16),
        MemType::U16 => MemoryAccess::Narrow(Extension::Z16),
        MemType::V64 | MemType::V96 => return None,
        _ => MemoryAccess::Whole(machine_type(mem.loaded())?),
    })
}

/// Bytes of a value's slot in the frame.
pub(super) fn slot_bytes(ty: MachineType) -> u32 {
    if ty == MachineType::V128 { 16 } else { 8 }
}
