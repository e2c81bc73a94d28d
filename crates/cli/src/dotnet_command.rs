//! `saki dotnet`: an unchanged `dotnet`, whose host loads our `libcoreclr.so`.
//!
//! .NET's host takes, of two packages' files with one name, the one of the higher version. So a file with dependencies
//! (DOTNET_ADDITIONAL_DEPS) names a package of ours whose `libcoreclr.so` has a version above all, and a store of
//! packages (DOTNET_SHARED_STORE) has it, below the program's target framework. Both lie in the user's cache; nothing
//! of the installation or of the program is changed, and child processes inherit the variables.
//!
//! Invariant: files of one name are equal (the folder's name says which library they lead to), so that commands that
//! start at the same time do not disturb each other. Left out: programs that bring their runtime along; programs that
//! load components, for which the host reads neither variable (`component_root`).

use crate::cached_files;
use crate::component_root;
use crate::exit::{EXIT_UNUSABLE, fail};
use saki_base::answer;
use saki_dotnet::places::ARCHITECTURE;
use saki_hosting::environment;
use saki_runtime::exec::code_cache::checksum;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library's name, which .NET's host knows.
pub const LIBRARY: &str = "libcoreclr.so";

/// Its folder in an installation, beside that of the command.
const INSTALLED: &str = "lib/saki-dotnet";

/// Folder of the stores in the cache.
const FOLDER: &str = "dotnet";
/// Changes when what is in a store changes.
const FORM: u64 = 1;
const DEPENDENCIES: &str = "saki.deps.json";
const PACKAGE: &str = "saki/1.0.0";
/// Above the version of every runtime's library.
const FILE_VERSION: &str = "99.0.0.0";

/// The target frameworks of programs, by which a store is divided: a program that rolls forward keeps its own.
const TARGET_FRAMEWORKS: [&str; 12] = [
    "netcoreapp2.1",
    "netcoreapp2.2",
    "netcoreapp3.0",
    "netcoreapp3.1",
    "net5.0",
    "net6.0",
    "net7.0",
    "net8.0",
    "net9.0",
    "net10.0",
    "net11.0",
    "net12.0",
];

/// The word that asks for the variables, for programs that are started otherwise than by `dotnet` (apphosts).
const SHOW_VARIABLES: &str = "--environment";

/// The word that asks for a root of .NET whose runtime is ours, for programs that load components.
const SHOW_ROOT: &str = "--components";

/// Runs `dotnet` with these words, in place of this process. Returns the exit code if that fails, and after
/// `SHOW_VARIABLES`.
pub fn run(words: &[OsString]) -> i32 {
    if matches!(words, [word] if word == SHOW_ROOT) {
        return match prepare_root() {
            Ok(root) => {
                answer!("{}", assignment("DOTNET_ROOT".as_ref(), root.as_os_str()));
                0
            }
            Err(text) => {
                fail(&text);
                EXIT_UNUSABLE
            }
        };
    }
    match prepare() {
        Ok(command) if matches!(words, [word] if word == SHOW_VARIABLES) => {
            for (name, value) in command.get_envs() {
                answer!("{}", assignment(name, value.unwrap_or_default()));
            }
            0
        }
        Ok(mut command) => {
            let error = command.args(words).exec();
            fail(&format!("{}: {error}", command.get_program().display()))
        }
        Err(text) => {
            fail(&text);
            EXIT_UNUSABLE
        }
    }
}

/// `dotnet` with its variables.
fn prepare() -> Result<Command, String> {
    let places = environment::dotnet_places();
    let dotnet = match places.command() {
        Some(command) => command,
        None => {
            let root = places.root().map_err(|looked| format!("no dotnet: {looked}"))?;
            root.path.join("dotnet")
        }
    };
    let library = library()?;
    let folder = cached_files::folder(FOLDER)?;
    let [key, _] = checksum::wide_hash(library.as_os_str().as_bytes());
    let store = folder.join(format!("{FORM}-{key:016x}"));
    fill(&store, &library).map_err(|e| format!("{}: {e}", store.display()))?;
    let mut command = Command::new(dotnet);
    for (name, own) in [("DOTNET_ADDITIONAL_DEPS", store.join(DEPENDENCIES)), ("DOTNET_SHARED_STORE", store)] {
        command.env(name, in_front(own, environment::value(name)));
    }
    Ok(command)
}

/// The root of links to an installation, whose library is ours.
fn prepare_root() -> Result<PathBuf, String> {
    let root = environment::dotnet_places().root().map_err(|looked| format!("no dotnet: {looked}"))?;
    let library = library()?;
    let folder = cached_files::folder(FOLDER)?;
    let paths = [root.path.as_os_str().as_bytes(), b"\0", library.as_os_str().as_bytes()].concat();
    let [key, _] = checksum::wide_hash(&paths);
    let links = folder.join(format!("root-{}-{key:016x}", component_root::FORM));
    component_root::fill(&links, &root.path, &library).map_err(|e| format!("{}: {e}", links.display()))?;
    Ok(links)
}

/// The variable for a POSIX shell to evaluate.
fn assignment(name: &OsStr, value: &OsStr) -> String {
    format!("export {}='{}'", name.display(), value.to_string_lossy().replace('\'', "'\\''"))
}

/// A list of paths with ours in front.
fn in_front(own: PathBuf, others: Option<OsString>) -> OsString {
    let mut list = own.into_os_string();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}

/// Our library: beside the command where it was built, in `lib/saki-dotnet` where it is installed.
///
/// # Errors
/// It is not there.
fn library() -> Result<PathBuf, String> {
    let command = std::env::current_exe().and_then(std::fs::canonicalize).map_err(|e| format!("saki: {e}"))?;
    let folder = command.parent().unwrap_or(Path::new("/"));
    let installed = folder.parent().unwrap_or(folder).join(INSTALLED).join(LIBRARY);
    let places = [folder.join(LIBRARY), installed];
    let found = places.iter().find(|file| file.is_file()).cloned();
    found.ok_or_else(|| {
        let [built, installed] = places.map(|place| place.display().to_string());
        format!("no {LIBRARY}: neither {built} nor {installed} is there ('cargo build -p saki-coreclr' makes it)")
    })
}

/// Writes what is missing of a store.
fn fill(store: &Path, library: &Path) -> io::Result<()> {
    let asset = format!("runtimes/linux-{ARCHITECTURE}/native/{LIBRARY}");
    for framework in TARGET_FRAMEWORKS {
        let place = store.join(ARCHITECTURE).join(framework).join(PACKAGE).join(&asset);
        if std::fs::read_link(&place).is_ok_and(|target| target == library) {
            continue;
        }
        cached_files::make_folder_of(&place)?;
        cached_files::put(&place, |temporary| symlink(library, temporary))?;
    }
    cached_files::put_contents(&store.join(DEPENDENCIES), dependencies(&asset).as_bytes())
}

/// The file that names the package. Its own target framework has no meaning.
fn dependencies(asset: &str) -> String {
    format!(
        r#"{{
  "runtimeTarget": {{ "name": ".NETCoreApp,Version=v9.0", "signature": "" }},
  "targets": {{
    ".NETCoreApp,Version=v9.0": {{ "{PACKAGE}": {{ "native": {{ "{asset}": {{ "fileVersion": "{FILE_VERSION}" }} }} }} }}
  }},
  "libraries": {{ "{PACKAGE}": {{ "type": "package", "serviceable": false, "sha512": "", "path": "{PACKAGE}" }} }}
}}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_store_is_mended() {
        let folder = std::env::temp_dir().join(format!("saki-store-{}", std::process::id()));
        let (one, two) = (Path::new("/lib/one"), Path::new("/lib/two"));
        let link = format!("{ARCHITECTURE}/net9.0/{PACKAGE}/runtimes/linux-{ARCHITECTURE}/native/{LIBRARY}");
        fill(&folder, one).expect("filled");
        let text = std::fs::read_to_string(folder.join(DEPENDENCIES)).expect("a file");
        assert!(text.contains(FILE_VERSION) && text.contains(LIBRARY), "{text}");
        std::fs::write(folder.join(DEPENDENCIES), "{").expect("damaged");
        fill(&folder, two).expect("filled");
        assert_eq!(std::fs::read_to_string(folder.join(DEPENDENCIES)).expect("a file"), text);
        assert_eq!(std::fs::read_link(folder.join(link)).expect("a link"), two);
        let names = std::fs::read_dir(&folder).expect("a folder").count();
        assert_eq!(names, 2, "no temporary files are left");
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_shell_reads_the_variables_back() {
        assert_eq!(assignment("A".as_ref(), "/a b/it's".as_ref()), r"export A='/a b/it'\''s'");
    }

    #[test]
    fn own_paths_come_first() {
        assert_eq!(in_front("/own".into(), None), "/own");
        assert_eq!(in_front("/own".into(), Some("".into())), "/own");
        assert_eq!(in_front("/own".into(), Some("/a:/b".into())), "/own:/a:/b");
    }
}
