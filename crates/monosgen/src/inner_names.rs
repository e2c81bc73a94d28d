//! Functions that Mono's library exports although no public header has them, and that hosts declare themselves: inner
//! names of public functions, and what Mono's own tools and debuggers call.
//!
//! Left out: what hosts cannot use without records of Mono's (its hash tables, memory pools, thread records), and the
//! copies of glib's functions.

use crate::assemblies::{mono_assembly_get_image, mono_assembly_get_name};
use crate::assembly_names::MonoAssemblyName;
use crate::call::{call, held};
use crate::classes::{
    mono_class_from_mono_type, mono_class_get, mono_class_get_rank, mono_vtable_class, mono_vtable_domain,
};
use crate::domains::mono_domain_set;
use crate::errors::{MonoError, mono_error_init};
use crate::icalls::mono_add_internal_call;
use crate::invoke::mono_runtime_invoke;
use crate::jit_info::mono_jit_info_table_find;
use crate::objects::{mono_object_get_size, mono_object_get_vtable};
use crate::strings::mono_string_new;
use crate::text::{given, write_line};
use crate::type_names;
use saki_abi::ObjRef;
use saki_runtime::vm::domains::{self, Domain};
use saki_types::assembly::{Assembly, Image};
use saki_types::{ElementType, Method, MethodSig, Ty};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// [`mono_add_internal_call`].
///
/// # Safety
/// That of the function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_add_internal_call_internal(name: *const c_char, function: *const c_void) {
    // SAFETY: the host's promise.
    unsafe { mono_add_internal_call(name, function) };
}

/// [`mono_assembly_get_image`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_get_image_internal(assembly: &'static Assembly) -> &'static Image {
    mono_assembly_get_image(assembly)
}

/// [`mono_assembly_get_name`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_get_name_internal(assembly: &'static Assembly) -> *mut MonoAssemblyName {
    mono_assembly_get_name(assembly)
}

/// [`mono_class_from_mono_type`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_from_mono_type_internal(ty: Ty) -> Ty {
    mono_class_from_mono_type(ty)
}

/// [`mono_vtable_class`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_vtable_class_internal(vtable: Ty) -> Ty {
    mono_vtable_class(vtable)
}

/// [`mono_vtable_domain`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_vtable_domain_internal(vtable: Ty) -> &'static Domain {
    mono_vtable_domain(vtable)
}

/// [`mono_object_get_size`].
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_get_size_internal(object: ObjRef) -> u32 {
    // SAFETY: the host's object.
    unsafe { mono_object_get_size(object) }
}

/// [`mono_object_get_vtable`].
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_get_vtable_internal(object: ObjRef) -> Ty {
    // SAFETY: the host's object.
    unsafe { mono_object_get_vtable(object) }
}

/// The calling thread goes on in the domain, even if that is being unloaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_jit_set_domain(domain: Option<&'static Domain>) {
    if let Some(domain) = domain {
        mono_domain_set(domain, 1);
    }
}

/// [`mono_runtime_invoke`]. What the method throws goes to `exc`, and is no error.
///
/// # Safety
/// That of the function; `error` is a `MonoError`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_runtime_try_invoke(
    method: &'static Method,
    object: *mut u8,
    params: *mut *mut u8,
    exc: *mut ObjRef,
    error: *mut MonoError,
) -> ObjRef {
    // SAFETY: the host's room for an error; the host's promise.
    unsafe {
        mono_error_init(error);
        mono_runtime_invoke(method, object, params, exc)
    }
}

/// [`mono_string_new`]; no error.
///
/// # Safety
/// `text` is null or ends in NUL; `error` is a `MonoError`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_new_checked(
    domain: Option<&'static Domain>,
    text: *const c_char,
    error: *mut MonoError,
) -> ObjRef {
    // SAFETY: the host's room for an error, and its text.
    unsafe {
        mono_error_init(error);
        mono_string_new(domain, text)
    }
}

/// Whether it is `bool`, `char` or a number that CIL has instructions for.
#[unsafe(no_mangle)]
pub extern "C" fn mono_type_is_primitive(ty: Ty) -> c_int {
    let kind = ty.element_type as u8;
    let is_number = (ElementType::Boolean as u8..=ElementType::R8 as u8).contains(&kind);
    c_int::from(is_number || matches!(ty.element_type, ElementType::I | ElementType::U))
}

/// Whether it is an enum with one instance field, of a type that an enum may have.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_is_valid_enum(class: Ty) -> c_int {
    c_int::from(class.is_enum() && mono_type_is_primitive(class.underlying()) != 0)
}

/// The class of a token; null, and an error without text, if it cannot be loaded.
///
/// # Safety
/// `error` is a `MonoError`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_class_get_checked(
    image: &'static Image,
    token: u32,
    error: *mut MonoError,
) -> Option<Ty> {
    // SAFETY: the host's room for an error.
    unsafe { mono_error_init(error) };
    let found = mono_class_get(image, token);
    if found.is_none() {
        // SAFETY: the host's error, which was filled above.
        unsafe { (*error).set_type_load() };
    }
    found
}

/// "int Namespace.Class:Method (int,string)", for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_full_name(method: &'static Method) -> *mut c_char {
    call("mono_method_get_full_name", |_| {
        let name = type_names::method_name(method, true);
        let result = method.sig().map_or(String::new(), |sig| type_names::described(sig.ret, true) + " ");
        given((result + &name).as_bytes())
    })
}

/// "int(int,string)", for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_signature_full_name(signature: Option<&'static MethodSig>) -> *mut c_char {
    let Some(sig) = signature else { return given(b"<invalid signature>") };
    call("mono_signature_full_name", |_| {
        let result = type_names::described(sig.ret, true);
        given(format!("{result}({})", type_names::parameters(sig, true)).as_bytes())
    })
}

/// What a debugger wants to know of an address in compiled code: method, places in code and source, domain; for
/// `mono_free`. Null: there is no method.
#[unsafe(no_mangle)]
pub extern "C" fn mono_pmip(address: *const c_void) -> *mut c_char {
    // SAFETY: null or a record that lives as long as the process.
    let Some(info) = (unsafe { mono_jit_info_table_find(ptr::null(), address).as_ref() }) else {
        return ptr::null_mut();
    };
    let (method, start, size) = info.parts();
    let domain = domains::current();
    let text = call("mono_pmip", |_| {
        let name = type_names::method_name(method, true);
        let at = address.addr() - start;
        let place =
            crate::debug::source_place(method, at as u32).map_or(String::new(), |(f, l)| format!("[{f} :: {l}u]"));
        let end = start + size as usize;
        let domain_name = domain.friendly_name();
        format!(" {name} [{{{method:p}}} + {at:#x}] {place} ({start:#x} {end:#x}) [{domain:p} - {domain_name}]")
    });
    given(text.as_bytes())
}

/// Writes what [`mono_pmip`] tells to standard output.
#[unsafe(no_mangle)]
pub extern "C" fn mono_print_method_from_ip(address: *const c_void) {
    // SAFETY: null or a record that lives as long as the process.
    let Some(info) = (unsafe { mono_jit_info_table_find(ptr::null(), address).as_ref() }) else {
        return write_line(&format!("No method at {address:p}"));
    };
    let (method, start, size) = info.parts();
    let domain = domains::current();
    let lines = call("mono_print_method_from_ip", |_| {
        let name = type_names::method_name(method, true);
        let (at, end) = (address.addr() - start, start + size as usize);
        let domain_name = domain.friendly_name();
        let place = crate::debug::source_place(method, at as u32).map_or(String::new(), |(f, l)| format!("\n{f}:{l}"));
        format!(
            "IP {address:p} at offset {at:#x} of method {name} ({start:#x} {end:#x})[domain {domain:p} - {domain_name}]{place}"
        )
    });
    write_line(&lines);
}

/// Writes what the object is to standard output.
///
/// # Safety
/// `object` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_describe(object: ObjRef) {
    let text = call("mono_object_describe", |_| {
        // SAFETY: the host's object.
        let Some(this) = (unsafe { held(object) }) else { return "(null)".to_owned() };
        let at = object.0;
        if let Some(string) = this.as_str() {
            let text = String::from_utf16_lossy(string.units());
            let shown =
                if text.len() > 60 { format!("{}...", text.chars().take(57).collect::<String>()) } else { text };
            return format!("String at {at:p}, length: {}, '{shown}'", string.units().len());
        }
        let name = this.ty().full_name();
        match this.as_array() {
            Some(array) => {
                format!("{name} at {at:p}, rank: {}, length: {}", mono_class_get_rank(this.ty()), array.length())
            }
            None => format!("{name} object at {at:p} (klass: {:p})", this.ty()),
        }
    });
    write_line(&text);
}

/// Assemblies are never closed: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_addref(_assembly: &'static Assembly) {}

/// The class library is trusted as a whole: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_security_core_clr_set_options(_options: c_int) {}

/// No option is set.
#[unsafe(no_mangle)]
pub extern "C" fn mono_security_core_clr_get_options() -> c_int {
    0
}

/// Levels and masks of messages are read from the environment when the machine starts: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_trace_init() {}

/// Options of Mono's compiler: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_set_defaults(_verbose_level: c_int, _optimizations: u32) {}

/// The optimizations that a text names, as bits; Mono's compiler alone has any.
#[unsafe(no_mangle)]
pub extern "C" fn mono_parse_default_optimizations(_text: *const c_char) -> u32 {
    0
}
