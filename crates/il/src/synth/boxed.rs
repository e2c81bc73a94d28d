//! Arguments in an object[], in the bodies that hand a call over to the runtime: `BeginInvoke`, `EndInvoke`, and calls
//! of transparent proxies. Such bodies have a `this`, which is not in the array.

use super::builder::{FunctionBuilder, checked_flags, flags, return_type};
use crate::ir::{AliasClass, IrType, LocalId, MemType, Op, ValueId};
use saki_types::{LoadResult, MethodSig, universe};

/// Boxes all arguments into a new array; by-reference arguments by their current value.
pub(super) fn boxed_arguments(b: &mut FunctionBuilder, sig: &MethodSig) -> LoadResult<ValueId> {
    let array = new_object_array(b, sig.params.len())?;
    for (index, param) in sig.params.iter().enumerate() {
        let local = LocalId(index as u32 + 1);
        let (value, ty) = match param.element().filter(|_| param.is_byref()) {
            Some(pointee) => {
                let address = b.get(local);
                (b.load_value(address, pointee, checked_flags(AliasClass::Any))?, pointee)
            }
            None => (b.operand(local), *param),
        };
        let object = b.box_value(value, ty)?;
        store_element(b, array, index, object);
    }
    Ok(array)
}

/// Copies by-reference results from the array into the arguments, and returns the value in the box `boxed`.
pub(super) fn return_unboxed(
    b: &mut FunctionBuilder,
    sig: &MethodSig,
    array: ValueId,
    boxed: ValueId,
) -> LoadResult<()> {
    for (index, param) in sig.params.iter().enumerate() {
        let Some(pointee) = param.element().filter(|_| param.is_byref()) else { continue };
        let slot = element_slot(b, array, index);
        let object = b.load(slot, 0, MemType::Ref, flags(AliasClass::Element));
        let value = b.unbox_value(object, pointee)?;
        let destination = b.get(LocalId(index as u32 + 1));
        b.store_value(destination, value, pointee, None, checked_flags(AliasClass::Any))?;
    }
    match return_type(sig.ret)? {
        None => b.ret(None),
        Some(_) => {
            let value = b.unbox_value(boxed, sig.ret)?;
            b.ret(Some(value));
        }
    }
    Ok(())
}

pub(super) fn new_object_array(b: &mut FunctionBuilder, length: usize) -> LoadResult<ValueId> {
    let array_type = universe().sz_array_of(universe().object());
    let length = b.const_i32(length as i32);
    Ok(b.emit(Op::NewArray(array_type, length), IrType::Ref))
}

fn element_slot(b: &mut FunctionBuilder, array: ValueId, index: usize) -> ValueId {
    let index = b.const_i32(index as i32);
    b.emit(Op::ElementAddr { array, index, element_size_bytes: 8 }, IrType::ByRef)
}

pub(super) fn store_element(b: &mut FunctionBuilder, array: ValueId, index: usize, value: ValueId) {
    let addr = element_slot(b, array, index);
    let flags = flags(AliasClass::Element);
    b.emit(Op::StoreRef { object: Some(array), addr, offset: 0, value, flags }, IrType::Void);
}
