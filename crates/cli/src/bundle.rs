//! A bundle (`./x bundle`): a folder with `bin/saki` and, in `lib/mono`, the class libraries that it runs programs on.
//!
//! Invariant: only a file that bundles alone have makes a folder one. A `lib/mono` beside the folder of an executable
//! is not a proof: somebody may have installed a Mono of his own there.

use std::path::{Path, PathBuf};

/// Where Debian installs the class libraries.
const INSTALLED: &str = "/usr/lib/mono";

/// What a bundle says about itself, from its root.
const DESCRIPTION: &str = "share/saki/bundle";

/// The class libraries of the bundle that the executable is in, or those that Debian installs.
pub fn default_framework_root() -> PathBuf {
    let executable = std::env::current_exe().ok();
    executable.as_deref().and_then(libraries_of_bundle).unwrap_or_else(|| PathBuf::from(INSTALLED))
}

/// `lib/mono` of the bundle whose `bin` the executable is in.
fn libraries_of_bundle(executable: &Path) -> Option<PathBuf> {
    let root = executable.parent()?.parent()?;
    root.join(DESCRIPTION).is_file().then(|| root.join("lib/mono"))
}

#[cfg(test)]
mod tests {
    use super::{DESCRIPTION, libraries_of_bundle};

    #[test]
    fn class_libraries_beside_an_executable_are_its_own_in_a_bundle_only() {
        let root = std::env::temp_dir().join(format!("saki-bundle-{}", std::process::id()));
        let executable = root.join("bin/saki");
        std::fs::create_dir_all(root.join("lib/mono/4.5")).expect("a folder");
        assert_eq!(libraries_of_bundle(&executable), None);
        std::fs::create_dir_all(root.join(DESCRIPTION).parent().expect("a folder")).expect("a folder");
        std::fs::write(root.join(DESCRIPTION), "").expect("a file");
        assert_eq!(libraries_of_bundle(&executable), Some(root.join("lib/mono")));
        std::fs::remove_dir_all(&root).expect("removed");
    }
}
