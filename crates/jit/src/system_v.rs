//! Passing structs by value as the System V x86-64 ABI does (§3.2.3).
//!
//! A struct of at most 16 bytes is passed in one or two registers, one per eightbyte: INTEGER if any field of the eightbyte is
//! an integer or pointer, else SSE. Larger structs, structs with unaligned fields, and structs for which too few registers are
//! left are passed on the stack. Left out: x87 and vector types, which no CLI type maps to, and other architectures.

use crate::error::CompileError;
use cranelift_codegen::ir::{Type, types};
use saki_types::{ElementType, Ty};

/// Class of an eightbyte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Eightbyte {
    Integer,
    Sse,
}

impl Eightbyte {
    /// Machine type in which the eightbyte is passed.
    pub(crate) fn machine_type(self) -> Type {
        match self {
            Eightbyte::Integer => types::I64,
            Eightbyte::Sse => types::F64,
        }
    }
}

/// How a struct is passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StructClass {
    /// In registers; 0 to 2 of them.
    Registers(Vec<Eightbyte>),
    /// On the stack, or through a result pointer.
    Memory,
}

/// Size of the largest struct that may be passed in registers.
pub(crate) const MAX_REGISTER_BYTES: u32 = 16;

/// Classifies a struct by its fields.
///
/// # Errors
/// The load errors of its fields' types.
pub(crate) fn classify(ty: Ty) -> Result<StructClass, CompileError> {
    let size_bytes = ty.value_size_bytes()?;
    if size_bytes > MAX_REGISTER_BYTES {
        return Ok(StructClass::Memory);
    }
    let mut classes: [Option<Eightbyte>; 2] = [None, None];
    let mut pending = vec![(ty, 0u32)];
    while let Some((ty, offset)) = pending.pop() {
        let ty = ty.underlying();
        if ty.element_type == ElementType::ValueType {
            let mut last = None;
            let mut count = 0;
            for field in ty.fields()?.iter().filter(|f| !f.is_static() && !f.is_literal()) {
                last = Some((field.ty()?, field.offset_bytes()?));
                count += 1;
                pending.push((field.ty()?, offset + field.offset_bytes()?));
            }
            // A fixed-size buffer has a field for its first element only.
            if let (1, Some((element, first))) = (count, last)
                && element.underlying().element_type != ElementType::ValueType
                && !element.is_reference_type()
            {
                let (stride, end) = (element.value_size_bytes()?.max(1), ty.value_size_bytes()?);
                pending.extend((first + stride..end).step_by(stride as usize).map(|at| (element, offset + at)));
            }
            continue;
        }
        let is_address = ty.is_reference_type() || ty.is_byref() || ty.is_pointer();
        if offset % if is_address { 8 } else { ty.value_size_bytes()?.max(1) } != 0 {
            return Ok(StructClass::Memory);
        }
        let is_float = matches!(ty.element_type, ElementType::R4 | ElementType::R8);
        let class = &mut classes[(offset / 8).min(1) as usize];
        if !is_float {
            *class = Some(Eightbyte::Integer);
        } else if class.is_none() {
            *class = Some(Eightbyte::Sse);
        }
    }
    let count = size_bytes.div_ceil(8) as usize;
    // An eightbyte of padding alone (an explicit size) has class NO_CLASS. By the letter of the ABI it is passed as SSE; in practice it is not passed.
    Ok(StructClass::Registers(classes[..count].iter().map(|c| c.unwrap_or(Eightbyte::Sse)).collect()))
}

/// Argument registers that are still free.
pub(crate) struct Registers {
    pub integer: usize,
    pub sse: usize,
}

impl Registers {
    pub(crate) fn all() -> Registers {
        Registers { integer: 6, sse: 8 }
    }

    /// Takes registers for a struct, all or none.
    pub(crate) fn take(&mut self, classes: &[Eightbyte]) -> bool {
        let integer = classes.iter().filter(|&&c| c == Eightbyte::Integer).count();
        let sse = classes.len() - integer;
        if integer > self.integer || sse > self.sse {
            return false;
        }
        self.integer -= integer;
        self.sse -= sse;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_struct_gets_all_its_registers_or_none() {
        use Eightbyte::{Integer, Sse};
        let mut registers = Registers { integer: 1, sse: 1 };
        assert!(!registers.take(&[Integer, Integer]));
        assert!(registers.take(&[Integer, Sse]));
        assert!(!registers.take(&[Sse]));
        assert!(registers.take(&[]));
    }
}
