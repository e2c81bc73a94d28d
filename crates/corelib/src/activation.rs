//! How managed code makes objects: allocators and constructors as function pointers, which it calls.
//!
//! The allocator is the entry of StubHelpers.AllocateInternal (9) or RuntimeTypeHandle.InternalAllocNoChecks_FastPath
//! (10), internal calls that take a type handle and return an object: so managed code can `calli` it.

use crate::arguments::{ObjectPlace, TypeArgument};
use saki_runtime::ExceptionType;
use saki_runtime::exec::class_init;
use saki_runtime::object::entries::entry_address;
use saki_runtime::object::{exceptions, method_tables, type_objects};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, ToManaged};
use saki_types::{ElementType, Method, Ty, universe};

/// A new instance of the type of a handle, zeroed; null for a Nullable, whose boxed default value is null.
fn allocate<'t>(t: CurrentThread<'t>, handle: usize) -> Managed<Option<Obj<'t>>> {
    // SAFETY: the allocator's argument is the handle that `allocator` gave with it.
    let ty = unsafe { method_tables::type_of_handle(handle) };
    if ty.is_nullable() { Ok(None) } else { Obj::new(t, ty).map(Some) }
}

fn allocate_by_handle<'t>(t: CurrentThread<'t>, handle: isize) -> Managed<Option<Obj<'t>>> {
    allocate(t, handle.cast_unsigned())
}

fn allocate_by_table<'t>(t: CurrentThread<'t>, table: *const ()) -> Managed<Option<Obj<'t>>> {
    allocate(t, table.addr())
}

/// The allocator's code and its argument for a type.
pub fn allocator(t: CurrentThread, ty: Ty) -> Managed<(usize, usize)> {
    let in_class = |namespace: &str, class: &str, name: &str| -> Managed<Option<&'static Method>> {
        let class = universe().corlib().find_type(namespace, class).to_managed(t)?;
        let Some(class) = class else { return Ok(None) };
        Ok(class.methods().to_managed(t)?.find(|method| method.name == name))
    };
    let method = match in_class("System.StubHelpers", "StubHelpers", "AllocateInternal")? {
        Some(method) => Some(method),
        None => in_class("System", "RuntimeTypeHandle", "InternalAllocNoChecks_FastPath")?,
    };
    let Some(method) = method else {
        return Err(exceptions::throw_not_implemented(t, "the allocator of System.Private.CoreLib"));
    };
    Ok((entry_address(method).to_managed(t)?, method_tables::type_handle(ty).to_managed(t)?))
}

/// What an instance is for, by which .NET chooses some exceptions.
#[derive(Clone, Copy)]
enum Purpose {
    /// `Activator`; managed code puts the messages into one that names the type.
    Activation,
    /// `RuntimeHelpers.GetUninitializedObject`.
    Uninitialized,
}

/// Refuses types of which there are no instances, with .NET's exceptions.
fn require_instances(t: CurrentThread, ty: Ty, purpose: Purpose) -> Managed<()> {
    let of_activation = |plain, activated| match purpose {
        Purpose::Activation => activated,
        Purpose::Uninitialized => plain,
    };
    let unsupported = of_activation(ExceptionType::Argument, ExceptionType::MissingMethod);
    let unusable = of_activation(ExceptionType::MemberAccess, ExceptionType::MissingMethod);
    let (exception, message) = if ty.element_type == ElementType::String {
        (unsupported, "Uninitialized Strings cannot be created.")
    } else if ty.is_byref() || ty.is_pointer() || ty.is_array() {
        (unsupported, "Type is not supported.")
    } else if ty.is_delegate() {
        (ExceptionType::Argument, "Type is not supported.")
    } else if ty.is_interface() {
        (unusable, "Cannot create an instance of an interface.")
    } else if ty.is_abstract() {
        (unusable, "Cannot create an abstract class.")
    } else if ty.is_open {
        (ExceptionType::MemberAccess, "Cannot create a type for which Type.ContainsGenericParameters is true.")
    } else if ty.is_byref_like().to_managed(t)? {
        (ExceptionType::NotSupported, "Cannot create boxed ByRef-like values.")
    } else {
        return Ok(());
    };
    Err(exceptions::throw(t, exception, message))
}

fn activation_info(
    t: CurrentThread,
    ty: ObjectPlace,
    allocator_code: *mut usize,
    allocator_argument: *mut usize,
    object_constructor: *mut usize,
    value_constructor: *mut usize,
    is_public: *mut i32,
) -> Managed<()> {
    let Some(ty) = ty.get().and_then(type_objects::type_of_object) else {
        return Err(exceptions::throw_argument_null(t, "type"));
    };
    require_instances(t, ty, Purpose::Activation)?;
    let made = if ty.is_nullable() { ty.args.first().copied().unwrap_or(ty) } else { ty };
    let (code, argument) = allocator(t, ty)?;
    let constructor = made.find_method_sig(".ctor", &[]).to_managed(t)?.filter(|_| !ty.is_nullable());
    let mut constructors = (0, 0);
    match constructor {
        // Its own code runs the class constructor, whose exception managed code wraps.
        Some(constructor) => {
            let address = entry_address(constructor).to_managed(t)?;
            if made.is_value_type() {
                constructors.1 = address;
                constructors.0 = saki_runtime::object::entries::unbox_entry_address(constructor).to_managed(t)?;
            } else {
                constructors.0 = address;
            }
        }
        None if !made.is_value_type() => {
            return Err(exceptions::throw(t, ExceptionType::MissingMethod, "No parameterless constructor defined."));
        }
        None => {}
    }
    // SAFETY: managed code passes the addresses of locals, which live as long as the call.
    unsafe {
        allocator_code.write(code);
        allocator_argument.write(argument);
        object_constructor.write(constructors.0);
        value_constructor.write(constructors.1);
        is_public.write(i32::from(constructor.is_none_or(|constructor| constructor.flags & 7 == 6)));
    }
    Ok(())
}

fn uninitialized_info(
    t: CurrentThread,
    ty: TypeArgument,
    allocator_code: *mut usize,
    allocator_argument: *mut usize,
) -> Managed<()> {
    let ty = ty.ty();
    require_instances(t, ty, Purpose::Uninitialized)?;
    let made = if ty.is_nullable() { ty.args.first().copied().unwrap_or(ty) } else { ty };
    class_init::ensure(t, made)?;
    let (code, argument) = allocator(t, made)?;
    // SAFETY: managed code passes the addresses of locals, which live as long as the call.
    unsafe {
        allocator_code.write(code);
        allocator_argument.write(argument);
    }
    Ok(())
}

/// An instance of a type that has another type argument than `base` (a comparer of another type).
fn instance_for_another_parameter(
    t: CurrentThread,
    base: TypeArgument,
    arguments: *const usize,
    count: i32,
    result: ObjectPlace,
) -> Managed<()> {
    let base = base.ty();
    let definition = base.generic_definition().unwrap_or(base);
    // SAFETY: managed code pins an array of `count` type handles for the call.
    let handles = unsafe { std::slice::from_raw_parts(arguments, usize::try_from(count).unwrap_or(0)) };
    // SAFETY: managed code passes memory of this form, which stays for the call.
    let arguments: Vec<Ty> = handles.iter().map(|handle| unsafe { method_tables::type_of_handle(*handle) }).collect();
    let ty = universe().instantiate(definition, &arguments).to_managed(t)?;
    let made = Obj::new(t, ty)?;
    if let Some(constructor) = ty.find_method_sig(".ctor", &[]).to_managed(t)? {
        saki_runtime::exec::invoke::invoke(t, constructor, &[saki_runtime::Slot::from_ref(made)])?;
    }
    result.set(t, made);
    Ok(())
}

/// How to box values of a type: the allocator, the offset of a Nullable's value, the bytes of a value.
fn box_info(
    t: CurrentThread,
    ty: TypeArgument,
    allocator_code: *mut usize,
    allocator_argument: *mut usize,
    nullable_offset: *mut i32,
    size_bytes: *mut u32,
) -> Managed<()> {
    let ty = ty.ty();
    let (made, offset) = match ty.args.first().filter(|_| ty.is_nullable()) {
        Some(value) => (*value, saki_runtime::object::nullable_offsets(t, ty)?.1),
        None => (ty, 0),
    };
    let (code, argument) = allocator(t, made)?;
    let size = made.value_size_bytes().to_managed(t)?;
    // SAFETY: managed code passes the addresses of locals, which live as long as the call.
    unsafe {
        allocator_code.write(code);
        allocator_argument.write(argument);
        nullable_offset.write(offset as i32);
        size_bytes.write(size);
    }
    Ok(())
}

/// The internal calls that give allocators and constructors.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 System.StubHelpers.StubHelpers::AllocateInternal", &allocate_by_handle),
    InternalCall::new("@net10 System.RuntimeTypeHandle::InternalAllocNoChecks_FastPath", &allocate_by_table),
    InternalCall::new("@net QCall::RuntimeTypeHandle_GetActivationInfo", &activation_info),
    InternalCall::new(
        "@net QCall::RuntimeTypeHandle_CreateInstanceForAnotherGenericParameter",
        &instance_for_another_parameter,
    ),
    InternalCall::new("@net QCall::ReflectionSerialization_GetCreateUninitializedObjectInfo", &uninitialized_info),
    InternalCall::new("@net QCall::ReflectionInvocation_GetBoxInfo", &box_info),
];
