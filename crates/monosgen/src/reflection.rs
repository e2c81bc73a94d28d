//! `mono/metadata/reflection.h`: reflection objects of handles, and handles of reflection objects. Attributes:
//! `attributes`.

use crate::call::{call, call_managed, call_quietly, some};
use crate::text::text;
use saki_abi::ObjRef;
use saki_metadata::{TableId, Token};
use saki_reflect::members::{EventDefinition, Property};
use saki_reflect::type_lookup::{self, Scope};
use saki_reflect::{handles, method_body, objects, parameters};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::vm::domains::Domain;
use saki_runtime::{Obj, Word};
use saki_types::type_name::parse_type_name;
use saki_types::{Assembly, Field, Image, Method, Ty, universe};
use std::ffi::{c_char, c_int};

/// The System.Reflection.Assembly of an assembly.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_get_object(_domain: Option<&'static Domain>, assembly: &'static Assembly) -> ObjRef {
    call_managed("mono_assembly_get_object", |t| Ok(objects::assembly_object(t, assembly)?.word()))
}

/// The System.Reflection.Module of an image.
#[unsafe(no_mangle)]
pub extern "C" fn mono_module_get_object(_domain: Option<&'static Domain>, image: &'static Image) -> ObjRef {
    call_managed("mono_module_get_object", |t| Ok(objects::module_object(t, image)?.word()))
}

/// The Module of the file after `index` others of an assembly.
#[unsafe(no_mangle)]
pub extern "C" fn mono_module_file_get_object(
    _domain: Option<&'static Domain>,
    image: &'static Image,
    index: c_int,
) -> ObjRef {
    let row = index as u32 + 1;
    call_managed("mono_module_file_get_object", |t| {
        Ok(objects::resource_module_object(t, image.assembly(), row)?.word())
    })
}

/// The System.Type of a type.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_get_object(_domain: Option<&'static Domain>, ty: Ty) -> ObjRef {
    call_managed("mono_type_get_object", |t| Ok(Obj::of_type(t, ty)?.word()))
}

/// The MethodInfo or ConstructorInfo of a method, as got from a class, or from the method's without one.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_object(
    _domain: Option<&'static Domain>,
    method: &'static Method,
    class: Option<Ty>,
) -> ObjRef {
    call_managed("mono_method_get_object", |t| {
        Ok(objects::method_object(t, method, class.unwrap_or(method.owner))?.word())
    })
}

/// The FieldInfo of a field, as got from a class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_field_get_object(
    _domain: Option<&'static Domain>,
    class: Option<Ty>,
    field: &'static Field,
) -> ObjRef {
    call_managed("mono_field_get_object", |t| Ok(objects::field_object(t, field, class.unwrap_or(field.owner))?.word()))
}

/// The PropertyInfo of a property, as got from a class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_property_get_object(
    _domain: Option<&'static Domain>,
    class: Option<Ty>,
    property: &'static Property,
) -> ObjRef {
    call_managed("mono_property_get_object", |t| {
        Ok(objects::property_object(t, property, class.unwrap_or(property.owner))?.word())
    })
}

/// The EventInfo of an event, as got from a class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_event_get_object(
    _domain: Option<&'static Domain>,
    class: Option<Ty>,
    event: &'static EventDefinition,
) -> ObjRef {
    call_managed("mono_event_get_object", |t| Ok(objects::event_object(t, event, class.unwrap_or(event.owner))?.word()))
}

/// The ParameterInfo[] of a method.
#[unsafe(no_mangle)]
pub extern "C" fn mono_param_get_objects(_domain: Option<&'static Domain>, method: &'static Method) -> ObjRef {
    call_managed("mono_param_get_objects", |t| Ok(parameters::parameter_objects(t, method, method.owner)?.word()))
}

/// The MethodBody of a method; null for one without CIL.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_body_get_object(_domain: Option<&'static Domain>, method: &'static Method) -> ObjRef {
    call_managed("mono_method_body_get_object", |t| Ok(method_body::body_object(t, method)?.word()))
}

/// `DBNull.Value`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_dbnull_object(_domain: Option<&'static Domain>) -> ObjRef {
    call_managed("mono_get_dbnull_object", |t| {
        let class = universe().corlib().find_type("System", "DBNull").to_managed(t)?;
        let field = class.map_or(Ok(None), |class| class.find_field("Value")).to_managed(t)?;
        let value = field.map_or(Ok(None), |field| saki_reflect::field_access::get_value(t, field, None))?;
        Ok(value.word())
    })
}

/// The type of a System.Type.
///
/// # Safety
/// `object` is a System.Type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_reflection_type_get_type(object: ObjRef) -> Option<Ty> {
    const FUNCTION: &str = "mono_reflection_type_get_type";
    // SAFETY: the host's object.
    call(FUNCTION, |_| unsafe { some(FUNCTION, object) }.as_type())
}

/// The assembly of a System.Reflection.Assembly.
///
/// # Safety
/// `object` is a System.Reflection.Assembly.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_reflection_assembly_get_assembly(object: ObjRef) -> Option<&'static Assembly> {
    const FUNCTION: &str = "mono_reflection_assembly_get_assembly";
    // SAFETY: the host's object.
    call(FUNCTION, |_| handles::assembly_of(unsafe { some(FUNCTION, object) }))
}

/// The type of a name as reflection writes it, without an assembly of this image or the core assembly; null if there is
/// none.
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_reflection_type_from_name(
    name: *const c_char,
    image: Option<&'static Image>,
) -> Option<Ty> {
    // SAFETY: the host's text, which ends in NUL.
    let name = parse_type_name(&unsafe { text(name) })?;
    call_quietly("mono_reflection_type_from_name", |t| {
        let scope = Scope {
            image: image.unwrap_or_else(|| universe().corlib()),
            ignore_case: false,
            search_corlib: true,
            raise_type_resolve: true,
            reflection_only: false,
        };
        type_lookup::find(t, &name, &scope)
    })
}

/// The token of what a reflection object stands for; 0 if it has none.
///
/// # Safety
/// `object` is a reflection object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_reflection_get_token(object: ObjRef) -> u32 {
    const FUNCTION: &str = "mono_reflection_get_token";
    call(FUNCTION, |_| {
        // SAFETY: the host's object.
        let object = unsafe { some(FUNCTION, object) };
        if object.ty() == universe().runtime_type()
            && let Some(ty) = object.as_type()
        {
            return ty.def().map_or(0, |def| Token::new(TableId::TypeDef, def.rid).0);
        }
        if let Some(method) = handles::method_of(object) {
            return crate::methods::mono_method_get_token(method);
        }
        if let Some(field) = handles::field_of(object) {
            return Token::new(TableId::Field, field.rid).0;
        }
        if let Some((property, _)) = handles::property_of(object) {
            return property.token().0;
        }
        if let Some((event, _)) = handles::event_of(object) {
            return event.token().0;
        }
        if handles::assembly_of(object).is_some() {
            return Token::new(TableId::Assembly, 1).0;
        }
        handles::image_of(object).map_or(0, |_| Token::new(TableId::Module, 1).0)
    })
}
