//! Methods and constructors: System.Reflection.MonoMethodInfo, RuntimeMethodInfo, RuntimeConstructorInfo; which method
//! runs.

use crate::cache::{self, ObjectKind};
use crate::callers::no_caller;
use crate::cross_domain::copied_array;
use crate::generic_constraints::arguments_fit;
use crate::handles::{Handle, method_of, reflected_type_of, require_method};
use crate::invocation;
use crate::native_memory::StructPlace;
use crate::objects::{method_object, type_array, types_of_array};
use saki_metadata::{TableId, Token};
use saki_runtime::ExceptionType;
use saki_runtime::object::entries;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::upper_layers;
use saki_runtime::vm::{domain_copy, domains, dynamic_methods, stack_trace, threads};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Place, RefPlace, Str};
use saki_types::dynamic_records;
use saki_types::{LibraryType, LoadError, LoadResult, Method, Ty, Type, universe};

/// The open method of a definition: for a method of an instantiation, or an instantiated method, that of the
/// definition.
///
/// # Errors
/// BadImageFormatException.
pub fn definition_of(t: CurrentThread, method: &'static Method) -> Managed<&'static Method> {
    let open = method.definition().unwrap_or(method);
    match (open.owner.generic_definition(), open.rid()) {
        (Some(owner), Some(rid)) if owner != open.owner => owner.method_by_rid(rid).to_managed(t),
        _ => Ok(open),
    }
}

/// The definition of the calling method; when the caller is an instantiation, the open method.
fn get_current_method<'t>(t: CurrentThread<'t>) -> Managed<Obj<'t>> {
    let method = stack_trace::caller(t, 0).ok_or_else(|| no_caller(t))?;
    let definition = definition_of(t, method)?;
    method_object(t, definition, definition.owner)
}

/// The method of `ty` that has the definition of `method`, which belongs to another instantiation of the same type.
fn equivalent_method(method: &'static Method, ty: Ty) -> LoadResult<Option<&'static Method>> {
    let Some(rid) = method.rid() else { return Ok(None) };
    let found = ty.method_by_rid(rid)?;
    match method.definition() {
        Some(_) => universe().instantiate_method(found, method.generic_args()).map(Some),
        None => Ok(Some(found)),
    }
}

/// Throws when the handle's DynamicMethod was freed: a RuntimeMethodHandle does not keep it alive.
fn refuse_stale(t: CurrentThread, method: Handle<Method>) -> Managed<()> {
    if dynamic_records::is_stale(method.address()) {
        return Err(exceptions::throw(t, ExceptionType::Argument, "The dynamic method of the handle is gone."));
    }
    Ok(())
}

/// `GetMethodFromHandleInternalType_native(method, type, genericCheck)`; null when the type does not have the method.
fn from_handle<'t>(
    t: CurrentThread<'t>,
    method: Handle<Method>,
    ty: Handle<Type>,
    generic_check: bool,
) -> Managed<Option<Obj<'t>>> {
    if !generic_check && let Some(known) = cache::find_recent(t, ObjectKind::Method, method.address(), ty.address()) {
        return Ok(Some(known));
    }
    refuse_stale(t, method)?;
    let (method, ty) = (method.get(), ty.get());
    let Some(method) = method else { return Ok(None) };
    let Some(ty) = ty else { return method_object(t, method, method.owner).map(Some) };
    if !generic_check || method.owner == ty {
        return method_object(t, method, ty).map(Some);
    }
    let definition = |ty: Ty| ty.generic_definition().unwrap_or(ty);
    if definition(method.owner) != definition(ty) {
        return Ok(None);
    }
    equivalent_method(method, ty).to_managed(t)?.map(|found| method_object(t, found, ty)).transpose()
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
fn get_method_info(t: CurrentThread, method: Handle<Method>, info: StructPlace) -> Managed<()> {
    static PARENT: ManagedField = ManagedField::new(LibraryType::MonoMethodInfo, "parent");
    static RETURN: ManagedField = ManagedField::new(LibraryType::MonoMethodInfo, "ret");
    static ATTRIBUTES: ManagedField = ManagedField::new(LibraryType::MonoMethodInfo, "attrs");
    static IMPL_ATTRIBUTES: ManagedField = ManagedField::new(LibraryType::MonoMethodInfo, "iattrs");
    static CONVENTION: ManagedField = ManagedField::new(LibraryType::MonoMethodInfo, "callconv");
    let Some(method) = method.get() else {
        return Err(exceptions::throw_argument_null(t, "handle"));
    };
    info.set_ref(t, &PARENT, Obj::of_type(t, method.owner)?);
    info.set_ref(t, &RETURN, Obj::of_type(t, method.sig().to_managed(t)?.ret)?);
    let convention = calling_conventions(method).to_managed(t)?;
    info.set(&ATTRIBUTES, i32::from(method.flags));
    info.set(&IMPL_ATTRIBUTES, i32::from(method.impl_flags));
    info.set(&CONVENTION, convention);
    Ok(())
}

fn get_method_attributes(_t: CurrentThread, method: Handle<Method>) -> i32 {
    method.get().map_or(0, |m| i32::from(m.flags))
}

fn get_retval_marshal<'t>(t: CurrentThread<'t>, method: Handle<Method>) -> Managed<Option<Obj<'t>>> {
    match method.get() {
        Some(method) => crate::parameters::marshal_as(t, method, 0),
        None => Ok(None),
    }
}

/// `get_parameter_info(handle, member)`
fn get_parameter_info<'t>(t: CurrentThread<'t>, method: Handle<Method>, member: Option<Obj>) -> Managed<Obj<'t>> {
    let Some(method) = method.get() else {
        return Err(exceptions::throw_argument_null(t, "handle"));
    };
    let reflected = member.filter(|&member| method_of(member).is_some()).and_then(reflected_type_of);
    crate::parameters::parameter_objects(t, method, reflected.unwrap_or(method.owner))
}

static METHOD_NAME: ManagedField = ManagedField::new(LibraryType::RuntimeMethodInfo, "name");
static CONSTRUCTOR_NAME: ManagedField = ManagedField::new(LibraryType::RuntimeConstructorInfo, "name");

/// The method's name. It is stored in the object, where managed code finds it from now on, so that there is one string
/// for it.
fn get_name<'t>(t: CurrentThread<'t>, info: Option<Obj>) -> Managed<Str<'t>> {
    let method = require_method(t, info)?;
    let name = Str::new(t, method.name)?;
    match info {
        Some(info) if info.ty().is(LibraryType::RuntimeMethodInfo) => METHOD_NAME.set_ref(t, info, name),
        Some(info) if info.ty().is(LibraryType::RuntimeConstructorInfo) => CONSTRUCTOR_NAME.set_ref(t, info, name),
        _ => {}
    }
    Ok(name)
}

/// MethodDef token; nil for methods of arrays and dynamic methods.
pub fn token_of(method: &'static Method) -> Token {
    Token::new(TableId::MethodDef, method.rid().unwrap_or(0))
}

fn get_metadata_token(t: CurrentThread, method: Option<Obj>) -> Managed<i32> {
    let method = require_method(t, method)?;
    // Methods of arrays and dynamic methods have no row.
    let Some(rid) = method.rid() else { return Ok(0) };
    Ok(method.image().shown_token(TableId::MethodDef, rid).0 as i32)
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
    match method.definition() {
        Some(_) => universe().instantiate_method(found, method.generic_args()),
        None => Ok(found),
    }
}

fn get_base_method<'t>(t: CurrentThread<'t>, method: Option<Obj>, definition: bool) -> Managed<Obj<'t>> {
    let found = base_method(require_method(t, method)?, definition).to_managed(t)?;
    method_object(t, found, found.owner)
}

fn is_generic_method(t: CurrentThread, this: Option<Obj>) -> Managed<bool> {
    Ok(!require_method(t, this)?.generic_args().is_empty())
}

fn is_generic_method_definition(t: CurrentThread, this: Option<Obj>) -> Managed<bool> {
    Ok(require_method(t, this)?.is_generic_definition())
}

fn get_generic_arguments<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Array<'t>> {
    type_array(t, universe().type_(), require_method(t, this)?.generic_args())
}

/// Null when the method is not generic; managed code throws.
fn get_generic_method_definition<'t>(t: CurrentThread<'t>, this: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    let method = require_method(t, this)?;
    match method.definition() {
        Some(definition) => method_object(t, definition, definition.owner).map(Some),
        None if method.is_generic_definition() => Ok(this),
        None => Ok(None),
    }
}

fn make_generic_method<'t>(t: CurrentThread<'t>, this: Option<Obj>, types: Option<Array>) -> Managed<Option<Obj<'t>>> {
    let method = require_method(t, this)?;
    let Some(arguments) = types_of_array(types) else {
        let message = "Generic arguments that are not runtime types are not supported here.";
        return Err(exceptions::throw(t, ExceptionType::NotSupported, message));
    };
    let definition = method.definition().unwrap_or(method);
    if definition.generic_args().len() != arguments.len() {
        return Ok(None);
    }
    if !arguments_fit(definition.generic_args(), &arguments, definition.owner.args, &arguments).to_managed(t)? {
        let message = "Invalid generic arguments";
        return Err(exceptions::throw_argument(t, message, "typeArguments"));
    }
    let made = universe().instantiate_method(definition, &arguments).to_managed(t)?;
    let reflected = this.and_then(reflected_type_of);
    method_object(t, made, reflected.unwrap_or(made.owner)).map(Some)
}

/// `GetPInvoke(out PInvokeAttributes flags, out string entryPoint, out string dllName)`
fn get_pinvoke(
    t: CurrentThread,
    this: Option<Obj>,
    flags: Place<i32>,
    entry_point: RefPlace,
    dll: RefPlace,
) -> Managed<()> {
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
    let entry = Str::new(t, if import.is_empty() { method.name } else { import })?;
    entry_point.set(t, entry);
    dll.set(t, Str::new(t, module)?);
    flags.set(i32::from(mapping_flags));
    Ok(())
}

fn get_function_pointer(t: CurrentThread, method: Handle<Method>) -> Managed<usize> {
    refuse_stale(t, method)?;
    match method.get() {
        Some(method) => {
            if method.is_dynamic() {
                dynamic_methods::keep(method);
            }
            if method.is_unmanaged_callers_only().to_managed(t)? {
                return (upper_layers().interop.native_entry)(t, method);
            }
            entries::entry_address(method).to_managed(t)
        }
        None => Err(exceptions::throw_argument_null(t, "handle")),
    }
}

/// Invokes a method of the caller's domain after its thread has switched to another domain: the method of the same name
/// there is called with copies of the arguments, and the caller gets a copy of the result.
fn invoke_in_other_domain<'t>(
    t: CurrentThread<'t>,
    method: &'static Method,
    target: Option<Obj<'t>>,
    arguments: Option<Array<'t>>,
    error: RefPlace,
) -> Managed<Option<Obj<'t>>> {
    let (caller, domain) = (method.owner.universe(), domains::current());
    let outcome = (|| {
        let method = domain_copy::method_in(method, domain.universe).to_managed(t)?;
        let target = domain_copy::copy(t, target, domain.universe)?;
        let arguments = copied_array(t, arguments, domain.universe)?;
        invocation::reflected_call(t, method, target, arguments)
    })();
    match outcome {
        Ok(Ok(result)) => domain_copy::copy(t, result, caller),
        Ok(Err(exception)) => {
            let _ = t.throw(exception);
            let _ = domain_copy::copy_pending(t, caller);
            error.set(t, t.take_exception());
            Ok(None)
        }
        Err(_) if threads::end_abort_by_unload(t, domain) => {
            let _entered = saki_types::universe::enter(caller);
            Err(domains::throw_unloaded(t))
        }
        Err(_) => Err(domain_copy::copy_pending(t, caller)),
    }
}

fn internal_invoke<'t>(
    t: CurrentThread<'t>,
    this: Option<Obj>,
    target: Option<Obj<'t>>,
    arguments: Option<Array<'t>>,
    error: RefPlace,
) -> Managed<Option<Obj<'t>>> {
    error.set(t, None::<Obj>);
    let method = require_method(t, this)?;
    if *method.owner.universe() != *universe() {
        return invoke_in_other_domain(t, method, target, arguments, error);
    }
    if method.is_static() && method.is_unmanaged_callers_only().to_managed(t)? {
        let message = "Methods with UnmanagedCallersOnlyAttribute cannot be called by managed code.";
        return Err(exceptions::throw(t, ExceptionType::NotSupported, message));
    }
    match invocation::reflected_call(t, method, target, arguments)? {
        Ok(result) => Ok(result),
        Err(exception) => {
            error.set(t, exception);
            Ok(None)
        }
    }
}

fn get_method_body<'t>(t: CurrentThread<'t>, method: Handle<Method>) -> Managed<Option<Obj<'t>>> {
    match method.get() {
        Some(method) if method.is_dynamic() => Err(exceptions::throw(t, ExceptionType::InvalidOperation, "")),
        Some(method) => crate::method_body::body_object(t, method),
        None => Ok(None),
    }
}

/// The internal calls of 5 classes, `MethodBase`, `MonoMethodInfo`, `RuntimeMethodInfo` among them.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.MethodBase::GetCurrentMethod", &get_current_method),
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
