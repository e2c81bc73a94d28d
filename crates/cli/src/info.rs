//! `saki info`, and the checks of a program file before the machine starts.

use crate::exit::fail;
use saki_base::{answer, messages};
use saki_metadata::{Image, OpenError, TableId};
use std::path::{Path, PathBuf};

/// Prints descriptions of the assemblies; returns the exit code.
pub fn print(files: &[PathBuf]) -> i32 {
    let mut exit_code = 0;
    for (index, file) in files.iter().enumerate() {
        if index > 0 {
            answer!();
        }
        match open(file) {
            Ok(image) => messages::answer(format_args!("{}", saki_metadata::dump(&image))),
            Err(message) => exit_code = fail(&message),
        }
    }
    exit_code
}

fn open(path: &Path) -> Result<Image, String> {
    Image::open(path).map_err(|error| match error {
        OpenError::NotFound { path } => format!("{}: no such file", path.display()),
        other => other.to_string(),
    })
}

/// Checks that the file can be a program at all; the error is one line that names the file and the
/// problem.
pub fn check_program(path: &Path) -> Result<(), String> {
    check_image(&open(path)?, path)
}

/// Checks that an open image, which messages call by `path`, can be a program at all; the error is one line about the
/// problem.
pub fn check_image(image: &Image, path: &Path) -> Result<(), String> {
    let name = path.display();
    if image.assembly().is_none() {
        return Err(format!("{name}: a module without an assembly manifest, not a program"));
    }
    let mut core_runtime = false;
    let mut core_library = false;
    for rid in 1..=image.row_count(TableId::AssemblyRef) {
        let row = image.assembly_ref(rid).map_err(|e| e.to_string())?;
        match image.string(row.name).map_err(|e| e.to_string())? {
            "System.Private.CoreLib" => core_runtime = true,
            "System.Runtime" => {
                core_runtime |= row.major_version > 4 || (row.major_version == 4 && row.minor_version > 1)
            }
            "mscorlib" | "netstandard" => {
                core_library = true;
                if row.major_version > 4 {
                    return Err(format!(
                        "{name}: built for mscorlib {}.{}, newer than 4.0",
                        row.major_version, row.minor_version
                    ));
                }
            }
            _ => {}
        }
    }
    if core_runtime && !core_library {
        return Err(format!(
            "{name}: built for .NET Core only (it references its System.Runtime, not mscorlib or netstandard)"
        ));
    }
    if image.entry_point_token().is_nil() {
        return Err(format!("{name}: a library without an entry point, not a program"));
    }
    Ok(())
}
