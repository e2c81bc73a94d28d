//! System.RuntimeType: names, declaring members, generic arguments, interfaces, layout.

use crate::emit::builder_of;
use crate::handles::{Handle, address};
use crate::objects::{method_object, type_array};
use rustc_hash::FxHashSet;
use saki_metadata::TableId;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::type_objects::require;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Place, RefPlace, Str};
use saki_types::names::NameStyle;
use saki_types::{ElementType, LibraryType, LoadError, LoadErrorKind, LoadResult, Ty, Type, TypeKind, universe};

/// The type behind `this` or a RuntimeType argument.
pub(crate) fn this_type(t: CurrentThread, this: Option<Obj>) -> Managed<Ty> {
    require(t, this, "type")
}

/// `Type.Name`: without namespace and generic arguments.
pub fn simple_name(ty: Ty) -> String {
    match &ty.kind {
        TypeKind::Def(def) => def.name.to_string(),
        TypeKind::Inst { definition } => simple_name(definition),
        TypeKind::SzArray(element) => simple_name(element) + "[]",
        TypeKind::Array { element, rank: 1 } => simple_name(element) + "[*]",
        TypeKind::Array { element, rank } => format!("{}[{}]", simple_name(element), ",".repeat(*rank as usize - 1)),
        TypeKind::Ptr(element) => simple_name(element) + "*",
        TypeKind::ByRef(element) => simple_name(element) + "&",
        TypeKind::FnPtr(_) => "MonoFNPtrFakeClass".to_string(),
        TypeKind::Var(param) | TypeKind::MVar(param) => param.name.to_string(),
    }
}

/// The type definition that declares a generic parameter.
fn declaring_definition(ty: Ty) -> LoadResult<Option<Ty>> {
    let Some(param) = ty.generic_param() else { return Ok(None) };
    let rid = match param.owner.table() {
        TableId::MethodDef => param.image.meta.type_of_method(param.owner.rid())?,
        _ => param.owner.rid(),
    };
    param.image.type_def(rid).map(Some)
}

/// `Type.Namespace`: for nested types, that of the outermost type.
fn namespace(ty: Ty) -> LoadResult<&'static str> {
    if let Some(element) = ty.element() {
        return match element.element().is_some() || ty.is_byref() {
            true => namespace(element),
            false => Ok(element.def().map_or("", |def| def.namespace)),
        };
    }
    if ty.is_generic_param() {
        return Ok(declaring_definition(ty)?.and_then(|owner| owner.def()).map_or("", |def| def.namespace));
    }
    let mut outer = ty;
    loop {
        if let Some(unfinished) = outer.unfinished_enclosing() {
            return Ok(unfinished.outermost_namespace());
        }
        let Some(enclosing) = outer.enclosing_type()? else { break };
        outer = enclosing;
    }
    Ok(outer.def().map_or("", |def| def.namespace))
}

fn get_name<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Str<'t>> {
    Str::new(t, &simple_name(this_type(t, this)?))
}

fn get_namespace<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Option<Str<'t>>> {
    let namespace = namespace(this_type(t, this)?).to_managed(t)?;
    if namespace.is_empty() { Ok(None) } else { Str::new(t, namespace).map(Some) }
}

fn is_byref_to_param(ty: Ty) -> bool {
    ty.is_byref() && ty.element().is_some_and(|element| element.is_generic_param())
}

fn get_full_name<'t>(
    t: CurrentThread<'t>,
    this: Option<Obj>,
    full_name: bool,
    assembly_qualified: bool,
) -> Managed<Option<Str<'t>>> {
    let ty = this_type(t, this)?;
    let style = match (full_name, assembly_qualified) {
        (true, _) if ty.is_generic_param() || is_byref_to_param(ty) => return Ok(None),
        (true, true) => NameStyle::AssemblyQualified,
        (true, false) => NameStyle::Reflection,
        (false, _) => NameStyle::ToString,
    };
    Str::new(t, &ty.name_in(style)).map(Some)
}

fn get_declaring_type<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let ty = this_type(t, this)?;
    if let Some(unfinished) = ty.unfinished_enclosing() {
        return Ok(builder_of(t, unfinished));
    }
    let declaring = match ty.is_generic_param() {
        true => declaring_definition(ty),
        false => ty.enclosing_type(),
    };
    declaring.to_managed(t)?.map(|declaring| Obj::of_type(t, declaring)).transpose()
}

fn get_declaring_method<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let ty = this_type(t, this)?;
    let Some(param) = ty.generic_param() else {
        let message = "DeclaringMethod can only be used on generic arguments";
        return Err(exceptions::throw(t, ExceptionType::InvalidOperation, message));
    };
    if param.owner.table() != TableId::MethodDef {
        return Ok(None);
    }
    let Some(owner) = declaring_definition(ty).to_managed(t)? else { return Ok(None) };
    method_object(t, owner.method_by_rid(param.owner.rid()).to_managed(t)?, owner).map(Some)
}

/// `GetGenericArgumentsInternal(bool runtimeTypeArray)`; null for types that are not generic.
fn get_generic_arguments<'t>(
    t: CurrentThread<'t>,
    this: Option<Obj>,
    runtime_types: bool,
) -> Managed<Option<Array<'t>>> {
    let mut ty = this_type(t, this)?;
    if ty.is_byref() {
        ty = ty.element().unwrap_or(ty);
    }
    if ty.args.is_empty() {
        return Ok(None);
    }
    let element = if runtime_types { universe().runtime_type() } else { universe().type_() };
    type_array(t, element, ty.args).map(Some)
}

fn get_generic_parameter_position(t: CurrentThread, this: Option<Obj>) -> Managed<i32> {
    Ok(this_type(t, this)?.generic_param().map_or(-1, |param| param.index as i32))
}

/// Interfaces in the order in which Mono lists them: it fills a hash table of 11 buckets, keyed by the token of the
/// interface's definition, prepending within a bucket.
pub fn interfaces_in_reflection_order(ty: Ty) -> LoadResult<Vec<Ty>> {
    const BUCKETS: usize = 11;
    /// The table grows when it holds more than this.
    const MOST_IN_FIRST_TABLE: usize = 41;
    fn collect(ty: Ty, seen: &mut FxHashSet<usize>, out: &mut Vec<Ty>) -> LoadResult<()> {
        for &interface in &ty.interface_list()?.declared {
            if seen.insert(address(interface)) {
                out.push(interface);
            }
            collect(interface, seen, out)?;
        }
        Ok(())
    }
    let (mut seen, mut inserted) = (FxHashSet::default(), Vec::new());
    let mut at = Some(ty);
    while let Some(class) = at {
        collect(class, &mut seen, &mut inserted)?;
        at = class.parent()?;
    }
    for &interface in ty.interfaces()? {
        if seen.insert(address(interface)) {
            inserted.push(interface);
        }
    }
    if inserted.len() > MOST_IN_FIRST_TABLE {
        return Ok(inserted);
    }
    let bucket_of = |ty: &Ty| ty.def().map_or(0, |def| (0x0200_0000 | def.rid as usize) % BUCKETS);
    inserted.reverse();
    inserted.sort_by_key(bucket_of);
    Ok(inserted)
}

fn get_interfaces<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Array<'t>> {
    let mut ty = this_type(t, this)?;
    if ty.is_byref() {
        ty = ty.element().unwrap_or(ty);
    }
    let interfaces = interfaces_in_reflection_order(ty).to_managed(t)?;
    type_array(t, universe().runtime_type(), &interfaces)
}

/// `GetInterfaceMapData(Type, Type interface, out MethodInfo[] targets, out MethodInfo[] methods)`
fn get_interface_map(
    t: CurrentThread,
    this: Option<Obj>,
    interface: Option<Obj>,
    targets: RefPlace,
    methods: RefPlace,
) -> Managed<()> {
    let ty = this_type(t, this)?;
    let interface = this_type(t, interface)?;
    if !ty.is_assignable_to(interface).to_managed(t)? {
        return Ok(());
    }
    let mut members: Vec<_> = interface.methods().to_managed(t)?.filter(|method| method.is_virtual()).collect();
    // Static methods come last, as in .NET.
    members.sort_by_key(|method| method.is_static());
    let element = universe().library_type(LibraryType::MethodInfo).to_managed(t)?;
    let target_array = Array::new(t, element, members.len())?;
    let method_array = Array::new(t, element, members.len())?;
    for (index, method) in members.into_iter().enumerate() {
        let member = method_object(t, method, interface)?;
        method_array.set(t, index, Some(member));
        // The element stays null without an implementation, and for instance methods also with several default ones or
        // one that is abstract again.
        let target = match method.is_static() {
            true => ty.static_virtual_implementation(method).to_managed(t)?,
            false => match ty.resolve_virtual(method) {
                Ok(target) if target.is_abstract() && target.owner.is_interface() => None,
                Err(error)
                    if matches!(error.kind, LoadErrorKind::MissingMethod | LoadErrorKind::AmbiguousImplementation) =>
                {
                    None
                }
                other => Some(other.to_managed(t)?),
            },
        };
        let Some(target) = target else { continue };
        let reflected = if target.owner.is_interface() { target.owner } else { ty };
        let target = method_object(t, target, reflected)?;
        target_array.set(t, index, Some(target));
    }
    targets.set(t, target_array);
    methods.set(t, method_array);
    Ok(())
}

/// `GetPacking(out int packing, out int size)`
fn get_packing(t: CurrentThread, this: Option<Obj>, packing: Place<i32>, size: Place<i32>) -> Managed<()> {
    let ty = this_type(t, this)?;
    let layout = match ty.def() {
        Some(def) => def.image.meta.class_layout(def.rid).map_err(LoadError::from).to_managed(t)?,
        None => None,
    };
    let (packing_size, class_size) = layout.map_or((0, 0), |row| (i32::from(row.packing_size), row.class_size as i32));
    packing.set(packing_size);
    size.set(class_size);
    Ok(())
}

/// System.TypeCode.
mod type_code {
    /// Any type without a number of its own.
    pub const OBJECT: i32 = 1;
    /// System.DBNull.
    pub const DB_NULL: i32 = 2;
    /// System.Decimal.
    pub const DECIMAL: i32 = 15;
    /// System.DateTime.
    pub const DATE_TIME: i32 = 16;
    /// System.String.
    pub const STRING: i32 = 18;
}

/// `Type.GetTypeCode`: enums have the code of their integer type.
pub fn type_code_of(ty: Ty) -> i32 {
    use ElementType as E;
    if matches!(ty.kind, TypeKind::Inst { .. }) {
        // No instantiation has a code of its own, not even an enum nested in a generic type.
        return type_code::OBJECT;
    }
    match ty.underlying().element_type {
        E::Boolean => 3,
        E::Char => 4,
        E::I1 => 5,
        E::U1 => 6,
        E::I2 => 7,
        E::U2 => 8,
        E::I4 => 9,
        E::U4 => 10,
        E::I8 => 11,
        E::U8 => 12,
        E::R4 => 13,
        E::R8 => 14,
        E::String => type_code::STRING,
        E::ValueType if ty.is(LibraryType::Decimal) => type_code::DECIMAL,
        E::ValueType if ty.is(LibraryType::DateTime) => type_code::DATE_TIME,
        E::Class if ty.is(LibraryType::DBNull) => type_code::DB_NULL,
        _ => type_code::OBJECT,
    }
}

fn get_type_code(t: CurrentThread, ty: Option<Obj>) -> Managed<i32> {
    Ok(type_code_of(this_type(t, ty)?))
}

fn internal_from_handle<'t>(t: CurrentThread<'t>, handle: Handle<Type>) -> Managed<Option<Obj<'t>>> {
    handle.get().map(|ty| Obj::of_type(t, ty)).transpose()
}

/// From a MonoClass* to its MonoType*; both are the address of one record here.
fn type_from_class(_t: CurrentThread, class: *const ()) -> usize {
    class.addr()
}

/// The internal calls of `System.RuntimeType`, `System.Type` and `Mono.RuntimeClassHandle`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.RuntimeType::get_Name", &get_name),
    InternalCall::new("System.RuntimeType::get_Namespace", &get_namespace),
    InternalCall::new("System.RuntimeType::getFullName", &get_full_name),
    InternalCall::new("System.RuntimeType::get_DeclaringType", &get_declaring_type),
    InternalCall::new("System.RuntimeType::get_DeclaringMethod", &get_declaring_method),
    InternalCall::new("System.RuntimeType::GetGenericArgumentsInternal", &get_generic_arguments),
    InternalCall::new("System.RuntimeType::GetGenericParameterPosition", &get_generic_parameter_position),
    InternalCall::new("System.RuntimeType::GetInterfaces", &get_interfaces),
    InternalCall::new("System.RuntimeType::GetInterfaceMapData", &get_interface_map),
    InternalCall::new("System.RuntimeType::GetPacking", &get_packing),
    InternalCall::new("System.RuntimeType::GetTypeCodeImplInternal", &get_type_code),
    InternalCall::new("System.Type::internal_from_handle", &internal_from_handle),
    InternalCall::new("Mono.RuntimeClassHandle::GetTypeFromClass", &type_from_class),
];
