//! What all reflection calls have in common: types of objects and handles, member handles, names as NUL-ended UTF-8.
//!
//! Invariant: a name of metadata lies in the string heap of its image, where a NUL follows it.

use saki_runtime::object::{member_handles, method_tables, type_objects};
use saki_runtime::{Array, CurrentThread, Managed, ManagedField, Obj};
use saki_types::{Field, LibraryType, Method, MethodKind, Ty, universe};

/// A class of the core assembly.
pub fn class_of_library(namespace: &str, class: &str) -> Ty {
    let found = universe().corlib().find_type(namespace, class).ok().flatten();
    found.unwrap_or_else(|| saki_base::bug!("the class library has no {namespace}.{class}"))
}

/// The type of a RuntimeType that the class library has checked not to be null.
pub fn ty_of(object: Option<Obj>) -> Ty {
    object.and_then(type_objects::type_of_object).unwrap_or_else(|| saki_base::bug!("a null RuntimeType"))
}

/// The types of an array of type handles.
///
/// # Safety
/// `count` type handles lie there.
pub unsafe fn types_at(handles: *const usize, count: i32) -> Vec<Ty> {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: so many handles lie there: managed code pins the array for the call.
    let read = |index: usize| unsafe { handles.add(index).read() };
    // SAFETY: managed code has handles from `type_handle` alone.
    (0..count).map(|index| unsafe { method_tables::type_of_handle(read(index)) }).collect()
}

/// The types of a RuntimeType[]; none for null.
pub fn types_of(array: Option<Array>) -> Vec<Ty> {
    array.map_or_else(Vec::new, |array| array.iter().map(ty_of).collect())
}

/// A RuntimeType object, or null.
pub fn type_or_null<'t>(t: CurrentThread<'t>, ty: Option<Ty>) -> Managed<Option<Obj<'t>>> {
    ty.map(|ty| Obj::of_type(t, ty)).transpose()
}

static METHOD_INFO: ManagedField = ManagedField::new(LibraryType::RuntimeMethodInfo, "m_handle");
static CONSTRUCTOR_INFO: ManagedField = ManagedField::new(LibraryType::RuntimeConstructorInfo, "m_handle");
static METHOD_STUB: ManagedField = ManagedField::new(LibraryType::RuntimeMethodInfoStub, "m_value");
static FIELD_INFO: ManagedField = ManagedField::new(LibraryType::RtFieldInfo, "m_fieldHandle");

/// The classes of objects that hold a method.
const METHODS: [(LibraryType, &ManagedField); 3] = [
    (LibraryType::RuntimeMethodInfo, &METHOD_INFO),
    (LibraryType::RuntimeConstructorInfo, &CONSTRUCTOR_INFO),
    (LibraryType::RuntimeMethodInfoStub, &METHOD_STUB),
];

/// The method of an IRuntimeMethodInfo.
pub fn method_of(object: Option<Obj>) -> &'static Method {
    let found = object.and_then(|object| {
        let ty = object.ty();
        let (_, field) = METHODS.into_iter().find(|(class, _)| ty.is(*class))?;
        // SAFETY: these fields hold the addresses of methods, which the machine gave.
        unsafe { field.get::<*const Method>(object).as_ref() }
    });
    found.unwrap_or_else(|| saki_base::bug!("a method object without a method"))
}

/// The field of an RtFieldInfo.
pub fn field_of(object: Option<Obj>) -> &'static Field {
    // SAFETY: the field holds the address of a field, which the machine gave.
    let found = object.and_then(|object| unsafe { FIELD_INFO.get::<*const Field>(object).as_ref() });
    found.unwrap_or_else(|| saki_base::bug!("a field object without a field"))
}

/// A new IRuntimeMethodInfo for a method.
///
/// # Errors
/// OutOfMemoryException.
pub fn method_stub<'t>(t: CurrentThread<'t>, method: &'static Method) -> Managed<Obj<'t>> {
    member_handles::of_method(t, method)
}

/// The address of a method's name, which ends with a NUL.
pub fn method_name(method: &'static Method) -> *const u8 {
    match method.kind {
        MethodKind::Def { .. } => method.name.as_ptr(),
        _ => match method.name {
            ".ctor" => c".ctor".as_ptr().cast(),
            "Get" => c"Get".as_ptr().cast(),
            "Set" => c"Set".as_ptr().cast(),
            "Address" => c"Address".as_ptr().cast(),
            _ => c"dynamic method".as_ptr().cast(),
        },
    }
}

/// A place for a struct of one word, where a call writes its result.
pub type WordResult = *mut usize;

/// Writes the result of a call that returns a method handle.
pub fn return_method(result: WordResult, method: Option<&'static Method>) {
    let address = method.map_or(0, |method| std::ptr::from_ref(method).addr());
    // SAFETY: compiled code passes the address of a variable for the result.
    unsafe { result.write(address) };
}
