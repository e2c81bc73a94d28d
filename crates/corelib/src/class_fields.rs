//! Fields of System.Private.CoreLib's own reflection classes, and what all reflection calls have in common: types of
//! objects and handles, member handles, names as NUL-ended UTF-8.
//!
//! Invariant: a name of metadata lies in the string heap of its image, where a NUL follows it.

use saki_abi::ObjRef;
use saki_runtime::object::references::Plain;
use saki_runtime::object::{member_handles, method_tables, type_objects};
use saki_runtime::{Array, CurrentThread, Managed, Obj, Word};
use saki_types::{Field, Method, MethodKind, Ty, universe};
use std::sync::atomic::{AtomicU32, Ordering};

/// A field of a class of the core assembly, found by its name when it is first used.
pub struct ClassField {
    namespace: &'static str,
    class: &'static str,
    name: &'static str,
    /// What .NET 10 calls it.
    later_name: &'static str,
    /// `UNKNOWN` before the first use.
    offset_bytes: AtomicU32,
}

const UNKNOWN: u32 = u32::MAX;

impl ClassField {
    /// The field of this name of a class of the core assembly.
    pub const fn new(namespace: &'static str, class: &'static str, name: &'static str) -> ClassField {
        ClassField { namespace, class, name, later_name: name, offset_bytes: AtomicU32::new(UNKNOWN) }
    }

    /// The same field, which has this name from .NET 10 on.
    pub const fn later(self, later_name: &'static str) -> ClassField {
        ClassField { later_name, ..self }
    }

    /// The class that has the field.
    pub fn class(&self) -> Ty {
        class_of_library(self.namespace, self.class)
    }

    /// Bytes from the start of the object.
    fn offset_bytes(&self) -> usize {
        // Relaxed: the number publishes no other memory.
        match self.offset_bytes.load(Ordering::Relaxed) {
            UNKNOWN => {}
            known => return known as usize,
        }
        let find = |name: &str| self.class().find_field(name).ok().flatten();
        let field = find(self.name).or_else(|| find(self.later_name));
        let Some(offset) = field.and_then(|field| field.offset_bytes().ok()) else {
            saki_base::bug!("{}.{} of the class library has no field {}", self.namespace, self.class, self.name)
        };
        // Relaxed: every thread stores the same number.
        self.offset_bytes.store(offset, Ordering::Relaxed);
        offset as usize
    }

    fn address<T>(&self, object: Obj) -> *mut T {
        let offset_bytes = self.offset_bytes();
        debug_assert!(object.ty().is_subclass_of(self.class()).unwrap_or(true) || object.ty() == self.class());
        object.field_address(offset_bytes)
    }

    /// The value of the field, which is plain.
    pub fn get<V: Plain>(&self, object: Obj) -> V {
        // SAFETY: `address` has checked the class, whose field is aligned for its type.
        unsafe { self.address::<V>(object).read() }
    }

    /// Writes a plain value.
    pub fn set<T: Plain>(&self, object: Obj, value: T) {
        // SAFETY: the object is of the class, which has the field, aligned for its type; the value is no reference.
        unsafe { self.address::<T>(object).write(value) };
    }

    /// Reads a reference.
    pub fn obj<'t>(&self, object: Obj<'t>) -> Option<Obj<'t>> {
        // SAFETY: the object is of the class, and the field holds references.
        unsafe { Obj::from_word(self.address::<ObjRef>(object).read()) }
    }

    /// Writes a reference, with the write barrier.
    pub fn set_ref(&self, t: CurrentThread, object: Obj, value: impl Word) {
        // SAFETY: the word is a reference of a live object in a frame below.
        let value = unsafe { Obj::from_word(value.word()) };
        // SAFETY: the object is of the class, whose field of references lies there.
        unsafe { object.store(t, self.offset_bytes(), value) };
    }
}

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

static METHOD_INFO: ClassField = ClassField::new("System.Reflection", "RuntimeMethodInfo", "m_handle");
static CONSTRUCTOR_INFO: ClassField = ClassField::new("System.Reflection", "RuntimeConstructorInfo", "m_handle");
static METHOD_STUB: ClassField = ClassField::new("System", "RuntimeMethodInfoStub", "m_value");
static FIELD_INFO: ClassField = ClassField::new("System.Reflection", "RtFieldInfo", "m_fieldHandle");

/// The method of an IRuntimeMethodInfo.
pub fn method_of(object: Option<Obj>) -> &'static Method {
    let found = object.and_then(|object| {
        let ty = object.ty();
        let field = [&METHOD_INFO, &CONSTRUCTOR_INFO, &METHOD_STUB].into_iter().find(|field| field.class() == ty)?;
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
