//! Methods: `mono/metadata/loader.h` and `class.h`, headers of bodies of `metadata.h`.

use crate::call::{call, call_quietly, load, put};
use crate::classes::refuse_context;
use crate::text::{kept, text};
use saki_metadata::{EhKind, MethodBody, TableId, Token};
use saki_types::method::impl_flags::{INTERNAL_CALL, RUNTIME};
use saki_types::{ArrayMethod, Field, GenericContext, Image, LoadResult, Method, MethodKind, Ty, access};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// The class's own method of a name which is accepted.
fn find(
    class: Ty,
    name: &str,
    param_count: c_int,
    accepts: impl Fn(&'static Method) -> bool,
) -> LoadResult<Option<&'static Method>> {
    for method in class.methods_named(name)? {
        let has_count = match usize::try_from(param_count) {
            Ok(count) => method.sig()?.params.len() == count,
            Err(_) => true,
        };
        if has_count && accepts(method) {
            return Ok(Some(method));
        }
    }
    Ok(None)
}

/// The class's own method of a name with so many parameters, or with any number for -1; null if there is none.
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_class_get_method_from_name(
    class: Ty,
    name: *const c_char,
    param_count: c_int,
) -> Option<&'static Method> {
    // SAFETY: the host's text, which ends in NUL.
    let name = unsafe { text(name) };
    load("mono_class_get_method_from_name", || find(class, &name, param_count, |_| true))
}

/// [`mono_class_get_method_from_name`] among the methods that have all these `MethodAttributes`.
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_class_get_method_from_name_flags(
    class: Ty,
    name: *const c_char,
    param_count: c_int,
    flags: c_int,
) -> Option<&'static Method> {
    // SAFETY: the host's text, which ends in NUL.
    let name = unsafe { text(name) };
    let has_flags = |method: &'static Method| c_int::from(method.flags) & flags == flags;
    load("mono_class_get_method_from_name_flags", || find(class, &name, param_count, has_flags))
}

/// The method of a MethodDef, MemberRef or MethodSpec token; null if it cannot be loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_method(image: &'static Image, token: u32, _class: *const c_void) -> Option<&'static Method> {
    load("mono_get_method", || image.resolve_method(Token(token), &GenericContext::NONE).map(Some))
}

/// [`mono_get_method`]; the context is null.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_method_full(
    image: &'static Image,
    token: u32,
    class: *const c_void,
    context: *const c_void,
) -> Option<&'static Method> {
    refuse_context("mono_get_method_full", context);
    mono_get_method(image, token, class)
}

/// The method of a token as `constrained.` calls it on an object of the class, and the method of the token itself; null
/// if it cannot be called so. The context is null.
///
/// # Safety
/// `declared` is the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_method_constrained(
    image: &'static Image,
    token: u32,
    class: Ty,
    context: *const c_void,
    declared: *mut Option<&'static Method>,
) -> Option<&'static Method> {
    const FUNCTION: &str = "mono_get_method_constrained";
    refuse_context(FUNCTION, context);
    let method = mono_get_method(image, token, ptr::null());
    // SAFETY: the host's variable.
    unsafe { put(declared, method) };
    let method = method?;
    load(FUNCTION, || {
        if !saki_reflect::type_handle::is_assignable_from(method.owner, class)? {
            return Ok(None);
        }
        if class.is_interface() || !method.is_virtual() {
            return Ok(Some(method));
        }
        class.resolve_virtual(method).map(Some)
    })
}

/// Methods live as long as their domain: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_free_method(_method: *const c_void) {}

/// The method itself: the context is null.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_inflate_generic_method(
    method: &'static Method,
    context: *const c_void,
) -> &'static Method {
    refuse_context("mono_class_inflate_generic_method", context);
    method
}

/// The type itself: the context is null.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_inflate_generic_type(ty: Ty, context: *const c_void) -> Ty {
    refuse_context("mono_class_inflate_generic_type", context);
    ty
}

/// The method itself, as under Mono.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_inflated_method(method: &'static Method) -> &'static Method {
    method
}

/// The method's name; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_name(method: &'static Method) -> *const c_char {
    kept(method.name)
}

/// The class that declares the method.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_class(method: &'static Method) -> Ty {
    method.owner
}

/// The MethodDef token; 0 for methods of arrays and those made at run time.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_token(method: &'static Method) -> u32 {
    method.rid().map_or(0, |rid| Token::new(TableId::MethodDef, rid).0)
}

/// The method's row in the MethodDef table; 0 if it has none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_index(method: &'static Method) -> u32 {
    method.rid().unwrap_or(0)
}

/// `MethodAttributes`; `MethodImplAttributes` go to `impl_flags`.
///
/// # Safety
/// `impl_flags` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_method_get_flags(method: &'static Method, impl_flags: *mut u32) -> u32 {
    let of_arrays = match method.kind {
        MethodKind::Array(ArrayMethod::Ctor | ArrayMethod::CtorBounds | ArrayMethod::CtorNested(_)) => INTERNAL_CALL,
        MethodKind::Array(_) => INTERNAL_CALL | RUNTIME,
        _ => 0,
    };
    // SAFETY: null or the host's variable.
    unsafe { put(impl_flags, u32::from(method.impl_flags | of_arrays)) };
    u32::from(method.flags)
}

/// The names of the parameters, which live as long as the process; empty for those without a name.
///
/// # Safety
/// `names` has room for one address a parameter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_method_get_param_names(method: &'static Method, names: *mut *const c_char) {
    load("mono_method_get_param_names", || {
        for index in 0..method.sig()?.params.len() {
            let row = match method.rid() {
                Some(_) => saki_reflect::parameters::param_row(method, index as u16 + 1)?,
                None => None,
            };
            let name = row.map_or(Ok(""), |(_, row)| method.image().meta.string(row.name))?;
            // SAFETY: room for each parameter.
            unsafe { names.add(index).write(kept(name)) };
        }
        Ok(())
    });
}

/// The Param token of a parameter; of the result, for -1, one of row 0.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_param_token(method: &'static Method, index: c_int) -> u32 {
    load("mono_method_get_param_token", || {
        let (Some(rid), Ok(index)) = (method.rid(), u32::try_from(index)) else {
            return Ok(Token::new(TableId::Param, 0).0);
        };
        let first = method.image().meta.method_params(rid)?.start;
        Ok(Token::new(TableId::Param, first + index).0)
    })
}

/// Whether a parameter or the result says how it is marshalled.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_has_marshal_info(method: &'static Method) -> c_int {
    load("mono_method_has_marshal_info", || {
        let Some(rid) = method.rid() else { return Ok(0) };
        let meta = method.image().meta;
        for param in meta.method_params(rid)? {
            if meta.field_marshal(Token::new(TableId::Param, param))?.is_some() {
                return Ok(1);
            }
        }
        Ok(0)
    })
}

/// Whether code of `method` may use the field.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_can_access_field(method: &'static Method, field: &'static Field) -> c_int {
    load("mono_method_can_access_field", || access::can_use_field(method, field).map(c_int::from))
}

/// Whether code of `method` may call the other.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_can_access_method(method: &'static Method, called: &'static Method) -> c_int {
    load("mono_method_can_access_method", || access::can_call(method, called).map(c_int::from))
}

/// The innermost managed method on the calling thread's stack; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_last_managed() -> Option<&'static Method> {
    call("mono_method_get_last_managed", |t| saki_runtime::vm::stack_trace::caller(t, 0))
}

/// There are no names of functions of the machine for internal calls: null.
#[unsafe(no_mangle)]
pub extern "C" fn mono_lookup_icall_symbol(_method: &'static Method) -> *const c_char {
    ptr::null()
}

/// The native function that a P/Invoke calls. If there is none, null, and the class of the exception and what it is
/// about.
///
/// # Safety
/// `class` and `argument` are null or the host's variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_lookup_pinvoke_call(
    method: &'static Method,
    class: *mut *const c_char,
    argument: *mut *const c_char,
) -> *const c_void {
    call("mono_lookup_pinvoke_call", |t| {
        match saki_interop::resolve::resolve_native(t, method) {
            Ok(address) => ptr::with_exposed_provenance(address),
            Err(_) => {
                let exception = t.take_exception();
                // SAFETY: null or the host's variable.
                unsafe { put(class, kept(&crate::classes::name_of(exception.ty()))) };
                // SAFETY: null or the host's variable.
                unsafe { put(argument, kept(method.name)) };
                ptr::null()
            }
        }
    })
}

/// What `MonoMethodHeader` is: the body of a method. It lives until it is freed.
pub struct MonoMethodHeader {
    image: &'static Image,
    /// What generic parameters stand for in the body.
    context: GenericContext,
    body: MethodBody<'static>,
    /// None if a type cannot be loaded.
    locals: Option<Vec<Ty>>,
}

fn header_of(image: &'static Image, context: GenericContext, body: MethodBody<'static>) -> *mut MonoMethodHeader {
    let locals = image.resolve_locals(body.local_var_sig, &context);
    let locals = locals.ok().map(|locals| locals.iter().map(|local| local.ty).collect());
    Box::into_raw(Box::new(MonoMethodHeader { image, context, body, locals }))
}

/// The body at an address in the image, of a method that is not generic; null if none lies there.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_parse_mh(image: &'static Image, at: *const u8) -> *mut MonoMethodHeader {
    load("mono_metadata_parse_mh", || {
        let bytes = image.meta.bytes();
        let offset = at.addr().checked_sub(bytes.as_ptr().addr());
        let Some(bytes) = offset.and_then(|offset| bytes.get(offset..)) else { return Ok(ptr::null_mut()) };
        Ok(header_of(image, GenericContext::NONE, saki_metadata::parse_method_body(bytes)?))
    })
}

/// The method's body; null for methods without CIL.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_header(method: &'static Method) -> *mut MonoMethodHeader {
    load("mono_method_get_header", || {
        let Some(body) = method.body()? else { return Ok(ptr::null_mut()) };
        Ok(header_of(method.image(), method.context(), body))
    })
}

/// [`mono_method_get_header`]; `error` is left as it is.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_header_checked(
    method: &'static Method,
    _error: *const c_void,
) -> *mut MonoMethodHeader {
    mono_method_get_header(method)
}

/// Frees a header.
///
/// # Safety
/// `header` is null or one that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_free_mh(header: *mut MonoMethodHeader) {
    if !header.is_null() {
        // SAFETY: `mono_method_get_header` made it by a box, and it was not freed.
        drop(unsafe { Box::from_raw(header) });
    }
}

/// The CIL, its size in bytes, and the most items on its stack.
///
/// # Safety
/// `size` and `max_stack` are null or the host's variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_method_header_get_code(
    header: &MonoMethodHeader,
    size: *mut u32,
    max_stack: *mut u32,
) -> *const u8 {
    // SAFETY: null or the host's variable.
    unsafe { put(size, header.body.code.len() as u32) };
    // SAFETY: null or the host's variable.
    unsafe { put(max_stack, u32::from(header.body.max_stack)) };
    header.body.code.as_ptr()
}

/// The types of the local variables, as long as the header lives, their number, and whether they begin as zero.
///
/// # Safety
/// `count` and `init_locals` are null or the host's variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_method_header_get_locals(
    header: &MonoMethodHeader,
    count: *mut u32,
    init_locals: *mut c_int,
) -> *const Ty {
    let locals = header.locals.as_deref().unwrap_or_default();
    // SAFETY: null or the host's variable.
    unsafe { put(count, locals.len() as u32) };
    // SAFETY: null or the host's variable.
    unsafe { put(init_locals, c_int::from(header.body.init_locals)) };
    locals.as_ptr()
}

/// The number of clauses for exceptions.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_header_get_num_clauses(header: &MonoMethodHeader) -> c_int {
    header.body.eh_clauses.len() as c_int
}

/// `MonoExceptionClause`.
#[repr(C)]
pub struct MonoExceptionClause {
    flags: u32,
    try_offset: u32,
    try_length: u32,
    handler_offset: u32,
    handler_length: u32,
    data: ClauseData,
}

#[repr(C)]
union ClauseData {
    filter_offset: u32,
    catch_class: Option<Ty>,
}

/// The next clause for exceptions: 1, or 0 after the last. An iterator that is null begins.
///
/// # Safety
/// `iter` is the host's variable, `clause` has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_method_header_get_clauses(
    header: &MonoMethodHeader,
    _method: *const c_void,
    iter: *mut usize,
    clause: *mut MonoExceptionClause,
) -> c_int {
    // SAFETY: the host's variable.
    let Some(found) = (unsafe { crate::call::next(iter, &header.body.eh_clauses) }) else { return 0 };
    let data = match found.kind {
        EhKind::Filter => ClauseData { filter_offset: found.class_token_or_filter_offset },
        EhKind::Catch => {
            let (image, token) = (header.image, Token(found.class_token_or_filter_offset));
            let resolve = || image.resolve_type(token, &header.context).map(Some);
            ClauseData { catch_class: load("mono_method_header_get_clauses", resolve) }
        }
        _ => ClauseData { catch_class: None },
    };
    let made = MonoExceptionClause {
        flags: saki_reflect::method_body::clause_flags(found.kind) as u32,
        try_offset: found.try_offset,
        try_length: found.try_len,
        handler_offset: found.handler_offset,
        handler_length: found.handler_len,
        data,
    };
    // SAFETY: null or the host's variable.
    unsafe { put(clause, made) };
    1
}

/// Compiles a method; the address of its code, which managed code alone can call: the host has
/// `mono_method_get_unmanaged_thunk`. Null if it cannot be compiled.
#[unsafe(no_mangle)]
pub extern "C" fn mono_compile_method(method: &'static Method) -> *const c_void {
    call_quietly("mono_compile_method", |t| {
        Ok(ptr::with_exposed_provenance(saki_runtime::exec::compile::compile_method(t, method)?))
    })
}
