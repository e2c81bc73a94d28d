//! What `./x install` puts below a prefix, and that `./x uninstall` leaves what was there before. Needs binutils.

mod support;

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Outcome, folder, run};

fn script() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/install"))
}

fn install(prefix: &Path, link_folder: Option<&Path>) -> Outcome {
    run(script().arg("--without-cache").arg(env!("CARGO_BIN_EXE_saki")).arg(prefix).args(link_folder))
}

fn uninstall(prefix: &Path) -> Outcome {
    run(script().arg("--remove").arg(prefix))
}

/// Folders, files and links below a folder.
fn listed(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(listed(&entry.path()));
        }
        found.insert(entry.path());
    }
    found
}

fn has_tools() -> bool {
    let has_strip = Command::new("strip").arg("--version").output().is_ok();
    if !has_strip {
        eprintln!("skipped: no strip");
    }
    has_strip
}

fn touch(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "").unwrap();
}

#[test]
fn uninstalling_leaves_what_was_there_before() {
    if !has_tools() {
        return;
    }
    let place = folder("installation");
    let (prefix, links) = (place.join("usr"), place.join("links"));
    for other in ["bin/other", "share/man/man1/other.1", "share/fish/vendor_completions.d/other.fish"] {
        touch(&prefix.join(other));
    }
    std::fs::create_dir_all(&links).unwrap();
    let before = listed(&place);

    assert_eq!(install(&prefix, Some(&links)).exit_code, Some(0));
    let version = run(Command::new(links.join("mono")).arg("--version"));
    assert!(version.stdout.contains("Saki"), "{version:?}");
    for file in ["share/man/man1/saki-run.1", "share/zsh/site-functions/_saki", "share/saki/installed"] {
        assert!(prefix.join(file).is_file(), "{file}");
    }
    // Installed again, without the link, which stays; and with a page that the next version no longer has.
    touch(&prefix.join("share/man/man1/saki-gone.1"));
    let record = prefix.join("share/saki/installed");
    let recorded = std::fs::read_to_string(&record).unwrap() + "file share/man/man1/saki-gone.1\n";
    std::fs::write(&record, recorded).unwrap();
    touch(&prefix.join("lib/saki/0123/mscorlib.saki-code"));
    assert_eq!(install(&prefix, None).exit_code, Some(0));
    assert!(!prefix.join("share/man/man1/saki-gone.1").exists());
    assert!(links.join("mono").exists());

    touch(&prefix.join("lib/saki/0123/mscorlib.saki-code"));
    let done = uninstall(&prefix);
    assert_eq!(done.exit_code, Some(0), "{}", done.stderr);
    assert_eq!(listed(&place), before);
    assert_eq!(uninstall(&prefix).exit_code, Some(1), "there is nothing left to remove");
}

/// A file in the link's place is somebody's Mono; a link that leads elsewhere by now is somebody's, too.
#[test]
fn a_mono_that_is_not_a_link_to_this_saki_stays() {
    if !has_tools() {
        return;
    }
    let place = folder("installation-mono");
    let (prefix, links) = (place.join("usr"), place.join("links"));
    touch(&links.join("mono"));
    assert_eq!(install(&prefix, Some(&links)).exit_code, Some(1));
    assert!(!links.join("mono").is_symlink() && !prefix.join("bin/saki").exists());

    std::fs::remove_file(links.join("mono")).unwrap();
    assert_eq!(install(&prefix, Some(&links)).exit_code, Some(0));
    std::fs::remove_file(links.join("mono")).unwrap();
    symlink("/somewhere/mono", links.join("mono")).unwrap();
    assert_eq!(uninstall(&prefix).exit_code, Some(0));
    assert!(links.join("mono").is_symlink());
}

/// gdb finds the functions by which a runtime tells of its code only while their names are there.
#[test]
fn names_survive_installation() {
    let has_nm = Command::new("nm").arg("--version").output().is_ok();
    if !has_tools() || !has_nm {
        return;
    }
    let prefix = folder("installation-names");
    assert_eq!(install(&prefix, None).exit_code, Some(0));
    let names = run(Command::new("nm").arg(prefix.join("bin/saki"))).stdout;
    for name in ["__jit_debug_register_code", "__jit_debug_descriptor", "saki_enter", " main\n"] {
        assert!(names.contains(name), "{name}");
    }
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    assert!(size(&prefix.join("bin/saki")) < size(Path::new(env!("CARGO_BIN_EXE_saki"))));
}
