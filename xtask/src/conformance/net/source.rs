//! Mono's source package, which the suites for .NET are compiled from.
//!
//! `MONO_SOURCE` names an unpacked tree; otherwise Debian's package is fetched once, into `target/mono-source`, with
//! package lists of its own: the system's settings, which seldom name sources, stay as they are, and no root is needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where a system's entries for apt lie.
const ENTRIES: [&str; 2] = ["/etc/apt/sources.list", "/etc/apt/sources.list.d"];

/// The tree's root. Errors: it is not there and cannot be fetched.
pub fn find_or_fetch(root: &Path) -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("MONO_SOURCE") {
        return Ok(PathBuf::from(path));
    }
    let folder = root.join("target/mono-source");
    if let Some(tree) = unpacked(&folder) {
        return Ok(tree);
    }
    fetch(&folder)?;
    unpacked(&folder).ok_or_else(|| format!("apt-get source mono left no tree in {}", folder.display()))
}

fn unpacked(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    entries.flatten().map(|entry| entry.path()).find(|path| path.join("mono/mini").is_dir())
}

fn fetch(folder: &Path) -> Result<(), String> {
    let (entries, lists) = (folder.join("entries"), folder.join("lists"));
    for path in [&entries, &lists.join("partial")] {
        fs::create_dir_all(path).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    copy_entries(&entries)?;
    let settings = [
        "Dir::Etc::SourceList=/dev/null".to_owned(),
        format!("Dir::Etc::SourceParts={}", entries.display()),
        format!("Dir::State::Lists={}", lists.display()),
        // A package that is unpacked by another user than root is checked, too.
        "APT::Sandbox::User=".to_owned(),
    ];
    for words in [&["update"][..], &["source", "mono"]] {
        eprintln!("apt-get {}", words.join(" "));
        let mut command = Command::new("apt-get");
        command.arg("-qq").current_dir(folder);
        for setting in &settings {
            command.args(["-o", setting]);
        }
        let done = command.args(words).output().map_err(|e| format!("cannot start apt-get: {e}"))?;
        if !done.status.success() {
            let report = String::from_utf8_lossy(&done.stderr);
            return Err(format!("apt-get {}: {}\n{}", words.join(" "), done.status, report.trim_end()));
        }
    }
    Ok(())
}

/// Copies the system's entries for packages to `folder`, as entries for their sources.
fn copy_entries(folder: &Path) -> Result<(), String> {
    let mut files = Vec::new();
    for place in ENTRIES.map(Path::new) {
        match fs::read_dir(place) {
            Ok(entries) => files.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) if place.is_file() => files.push(place.to_path_buf()),
            // A system has one or the other.
            Err(_) => {}
        }
    }
    for file in files {
        let Some(name) = file.file_name() else { continue };
        let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let copy = folder.join(name);
        fs::write(&copy, as_sources(&text)).map_err(|e| format!("{}: {e}", copy.display()))?;
    }
    Ok(())
}

/// Both forms: `deb ARCHIVE ...` lines, and paragraphs with `Types: deb`.
fn as_sources(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#')).map(|line| {
        if line.starts_with("Types:") {
            "Types: deb-src".to_owned()
        } else {
            line.strip_prefix("deb ").map_or(line.to_owned(), |rest| format!("deb-src {rest}"))
        }
    });
    lines.map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_both_forms_become_entries_for_sources() {
        assert_eq!(as_sources("# deb x\ndeb [a=b] http://x y main\n"), "deb-src [a=b] http://x y main\n");
        assert_eq!(as_sources("Types: deb\nURIs: u\n"), "Types: deb-src\nURIs: u\n");
    }
}
