//! System.Diagnostics.ProcessModule objects from the memory map of a process: the program first, then what it has
//! mapped.
//!
//! Left out: the version resources of modules (versions are 0), entry points, assemblies that were loaded from memory.

use super::processes::KnownProcess;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{Array, CurrentThread, Managed, ManagedField, Obj, Str};
use saki_types::{LibraryType, universe};

static FILE_NAME: ManagedField = ManagedField::new(LibraryType::ProcessModule, "filename");
static MODULE_NAME: ManagedField = ManagedField::new(LibraryType::ProcessModule, "modulename");
static BASE: ManagedField = ManagedField::new(LibraryType::ProcessModule, "baseaddr");
static SIZE: ManagedField = ManagedField::new(LibraryType::ProcessModule, "memory_size");
static VERSION: ManagedField = ManagedField::new(LibraryType::ProcessModule, "version_info");
static VERSION_FILE: ManagedField = ManagedField::new(LibraryType::FileVersionInfo, "filename");

struct Mapping {
    path: String,
    start: usize,
    end: usize,
}

/// The mapped files, one entry per file, in the order of addresses.
fn mappings(maps: &str) -> Vec<Mapping> {
    let mut found: Vec<Mapping> = Vec::new();
    for line in maps.lines() {
        let Some(path) = line.find('/').map(|at| &line[at..]) else { continue };
        let range = line.split_whitespace().next().and_then(|range| range.split_once('-'));
        let Some((start, end)) = range else { continue };
        let (Ok(start), Ok(end)) = (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16)) else { continue };
        match found.iter_mut().find(|mapping| mapping.path == path) {
            Some(mapping) => mapping.end = end,
            None => found.push(Mapping { path: path.to_owned(), start, end }),
        }
    }
    found
}

fn file_name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A new ProcessModule[].
///
/// # Errors
/// OutOfMemoryException.
pub(super) fn of_process<'t>(t: CurrentThread<'t>, process: Option<&KnownProcess>) -> Managed<Array<'t>> {
    let mut modules = Vec::new();
    if let Some(process) = process {
        let (maps, program) = t.managed().blocking(|| {
            let maps = std::fs::read_to_string(format!("/proc/{}/maps", process.pid)).unwrap_or_default();
            (maps, std::fs::read_link(format!("/proc/{}/exe", process.pid)).ok())
        });
        modules = mappings(&maps);
        let program = program.map(|path| path.to_string_lossy().into_owned());
        if let Some(at) = modules.iter().position(|module| Some(&module.path) == program.as_ref()) {
            modules[..=at].rotate_right(1);
        }
    }
    let ty = universe().library_type(LibraryType::ProcessModule).to_managed(t)?;
    let version_ty = universe().library_type(LibraryType::FileVersionInfo).to_managed(t)?;
    let array = Array::new(t, ty, modules.len())?;
    for (index, module) in modules.iter().enumerate() {
        let item = Obj::new(t, ty)?;
        array.set(t, index, Some(item));
        let path = Str::new(t, &module.path)?;
        FILE_NAME.set_ref(t, item, path);
        let version = Obj::new(t, version_ty)?;
        VERSION_FILE.set_ref(t, version, path);
        VERSION.set_ref(t, item, version);
        let name = match process {
            // The program of this process is the managed one.
            Some(process) if index == 0 && process.pid == std::process::id() as i32 => &process.name,
            _ => file_name_of(&module.path),
        };
        MODULE_NAME.set_ref(t, item, Str::new(t, name)?);
        BASE.set(item, module.start);
        SIZE.set(item, i32::try_from(module.end - module.start).unwrap_or(i32::MAX));
    }
    Ok(array)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_one_file_are_one_module() {
        let maps = "1000-2000 r--p 0 0:1 5 /lib/a\n2000-3000 r-xp 0 0:1 5 /lib/a\n4000-5000 rw-p 0 0:0 0\n";
        let found = mappings(maps);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].start, found[0].end, file_name_of(&found[0].path)), (0x1000, 0x3000, "a"));
    }
}
