//! Bodies of the array pseudo-methods `Get`, `Set`, `Address` and `.ctor`. ECMA-335 §II.14.2, §III.4.
//!
//! The bounds of a multi-dimensional array are `rank` pairs of (length u32, lower bound i32) at the address in the
//! header; elements are in row-major order. Invariant: an index is checked against its own dimension before it is used.
//! Left out: `newobj` itself: the importer calls the constructor's body as a factory (see [`array_ctor`]).

use super::builder::{FunctionBuilder, call_sig, checked_flags, flags, ir_type, mem_type, not_supported, required};
use crate::ir::{
    AliasClass, BinOp, CallSig, CmpOp, ConvTarget, Function, IrType, LocalId, MemType, Op, Symbol, ValueId,
};
use saki_abi::HelperId;
use saki_abi::object::{ARRAY_BOUND_BYTES, ARRAY_BOUNDS_OFFSET, ARRAY_LOWER_BOUND_OFFSET};
use saki_types::{ArrayMethod, LoadResult, Method, MethodKind, Ty};

/// Body of any array pseudo-method.
///
/// # Errors
/// `NotSupported` for a method that is no array pseudo-method; layout errors of the element type.
pub fn array_method(method: &'static Method) -> LoadResult<Function> {
    let MethodKind::Array(kind) = method.kind else {
        return Err(not_supported(method, "not an array method"));
    };
    match kind {
        ArrayMethod::Ctor | ArrayMethod::CtorBounds | ArrayMethod::CtorNested(_) => array_ctor(method),
        ArrayMethod::Get | ArrayMethod::Set | ArrayMethod::Address => array_access(method, kind),
    }
}

/// The signature under which the body of `array_ctor` is called: it takes the dimensions and returns the new array.
///
/// # Errors
/// The errors of the method's signature.
pub fn array_factory_sig(method: &'static Method) -> LoadResult<CallSig> {
    let params = vec![IrType::I32; method.sig()?.params.len()];
    Ok(CallSig { params, ret: Some(IrType::Ref), ..CallSig::default() })
}

/// A factory `fn(i32…) -> Ref` for `newobj` of an array constructor: `rank` lengths, or (lower bound, length) pairs.
///
/// # Errors
/// The errors of the method's signature.
pub fn array_ctor(method: &'static Method) -> LoadResult<Function> {
    let sig = array_factory_sig(method)?;
    let count = sig.params.len();
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), sig);
    b.set_stub();
    let args: Vec<ValueId> = (0..count).map(|i| b.get(LocalId(i as u32))).collect();
    let array = emit_new_multi_dim(&mut b, method.owner, &args)?;
    b.ret(Some(array));
    Ok(b.finish())
}

/// Allocates a multi-dimensional or jagged array from i32 values; also usable in line for `newobj` of an array
/// constructor.
///
/// # Errors
/// `TypeLoad` of core types.
pub fn emit_new_multi_dim(b: &mut FunctionBuilder, array_type: Ty, args: &[ValueId]) -> LoadResult<ValueId> {
    let local = b.local(IrType::Block(args.len() as u32 * 4));
    let block = b.address_of(local);
    for (index, value) in args.iter().enumerate() {
        b.store(block, index as i32 * 4, *value, MemType::I32, flags(AliasClass::Any));
    }
    let vtable = b.symbol(Symbol::VTable(array_type));
    let count = b.const_i32(args.len() as i32);
    required(b.call_helper(HelperId::NewMultiDimArray, vec![vtable, block, count]))
}

fn array_access(method: &'static Method, kind: ArrayMethod) -> LoadResult<Function> {
    let array_type = method.owner;
    let Some(element) = array_type.element() else {
        return Err(not_supported(method, "not an array method"));
    };
    let rank = array_type.array_rank() as usize;
    let sig = call_sig(method)?;
    let expected = 1 + rank + usize::from(kind == ArrayMethod::Set);
    if sig.params.len() != expected {
        return Err(not_supported(method, "an array method with the wrong number of indices"));
    }
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), sig);
    b.set_stub();
    let array = b.get(LocalId(0));
    let indices: Vec<ValueId> = (0..rank).map(|i| b.get(LocalId(i as u32 + 1))).collect();
    let address = emit_element_address(&mut b, array, array_type, &indices)?;
    match kind {
        ArrayMethod::Get => {
            let value = b.load_value(address, element, flags(AliasClass::Element))?;
            b.ret(Some(value));
        }
        ArrayMethod::Set => {
            let value = b.operand(LocalId(rank as u32 + 1));
            if ir_type(element)? == IrType::Ref {
                b.call_helper(HelperId::CheckArrayStore, vec![array, value]);
            }
            b.store_value(address, value, element, Some(array), flags(AliasClass::Element))?;
            b.ret(None);
        }
        _ => {
            if ir_type(element)? == IrType::Ref {
                let handle = b.symbol(Symbol::TypeHandle(element));
                b.call_helper(HelperId::CheckElementAddress, vec![array, handle]);
            }
            b.ret(Some(address));
        }
    }
    Ok(b.finish())
}

/// Converts `index` to a position from the first element, for an array with one dimension. It may be an SZ array, which
/// has no bounds.
fn index_from_lower_bound(b: &mut FunctionBuilder, bounds: ValueId, index: ValueId) -> ValueId {
    let relative = b.local(IrType::I32);
    b.set(relative, index);
    let none = b.const_i64(0);
    let has_bounds = b.cmp(CmpOp::NeUn, bounds, none);
    let (with_bounds, done) = (b.new_block(), b.new_block());
    b.branch_if(has_bounds, with_bounds, done);
    b.switch_to(with_bounds);
    let lower = b.load(bounds, ARRAY_LOWER_BOUND_OFFSET, MemType::I32, flags(AliasClass::Length));
    let from_lower = b.bin(BinOp::Sub, index, lower);
    b.set(relative, from_lower);
    b.jump(done);
    b.switch_to(done);
    b.get(relative)
}

/// Address of an element, with the null check and the bounds checks. The indices are I32; the result ByRef.
///
/// # Errors
/// Layout errors of the element type.
pub fn emit_element_address(
    b: &mut FunctionBuilder,
    array: ValueId,
    array_type: Ty,
    indices: &[ValueId],
) -> LoadResult<ValueId> {
    let element = array_type.element().unwrap_or(array_type);
    let element_size_bytes = match mem_type(element)? {
        Some(MemType::I8 | MemType::U8) => 1,
        Some(MemType::I16 | MemType::U16) => 2,
        Some(MemType::I32 | MemType::F32) => 4,
        Some(_) => 8,
        None => element.value_size_bytes()?,
    };
    if array_type.is_sz_array() {
        let length = b.emit(Op::ArrayLen(array), IrType::I32);
        b.emit(Op::BoundsCheck { index: indices[0], length }, IrType::Void);
        return Ok(b.emit(Op::ElementAddr { array, index: indices[0], element_size_bytes }, IrType::ByRef));
    }
    let bounds = b.load(array, ARRAY_BOUNDS_OFFSET, MemType::I64, checked_flags(AliasClass::Length));
    if let [index] = *indices {
        let index = index_from_lower_bound(b, bounds, index);
        let length = b.emit(Op::ArrayLen(array), IrType::I32);
        b.emit(Op::BoundsCheck { index, length }, IrType::Void);
        return Ok(b.emit(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef));
    }
    let mut linear: Option<ValueId> = None;
    for (dimension, index) in indices.iter().enumerate() {
        let offset = dimension as i32 * ARRAY_BOUND_BYTES;
        let length = b.load(bounds, offset, MemType::I32, flags(AliasClass::Length));
        let lower = b.load(bounds, offset + ARRAY_LOWER_BOUND_OFFSET, MemType::I32, flags(AliasClass::Length));
        let index = b.bin(BinOp::Sub, *index, lower);
        b.emit(Op::BoundsCheck { index, length }, IrType::Void);
        // Within bounds, so not negative; the product may pass 2^31.
        let index = b.conv(index, ConvTarget::U8);
        linear = Some(match linear {
            None => index,
            Some(outer) => {
                let length = b.conv(length, ConvTarget::U8);
                let row = b.bin(BinOp::Mul, outer, length);
                b.bin(BinOp::Add, row, index)
            }
        });
    }
    let index = required(linear)?;
    Ok(b.emit(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef))
}
