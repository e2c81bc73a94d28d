//! Passes three facts to the linker and the program.
//!
//! - The C symbols that libmono-native.so and /etc/mono/config expect from the program are exported to the dynamic
//!   linker. The list equals `saki_interop::host::EXPORTED_SYMBOLS`; `host::keep_exports` keeps them in the link.
//!   `-rdynamic` would do too, but exports everything.
//! - The functions that a start runs are to lie together, in the order of `start-order.txt` (docs/design/command.md).
//!   Names that the list has and the program lacks do no harm. Only LLD knows the option.
//! - SAKI_VERSION is the version with the commit, which comes from SAKI_COMMIT where a packager sets it, from git, or
//!   from `commit.txt`, into which `git archive` writes it. Without any of these it is the version alone. It holds no
//!   time and no path, so that all builds of a commit are equal.

use std::path::{Path, PathBuf};
use std::process::Command;

const SYMBOLS: [&str; 8] = [
    "mono_add_internal_call_with_flags",
    "mono_marshal_set_last_error",
    "mono_threads_enter_gc_safe_region_internal",
    "mono_threads_exit_gc_safe_region_internal",
    "mono_win32_compat_CopyMemory",
    "mono_win32_compat_FillMemory",
    "mono_win32_compat_MoveMemory",
    "mono_win32_compat_ZeroMemory",
];

/// The functions that starts run, in the order of their first calls: `cargo xtask start-order` writes it.
const START_ORDER: &str = "start-order.txt";

/// Digits of the commit that are shown.
const COMMIT_DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=commit.txt");
    println!("cargo::rerun-if-env-changed=SAKI_COMMIT");
    for symbol in SYMBOLS {
        println!("cargo::rustc-link-arg-bins=-Wl,--export-dynamic-symbol={symbol}");
    }
    println!("cargo::rerun-if-changed={START_ORDER}");
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") && is_linked_by_lld() {
        let order = Path::new(START_ORDER).canonicalize().expect("a file of this package");
        println!("cargo::rustc-link-arg-bins=-Wl,--symbol-ordering-file={}", order.display());
        println!("cargo::rustc-link-arg-bins=-Wl,--no-warn-symbol-ordering");
    }
    let version = env!("CARGO_PKG_VERSION");
    let commit = std::env::var("SAKI_COMMIT").ok().or_else(commit_of_git).or_else(commit_of_archive);
    match commit.map(|commit| commit.trim().chars().take(COMMIT_DIGITS).collect::<String>()) {
        Some(commit) if !commit.is_empty() => println!("cargo::rustc-env=SAKI_VERSION={version} ({commit})"),
        _ => println!("cargo::rustc-env=SAKI_VERSION={version}"),
    }
}

/// Whether rustc links with the LLD that comes with it, as it does from 1.90 on for this one target, unless it was built
/// without one, or configured to use another linker.
fn is_linked_by_lld() -> bool {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    const FIRST_VERSION: (u32, u32) = (1, 90);
    let is_configured = std::env::var_os("RUSTC_LINKER").is_some()
        || std::env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("link"));
    if is_configured || std::env::var("TARGET").is_ok_and(|target| target != TARGET) {
        return false;
    }
    let answer = |argument: &[&str]| {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(rustc).args(argument).output().ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    };
    let version = answer(&["--version"]).and_then(|text| {
        let mut numbers = text.split_whitespace().nth(1)?.split('.').map(str::parse::<u32>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    let has_lld = answer(&["--print", "sysroot"]).is_some_and(|sysroot| {
        Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).join("bin/gcc-ld/ld.lld").exists()
    });
    has_lld && version.is_some_and(|version| version >= FIRST_VERSION)
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// HEAD, if the sources are a git checkout of their own and not merely somewhere below one.
fn commit_of_git() -> Option<String> {
    let workspace = Path::new("../..").canonicalize().ok()?;
    if PathBuf::from(git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()? != workspace {
        return None;
    }
    // HEAD says which branch is checked out, the other files which commit that is; its log grows with every commit.
    let branch = git(&["symbolic-ref", "-q", "HEAD"]);
    for name in ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        if let Some(path) = git(&["rev-parse", "--git-path", name]).filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "HEAD"])
}

/// The commit that `git archive` wrote in place of `$Format:%H$`.
fn commit_of_archive() -> Option<String> {
    std::fs::read_to_string("commit.txt").ok().filter(|text| !text.starts_with('$'))
}
