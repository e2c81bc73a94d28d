//! System.RuntimeType: names, declaring members, generic arguments, interfaces, layout.

use crate::emit::builder_of;
use crate::handles::address;
use crate::known;
use crate::native_memory::store_out;
use crate::objects::{method_object, type_array};
use rustc_hash::FxHashSet;
use saki_metadata::TableId;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::type_objects::{require, type_object};
use saki_runtime::{CurrentThread, InternalCall, Managed, ObjRef, object, strings};
use saki_types::names::NameStyle;
use saki_types::{ElementType, LoadError, LoadErrorKind, LoadResult, Method, Ty, TypeKind, universe};

/// The type behind `this` or a RuntimeType argument.
pub(crate) fn this_type(t: CurrentThread, this: ObjRef) -> Managed<Ty> {
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

/// Type definition that declares a generic parameter.
fn declaring_definition(ty: Ty) -> LoadResult<Option<Ty>> {
    let Some(param) = ty.generic_param() else { return Ok(None) };
    let rid = match param.owner.table() {
        TableId::MethodDef => param.image.meta.type_of_method(param.owner.rid())?,
        _ => param.owner.rid(),
    };
    param.image.type_def(rid).map(Some)
}

/// `Type.Namespace`: of nested types, that of the outermost one.
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

fn get_name(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| strings::new_string(t, &simple_name(this_type(t, this)?)))
}

fn get_namespace(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        let namespace = namespace(this_type(t, this)?).to_managed(t)?;
        if namespace.is_empty() { Ok(ObjRef::NULL) } else { strings::new_string(t, namespace) }
    })
}

fn is_byref_to_param(ty: Ty) -> bool {
    ty.is_byref() && ty.element().is_some_and(|element| element.is_generic_param())
}

fn get_full_name(t: CurrentThread, this: ObjRef, full_name: u8, assembly_qualified: u8) -> ObjRef {
    t.run(|| {
        let ty = this_type(t, this)?;
        let style = match (full_name != 0, assembly_qualified != 0) {
            (true, _) if ty.is_generic_param() || is_byref_to_param(ty) => return Ok(ObjRef::NULL),
            (true, true) => NameStyle::AssemblyQualified,
            (true, false) => NameStyle::Reflection,
            (false, _) => NameStyle::ToString,
        };
        strings::new_string(t, &ty.name_in(style))
    })
}

fn get_declaring_type(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        let ty = this_type(t, this)?;
        if let Some(unfinished) = ty.unfinished_enclosing() {
            return Ok(builder_of(unfinished));
        }
        let declaring = match ty.is_generic_param() {
            true => declaring_definition(ty),
            false => ty.enclosing_type(),
        };
        match declaring.to_managed(t)? {
            Some(declaring) => type_object(t, declaring),
            None => Ok(ObjRef::NULL),
        }
    })
}

fn get_declaring_method(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        let ty = this_type(t, this)?;
        let Some(param) = ty.generic_param() else {
            let message = "DeclaringMethod can only be used on generic arguments";
            return Err(exceptions::throw(t, "System", "InvalidOperationException", message));
        };
        if param.owner.table() != TableId::MethodDef {
            return Ok(ObjRef::NULL);
        }
        let Some(owner) = declaring_definition(ty).to_managed(t)? else { return Ok(ObjRef::NULL) };
        method_object(t, owner.method_by_rid(param.owner.rid()).to_managed(t)?, owner)
    })
}

/// `GetGenericArgumentsInternal(bool runtimeTypeArray)`; null for types that are not generic.
fn get_generic_arguments(t: CurrentThread, this: ObjRef, runtime_types: u8) -> ObjRef {
    t.run(|| {
        let mut ty = this_type(t, this)?;
        if ty.is_byref() {
            ty = ty.element().unwrap_or(ty);
        }
        if ty.args.is_empty() {
            return Ok(ObjRef::NULL);
        }
        let element = if runtime_types != 0 { universe().runtime_type() } else { universe().type_() };
        type_array(t, element, ty.args)
    })
}

fn get_generic_parameter_position(t: CurrentThread, this: ObjRef) -> i32 {
    t.run(|| Ok(this_type(t, this)?.generic_param().map_or(-1, |param| param.index as i32)))
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

fn get_interfaces(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        let mut ty = this_type(t, this)?;
        if ty.is_byref() {
            ty = ty.element().unwrap_or(ty);
        }
        let interfaces = interfaces_in_reflection_order(ty).to_managed(t)?;
        type_array(t, universe().runtime_type(), &interfaces)
    })
}

/// `GetInterfaceMapData(Type, Type interface, out MethodInfo[] targets, out MethodInfo[] methods)`
fn get_interface_map(t: CurrentThread, this: ObjRef, interface: ObjRef, targets: *mut ObjRef, methods: *mut ObjRef) {
    t.run(|| {
        let ty = this_type(t, this)?;
        let interface = this_type(t, interface)?;
        if !ty.is_assignable_to(interface).to_managed(t)? {
            return Ok(());
        }
        let is_dispatched = |method: &&'static Method| method.is_virtual() && !method.is_static();
        let members: Vec<_> = interface.methods().to_managed(t)?.filter(is_dispatched).collect();
        let element = known::METHOD_INFO.get(t)?;
        let target_array = object::new_array(t, element, members.len())?;
        let method_array = object::new_array(t, element, members.len())?;
        for (index, method) in members.into_iter().enumerate() {
            let member = method_object(t, method, interface)?;
            object::set_element_ref(t, method_array, index, member);
            // Null where nothing implements it: several default implementations, none, or one that is abstract again.
            let target = match ty.resolve_virtual(method) {
                Ok(target) if target.is_abstract() && target.owner.is_interface() => continue,
                Err(error) if error.kind == LoadErrorKind::MissingMethod => continue,
                other => other.to_managed(t)?,
            };
            let reflected = if target.owner.is_interface() { target.owner } else { ty };
            let target = method_object(t, target, reflected)?;
            object::set_element_ref(t, target_array, index, target);
        }
        store_out(t, targets, target_array);
        store_out(t, methods, method_array);
        Ok(())
    });
}

/// `GetPacking(out int packing, out int size)`
fn get_packing(t: CurrentThread, this: ObjRef, packing: *mut i32, size: *mut i32) {
    t.run(|| {
        let ty = this_type(t, this)?;
        let layout = match ty.def() {
            Some(def) => def.image.meta.class_layout(def.rid).map_err(LoadError::from).to_managed(t)?,
            None => None,
        };
        let (packing_size, class_size) =
            layout.map_or((0, 0), |row| (i32::from(row.packing_size), row.class_size as i32));
        // SAFETY: addresses of the caller's variables.
        unsafe {
            *packing = packing_size;
            *size = class_size;
        }
        Ok(())
    });
}

/// System.TypeCode.
mod type_code {
    pub const OBJECT: i32 = 1;
    pub const DB_NULL: i32 = 2;
    pub const DECIMAL: i32 = 15;
    pub const DATE_TIME: i32 = 16;
    pub const STRING: i32 = 18;
}

/// `Type.GetTypeCode`: enums have the code of their integer type.
pub fn type_code_of(ty: Ty) -> i32 {
    use ElementType as E;
    if matches!(ty.kind, TypeKind::Inst { .. }) {
        // Also an enum nested in a generic type.
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
        E::ValueType if ty.is_corlib("System", "Decimal") => type_code::DECIMAL,
        E::ValueType if ty.is_corlib("System", "DateTime") => type_code::DATE_TIME,
        E::Class if ty.is_corlib("System", "DBNull") => type_code::DB_NULL,
        _ => type_code::OBJECT,
    }
}

fn get_type_code(t: CurrentThread, ty: ObjRef) -> i32 {
    t.run(|| Ok(type_code_of(this_type(t, ty)?)))
}

fn internal_from_handle(t: CurrentThread, handle: usize) -> ObjRef {
    t.run(|| {
        // SAFETY: the value of a RuntimeTypeHandle.
        match unsafe { crate::handles::ty(handle) } {
            Some(ty) => type_object(t, ty),
            None => Ok(ObjRef::NULL),
        }
    })
}

/// A MonoClass* and a MonoType* are the same here.
fn type_from_class(_t: CurrentThread, class: *const ()) -> usize {
    class.addr()
}

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
