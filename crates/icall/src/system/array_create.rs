//! System.Array.CreateInstance.

use crate::arguments::{argument_error_for, non_null};
use saki_abi::ObjRef;
use saki_abi::object::ArrayBound;
use saki_metadata::ElementType;
use saki_reflect::type_construction::throw_no_array_of;
use saki_runtime::exceptions::ToManaged;
use saki_runtime::{CurrentThread, InternalCall, Managed, exceptions, object, type_objects};
use saki_types::universe;

/// The ints of an int[].
fn ints(array: ObjRef) -> Vec<i32> {
    let first = object::element_address(array, 0, 4) as *const i32;
    // SAFETY: an int[] has that many ints.
    unsafe { std::slice::from_raw_parts(first, object::array_length(array)) }.to_vec()
}

fn create_instance(t: CurrentThread, element_type: ObjRef, lengths: ObjRef, bounds: ObjRef) -> ObjRef {
    t.run(|| create(t, element_type, lengths, bounds))
}

fn create(t: CurrentThread, element_type: ObjRef, lengths: ObjRef, bounds: ObjRef) -> Managed<ObjRef> {
    non_null(t, lengths, "lengths")?;
    let element = type_objects::require(t, element_type, "elementType")?;
    let lengths = ints(lengths);
    let lower_bounds = if bounds.is_null() { vec![0; lengths.len()] } else { ints(bounds) };
    if lengths.is_empty() {
        return Err(argument_error_for(t, "lengths", "At least one length is needed."));
    }
    if lower_bounds.len() != lengths.len() {
        return Err(argument_error_for(t, "bounds", "The number of bounds differs from the number of lengths."));
    }
    if lengths.iter().any(|&length| length < 0) {
        return Err(exceptions::throw_default(t, "ArgumentOutOfRangeException"));
    }
    if element.element_type == ElementType::Void {
        return Err(exceptions::throw(
            t,
            "System",
            "NotSupportedException",
            "Arrays of System.Void are not supported.",
        ));
    }
    if element.is_byref() || element.is_open {
        let message = format!("Arrays of {} cannot be created.", element.full_name());
        return Err(exceptions::throw(t, "System", "NotSupportedException", &message));
    }
    if element.element_type == ElementType::TypedByRef {
        let message = format!("Arrays of {} types are invalid.", element.full_name());
        return Err(exceptions::throw(t, "System", "InvalidProgramException", &message));
    }
    if element.is_byref_like().to_managed(t)? {
        return Err(throw_no_array_of(t, element));
    }
    if lengths.len() == 1 && lower_bounds[0] == 0 {
        return object::new_array(t, element, lengths[0] as usize);
    }
    let array_ty = universe().array_of(element, lengths.len() as u32);
    let bounds: Vec<ArrayBound> = lengths
        .iter()
        .zip(&lower_bounds)
        .map(|(&length, &lower_bound)| ArrayBound { length: length as u32, lower_bound })
        .collect();
    object::new_multi_dim_array(t, array_ty, &bounds)
}

pub const TABLE: &[InternalCall] = &[InternalCall::new("System.Array::CreateInstanceImpl", &create_instance)];
