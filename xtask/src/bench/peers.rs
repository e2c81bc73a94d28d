//! The runtimes of the comparison, and how each is called.
//!
//! Saki must be there; Mono is taken from the PATH and CoreCLR from `$DOTNET` or the PATH when present. CoreCLR gets a
//! runtime configuration that accepts any framework from 3.1 on and turns culture data off (an ICU library need not be
//! installed), with its default tiering: what a user gets. .NET 9 is the `dotnet` that `$DOTNET9` names, Go `$GO` or
//! the PATH's, Java the first of `$JAVA_HOME`, the PATH and the machine's JDKs that has virtual threads.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Virtual threads that wait in a monitor without their carrier came with this one.
const MIN_JAVA: u32 = 24;

/// A runtime that is measured: how it is called and what it says of itself.
#[derive(Clone)]
pub struct Runtime {
    pub name: &'static str,
    /// First line of the runtime's own version text.
    pub version: String,
    pub argv: Vec<String>,
    pub environment: Vec<(String, String)>,
}

const CORECLR_CONFIGURATION: &str = r#"{"runtimeOptions":{"tfm":"netcoreapp3.1","rollForward":"LatestMajor",
"framework":{"name":"Microsoft.NETCore.App","version":"3.1.0"}}}"#;

/// The runtimes found on this machine, Saki first. Errors: Saki does not start.
pub fn available(saki: Vec<String>, output: &Path) -> Result<Vec<Runtime>, String> {
    let version = version(&saki, "--version").ok_or_else(|| format!("{} does not start", saki.join(" ")))?;
    let mut found = vec![Runtime { name: "saki", version, argv: saki, environment: Vec::new() }];
    let mono = vec!["mono".to_owned()];
    if let Some(version) = self::version(&mono, "--version") {
        found.push(Runtime { name: "mono", version, argv: mono, environment: Vec::new() });
    }
    let dotnet = std::env::var("DOTNET").unwrap_or_else(|_| "dotnet".to_owned());
    if let Some(version) = self::version(std::slice::from_ref(&dotnet), "--version") {
        found.push(coreclr("coreclr", version, dotnet, output)?);
    }
    Ok(found)
}

/// A CoreCLR by its `dotnet`. Errors: its configuration cannot be written to `output`.
pub fn coreclr(name: &'static str, version: String, dotnet: String, output: &Path) -> Result<Runtime, String> {
    let configuration = output.join("coreclr.runtimeconfig.json");
    fs::write(&configuration, CORECLR_CONFIGURATION).map_err(|e| format!("{}: {e}", configuration.display()))?;
    let path = configuration.display().to_string();
    Ok(Runtime {
        name,
        version,
        argv: vec![dotnet, "exec".to_owned(), "--runtimeconfig".to_owned(), path],
        environment: vec![
            ("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT".to_owned(), "1".to_owned()),
            ("COMPlus_EnableDiagnostics".to_owned(), "0".to_owned()),
        ],
    })
}

/// The first line that the command prints when it is asked for its version.
pub fn version(command: &[String], option: &str) -> Option<String> {
    let (program, arguments) = command.split_first()?;
    let done = Command::new(program)
        .args(arguments)
        .arg(option)
        .env("DOTNET_CLI_TELEMETRY_OPTOUT", "1")
        .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    if done.status.success() { Some(text.lines().next().unwrap_or("").to_owned()) } else { None }
}

/// The .NET 9 that `$DOTNET9` names. Errors: its configuration cannot be written to `output`.
pub fn net9(name: &'static str, output: &Path) -> Result<Option<Runtime>, String> {
    let Ok(dotnet) = std::env::var("DOTNET9") else { return Ok(None) };
    let listed = version(std::slice::from_ref(&dotnet), "--list-runtimes").unwrap_or_default();
    // "Microsoft.NETCore.App 9.0.1 [FOLDER]"
    let listed = listed.split(" [").next().unwrap_or_default().to_owned();
    let mut runtime = coreclr(name, listed, dotnet, output)?;
    runtime.environment.push(("DOTNET_ROLL_FORWARD".to_owned(), "LatestMajor".to_owned()));
    Ok(Some(runtime))
}

/// The command of Go, and its version.
pub fn find_go() -> Option<(String, String)> {
    let go = std::env::var("GO").unwrap_or_else(|_| "go".to_owned());
    let version = version(std::slice::from_ref(&go), "version")?;
    Some((go, version))
}

/// Compiles the C# files of a folder to one program, with mcs and further options.
pub fn compile_folder(sources: &Path, executable: &Path, options: &[&str]) -> Result<(), String> {
    let mut files: Vec<PathBuf> = fs::read_dir(sources)
        .map_err(|e| format!("{}: {e}", sources.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "cs"))
        .collect();
    files.sort();
    run(Command::new("mcs")
        .args(["-nologo", "-optimize+", "-debug-"])
        .args(options)
        .arg(format!("-out:{}", executable.display()))
        .args(files))
}

/// Errors: the command does not start, or fails: what it printed.
pub fn run(command: &mut Command) -> Result<(), String> {
    let done = command.output().map_err(|e| format!("cannot start {:?}: {e}", command.get_program()))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}:\n{}", String::from_utf8_lossy(&[done.stdout, done.stderr].concat())))
}

/// The folder with `java` and `javac`, and the version.
pub fn find_java() -> Option<(PathBuf, String)> {
    let mut folders: Vec<PathBuf> =
        std::env::var("JAVA_HOME").map(|home| Path::new(&home).join("bin")).into_iter().collect();
    if let Ok(path) = std::env::var("PATH") {
        folders.extend(std::env::split_paths(&path));
    }
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    folders.extend(installed.map(|entry| entry.path().join("bin")));
    folders.into_iter().filter(|folder| folder.join("javac").exists()).find_map(|folder| {
        let version = version(&[folder.join("java").display().to_string()], "--version")?;
        (java_number(&version)? >= MIN_JAVA).then_some((folder, version))
    })
}

/// "openjdk 25.0.1 2025-10-21 LTS" is 25.
fn java_number(version: &str) -> Option<u32> {
    version.split_whitespace().nth(1)?.split(['.', '-', '+']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_java_is_known_by_its_number() {
        assert_eq!(java_number("openjdk 25.0.1 2025-10-21 LTS"), Some(25));
        assert_eq!(java_number("openjdk 25-ea"), Some(25));
        assert_eq!(java_number("java"), None);
    }
}
