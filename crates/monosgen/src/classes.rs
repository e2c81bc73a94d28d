//! `mono/metadata/class.h`: classes, found and asked. Their members: `class_members`.

use crate::call::{call, load, put};
use crate::machine::end;
use crate::text::{given, kept, text};
use saki_metadata::{TableId, Token};
use saki_reflect::type_lookup::same_ignoring_case;
use saki_runtime::vm::domain_copy;
use saki_runtime::vm::domains::Domain;
use saki_types::{ElementType, GenericContext, Image, LibraryType, LoadResult, Ty, TypeKind, universe};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

macro_rules! library_classes {
    ($($function:ident => $name:ident;)*) => { $(
        #[doc = concat!("The type of `universe().", stringify!($name), "()`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $function() -> Ty {
            call(stringify!($function), |_| universe().$name())
        }
    )* };
}

library_classes! {
    mono_get_object_class => object;
    mono_get_string_class => string;
    mono_get_void_class => void;
    mono_get_byte_class => byte;
    mono_get_boolean_class => boolean;
    mono_get_sbyte_class => sbyte;
    mono_get_int16_class => int16;
    mono_get_uint16_class => uint16;
    mono_get_int32_class => int32;
    mono_get_uint32_class => uint32;
    mono_get_intptr_class => intptr;
    mono_get_uintptr_class => uintptr;
    mono_get_int64_class => int64;
    mono_get_uint64_class => uint64;
    mono_get_single_class => single;
    mono_get_double_class => double;
    mono_get_char_class => char_;
    mono_get_enum_class => enum_type;
    mono_get_array_class => array;
    mono_get_exception_class => exception;
}

/// The class System.Threading.Thread.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_thread_class() -> Option<Ty> {
    load("mono_get_thread_class", || universe().library_type(LibraryType::Thread).map(Some))
}

/// The image of the core assembly.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_corlib() -> &'static Image {
    call("mono_get_corlib", |_| universe().corlib())
}

/// The type that a name of Mono's API means: of an image, with `/` or `+` before nested types.
pub(crate) fn find(image: &'static Image, namespace: &str, name: &str) -> LoadResult<Option<Ty>> {
    let path = if namespace.is_empty() { name.to_owned() } else { format!("{namespace}.{name}") };
    image.find_type_by_path(&path.replace('/', "+"))
}

/// A type of an image, with `/` before nested types; null if there is none.
///
/// # Safety
/// The texts end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_class_from_name(
    image: &'static Image,
    namespace: *const c_char,
    name: *const c_char,
) -> Option<Ty> {
    // SAFETY: the host's texts, which end in NUL.
    let (namespace, name) = unsafe { (text(namespace), text(name)) };
    load("mono_class_from_name", || find(image, &namespace, &name))
}

/// The first type that is not nested whose names are these but for the case of letters; null if there is none.
///
/// # Safety
/// The texts end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_class_from_name_case(
    image: &'static Image,
    namespace: *const c_char,
    name: *const c_char,
) -> Option<Ty> {
    // SAFETY: the host's texts, which end in NUL.
    let (namespace, name) = unsafe { (text(namespace), text(name)) };
    load("mono_class_from_name_case", || {
        for rid in 1..=image.meta.row_count(TableId::TypeDef) {
            let row = image.meta.type_def(rid)?;
            if same_ignoring_case(image.meta.string(row.name)?, &name)
                && same_ignoring_case(image.meta.string(row.namespace)?, &namespace)
                && image.meta.enclosing_class(rid).is_none()
            {
                return image.type_def(rid).map(Some);
            }
        }
        Ok(None)
    })
}

/// Ends the process for a generic context: no function of the API gives one.
pub(crate) fn refuse_context(function: &str, context: *const c_void) {
    if !context.is_null() {
        end(function, "gets a generic context, and no function gives any");
    }
}

/// The type of a TypeDef, TypeRef or TypeSpec token; null if it cannot be loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get(image: &'static Image, token: u32) -> Option<Ty> {
    load("mono_class_get", || image.resolve_type(Token(token), &GenericContext::NONE).map(Some))
}

/// [`mono_class_get`]; the context is null.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_full(image: &'static Image, token: u32, context: *const c_void) -> Option<Ty> {
    refuse_context("mono_class_get_full", context);
    mono_class_get(image, token)
}

/// [`mono_class_get`] of a TypeRef token.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_from_typeref(image: &'static Image, token: u32) -> Option<Ty> {
    mono_class_get(image, token)
}

/// The name of the type of a TypeDef, TypeRef or TypeSpec token, with its namespace, for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_name_from_token(image: &'static Image, token: u32) -> *mut c_char {
    load("mono_class_name_from_token", || {
        let name = match Token(token).table() {
            TableId::TypeDef | TableId::TypeRef => {
                let (namespace, name) = image.meta.type_name_of_token(Token(token)).unwrap_or_default();
                if namespace.is_empty() { name.to_owned() } else { format!("{namespace}.{name}") }
            }
            _ => image.resolve_type(Token(token), &GenericContext::NONE)?.full_name(),
        };
        Ok(given(name.as_bytes()))
    })
}

/// Types are ready when they are asked: 1.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_init(_class: Ty) -> c_int {
    1
}

/// The class in a domain, or in its own without a domain; null if the domain cannot load it.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_vtable(domain: Option<&'static Domain>, class: Ty) -> Option<Ty> {
    match domain {
        Some(domain) => load("mono_class_vtable", || domain_copy::type_in(class, domain.universe).map(Some)),
        None => Some(class),
    }
}

/// The domain of a class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_vtable_domain(class: Ty) -> &'static Domain {
    saki_runtime::vm::domains::of_universe(class.universe())
}

/// The class itself.
#[unsafe(no_mangle)]
pub extern "C" fn mono_vtable_class(class: Ty) -> Ty {
    class
}

/// The array type with these elements; one of rank 1 has bounds if that is asked for.
#[unsafe(no_mangle)]
pub extern "C" fn mono_bounded_array_class_get(element: Ty, rank: u32, is_bounded: c_int) -> Ty {
    call("mono_bounded_array_class_get", |_| {
        let universe = element.universe();
        if rank == 1 && is_bounded == 0 { universe.sz_array_of(element) } else { universe.array_of(element, rank) }
    })
}

/// The array type with these elements.
#[unsafe(no_mangle)]
pub extern "C" fn mono_array_class_get(element: Ty, rank: u32) -> Ty {
    mono_bounded_array_class_get(element, rank, 0)
}

/// The pointer type.
#[unsafe(no_mangle)]
pub extern "C" fn mono_ptr_class_get(ty: Ty) -> Ty {
    call("mono_ptr_class_get", |_| ty.universe().pointer_to(ty))
}

/// The class of a type: of a by-reference type that of what it refers to.
pub(crate) fn class_of(ty: Ty) -> Ty {
    match ty.kind {
        TypeKind::ByRef(of) => of,
        _ => ty,
    }
}

/// The class of a type: of a by-reference type that of what it refers to.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_from_mono_type(ty: Ty) -> Ty {
    class_of(ty)
}

/// The type of a class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_type(class: Ty) -> Ty {
    class
}

/// The type of references to variables of the class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_byref_type(class: Ty) -> Ty {
    call("mono_class_get_byref_type", |_| class.universe().byref_to(class))
}

/// The class's name, without namespace; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_name(class: Ty) -> *const c_char {
    call("mono_class_get_name", |_| kept(&name_of(class)))
}

/// The name that Mono gives to a class: that of its row; those of arrays and pointers are made of their elements'.
pub(crate) fn name_of(class: Ty) -> String {
    match &class.kind {
        TypeKind::SzArray(element) => name_of(element) + "[]",
        TypeKind::Array { element, rank } => {
            let commas = if *rank == 1 { "*".to_owned() } else { ",".repeat(*rank as usize - 1) };
            format!("{}[{commas}]", name_of(element))
        }
        TypeKind::Ptr(element) => name_of(element) + "*",
        TypeKind::ByRef(element) => name_of(element) + "&",
        TypeKind::FnPtr(_) => "MonoFNPtrFakeClass".to_owned(),
        TypeKind::Var(param) | TypeKind::MVar(param) => param.name.to_owned(),
        TypeKind::Def(_) | TypeKind::Inst { .. } => class.def().map_or("", |def| def.name).to_owned(),
    }
}

/// The namespace that Mono gives to a class: arrays and pointers have that of their elements.
pub(crate) fn namespace_of(class: Ty) -> &'static str {
    match &class.kind {
        TypeKind::SzArray(element)
        | TypeKind::Array { element, .. }
        | TypeKind::Ptr(element)
        | TypeKind::ByRef(element) => namespace_of(element),
        TypeKind::FnPtr(_) => "System",
        _ => class.def().map_or("", |def| def.namespace),
    }
}

/// The class's namespace, empty for nested classes; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_namespace(class: Ty) -> *const c_char {
    call("mono_class_get_namespace", |_| kept(namespace_of(class)))
}

/// The image that declares the class, or the elements of an array.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_image(class: Ty) -> &'static Image {
    class.image()
}

/// The type of an array's elements, of an enumeration's values, of what a pointer leads to; otherwise the class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_element_class(class: Ty) -> Ty {
    call("mono_class_get_element_class", |_| class.element().unwrap_or_else(|| class.underlying()))
}

/// Whether values of the class are no references.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_is_valuetype(class: Ty) -> c_int {
    c_int::from(class.is_value_type())
}

/// Whether it is an enumeration.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_is_enum(class: Ty) -> c_int {
    call("mono_class_is_enum", |_| c_int::from(class.is_enum()))
}

/// The type of an enumeration's values; of arrays and pointers that of their elements; null for other classes.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_enum_basetype(class: Ty) -> Option<Ty> {
    call("mono_class_enum_basetype", |_| class.element().or_else(|| class.is_enum().then(|| class.underlying())))
}

/// Whether it is a delegate class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_is_delegate(class: Ty) -> c_int {
    call("mono_class_is_delegate", |_| {
        let multicast = class.universe().multicast_delegate();
        let is_base = class == multicast || class == class.universe().delegate();
        c_int::from(is_base || class.is_delegate())
    })
}

/// Whether it is an instantiation of `Nullable<T>`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_is_nullable(class: Ty) -> c_int {
    call("mono_class_is_nullable", |_| c_int::from(class.is_nullable() && !class.is_generic_definition()))
}

/// The T of a `Nullable<T>`; null for other classes.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_nullable_param(class: Ty) -> Option<Ty> {
    call("mono_class_get_nullable_param", |_| class.args.first().copied().filter(|_| class.is_nullable()))
}

/// The base class; null for Object, interfaces and pointers.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_parent(class: Ty) -> Option<Ty> {
    load("mono_class_get_parent", || class.parent())
}

/// The class around a nested class; null for others.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_nesting_type(class: Ty) -> Option<Ty> {
    load("mono_class_get_nesting_type", || class.enclosing_type())
}

/// The number of dimensions of an array; 0 for other classes.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_rank(class: Ty) -> c_int {
    class.array_rank() as c_int
}

/// `TypeAttributes`; arrays and pointers have those that Mono gives them.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_flags(class: Ty) -> u32 {
    const PUBLIC: u32 = 1;
    const SEALED: u32 = 0x100;
    const SERIALIZABLE: u32 = 0x2000;
    match &class.kind {
        TypeKind::Def(_) | TypeKind::Inst { .. } => class.flags(),
        TypeKind::SzArray(element) | TypeKind::Array { element, .. } => {
            (mono_class_get_flags(element) & 7) | SEALED | SERIALIZABLE
        }
        TypeKind::Ptr(element) => (mono_class_get_flags(class_of(element)) & 7) | 0x8,
        TypeKind::ByRef(of) => mono_class_get_flags(of),
        TypeKind::FnPtr(_) | TypeKind::Var(_) | TypeKind::MVar(_) => PUBLIC,
    }
}

/// The TypeDef token of a class or of an instantiation's definition; 0 for other classes.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_type_token(class: Ty) -> u32 {
    class.def().map_or(0, |def| Token::new(TableId::TypeDef, def.rid).0)
}

/// Whether `class` is `base`, derives from it, or, if asked for, implements it. Object is the base of all.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_is_subclass_of(class: Ty, base: Ty, with_interfaces: c_int) -> c_int {
    load("mono_class_is_subclass_of", || {
        let is_so = if base == class.universe().object() {
            true
        } else if with_interfaces != 0 && base.is_interface() {
            class.interfaces()?.contains(&base)
        } else {
            !class.is_interface() && class.is_subclass_of(base)?
        };
        Ok(c_int::from(is_so))
    })
}

/// Whether a variable of `class` may hold what one of `from` holds.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_is_assignable_from(class: Ty, from: Ty) -> c_int {
    load("mono_class_is_assignable_from", || {
        saki_reflect::type_handle::is_assignable_from(class, from).map(c_int::from)
    })
}

/// Whether the class is the interface or implements it.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_implements_interface(class: Ty, interface: Ty) -> c_int {
    load("mono_class_implements_interface", || {
        Ok(c_int::from(class == interface || class.interfaces()?.contains(&interface)))
    })
}

/// Bytes of an object with its header and padded to its fields' alignment, as Mono counts them.
fn least_size_bytes(class: Ty) -> LoadResult<u32> {
    if class.is_value_type() {
        Ok(class.value_size_bytes()? + saki_abi::object::OBJECT_HEADER_BYTES)
    } else if class.is_array() || class.element_type == ElementType::String {
        class.instance_size_bytes()
    } else {
        let layout = class.instance_layout()?;
        Ok(layout.size_bytes.next_multiple_of(layout.align_bytes))
    }
}

/// Bytes of an object of the class with its header; of a value's box.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_instance_size(class: Ty) -> i32 {
    load("mono_class_instance_size", || Ok(least_size_bytes(class)? as i32))
}

/// Bytes of an element of an array of the class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_array_element_size(class: Ty) -> i32 {
    load("mono_class_array_element_size", || element_size(class))
}

/// Bytes of an element of an array with such elements.
pub(crate) fn element_size(class: Ty) -> LoadResult<i32> {
    Ok(if class.is_value_type() { class.value_size_bytes()? as i32 } else { size_of::<usize>() as i32 })
}

/// Bytes of an element of this array class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_array_element_size(array: Ty) -> i32 {
    const FUNCTION: &str = "mono_array_element_size";
    match array.element().filter(|_| array.is_array()) {
        Some(element) => load(FUNCTION, || element_size(element)),
        None => end(FUNCTION, "gets a class that is no array"),
    }
}

/// Bytes of the class's static fields.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_data_size(class: Ty) -> i32 {
    load("mono_class_data_size", || Ok(if class.is_array() { 0 } else { class.static_layout()?.size_bytes as i32 }))
}

/// Bytes of a value of the class, or of the fields of an object.
///
/// # Safety
/// `align` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_class_value_size(class: Ty, align: *mut u32) -> i32 {
    const HEADER_BYTES: i32 = saki_abi::object::OBJECT_HEADER_BYTES as i32;
    load("mono_class_value_size", || {
        let (size_bytes, align_bytes) = if class.is_value_type() {
            (class.value_size_bytes()? as i32, class.value_align_bytes()?)
        } else {
            let align_bytes = match class.is_array() || class.element_type == ElementType::String {
                true => size_of::<usize>() as u32,
                false => class.instance_layout()?.align_bytes,
            };
            (least_size_bytes(class)? as i32 - HEADER_BYTES, align_bytes)
        };
        // SAFETY: null or the host's variable.
        unsafe { put(align, align_bytes) };
        Ok(size_bytes)
    })
}

/// The alignment of the class's fields, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_min_align(class: Ty) -> i32 {
    load("mono_class_min_align", || {
        let align = if class.is_value_type() { class.value_align_bytes()? } else { size_of::<usize>() as u32 };
        Ok(align as i32)
    })
}

/// The type, method or field of a token, and the class of its handle.
///
/// # Safety
/// `class` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_ldtoken(
    image: &'static Image,
    token: u32,
    class: *mut Option<Ty>,
    context: *const c_void,
) -> *const c_void {
    refuse_context("mono_ldtoken", context);
    load("mono_ldtoken", || {
        let (token, none) = (Token(token), &GenericContext::NONE);
        let is_field = match token.table() {
            TableId::Field => true,
            TableId::MemberRef => {
                let row = image.meta.member_ref(token.rid())?;
                saki_metadata::is_field_sig(image.meta.blob(row.signature)?)
            }
            _ => false,
        };
        let (address, role) = match token.table() {
            TableId::TypeDef | TableId::TypeRef | TableId::TypeSpec => {
                (ptr::from_ref(image.resolve_type(token, none)?).cast(), LibraryType::RuntimeTypeHandle)
            }
            _ if is_field => (ptr::from_ref(image.resolve_field(token, none)?).cast(), LibraryType::RuntimeFieldHandle),
            _ => (ptr::from_ref(image.resolve_method(token, none)?).cast(), LibraryType::RuntimeMethodHandle),
        };
        // SAFETY: null or the host's variable.
        unsafe { put(class, Some(universe().library_type(role)?)) };
        Ok(address)
    })
}

/// The kind of a type as Mono counts: of a by-reference type that of what it refers to; instantiations are a kind.
pub(crate) fn element_type(ty: Ty) -> ElementType {
    match ty.kind {
        TypeKind::ByRef(of) => element_type(of),
        TypeKind::Inst { .. } => ElementType::GenericInst,
        _ => ty.element_type,
    }
}
