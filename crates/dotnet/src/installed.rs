//! What a root has: host resolvers, frameworks and SDKs, each in a folder by version.
//!
//! Invariant: a version counts only if the file is there that makes it usable. Left out: what a framework contains
//! besides.

use crate::version::SemanticVersion;
use std::path::{Path, PathBuf};

/// The framework that every program of modern .NET uses.
pub const CORE_FRAMEWORK: &str = "Microsoft.NETCore.App";

/// The class library's innermost assembly, in the framework's folder.
pub const CORE_LIBRARY: &str = "System.Private.CoreLib.dll";

/// .NET's host resolver.
const HOST_RESOLVER: &str = "libhostfxr.so";

/// The C# compiler, in an SDK's folder.
const COMPILER: &str = "Roslyn/bincore/csc.dll";

/// A version of something, and its folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Installed {
    /// The version, by the folder's name.
    pub version: SemanticVersion,
    /// `ROOT/shared/NAME/VERSION`, `ROOT/sdk/VERSION` or `ROOT/host/fxr/VERSION`.
    pub folder: PathBuf,
}

/// The versions in a folder of versions that have this file, the lowest first.
fn versions_with(folder: &Path, file: &str) -> Vec<Installed> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<Installed> = entries
        .filter_map(|entry| {
            let version = SemanticVersion::parse(entry.file_name().to_str()?)?;
            let folder = entry.path();
            folder.join(file).is_file().then_some(Installed { version, folder })
        })
        .collect();
    found.sort_by(|one, two| one.version.cmp(&two.version));
    found
}

/// The newest host resolver of a root: its file.
pub fn hostfxr(root: &Path) -> Option<PathBuf> {
    let newest = versions_with(&root.join("host/fxr"), HOST_RESOLVER).pop()?;
    Some(newest.folder.join(HOST_RESOLVER))
}

/// The runtimes of a root, the lowest version first.
pub fn runtimes(root: &Path) -> Vec<Installed> {
    versions_with(&root.join("shared").join(CORE_FRAMEWORK), CORE_LIBRARY)
}

/// The versions of any framework of a root, the lowest first.
pub fn framework(root: &Path, name: &str) -> Vec<Installed> {
    versions_with(&root.join("shared").join(name), &format!("{name}.deps.json"))
}

/// The C# compiler of the newest SDK of a root that has one, and that SDK.
pub fn compiler(root: &Path) -> Option<(Installed, PathBuf)> {
    let sdk = versions_with(&root.join("sdk"), COMPILER).pop()?;
    let compiler = sdk.folder.join(COMPILER);
    Some((sdk, compiler))
}

/// The assemblies that programs are compiled against, of the newest version with this major number that the root's
/// targeting packs have: `ROOT/packs/Microsoft.NETCore.App.Ref/VERSION/ref/netMAJOR.0`.
pub fn references(root: &Path, major: u32) -> Option<PathBuf> {
    let below = format!("ref/net{major}.0");
    let packs = versions_with(&root.join("packs/Microsoft.NETCore.App.Ref"), &format!("{below}/System.Runtime.dll"));
    packs.into_iter().rfind(|pack| pack.version.major() == major).map(|pack| pack.folder.join(below))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A folder for one test, removed with all that is in it.
    pub(crate) struct Folder(PathBuf);

    impl Folder {
        pub(crate) fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("saki-dotnet-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir_all(&path).expect("a folder");
            Folder(std::fs::canonicalize(path).expect("a path"))
        }

        pub(crate) fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    pub(crate) fn make_file(path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, "").expect("a file");
    }

    /// Makes a root with these versions, of empty files.
    pub(crate) fn install(root: &Path, versions: &[&str]) {
        for version in versions {
            make_file(&root.join("host/fxr").join(version).join(HOST_RESOLVER));
            let framework = root.join("shared").join(CORE_FRAMEWORK).join(version);
            make_file(&framework.join(CORE_LIBRARY));
            make_file(&framework.join(format!("{CORE_FRAMEWORK}.deps.json")));
        }
    }

    #[test]
    fn the_newest_resolver_is_taken_and_previews_are_lower() {
        let folder = Folder::new("installed");
        let root = folder.path();
        assert_eq!(hostfxr(root), None);
        install(root, &["9.0.10", "9.0.5", "10.0.0-rc.2", "10.0.0-rc.10"]);
        std::fs::create_dir_all(root.join("host/fxr/11.0.0")).expect("a folder without the file");
        std::fs::create_dir_all(root.join("shared").join(CORE_FRAMEWORK).join("9.0.11")).expect("the same");
        assert_eq!(hostfxr(root), Some(root.join("host/fxr/10.0.0-rc.10/libhostfxr.so")));
        install(root, &["10.0.0"]);
        assert_eq!(hostfxr(root), Some(root.join("host/fxr/10.0.0/libhostfxr.so")));
        let versions = |found: Vec<Installed>| found.iter().map(|one| one.version.to_string()).collect::<Vec<_>>();
        let all = ["9.0.5", "9.0.10", "10.0.0-rc.2", "10.0.0-rc.10", "10.0.0"];
        assert_eq!(versions(runtimes(root)), all);
        assert_eq!(versions(framework(root, CORE_FRAMEWORK)), all);
        assert_eq!(versions(framework(root, "Microsoft.AspNetCore.App")), [""; 0]);
    }

    #[test]
    fn the_compiler_is_that_of_the_newest_sdk_which_has_one() {
        let folder = Folder::new("compiler");
        let root = folder.path();
        assert_eq!(compiler(root), None);
        make_file(&root.join("sdk/9.0.203").join(COMPILER));
        make_file(&root.join("sdk/10.0.100-rc.1").join(COMPILER));
        std::fs::create_dir_all(root.join("sdk/10.0.100")).expect("a folder");
        let (sdk, path) = compiler(root).expect("a compiler");
        assert_eq!((sdk.version.to_string().as_str(), path), ("10.0.100-rc.1", sdk.folder.join(COMPILER)));
        assert_eq!(references(root, 9), None);
        make_file(&root.join("packs/Microsoft.NETCore.App.Ref/9.0.2/ref/net9.0/System.Runtime.dll"));
        make_file(&root.join("packs/Microsoft.NETCore.App.Ref/9.0.11/ref/net9.0/System.Runtime.dll"));
        make_file(&root.join("packs/Microsoft.NETCore.App.Ref/10.0.1/ref/net10.0/System.Runtime.dll"));
        assert_eq!(references(root, 9), Some(root.join("packs/Microsoft.NETCore.App.Ref/9.0.11/ref/net9.0")));
    }
}
