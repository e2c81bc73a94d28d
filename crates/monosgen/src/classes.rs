//! `mono/metadata/class.h`: classes.

use crate::call::{call, call_managed};
use crate::text::{kept, text};
use saki_runtime::object::exceptions::ToManaged;
use saki_types::{Image, Ty, universe};
use std::ffi::c_char;

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
    let path = if namespace.is_empty() { name } else { format!("{namespace}.{name}") };
    call_managed("mono_class_from_name", |t| image.find_type_by_path(&path.replace('/', "+")).to_managed(t))
}

/// The class's name, without namespace; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_class_get_name(class: Ty) -> *const c_char {
    call("mono_class_get_name", |_| match class.def() {
        Some(def) => kept(def.name),
        None => kept(&class.message_name()),
    })
}
