//! System.Runtime.CompilerServices.RuntimeHelpers.

use crate::arguments::{argument_error_for, non_null};
use saki_abi::object::STRING_CHARS_OFFSET;
use saki_metadata::ElementType;
use saki_runtime::exec::class_init;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj};
use saki_types::{Field, Image, Type};

/// The stack that `EnsureSufficientExecutionStack` requires to be free: 128 KiB, as .NET on 64-bit systems.
const SUFFICIENT_STACK_BYTES: usize = 128 << 10;

fn offset_to_string_data(_t: CurrentThread) -> i32 {
    STRING_CHARS_OFFSET
}

/// Copies the initial data that the compiler stored in the image into an array of primitives.
fn initialize_array(t: CurrentThread, array: Option<Array>, field: Option<&'static Field>) -> Managed<()> {
    let array = non_null(t, array, "array")?;
    match field {
        Some(field) => fill_from_field(t, array, field),
        None => Err(argument_error_for(t, "fldHandle", "The field handle is null.")),
    }
}

fn fill_from_field(t: CurrentThread, array: Array, field: &'static Field) -> Managed<()> {
    let element = array.ty().element();
    let is_primitive = element.is_some_and(|e| {
        e.is_value_type() && !matches!(e.underlying().element_type, ElementType::ValueType | ElementType::TypedByRef)
    });
    if !is_primitive {
        return Err(argument_error_for(t, "array", "Cannot initialize array of non-primitive type"));
    }
    let Some(data) = field.rva_data().to_managed(t)? else {
        return Err(argument_error_for(t, "field_handle", &format!("Field '{}' doesn't have an RVA", field.name)));
    };
    let size_bytes = array.length() * array.element_size_bytes();
    if size_bytes > data.len() {
        return Err(argument_error_for(t, "field_handle", "Field not large enough to fill array"));
    }
    // SAFETY: the array holds `size_bytes` of primitives, the field at least as many.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), array.element_address(0), size_bytes) };
    Ok(())
}

/// A copy of a boxed value; any other object itself.
fn get_object_value<'t>(t: CurrentThread<'t>, object: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    match object {
        Some(boxed) if boxed.ty().is_value_type() => boxed.cloned(t).map(Some),
        _ => Ok(object),
    }
}

fn run_class_constructor(t: CurrentThread, ty: Option<&'static Type>) -> Managed<()> {
    let Some(ty) = ty else { return Err(argument_error_for(t, "type", "Handle is not initialized.")) };
    if ty.is_open { Ok(()) } else { class_init::ensure(t, ty) }
}

/// A module's constructor is the class constructor of its first type, `<Module>`.
fn run_module_constructor(t: CurrentThread, module: *const Image) -> Managed<()> {
    if module.is_null() {
        return Err(argument_error_for(t, "module", "Handle is not initialized."));
    }
    // SAFETY: module handles are addresses of `&'static Image`.
    let module = unsafe { &*module }.type_def(1).to_managed(t)?;
    class_init::ensure(t, module)
}

fn has_sufficient_execution_stack(t: CurrentThread) -> bool {
    let here = 0u8;
    let stack = t.managed().stack_bounds();
    // Native code may have made a smaller stack, of which a half is enough.
    let sufficient_bytes = SUFFICIENT_STACK_BYTES.min(stack.len() / 2);
    t.managed().can_grow() || (&raw const here as usize).saturating_sub(stack.start) >= sufficient_bytes
}

/// The internal calls of `System.Runtime.CompilerServices.RuntimeHelpers`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Runtime.CompilerServices.RuntimeHelpers::get_OffsetToStringData", &offset_to_string_data),
    InternalCall::new("System.Runtime.CompilerServices.RuntimeHelpers::InitializeArray", &initialize_array),
    InternalCall::new("System.Runtime.CompilerServices.RuntimeHelpers::GetObjectValue", &get_object_value),
    InternalCall::new("System.Runtime.CompilerServices.RuntimeHelpers::RunClassConstructor", &run_class_constructor),
    InternalCall::new("System.Runtime.CompilerServices.RuntimeHelpers::RunModuleConstructor", &run_module_constructor),
    InternalCall::new(
        "System.Runtime.CompilerServices.RuntimeHelpers::SufficientExecutionStack",
        &has_sufficient_execution_stack,
    ),
];
