//! System.Array: shape, clearing, unchecked element access. Copying, creation and boxed access are in files of their own.

use crate::arguments::{non_null, non_null_this};
use saki_abi::ObjRef;
use saki_abi::object::ArrayBound;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::invoke::{self, Slot};
use saki_runtime::{CurrentThread, InternalCall, Managed, object};

/// The dimension's length and lower bound.
fn bound(t: CurrentThread, array: ObjRef, dimension: i32) -> Managed<ArrayBound> {
    non_null_this(t, array)?;
    let rank = object::vtable(array).rank as i32;
    if dimension < 0 || dimension >= rank {
        return Err(exceptions::throw_default(t, "IndexOutOfRangeException"));
    }
    Ok(match object::array_bounds(array) {
        Some(bounds) => bounds[dimension as usize],
        None => ArrayBound { length: object::array_length(array) as u32, lower_bound: 0 },
    })
}

fn get_rank(t: CurrentThread, this: ObjRef) -> i32 {
    t.run(|| {
        non_null_this(t, this)?;
        Ok(object::vtable(this).rank as i32)
    })
}

fn get_length(t: CurrentThread, this: ObjRef, dimension: i32) -> i32 {
    t.run(|| Ok(bound(t, this, dimension)?.length as i32))
}

fn get_lower_bound(t: CurrentThread, this: ObjRef, dimension: i32) -> i32 {
    t.run(|| Ok(bound(t, this, dimension)?.lower_bound))
}

/// Zeroes elements; managed code has checked the range. Stores of null need no barrier.
fn clear_internal(t: CurrentThread, array: ObjRef, index: i32, count: i32) {
    t.run(|| {
        non_null(t, array, "array")?;
        let element_size_bytes = object::vtable(array).element_size_bytes as usize;
        let first = object::element_address(array, index as usize, element_size_bytes);
        // SAFETY: `index..index + count` is inside the array. Whole aligned words are cleared whole by memset on the
        // machines we support, so that another thread never sees half a reference.
        unsafe { std::ptr::write_bytes(first, 0, count as usize * element_size_bytes) };
        Ok(())
    })
}

/// Copies an element to a variable of the element type, which may lie anywhere. No bounds check, as documented.
fn get_generic_value(t: CurrentThread, this: ObjRef, index: i32, value: *mut u8) {
    copy_element(t, this, object_element(this, index), value);
}

/// The reverse of `get_generic_value`.
fn set_generic_value(t: CurrentThread, this: ObjRef, index: i32, value: *const u8) {
    copy_element(t, this, value, object_element(this, index));
}

fn object_element(array: ObjRef, index: i32) -> *mut u8 {
    object::element_address(array, index as usize, object::vtable(array).element_size_bytes as usize)
}

/// As `get_generic_value`, of the array in a variable.
fn get_referenced_value(t: CurrentThread, array: *const ObjRef, index: i32, value: *mut u8) {
    // SAFETY: managed code passes the address of a local.
    get_generic_value(t, unsafe { *array }, index, value);
}

/// As `set_generic_value`, of the array in a variable.
fn set_referenced_value(t: CurrentThread, array: *const ObjRef, index: i32, value: *const u8) {
    // SAFETY: as above.
    set_generic_value(t, unsafe { *array }, index, value);
}

fn copy_element(t: CurrentThread, array: ObjRef, source: *const u8, destination: *mut u8) {
    let vtable = object::vtable(array);
    // SAFETY: the element map of an array's vtable.
    let refs = unsafe { saki_abi::RefMap::offsets(vtable.element_ref_map) };
    let size_bytes = vtable.element_size_bytes as usize;
    // SAFETY: both are variables of the array's element type; `t` is current.
    unsafe { saki_gc::barrier::struct_copy_unknown(t.managed(), destination, source, size_bytes, refs) };
}

/// Runs the parameterless constructor of a value type, if it has one, on each element.
fn initialize(t: CurrentThread, this: ObjRef) {
    t.run(|| {
        non_null_this(t, this)?;
        let Some(element) = object::type_of(this).element().filter(|element| element.is_value_type()) else {
            return Ok(());
        };
        let constructors = element.methods_named(".ctor").to_managed(t)?.into_iter();
        for constructor in constructors.filter(|method| !method.is_static()) {
            if !constructor.sig().to_managed(t)?.params.is_empty() {
                continue;
            }
            for index in 0..object::array_length(this) {
                invoke::invoke(t, constructor, &[Slot::from_ptr(object_element(this, index as i32))])?;
            }
        }
        Ok(())
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Array::GetRank", &get_rank),
    InternalCall::new("System.Array::GetLength", &get_length),
    InternalCall::new("System.Array::GetLowerBound", &get_lower_bound),
    InternalCall::new("System.Array::Initialize", &initialize),
    InternalCall::new("System.Array::ClearInternal", &clear_internal),
    InternalCall::new("@6.8 System.Array::GetGenericValueImpl", &get_generic_value),
    InternalCall::new("@6.8 System.Array::SetGenericValueImpl", &set_generic_value),
    InternalCall::new("@6.12 System.Array::GetGenericValue_icall", &get_referenced_value),
    InternalCall::new("@6.12 System.Array::SetGenericValue_icall", &set_referenced_value),
];
