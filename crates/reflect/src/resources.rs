//! Manifest resources and files of an assembly. ECMA-335 §II.22.24.

use crate::handles::require_assembly;
use crate::objects::{assembly_object, module_object, text};
use saki_metadata::{ManifestResourceRow, Rid, TableId};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Place, RefPlace, Str};
use saki_types::{Assembly, LibraryType, LoadError, universe};

/// System.Reflection.ResourceLocation.
mod location {
    /// In a file of the assembly itself.
    pub const EMBEDDED: i32 = 1;
    /// In another assembly.
    pub const CONTAINED_IN_ANOTHER_ASSEMBLY: i32 = 2;
    /// In the file that has the manifest.
    pub const CONTAINED_IN_MANIFEST_FILE: i32 = 4;
}

/// Files without metadata, §II.23.1.6.
const CONTAINS_NO_METADATA: u32 = 1;

fn get_resource_names<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Array<'t>> {
    names_of(t, require_assembly(t, this)?)
}

/// The names of an assembly's resources.
///
/// # Errors
/// BadImageFormatException, OutOfMemoryException.
pub fn names_of<'t>(t: CurrentThread<'t>, assembly: &'static Assembly) -> Managed<Array<'t>> {
    let meta = &assembly.image.meta;
    let count = meta.row_count(TableId::ManifestResource);
    let array = Array::new(t, universe().string(), count as usize)?;
    for rid in 1..=count {
        let name = meta.manifest_resource(rid).and_then(|row| meta.string(row.name));
        let name = Str::new(t, name.map_err(LoadError::from).to_managed(t)?)?;
        array.set(t, rid as usize - 1, Some(*name));
    }
    Ok(array)
}

fn find(t: CurrentThread, assembly: &'static Assembly, name: &str) -> Managed<Option<(Rid, ManifestResourceRow)>> {
    let meta = &assembly.image.meta;
    let found = meta.find_manifest_resource(name);
    let found = found.and_then(|rid| rid.map(|rid| meta.manifest_resource(rid).map(|row| (rid, row))).transpose());
    found.map_err(LoadError::from).to_managed(t)
}

/// `GetManifestResourceInternal(name, out int size, out Module)`: address of the bytes, which stay mapped; 0 = none.
fn get_resource(
    t: CurrentThread,
    this: Option<Obj>,
    name: Option<Str>,
    size: Place<i32>,
    module: RefPlace,
) -> Managed<usize> {
    let assembly = require_assembly(t, this)?;
    let Some((rid, row)) = find(t, assembly, &text(name))? else { return Ok(0) };
    if !row.implementation.is_nil() {
        return Ok(0);
    }
    let bytes = assembly.image.meta.embedded_resource(rid).map_err(LoadError::from).to_managed(t)?;
    module.set(t, module_object(t, assembly.image)?);
    size.set(bytes.len() as i32);
    Ok(bytes.as_ptr() as usize)
}

/// `GetManifestResourceInfoInternal(name, ManifestResourceInfo)`
fn get_resource_info(t: CurrentThread, this: Option<Obj>, name: Option<Str>, info: Option<Obj>) -> Managed<bool> {
    let assembly = require_assembly(t, this)?;
    match info {
        Some(info) => fill_info(t, assembly, &text(name), info),
        None => Err(exceptions::throw_null_reference(t)),
    }
}

fn fill_info(t: CurrentThread, assembly: &'static Assembly, name: &str, info: Obj) -> Managed<bool> {
    static ASSEMBLY: ManagedField =
        ManagedField::new(LibraryType::ManifestResourceInfo, "<ReferencedAssembly>k__BackingField");
    static FILE: ManagedField = ManagedField::new(LibraryType::ManifestResourceInfo, "<FileName>k__BackingField");
    static LOCATION: ManagedField =
        ManagedField::new(LibraryType::ManifestResourceInfo, "<ResourceLocation>k__BackingField");
    let Some((_, row)) = find(t, assembly, name)? else { return Ok(false) };
    let meta = &assembly.image.meta;
    let implementation = row.implementation;
    if implementation.is_nil() {
        LOCATION.set(info, location::EMBEDDED | location::CONTAINED_IN_MANIFEST_FILE);
        return Ok(true);
    }
    match implementation.table() {
        TableId::File => {
            let file = meta.file(implementation.rid()).map_err(LoadError::from).to_managed(t)?;
            let file_name = meta.string(file.name).map_err(LoadError::from).to_managed(t)?;
            FILE.set_ref(t, info, Str::new(t, file_name)?);
            let is_resource_file = file.flags & CONTAINS_NO_METADATA != 0;
            LOCATION.set(info, if is_resource_file { 0 } else { location::EMBEDDED });
        }
        TableId::AssemblyRef => {
            let other = assembly.image.assembly_ref(implementation.rid()).to_managed(t)?;
            ASSEMBLY.set_ref(t, info, assembly_object(t, other)?);
            fill_info(t, other, name, info)?;
            LOCATION.set(info, LOCATION.get::<i32>(info) | location::CONTAINED_IN_ANOTHER_ASSEMBLY);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// `GetFilesInternal(string name, bool resourceModules)`: the path of that file, or all paths when `name` is null.
fn get_files<'t>(
    t: CurrentThread<'t>,
    this: Option<Obj>,
    name: Option<Str>,
    with_resources: bool,
) -> Managed<Option<Obj<'t>>> {
    let assembly = require_assembly(t, this)?;
    let meta = &assembly.image.meta;
    let mut paths = Vec::new();
    for rid in 1..=meta.row_count(TableId::File) {
        let row = meta.file(rid).map_err(LoadError::from).to_managed(t)?;
        let file = meta.string(row.name).map_err(LoadError::from).to_managed(t)?;
        let path = assembly.path.with_file_name(file).display().to_string();
        if let Some(name) = name {
            if name.to_rust() == file {
                return Str::new(t, &path).map(|path| Some(*path));
            }
        } else if with_resources || row.flags & CONTAINS_NO_METADATA == 0 {
            paths.push(path);
        }
    }
    if name.is_some() {
        return Ok(None);
    }
    let array = Array::new(t, universe().string(), paths.len())?;
    for (index, path) in paths.iter().enumerate() {
        let item = Str::new(t, path)?;
        array.set(t, index, Some(*item));
    }
    Ok(Some(*array))
}

/// The internal calls of `System.Reflection.RuntimeAssembly`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.RuntimeAssembly::GetManifestResourceNames", &get_resource_names),
    InternalCall::new("System.Reflection.RuntimeAssembly::GetManifestResourceInternal", &get_resource),
    InternalCall::new("System.Reflection.RuntimeAssembly::GetManifestResourceInfoInternal", &get_resource_info),
    InternalCall::new("System.Reflection.RuntimeAssembly::GetFilesInternal", &get_files),
];
