//! System.Reflection.RuntimeModule: facts about a module. Tokens are in `tokens`.

use crate::handles::{Handle, MODULE_HANDLE};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Place};
use saki_types::{Image, LibraryType};

pub(crate) fn require_image(t: CurrentThread, image: Handle<Image>) -> Managed<&'static Image> {
    image.get().ok_or_else(|| exceptions::throw_argument_null(t, "module"))
}

fn get_metadata_token(t: CurrentThread, module: Option<Obj>) -> Managed<i32> {
    static TOKEN: ManagedField = ManagedField::new(LibraryType::RuntimeModule, "token");
    let Some(module) = module else {
        return Err(exceptions::throw_argument_null(t, "module"));
    };
    Ok(TOKEN.get::<i32>(module))
}

/// Version 1.1 of the metadata root. ECMA-335 §II.24.2.1.
fn get_stream_version(_t: CurrentThread, _image: Handle<Image>) -> i32 {
    1 << 16 | 1
}

/// No module is mapped as a native library.
fn get_instance_handle(_t: CurrentThread, _image: Handle<Image>) -> isize {
    -1
}

/// `GetGuidInternal(image, byte[16])`
fn get_guid(t: CurrentThread, image: Handle<Image>, guid: Option<Array>) -> Managed<()> {
    let mvid = require_image(t, image)?.meta.mvid();
    let Some(guid) = guid.filter(|guid| guid.length() >= mvid.len()) else {
        return Err(exceptions::throw_argument_null(t, "guid"));
    };
    for (index, &byte) in mvid.iter().enumerate() {
        guid.set_value(index, byte);
    }
    Ok(())
}

fn get_global_type<'t>(t: CurrentThread<'t>, image: Handle<Image>) -> Managed<Obj<'t>> {
    let ty = require_image(t, image)?.type_def(1).to_managed(t)?;
    Obj::of_type(t, ty)
}

/// `GetPEKind(image, out PortableExecutableKinds, out ImageFileMachine)`
fn get_pe_kind(t: CurrentThread, image: Handle<Image>, kind: Place<i32>, machine: Place<i32>) -> Managed<()> {
    let meta = &require_image(t, image)?.meta;
    kind.set((meta.cli_flags() & 3) as i32);
    machine.set(i32::from(meta.machine()));
    Ok(())
}

/// The image of a RuntimeModule object, for other crates.
pub fn image_of_module(module: Obj) -> Option<&'static Image> {
    MODULE_HANDLE.get::<Handle<Image>>(module).get()
}

/// The internal calls of `System.Reflection.RuntimeModule`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.RuntimeModule::get_MetadataToken", &get_metadata_token),
    InternalCall::new("System.Reflection.RuntimeModule::GetMDStreamVersion", &get_stream_version),
    InternalCall::new("System.Reflection.RuntimeModule::GetHINSTANCE", &get_instance_handle),
    InternalCall::new("System.Reflection.RuntimeModule::GetGuidInternal", &get_guid),
    InternalCall::new("System.Reflection.RuntimeModule::GetGlobalType", &get_global_type),
    InternalCall::new("System.Reflection.RuntimeModule::GetPEKind", &get_pe_kind),
];
