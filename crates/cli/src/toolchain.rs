//! What `saki run` compiles sources with: Mono's compiler, which Saki runs itself, or the one of an installed .NET SDK.
//!
//! Invariant: a toolchain that is there has all files that it needs to begin; what is missing is one line. Left out:
//! the compiler's options that do not depend on the class libraries (`run_source`).

use crate::info::Libraries;
use crate::options::Options;
use saki_dotnet::{Places, installed};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Assemblies that mcs references by default; it compiles their constants into programs.
const MONO_REFERENCES: [&str; 5] =
    ["mscorlib.dll", "System.dll", "System.Xml.dll", "System.Core.dll", "Microsoft.CSharp.dll"];

/// See the module header.
pub struct Toolchain {
    /// The compiler's assembly.
    pub compiler: PathBuf,
    /// The folder of the class libraries that programs are compiled against.
    pub references: PathBuf,
    kind: Kind,
}

enum Kind {
    Mono,
    Net {
        /// The program that runs the compiler.
        dotnet: PathBuf,
        /// The version of the framework that compiled programs ask for, and its major number.
        version: String,
        major: u32,
    },
}

impl Toolchain {
    /// The one for the class libraries that the options ask for.
    ///
    /// # Errors
    /// No compiler, and where was looked.
    pub fn find(options: &Options, places: impl FnOnce() -> Places) -> Result<Toolchain, String> {
        match options.libraries() {
            Some(Libraries::Net) => Toolchain::of_net(&places()),
            _ => Toolchain::of_mono(&options.framework_root()),
        }
    }

    fn of_mono(framework_root: &Path) -> Result<Toolchain, String> {
        let compiler = mono_compiler(framework_root)?;
        let references = framework_root.join(saki_types::binder::PROFILE);
        Ok(Toolchain { compiler, references, kind: Kind::Mono })
    }

    /// The newest SDK's, for the newest runtime that its compiler knows.
    ///
    /// # Errors
    /// No .NET, no SDK, or no runtime with it.
    pub fn of_net(places: &Places) -> Result<Toolchain, String> {
        let root = places.root().map_err(|looked| {
            format!("no .NET is found: {looked}; install its SDK (https://dotnet.microsoft.com/download)")
        })?;
        let root = root.path;
        let Some((sdk, compiler)) = installed::compiler(&root) else {
            let looked = root.join("sdk/VERSION/Roslyn/bincore/csc.dll");
            return Err(format!(
                "{}: no such file (the C# compiler; the .NET SDK has it, https://dotnet.microsoft.com/download)",
                looked.display()
            ));
        };
        let runtimes = installed::runtimes(&root);
        let fitting = runtimes.into_iter().rfind(|one| one.version.major() <= sdk.version.major());
        let Some(runtime) = fitting else {
            return Err(format!("{}: no runtime for the SDK {}", root.join("shared").display(), sdk.version));
        };
        let major = runtime.version.major();
        let references = installed::references(&root, major).unwrap_or(runtime.folder);
        let version = if runtime.version.is_preview() { runtime.version.to_string() } else { format!("{major}.0.0") };
        let kind = Kind::Net { dotnet: root.join("dotnet"), version, major };
        Ok(Toolchain { compiler, references, kind })
    }

    /// The ending of executables.
    pub fn extension(&self) -> &'static str {
        match self.kind {
            Kind::Mono => "exe",
            Kind::Net { .. } => "dll",
        }
    }

    /// Files that decide about what is compiled, besides sources and options.
    pub fn files(&self) -> Vec<PathBuf> {
        let libraries: &[&str] = match self.kind {
            Kind::Mono => &MONO_REFERENCES,
            Kind::Net { .. } => &["System.Runtime.dll", "System.Private.CoreLib.dll"],
        };
        let libraries = libraries.iter().map(|name| self.references.join(name)).filter(|path| path.is_file());
        std::iter::once(self.compiler.clone()).chain(libraries).collect()
    }

    /// A command that runs the compiler; its own options follow.
    ///
    /// # Errors
    /// The folder of class libraries cannot be read; this executable has no path.
    pub fn command(&self, options: &Options) -> Result<Command, String> {
        match &self.kind {
            Kind::Mono => {
                let saki = std::env::current_exe().map_err(|e| format!("saki: {e}"))?;
                let mut command = Command::new(saki);
                command.arg("--framework").arg(&options.framework);
                if options.no_cache {
                    command.arg("--no-cache");
                }
                command.arg(&self.compiler);
                Ok(command)
            }
            Kind::Net { dotnet, .. } => {
                let mut command = Command::new(dotnet);
                command.arg(&self.compiler).args(["-noconfig", "-nostdlib+"]);
                let shown = |e| format!("{}: {e}", self.references.display());
                let entries = std::fs::read_dir(&self.references).map_err(shown)?;
                let mut names: Vec<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
                names.sort();
                for name in names.into_iter().filter(|name| Path::new(name).extension().is_some_and(|e| e == "dll")) {
                    let mut reference = OsString::from("-r:");
                    reference.push(self.references.join(name));
                    command.arg(reference);
                }
                Ok(command)
            }
        }
    }

    /// The contents of the file beside an executable that names its framework, if it needs one.
    pub fn configuration(&self) -> Option<String> {
        let Kind::Net { version, major, .. } = &self.kind else { return None };
        Some(format!(
            r#"{{"runtimeOptions": {{"tfm": "net{major}.0", "framework": {{"name": "{}", "version": "{version}"}}}}}}"#,
            installed::CORE_FRAMEWORK
        ))
    }
}

/// Mono's C# compiler among the class libraries.
///
/// # Errors
/// It is not there.
pub fn mono_compiler(framework_root: &Path) -> Result<PathBuf, String> {
    let path = framework_root.join(saki_types::binder::PROFILE).join("mcs.exe");
    if path.is_file() {
        return Ok(path);
    }
    Err(format!("{}: no such file (the C# compiler; Debian's package mono-mcs has it)", path.display()))
}
