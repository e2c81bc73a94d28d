//! System.Array: shape, clearing, unchecked element access. Copying, creation and boxed access are in files of their
//! own.

use crate::arguments::{non_null, non_null_this};
use saki_abi::object::ArrayBound;
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, RefPlace};

/// The dimension's length and lower bound.
fn bound(t: CurrentThread, array: Option<Array>, dimension: i32) -> Managed<ArrayBound> {
    let array = non_null_this(t, array)?;
    let rank = array.vtable().rank as i32;
    if dimension < 0 || dimension >= rank {
        return Err(exceptions::throw_default(t, ExceptionType::IndexOutOfRange));
    }
    Ok(match array.bounds() {
        Some(bounds) => bounds[dimension as usize],
        None => ArrayBound { length: array.length() as u32, lower_bound: 0 },
    })
}

fn get_rank(t: CurrentThread, this: Option<Array>) -> Managed<i32> {
    let this = non_null_this(t, this)?;
    Ok(this.vtable().rank as i32)
}

fn get_length(t: CurrentThread, this: Option<Array>, dimension: i32) -> Managed<i32> {
    Ok(bound(t, this, dimension)?.length as i32)
}

fn get_lower_bound(t: CurrentThread, this: Option<Array>, dimension: i32) -> Managed<i32> {
    Ok(bound(t, this, dimension)?.lower_bound)
}

/// Zeroes elements; managed code has checked the range.
fn clear_internal(t: CurrentThread, array: Option<Array>, index: i32, count: i32) -> Managed<()> {
    non_null(t, array, "array")?.clear(index as usize, count as usize);
    Ok(())
}

/// Copies an element to a variable of the element type, which may lie anywhere. Managed code has checked the index.
fn get_generic_value(t: CurrentThread, this: Option<Array>, index: i32, value: *mut u8) -> Managed<()> {
    let this = non_null_this(t, this)?;
    copy_element(t, this, this.element_address(index as usize), value);
    Ok(())
}

/// The reverse of `get_generic_value`.
fn set_generic_value(t: CurrentThread, this: Option<Array>, index: i32, value: *const u8) -> Managed<()> {
    let this = non_null_this(t, this)?;
    copy_element(t, this, value, this.element_address(index as usize));
    Ok(())
}

/// Copies an element of the array in a variable to `value`.
fn get_referenced_value(t: CurrentThread, array: RefPlace, index: i32, value: *mut u8) -> Managed<()> {
    get_generic_value(t, array.get().and_then(Obj::as_array), index, value)
}

/// Sets an element of the array in a variable from `value`.
fn set_referenced_value(t: CurrentThread, array: RefPlace, index: i32, value: *const u8) -> Managed<()> {
    set_generic_value(t, array.get().and_then(Obj::as_array), index, value)
}

fn copy_element(t: CurrentThread, array: Array, source: *const u8, destination: *mut u8) {
    let size_bytes = array.element_size_bytes();
    let references = array.element_references();
    // SAFETY: both are variables of the array's element type, one of which compiled code passes; `t` is current.
    unsafe { saki_gc::barrier::struct_copy_unknown(t.managed(), destination, source, size_bytes, references) };
}

/// Runs the parameterless constructor of a value type, if it has one, on each element.
fn initialize(t: CurrentThread, this: Option<Array>) -> Managed<()> {
    let this = non_null_this(t, this)?;
    let Some(element) = this.ty().element().filter(|element| element.is_value_type()) else {
        return Ok(());
    };
    let constructors = element.methods_named(".ctor").to_managed(t)?.into_iter();
    for constructor in constructors.filter(|method| !method.is_static()) {
        if !constructor.sig().to_managed(t)?.params.is_empty() {
            continue;
        }
        for index in 0..this.length() {
            invoke::invoke(t, constructor, &[Slot::from_ptr(this.element_address(index))])?;
        }
    }
    Ok(())
}

/// The body in Mono's class library is empty.
pub(crate) const CORRECTIONS: &[LoopRow] =
    &[LoopRow::new("System.Array::Initialize() System.Void", &initialize).correcting()];

/// The internal calls of `System.Array`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Array::GetRank", &get_rank),
    InternalCall::new("System.Array::GetLength", &get_length),
    InternalCall::new("System.Array::GetLowerBound", &get_lower_bound),
    InternalCall::new("System.Array::ClearInternal", &clear_internal),
    InternalCall::new("@6.8 System.Array::GetGenericValueImpl", &get_generic_value),
    InternalCall::new("@6.8 System.Array::SetGenericValueImpl", &set_generic_value),
    InternalCall::new("@6.12,6.14 System.Array::GetGenericValue_icall", &get_referenced_value),
    InternalCall::new("@6.12,6.14 System.Array::SetGenericValue_icall", &set_referenced_value),
];
