//! Methods and constructors: System.Reflection.MonoMethodInfo, RuntimeMethodInfo, RuntimeConstructorInfo.

use crate::cache::{self, Kind};
use crate::generic_constraints::arguments_fit;
use crate::handles::{self, method_of, reflected_type_of, require_method};
use crate::invocation;
use crate::known;
use crate::native_memory::store_out;
use crate::objects::{method_object, type_array, types_of_array};
use saki_metadata::{TableId, Token};
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::type_objects::{type_object, type_of_object};
use saki_runtime::{
    CurrentThread, InternalCall, Managed, ManagedField, ObjRef, domain_copy, domains, dynamic_methods, entries, object,
    strings, threads,
};
use saki_types::dynamic_records;
use saki_types::{LoadError, LoadResult, Method, Ty, universe};
use std::sync::OnceLock;

/// The open method: of an instantiation of the type or the method, the definition's.
///
/// # Errors
/// BadImageFormatException.
pub fn definition_of(t: CurrentThread, method: &'static Method) -> Managed<&'static Method> {
    let open = method.definition.unwrap_or(method);
    match (open.owner.generic_definition(), open.rid()) {
        (Some(owner), Some(rid)) if owner != open.owner => owner.method_by_rid(rid).to_managed(t),
        _ => Ok(open),
    }
}

/// The method of `ty` that has the definition of `method`, which belongs to another instantiation of the same type.
fn equivalent_method(method: &'static Method, ty: Ty) -> LoadResult<Option<&'static Method>> {
    let Some(rid) = method.rid() else { return Ok(None) };
    let found = ty.method_by_rid(rid)?;
    match method.definition {
        Some(_) => universe().instantiate_method(found, method.generic_args).map(Some),
        None => Ok(Some(found)),
    }
}

/// A RuntimeMethodHandle does not keep its DynamicMethod alive.
fn refuse_stale(t: CurrentThread, method: usize) -> Managed<()> {
    if dynamic_records::is_stale(method) {
        return Err(exceptions::throw(t, "System", "ArgumentException", "The dynamic method of the handle is gone."));
    }
    Ok(())
}

/// `GetMethodFromHandleInternalType_native(method, type, genericCheck)`; null when the type does not have the method.
fn from_handle(t: CurrentThread, method: usize, ty: usize, generic_check: u8) -> ObjRef {
    t.run(|| {
        if generic_check == 0
            && let Some(known) = cache::recent(Kind::Method, method, ty)
        {
            return Ok(known);
        }
        refuse_stale(t, method)?;
        // SAFETY: the values of a RuntimeMethodHandle and a RuntimeTypeHandle.
        let (method, ty) = unsafe { (handles::method(method), handles::ty(ty)) };
        let Some(method) = method else { return Ok(ObjRef::NULL) };
        let Some(ty) = ty else { return method_object(t, method, method.owner) };
        if generic_check == 0 || method.owner == ty {
            return method_object(t, method, ty);
        }
        let definition = |ty: Ty| ty.generic_definition().unwrap_or(ty);
        if definition(method.owner) != definition(ty) {
            return Ok(ObjRef::NULL);
        }
        match equivalent_method(method, ty).to_managed(t)? {
            Some(found) => method_object(t, found, ty),
            None => Ok(ObjRef::NULL),
        }
    })
}

/// System.Reflection.CallingConventions.
fn calling_conventions(method: &'static Method) -> LoadResult<i32> {
    const STANDARD: i32 = 1;
    const VAR_ARGS: i32 = 2;
    const HAS_THIS: i32 = 0x20;
    const EXPLICIT_THIS: i32 = 0x40;
    let sig = method.sig()?;
    let mut out = if sig.is_vararg { VAR_ARGS } else { STANDARD };
    if sig.has_this {
        out |= HAS_THIS;
    }
    if sig.explicit_this {
        out |= EXPLICIT_THIS;
    }
    Ok(out)
}

/// `get_method_info(handle, out MonoMethodInfo)`
fn get_method_info(t: CurrentThread, method: usize, info: *mut u8) {
    static PARENT: ManagedField = ManagedField::corlib("System.Reflection", "MonoMethodInfo", "parent");
    static RETURN: ManagedField = ManagedField::corlib("System.Reflection", "MonoMethodInfo", "ret");
    static ATTRIBUTES: ManagedField = ManagedField::corlib("System.Reflection", "MonoMethodInfo", "attrs");
    static IMPL_ATTRIBUTES: ManagedField = ManagedField::corlib("System.Reflection", "MonoMethodInfo", "iattrs");
    static CONVENTION: ManagedField = ManagedField::corlib("System.Reflection", "MonoMethodInfo", "callconv");
    static OFFSETS: OnceLock<[usize; 5]> = OnceLock::new();
    let [parent_at, return_at, attributes_at, impl_attributes_at, convention_at] = *OFFSETS
        .get_or_init(|| [&PARENT, &RETURN, &ATTRIBUTES, &IMPL_ATTRIBUTES, &CONVENTION].map(ManagedField::offset_bytes));
    t.run(|| {
        // SAFETY: the value of a RuntimeMethodHandle.
        let Some(method) = (unsafe { handles::method(method) }) else {
            return Err(exceptions::throw_argument_null(t, "handle"));
        };
        let parent = type_object(t, method.owner)?;
        store_out(t, info.wrapping_add(parent_at) as *mut ObjRef, parent);
        let ret = type_object(t, method.sig().to_managed(t)?.ret)?;
        store_out(t, info.wrapping_add(return_at) as *mut ObjRef, ret);
        let convention = calling_conventions(method).to_managed(t)?;
        let number = |offset: usize| info.wrapping_add(offset) as *mut i32;
        // SAFETY: fields of the caller's structure.
        unsafe {
            *number(attributes_at) = i32::from(method.flags);
            *number(impl_attributes_at) = i32::from(method.impl_flags);
            *number(convention_at) = convention;
        }
        Ok(())
    });
}

fn get_method_attributes(_t: CurrentThread, method: usize) -> i32 {
    // SAFETY: the value of a RuntimeMethodHandle.
    unsafe { handles::method(method) }.map_or(0, |m| i32::from(m.flags))
}

fn get_retval_marshal(t: CurrentThread, method: usize) -> ObjRef {
    t.run(|| {
        // SAFETY: the value of a RuntimeMethodHandle.
        match unsafe { handles::method(method) } {
            Some(method) => crate::parameters::marshal_as(t, method, 0),
            None => Ok(ObjRef::NULL),
        }
    })
}

/// `get_parameter_info(handle, member)`
fn get_parameter_info(t: CurrentThread, method: usize, member: ObjRef) -> ObjRef {
    t.run(|| {
        // SAFETY: the value of a RuntimeMethodHandle.
        let Some(method) = (unsafe { handles::method(method) }) else {
            return Err(exceptions::throw_argument_null(t, "handle"));
        };
        let mut reflected = method.owner;
        if !member.is_null() && method_of(member).is_some() {
            let object = reflected_type_of(member);
            if !object.is_null() {
                reflected = type_of_object(object).unwrap_or(reflected);
            }
        }
        crate::parameters::parameter_objects(t, method, reflected)
    })
}

static METHOD_NAME: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeMethodInfo", "name");
static CONSTRUCTOR_NAME: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeConstructorInfo", "name");

/// The method's name, which managed code finds in the object from now on: there is one string for it.
fn get_name(t: CurrentThread, info: ObjRef) -> ObjRef {
    t.run(|| {
        let method = require_method(t, info)?;
        let name = strings::new_string(t, method.name)?;
        let class = object::type_of(info);
        if known::RUNTIME_METHOD_INFO.is(class) {
            METHOD_NAME.set_ref(t, info, name);
        } else if known::RUNTIME_CONSTRUCTOR_INFO.is(class) {
            CONSTRUCTOR_NAME.set_ref(t, info, name);
        }
        Ok(name)
    })
}

/// MethodDef token; of array methods the nil one.
pub fn token_of(method: &'static Method) -> Token {
    Token::new(TableId::MethodDef, method.rid().unwrap_or(0))
}

fn get_metadata_token(t: CurrentThread, method: ObjRef) -> i32 {
    t.run(|| {
        let method = require_method(t, method)?;
        // Methods of arrays and dynamic ones have no row.
        let Some(rid) = method.rid() else { return Ok(0) };
        Ok(method.image().shown_token(TableId::MethodDef, rid).0 as i32)
    })
}

/// What `method` overrides: in the nearest base class, or the first definition.
///
/// # Errors
/// `TypeLoad`.
pub fn base_method(method: &'static Method, first_definition: bool) -> LoadResult<&'static Method> {
    if !method.is_virtual() || method.owner.is_interface() || method.is_new_slot() {
        return Ok(method);
    }
    let Some(slot) = method.vtable_slot()? else { return Ok(method) };
    let slot = slot as usize;
    let mut class = method.owner;
    while let Some(parent) = class.parent()? {
        if parent.vtable_layout()?.slots.len() <= slot {
            break;
        }
        class = parent;
        if !first_definition {
            break;
        }
    }
    if class == method.owner {
        return Ok(method);
    }
    let found = class.vtable_layout()?.slots[slot];
    match method.definition {
        Some(_) => universe().instantiate_method(found, method.generic_args),
        None => Ok(found),
    }
}

fn get_base_method(t: CurrentThread, method: ObjRef, definition: u8) -> ObjRef {
    t.run(|| {
        let found = base_method(require_method(t, method)?, definition != 0).to_managed(t)?;
        method_object(t, found, found.owner)
    })
}

fn is_generic_method(t: CurrentThread, this: ObjRef) -> u8 {
    t.run(|| Ok(u8::from(!require_method(t, this)?.generic_args.is_empty())))
}

fn is_generic_method_definition(t: CurrentThread, this: ObjRef) -> u8 {
    t.run(|| Ok(u8::from(require_method(t, this)?.is_generic_definition())))
}

fn get_generic_arguments(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| type_array(t, universe().type_(), require_method(t, this)?.generic_args))
}

/// Null when the method is not generic; managed code throws.
fn get_generic_method_definition(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        let method = require_method(t, this)?;
        match method.definition {
            Some(definition) => method_object(t, definition, definition.owner),
            None if method.is_generic_definition() => Ok(this),
            None => Ok(ObjRef::NULL),
        }
    })
}

fn make_generic_method(t: CurrentThread, this: ObjRef, types: ObjRef) -> ObjRef {
    t.run(|| {
        let method = require_method(t, this)?;
        let Some(arguments) = types_of_array(types) else {
            let message = "Generic arguments that are not runtime types are not supported here.";
            return Err(exceptions::throw(t, "System", "NotSupportedException", message));
        };
        let definition = method.definition.unwrap_or(method);
        if definition.generic_args.len() != arguments.len() {
            return Ok(ObjRef::NULL);
        }
        if !arguments_fit(definition.generic_args, &arguments, definition.owner.args, &arguments).to_managed(t)? {
            let message = "Invalid generic arguments";
            return Err(exceptions::throw_argument(t, message, "typeArguments"));
        }
        let made = universe().instantiate_method(definition, &arguments).to_managed(t)?;
        let reflected = reflected_type_of(this);
        let reflected = if reflected.is_null() { None } else { type_of_object(reflected) };
        method_object(t, made, reflected.unwrap_or(made.owner))
    })
}

/// `GetPInvoke(out PInvokeAttributes flags, out string entryPoint, out string dllName)`
fn get_pinvoke(t: CurrentThread, this: ObjRef, flags: *mut i32, entry_point: *mut ObjRef, dll: *mut ObjRef) {
    t.run(|| {
        let method = require_method(t, this)?;
        let meta = &method.image().meta;
        let found = meta.impl_map(token_of(method)).and_then(|row| {
            row.map(|row| {
                let module = meta.module_ref(row.import_scope)?;
                Ok((row.mapping_flags, meta.string(row.import_name)?, meta.string(module.name)?))
            })
            .transpose()
        });
        let found = found.map_err(LoadError::from).to_managed(t)?;
        let (mapping_flags, import, module) = found.unwrap_or((0, "", ""));
        let entry = strings::new_string(t, if import.is_empty() { method.name } else { import })?;
        store_out(t, entry_point, entry);
        store_out(t, dll, strings::new_string(t, module)?);
        // SAFETY: address of the caller's variable.
        unsafe { *flags = i32::from(mapping_flags) };
        Ok(())
    });
}

fn get_function_pointer(t: CurrentThread, method: usize) -> usize {
    t.run(|| {
        refuse_stale(t, method)?;
        // SAFETY: the value of a RuntimeMethodHandle.
        match unsafe { handles::method(method) } {
            Some(method) => {
                if method.is_dynamic() {
                    dynamic_methods::keep(method);
                }
                entries::entry_address(method).to_managed(t)
            }
            None => Err(exceptions::throw_argument_null(t, "handle")),
        }
    })
}

/// The caller, which is in the method's domain, has switched to another: there the method of the same name is called with
/// copies, and the caller gets a copy of what comes back.
fn invoke_in_other_domain(
    t: CurrentThread,
    method: &'static Method,
    target: ObjRef,
    arguments: ObjRef,
    error: *mut ObjRef,
) -> Managed<ObjRef> {
    let (caller, domain) = (method.owner.universe(), domains::current());
    let outcome = (|| {
        let method = domain_copy::method_in(method, domain.universe).to_managed(t)?;
        let target = domain_copy::copy(t, target, domain.universe)?;
        let arguments = domain_copy::copy(t, arguments, domain.universe)?;
        invocation::reflected_call(t, method, target, arguments)
    })();
    match outcome {
        Ok(Ok(result)) => domain_copy::copy(t, result, caller),
        Ok(Err(exception)) => {
            let _ = t.throw(exception);
            let _ = domain_copy::copy_pending(t, caller);
            store_out(t, error, t.take_pending());
            Ok(ObjRef::NULL)
        }
        Err(_) if threads::end_abort_by_unload(t, domain) => {
            let _entered = saki_types::universe::enter(caller);
            Err(domains::throw_unloaded(t))
        }
        Err(_) => Err(domain_copy::copy_pending(t, caller)),
    }
}

fn internal_invoke(t: CurrentThread, this: ObjRef, target: ObjRef, arguments: ObjRef, error: *mut ObjRef) -> ObjRef {
    t.run(|| {
        store_out(t, error, ObjRef::NULL);
        let method = require_method(t, this)?;
        if *method.owner.universe() != *universe() {
            return invoke_in_other_domain(t, method, target, arguments, error);
        }
        match invocation::reflected_call(t, method, target, arguments)? {
            Ok(result) => Ok(result),
            Err(exception) => {
                store_out(t, error, exception);
                Ok(ObjRef::NULL)
            }
        }
    })
}

fn get_method_body(t: CurrentThread, method: usize) -> ObjRef {
    t.run(|| {
        // SAFETY: the value of a RuntimeMethodHandle.
        match unsafe { handles::method(method) } {
            Some(method) if method.is_dynamic() => Err(exceptions::throw(t, "System", "InvalidOperationException", "")),
            Some(method) => crate::method_body::body_object(t, method),
            None => Ok(ObjRef::NULL),
        }
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.MonoMethodInfo::get_method_info", &get_method_info),
    InternalCall::new("System.Reflection.MonoMethodInfo::get_method_attributes", &get_method_attributes),
    InternalCall::new("System.Reflection.MonoMethodInfo::get_parameter_info", &get_parameter_info),
    InternalCall::new("System.Reflection.MonoMethodInfo::get_retval_marshal", &get_retval_marshal),
    InternalCall::new("System.Reflection.RuntimeMethodInfo::GetMethodFromHandleInternalType_native", &from_handle),
    InternalCall::new("System.Reflection.RuntimeMethodInfo::get_name", &get_name),
    InternalCall::new("System.Reflection.RuntimeMethodInfo::get_base_method", &get_base_method),
    InternalCall::new("System.Reflection.RuntimeMethodInfo::get_metadata_token", &get_metadata_token),
    InternalCall::new("System.Reflection.RuntimeMethodInfo::InternalInvoke", &internal_invoke),
    InternalCall::new("System.Reflection.RuntimeMethodInfo::GetPInvoke", &get_pinvoke),
    InternalCall::new("System.Reflection.RuntimeMethodInfo::MakeGenericMethod_impl", &make_generic_method),
    InternalCall::new("System.Reflection.RuntimeMethodInfo::GetGenericArguments", &get_generic_arguments),
    InternalCall::new(
        "System.Reflection.RuntimeMethodInfo::GetGenericMethodDefinition_impl",
        &get_generic_method_definition,
    ),
    InternalCall::new(
        "System.Reflection.RuntimeMethodInfo::get_IsGenericMethodDefinition",
        &is_generic_method_definition,
    ),
    InternalCall::new("System.Reflection.RuntimeMethodInfo::get_IsGenericMethod", &is_generic_method),
    InternalCall::new("System.Reflection.RuntimeMethodInfo::GetMethodBodyInternal", &get_method_body),
    InternalCall::new("System.Reflection.RuntimeConstructorInfo::InternalInvoke", &internal_invoke),
    InternalCall::new("System.Reflection.RuntimeConstructorInfo::get_metadata_token", &get_metadata_token),
    InternalCall::new("System.RuntimeMethodHandle::GetFunctionPointer", &get_function_pointer),
];
