//! The runtimes of the comparison, and how each is called.
//!
//! Saki must be there; Mono is taken from the PATH and CoreCLR from `$DOTNET` or the PATH when present.
//! CoreCLR gets a runtime configuration that accepts any framework from 3.1 on and turns culture data
//! off (an ICU library need not be installed), with its default tiering: what a user gets.

use std::fs;
use std::path::Path;
use std::process::Command;

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
