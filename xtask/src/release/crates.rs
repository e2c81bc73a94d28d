//! The crates of Cargo.lock and cargo's settings, from this machine to a chroot.
//!
//! Crates are fetched here, with this machine's settings, and copied as they were downloaded, so that cargo in the
//! chroot need not reach a registry. It may still have to (a newer cargo that reads another form of the index): so it
//! gets the sections of the configuration that say where crates come from. Left out: sections that choose compilers,
//! flags or folders, and tokens.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Sections of cargo's configuration that say where crates come from.
const SECTIONS: [&str; 5] = ["source", "registry", "registries", "http", "net"];

/// Keys of these sections that are left out: they are secrets or programs.
const LEFT_OUT: [&str; 5] =
    ["token", "secret-key", "secret-key-subject", "credential-provider", "global-credential-providers"];

/// cargo's home in the chroot.
const HOME: &str = "root/.cargo";

/// Copies what is missing in `chroot`. Errors: files that cannot be read or written.
pub fn hand_over(checkout: &Path, chroot: &Path) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut fetch = Command::new(cargo);
    fetch.args(["fetch", "--quiet", "--locked"]).current_dir(checkout).stdin(Stdio::null());
    if !fetch.status().is_ok_and(|status| status.success()) {
        println!("not all crates can be fetched here; cargo in the chroot will try");
    }
    let own_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let own_home = own_home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    if let Some(own_home) = own_home {
        let lock = fs::read_to_string(checkout.join("Cargo.lock")).map_err(|e| format!("Cargo.lock: {e}"))?;
        let wanted = wanted_files(&lock);
        for folder in ["registry/cache", "registry/index"] {
            let (from, to) = (own_home.join(folder), chroot.join(HOME).join(folder));
            copy_missing(&from, &to, &wanted).map_err(|e| format!("{}: {e}", from.display()))?;
        }
        hand_over_settings(&own_home, &chroot.join(HOME))?;
    }
    // cargo reads the configuration of the folders above, too. The checkout's own is in the checkout.
    for folder in checkout.ancestors().skip(1) {
        let below = folder.strip_prefix("/").unwrap_or(folder);
        hand_over_settings(&folder.join(".cargo"), &chroot.join(below).join(".cargo"))?;
    }
    Ok(())
}

/// Copies the sections of the configuration in `from` to `to`; if there are none, `to` has none.
fn hand_over_settings(from: &Path, to: &Path) -> Result<(), String> {
    // The older name comes first, as in cargo.
    let text = ["config", "config.toml"].into_iter().find_map(|name| fs::read_to_string(from.join(name)).ok());
    let kept = settings(&text.unwrap_or_default());
    let path = to.join("config.toml");
    if kept.is_empty() {
        // Mostly absent.
        let _ = fs::remove_file(&path);
        return Ok(());
    }
    fs::create_dir_all(to).and_then(|()| fs::write(&path, kept)).map_err(|e| format!("{}: {e}", path.display()))
}

/// What of a configuration says where crates come from.
fn settings(text: &str) -> String {
    let mut is_kept = true;
    let mut is_at_top = true;
    let mut kept = String::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(header) = trimmed.strip_prefix('[') {
            is_kept = is_section(header);
            is_at_top = false;
        }
        let key = trimmed.split('=').next().unwrap_or_default().trim();
        // A dotted key outside sections: `http.proxy = ...`.
        let is_wanted = if is_at_top { is_section(key) } else { is_kept };
        let last = key.rsplit('.').next().unwrap_or_default();
        if is_wanted && !LEFT_OUT.contains(&last) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn is_section(name: &str) -> bool {
    let first = name.split(['.', ']']).next().unwrap_or_default();
    SECTIONS.contains(&first.trim())
}

/// Names of files that belong to the crates of a lock file: in the cache `NAME-VERSION.crate`, in the index `NAME`.
fn wanted_files(lock: &str) -> BTreeSet<String> {
    let mut wanted = BTreeSet::from(["config.json".to_owned()]);
    let mut name = "";
    for line in lock.lines() {
        let value = |key: &str| line.strip_prefix(key)?.strip_suffix('"');
        if let Some(text) = value("name = \"") {
            name = text;
            wanted.insert(name.to_lowercase());
        } else if let Some(version) = value("version = \"") {
            wanted.insert(format!("{name}-{version}.crate"));
        }
    }
    wanted
}

/// Copies the wanted files below `from` that `to` lacks or has older, with their times.
fn copy_missing(from: &Path, to: &Path, wanted: &BTreeSet<String>) -> std::io::Result<()> {
    // No crate was ever downloaded, or this folder is none.
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        let metadata = fs::metadata(&path)?;
        if metadata.is_dir() {
            copy_missing(&path, &copy, wanted)?;
            continue;
        }
        let modified = metadata.modified()?;
        let is_there = fs::metadata(&copy).and_then(|m| m.modified()).is_ok_and(|time| time >= modified);
        if wanted.contains(&*entry.file_name().to_string_lossy()) && !is_there {
            fs::create_dir_all(to)?;
            fs::copy(&path, &copy)?;
            fs::File::options().write(true).open(&copy)?.set_modified(modified)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_where_crates_come_from() {
        let text = "http.proxy = \"p\"\nbuild.jobs = 1\n[build]\ntarget-dir = \"x\"\n[source.crates-io]\nreplace-with = \"m\"\n\
                    [registries.m]\nindex = \"i\"\ntoken = \"secret\"\n[target.x86_64-unknown-linux-gnu]\nlinker = \"l\"\n[net]\nretry = 3\n";
        let expected = "http.proxy = \"p\"\n[source.crates-io]\nreplace-with = \"m\"\n[registries.m]\nindex = \"i\"\n[net]\nretry = 3\n";
        assert_eq!(settings(text), expected);
        assert_eq!(settings("[networks]\na = 1\n[alias]\nx = \"run\"\nregistries.m.token = 1\n"), "");
    }

    #[test]
    fn files_of_the_crates_in_a_lock_file() {
        let lock = "[[package]]\nname = \"Inflector\"\nversion = \"0.11.4\"\nsource = \"registry\"\n";
        let wanted: Vec<String> = wanted_files(lock).into_iter().collect();
        assert_eq!(wanted, ["Inflector-0.11.4.crate", "config.json", "inflector"]);
    }
}
