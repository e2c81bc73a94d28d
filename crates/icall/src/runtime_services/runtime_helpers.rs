//! System.Runtime.CompilerServices.RuntimeHelpers.

use crate::arguments::{argument_error_for, non_null};
use crate::system::object::clone;
use saki_abi::ObjRef;
use saki_abi::object::STRING_CHARS_OFFSET;
use saki_metadata::ElementType;
use saki_runtime::exceptions::ToManaged;
use saki_runtime::{CurrentThread, InternalCall, Managed, class_init, object};
use saki_types::{Field, Image, Type};

/// Stack that must be left for `EnsureSufficientExecutionStack`: 128 KiB, as .NET on 64-bit systems.
const SUFFICIENT_STACK_BYTES: usize = 128 << 10;

fn offset_to_string_data(_t: CurrentThread) -> i32 {
    STRING_CHARS_OFFSET
}

/// Copies the initial data that the compiler stored in the image into an array of primitives.
fn initialize_array(t: CurrentThread, array: ObjRef, field: *const Field) {
    t.run(|| {
        non_null(t, array, "array")?;
        if field.is_null() {
            return Err(argument_error_for(t, "fldHandle", "The field handle is null."));
        }
        // SAFETY: field handles are addresses of `&'static Field`.
        fill_from_field(t, array, unsafe { &*field })
    });
}

fn fill_from_field(t: CurrentThread, array: ObjRef, field: &'static Field) -> Managed<()> {
    let element = object::type_of(array).element();
    let is_primitive = element.is_some_and(|e| {
        e.is_value_type() && !matches!(e.underlying().element_type, ElementType::ValueType | ElementType::TypedByRef)
    });
    if !is_primitive {
        return Err(argument_error_for(t, "array", "Cannot initialize array of non-primitive type"));
    }
    let Some(data) = field.rva_data().to_managed(t)? else {
        return Err(argument_error_for(t, "field_handle", &format!("Field '{}' doesn't have an RVA", field.name)));
    };
    let size_bytes = object::array_length(array) * object::vtable(array).element_size_bytes as usize;
    if size_bytes > data.len() {
        return Err(argument_error_for(t, "field_handle", "Field not large enough to fill array"));
    }
    // SAFETY: the array holds `size_bytes` of primitives, the field at least as many.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), object::element_address(array, 0, 1), size_bytes) };
    Ok(())
}

/// A copy of a boxed value; any other object itself.
fn get_object_value(t: CurrentThread, object: ObjRef) -> ObjRef {
    t.run(|| if object.is_null() || !object::type_of(object).is_value_type() { Ok(object) } else { clone(t, object) })
}

fn run_class_constructor(t: CurrentThread, ty: *const Type) {
    t.run(|| {
        if ty.is_null() {
            return Err(argument_error_for(t, "type", "Handle is not initialized."));
        }
        // SAFETY: type handles are addresses of `&'static Type`.
        let ty = unsafe { &*ty };
        if ty.is_open { Ok(()) } else { class_init::ensure(t, ty) }
    });
}

/// A module's constructor is the class constructor of its first type, `<Module>`.
fn run_module_constructor(t: CurrentThread, module: *const Image) {
    t.run(|| {
        if module.is_null() {
            return Err(argument_error_for(t, "module", "Handle is not initialized."));
        }
        // SAFETY: module handles are addresses of `&'static Image`.
        let module = unsafe { &*module }.type_def(1).to_managed(t)?;
        class_init::ensure(t, module)
    });
}

fn has_sufficient_execution_stack(t: CurrentThread) -> i32 {
    let here = 0u8;
    let stack = t.managed().stack_bounds();
    // Of a small stack, which native code made, a half is enough.
    let sufficient_bytes = SUFFICIENT_STACK_BYTES.min(stack.len() / 2);
    i32::from((&raw const here as usize).saturating_sub(stack.start) >= sufficient_bytes)
}

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
