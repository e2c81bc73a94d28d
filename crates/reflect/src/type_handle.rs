//! System.RuntimeTypeHandle: kind, attributes, base and element types, assignability, generic parameter facts.

use crate::emit::builder_of;
use crate::handles::{Handle, address};
use crate::native_memory::{allocate, c_string};
use crate::objects::{assembly_object, module_object};
use crate::runtime_type::this_type;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_metadata::{TableId, Token};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};
use saki_types::{ElementType, LoadResult, Ty, Type, TypeKind, collectible, universe};
use std::ffi::c_char;

/// `TypeAttributes.Public`
const PUBLIC: u32 = 1;
const VISIBILITY_MASK: u32 = 7;

/// `TypeAttributes` as reflection reports them.
pub fn attributes_of(ty: Ty) -> u32 {
    match &ty.kind {
        TypeKind::ByRef(element) => attributes_of(element),
        TypeKind::Ptr(element) => attributes_of(element) & VISIBILITY_MASK,
        TypeKind::FnPtr(_) | TypeKind::Var(_) | TypeKind::MVar(_) => PUBLIC,
        _ => ty.flags(),
    }
}

fn get_attributes(t: CurrentThread, ty: Option<Obj>) -> Managed<i32> {
    Ok(attributes_of(this_type(t, ty)?) as i32)
}

fn get_cor_element_type(t: CurrentThread, ty: Option<Obj>) -> Managed<i32> {
    let ty = this_type(t, ty)?;
    let element = match ty.kind {
        TypeKind::Inst { .. } => ElementType::GenericInst,
        _ => ty.element_type,
    };
    Ok(element as i32)
}

fn object_or_null<'t>(t: CurrentThread<'t>, ty: Option<Ty>) -> Managed<Option<Obj<'t>>> {
    ty.map(|ty| Obj::of_type(t, ty)).transpose()
}

fn get_element_type<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    object_or_null(t, this_type(t, ty)?.element())
}

/// The base type; for a generic parameter the class among its constraints, else ValueType or Object.
pub fn base_type(ty: Ty) -> LoadResult<Option<Ty>> {
    let Some(param) = ty.generic_param() else { return ty.parent() };
    let context = saki_types::class::context_of_param(param)?;
    for token in param.image.meta.generic_param_constraints(param.rid) {
        let constraint = param.image.resolve_type(token?, &context)?;
        if !constraint.is_interface() && !constraint.is_generic_param() {
            return Ok(Some(constraint));
        }
    }
    let is_value_type = param.flags & 8 != 0;
    Ok(Some(if is_value_type { universe().value_type() } else { universe().object() }))
}

fn get_base_type<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let base = base_type(this_type(t, ty)?).to_managed(t)?;
    object_or_null(t, base)
}

fn get_array_rank(t: CurrentThread, ty: Option<Obj>) -> Managed<i32> {
    let ty = this_type(t, ty)?;
    if !ty.is_array() {
        return Err(exceptions::throw_argument(t, "Type must be an array type", "type"));
    }
    Ok(ty.array_rank() as i32)
}

fn get_assembly<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Obj<'t>> {
    assembly_object(t, this_type(t, ty)?.image().assembly())
}

fn get_module<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Obj<'t>> {
    module_object(t, this_type(t, ty)?.image())
}

fn get_metadata_token(t: CurrentThread, ty: Option<Obj>) -> Managed<i32> {
    Ok(token_of(this_type(t, ty)?) as i32)
}

/// `MetadataToken`: TypeDef token of definitions, instantiations and by-reference types to them; 0 for all others.
fn token_of(ty: Ty) -> u32 {
    match ty.kind {
        TypeKind::ByRef(element) => token_of(element),
        _ => ty.def().map_or(0, |def| def.image.shown_token(TableId::TypeDef, def.rid).0),
    }
}

fn get_generic_type_definition<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let ty = this_type(t, ty)?;
    let definition = ty.generic_definition();
    // Programs compare definitions by reference; the definition of a type made at run time is its TypeBuilder.
    let emitted = definition.filter(|&d| d != ty).and_then(|d| d.image().emitted_type());
    if let Some(builder) = emitted.and_then(|emitted| builder_of(t, emitted)) {
        return Ok(Some(builder));
    }
    object_or_null(t, definition)
}

fn has_instantiation(t: CurrentThread, ty: Option<Obj>) -> Managed<bool> {
    Ok(!this_type(t, ty)?.args.is_empty())
}

fn is_generic_type_definition(t: CurrentThread, ty: Option<Obj>) -> Managed<bool> {
    Ok(this_type(t, ty)?.is_generic_definition())
}

fn is_generic_variable(t: CurrentThread, ty: Option<Obj>) -> Managed<bool> {
    Ok(this_type(t, ty)?.is_generic_param())
}

fn has_references(t: CurrentThread, ty: Option<Obj>) -> Managed<bool> {
    let ty = this_type(t, ty)?;
    if ty.is_open || ty.is_interface() || ty.is_byref() {
        return Ok(false);
    }
    ty.contains_references().to_managed(t)
}

/// Whether the type is a struct that may live on the stack only; also for those of the class library that are older
/// than the attribute.
///
/// # Errors
/// `BadImageFormat`.
pub fn is_byref_like(ty: Ty) -> LoadResult<bool> {
    use saki_types::LibraryType as L;
    let is_old_one = matches!(ty.library_role(), Some(L::ArgIterator | L::RuntimeArgumentHandle | L::ByReference));
    Ok(is_old_one || ty.is_byref_like()?)
}

fn get_is_byref_like(t: CurrentThread, ty: Option<Obj>) -> Managed<bool> {
    is_byref_like(this_type(t, ty)?).to_managed(t)
}

/// There is no COM.
fn is_com_object(_t: CurrentThread, _ty: Option<Obj>) -> bool {
    false
}

fn is_instance_of_type(t: CurrentThread, ty: Option<Obj>, instance: Option<Obj>) -> Managed<bool> {
    let ty = this_type(t, ty)?;
    match instance {
        Some(instance) if !ty.is_open => instance.is_instance(t, ty),
        _ => Ok(false),
    }
}

/// `type_is_assignable_from(target, source)`
fn type_is_assignable_from(t: CurrentThread, target: Option<Obj>, source: Option<Obj>) -> Managed<bool> {
    let (target, source) = (this_type(t, target)?, this_type(t, source)?);
    is_assignable_from(target, source).to_managed(t)
}

/// `target.IsAssignableFrom(source)`
///
/// # Errors
/// `TypeLoad`.
pub fn is_assignable_from(target: Ty, source: Ty) -> LoadResult<bool> {
    match (&target.kind, &source.kind) {
        (TypeKind::ByRef(to), TypeKind::ByRef(from)) => byref_assignable(to, from),
        (TypeKind::ByRef(_), _) | (_, TypeKind::ByRef(_)) => Ok(false),
        _ if target == universe().object() => Ok(!source.is_pointer()),
        _ => source.is_assignable_to(target),
    }
}

fn byref_assignable(to: Ty, from: Ty) -> LoadResult<bool> {
    let (to, from) = (to.underlying(), from.underlying());
    let is_primitive = |ty: Ty| ty.element_type.primitive_size_bytes().is_some() || is_native_int(ty);
    if is_primitive(to) {
        return Ok(is_primitive(from) && to.value_size_bytes()? == from.value_size_bytes()?);
    }
    if let Some(param) = to.generic_param() {
        return Ok(to.element_type == from.element_type && from.generic_param().is_some_and(|p| p.index == param.index));
    }
    if to.is_pointer() {
        return Ok(to.element_type == from.element_type);
    }
    if from.is_generic_param() {
        return Ok(false);
    }
    Ok(if to.is_value_type() { to == from } else { !from.is_value_type() })
}

fn is_native_int(ty: Ty) -> bool {
    matches!(ty.element_type, ElementType::I | ElementType::U)
}

/// `is_subclass_of(child, base)` of two RuntimeTypeHandle values; not reflexive.
fn is_subclass_of(t: CurrentThread, child: Handle<Type>, base: Handle<Type>) -> Managed<bool> {
    let (child, base) = (child.get(), base.get());
    let (Some(child), Some(base)) = (child, base) else { return Ok(false) };
    is_strict_subclass(child, base).to_managed(t)
}

fn is_strict_subclass(child: Ty, base: Ty) -> LoadResult<bool> {
    if child == base || base.is_byref() {
        return Ok(false);
    }
    if base == universe().object() {
        return Ok(true);
    }
    let mut at = Some(child);
    while let Some(ty) = at {
        if ty == base {
            return Ok(true);
        }
        at = base_type(ty)?;
    }
    Ok(false)
}

/// `Mono.RuntimeStructs.GenericParamInfo`.
#[repr(C)]
struct GenericParamInfo {
    class: usize,
    name: *mut c_char,
    flags: u16,
    token: u32,
    /// Ends with 0.
    constraints: *mut usize,
}

/// The address of each generic parameter's `GenericParamInfo`, which lives for ever.
static PARAM_INFOS: Mutex<rank::GenericParameters, Option<FxHashMap<Ty, usize>>> = Mutex::new(None);

/// Drops the entries of parameters of dead assemblies and domains. Their memory stays: a few words each, and few
/// programs ask.
pub(crate) fn forget_dead() {
    if let Some(infos) = PARAM_INFOS.lock().as_mut() {
        infos.retain(|ty, _| !collectible::is_dead(address(*ty)));
    }
}

fn get_generic_parameter_info(t: CurrentThread, ty: Option<Obj>) -> Managed<usize> {
    let ty = this_type(t, ty)?;
    if let Some(&known) = PARAM_INFOS.lock().as_ref().and_then(|infos| infos.get(&ty)) {
        return Ok(known);
    }
    let made = generic_parameter_info(ty).to_managed(t)?;
    Ok(*PARAM_INFOS.lock().get_or_insert_default().entry(ty).or_insert(made))
}

fn generic_parameter_info(ty: Ty) -> LoadResult<usize> {
    let Some(param) = ty.generic_param() else { return Ok(0) };
    let context = saki_types::class::context_of_param(param)?;
    let mut constraints = Vec::new();
    for token in param.image.meta.generic_param_constraints(param.rid) {
        constraints.push(address(param.image.resolve_type(token?, &context)?));
    }
    constraints.push(0);
    let list = allocate(constraints.len() * 8) as *mut usize;
    let info = allocate(size_of::<GenericParamInfo>()) as *mut GenericParamInfo;
    // SAFETY: both blocks were just allocated with these sizes.
    unsafe {
        std::ptr::copy_nonoverlapping(constraints.as_ptr(), list, constraints.len());
        info.write(GenericParamInfo {
            class: address(ty),
            name: c_string(param.name),
            flags: param.flags as u16,
            token: Token::new(TableId::GenericParam, param.rid).0,
            constraints: list,
        });
    }
    Ok(info as usize)
}

/// The internal calls of `System.RuntimeTypeHandle`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.RuntimeTypeHandle::GetAttributes", &get_attributes),
    InternalCall::new("System.RuntimeTypeHandle::GetCorElementType", &get_cor_element_type),
    InternalCall::new("System.RuntimeTypeHandle::GetElementType", &get_element_type),
    InternalCall::new("System.RuntimeTypeHandle::GetBaseType", &get_base_type),
    InternalCall::new("System.RuntimeTypeHandle::GetArrayRank", &get_array_rank),
    InternalCall::new("System.RuntimeTypeHandle::GetAssembly", &get_assembly),
    InternalCall::new("System.RuntimeTypeHandle::GetModule", &get_module),
    InternalCall::new("System.RuntimeTypeHandle::GetMetadataToken", &get_metadata_token),
    InternalCall::new("System.RuntimeTypeHandle::GetGenericTypeDefinition_impl", &get_generic_type_definition),
    InternalCall::new("System.RuntimeTypeHandle::HasInstantiation", &has_instantiation),
    InternalCall::new("System.RuntimeTypeHandle::IsGenericTypeDefinition", &is_generic_type_definition),
    InternalCall::new("System.RuntimeTypeHandle::IsGenericVariable", &is_generic_variable),
    InternalCall::new("System.RuntimeTypeHandle::HasReferences", &has_references),
    InternalCall::new("System.RuntimeTypeHandle::IsByRefLike", &get_is_byref_like),
    InternalCall::new("System.RuntimeTypeHandle::IsComObject", &is_com_object),
    InternalCall::new("System.RuntimeTypeHandle::IsInstanceOfType", &is_instance_of_type),
    InternalCall::new("System.RuntimeTypeHandle::type_is_assignable_from", &type_is_assignable_from),
    InternalCall::new("System.RuntimeTypeHandle::is_subclass_of", &is_subclass_of),
    InternalCall::new("System.RuntimeTypeHandle::GetGenericParameterInfo", &get_generic_parameter_info),
];
