//! Vectors in memory: all of their 16 bytes, or the first 8 or 12.

use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use saki_il::ir::MemType;

/// The type of vector values between operations.
pub(crate) const VECTOR: Type = types::I8X16;

/// The same bits with other lanes.
pub(crate) fn as_lanes(b: &mut FunctionBuilder<'_>, value: Value, ty: Type) -> Value {
    if b.func.dfg.value_type(value) == ty {
        return value;
    }
    b.ins().bitcast(ty, MemFlagsData::new().with_endianness(Endianness::Little), value)
}

/// Loads a vector; lanes that are not in memory are zero. `flags` must not promise alignment, since objects are aligned
/// to 8 bytes only.
pub(crate) fn load(
    b: &mut FunctionBuilder<'_>,
    address: Value,
    offset: i32,
    mem: MemType,
    flags: MemFlagsData,
) -> Value {
    if mem == MemType::V128 {
        return b.ins().load(VECTOR, flags, address, offset);
    }
    let low = b.ins().load(types::F64, flags, address, offset);
    let low = b.ins().scalar_to_vector(types::F64X2, low);
    if mem == MemType::V64 {
        return as_lanes(b, low, VECTOR);
    }
    let low = as_lanes(b, low, types::F32X4);
    let last = b.ins().load(types::F32, flags, address, offset + 8);
    let all = b.ins().insertlane(low, last, 2);
    as_lanes(b, all, VECTOR)
}

/// Stores the lanes that are in memory.
pub(crate) fn store(
    b: &mut FunctionBuilder<'_>,
    address: Value,
    offset: i32,
    value: Value,
    mem: MemType,
    flags: MemFlagsData,
) {
    if mem == MemType::V128 {
        b.ins().store(flags, value, address, offset);
        return;
    }
    let halves = as_lanes(b, value, types::F64X2);
    let low = b.ins().extractlane(halves, 0);
    b.ins().store(flags, low, address, offset);
    if mem == MemType::V96 {
        let quarters = as_lanes(b, value, types::F32X4);
        let last = b.ins().extractlane(quarters, 2);
        b.ins().store(flags, last, address, offset + 8);
    }
}
