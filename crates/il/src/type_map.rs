//! How CLI types map to IR types. ECMA-335 §I.12.1.

use crate::ir::{IrType, MemType};
use saki_types::{ElementType, LoadError, LoadResult, Ty};

/// The IR type of a value of `ty`. Enums have that of their underlying type.
///
/// # Errors
/// The errors of loading an enum's fields; `InvalidProgram` for an open type.
pub fn ir_type(ty: Ty) -> LoadResult<IrType> {
    use ElementType as E;
    Ok(match ty.underlying().element_type {
        E::Void => IrType::Void,
        E::Boolean | E::Char | E::I1 | E::U1 | E::I2 | E::U2 | E::I4 | E::U4 => IrType::I32,
        E::I8 | E::U8 | E::I | E::U | E::Ptr | E::FnPtr => IrType::I64,
        E::R4 => IrType::F32,
        E::R8 => IrType::F64,
        E::ByRef => IrType::ByRef,
        E::ValueType | E::TypedByRef => IrType::Struct(ty),
        E::Var | E::MVar => {
            return Err(LoadError::invalid_program(format!("{} is not an instantiated type", ty.full_name())));
        }
        _ => IrType::Ref,
    })
}

/// The memory type of a value of `ty`; None for structs and void.
///
/// # Errors
/// The errors of `ir_type`.
pub fn mem_type(ty: Ty) -> LoadResult<Option<MemType>> {
    use ElementType as E;
    Ok(Some(match ty.underlying().element_type {
        E::Boolean | E::U1 => MemType::U8,
        E::I1 => MemType::I8,
        E::Char | E::U2 => MemType::U16,
        E::I2 => MemType::I16,
        _ => match ir_type(ty)? {
            IrType::I32 => MemType::I32,
            IrType::I64 => MemType::I64,
            IrType::F32 => MemType::F32,
            IrType::F64 => MemType::F64,
            IrType::Ref => MemType::Ref,
            IrType::ByRef => MemType::ByRef,
            IrType::Void | IrType::V128 | IrType::Struct(_) | IrType::Block(_) => return Ok(None),
        },
    }))
}
