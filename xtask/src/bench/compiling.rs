//! Compiling the programs of bench/ with mcs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles bench/PROGRAM.cs when the executable is older than the source.
pub(super) fn compile(root: &Path, program: &str, output: &Path) -> Result<PathBuf, String> {
    let source = root.join(format!("bench/{program}.cs"));
    let executable = output.join(format!("{program}.exe"));
    compile_file(&source, &executable, &["-r:System.Core".to_owned()])?;
    Ok(executable)
}

/// Compiles a source with further arguments when the executable is older.
pub(super) fn compile_file(source: &Path, executable: &Path, arguments: &[String]) -> Result<(), String> {
    let modified = |path: &Path| fs::metadata(path).and_then(|m| m.modified());
    if let (Ok(built), Ok(written)) = (modified(executable), modified(source))
        && built > written
    {
        return Ok(());
    }
    let done = Command::new("mcs")
        .args(["-nologo", "-optimize+", "-debug-", "-unsafe"])
        .args(arguments)
        .arg(format!("-out:{}", executable.display()))
        .arg(source)
        .output()
        .map_err(|e| format!("cannot start mcs: {e}"))?;
    if done.status.success() {
        Ok(())
    } else {
        let messages = [done.stdout, done.stderr].concat();
        Err(format!("{}:\n{}", source.display(), String::from_utf8_lossy(&messages)))
    }
}
