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

/// On which class libraries a program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Libraries {
    /// Mono's.
    Mono,
    /// Those of an installed .NET.
    Net,
}

/// What a program's references say about the class libraries that it was made for.
struct References {
    /// It refers to a System.Runtime, or a System.Private.CoreLib, that only modern .NET has.
    needs_net: bool,
    /// It refers to mscorlib or netstandard.
    has_core_library: bool,
    /// The major and minor version of an mscorlib that is newer than Mono's.
    newer_core_library: Option<(u16, u16)>,
}

/// Mono has a System.Runtime of 4.1, .NET Core since 2.1 one of 4.2 or newer.
const LAST_RUNTIME_FACADE: (u16, u16) = (4, 1);

fn references(image: &Image) -> Result<References, String> {
    let mut found = References { needs_net: false, has_core_library: false, newer_core_library: None };
    for rid in 1..=image.row_count(TableId::AssemblyRef) {
        let row = image.assembly_ref(rid).map_err(|e| e.to_string())?;
        let version = (row.major_version, row.minor_version);
        match image.string(row.name).map_err(|e| e.to_string())? {
            "System.Private.CoreLib" => found.needs_net = true,
            "System.Runtime" => found.needs_net |= version > LAST_RUNTIME_FACADE,
            "mscorlib" | "netstandard" => {
                found.has_core_library = true;
                if version.0 > 4 {
                    found.newer_core_library = Some(version);
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Checks that the file can be a program at all, and says on which class libraries it runs: on those that were asked
/// for; else on .NET's if its references leave no choice, or if a `runtimeconfig.json` lies beside it. The error is one
/// line that names the file and the problem.
pub fn check_program(path: &Path, asked: Option<Libraries>) -> Result<Libraries, String> {
    let image = open(path)?;
    let found = references(&image)?;
    let needs_net = found.needs_net && !found.has_core_library || found.newer_core_library.is_some();
    let is_configured = || path.with_extension("runtimeconfig.json").is_file();
    let libraries = match asked {
        Some(libraries) => libraries,
        None if needs_net => Libraries::Net,
        None if is_configured() => Libraries::Net,
        None => Libraries::Mono,
    };
    match libraries {
        Libraries::Mono => check_image(&image, path)?,
        Libraries::Net => check_shape(&image, path)?,
    }
    Ok(libraries)
}

/// Checks that an image is a program, whatever class libraries it was made for.
fn check_shape(image: &Image, path: &Path) -> Result<(), String> {
    let name = path.display();
    if image.assembly().is_none() {
        return Err(format!("{name}: a module without an assembly manifest, not a program"));
    }
    if image.entry_point_token().is_nil() {
        return Err(format!("{name}: a library without an entry point, not a program"));
    }
    Ok(())
}

/// Checks that an open image, which messages call by `path`, can be a program for Mono's class libraries; the error is
/// one line about the problem.
pub fn check_image(image: &Image, path: &Path) -> Result<(), String> {
    let name = path.display();
    if image.assembly().is_none() {
        return check_shape(image, path);
    }
    let found = references(image)?;
    if let Some((major, minor)) = found.newer_core_library {
        return Err(format!("{name}: built for mscorlib {major}.{minor}, newer than 4.0"));
    }
    if found.needs_net && !found.has_core_library {
        return Err(format!(
            "{name}: built for .NET Core only (it references its System.Runtime, not mscorlib or netstandard)"
        ));
    }
    check_shape(image, path)
}
