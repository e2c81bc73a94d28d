//! System.MonoCustomAttrs: finding, testing for and constructing custom attributes. ECMA-335 §II.21.

use crate::attribute_data::data_array;
use crate::attribute_rows::{Attribute, Provider, attributes_of};
use crate::attribute_values::{decode, value_object};
use crate::emit::attributes::builder_attributes;
use crate::emit::{finished_builder_field, finished_builder_method, finished_builder_type};
use crate::field_access::set_value;
use crate::handles::{assembly_of, event_of, field_of, image_of, method_of, property_of};
use crate::invocation::invoke_boxed;
use crate::members::{find_field, find_property};
use crate::method_info;
use crate::parameters::{self, param_row};
use crate::runtime_type::this_type;
use saki_metadata::{CaNamedArg, TableId, Token};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::typed_values;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj};
use saki_types::{GenericContext, Image, LibraryType, Ty, universe};

/// The provider behind a reflection object; None for objects without metadata, such as array types.
///
/// # Errors
/// NotSupportedException for other kinds of objects.
pub fn provider_of(t: CurrentThread, object: Option<Obj>) -> Managed<Option<Provider>> {
    let Some(object) = object else {
        return Err(exceptions::throw_argument_null(t, "obj"));
    };
    let class = object.ty();
    let at = |image: &'static Image, parent: Token| Provider { image, parent, context: GenericContext::NONE };
    if class == universe().runtime_type() {
        return Ok(object.as_type().and_then(|ty| match (ty.def(), ty.generic_param()) {
            (Some(def), _) => Some(at(def.image, Token::new(TableId::TypeDef, def.rid))),
            (None, Some(param)) => Some(at(param.image, Token::new(TableId::GenericParam, param.rid))),
            (None, None) => None,
        }));
    }
    if let Some(ty) = finished_builder_type(object) {
        return Ok(ty.def().map(|def| at(def.image, Token::new(TableId::TypeDef, def.rid))));
    }
    if let Some(method) = method_of(object).or_else(|| finished_builder_method(object)) {
        return Ok(method.rid().map(|_| at(method.image(), method_info::token_of(method))));
    }
    if let Some(field) = field_of(object).or_else(|| finished_builder_field(object)) {
        return Ok(Some(at(field.image(), Token::new(TableId::Field, field.rid))));
    }
    if let Some((property, _)) = property_of(object) {
        return Ok(Some(at(property.image, property.token())));
    }
    if let Some((event, _)) = event_of(object) {
        return Ok(Some(at(event.image, event.token())));
    }
    if let Some(assembly) = assembly_of(object) {
        return Ok(Some(at(assembly.image, Token::new(TableId::Assembly, 1))));
    }
    if class.is(LibraryType::RuntimeModule) {
        return Ok(image_of(object).map(|image| at(image, Token::new(TableId::Module, 1))));
    }
    if class.is(LibraryType::RuntimeParameterInfo) || class.is(LibraryType::ParameterInfo) {
        return parameter_provider(t, object);
    }
    let message = format!("Custom attributes of {} are not supported", class.full_name());
    Err(exceptions::throw(t, ExceptionType::NotSupported, &message))
}

fn parameter_provider(t: CurrentThread, parameter: Obj) -> Managed<Option<Provider>> {
    let Some(member) = parameters::MEMBER.obj(parameter) else { return Ok(None) };
    let mut sequence = parameters::POSITION.get::<i32>(parameter) + 1;
    let method = match method_of(member) {
        Some(method) => Some(method),
        None => property_of(member).and_then(|(property, _)| property.getter.or(property.setter)),
    };
    let Some(method) = method else {
        let name = member.ty().full_name();
        let message = format!("Custom attributes on a ParamInfo with member {name} are not supported");
        return Err(exceptions::throw(t, ExceptionType::NotSupported, &message));
    };
    sequence = sequence.max(0);
    let row = param_row(method, sequence as u16).to_managed(t)?;
    let context = GenericContext::NONE;
    Ok(row.map(|(rid, _)| Provider { image: method.image(), parent: Token::new(TableId::Param, rid), context }))
}

/// The attributes of what a reflection object stands for.
///
/// # Errors
/// NotSupportedException for other objects; load errors of the attributes' classes.
pub fn provider_attributes(t: CurrentThread, provider: Option<Obj>) -> Managed<Vec<Attribute>> {
    if let Some(provider) = provider
        && let Some(attributes) = builder_attributes(t, provider)?
    {
        return Ok(attributes);
    }
    match provider_of(t, provider)? {
        Some(provider) => attributes_of(&provider).to_managed(t),
        None => Ok(Vec::new()),
    }
}

/// `IsDefinedInternal(provider, attributeType)`
fn is_defined(t: CurrentThread, provider: Option<Obj>, attribute_type: Option<Obj>) -> Managed<bool> {
    let wanted = this_type(t, attribute_type)?;
    for attribute in provider_attributes(t, provider)? {
        let found = attribute.constructor.owner;
        if found == wanted || found.is_assignable_to(wanted).to_managed(t)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `GetCustomAttributesInternal(provider, attributeType or null, pseudoAttrs)`
fn get_custom_attributes<'t>(
    t: CurrentThread<'t>,
    provider: Option<Obj>,
    attribute_type: Option<Obj>,
    _pseudo: bool,
) -> Managed<Array<'t>> {
    let wanted = attribute_type.map(|ty| this_type(t, Some(ty))).transpose()?;
    let attribute_class = universe().library_type(LibraryType::Attribute).to_managed(t)?;
    let mut attributes = provider_attributes(t, provider)?;
    // A row may name the constructor of any class.
    attributes.retain(|attribute| attribute.constructor.owner.is_assignable_to(attribute_class).unwrap_or(false));
    if let Some(wanted) = wanted {
        let mut matching = Vec::new();
        for attribute in attributes {
            if attribute.constructor.owner.is_assignable_to(wanted).to_managed(t)? {
                matching.push(attribute);
            }
        }
        attributes = matching;
    }
    let array = Array::new(t, attribute_class, attributes.len())?;
    for (index, attribute) in attributes.iter().enumerate() {
        let made = construct(t, attribute)?;
        array.set(t, index, made);
    }
    Ok(array)
}

fn format_error(t: CurrentThread, message: &str) -> exceptions::Thrown {
    exceptions::throw(t, ExceptionType::CustomAttributeFormat, message)
}

/// The value of a named argument as an object of type `ty`. The blob itself names the value's type:
/// CustomAttributeFormatException for a value that a `ty` cannot hold.
fn named_value<'t>(
    t: CurrentThread<'t>,
    attribute: &Attribute,
    named: &CaNamedArg,
    ty: Ty,
) -> Managed<Option<Obj<'t>>> {
    let value = value_object(t, attribute.image, &named.value, ty)?;
    match typed_values::may_hold(t, ty, value)? {
        true => Ok(value),
        false => Err(format_error(t, &format!("The value of {} has another type", named.name))),
    }
}

/// Makes the attribute object: constructor, then named fields and properties in the blob's order.
///
/// # Errors
/// CustomAttributeFormatException; load errors; what the constructor and the properties throw.
pub fn construct<'t>(t: CurrentThread<'t>, attribute: &Attribute) -> Managed<Option<Obj<'t>>> {
    let constructor = attribute.constructor;
    let params: Vec<Ty> = constructor.sig().to_managed(t)?.params.clone();
    let decoded = decode(t, attribute.image, constructor, attribute.blob)?;
    let arguments = Array::new(t, universe().object(), params.len())?;
    for (index, (value, &ty)) in decoded.fixed.iter().zip(&params).enumerate() {
        let argument = value_object(t, attribute.image, value, ty)?;
        arguments.set(t, index, argument);
    }
    let made = invoke_boxed(t, constructor, None, Some(arguments))?;
    let class = constructor.owner;
    for named in &decoded.named {
        if !named.is_property {
            let found = find_field(class, &named.name).to_managed(t)?;
            let Some(field) = found.filter(|field| !field.is_literal()) else {
                return Err(format_error(t, &format!("Could not find a field with name {}", named.name)));
            };
            let value = named_value(t, attribute, named, field.ty().to_managed(t)?)?;
            set_value(t, field, made, value)?;
            continue;
        }
        let Some(property) = find_property(class, &named.name).to_managed(t)? else {
            return Err(format_error(t, &format!("Could not find a property with name {}", named.name)));
        };
        let (Some(setter), Some(ty)) = (property.setter, property.value_type().to_managed(t)?) else {
            return Err(format_error(t, &format!("Could not find the setter for {}", named.name)));
        };
        // An indexer would need arguments that the blob does not have.
        if setter.sig().to_managed(t)?.params.len() != 1 {
            return Err(format_error(t, &format!("The setter for {} has more than one parameter", named.name)));
        }
        let argument = Array::new(t, universe().object(), 1)?;
        let value = named_value(t, attribute, named, ty)?;
        argument.set(t, 0, value);
        invoke_boxed(t, setter, made, Some(argument))?;
    }
    Ok(made)
}

/// `GetCustomAttributesDataInternal(provider)`
fn get_custom_attributes_data<'t>(t: CurrentThread<'t>, provider: Option<Obj>) -> Managed<Array<'t>> {
    let attributes = provider_attributes(t, provider)?;
    data_array(t, &attributes)
}

/// The internal calls of `System.MonoCustomAttrs`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.MonoCustomAttrs::IsDefinedInternal", &is_defined),
    InternalCall::new("System.MonoCustomAttrs::GetCustomAttributesInternal", &get_custom_attributes),
    InternalCall::new("System.MonoCustomAttrs::GetCustomAttributesDataInternal", &get_custom_attributes_data),
];
