//! Where steps read and write: locals, and places in the memory of words.

use super::{ARRAY, ARRAY_PARAM, F32, F64, FLOATS, I32, I64, MEMORY, VARIABLES, VECTORS};
use saki_il::ir::*;

/// A local that steps read and write: no address, since these differ from run to run.
pub(super) fn variable(number: usize) -> usize {
    let variables = VARIABLES - 3;
    let local = 1 + number % variables;
    if local < ARRAY_PARAM as usize { local } else { local + 2 }
}

/// A memory type, its stack type, and the offset of a slot of that type.
pub(super) fn place(mem: usize, at: usize) -> (MemType, IrType, i32) {
    let mem = MEMORY[mem % MEMORY.len()];
    let (ty, base) = match mem {
        MemType::F32 => (F32, FLOATS),
        MemType::F64 => (F64, FLOATS + FLOATS / 2),
        MemType::I64 | MemType::Ref => (I64, 0),
        _ => (I32, 0),
    };
    (mem, ty, ((base + at % (FLOATS / 2)) * 8) as i32)
}

/// A memory type of vectors, and the offset of a vector.
pub(super) fn vector_place(mem: usize, at: usize) -> (MemType, i32) {
    let mem = [MemType::V128, MemType::V96, MemType::V64][mem % 3];
    (mem, ((VECTORS + at % (ARRAY - VECTORS - 1)) * 8) as i32)
}
