//! Copies object graphs from one domain into another, for objects that the class library passes between domains without
//! serialisation: byte arrays, strings, boxed values and the call messages made of them.
//!
//! The copy has the same types, looked up in the other universe by module and row. Left out: delegates,
//! objects of MarshalByRefObject's subclasses, arrays of more than one dimension, and graphs with more than
//! `MAX_SHARED` objects that several references may share; they give a SerializationException.

use crate::exception_types::ExceptionType;
use crate::exceptions::{self, ToManaged};
use crate::fields::ManagedField;
use crate::references::{Array, Obj, Str};
use crate::thread::{CurrentThread, Managed};
use crate::type_objects;
use saki_abi::ObjRef;
use saki_thread::root;
use saki_types::binder::AssemblyName;
use saki_types::{Image, LibraryType, LoadError, LoadResult, Method, Ty, TypeKind, Universe, universe};

/// The most objects of a graph whose identity matters.
const MAX_SHARED: usize = 256;

/// The counterpart of the type in another universe.
///
/// # Errors
/// The binder's for an assembly that the other domain cannot load; `TypeLoad` for types made at run time.
pub fn type_in(ty: Ty, to: &'static Universe) -> LoadResult<Ty> {
    if *ty.universe() == *to {
        return Ok(ty);
    }
    let missing = || LoadError::type_load(format!("{} exists in its own domain only", ty.full_name()), ty.full_name());
    let _entered = saki_types::universe::enter(to);
    match &ty.kind {
        TypeKind::Def(def) => {
            let image = if def.image.is_corlib {
                to.corlib()
            } else if def.image.is_manifest_of_file() {
                to.binder().load_from(&def.image.assembly().path)?.image
            } else {
                from_memory_in(def.image, to).ok_or_else(missing)?
            };
            let found = image.type_def(def.rid)?;
            match found.def() {
                Some(other) if other.name == def.name && other.namespace == def.namespace => Ok(found),
                _ => Err(missing()),
            }
        }
        TypeKind::Inst { definition } => {
            let args = ty.args.iter().map(|arg| type_in(arg, to)).collect::<LoadResult<Vec<_>>>()?;
            to.instantiate(type_in(definition, to)?, &args)
        }
        TypeKind::SzArray(element) => Ok(to.sz_array_of(type_in(element, to)?)),
        TypeKind::Array { element, rank } => Ok(to.array_of(type_in(element, to)?, *rank)),
        TypeKind::Ptr(element) => Ok(to.pointer_to(type_in(element, to)?)),
        TypeKind::ByRef(element) => Ok(to.byref_to(type_in(element, to)?)),
        TypeKind::FnPtr(_) | TypeKind::Var(_) | TypeKind::MVar(_) => Err(missing()),
    }
}

/// For the image of an assembly that was loaded from memory: the image that the other universe has loaded, or finds,
/// under the same name, if both have the same MVID.
fn from_memory_in(image: &'static Image, to: &'static Universe) -> Option<&'static Image> {
    let assembly = image.assembly();
    if assembly.is_dynamic || !std::ptr::eq(assembly.image, image) {
        return None;
    }
    let name = AssemblyName {
        name: assembly.name.to_string(),
        version: assembly.version,
        culture: assembly.culture.to_string(),
        public_key_token: assembly.public_key_token.clone(),
    };
    let found = to.binder().resolve(&name, None).ok()?.image;
    (found.meta.mvid() == image.meta.mvid()).then_some(found)
}

/// The counterpart of the method in another universe.
///
/// # Errors
/// The binder's for an assembly that the other domain cannot load; `TypeLoad` for methods and types made at run time.
pub fn method_in(method: &'static Method, to: &'static Universe) -> LoadResult<&'static Method> {
    let owner = type_in(method.owner, to)?;
    let _entered = saki_types::universe::enter(to);
    let Some(rid) = method.rid() else {
        let name = method.full_name();
        return Err(LoadError::type_load(format!("{name} exists in its own domain only"), name));
    };
    let found = owner.method_by_rid(rid)?;
    if method.generic_args().is_empty() || method.is_generic_definition() {
        return Ok(found);
    }
    let args = method.generic_args().iter().map(|arg| type_in(arg, to)).collect::<LoadResult<Vec<_>>>()?;
    to.instantiate_method(found, &args)
}

/// Pairs of original and copy. They lie in the copying function's frame, where the collector finds them.
struct Copied<'t> {
    pairs: [Option<(Obj<'t>, Obj<'t>)>; MAX_SHARED],
    used: usize,
}

impl<'t> Copied<'t> {
    fn find(&self, original: Obj<'t>) -> Option<Obj<'t>> {
        self.pairs[..self.used].iter().flatten().find(|(known, _)| *known == original).map(|(_, copy)| *copy)
    }

    fn note(&mut self, original: Obj<'t>, copy: Obj<'t>) {
        self.pairs[self.used] = Some((original, copy));
        self.used += 1;
    }
}

/// `object` (may be null) as an object of `to`: itself if it belongs to `to`, else a copy.
///
/// # Errors
/// SerializationException for objects that cannot be copied; OutOfMemoryException.
pub fn copy<'t>(t: CurrentThread<'t>, object: Option<Obj<'t>>, to: &'static Universe) -> Managed<Option<Obj<'t>>> {
    let Some(object) = object.filter(|object| *object.ty().universe() != *to) else { return Ok(object) };
    let _entered = saki_types::universe::enter(to);
    copy_one(t, object, &mut Copied { pairs: [None; MAX_SHARED], used: 0 }).map(Some)
}

fn copy_one<'t>(t: CurrentThread<'t>, object: Obj<'t>, copied: &mut Copied<'t>) -> Managed<Obj<'t>> {
    let from = object.ty();
    if let Some(text) = object.as_str() {
        return Str::from_units(t, text.units()).map(Obj::from);
    }
    if from.is(LibraryType::RuntimeType) {
        return match type_objects::type_of_object(object) {
            Some(ty) => Obj::of_type(t, type_in(ty, universe()).to_managed(t)?),
            None => Err(refuse(t, from)),
        };
    }
    if let Some(copy) = copied.find(object) {
        return Ok(copy);
    }
    if from.is_delegate() || from.is_marshal_by_ref() || copied.used == MAX_SHARED {
        return Err(refuse(t, from));
    }
    let ty = type_in(from, universe()).to_managed(t)?;
    let shares = from.contains_references().to_managed(t)? || !from.is_value_type();
    match object.as_array().zip(ty.element()) {
        Some(_) if !ty.is_sz_array() => Err(refuse(t, from)),
        Some((original, element)) => {
            let made = Array::of_array_type(t, ty, original.length())?;
            if shares {
                copied.note(object, made.into());
            }
            copy_elements(t, original, made, element, copied)?;
            Ok(made.into())
        }
        None => {
            let made = Obj::new(t, ty)?;
            if shares {
                copied.note(object, made);
            }
            let at = if ty.is_value_type() { saki_abi::object::OBJECT_HEADER_BYTES as usize } else { 0 };
            copy_fields(t, (object, made), at, ty, copied)?;
            Ok(made)
        }
    }
}

fn copy_elements<'t>(
    t: CurrentThread<'t>,
    from: Array<'t>,
    to: Array<'t>,
    element: Ty,
    copied: &mut Copied<'t>,
) -> Managed<()> {
    let length = from.length();
    if element.is_reference_type() {
        for (index, item) in from.iter().enumerate() {
            let item = item.map(|item| copy_one(t, item, copied)).transpose()?;
            to.set(t, index, item);
        }
        return Ok(());
    }
    let size = element.value_size_bytes().to_managed(t)? as usize;
    if element.contains_references().to_managed(t)? {
        for index in 0..length {
            let at = saki_abi::object::ARRAY_DATA_OFFSET as usize + index * size;
            copy_fields(t, (from.into(), to.into()), at, element, copied)?;
        }
        return Ok(());
    }
    let (source, target) = (from.element_address(0), to.element_address(0));
    // SAFETY: both arrays have `length` elements of `size` bytes.
    unsafe { std::ptr::copy_nonoverlapping(source, target, length * size) };
    Ok(())
}

/// Gives the array `to` the elements of `from`, both of the current domain; nothing happens when one is not an array or
/// they differ in type or length. The elements are references or hold none.
///
/// # Errors
/// `TypeLoad`.
pub fn replace_elements(t: CurrentThread, from: Option<Obj>, to: Option<Obj>) -> LoadResult<()> {
    let (Some(from), Some(to)) = (from.and_then(Obj::as_array), to.and_then(Obj::as_array)) else { return Ok(()) };
    let length = from.length();
    if from.ty() != to.ty() || to.length() != length {
        return Ok(());
    }
    let Some(element) = from.ty().element() else { return Ok(()) };
    if element.is_reference_type() {
        from.iter().enumerate().for_each(|(index, value)| to.set(t, index, value));
        return Ok(());
    }
    let size = element.value_size_bytes()? as usize;
    let (source, target) = (from.element_address(0), to.element_address(0));
    // SAFETY: both arrays have `length` elements of `size` bytes without references; they may be one array.
    unsafe { std::ptr::copy(source, target, length * size) };
    Ok(())
}

/// Copies the instance fields of a class, or of a value type at byte `at` of both objects. Layouts agree in all
/// domains.
fn copy_fields<'t>(
    t: CurrentThread<'t>,
    objects: (Obj<'t>, Obj<'t>),
    at: usize,
    ty: Ty,
    copied: &mut Copied<'t>,
) -> Managed<()> {
    let elements = ty.inline_array_length().to_managed(t)?.unwrap_or(1);
    let stride = match elements {
        1 => 0,
        _ => ty.value_size_bytes().to_managed(t)? / elements,
    };
    for element in 0..elements {
        copy_element_fields(t, objects, at + (element * stride) as usize, ty, copied)?;
    }
    Ok(())
}

/// Copies the instance fields of a class, of a value type that is not an inline array, or of an element of one.
fn copy_element_fields<'t>(
    t: CurrentThread<'t>,
    objects: (Obj<'t>, Obj<'t>),
    at: usize,
    ty: Ty,
    copied: &mut Copied<'t>,
) -> Managed<()> {
    let (from, to) = objects;
    let mut class = Some(ty);
    while let Some(current) = class {
        for field in current.fields().to_managed(t)?.iter().filter(|field| !field.is_static()) {
            let field_ty = field.ty().to_managed(t)?;
            let place = at + field.offset_bytes().to_managed(t)? as usize;
            let (source, target) = (from.field_address::<u8>(place), to.field_address::<u8>(place));
            if field_ty.is_reference_type() {
                // SAFETY: a reference field of the original.
                let value = unsafe { Obj::from_word(*(source as *const ObjRef)) };
                let value = value.map(|value| copy_one(t, value, copied)).transpose()?;
                // SAFETY: the same field of the copy, which has the original's type.
                unsafe { to.store(t, place, value) };
            } else if field_ty.is_value_type() && field_ty.contains_references().to_managed(t)? {
                copy_fields(t, objects, place, field_ty, copied)?;
            } else {
                let size = field_ty.value_size_bytes().to_managed(t)? as usize;
                // SAFETY: a field of `size` bytes in both objects.
                unsafe { std::ptr::copy_nonoverlapping(source, target, size) };
            }
        }
        class = if ty.is_value_type() { None } else { current.parent().to_managed(t)? };
    }
    Ok(())
}

fn refuse(t: CurrentThread, ty: Ty) -> exceptions::Thrown {
    let message = format!("An object of type {} cannot go to another domain as it is.", ty.full_name());
    exceptions::throw(t, ExceptionType::Serialization, &message)
}

/// The pending exception as an exception of `to`: itself if it belongs to `to`, else a new exception of the same class,
/// or of the nearest base class that `to` can load, with the same message.
pub fn copy_pending(t: CurrentThread, to: &'static Universe) -> exceptions::Thrown {
    static MESSAGE: ManagedField = ManagedField::new(LibraryType::Exception, "_message");
    let original = t.take_exception();
    if *original.ty().universe() == *to {
        return t.throw(original);
    }
    let _entered = saki_types::universe::enter(to);
    let mut class = Some(original.ty());
    while let Some(ty) = class {
        if let Ok(ty) = type_in(ty, to)
            && let Ok(exception) = Obj::new(t, ty)
        {
            if let Some(message) = MESSAGE.str(original)
                && let Ok(message) = Str::from_units(t, message.units())
            {
                MESSAGE.set_ref(t, exception, message);
            }
            if t.root(root::ABORT_EXCEPTION) == Some(original) {
                // The abort continues in this domain.
                t.set_root(root::ABORT_EXCEPTION, exception);
            }
            return t.throw(exception);
        }
        t.take_pending();
        class = ty.parent().ok().flatten();
    }
    exceptions::out_of_memory(t)
}

const fn setup(field: &'static str) -> ManagedField {
    ManagedField::new(LibraryType::AppDomainSetup, field)
}

static SETUP_TEXTS: [ManagedField; 10] = [
    setup("application_base"),
    setup("application_name"),
    setup("cache_path"),
    setup("configuration_file"),
    setup("dynamic_base"),
    setup("license_file"),
    setup("private_bin_path"),
    setup("private_bin_path_probe"),
    setup("shadow_copy_directories"),
    setup("shadow_copy_files"),
];
static SETUP_ARRAYS: [ManagedField; 3] =
    [setup("domain_initializer_args"), setup("configuration_bytes"), setup("serialized_non_primitives")];
static SETUP_FLAGS: [ManagedField; 5] = [
    setup("publisher_policy"),
    setup("path_changed"),
    setup("disallow_binding_redirects"),
    setup("disallow_code_downloads"),
    setup("disallow_appbase_probe"),
];

/// A text field of an AppDomainSetup object; None for null or the empty text.
pub(crate) fn setup_text(object: Obj, name: &str) -> Option<String> {
    let field = SETUP_TEXTS.iter().find(|field| field.name() == name)?;
    let text = field.str(object).map_or_else(String::new, Str::to_rust);
    (!text.is_empty()).then_some(text)
}

/// Fills `to`, a setup object of the current domain, from one of any domain.
///
/// # Errors
/// OutOfMemoryException.
pub(crate) fn copy_setup<'t>(t: CurrentThread<'t>, from: Obj<'t>, to: Obj) -> Managed<()> {
    static LOADER_OPTIMIZATION: ManagedField = setup("loader_optimization");
    for field in SETUP_TEXTS.iter().chain(&SETUP_ARRAYS) {
        let value = copy(t, field.obj(from), universe())?;
        field.set_ref(t, to, value);
    }
    for field in &SETUP_FLAGS {
        field.set(to, field.get::<u8>(from));
    }
    LOADER_OPTIMIZATION.set(to, LOADER_OPTIMIZATION.get::<i32>(from));
    Ok(())
}
