//! `mono/metadata/assembly.h`: assemblies.

use crate::call::call;
use crate::text::path;
use saki_runtime::vm::domains::Domain;
use saki_types::assembly::Assembly;
use saki_types::{Image, universe};
use std::ffi::c_char;

/// Loads an assembly from a file, as `Assembly.LoadFrom`; null if that fails.
///
/// # Safety
/// `name` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_domain_assembly_open(
    _domain: Option<&'static Domain>,
    name: *const c_char,
) -> Option<&'static Assembly> {
    // SAFETY: the host's text, which ends in NUL.
    let path = unsafe { path(name) };
    call("mono_domain_assembly_open", |_| universe().binder().load_from(&path).ok())
}

/// The image of an assembly.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_get_image(assembly: &'static Assembly) -> &'static Image {
    assembly.image
}
