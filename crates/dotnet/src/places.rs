//! Where a .NET may be installed: the places that apphosts look at, and the `dotnet` on the PATH.
//!
//! An apphost takes DOTNET_ROOT_X64 or DOTNET_ROOT and looks nowhere else if one of them is set; then the folder that
//! /etc/dotnet/install_location_x64 or install_location names, then the usual folder. Distributions have several usual
//! ones. The folder of `dotnet` on the PATH comes last, because an apphost would not look there.
//!
//! Invariant: a root is a folder with a host resolver in it (`ROOT/host/fxr/VERSION`).

use crate::installed;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The architecture in names of variables and files: DOTNET_ROOT_X64, install_location_x64.
pub const ARCHITECTURE: &str = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };

/// The name of DOTNET_ROOT for this architecture alone.
pub const ROOT_VARIABLE: &str = if cfg!(target_arch = "aarch64") { "DOTNET_ROOT_ARM64" } else { "DOTNET_ROOT_X64" };

/// The folder of the files that name an installation.
const CONFIGURATION: &str = "/etc/dotnet";

/// Microsoft's default folder, and those of distributions.
const USUAL_FOLDERS: [&str; 3] = ["/usr/share/dotnet", "/usr/lib/dotnet", "/usr/lib64/dotnet"];

/// The places to look at.
#[derive(Clone, Debug)]
pub struct Places {
    /// Variables that name a root, and their values, the first one to be taken first.
    pub variables: Vec<(&'static str, PathBuf)>,
    /// The folder with `install_location_x64` and `install_location`.
    pub configuration: PathBuf,
    /// Folders in which distributions install .NET.
    pub usual: Vec<PathBuf>,
    /// The folders of PATH.
    pub path: Vec<PathBuf>,
}

/// A folder in which a .NET is installed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// Its path, without symbolic links if it was found by the PATH.
    pub path: PathBuf,
    /// What led there: "DOTNET_ROOT", a file, "PATH".
    pub found_by: String,
}

impl Places {
    /// The system's, with these variables and this PATH.
    pub fn of_system(variables: Vec<(&'static str, PathBuf)>, path: Vec<PathBuf>) -> Places {
        let usual = USUAL_FOLDERS.map(PathBuf::from).to_vec();
        Places { variables, configuration: PathBuf::from(CONFIGURATION), usual, path }
    }

    /// All folders to look at, in order, whether something is there or not.
    fn candidates(&self) -> Vec<Root> {
        let root = |path: PathBuf, found_by: String| Root { path, found_by };
        let mut all: Vec<Root> =
            self.variables.iter().map(|(name, path)| root(path.clone(), (*name).to_owned())).collect();
        for name in [format!("install_location_{ARCHITECTURE}"), "install_location".to_owned()] {
            let file = self.configuration.join(name);
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let path = text.lines().next().map(str::trim).filter(|line| !line.is_empty());
            all.extend(path.map(|path| root(PathBuf::from(path), file.display().to_string())));
        }
        all.extend(self.usual.iter().map(|path| root(path.clone(), "the usual folder".to_owned())));
        all.extend(self.command().and_then(|command| {
            let folder = std::fs::canonicalize(command).ok()?.parent()?.to_path_buf();
            Some(root(folder, "dotnet on the PATH".to_owned()))
        }));
        all
    }

    /// `dotnet` on the PATH, as it is there.
    pub fn command(&self) -> Option<PathBuf> {
        self.path.iter().map(|folder| folder.join("dotnet")).find(|file| is_executable(file))
    }

    /// The roots that have a .NET, each once, in the order in which they are taken.
    pub fn roots(&self) -> Vec<Root> {
        let mut seen: Vec<PathBuf> = Vec::new();
        let mut roots = self.candidates();
        roots.retain(|root| {
            let real = std::fs::canonicalize(&root.path).unwrap_or_else(|_| root.path.clone());
            let is_new = !seen.contains(&real);
            seen.push(real);
            is_new && installed::hostfxr(&root.path).is_some()
        });
        roots
    }

    /// The root that programs run on.
    ///
    /// # Errors
    /// Where was looked, in words: there is none.
    pub fn root(&self) -> Result<Root, String> {
        let candidates = self.candidates();
        // An apphost whose variable is set takes that root or none.
        let wanted = if self.variables.is_empty() { &candidates[..] } else { &candidates[..1] };
        let found = wanted.iter().find(|root| installed::hostfxr(&root.path).is_some());
        found.cloned().ok_or_else(|| {
            if !self.variables.is_empty() {
                let root = &wanted[0];
                return format!("{} names {}, which has no host/fxr", root.found_by, root.path.display());
            }
            let mut places: Vec<String> = Vec::new();
            for root in wanted {
                let place = root.path.display().to_string();
                if !places.contains(&place) {
                    places.push(place);
                }
            }
            let command = if self.command().is_some() { "" } else { ", no dotnet on the PATH" };
            format!("none in {}{command}, DOTNET_ROOT is not set", places.join(", "))
        })
    }
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.file_name() == Some(OsStr::new("dotnet"))
        && std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::installed::tests::{Folder, install};
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Nothing of the machine's own.
    fn nowhere(folder: &Folder) -> Places {
        Places {
            variables: Vec::new(),
            configuration: folder.path().join("etc"),
            usual: vec![folder.path().join("share"), folder.path().join("lib")],
            path: vec![folder.path().join("bin")],
        }
    }

    #[test]
    fn places_are_taken_in_the_order_of_apphosts() {
        let folder = Folder::new("places-order");
        let mut places = nowhere(&folder);
        let refusal = places.root().unwrap_err();
        assert!(refusal.contains("share") && refusal.contains("no dotnet on the PATH"), "{refusal}");

        // `dotnet` on the PATH is a link to the one in its root.
        let root_of_path = folder.path().join("opt/dotnet");
        install(&root_of_path, &["9.0.5"]);
        let program = root_of_path.join("dotnet");
        std::fs::write(&program, "").unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::create_dir_all(folder.path().join("bin")).unwrap();
        symlink(&program, folder.path().join("bin/dotnet")).unwrap();
        let real = std::fs::canonicalize(&root_of_path).unwrap();
        assert_eq!(places.root().unwrap(), Root { path: real, found_by: "dotnet on the PATH".to_owned() });

        let usual = folder.path().join("lib");
        install(&usual, &["9.0.5"]);
        assert_eq!(places.root().unwrap().path, usual);

        let etc = folder.path().join("etc");
        let (named, named_for_all) = (folder.path().join("named"), folder.path().join("named-for-all"));
        install(&named, &["9.0.5"]);
        install(&named_for_all, &["9.0.5"]);
        std::fs::create_dir_all(&etc).unwrap();
        std::fs::write(etc.join("install_location"), format!("{}\n", named_for_all.display())).unwrap();
        assert_eq!(places.root().unwrap().path, named_for_all);
        let file = etc.join(format!("install_location_{ARCHITECTURE}"));
        std::fs::write(&file, format!("{}\nmore\n", named.display())).unwrap();
        assert_eq!(places.root().unwrap(), Root { path: named, found_by: file.display().to_string() });

        let own = folder.path().join("own");
        install(&own, &["9.0.5"]);
        places.variables = vec![("DOTNET_ROOT", own.clone())];
        assert_eq!(places.root().unwrap(), Root { path: own, found_by: "DOTNET_ROOT".to_owned() });
        assert_eq!(places.roots().len(), 5, "{:?}", places.roots());
    }

    #[test]
    fn a_variable_that_leads_nowhere_is_not_passed_over() {
        let folder = Folder::new("places-variable");
        let mut places = nowhere(&folder);
        install(&folder.path().join("lib"), &["9.0.5"]);
        places.variables = vec![("DOTNET_ROOT", folder.path().join("gone"))];
        let refusal = places.root().unwrap_err();
        assert!(refusal.starts_with("DOTNET_ROOT names ") && refusal.contains("gone"), "{refusal}");
    }
}
