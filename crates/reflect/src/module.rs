//! System.Reflection.RuntimeModule: facts about a module. Tokens are in `tokens`.

use crate::handles::{self, MODULE_HANDLE};
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::type_objects::type_object;
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, ObjRef, object};
use saki_types::Image;

pub(crate) fn require_image(t: CurrentThread, handle: usize) -> Managed<&'static Image> {
    // SAFETY: the `_impl` of a RuntimeModule.
    unsafe { handles::image(handle) }.ok_or_else(|| exceptions::throw_argument_null(t, "module"))
}

fn get_metadata_token(t: CurrentThread, module: ObjRef) -> i32 {
    static TOKEN: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeModule", "token");
    t.run(|| {
        if module.is_null() {
            return Err(exceptions::throw_argument_null(t, "module"));
        }
        Ok(TOKEN.get::<i32>(module))
    })
}

/// Version 1.1 of the metadata root. ECMA-335 §II.24.2.1.
fn get_stream_version(_t: CurrentThread, _image: usize) -> i32 {
    1 << 16 | 1
}

/// No module is mapped as a native library.
fn get_instance_handle(_t: CurrentThread, _image: usize) -> isize {
    -1
}

/// `GetGuidInternal(image, byte[16])`
fn get_guid(t: CurrentThread, image: usize, guid: ObjRef) {
    t.run(|| {
        let mvid = require_image(t, image)?.meta.mvid();
        if guid.is_null() || object::array_length(guid) < mvid.len() {
            return Err(exceptions::throw_argument_null(t, "guid"));
        }
        // SAFETY: a byte[] of at least 16 elements.
        unsafe { std::ptr::copy_nonoverlapping(mvid.as_ptr(), object::element_address(guid, 0, 1), mvid.len()) };
        Ok(())
    });
}

fn get_global_type(t: CurrentThread, image: usize) -> ObjRef {
    t.run(|| {
        let ty = require_image(t, image)?.type_def(1).to_managed(t)?;
        type_object(t, ty)
    })
}

/// `GetPEKind(image, out PortableExecutableKinds, out ImageFileMachine)`
fn get_pe_kind(t: CurrentThread, image: usize, kind: *mut i32, machine: *mut i32) {
    t.run(|| {
        let meta = &require_image(t, image)?.meta;
        // SAFETY: addresses of the caller's variables.
        unsafe {
            *kind = (meta.cli_flags() & 3) as i32;
            *machine = i32::from(meta.machine());
        }
        Ok(())
    });
}

/// The image of a RuntimeModule object, for other crates.
pub fn image_of_module(module: ObjRef) -> Option<&'static Image> {
    // SAFETY: the field holds an `Image`'s address.
    unsafe { handles::image(MODULE_HANDLE.get(module)) }
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.RuntimeModule::get_MetadataToken", &get_metadata_token),
    InternalCall::new("System.Reflection.RuntimeModule::GetMDStreamVersion", &get_stream_version),
    InternalCall::new("System.Reflection.RuntimeModule::GetHINSTANCE", &get_instance_handle),
    InternalCall::new("System.Reflection.RuntimeModule::GetGuidInternal", &get_guid),
    InternalCall::new("System.Reflection.RuntimeModule::GetGlobalType", &get_global_type),
    InternalCall::new("System.Reflection.RuntimeModule::GetPEKind", &get_pe_kind),
];
