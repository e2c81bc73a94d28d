//! System.Array: creation, and the methods whose bodies look for bounds where CoreCLR has them, in front of the
//! elements; Saki's lie behind them.

use crate::arguments::{ObjectPlace, TypeArgument};
use saki_abi::object::ArrayBound;
use saki_runtime::ExceptionType;
use saki_runtime::exec::class_init;
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::object::entries::entry_address;
use saki_runtime::object::{exceptions, method_tables};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Thrown, ToManaged};
use saki_types::{ElementType, Ty, universe};

fn out_of_range(t: CurrentThread) -> Thrown {
    exceptions::throw_default(t, ExceptionType::IndexOutOfRange)
}

/// The bound of a dimension.
fn bound(t: CurrentThread, array: Option<Array>, dimension: i32) -> Managed<ArrayBound> {
    let Some(array) = array else { return Err(exceptions::throw_null_reference(t)) };
    let bounds = array.bounds();
    let found = match bounds {
        Some(bounds) => usize::try_from(dimension).ok().and_then(|at| bounds.get(at).copied()),
        None if dimension == 0 => {
            Some(ArrayBound { length: u32::try_from(array.length()).unwrap_or(u32::MAX), lower_bound: 0 })
        }
        None => None,
    };
    let message = "Array does not have that many dimensions.";
    found.ok_or_else(|| exceptions::throw(t, ExceptionType::IndexOutOfRange, message))
}

fn get_length(t: CurrentThread, array: Option<Array>, dimension: i32) -> Managed<i32> {
    Ok(bound(t, array, dimension)?.length.cast_signed())
}

fn get_lower_bound(t: CurrentThread, array: Option<Array>, dimension: i32) -> Managed<i32> {
    Ok(bound(t, array, dimension)?.lower_bound)
}

fn get_upper_bound(t: CurrentThread, array: Option<Array>, dimension: i32) -> Managed<i32> {
    let bound = bound(t, array, dimension)?;
    Ok(bound.lower_bound.wrapping_add(bound.length.cast_signed()).wrapping_sub(1))
}

/// The position among all elements of the element with an index, in an array of one dimension.
fn flattened_index(t: CurrentThread, array: Option<Array>, index: i32) -> Managed<isize> {
    flattened(t, array, &[index])
}

/// A ReadOnlySpan of int.
#[repr(C)]
struct Indices {
    first: *const i32,
    count: i32,
}

fn flattened_index_of(t: CurrentThread, array: Option<Array>, indices: *const Indices) -> Managed<isize> {
    // SAFETY: a span passes by the address of a copy; its elements stay in place, since a managed frame
    // has their address.
    let indices =
        unsafe { std::slice::from_raw_parts((*indices).first, usize::try_from((*indices).count).unwrap_or(0)) };
    flattened(t, array, indices)
}

fn flattened(t: CurrentThread, array: Option<Array>, indices: &[i32]) -> Managed<isize> {
    let Some(array) = array else { return Err(exceptions::throw_null_reference(t)) };
    let mut position = 0;
    match array.bounds() {
        Some(bounds) => {
            for (index, bound) in indices.iter().zip(bounds) {
                let offset = i64::from(*index) - i64::from(bound.lower_bound);
                let offset = u32::try_from(offset).ok().filter(|offset| *offset < bound.length);
                position = position * bound.length as usize + offset.ok_or_else(|| out_of_range(t))? as usize;
            }
        }
        None => {
            let index = indices.first().and_then(|index| usize::try_from(*index).ok());
            position = index.filter(|index| *index < array.length()).ok_or_else(|| out_of_range(t))?;
        }
    }
    Ok(position.cast_signed())
}

/// `Array.Clear` of a range. The body, which reads CoreCLR's tables, throws for null.
fn clear_range(t: CurrentThread, array: Option<Array>, index: i32, count: i32) -> Managed<i32> {
    let Some(array) = array else { return Ok(DECLINED) };
    let lower_bound = array.bounds().and_then(|bounds| bounds.first().map(|bound| bound.lower_bound)).unwrap_or(0);
    let first = usize::try_from(i64::from(index) - i64::from(lower_bound)).ok();
    match (first, usize::try_from(count)) {
        (Some(first), Ok(count)) if first.checked_add(count).is_some_and(|end| end <= array.length()) => {
            array.clear(first, count);
            Ok(0)
        }
        _ => Err(out_of_range(t)),
    }
}

fn element_type_of_elements(t: CurrentThread, array: Option<Array>) -> Managed<u8> {
    let Some(array) = array else { return Err(exceptions::throw_null_reference(t)) };
    Ok(array.ty().element().map_or(0, |element| element.underlying().element_type as u8))
}

/// Refuses element types of which there are no arrays.
fn require_element(t: CurrentThread, element: Ty) -> Managed<()> {
    let message = if element.element_type == ElementType::Void {
        "Arrays of System.Void are not supported."
    } else if element.is_byref() {
        "Type is not supported."
    } else if element.is_open {
        "Cannot create arrays of open type."
    } else if element.element_type == ElementType::TypedByRef || element.is_byref_like().to_managed(t)? {
        "Cannot create arrays of ByRef-like values."
    } else {
        return Ok(());
    };
    Err(exceptions::throw(t, ExceptionType::NotSupported, message))
}

fn new_with_bounds(t: CurrentThread, array_ty: Ty, bounds: &[ArrayBound], result: ObjectPlace) -> Managed<()> {
    if bounds.iter().any(|bound| bound.length > i32::MAX.cast_unsigned()) {
        return Err(exceptions::throw_default(t, ExceptionType::Overflow));
    }
    let does_end =
        |bound: &ArrayBound| i64::from(bound.lower_bound) + i64::from(bound.length) <= i64::from(i32::MAX) + 1;
    if !bounds.iter().all(does_end) {
        let message = "Higher indices will exceed Int32.MaxValue because of large lower bound and/or length.";
        return Err(exceptions::throw(t, ExceptionType::ArgumentOutOfRange, message));
    }
    let array = match bounds {
        [bound] if array_ty.is_sz_array() => match array_ty.element() {
            Some(element) => Array::new(t, element, bound.length as usize)?,
            None => return Err(exceptions::throw_null_reference(t)),
        },
        _ => Array::new_multi_dim(t, array_ty, bounds)?,
    };
    result.set(t, array);
    Ok(())
}

/// `of_array`: the type is that of the array, else that of its elements.
fn create_instance(
    t: CurrentThread,
    ty: TypeArgument,
    rank: i32,
    lengths: *const i32,
    lower_bounds: *const i32,
    of_array: i32,
    result: ObjectPlace,
) -> Managed<()> {
    let ty = ty.ty();
    let rank = usize::try_from(rank).unwrap_or(0);
    // SAFETY: managed code passes the address of `rank` lengths.
    let lengths = unsafe { std::slice::from_raw_parts(lengths, rank) };
    let lower_bounds = match lower_bounds.is_null() {
        true => &vec![0; rank],
        // SAFETY: managed code passes null or the address of `rank` bounds.
        false => unsafe { std::slice::from_raw_parts(lower_bounds, rank) },
    };
    let bounds: Vec<ArrayBound> = lengths
        .iter()
        .zip(lower_bounds)
        .map(|(length, lower_bound)| ArrayBound { length: length.cast_unsigned(), lower_bound: *lower_bound })
        .collect();
    let array_ty = if of_array != 0 {
        ty
    } else {
        require_element(t, ty)?;
        match lower_bounds {
            [0] => universe().sz_array_of(ty),
            _ => universe().array_of(ty, u32::try_from(rank).unwrap_or(0)),
        }
    };
    new_with_bounds(t, array_ty, &bounds, result)
}

/// 10: the arguments of an array's constructor, lengths or pairs of a lower bound and a length.
fn create_multi_dim(
    t: CurrentThread,
    handle: isize,
    count: u32,
    arguments: *const i32,
    result: ObjectPlace,
) -> Managed<()> {
    // SAFETY: managed code passes the handle of an array type.
    let ty = unsafe { method_tables::type_of_handle(handle.cast_unsigned()) };
    // SAFETY: managed code passes the address of `count` arguments.
    let arguments = unsafe { std::slice::from_raw_parts(arguments, count as usize) };
    let bound = |length: i32, lower_bound| ArrayBound { length: length.cast_unsigned(), lower_bound };
    let bounds: Vec<ArrayBound> = if arguments.len() == ty.array_rank() as usize {
        arguments.iter().map(|length| bound(*length, 0)).collect()
    } else {
        arguments.chunks_exact(2).map(|pair| bound(pair[1], pair[0])).collect()
    };
    new_with_bounds(t, ty, &bounds, result)
}

/// The parameterless constructor of the elements of an array type; null where they have none.
fn element_constructor(t: CurrentThread, array_ty: TypeArgument) -> Managed<*const ()> {
    let Some(element) = array_ty.ty().element().filter(|element| element.is_value_type()) else {
        return Ok(std::ptr::null());
    };
    let Some(constructor) = element.find_method_sig(".ctor", &[]).to_managed(t)? else { return Ok(std::ptr::null()) };
    class_init::ensure(t, element)?;
    Ok(entry_address(constructor).to_managed(t)? as *const ())
}

/// See the module header.
pub const LOOPS: &[LoopRow] = &[
    LoopRow::new("System.Array::GetLength(System.Int32) System.Int32", &get_length).correcting(),
    LoopRow::new("System.Array::GetLowerBound(System.Int32) System.Int32", &get_lower_bound).correcting(),
    LoopRow::new("System.Array::GetUpperBound(System.Int32) System.Int32", &get_upper_bound).correcting(),
    LoopRow::new("System.Array::GetFlattenedIndex(System.Int32) System.IntPtr", &flattened_index).correcting(),
    LoopRow::new(
        "System.Array::GetFlattenedIndex(System.ReadOnlySpan`1[System.Int32]) System.IntPtr",
        &flattened_index_of,
    )
    .correcting(),
    LoopRow::new("static System.Array::Clear(System.Array,System.Int32,System.Int32) System.Void", &clear_range)
        .declining()
        .correcting(),
];

/// The internal calls of `System.Array`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net System.Array::GetCorElementTypeOfElementType", &element_type_of_elements),
    InternalCall::new("@net QCall::Array_CreateInstance", &create_instance),
    InternalCall::new("@net10 QCall::Array_CreateInstanceMDArray", &create_multi_dim),
    InternalCall::new("@net QCall::Array_GetElementConstructorEntrypoint", &element_constructor),
];
