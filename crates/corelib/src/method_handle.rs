//! System.RuntimeMethodHandle: facts about methods, instantiations, reflected calls.
//!
//! Methods of exact types are records of their own, so that there are no stubs and no canonical methods.

use crate::arguments::{MethodArgument, ModuleArgument, ObjectPlace, StringPlace, TypeArgument};
use crate::class_fields::{WordResult, method_name, method_of, method_stub, return_method, ty_of, types_of};
use crate::type_handle::slot_of;
use crate::type_names::write_arguments;
use saki_metadata::TableId;
use saki_reflect::generic_constraints::arguments_fit;
use saki_reflect::invocation::nullable_holder;
use saki_reflect::invocation_by_address::invoke_by_addresses;
use saki_reflect::objects::type_array;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::object::entries::entry_address;
use saki_runtime::object::{exceptions, method_tables};
use saki_runtime::{Array, CurrentThread, ExceptionType, InternalCall, Managed, ManagedField, Obj, Str, ToManaged};
use saki_types::method::method_flags;
use saki_types::{LibraryType, LoadResult, Method, MethodKind, Ty, collectible, universe};

fn get_attributes(_t: CurrentThread, method: MethodArgument) -> i32 {
    i32::from(method.method().flags)
}

/// The attributes in metadata: a QCall is an internal call for the machine alone.
fn get_impl_attributes(t: CurrentThread, method: Option<Obj>) -> Managed<i32> {
    let method = method_of(method);
    let MethodKind::Def { image, rid } = method.kind else { return Ok(i32::from(method.impl_flags)) };
    let row = image.meta.method_def(rid).map_err(saki_types::LoadError::from).to_managed(t)?;
    Ok(i32::from(row.impl_flags))
}

fn get_function_pointer(t: CurrentThread, method: MethodArgument) -> Managed<isize> {
    let method = method.method();
    // The address is for native code.
    if method.is_unmanaged_callers_only().to_managed(t)? {
        return saki_interop::callers_only::host_entry(t, method).map(usize::cast_signed);
    }
    crate::dynamic_method::define(t, method)?;
    entry_address(method).to_managed(t).map(usize::cast_signed)
}

fn is_collectible(_t: CurrentThread, method: MethodArgument) -> i32 {
    i32::from(collectible::owner_of(method.method()).is_some())
}

/// Whether an attribute's class and constructor can be used where the attribute stands.
fn is_attribute_visible(
    t: CurrentThread,
    attribute: TypeArgument,
    constructor: MethodArgument,
    _source: TypeArgument,
    module: ModuleArgument,
) -> Managed<i32> {
    let class = attribute.ty();
    let (own, source) = (class.image().assembly(), module.image().assembly());
    if std::ptr::eq(own, source) {
        return Ok(1);
    }
    let is_public =
        constructor.find().is_none_or(|method| method.flags & method_flags::ACCESS_MASK == method_flags::PUBLIC);
    let mut outer = Some(class);
    while let Some(ty) = outer {
        if !matches!(ty.flags() & 7, 1 | 2) {
            return Ok(i32::from(own.is_friend(source).to_managed(t)?));
        }
        outer = ty.enclosing_type().to_managed(t)?;
    }
    Ok(i32::from(is_public || own.is_friend(source).to_managed(t)?))
}

fn construct_instantiation(t: CurrentThread, method: MethodArgument, format: i32, result: StringPlace) -> Managed<()> {
    let mut text = String::new();
    write_arguments(&mut text, method.method().generic_args(), format);
    result.set(t, Some(Str::new(t, &text)?));
    Ok(())
}

fn get_declaring_type<'t>(t: CurrentThread<'t>, method: MethodArgument) -> Managed<Obj<'t>> {
    Obj::of_type(t, method.method().owner)
}

fn get_slot(t: CurrentThread, method: MethodArgument) -> Managed<i32> {
    slot_of(method.method()).to_managed(t)
}

fn get_method_def(_t: CurrentThread, method: Option<Obj>) -> i32 {
    let method = method_of(method);
    method.image().shown_token(TableId::MethodDef, method.rid().unwrap_or(0)).0 as i32
}

fn token_of(_t: CurrentThread, method: MethodArgument) -> i32 {
    let method = method.method();
    method.image().shown_token(TableId::MethodDef, method.rid().unwrap_or(0)).0 as i32
}

fn get_name<'t>(t: CurrentThread<'t>, method: MethodArgument) -> Managed<Str<'t>> {
    Str::new(t, method.method().name)
}

fn get_utf8_name(_t: CurrentThread, method: MethodArgument) -> *const u8 {
    method_name(method.method())
}

fn invoke_method<'t>(
    t: CurrentThread<'t>,
    target: Option<Obj<'t>>,
    arguments: *const *mut u8,
    signature: Option<Obj>,
    _is_constructor: bool,
) -> Managed<Option<Obj<'t>>> {
    let Some(signature) = signature else { return Err(exceptions::throw_null_reference(t)) };
    // SAFETY: the field holds the address of a method.
    let Some(method) = (unsafe { crate::signature::METHOD.get::<*const Method>(signature).as_ref::<'static>() }) else {
        return Err(exceptions::throw_default(t, ExceptionType::InvalidOperation));
    };
    crate::dynamic_method::define(t, method)?;
    // SAFETY: managed code has made a variable of each parameter's type, and checked the target.
    unsafe { invoke_by_addresses(t, method, target, arguments) }
}

/// A box is never a Nullable, except those that `rebox_to_nullable` made.
fn rebox_from_nullable<'t>(t: CurrentThread<'t>, object: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    match object {
        // SAFETY: the box holds a value of its type.
        Some(holder) if holder.ty().is_nullable() => unsafe { Obj::boxed(t, holder.ty(), holder.data()) },
        other => Ok(other),
    }
}

fn rebox_to_nullable<'t>(t: CurrentThread<'t>, object: Option<Obj<'t>>, ty: Option<Obj>) -> Managed<Obj<'t>> {
    nullable_holder(t, ty_of(ty), object)
}

fn get_instantiation(t: CurrentThread, method: MethodArgument, result: ObjectPlace, runtime_types: i32) -> Managed<()> {
    let arguments = method.method().generic_args();
    if !arguments.is_empty() {
        let element = if runtime_types != 0 { universe().runtime_type() } else { universe().type_() };
        result.set(t, type_array(t, element, arguments)?);
    }
    Ok(())
}

fn has_instantiation(_t: CurrentThread, method: MethodArgument) -> bool {
    !method.method().generic_args().is_empty()
}

/// The method of an exact type that has the same definition, with its own or these type arguments.
fn on_type(method: &'static Method, ty: Ty, arguments: Option<&[Ty]>) -> LoadResult<&'static Method> {
    let definition = method.definition().unwrap_or(method);
    let on_type = match definition.rid() {
        Some(rid) if definition.owner != ty && ty.def().is_some() => {
            // The type may derive from an instantiation of the type that declares the method.
            let mut at = Some(ty);
            while let Some(base) = at.filter(|base| base.generic_definition() != definition.owner.generic_definition())
            {
                at = base.parent()?;
            }
            at.filter(|base| base.image() == definition.image()).unwrap_or(definition.owner).method_by_rid(rid)?
        }
        _ => definition,
    };
    let own = if method.definition().is_some() { Some(method.generic_args()) } else { None };
    match arguments.or(own) {
        Some(arguments) if !arguments.is_empty() => universe().instantiate_method(on_type, arguments),
        _ => Ok(on_type),
    }
}

fn get_stub_if_needed(
    t: CurrentThread,
    result: WordResult,
    method: MethodArgument,
    ty: Option<Obj>,
    arguments: Option<Array>,
) -> Managed<()> {
    stub_for(t, result, method.method(), ty_of(ty), arguments)
}

fn stub_for(
    t: CurrentThread,
    result: WordResult,
    method: &'static Method,
    ty: Ty,
    arguments: Option<Array>,
) -> Managed<()> {
    let given = arguments.map(|arguments| types_of(Some(arguments)));
    if let Some(given) = &given {
        let parameters = method.definition().unwrap_or(method).generic_args();
        if !arguments_fit(parameters, given, ty.args, given).to_managed(t)? {
            let message = "A method's type arguments violate the constraints of its type parameters.";
            // Managed code says which of them.
            return Err(exceptions::throw(t, ExceptionType::Verification, message));
        }
    }
    return_method(result, Some(on_type(method, ty, given.as_deref()).to_managed(t)?));
    Ok(())
}

fn get_from_canonical(t: CurrentThread, result: WordResult, method: MethodArgument, ty: Option<Obj>) -> Managed<()> {
    return_method(result, Some(on_type(method.method(), ty_of(ty), None).to_managed(t)?));
    Ok(())
}

fn is_generic_definition(_t: CurrentThread, method: MethodArgument) -> bool {
    method.method().is_generic_definition()
}

/// The method of the type's definition, without type arguments of its own.
fn typical(method: &'static Method) -> LoadResult<&'static Method> {
    let definition = method.definition().unwrap_or(method);
    match (definition.rid(), definition.owner.generic_definition()) {
        (Some(rid), Some(owner)) if owner != definition.owner => owner.method_by_rid(rid),
        _ => Ok(definition),
    }
}

fn is_typical(t: CurrentThread, method: Option<Obj>) -> Managed<bool> {
    let method = method_of(method);
    Ok(typical(method).to_managed(t)? == method)
}

fn get_typical(t: CurrentThread, method: MethodArgument, result: ObjectPlace) -> Managed<()> {
    let method = method.method();
    let found = typical(method).to_managed(t)?;
    if found != method {
        result.set(t, method_stub(t, found)?);
    }
    Ok(())
}

fn generic_parameter_count(_t: CurrentThread, method: MethodArgument) -> i32 {
    method.method().generic_args().len() as i32
}

fn strip_instantiation(t: CurrentThread, method: MethodArgument, result: ObjectPlace) -> Managed<()> {
    if let Some(definition) = method.method().definition() {
        result.set(t, method_stub(t, definition)?);
    }
    Ok(())
}

fn is_dynamic(_t: CurrentThread, method: MethodArgument) -> bool {
    method.method().is_dynamic()
}

fn is_constructor(_t: CurrentThread, method: MethodArgument) -> bool {
    let method = method.method();
    method.is_constructor() || method.is_class_constructor()
}

/// Only collectible assemblies have an allocator object, which keeps them.
fn no_loader_allocator<'t>(_t: CurrentThread<'t>, _member: MethodArgument) -> Option<Obj<'t>> {
    None
}

static BODY_CODE: ManagedField = ManagedField::new(LibraryType::RuntimeMethodBody, "_IL");
static BODY_CLAUSES: ManagedField = ManagedField::new(LibraryType::RuntimeMethodBody, "_exceptionHandlingClauses");
static BODY_LOCALS: ManagedField = ManagedField::new(LibraryType::RuntimeMethodBody, "_localVariables");
static BODY_LOCALS_TOKEN: ManagedField =
    ManagedField::new(LibraryType::RuntimeMethodBody, "_localSignatureMetadataToken");
static BODY_MAX_STACK: ManagedField = ManagedField::new(LibraryType::RuntimeMethodBody, "_maxStackSize");
static BODY_INIT_LOCALS: ManagedField = ManagedField::new(LibraryType::RuntimeMethodBody, "_initLocals");
static LOCAL_TYPE: ManagedField = ManagedField::new(LibraryType::RuntimeLocalVariableInfo, "_type");
static LOCAL_INDEX: ManagedField = ManagedField::new(LibraryType::RuntimeLocalVariableInfo, "_localIndex");
static LOCAL_IS_PINNED: ManagedField = ManagedField::new(LibraryType::RuntimeLocalVariableInfo, "_isPinned");
static CLAUSE_BODY: ManagedField = ManagedField::new(LibraryType::RuntimeExceptionHandlingClause, "_methodBody");
static CLAUSE_FLAGS: ManagedField = ManagedField::new(LibraryType::RuntimeExceptionHandlingClause, "_flags");
static CLAUSE_TRY_OFFSET: ManagedField = ManagedField::new(LibraryType::RuntimeExceptionHandlingClause, "_tryOffset");
static CLAUSE_TRY_LENGTH: ManagedField = ManagedField::new(LibraryType::RuntimeExceptionHandlingClause, "_tryLength");
static CLAUSE_HANDLER_OFFSET: ManagedField =
    ManagedField::new(LibraryType::RuntimeExceptionHandlingClause, "_handlerOffset");
static CLAUSE_HANDLER_LENGTH: ManagedField =
    ManagedField::new(LibraryType::RuntimeExceptionHandlingClause, "_handlerLength");
static CLAUSE_CATCH_TOKEN: ManagedField =
    ManagedField::new(LibraryType::RuntimeExceptionHandlingClause, "_catchMetadataToken");
static CLAUSE_FILTER: ManagedField = ManagedField::new(LibraryType::RuntimeExceptionHandlingClause, "_filterOffset");

fn get_body<'t>(t: CurrentThread<'t>, method: Option<Obj>, _ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    body_of(t, method_of(method))
}

/// The RuntimeMethodBody of a method; null for methods without CIL.
fn body_of<'t>(t: CurrentThread<'t>, method: &'static Method) -> Managed<Option<Obj<'t>>> {
    if method.is_pinvoke() || method.is_abstract() || method.is_internal_call() || method.is_runtime_implemented() {
        return Ok(None);
    }
    let Some(body) = method.body().to_managed(t)? else { return Ok(None) };
    let made = Obj::new(t, universe().library_type(LibraryType::RuntimeMethodBody).to_managed(t)?)?;
    let image = method.image();
    let written = crate::emit::code_as_written(method);
    BODY_CODE.set_ref(t, made, Array::of_bytes(t, written.as_deref().unwrap_or(body.code))?);
    BODY_LOCALS_TOKEN.set(made, crate::emit::show(image, body.local_var_sig).0 as i32);
    BODY_MAX_STACK.set(made, i32::from(body.max_stack));
    BODY_INIT_LOCALS.set(made, u8::from(body.init_locals));
    let locals = image.resolve_locals(body.local_var_sig, &method.context()).to_managed(t)?;
    let element = crate::class_fields::class_of_library("System.Reflection", "LocalVariableInfo");
    let array = Array::new(t, element, locals.len())?;
    for (index, local) in locals.iter().enumerate() {
        let item = Obj::new(t, universe().library_type(LibraryType::RuntimeLocalVariableInfo).to_managed(t)?)?;
        LOCAL_TYPE.set_ref(t, item, Obj::of_type(t, local.ty)?);
        LOCAL_INDEX.set(item, index as i32);
        LOCAL_IS_PINNED.set(item, u8::from(local.pinned));
        array.set(t, index, Some(item));
    }
    BODY_LOCALS.set_ref(t, made, array);
    let element = crate::class_fields::class_of_library("System.Reflection", "ExceptionHandlingClause");
    let array = Array::new(t, element, body.eh_clauses.len())?;
    for (index, clause) in body.eh_clauses.iter().enumerate() {
        let item = Obj::new(t, universe().library_type(LibraryType::RuntimeExceptionHandlingClause).to_managed(t)?)?;
        CLAUSE_BODY.set_ref(t, item, made);
        CLAUSE_FLAGS.set(item, saki_reflect::method_body::clause_flags(clause.kind));
        CLAUSE_TRY_OFFSET.set(item, clause.try_offset);
        CLAUSE_TRY_LENGTH.set(item, clause.try_len);
        CLAUSE_HANDLER_OFFSET.set(item, clause.handler_offset);
        CLAUSE_HANDLER_LENGTH.set(item, clause.handler_len);
        CLAUSE_CATCH_TOKEN.set(item, clause.catch_type().map_or(0, |token| crate::emit::show(image, token).0 as i32));
        CLAUSE_FILTER.set(item, clause.filter_offset().unwrap_or(0));
        array.set(t, index, Some(item));
    }
    BODY_CLAUSES.set_ref(t, made, array);
    Ok(Some(made))
}

fn body_place(t: CurrentThread, method: MethodArgument, _ty: TypeArgument, result: ObjectPlace) -> Managed<()> {
    if let Some(body) = body_of(t, method.method())? {
        result.set(t, body);
    }
    Ok(())
}

fn invoke_place(
    t: CurrentThread,
    target: ObjectPlace,
    arguments: *const *mut u8,
    signature: ObjectPlace,
    is_constructor: i32,
    result: ObjectPlace,
) -> Managed<()> {
    result.set(t, invoke_method(t, target.get(), arguments, signature.get(), is_constructor != 0)?);
    Ok(())
}

fn declaring_table(t: CurrentThread, method: MethodArgument) -> Managed<*const ()> {
    method_tables::method_table(method.method().owner).to_managed(t).map(<*const _>::cast)
}

fn on_type_without_arguments(
    t: CurrentThread,
    result: WordResult,
    method: MethodArgument,
    ty: Option<Obj>,
) -> Managed<()> {
    get_stub_if_needed(t, result, method, ty, None)
}

fn stub_place(
    t: CurrentThread,
    result: WordResult,
    method: MethodArgument,
    ty: TypeArgument,
    arguments: ObjectPlace,
) -> Managed<()> {
    stub_for(t, result, method.method(), ty.ty(), arguments.get().and_then(Obj::as_array))
}

/// .NET 10's body reads CoreCLR's tables.
pub const LOOPS: &[LoopRow] = &[LoopRow::new(
    "static System.RuntimeMethodHandle::ReboxToNullable(System.Object,System.RuntimeType) System.Object",
    &rebox_to_nullable,
)
.correcting()];

/// The internal calls of `System.RuntimeMethodHandle`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net System.RuntimeMethodHandle::GetAttributes", &get_attributes),
    InternalCall::new("@net System.RuntimeMethodHandle::GetImplAttributes", &get_impl_attributes),
    InternalCall::new("@net QCall::RuntimeMethodHandle_GetFunctionPointer", &get_function_pointer),
    InternalCall::new("@net QCall::RuntimeMethodHandle_GetIsCollectible", &is_collectible),
    InternalCall::new("@net QCall::RuntimeMethodHandle_IsCAVisibleFromDecoratedType", &is_attribute_visible),
    InternalCall::new("@net QCall::RuntimeMethodHandle_ConstructInstantiation", &construct_instantiation),
    InternalCall::new("@net9 System.RuntimeMethodHandle::GetDeclaringType", &get_declaring_type),
    InternalCall::new("@net System.RuntimeMethodHandle::GetSlot", &get_slot),
    InternalCall::new("@net9 System.RuntimeMethodHandle::GetMethodDef", &get_method_def),
    InternalCall::new("@net10 System.RuntimeMethodHandle::GetMethodDef", &token_of),
    InternalCall::new("@net9 System.RuntimeMethodHandle::GetName", &get_name),
    InternalCall::new("@net9 System.RuntimeMethodHandle::_GetUtf8Name", &get_utf8_name),
    InternalCall::new("@net9 System.RuntimeMethodHandle::InvokeMethod", &invoke_method),
    InternalCall::new("@net9 System.RuntimeMethodHandle::ReboxFromNullable", &rebox_from_nullable),
    InternalCall::new("@net9 System.RuntimeMethodHandle::ReboxToNullable", &rebox_to_nullable),
    InternalCall::new("@net QCall::RuntimeMethodHandle_GetMethodInstantiation", &get_instantiation),
    InternalCall::new("@net System.RuntimeMethodHandle::HasMethodInstantiation", &has_instantiation),
    InternalCall::new("@net9 System.RuntimeMethodHandle::GetStubIfNeeded", &get_stub_if_needed),
    InternalCall::new("@net System.RuntimeMethodHandle::GetMethodFromCanonical", &get_from_canonical),
    InternalCall::new("@net System.RuntimeMethodHandle::IsGenericMethodDefinition", &is_generic_definition),
    InternalCall::new("@net System.RuntimeMethodHandle::IsTypicalMethodDefinition", &is_typical),
    InternalCall::new("@net QCall::RuntimeMethodHandle_GetTypicalMethodDefinition", &get_typical),
    InternalCall::new("@net System.RuntimeMethodHandle::GetGenericParameterCount", &generic_parameter_count),
    InternalCall::new("@net QCall::RuntimeMethodHandle_StripMethodInstantiation", &strip_instantiation),
    InternalCall::new("@net System.RuntimeMethodHandle::IsDynamicMethod", &is_dynamic),
    InternalCall::new("@net System.RuntimeMethodHandle::IsConstructor", &is_constructor),
    InternalCall::new("@net9 System.RuntimeMethodHandle::GetLoaderAllocator", &no_loader_allocator),
    InternalCall::new("@net9 System.RuntimeMethodHandle::GetMethodBody", &get_body),
    InternalCall::new("@net10 QCall::RuntimeMethodHandle_GetMethodBody", &body_place),
    InternalCall::new("@net10 QCall::RuntimeMethodHandle_InvokeMethod", &invoke_place),
    InternalCall::new("@net10 QCall::RuntimeMethodHandle_GetStubIfNeededSlow", &stub_place),
    InternalCall::new("@net10 System.RuntimeMethodHandle::GetStubIfNeededInternal", &on_type_without_arguments),
    InternalCall::new("@net10 System.RuntimeMethodHandle::GetMethodTable", &declaring_table),
    InternalCall::new("@net10 System.RuntimeMethodHandle::GetUtf8NameInternal", &get_utf8_name),
    InternalCall::new("@net10 System.RuntimeMethodHandle::GetLoaderAllocatorInternal", &no_loader_allocator),
];
