//! A root of .NET for programs that load components: links to an installation, but for the runtime's library.
//!
//! For a component (a library that a program in another language hosts) .NET's host reads no variable with further
//! packages: the runtime is the framework's `libcoreclr.so`. But the program finds the host by DOTNET_ROOT, and the
//! host finds frameworks below the root in which its own file lies. So the root has a copy of the host's resolver,
//! which resolves links to itself, and links for all else; the library's link leads to ours.
//!
//! ```text
//! ROOT/host/fxr/VERSION/libhostfxr.so                  a copy
//! ROOT/shared/Microsoft.NETCore.App/VERSION/*          links to files, libcoreclr.so to ours
//! ROOT/shared/OTHER, ROOT/sdk, …                       links to folders
//! ```
//!
//! Invariant: each entry gets its name when it is whole, and entries of one name lead to the same place. Left out:
//! removing what the installation has no more.

use crate::cached_files;
use crate::dotnet_command::LIBRARY;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Changes when what is in a root changes.
pub const FORM: u64 = 1;

/// What is made anew below a folder; the other entries become links.
#[derive(Clone, Copy)]
enum Folder {
    Root,
    Host,
    Resolvers,
    Resolver,
    Frameworks,
    Versions,
    Framework,
}

impl Folder {
    /// The kind of a folder in it that is made, not linked.
    fn below(self, name: &OsStr) -> Option<Folder> {
        match (self, name.to_str()) {
            (Folder::Root, Some("host")) => Some(Folder::Host),
            (Folder::Root, Some("shared")) => Some(Folder::Frameworks),
            (Folder::Host, Some("fxr")) => Some(Folder::Resolvers),
            (Folder::Resolvers, _) => Some(Folder::Resolver),
            (Folder::Frameworks, Some("Microsoft.NETCore.App")) => Some(Folder::Versions),
            (Folder::Versions, _) => Some(Folder::Framework),
            _ => None,
        }
    }
}

/// Makes what is missing of the root.
///
/// # Errors
/// The system's.
pub fn fill(root: &Path, installation: &Path, library: &Path) -> io::Result<()> {
    fill_folder(root, installation, library, Folder::Root)
}

fn fill_folder(to: &Path, from: &Path, library: &Path, kind: Folder) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, source) = (entry.file_name(), entry.path());
        let place = to.join(&name);
        match kind.below(&name).filter(|_| source.is_dir()) {
            Some(below) => fill_folder(&place, &source, library, below)?,
            None if matches!(kind, Folder::Resolver) => copy(&place, &source)?,
            None if matches!(kind, Folder::Framework) && name == LIBRARY => link(&place, library)?,
            None => link(&place, &source)?,
        }
    }
    Ok(())
}

fn link(place: &Path, target: &Path) -> io::Result<()> {
    if fs::read_link(place).is_ok_and(|present| present == target) {
        return Ok(());
    }
    cached_files::make_folder_of(place)?;
    cached_files::put(place, |temporary| symlink(target, temporary))
}

/// A copy, unless there is one of the same length and not older.
fn copy(place: &Path, source: &Path) -> io::Result<()> {
    let (there, here) = (fs::metadata(source)?, fs::metadata(place));
    if here.is_ok_and(|here| here.len() == there.len() && here.modified().ok() >= there.modified().ok()) {
        return Ok(());
    }
    cached_files::make_folder_of(place)?;
    cached_files::put(place, |temporary| fs::copy(source, temporary).map(|_| ()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_alone_is_another() {
        let folder = std::env::temp_dir().join(format!("saki-root-{}", std::process::id()));
        let (installed, root) = (folder.join("installed"), folder.join("root"));
        for file in ["dotnet", "host/fxr/9.0.5/libhostfxr.so", "shared/Other/9.0.5/a.dll", "sdk/9/sdk.dll"] {
            cached_files::put_contents(&installed.join(file), file.as_bytes()).expect("written");
        }
        let framework = "shared/Microsoft.NETCore.App/9.0.5";
        for file in [LIBRARY, "System.Private.CoreLib.dll"] {
            cached_files::put_contents(&installed.join(framework).join(file), b"theirs").expect("written");
        }
        let library = folder.join("ours.so");
        fs::write(&library, "ours").expect("written");
        for _ in 0..2 {
            fill(&root, &installed, &library).expect("filled");
            assert_eq!(fs::read(root.join(framework).join(LIBRARY)).expect("a library"), b"ours");
            assert_eq!(fs::read(root.join(framework).join("System.Private.CoreLib.dll")).expect("a file"), b"theirs");
            let resolver = root.join("host/fxr/9.0.5/libhostfxr.so");
            assert!(fs::symlink_metadata(&resolver).expect("a file").is_file(), "a copy, not a link");
            assert_eq!(fs::read_link(root.join("sdk")).expect("a link"), installed.join("sdk"));
            assert_eq!(fs::read_link(root.join("shared/Other")).expect("a link"), installed.join("shared/Other"));
        }
        fs::remove_dir_all(&folder).expect("removed");
    }
}
