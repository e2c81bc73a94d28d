//! System.RuntimeTypeHandle: facts about types, their members and supertypes, and types made of others.

use crate::arguments::{MethodArgument, ModuleArgument, ObjectPlace, TypeArgument};
use crate::class_fields::{WordResult, method_stub, return_method, ty_of, type_or_null, types_at};
use saki_metadata::{TableId, Token};
use saki_reflect::generic_constraints::arguments_fit;
use saki_reflect::objects::{assembly_object, module_object, type_array};
use saki_reflect::type_handle::is_assignable_from;
use saki_runtime::ExceptionType;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::object::{exceptions, method_tables};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Place, ToManaged};
use saki_types::{
    ElementType, Field, Image, LoadError, LoadErrorKind, LoadResult, Method, MethodKind, Ty, TypeKind, collectible,
    universe,
};

/// The module of a type: of its definition, of its element, of what declares a type parameter.
fn image_of(ty: Ty) -> &'static Image {
    ty.image()
}

fn get_module<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Obj<'t>> {
    module_object(t, image_of(ty_of(ty)))
}

fn get_assembly<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Obj<'t>> {
    assembly_object(t, image_of(ty_of(ty)).assembly())
}

/// Whether .NET describes the type by a TypeDesc: pointers, byrefs, function pointers and type parameters.
fn is_type_desc(ty: Ty) -> bool {
    ty.is_pointer() || ty.is_byref() || ty.is_generic_param()
}

fn is_instance_of_type(t: CurrentThread, ty: Option<Obj>, object: Option<Obj>) -> Managed<bool> {
    let ty = ty_of(ty);
    match object {
        Some(object) if !ty.is_open => object.is_instance(t, ty),
        _ => Ok(false),
    }
}

fn element_type(_t: CurrentThread, ty: Option<Obj>) -> u8 {
    element_type_of(ty_of(ty))
}

/// `CorElementType` of a type in a signature. Classes are CLASS, also String and Object.
fn element_type_of(ty: Ty) -> u8 {
    let element = match ty.element_type {
        ElementType::String | ElementType::Object => ElementType::Class,
        ElementType::TypedByRef => ElementType::ValueType,
        other => other,
    };
    element as u8
}

fn get_base_type<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let ty = ty_of(ty);
    let parent = if is_type_desc(ty) { None } else { ty.parent().to_managed(t)? };
    type_or_null(t, parent)
}

fn get_attributes(_t: CurrentThread, ty: Option<Obj>) -> i32 {
    const PUBLIC: i32 = 1;
    let ty = ty_of(ty);
    if is_type_desc(ty) { PUBLIC } else { ty.flags() as i32 }
}

fn get_element_type<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    type_or_null(t, ty_of(ty).element())
}

fn is_same_canonical(_t: CurrentThread, left: Option<Obj>, right: Option<Obj>) -> bool {
    ty_of(left) == ty_of(right)
}

fn is_equivalent(_t: CurrentThread, left: Option<Obj>, right: Option<Obj>) -> bool {
    left == right
}

fn get_array_rank(_t: CurrentThread, ty: Option<Obj>) -> i32 {
    ty_of(ty).array_rank() as i32
}

fn get_token(_t: CurrentThread, ty: Option<Obj>) -> i32 {
    let ty = ty_of(ty);
    let token = match (ty.def(), ty.generic_param()) {
        (Some(def), _) => def.image.shown_token(TableId::TypeDef, def.rid),
        (None, Some(parameter)) => crate::emit::show(parameter.image, Token::new(TableId::GenericParam, parameter.rid)),
        (None, None) => Token::new(TableId::TypeDef, 0),
    };
    token.0 as i32
}

fn get_utf8_name(_t: CurrentThread, ty: Option<Obj>) -> *const u8 {
    name_of(ty_of(ty))
}

/// The address of a type's name, which ends with a NUL.
fn name_of(ty: Ty) -> *const u8 {
    match (ty.def(), ty.generic_param()) {
        (Some(def), _) => def.name.as_ptr(),
        (None, Some(parameter)) => parameter.name.as_ptr(),
        (None, None) => c"".as_ptr().cast(),
    }
}

/// The own methods of a type in .NET's order: constructors of arrays come last.
fn introduced(ty: Ty) -> LoadResult<Vec<&'static Method>> {
    if is_type_desc(ty) {
        return Ok(Vec::new());
    }
    let mut methods: Vec<&'static Method> = ty.methods()?.collect();
    if ty.is_array() {
        let place = |method: &&Method| ["Get", "Set", "Address"].iter().position(|name| *name == method.name);
        methods.sort_by_key(|method| place(method).unwrap_or(usize::MAX));
    }
    Ok(methods)
}

fn get_first_method(t: CurrentThread, result: WordResult, ty: Option<Obj>) -> Managed<()> {
    let methods = introduced(ty_of(ty)).to_managed(t)?;
    return_method(result, methods.first().copied());
    Ok(())
}

/// Replaces a method by the next one of its type, null behind the last.
fn get_next_method(t: CurrentThread, place: Place<*const Method>) -> Managed<()> {
    // SAFETY: managed code passes a handle that it got from here.
    let Some(method) = (unsafe { place.get().as_ref::<'static>() }) else { return Ok(()) };
    let next = match method.kind {
        // The methods of a type lie one behind the other.
        MethodKind::Def { image, rid } => {
            let own = match method.owner.def() {
                Some(def) => image.meta.type_def_methods(def.rid).map_err(saki_types::LoadError::from).to_managed(t)?,
                None => 0..0,
            };
            match own.contains(&(rid + 1)) {
                true => Some(method.owner.method_by_rid(rid + 1).to_managed(t)?),
                false => None,
            }
        }
        _ => introduced(method.owner).to_managed(t)?.into_iter().skip_while(|known| *known != method).nth(1),
    };
    place.set(next.map_or(std::ptr::null(), std::ptr::from_ref));
    Ok(())
}

fn virtual_count(ty: Ty) -> LoadResult<i32> {
    if is_type_desc(ty) {
        return Ok(0);
    }
    if ty.is_interface() {
        return Ok(ty.methods()?.filter(|method| method.is_virtual()).count() as i32);
    }
    Ok(ty.vtable_layout()?.slots.len() as i32)
}

fn get_virtual_count(t: CurrentThread, ty: Option<Obj>) -> Managed<i32> {
    virtual_count(ty_of(ty)).to_managed(t)
}

fn get_virtual_and_static_count(t: CurrentThread, ty: TypeArgument) -> Managed<i32> {
    virtual_count(ty.ty()).to_managed(t)
}

/// The methods of an interface by number: virtual ones, static virtual ones, others.
fn methods_of_interface(interface: Ty) -> LoadResult<Vec<&'static Method>> {
    let mut methods: Vec<&'static Method> = interface.methods()?.collect();
    methods.sort_by_key(|method| (!method.is_virtual(), method.is_static()));
    Ok(methods)
}

/// A number for a method within its type: the vtable slot of virtual methods, numbers behind these for others.
pub fn slot_of(method: &'static Method) -> LoadResult<i32> {
    if method.owner.is_interface() {
        let position = methods_of_interface(method.owner)?.iter().position(|other| other.rid() == method.rid());
        return Ok(position.unwrap_or(0) as i32);
    }
    let typical = method.definition().unwrap_or(method);
    if typical.is_virtual()
        && !typical.is_static()
        && let Some(slot) = typical.vtable_slot()?
    {
        return Ok(slot as i32);
    }
    let position = method.owner.methods()?.position(|candidate| candidate.rid() == method.rid());
    Ok(virtual_count(method.owner)? + position.unwrap_or(0) as i32)
}

fn get_method_at(t: CurrentThread, result: WordResult, ty: Option<Obj>, slot: i32) -> Managed<()> {
    return_method(result, method_in_slot(ty_of(ty), slot).to_managed(t)?);
    Ok(())
}

/// The virtual method with this number (`slot_of`).
fn method_in_slot(ty: Ty, slot: i32) -> LoadResult<Option<&'static Method>> {
    let slot = usize::try_from(slot).unwrap_or(usize::MAX);
    if ty.is_interface() {
        return Ok(methods_of_interface(ty)?.get(slot).copied().filter(|method| method.is_virtual()));
    }
    Ok(ty.vtable_layout()?.slots.get(slot).copied())
}

fn get_fields(t: CurrentThread, ty: Option<Obj>, result: *mut isize, count: *mut i32) -> Managed<bool> {
    fields_of(t, ty_of(ty), result, count)
}

/// The own fields of a type in .NET's order: static ones behind the others.
fn fields_of(t: CurrentThread, ty: Ty, result: *mut isize, count: *mut i32) -> Managed<bool> {
    let all: &[&'static Field] = if is_type_desc(ty) { &[] } else { ty.fields().to_managed(t)? };
    // Managed code finds constants in metadata.
    let all: Vec<&'static Field> = all.iter().copied().filter(|field| !field.is_literal()).collect();
    // SAFETY: managed code passes the capacity of its buffer, in a variable of its own.
    let capacity = unsafe { count.replace(all.len() as i32) };
    if all.len() > usize::try_from(capacity).unwrap_or(0) {
        return Ok(false);
    }
    let own = all.iter().filter(|field| !field.is_static()).chain(all.iter().filter(|field| field.is_static()));
    for (index, field) in own.enumerate() {
        // SAFETY: the buffer has room for all fields, by the check.
        unsafe { result.add(index).write(std::ptr::from_ref(*field).addr().cast_signed()) };
    }
    Ok(true)
}

fn get_interfaces<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Array<'t>>> {
    interfaces_of(t, ty_of(ty))
}

/// Type[] of a type's interfaces; null for none.
fn interfaces_of(t: CurrentThread<'_>, ty: Ty) -> Managed<Option<Array<'_>>> {
    if is_type_desc(ty) {
        return Ok(None);
    }
    let of = if ty.is_array() { universe().array() } else { ty };
    let interfaces = of.interfaces().to_managed(t)?;
    if interfaces.is_empty() {
        return Ok(None);
    }
    type_array(t, universe().type_(), interfaces).map(Some)
}

fn get_constraints(t: CurrentThread, ty: TypeArgument, result: ObjectPlace) -> Managed<()> {
    let Some(parameter) = ty.ty().generic_param() else {
        let message = "Method may only be called on a Type for which Type.IsGenericParameter is true.";
        return Err(exceptions::throw(t, ExceptionType::Argument, message));
    };
    let constraints = || -> LoadResult<Vec<Ty>> {
        let context = saki_types::class::context_of_param(parameter)?;
        let tokens = parameter.image.meta.generic_param_constraints(parameter.rid);
        tokens.map(|token| parameter.image.resolve_type(token?, &context)).collect()
    };
    let constraints = constraints().to_managed(t)?;
    result.set(t, type_array(t, universe().type_(), &constraints)?);
    Ok(())
}

fn verify_interface(t: CurrentThread, ty: TypeArgument, interface: TypeArgument) -> Managed<()> {
    let (ty, interface) = (ty.ty(), interface.ty());
    if ty.interfaces().to_managed(t)?.contains(&interface) || ty.is_assignable_to(interface).to_managed(t)? {
        return Ok(());
    }
    Err(exceptions::throw(t, ExceptionType::Argument, "Interface not found."))
}

fn interface_implementation(
    t: CurrentThread,
    result: WordResult,
    ty: TypeArgument,
    interface: TypeArgument,
    method: crate::arguments::MethodArgument,
) -> Managed<()> {
    let (ty, interface, method) = (ty.ty(), interface.ty(), method.method());
    // The handle may be that of the interface's definition.
    let method = match method.rid() {
        Some(rid) if method.owner != interface => interface.method_by_rid(rid).to_managed(t)?,
        _ => method,
    };
    if method.is_static() {
        // What is abstract again counts.
        return_method(result, ty.static_virtual_implementation(method).to_managed(t)?);
        return Ok(());
    }
    let found = ty.resolve_virtual(method);
    use LoadErrorKind as Kind;
    let found = match found {
        Ok(found) if found.is_abstract() => None,
        Ok(found) => Some(found),
        Err(error)
            if matches!(error.kind, Kind::MissingMethod | Kind::EntryPointNotFound | Kind::AmbiguousImplementation) =>
        {
            None
        }
        Err(error) => return Err(exceptions::throw_load_error(t, &error)),
    };
    return_method(result, found);
    Ok(())
}

fn can_cast_to(t: CurrentThread, ty: Option<Obj>, target: Option<Obj>) -> Managed<bool> {
    can_cast(ty_of(ty), ty_of(target)).to_managed(t)
}

fn can_cast(from: Ty, to: Ty) -> LoadResult<bool> {
    if from == to {
        return Ok(true);
    }
    if from.is_generic_param() && !to.is_byref() {
        return parameter_fits(from, to);
    }
    is_assignable_from(to, from)
}

/// A type parameter is what each of its constraints is.
fn parameter_fits(from: Ty, to: Ty) -> LoadResult<bool> {
    let Some(parameter) = from.generic_param() else { return Ok(false) };
    let has_value = parameter.flags & 8 != 0;
    if to == universe().object() || has_value && to == universe().value_type() {
        return Ok(true);
    }
    let context = saki_types::class::context_of_param(parameter)?;
    for token in parameter.image.meta.generic_param_constraints(parameter.rid) {
        let constraint = parameter.image.resolve_type(token?, &context)?;
        if constraint != from && can_cast(constraint, to)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn can_cast_handles(t: CurrentThread, from: *const (), to: *const ()) -> Managed<i32> {
    // SAFETY: managed code passes type handles.
    let (from, to) = unsafe { (method_tables::type_of_handle(from.addr()), method_tables::type_of_handle(to.addr())) };
    can_cast(from, to).to_managed(t).map(i32::from)
}

/// `CastCache.TryGet`: CoreCLR fills the table that its body reads, and this machine has none. The answer is
/// `CastResult.MaybeCast`, after which callers ask `can_cast_handles`.
fn look_in_cast_cache(_t: CurrentThread, _table: Option<Array>, _from: usize, _to: usize) -> Managed<i32> {
    Ok(2)
}

/// The type that declares a nested type or a type parameter.
fn declaring_type(ty: Ty) -> LoadResult<Option<Ty>> {
    let Some(parameter) = ty.generic_param() else { return ty.enclosing_type() };
    let rid = match parameter.owner.table() {
        TableId::MethodDef => parameter.image.meta.type_of_method(parameter.owner.rid())?,
        _ => parameter.owner.rid(),
    };
    parameter.image.type_def(rid).map(Some)
}

fn get_declaring_type<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let declaring = declaring_type(ty_of(ty)).to_managed(t)?;
    type_or_null(t, declaring)
}

fn get_declaring_method<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    declaring_method(t, ty_of(ty))
}

/// The IRuntimeMethodInfo of the method that declares a type parameter; null for other types.
fn declaring_method(t: CurrentThread<'_>, ty: Ty) -> Managed<Option<Obj<'_>>> {
    let Some(parameter) = ty.generic_param().filter(|parameter| parameter.owner.table() == TableId::MethodDef) else {
        return Ok(None);
    };
    let Some(owner) = declaring_type(ty).to_managed(t)? else { return Ok(None) };
    method_stub(t, owner.method_by_rid(parameter.owner.rid()).to_managed(t)?).map(Some)
}

fn get_instantiation(t: CurrentThread, ty: TypeArgument, result: ObjectPlace, runtime_types: i32) -> Managed<()> {
    let ty = ty.ty();
    if !ty.args.is_empty() {
        let element = if runtime_types != 0 { universe().runtime_type() } else { universe().type_() };
        result.set(t, type_array(t, element, ty.args)?);
    }
    Ok(())
}

fn instantiate(
    t: CurrentThread,
    ty: TypeArgument,
    arguments: *const usize,
    count: i32,
    result: ObjectPlace,
) -> Managed<()> {
    let definition = ty.ty();
    // SAFETY: managed code passes `count` type handles.
    let arguments = unsafe { types_at(arguments, count) };
    let made = universe().instantiate(definition, &arguments).to_managed(t)?;
    if !arguments_fit(definition.args, &arguments, &arguments, &[]).to_managed(t)? {
        return Err(throw_violated(t, definition, &arguments));
    }
    result.set(t, Obj::of_type(t, made)?);
    Ok(())
}

/// The exception for arguments that violate constraints, to which managed code adds which one does.
fn throw_violated(t: CurrentThread, definition: Ty, arguments: &[Ty]) -> exceptions::Thrown {
    let name = definition.name_in(saki_types::names::NameStyle::Reflection);
    for (index, (&parameter, &argument)) in definition.args.iter().zip(arguments).enumerate() {
        if !arguments_fit(&[parameter], &[argument], arguments, &[]).unwrap_or(true) {
            let (argument, parameter) = (argument.full_name(), parameter.full_name());
            let message = format!(
                "GenericArguments[{index}], '{argument}', on '{name}[{parameter}]' violates the constraint of type parameter '{parameter}'."
            );
            return exceptions::throw(t, ExceptionType::TypeLoad, &message);
        }
    }
    exceptions::throw_default(t, ExceptionType::TypeLoad)
}

/// Refuses element types of which there are no arrays. `dimensions`: how the array's name ends.
fn require_element(t: CurrentThread, element: Ty, dimensions: &str) -> Managed<()> {
    let reason = if element.is_byref() {
        "ByRef"
    } else if element == universe().void() {
        "System.Void"
    } else if element.element_type == ElementType::TypedByRef || element.is_byref_like().to_managed(t)? {
        "ByRef-like"
    } else {
        return Ok(());
    };
    let (name, assembly) = (element.full_name(), element.image().assembly().display_name());
    // .NET names no array of a byref.
    let dimensions = if element.is_byref() { "" } else { dimensions };
    let array = format!("'{name}{dimensions}' from assembly '{assembly}'");
    let message = format!("Could not create array type {array} because the element type is {reason}.");
    Err(exceptions::throw_load_error(t, &LoadError::type_load(message, name)))
}

fn make_array(t: CurrentThread, ty: TypeArgument, rank: i32, result: ObjectPlace) -> Managed<()> {
    let dimensions = match rank {
        1 => "[*]".to_owned(),
        _ => format!("[{}]", ",".repeat(usize::try_from(rank - 1).unwrap_or(0))),
    };
    const MAX_RANK: i32 = 32;
    require_element(t, ty.ty(), &dimensions)?;
    if rank > MAX_RANK {
        let (name, assembly) = (ty.ty().full_name(), ty.ty().image().assembly().display_name());
        let message = format!("'{name}{dimensions}' from assembly '{assembly}' has too many dimensions.");
        return Err(exceptions::throw(t, ExceptionType::TypeLoad, &message));
    }
    let array = universe().array_of(ty.ty(), rank as u32);
    result.set(t, Obj::of_type(t, array)?);
    Ok(())
}

fn make_sz_array(t: CurrentThread, ty: TypeArgument, result: ObjectPlace) -> Managed<()> {
    require_element(t, ty.ty(), "[]")?;
    result.set(t, Obj::of_type(t, universe().sz_array_of(ty.ty()))?);
    Ok(())
}

fn refuse_byref(t: CurrentThread, ty: Ty, what: &str) -> Managed<()> {
    if ty.is_byref() {
        let (name, assembly) = (ty.full_name(), ty.image().assembly().display_name());
        let message = format!("Could not create {what} type '{name}' from assembly '{assembly}'.");
        return Err(exceptions::throw(t, ExceptionType::TypeLoad, &message));
    }
    Ok(())
}

fn make_byref(t: CurrentThread, ty: TypeArgument, result: ObjectPlace) -> Managed<()> {
    refuse_byref(t, ty.ty(), "ByRef")?;
    result.set(t, Obj::of_type(t, universe().byref_to(ty.ty()))?);
    Ok(())
}

fn make_pointer(t: CurrentThread, ty: TypeArgument, result: ObjectPlace) -> Managed<()> {
    refuse_byref(t, ty.ty(), "pointer")?;
    result.set(t, Obj::of_type(t, universe().pointer_to(ty.ty()))?);
    Ok(())
}

fn is_collectible(_t: CurrentThread, ty: TypeArgument) -> i32 {
    i32::from(collectible::owner_of(ty.ty()).is_some())
}

fn generic_definition(t: CurrentThread, ty: TypeArgument, result: ObjectPlace) -> Managed<()> {
    let ty = ty.ty();
    result.set(t, Obj::of_type(t, ty.generic_definition().unwrap_or(ty))?);
    Ok(())
}

fn is_generic_variable(_t: CurrentThread, ty: Option<Obj>) -> bool {
    ty_of(ty).is_generic_param()
}

fn generic_variable_index(_t: CurrentThread, ty: Option<Obj>) -> i32 {
    ty_of(ty).generic_param().map_or(-1, |parameter| parameter.index as i32)
}

fn contains_variables(_t: CurrentThread, ty: Option<Obj>) -> bool {
    ty_of(ty).is_open
}

fn satisfies_constraints(
    t: CurrentThread,
    parameter: Option<Obj>,
    type_arguments: *const isize,
    type_count: i32,
    method_arguments: *const isize,
    method_count: i32,
    argument: Option<Obj>,
) -> Managed<bool> {
    // SAFETY: managed code passes so many type handles.
    let class_args = unsafe { types_at(type_arguments.cast(), type_count) };
    // SAFETY: managed code passes so many type handles.
    let method_args = unsafe { types_at(method_arguments.cast(), method_count) };
    arguments_fit(&[ty_of(parameter)], &[ty_of(argument)], &class_args, &method_args).to_managed(t)
}

/// Instantiations keep the assemblies of their arguments.
fn register_dependency(_t: CurrentThread, _ty: TypeArgument, _assembly: crate::arguments::AssemblyArgument) {}

/// Whether the type, all types around it and its arguments are public.
fn is_visible(t: CurrentThread, ty: TypeArgument) -> Managed<i32> {
    fn visible(ty: Ty) -> LoadResult<bool> {
        if let Some(element) = ty.element() {
            return visible(element);
        }
        if ty.is_generic_param() || ty.def().is_none() {
            return Ok(true);
        }
        for argument in ty.args.iter().filter(|_| !ty.is_generic_definition()) {
            if !visible(argument)? {
                return Ok(false);
            }
        }
        match ty.enclosing_type()? {
            Some(outer) => Ok(ty.flags() & 7 == 2 && visible(outer)?),
            None => Ok(ty.flags() & 7 == 1),
        }
    }
    visible(ty.ty()).to_managed(t).map(i32::from)
}

fn function_pointer_types<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Array<'t>>> {
    types_of_function_pointer(t, ty_of(ty))
}

/// Type[] of the result and the parameters; null for other types.
fn types_of_function_pointer(t: CurrentThread<'_>, ty: Ty) -> Managed<Option<Array<'_>>> {
    let TypeKind::FnPtr(sig) = ty.kind else { return Ok(None) };
    let types: Vec<Ty> = std::iter::once(sig.ret).chain(sig.params.iter().copied()).collect();
    type_array(t, universe().type_(), &types).map(Some)
}

fn is_unmanaged_function_pointer(_t: CurrentThread, ty: Option<Obj>) -> bool {
    matches!(ty_of(ty).kind, TypeKind::FnPtr(sig) if sig.unmanaged_convention != 0)
}

fn type_of_raw_handle<'t>(t: CurrentThread<'t>, handle: isize) -> Managed<Option<Obj<'t>>> {
    let handle = handle.cast_unsigned();
    // SAFETY: managed code passes a type handle.
    let ty = (handle != 0).then(|| unsafe { method_tables::type_of_handle(handle) });
    type_or_null(t, ty)
}

fn module_type(t: CurrentThread, module: ModuleArgument, result: ObjectPlace) -> Managed<()> {
    let ty = module.image().type_def(1).to_managed(t)?;
    result.set(t, Obj::of_type(t, ty)?);
    Ok(())
}

/// The type whose `MethodTable` has this address.
pub(crate) fn ty_of_table(table: *const ()) -> Ty {
    // SAFETY: managed code has addresses of tables from the machine alone.
    unsafe { method_tables::type_of_handle(table.addr()) }
}

fn handle_or_null(t: CurrentThread, ty: Option<Ty>) -> Managed<isize> {
    Ok(ty.map(|ty| method_tables::type_handle(ty).to_managed(t)).transpose()?.unwrap_or(0).cast_signed())
}

/// Managed code caches type objects in tables, which it then reads without a call; the machine's tables have none.
fn type_of_handle_place(t: CurrentThread, handle: isize, result: ObjectPlace) -> Managed<()> {
    if let Some(object) = type_of_raw_handle(t, handle)? {
        result.set(t, object);
    }
    Ok(())
}

fn type_of_table<'t>(t: CurrentThread<'t>, table: *const ()) -> Managed<Option<Obj<'t>>> {
    type_of_raw_handle(t, table.addr().cast_signed())
}

fn get_module_if_exists<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    get_module(t, ty).map(Some)
}

fn get_assembly_if_exists<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    get_assembly(t, ty).map(Some)
}

fn module_place(t: CurrentThread, ty: ObjectPlace, result: ObjectPlace) -> Managed<()> {
    result.set(t, get_module(t, ty.get())?);
    Ok(())
}

fn assembly_place(t: CurrentThread, ty: ObjectPlace, result: ObjectPlace) -> Managed<()> {
    result.set(t, get_assembly(t, ty.get())?);
    Ok(())
}

fn element_of_handle(t: CurrentThread, handle: isize) -> Managed<isize> {
    // SAFETY: managed code passes the handle of a RuntimeType.
    handle_or_null(t, unsafe { method_tables::type_of_handle(handle.cast_unsigned()) }.element())
}

fn declaring_of_handle(t: CurrentThread, handle: isize) -> Managed<isize> {
    // SAFETY: managed code passes the handle of a RuntimeType.
    let declaring = declaring_type(unsafe { method_tables::type_of_handle(handle.cast_unsigned()) });
    handle_or_null(t, declaring.to_managed(t)?)
}

fn declaring_method_place(t: CurrentThread, ty: TypeArgument, result: ObjectPlace) -> Managed<()> {
    if let Some(method) = declaring_method(t, ty.ty())? {
        result.set(t, method);
    }
    Ok(())
}

fn fields_of_table(t: CurrentThread, table: *const (), result: *mut isize, count: *mut i32) -> Managed<i32> {
    fields_of(t, ty_of_table(table), result, count).map(i32::from)
}

fn interfaces_place(t: CurrentThread, table: *const (), result: ObjectPlace) -> Managed<()> {
    if let Some(interfaces) = interfaces_of(t, ty_of_table(table))? {
        result.set(t, interfaces);
    }
    Ok(())
}

fn method_at(t: CurrentThread, table: *const (), slot: i32) -> Managed<isize> {
    let found = method_in_slot(ty_of_table(table), slot).to_managed(t)?;
    Ok(found.map_or(0, |method| std::ptr::from_ref(method).addr().cast_signed()))
}

fn utf8_name_of_table(_t: CurrentThread, table: *const ()) -> *const u8 {
    name_of(ty_of_table(table))
}

/// A new instance; null for a Nullable, whose boxed default value is null.
fn allocate_place(t: CurrentThread, table: *const (), result: ObjectPlace) -> Managed<()> {
    let ty = ty_of_table(table);
    saki_runtime::exec::class_init::ensure(t, ty)?;
    if !ty.is_nullable() {
        result.set(t, Obj::new(t, ty)?);
    }
    Ok(())
}

fn function_pointer_types_place(t: CurrentThread, ty: TypeArgument, result: ObjectPlace) -> Managed<()> {
    if let Some(types) = types_of_function_pointer(t, ty.ty())? {
        result.set(t, types);
    }
    Ok(())
}

/// Whether a type fits the constraints of a parameter, which name the arguments of a type and a method.
fn satisfies_constraints_in(
    t: CurrentThread,
    parameter: TypeArgument,
    type_context: TypeArgument,
    method_context: MethodArgument,
    argument: TypeArgument,
) -> Managed<i32> {
    let class_args = type_context.find().map_or(&[][..], |ty| ty.args);
    let method_args = method_context.find().map_or(&[][..], |method| method.generic_args());
    arguments_fit(&[parameter.ty()], &[argument.ty()], class_args, method_args).to_managed(t).map(i32::from)
}

/// See `type_of_handle_place`.
pub const LOOPS: &[LoopRow] = &[
    LoopRow::new(
        "static System.Runtime.CompilerServices.CastCache::TryGet(System.Int32[],System.UIntPtr,System.UIntPtr) System.Runtime.CompilerServices.CastResult",
        &look_in_cast_cache,
    )
    .correcting(),
    LoopRow::new(
        "static System.RuntimeTypeHandle::GetRuntimeTypeFromHandle(System.IntPtr) System.RuntimeType",
        &type_of_raw_handle,
    )
    .correcting(),
    LoopRow::new(
        "static System.RuntimeTypeHandle::GetRuntimeType(System.Runtime.CompilerServices.MethodTable*) System.RuntimeType",
        &type_of_table,
    )
    .correcting(),
];

/// The internal calls of `System.RuntimeTypeHandle`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 System.RuntimeTypeHandle::GetModule", &get_module),
    InternalCall::new("@net9 System.RuntimeTypeHandle::GetAssembly", &get_assembly),
    InternalCall::new("@net9 System.RuntimeTypeHandle::IsInstanceOfType", &is_instance_of_type),
    InternalCall::new("@net9 System.RuntimeTypeHandle::GetCorElementType", &element_type),
    InternalCall::new("@net9 System.RuntimeTypeHandle::GetBaseType", &get_base_type),
    InternalCall::new("@net System.RuntimeTypeHandle::GetAttributes", &get_attributes),
    InternalCall::new("@net9 System.RuntimeTypeHandle::GetElementType", &get_element_type),
    InternalCall::new("@net System.RuntimeTypeHandle::CompareCanonicalHandles", &is_same_canonical),
    InternalCall::new("@net9 System.RuntimeTypeHandle::IsEquivalentTo", &is_equivalent),
    InternalCall::new("@net System.RuntimeTypeHandle::GetArrayRank", &get_array_rank),
    InternalCall::new("@net System.RuntimeTypeHandle::GetToken", &get_token),
    InternalCall::new("@net9 System.RuntimeTypeHandle::_GetUtf8Name", &get_utf8_name),
    InternalCall::new("@net System.RuntimeTypeHandle::GetFirstIntroducedMethod", &get_first_method),
    InternalCall::new("@net System.RuntimeTypeHandle::GetNextIntroducedMethod", &get_next_method),
    InternalCall::new("@net System.RuntimeTypeHandle::GetNumVirtuals", &get_virtual_count),
    InternalCall::new("@net QCall::RuntimeTypeHandle_GetNumVirtualsAndStaticVirtuals", &get_virtual_and_static_count),
    InternalCall::new("@net9 System.RuntimeTypeHandle::GetMethodAt", &get_method_at),
    InternalCall::new("@net9 System.RuntimeTypeHandle::GetFields", &get_fields),
    InternalCall::new("@net9 System.RuntimeTypeHandle::GetInterfaces", &get_interfaces),
    InternalCall::new("@net QCall::RuntimeTypeHandle_GetConstraints", &get_constraints),
    InternalCall::new("@net QCall::RuntimeTypeHandle_VerifyInterfaceIsImplemented", &verify_interface),
    InternalCall::new("@net QCall::RuntimeTypeHandle_GetInterfaceMethodImplementation", &interface_implementation),
    InternalCall::new("@net9 System.RuntimeTypeHandle::CanCastTo", &can_cast_to),
    InternalCall::new("@net QCall::TypeHandle_CanCastTo_NoCacheLookup", &can_cast_handles),
    InternalCall::new("@net9 System.RuntimeTypeHandle::GetDeclaringType", &get_declaring_type),
    InternalCall::new("@net9 System.RuntimeTypeHandle::GetDeclaringMethod", &get_declaring_method),
    InternalCall::new("@net QCall::RuntimeTypeHandle_GetInstantiation", &get_instantiation),
    InternalCall::new("@net QCall::RuntimeTypeHandle_Instantiate", &instantiate),
    InternalCall::new("@net QCall::RuntimeTypeHandle_MakeArray", &make_array),
    InternalCall::new("@net QCall::RuntimeTypeHandle_MakeSZArray", &make_sz_array),
    InternalCall::new("@net QCall::RuntimeTypeHandle_MakeByRef", &make_byref),
    InternalCall::new("@net QCall::RuntimeTypeHandle_MakePointer", &make_pointer),
    InternalCall::new("@net QCall::RuntimeTypeHandle_IsCollectible", &is_collectible),
    InternalCall::new("@net QCall::RuntimeTypeHandle_GetGenericTypeDefinition", &generic_definition),
    InternalCall::new("@net System.RuntimeTypeHandle::IsGenericVariable", &is_generic_variable),
    InternalCall::new("@net System.RuntimeTypeHandle::GetGenericVariableIndex", &generic_variable_index),
    InternalCall::new("@net System.RuntimeTypeHandle::ContainsGenericVariables", &contains_variables),
    InternalCall::new("@net9 System.RuntimeTypeHandle::SatisfiesConstraints", &satisfies_constraints),
    InternalCall::new("@net QCall::RuntimeTypeHandle_RegisterCollectibleTypeDependency", &register_dependency),
    InternalCall::new("@net QCall::RuntimeTypeHandle_IsVisible", &is_visible),
    InternalCall::new("@net9 System.RuntimeTypeHandle::GetArgumentTypesFromFunctionPointer", &function_pointer_types),
    InternalCall::new("@net System.RuntimeTypeHandle::IsUnmanagedFunctionPointer", &is_unmanaged_function_pointer),
    InternalCall::new("@net9 System.Type::GetTypeFromHandleUnsafe", &type_of_raw_handle),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_GetRuntimeTypeFromHandleSlow", &type_of_handle_place),
    InternalCall::new("@net10 System.RuntimeTypeHandle::GetModuleIfExists", &get_module_if_exists),
    InternalCall::new("@net10 System.RuntimeTypeHandle::GetAssemblyIfExists", &get_assembly_if_exists),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_GetModuleSlow", &module_place),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_GetAssemblySlow", &assembly_place),
    InternalCall::new("@net10 System.RuntimeTypeHandle::GetElementTypeHandle", &element_of_handle),
    InternalCall::new("@net10 System.RuntimeTypeHandle::GetUtf8NameInternal", &utf8_name_of_table),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_GetDeclaringTypeHandle", &declaring_of_handle),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_GetDeclaringTypeHandleForGenericVariable", &declaring_of_handle),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_GetDeclaringMethodForGenericParameter", &declaring_method_place),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_GetFields", &fields_of_table),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_GetInterfaces", &interfaces_place),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_GetMethodAt", &method_at),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_InternalAlloc", &allocate_place),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_InternalAllocNoChecks", &allocate_place),
    InternalCall::new("@net10 QCall::RuntimeTypeHandle_SatisfiesConstraints", &satisfies_constraints_in),
    InternalCall::new(
        "@net10 QCall::RuntimeTypeHandle_GetArgumentTypesFromFunctionPointer",
        &function_pointer_types_place,
    ),
    InternalCall::new("@net QCall::ModuleHandle_GetModuleType", &module_type),
];
