//! The host resolver of a real .NET 9: DOTNET9 names its `dotnet`, or it is in `target/net/9`. Without one,
//! nothing is tested.

use saki_dotnet::{CORE_LIBRARY, DotnetProgram, HostOptions, Places, ResolveError, installed, resolve};
use std::path::{Path, PathBuf};

/// The root of the installed .NET 9.
fn root() -> Option<PathBuf> {
    let named = std::env::var_os("DOTNET9").map(PathBuf::from);
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/net/9/dotnet");
    let command = std::fs::canonicalize(named.unwrap_or(here)).ok();
    let root = command.and_then(|command| command.parent().map(Path::to_path_buf));
    if root.is_none() {
        eprintln!("skipped: no .NET 9 (DOTNET9, target/net/9)");
    }
    root
}

/// A folder for one test, with a program that asks for this framework's version.
struct Program(PathBuf);

impl Program {
    fn new(name: &str, version: &str, roll_forward: &str) -> Program {
        let folder = std::env::temp_dir().join(format!("saki-host-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let folder = std::fs::canonicalize(folder).expect("a path");
        // The resolver looks for the file alone.
        std::fs::write(folder.join("app.dll"), "").expect("written");
        let configuration = format!(
            r#"{{"runtimeOptions": {{"tfm": "net9.0", "rollForward": "{roll_forward}",
                "framework": {{"name": "Microsoft.NETCore.App", "version": "{version}"}},
                "configProperties": {{"Saki.Threads": "mn", "System.GC.Server": true}}}}}}"#
        );
        std::fs::write(folder.join("app.runtimeconfig.json"), configuration).expect("written");
        Program(folder)
    }

    fn resolve(&self, root: &Path) -> Result<DotnetProgram, ResolveError> {
        self.resolve_with(root, None)
    }

    fn resolve_with(&self, root: &Path, options: Option<&HostOptions>) -> Result<DotnetProgram, ResolveError> {
        let variables = vec![("DOTNET_ROOT", root.to_path_buf())];
        let places = Places { variables, configuration: self.0.join("etc"), usual: Vec::new(), path: Vec::new() };
        resolve(&places, options, &self.0.join("app.dll"), &["one".to_owned(), "--two".to_owned()])
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One test: a process may have one resolver's context open at a time.
#[test]
fn an_installed_resolver_answers() {
    let Some(root) = root() else { return };
    let version = installed::runtimes(&root).pop().expect("a runtime").version;

    let program = Program::new("served", "9.0.0", "Minor");
    let found = program.resolve(&root).expect("served");
    assert_eq!(found.app_path, program.0.join("app.dll"));
    assert_eq!(found.arguments, ["one", "--two"]);
    assert_eq!(found.framework_version, Some(version.clone()));
    assert!(found.framework_folder.join(CORE_LIBRARY).is_file());
    let assemblies = found.property("TRUSTED_PLATFORM_ASSEMBLIES").expect("a list");
    assert!(assemblies.split(':').any(|path| Path::new(path) == found.app_path), "{assemblies}");
    assert_eq!(found.property("Saki.Threads"), Some("mn"));
    assert_eq!(found.property("System.GC.Server"), Some("true"));
    let base = found.property("APP_CONTEXT_BASE_DIRECTORY").map(Path::new);
    assert_eq!(base, Some(&*program.0));
    assert_eq!(found.property("HOST_RUNTIME_CONTRACT"), None, "its functions are gone");

    // An older program rolls forward if its configuration says so, and else learns what is there.
    let older = Program::new("older", "7.0.0", "Major");
    assert_eq!(older.resolve(&root).expect("rolled forward").framework_version, Some(version.clone()));
    let error = Program::new("strict", "7.0.0", "Minor").resolve(&root).unwrap_err();
    let ResolveError::NoFramework { name, version: wanted, present, .. } = &error else { panic!("{error}") };
    assert_eq!(
        (name.as_str(), wanted.as_str(), &present[..]),
        ("Microsoft.NETCore.App", "7.0.0", &[version.clone()][..])
    );
    assert!(error.to_string().contains("DOTNET_ROLL_FORWARD=Major"), "{error}");
    let error = Program::new("newer", "99.0.0", "Minor").resolve(&root).unwrap_err().to_string();
    assert!(error.contains("needs Microsoft.NETCore.App 99.0.0") && !error.contains("ROLL_FORWARD"), "{error}");

    let broken = Program::new("broken", "9.0.0", "Minor");
    std::fs::write(broken.0.join("app.runtimeconfig.json"), "{").expect("written");
    let error = broken.resolve(&root).unwrap_err();
    assert!(matches!(error, ResolveError::Refused { .. }) && !error.to_string().contains('\n'), "{error}");
    eprintln!("{error}");

    // Options of the host, in the words of `dotnet exec`: the last of two counts.
    std::fs::rename(older.0.join("app.runtimeconfig.json"), older.0.join("other.json")).expect("renamed");
    assert!(matches!(older.resolve(&root), Err(ResolveError::NoConfiguration(_))));
    let file = older.0.join("other.json").display().to_string();
    let mut options = HostOptions::default();
    options.add("--runtimeconfig", "/none");
    options.add("--runtimeconfig", &file);
    let found = older.resolve_with(&root, Some(&options)).expect("served");
    assert_eq!(
        (&found.framework_version, &*found.arguments),
        (&Some(version), &["one".to_owned(), "--two".to_owned()][..])
    );
    options.add("--fx-version", "99.0.0");
    let error = older.resolve_with(&root, Some(&options)).unwrap_err().to_string();
    assert!(error.contains("needs Microsoft.NETCore.App 99.0.0"), "{error}");

    // The refusals left nothing behind.
    assert!(program.resolve(&root).is_ok());
}
