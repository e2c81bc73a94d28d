//! Types and signatures of `mono/metadata/metadata.h`: what they are, sizes, names, equality.

use crate::call::{call, load, put};
use crate::classes::{class_of, element_type};
use crate::host_records;
use crate::machine::end;
use crate::text::given;
use saki_metadata::{TableId, Token};
use saki_types::{ElementType, GenericContext, Image, LoadResult, Method, MethodSig, Ty, TypeKind};
use std::ffi::{c_char, c_int, c_void};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Whether it is a type of references to variables.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_is_byref(ty: Ty) -> c_int {
    c_int::from(ty.is_byref())
}

/// `MonoTypeEnum`: of a by-reference type that of what it refers to.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_get_type(ty: Ty) -> c_int {
    c_int::from(element_type(ty) as u8)
}

/// The signature of a function pointer.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_get_signature(ty: Ty) -> &'static MethodSig {
    match class_of(ty).kind {
        TypeKind::FnPtr(sig) => sig,
        _ => end("mono_type_get_signature", "gets a type that is no function pointer"),
    }
}

/// The class of a type; the elements' of an array without bounds.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_get_class(ty: Ty) -> Ty {
    match class_of(ty).kind {
        TypeKind::SzArray(element) => element,
        _ => class_of(ty),
    }
}

/// `MonoArrayType`: the elements, the number of dimensions, and sizes and bounds, which types do not keep.
#[repr(C)]
pub struct MonoArrayType {
    element: Ty,
    rank: u8,
    size_count: u8,
    bound_count: u8,
    sizes: *const c_int,
    bounds: *const c_int,
}

impl MonoArrayType {
    /// One with sizes and bounds, which stay.
    pub(crate) fn new(element: Ty, rank: u32, sizes: Vec<c_int>, bounds: Vec<c_int>) -> MonoArrayType {
        let (size_count, bound_count) = (sizes.len() as u8, bounds.len() as u8);
        let kept = |numbers: Vec<c_int>| match numbers.is_empty() {
            true => std::ptr::null(),
            false => numbers.leak().as_ptr(),
        };
        MonoArrayType { element, rank: rank as u8, size_count, bound_count, sizes: kept(sizes), bounds: kept(bounds) }
    }
}

/// Elements and dimensions of an array type with bounds; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_get_array_type(ty: Ty) -> *const MonoArrayType {
    const FUNCTION: &str = "mono_type_get_array_type";
    let TypeKind::Array { element, rank } = class_of(ty).kind else {
        end(FUNCTION, "gets a type that is no such array")
    };
    host_records::array_type(class_of(ty), || MonoArrayType::new(element, rank, Vec::new(), Vec::new()))
}

/// What a pointer leads to.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_get_ptr_type(ty: Ty) -> Ty {
    match class_of(ty).kind {
        TypeKind::Ptr(to) => to,
        _ => end("mono_type_get_ptr_type", "gets a type that is no pointer"),
    }
}

/// Custom modifiers are never given, as under Mono: null.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_get_modifiers(_ty: Ty, _is_required: *mut c_int, _iter: *mut usize) -> Option<Ty> {
    None
}

/// Whether it is a struct: neither a primitive nor an enumeration.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_is_struct(ty: Ty) -> c_int {
    let is_struct = matches!(ty.element_type, ElementType::ValueType | ElementType::TypedByRef);
    call("mono_type_is_struct", |_| c_int::from(is_struct && !ty.is_enum()))
}

/// Whether it is void.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_is_void(ty: Ty) -> c_int {
    c_int::from(ty.element_type == ElementType::Void)
}

/// Whether values are addresses: objects (not of instantiations, as under Mono), pointers, references to variables.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_is_pointer(ty: Option<Ty>) -> c_int {
    use ElementType as E;
    let Some(ty) = ty else { return 0 };
    let kind = element_type(ty);
    let is_object = matches!(kind, E::String | E::SzArray | E::Class | E::Object | E::Array);
    c_int::from(ty.is_byref() || is_object || matches!(kind, E::I | E::U | E::Ptr | E::FnPtr))
}

/// Whether values are objects; also for a reference to a variable of such a type, as under Mono.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_is_reference(ty: Option<Ty>) -> c_int {
    c_int::from(ty.is_some_and(|ty| class_of(ty).is_reference_type() && !class_of(ty).is_generic_param()))
}

/// Whether it is a generic parameter.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_is_generic_parameter(ty: Ty) -> c_int {
    c_int::from(ty.is_generic_param())
}

/// Whether an instantiation is a value type.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_generic_inst_is_valuetype(ty: Ty) -> c_int {
    c_int::from(class_of(ty).is_value_type())
}

/// The type of an enumeration's values; other types themselves.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_get_underlying_type(ty: Ty) -> Ty {
    call("mono_type_get_underlying_type", |_| ty.underlying())
}

/// Bytes and alignment of a variable of the type.
fn size_of_type(ty: Ty) -> LoadResult<(u32, u32)> {
    const ADDRESS: u32 = size_of::<usize>() as u32;
    if ty.element_type == ElementType::Void {
        return Ok((0, 1));
    }
    if ty.is_value_type() { Ok((ty.value_size_bytes()?, ty.value_align_bytes()?)) } else { Ok((ADDRESS, ADDRESS)) }
}

/// Bytes of a variable of the type.
///
/// # Safety
/// `align` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_type_size(ty: Option<Ty>, align: *mut c_int) -> c_int {
    load("mono_type_size", || {
        let (size_bytes, align_bytes) = ty.map_or(Ok((0, 1)), size_of_type)?;
        // SAFETY: null or the host's variable.
        unsafe { put(align, align_bytes as c_int) };
        Ok(size_bytes as c_int)
    })
}

/// Bytes of a value on the stack: whole words, but for numbers of four bytes with a fraction.
///
/// # Safety
/// `align` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_type_stack_size(ty: Ty, align: *mut c_int) -> c_int {
    const WORD: u32 = size_of::<usize>() as u32;
    load("mono_type_stack_size", || {
        let (size_bytes, align_bytes) = size_of_type(ty)?;
        let is_float = ty.element_type == ElementType::R4;
        let round = |bytes: u32| if is_float { bytes } else { bytes.next_multiple_of(WORD) };
        // SAFETY: null or the host's variable.
        unsafe { put(align, round(align_bytes) as c_int) };
        Ok(round(size_bytes) as c_int)
    })
}

/// Equal types have equal numbers.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_type_hash(ty: Ty) -> u32 {
    // Types are never copied, so that the address is the identity.
    (std::ptr::from_ref(ty).addr() >> 4) as u32
}

/// Whether two types are the same.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_type_equal(a: Ty, b: Ty) -> c_int {
    c_int::from(a == b)
}

/// Types are never freed: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_free_type(_ty: *const c_void) {}

/// Array types live as long as the process: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_free_array(_ty: *const c_void) {}

/// The type of a TypeSpec row; null if it cannot be loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_create_from_typespec(image: &'static Image, token: u32) -> Option<Ty> {
    let token = Token::new(TableId::TypeSpec, Token(token).rid());
    load("mono_type_create_from_typespec", || image.resolve_type(token, &GenericContext::NONE).map(Some))
}

/// The type's name in the form of IL ("System.Collections.Generic.List<System.Int32>"), for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_get_name(ty: Ty) -> *mut c_char {
    call("mono_type_get_name", |_| given(crate::type_names::il_name(ty).as_bytes()))
}

/// The type's name as debugging tools write it ("int", "string[]"), for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_full_name(ty: Ty) -> *mut c_char {
    call("mono_type_full_name", |_| given(ty.signature_name().as_bytes()))
}

/// The types of a signature's parameters as debugging tools write them, for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_signature_get_desc(signature: Option<&'static MethodSig>, with_namespace: c_int) -> *mut c_char {
    let Some(signature) = signature else { return given(b"<invalid signature>") };
    call("mono_signature_get_desc", |_| given(crate::type_names::parameters(signature, with_namespace != 0).as_bytes()))
}

/// The method's signature; null if it cannot be loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_signature(method: &'static Method) -> Option<&'static MethodSig> {
    load("mono_method_signature", || {
        let sig = method.sig()?;
        host_records::note_signature(sig, method);
        Ok(Some(sig))
    })
}

/// The signature of a method, or of a call that the token stands for.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_signature(
    method: &'static Method,
    image: &'static Image,
    token: u32,
) -> Option<&'static MethodSig> {
    match Token(token).table() {
        TableId::MemberRef => {
            let resolve = || image.resolve_method(Token(token), &GenericContext::NONE)?.sig().map(Some);
            load("mono_method_get_signature", resolve)
        }
        _ => mono_method_signature(method),
    }
}

/// [`mono_method_get_signature`]; the context is null.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_signature_full(
    method: &'static Method,
    image: &'static Image,
    token: u32,
    context: *const c_void,
) -> Option<&'static MethodSig> {
    crate::classes::refuse_context("mono_method_get_signature_full", context);
    mono_method_get_signature(method, image, token)
}

/// The signature of a StandAloneSig token; null if it cannot be read.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_parse_signature(image: &'static Image, token: u32) -> Option<&'static MethodSig> {
    let read = || image.resolve_standalone_sig(Token(token), &GenericContext::NONE).map(Some);
    load("mono_metadata_parse_signature", read)
}

/// The type of the result.
#[unsafe(no_mangle)]
pub extern "C" fn mono_signature_get_return_type(signature: &'static MethodSig) -> Ty {
    signature.ret
}

/// The next of the parameters' types; null after the last.
///
/// # Safety
/// `iter` is null or the host's variable, which is null or as this function has left it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_signature_get_params(signature: &'static MethodSig, iter: *mut usize) -> Option<Ty> {
    // SAFETY: null or the host's variable.
    unsafe { crate::call::next(iter, &signature.params) }
}

/// The number of parameters.
#[unsafe(no_mangle)]
pub extern "C" fn mono_signature_get_param_count(signature: &'static MethodSig) -> u32 {
    signature.params.len() as u32
}

/// `MonoCallConvention`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_signature_get_call_conv(signature: &'static MethodSig) -> u32 {
    const VARIABLE_ARGUMENTS: u32 = 5;
    if signature.is_vararg { VARIABLE_ARGUMENTS } else { u32::from(signature.unmanaged_convention) }
}

/// The number of the first of the variable arguments; -1 if there are none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_signature_vararg_start(signature: &'static MethodSig) -> c_int {
    signature.sentinel.map_or(-1, |index| index as c_int)
}

/// Whether a method with this signature has a `this`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_signature_is_instance(signature: &'static MethodSig) -> c_int {
    c_int::from(signature.has_this)
}

/// Whether `this` is among the parameters.
#[unsafe(no_mangle)]
pub extern "C" fn mono_signature_explicit_this(signature: &'static MethodSig) -> c_int {
    c_int::from(signature.explicit_this)
}

/// Whether a parameter is marked `out`. Known of signatures that [`mono_method_signature`] has given.
#[unsafe(no_mangle)]
pub extern "C" fn mono_signature_param_is_out(signature: &'static MethodSig, index: c_int) -> c_int {
    const OUT: u16 = 2;
    load("mono_signature_param_is_out", || {
        let Some(method) = host_records::method_of(signature) else { return Ok(0) };
        let row = saki_reflect::parameters::param_row(method, index as u16 + 1)?;
        Ok(c_int::from(row.is_some_and(|(_, row)| row.flags & OUT != 0)))
    })
}

/// Whether two signatures are the same.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_signature_equal(a: &'static MethodSig, b: &'static MethodSig) -> c_int {
    c_int::from(a == b)
}

/// Equal signatures have equal numbers.
#[unsafe(no_mangle)]
pub extern "C" fn mono_signature_hash(signature: &'static MethodSig) -> u32 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(signature) as u32
}

/// A copy, which lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_signature_dup(signature: &'static MethodSig) -> &'static MethodSig {
    let copy: &'static MethodSig = Box::leak(Box::new(signature.clone()));
    if let Some(method) = host_records::method_of(signature) {
        host_records::note_signature(copy, method);
    }
    copy
}

/// Signatures live as long as the process: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_free_method_signature(_signature: *const c_void) {}
