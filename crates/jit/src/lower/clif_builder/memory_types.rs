//! Machine types of what memory holds.

use super::ClifBuilder;
use crate::error::{CompileError, Lowered};
use crate::signatures::machine_type;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use saki_il::ir::MemType;

/// Integer type as wide as `mem`.
pub(crate) fn integer_type(mem: MemType) -> Type {
    match mem {
        MemType::I8 | MemType::U8 => types::I8,
        MemType::I16 | MemType::U16 => types::I16,
        MemType::I32 | MemType::F32 => types::I32,
        MemType::I64 | MemType::F64 | MemType::Ref | MemType::ByRef | MemType::V64 => types::I64,
        MemType::V96 | MemType::V128 => types::I128,
    }
}

/// Machine type of the IR values that memory of type `mem` holds.
pub(crate) fn value_type(mem: MemType) -> Type {
    machine_type(mem.loaded()).expect("memory holds values")
}

impl ClifBuilder<'_, '_> {
    /// The IR value of an integer just read from memory of type `mem`.
    pub(crate) fn extend_loaded(&mut self, loaded: Value, mem: MemType) -> Lowered<Value> {
        Ok(match mem {
            MemType::I8 | MemType::I16 => self.b.ins().sextend(types::I32, loaded),
            MemType::U8 | MemType::U16 => self.b.ins().uextend(types::I32, loaded),
            MemType::F32 => self.b.ins().bitcast(types::F32, MemFlagsData::new(), loaded),
            MemType::F64 => self.b.ins().bitcast(types::F64, MemFlagsData::new(), loaded),
            MemType::I32 | MemType::I64 | MemType::Ref | MemType::ByRef => loaded,
            MemType::V128 | MemType::V64 | MemType::V96 => {
                return Err(CompileError::invalid_ir("a vector is read in one piece"));
            }
        })
    }
}
