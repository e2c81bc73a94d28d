//! A program of modern .NET: what its runtime starts from.
//!
//! Invariant: every way in which this fails is one line for the user, who learns where was looked and what to install.
//! Left out: programs that bring their runtime along.

use crate::hostfxr::{FRAMEWORK_MISSING, Hostfxr, Refusal};
use crate::installed::{self, CORE_FRAMEWORK, CORE_LIBRARY};
use crate::places::{ARCHITECTURE, Places, Root};
use crate::version::SemanticVersion;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where to get .NET.
const DOWNLOAD: &str = "https://dotnet.microsoft.com/download";

/// The list of assemblies that a runtime may load by name, with colons between.
pub const TRUSTED_ASSEMBLIES: &str = "TRUSTED_PLATFORM_ASSEMBLIES";

/// The address of the host's functions, which are gone when the resolver's context is closed.
const HOST_CONTRACT: &str = "HOST_RUNTIME_CONTRACT";

/// What `dotnet exec` takes between `exec` and the program: options of .NET's host.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct HostOptions {
    words: Vec<String>,
    has_configuration: bool,
}

impl HostOptions {
    /// The option that names the program's configuration, in place of `app.runtimeconfig.json`.
    const CONFIGURATION: &str = "--runtimeconfig";

    /// Adds an option and its value, behind those that are there. Which ones there are, and what they mean, the
    /// installed host knows.
    pub fn add(&mut self, option: &str, value: &str) {
        self.has_configuration |= option == HostOptions::CONFIGURATION;
        self.words.extend([option.to_owned(), value.to_owned()]);
    }
}

/// A program, and what .NET's host says about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DotnetProgram {
    /// The program's assembly, an absolute path.
    pub app_path: PathBuf,
    /// What follows the program on its command line.
    pub arguments: Vec<String>,
    /// The runtime's properties, in the host's order. Those of `configProperties` in `app.runtimeconfig.json` are among
    /// them; the host's functions are not.
    pub properties: Vec<(String, String)>,
    /// The folder of the class libraries that the program runs on.
    pub framework_folder: PathBuf,
    /// Their version, by the folder's name; None if the program brings them along.
    pub framework_version: Option<SemanticVersion>,
    /// The installation.
    pub root: Root,
}

impl DotnetProgram {
    /// The value of a property.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Why a program cannot run on an installed .NET. Displayed, each is one line without the program's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ResolveError {
    /// No .NET is installed; the text says where was looked.
    NoDotnet(String),
    /// The file that names the program's framework is missing.
    NoConfiguration(PathBuf),
    /// A framework that the program asks for is not there in a version that serves it.
    NoFramework {
        /// The framework's name.
        name: String,
        /// The version that the program asks for.
        version: String,
        /// The installation that was asked.
        root: PathBuf,
        /// The framework's versions that are there.
        present: Vec<SemanticVersion>,
    },
    /// The host resolver refuses in its own words.
    Refused {
        /// The resolver's file.
        resolver: PathBuf,
        /// What it says.
        refusal: Refusal,
    },
    /// The resolver's answer names no class library.
    NoCoreLibrary {
        /// The resolver's file.
        resolver: PathBuf,
    },
}

impl std::fmt::Display for ResolveError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ResolveError::NoDotnet(looked) => {
                write!(f, "a program for .NET, and no .NET is found: {looked}; install its runtime ({DOWNLOAD})")
            }
            ResolveError::NoConfiguration(file) => {
                write!(f, "a program for .NET without {}, which 'dotnet build' writes", file.display())
            }
            ResolveError::NoFramework { name, version, root, present } => {
                write!(f, "needs {name} {version} ({ARCHITECTURE}); {} has ", root.display())?;
                match present.as_slice() {
                    [] => f.write_str("none")?,
                    all => f.write_str(&all.iter().map(SemanticVersion::to_string).collect::<Vec<_>>().join(", "))?,
                }
                let wanted = SemanticVersion::parse(version);
                let is_newer_there =
                    wanted.as_ref().is_some_and(|wanted| present.iter().any(|one| one.major() > wanted.major()));
                if is_newer_there {
                    f.write_str(" (DOTNET_ROLL_FORWARD=Major runs it on a newer one)")?;
                }
                match wanted {
                    Some(wanted) => write!(f, "; install it ({DOWNLOAD}/dotnet/{}.0)", wanted.major()),
                    None => write!(f, "; install it ({DOWNLOAD})"),
                }
            }
            ResolveError::Refused { resolver, refusal } => {
                let words = one_line(&refusal.lines);
                match (refusal.code, words.is_empty()) {
                    (0, _) => write!(f, "{}: {words}", resolver.display()),
                    (code, true) => write!(f, "{} refuses it with {code:#010x}", resolver.display()),
                    (code, false) => write!(f, "{} refuses it: {words} ({code:#010x})", resolver.display()),
                }
            }
            ResolveError::NoCoreLibrary { resolver } => {
                write!(f, "{} names no {CORE_LIBRARY} for it", resolver.display())
            }
        }
    }
}

impl std::error::Error for ResolveError {}

/// The resolver's explanation without its headings' blank lines.
fn one_line(lines: &[String]) -> String {
    let lines = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// Asks the host resolver of the installed .NET about a program: about `dotnet app.dll` or, with options of the host,
/// about `dotnet exec OPTIONS app.dll`.
///
/// # Errors
/// No .NET, a framework that is missing, a refusal of the resolver's.
pub fn resolve(
    places: &Places,
    options: Option<&HostOptions>,
    app: &Path,
    arguments: &[String],
) -> Result<DotnetProgram, ResolveError> {
    let root = places.root().map_err(ResolveError::NoDotnet)?;
    let resolver = installed::hostfxr(&root.path).unwrap_or_default();
    let app_path = std::path::absolute(app).unwrap_or_else(|_| app.to_path_buf());
    let configuration = app_path.with_extension("runtimeconfig.json");
    if !configuration.is_file() && !options.is_some_and(|options| options.has_configuration) {
        return Err(ResolveError::NoConfiguration(configuration));
    }
    let refused = |refusal: Refusal| match missing_framework(&refusal) {
        Some((name, version)) => {
            let present = installed::framework(&root.path, &name).into_iter().map(|one| one.version).collect();
            ResolveError::NoFramework { name, version, root: root.path.clone(), present }
        }
        None => ResolveError::Refused { resolver: resolver.clone(), refusal },
    };
    let hostfxr = Hostfxr::load(&resolver).map_err(refused)?;
    let words: Vec<&OsStr> = options
        .into_iter()
        .flat_map(|options| std::iter::once("exec").chain(options.words.iter().map(String::as_str)))
        .map(OsStr::new)
        .chain([app_path.as_os_str()])
        .chain(arguments.iter().map(OsStr::new))
        .collect();
    let mut properties = hostfxr.properties(&root.path, &words).map_err(refused)?;
    properties.retain(|(key, _)| key != HOST_CONTRACT);
    let assemblies = properties.iter().find(|(key, _)| key == TRUSTED_ASSEMBLIES).map_or("", |(_, value)| value);
    let Some(framework_folder) = folder_of_assembly(assemblies, CORE_LIBRARY) else {
        return Err(ResolveError::NoCoreLibrary { resolver });
    };
    let framework_version = version_of_folder(&framework_folder);
    let arguments = arguments.to_vec();
    Ok(DotnetProgram { app_path, arguments, properties, framework_folder, framework_version, root })
}

/// The folder of an assembly in a list of assemblies with colons between.
pub fn folder_of_assembly(list: &str, file_name: &str) -> Option<PathBuf> {
    let mut paths = list.split(':').map(Path::new);
    let path = paths.find(|path| path.file_name().is_some_and(|name| name == file_name))?;
    path.parent().map(Path::to_path_buf)
}

/// The version of a framework's folder, `…/Microsoft.NETCore.App/VERSION`.
fn version_of_folder(folder: &Path) -> Option<SemanticVersion> {
    let is_framework = folder.parent()?.file_name()? == CORE_FRAMEWORK;
    SemanticVersion::parse(folder.file_name()?.to_str()?).filter(|_| is_framework)
}

/// Name and version of the framework that the resolver misses, from its explanation: "Framework: 'NAME', version
/// 'VERSION' (x64)".
fn missing_framework(refusal: &Refusal) -> Option<(String, String)> {
    if refusal.code != FRAMEWORK_MISSING {
        return None;
    }
    let line = refusal.lines.iter().find_map(|line| line.trim().strip_prefix("Framework: "))?;
    let mut quoted = line.split('\'').skip(1).step_by(2);
    Some((quoted.next()?.to_owned(), quoted.next()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::installed::tests::{Folder, install};

    #[test]
    fn failures_are_one_line_that_says_what_to_do() {
        let check = |error: ResolveError, expect: &str| assert_eq!(error.to_string(), expect);
        check(
            ResolveError::NoDotnet("none in /usr/share/dotnet".to_owned()),
            "a program for .NET, and no .NET is found: none in /usr/share/dotnet; install its runtime (https://dotnet.microsoft.com/download)",
        );
        let missing = |version: &str, present: &[&str]| ResolveError::NoFramework {
            name: CORE_FRAMEWORK.to_owned(),
            version: version.to_owned(),
            root: "/opt/dotnet".into(),
            present: present.iter().map(|name| SemanticVersion::parse(name).expect("a version")).collect(),
        };
        check(
            missing("12.0.0", &["9.0.5", "10.0.13"]),
            &format!(
                "needs Microsoft.NETCore.App 12.0.0 ({ARCHITECTURE}); /opt/dotnet has 9.0.5, 10.0.13; install it (https://dotnet.microsoft.com/download/dotnet/12.0)"
            ),
        );
        check(
            missing("8.0.0", &["9.0.5"]),
            &format!(
                "needs Microsoft.NETCore.App 8.0.0 ({ARCHITECTURE}); /opt/dotnet has 9.0.5 (DOTNET_ROLL_FORWARD=Major runs it on a newer one); install it (https://dotnet.microsoft.com/download/dotnet/8.0)"
            ),
        );
        let refused = |code, lines: &[&str]| ResolveError::Refused {
            resolver: "/r/libhostfxr.so".into(),
            refusal: Refusal { code, lines: lines.iter().map(|&line| line.to_owned()).collect() },
        };
        check(
            refused(0x8000_8093, &["Invalid file", "", "  [x]"]),
            "/r/libhostfxr.so refuses it: Invalid file [x] (0x80008093)",
        );
        check(refused(0x8000_8093, &[]), "/r/libhostfxr.so refuses it with 0x80008093");
    }

    #[test]
    fn the_missing_framework_is_found_in_the_explanation() {
        let lines =
            ["You must install or update .NET.", "", "Framework: 'Microsoft.NETCore.App', version '8.0.0' (x64)"];
        let refusal = |code| Refusal { code, lines: lines.map(str::to_owned).to_vec() };
        let found = missing_framework(&refusal(FRAMEWORK_MISSING));
        assert_eq!(found, Some((CORE_FRAMEWORK.to_owned(), "8.0.0".to_owned())));
        assert_eq!(missing_framework(&refusal(1)), None);
    }

    #[test]
    fn a_resolver_that_cannot_be_loaded_is_named() {
        let folder = Folder::new("broken");
        let root = folder.path().join("root");
        install(&root, &["9.0.5"]);
        let places = Places {
            variables: vec![("DOTNET_ROOT", root.clone())],
            configuration: folder.path().join("etc"),
            usual: Vec::new(),
            path: Vec::new(),
        };
        let app = folder.path().join("app.dll");
        let error = resolve(&places, None, &app, &[]).unwrap_err();
        let configuration = app.with_extension("runtimeconfig.json");
        assert_eq!(error, ResolveError::NoConfiguration(configuration.clone()));
        std::fs::write(configuration, "{}").unwrap();
        let error = resolve(&places, None, &app, &[]).unwrap_err().to_string();
        assert!(error.contains(&format!("{}/host/fxr/9.0.5/libhostfxr.so: ", root.display())), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }

    #[test]
    fn a_framework_is_known_by_its_folder() {
        let list = "/r/shared/Microsoft.NETCore.App/9.0.5/System.Private.CoreLib.dll:/app/app.dll:";
        let folder = folder_of_assembly(list, CORE_LIBRARY).expect("a folder");
        assert_eq!(version_of_folder(&folder).map(|version| version.to_string()).as_deref(), Some("9.0.5"));
        assert_eq!(version_of_folder(Path::new("/app/9.0.5")), None);
        assert_eq!(folder_of_assembly("/a/XSystem.Private.CoreLib.dll", CORE_LIBRARY), None);
    }
}
