//! CustomAttributeData: attributes as data, decoded when asked for.

use crate::attribute_rows::Attribute;
use crate::attribute_values::{decode, value_object};
use crate::handles::{require_assembly, require_method};
use crate::members::{find_field, find_property};
use crate::objects::{assembly_object, field_object, method_object, property_object};
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, RefPlace};
use saki_types::{LibraryType, Method, Ty, universe};

fn required(t: CurrentThread, method: Option<&'static Method>) -> Managed<&'static Method> {
    method.ok_or_else(|| exceptions::throw_default(t, ExceptionType::MissingMethod))
}

/// A CustomAttributeData[]; each refers to its blob inside the mapped image.
///
/// # Errors
/// OutOfMemoryException.
pub fn data_array<'t>(t: CurrentThread<'t>, attributes: &[Attribute]) -> Managed<Array<'t>> {
    let class = universe().library_type(LibraryType::CustomAttributeData).to_managed(t)?;
    // CustomAttributeData(ConstructorInfo, Assembly, IntPtr data, uint length)
    let ctor = required(t, class.find_method(".ctor", 4).to_managed(t)?)?;
    let array = Array::new(t, class, attributes.len())?;
    for (index, attribute) in attributes.iter().enumerate() {
        let made = Obj::new(t, class)?;
        let constructor = method_object(t, attribute.constructor, attribute.constructor.owner)?;
        let assembly = assembly_object(t, attribute.image.assembly())?;
        let words = [
            Slot::from_ref(made),
            Slot::from_ref(constructor),
            Slot::from_ref(assembly),
            Slot::from_ptr(attribute.blob.as_ptr()),
            Slot(attribute.blob.len() as u64),
        ];
        invoke::invoke(t, ctor, &words)?;
        array.set(t, index, Some(made));
    }
    Ok(array)
}

/// A boxed CustomAttributeTypedArgument(Type, object).
fn typed_argument<'t>(t: CurrentThread<'t>, ty: Ty, value: Option<Obj>) -> Managed<Obj<'t>> {
    let class = universe().library_type(LibraryType::CustomAttributeTypedArgument).to_managed(t)?;
    let ctor = required(t, class.find_method(".ctor", 2).to_managed(t)?)?;
    let ty = Obj::of_type(t, ty)?;
    let made = Obj::new(t, class)?;
    let words = [Slot::from_ptr(made.data()), Slot::from_ref(ty), Slot::from_ref(value)];
    invoke::invoke(t, ctor, &words)?;
    Ok(made)
}

/// A boxed CustomAttributeNamedArgument(MemberInfo, CustomAttributeTypedArgument).
fn named_argument<'t>(t: CurrentThread<'t>, member: Obj, typed: Obj) -> Managed<Obj<'t>> {
    let class = universe().library_type(LibraryType::CustomAttributeNamedArgument).to_managed(t)?;
    let typed_class = universe().library_type(LibraryType::CustomAttributeTypedArgument).to_managed(t)?;
    let mut ctor = None;
    for candidate in class.methods_named(".ctor").to_managed(t)? {
        if candidate.sig().to_managed(t)?.params.last() == Some(&typed_class)
            && candidate.sig().to_managed(t)?.params.len() == 2
        {
            ctor = Some(candidate);
        }
    }
    let ctor = required(t, ctor)?;
    let arguments = Array::new(t, universe().object(), 2)?;
    arguments.set(t, 0, Some(member));
    arguments.set(t, 1, Some(typed));
    let made = Obj::new(t, class)?;
    crate::invocation::invoke_boxed(t, ctor, Some(made), Some(arguments))?;
    Ok(made)
}

/// `ResolveArgumentsInternal(ctor, assembly, data, length, out object[] ctorArgs, out object[] namedArgs)`
fn resolve_arguments(
    t: CurrentThread,
    constructor: Option<Obj>,
    assembly: Option<Obj>,
    data: *const u8,
    length: u32,
    ctor_args: RefPlace,
    named_args: RefPlace,
) -> Managed<()> {
    ctor_args.set(t, None::<Obj>);
    named_args.set(t, None::<Obj>);
    if length == 0 {
        return Ok(());
    }
    let constructor = require_method(t, constructor)?;
    let image = require_assembly(t, assembly)?.image;
    // SAFETY: `data_array` gave the object the address and length of a blob inside the mapped image.
    let blob = unsafe { std::slice::from_raw_parts(data, length as usize) };
    let decoded = decode(t, image, constructor, blob)?;
    let params = &constructor.sig().to_managed(t)?.params;
    let fixed = Array::new(t, universe().object(), params.len())?;
    for (index, (value, &ty)) in decoded.fixed.iter().zip(params).enumerate() {
        let value = value_object(t, image, value, ty)?;
        // A constructor argument of type object has the type of its value.
        let ty = if ty == universe().object() { value.map_or(ty, Obj::ty) } else { ty };
        let argument = typed_argument(t, ty, value)?;
        fixed.set(t, index, Some(argument));
    }
    let named = Array::new(t, universe().object(), decoded.named.len())?;
    let class = constructor.owner;
    for (index, item) in decoded.named.iter().enumerate() {
        let missing = || {
            let message = format!("Could not find a field or property with name {}", item.name);
            exceptions::throw(t, ExceptionType::CustomAttributeFormat, &message)
        };
        let (member, ty) = if item.is_property {
            let property = find_property(class, &item.name).to_managed(t)?.ok_or_else(missing)?;
            let ty = property.value_type().to_managed(t)?.ok_or_else(missing)?;
            (property_object(t, property, property.owner)?, ty)
        } else {
            let field = find_field(class, &item.name).to_managed(t)?.ok_or_else(missing)?;
            (field_object(t, field, field.owner)?, field.ty().to_managed(t)?)
        };
        let value = value_object(t, image, &item.value, ty)?;
        let typed = typed_argument(t, ty, value)?;
        let argument = named_argument(t, member, typed)?;
        named.set(t, index, Some(argument));
    }
    ctor_args.set(t, fixed);
    named_args.set(t, named);
    Ok(())
}

/// The internal calls of `System.Reflection.CustomAttributeData`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.Reflection.CustomAttributeData::ResolveArgumentsInternal", &resolve_arguments)];
