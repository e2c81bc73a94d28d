//! What all tools have: an outcome, the repository they work in, and the runtime that they are told to try.

use std::path::{Path, PathBuf};

/// Result of a tool: `Ok(true)` when every check passed, `Err` when the tool itself could not run.
pub type Outcome = Result<bool, String>;

/// The workspace root: the parent of this crate's folder.
pub fn repository_root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// Splits a runtime command at white space: `--saki "mono --debug"` means the program `mono` with one argument.
/// A relative program path with a `/` in it becomes absolute, because programs run in folders of their own.
/// Errors: an empty command.
pub fn runtime_command(root: &Path, command: Option<&str>) -> Result<Vec<String>, String> {
    let Some(command) = command else {
        return Ok(vec![root.join("target/release/saki").display().to_string()]);
    };
    let mut words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let Some(program) = words.first_mut() else {
        return Err("the runtime command is empty".to_owned());
    };
    if program.contains('/') {
        let absolute = std::path::absolute(&*program).map_err(|e| format!("{program}: {e}"))?;
        *program = absolute.display().to_string();
    }
    Ok(words)
}
