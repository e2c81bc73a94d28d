//! System.Array.CreateInstance.

use crate::arguments::{argument_error_for, non_null};
use saki_abi::object::ArrayBound;
use saki_metadata::ElementType;
use saki_reflect::type_construction::throw_no_array_of;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::object::{exceptions, type_objects};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj};
use saki_types::universe;

fn create_instance<'t>(
    t: CurrentThread<'t>,
    element_type: Option<Obj>,
    lengths: Option<Array>,
    bounds: Option<Array>,
) -> Managed<Array<'t>> {
    let lengths = non_null(t, lengths, "lengths")?;
    let element = type_objects::require(t, element_type, "elementType")?;
    let lengths = lengths.numbers::<i32>();
    let lower_bounds = bounds.map_or_else(|| vec![0; lengths.len()], Array::numbers::<i32>);
    if lengths.is_empty() {
        return Err(argument_error_for(t, "lengths", "At least one length is needed."));
    }
    if lower_bounds.len() != lengths.len() {
        return Err(argument_error_for(t, "bounds", "The number of bounds differs from the number of lengths."));
    }
    if lengths.iter().any(|&length| length < 0) {
        return Err(exceptions::throw_default(t, ExceptionType::ArgumentOutOfRange));
    }
    if element.element_type == ElementType::Void {
        return Err(exceptions::throw(t, ExceptionType::NotSupported, "Arrays of System.Void are not supported."));
    }
    if element.is_byref() || element.is_open {
        let message = format!("Arrays of {} cannot be created.", element.full_name());
        return Err(exceptions::throw(t, ExceptionType::NotSupported, &message));
    }
    if element.element_type == ElementType::TypedByRef {
        let message = format!("Arrays of {} types are invalid.", element.full_name());
        return Err(exceptions::throw(t, ExceptionType::InvalidProgram, &message));
    }
    if element.is_byref_like().to_managed(t)? {
        return Err(throw_no_array_of(t, element));
    }
    if lengths.len() == 1 && lower_bounds[0] == 0 {
        return Array::new(t, element, lengths[0] as usize);
    }
    let array_ty = universe().array_of(element, lengths.len() as u32);
    let bounds: Vec<ArrayBound> = lengths
        .iter()
        .zip(&lower_bounds)
        .map(|(&length, &lower_bound)| ArrayBound { length: length as u32, lower_bound })
        .collect();
    Array::new_multi_dim(t, array_ty, &bounds)
}

/// The internal calls of `System.Array`.
pub const TABLE: &[InternalCall] = &[InternalCall::new("System.Array::CreateInstanceImpl", &create_instance)];
