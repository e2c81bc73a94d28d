//! Cache folders and files that other users could have written, or that are not regular files, are not used, and `saki
//! doctor` says why.
//!
//! Tests that need a second user run as root only; elsewhere they say so and pass.

use super::support::output_of_written;
use super::{FEW, Run, Setup};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const HELLO: &str = "class Program { static void Main() { System.Console.WriteLine(\"hello\"); } }";
/// "nobody": owns nothing.
const OTHER_USER: u32 = 65534;
/// A hang is a failure, not a test that never ends.
const SECONDS_AT_MOST: &str = "300";

/// Saki with these variables and no other of its own.
fn saki(arguments: &[&str], folder: &Path, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new("timeout");
    command.arg(SECONDS_AT_MOST).arg(env!("CARGO_BIN_EXE_saki")).args(arguments).current_dir(folder);
    command.env_remove("SAKI_NO_CACHE").env_remove("XDG_CACHE_HOME").env_remove("HOME");
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Setup {
    fn cache(&self) -> PathBuf {
        self.folder.join("cache/saki")
    }

    fn run_in_time(&self) -> Run {
        let base = self.folder.join("cache");
        let program = self.program.display().to_string();
        let variables = [("XDG_CACHE_HOME", base.to_str().expect("a text"))];
        let run = Run::of(saki(&["--stats", &program], &self.folder, &variables).output().expect("saki runs"));
        assert_eq!(run.output, "hello\n");
        run
    }

    fn doctor(&self) -> String {
        let base = self.folder.join("cache");
        let variables = [("XDG_CACHE_HOME", base.to_str().expect("a text"))];
        let done: Output = saki(&["doctor"], &self.folder, &variables).output().expect("saki runs");
        text(&done.stdout)
    }

    /// A cache that is used, of folders and files that only their owner may write.
    fn filled(name: &str) -> Option<Setup> {
        let setup = Setup::of(name, HELLO)?;
        setup.run_in_time();
        assert!(setup.run_in_time().found > 50);
        let mode = |path: &Path| std::fs::metadata(path).expect("a file of the cache").mode() & 0o777;
        assert_eq!(mode(&setup.cache()), 0o700);
        for file in setup.files() {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
        assert!(!setup.doctor().contains("not used"), "{}", setup.doctor());
        Some(setup)
    }

    /// Nothing is found, and the doctor names the path with this reason.
    fn check_refused(&self, path: &Path, reason: &str) {
        let doctor = self.doctor();
        let is_named = |line: &str| {
            line.contains("not used") && line.contains(path.to_str().expect("a text")) && line.contains(reason)
        };
        assert!(doctor.lines().any(is_named), "no '{reason}' about {} in\n{doctor}", path.display());
        assert_eq!(self.run_in_time().found, 0, "{}", path.display());
    }
}

fn is_root() -> bool {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|status| status.uid() == 0);
    if !is_root {
        eprintln!("skipped: needs root");
    }
    is_root
}

#[test]
fn folders_that_others_may_write_to_are_not_used() {
    let Some(setup) = Setup::filled("open-folders") else { return };
    let build = setup.file_of("mscorlib").parent().expect("a folder").to_path_buf();
    for folder in [setup.cache(), build] {
        for mode in [0o777, 0o720] {
            std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode)).expect("a mode");
            setup.check_refused(&folder, "lets other users write");
        }
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).expect("a mode");
        assert!(setup.run_in_time().found > 50);
    }
}

#[test]
fn files_that_others_may_write_to_are_not_used() {
    let Some(setup) = Setup::filled("open-files") else { return };
    for file in setup.files() {
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).expect("a mode");
    }
    setup.check_refused(&setup.file_of("mscorlib"), "mode 0666 lets other users write");
    // Newly compiled bodies took their place.
    assert!(setup.run_in_time().compiled <= FEW);
}

#[test]
fn what_another_user_owns_is_not_used() {
    if !is_root() {
        return;
    }
    let Some(setup) = Setup::filled("foreign") else { return };
    let build = setup.file_of("mscorlib").parent().expect("a folder").to_path_buf();
    for folder in [setup.cache(), build, setup.folder.join("cache")] {
        chown(&folder, Some(OTHER_USER), None).expect("an owner");
        setup.check_refused(&folder, "owned by user 65534, not by root");
        chown(&folder, Some(0), None).expect("an owner");
        assert!(setup.run_in_time().found > 50);
    }
    for file in setup.files() {
        chown(&file, Some(OTHER_USER), None).expect("an owner");
    }
    setup.check_refused(&setup.file_of("mscorlib"), "owned by user 65534, not by root");
    assert!(setup.run_in_time().found > 50);
    // Root makes nothing in the folders of others.
    std::fs::remove_dir_all(setup.cache()).expect("a folder");
    chown(setup.folder.join("cache"), Some(OTHER_USER), None).expect("an owner");
    setup.run_in_time();
    assert!(!setup.cache().exists());
    assert!(setup.doctor().contains("not written"), "{}", setup.doctor());
}

#[test]
fn fifos_and_links_in_place_of_files() {
    let Some(setup) = Setup::filled("fifos") else { return };
    let victim = setup.folder.join("victim");
    for is_fifo in [true, false] {
        for file in setup.files() {
            let copy = setup.folder.join("copy");
            std::fs::rename(&file, &copy).expect("a file");
            if is_fifo {
                assert!(Command::new("mkfifo").arg(&file).status().expect("mkfifo runs").success());
            } else {
                // The link leads to good code; even so it is not followed.
                std::fs::rename(&copy, &victim).expect("a file");
                symlink(&victim, &file).expect("a link");
            }
        }
        let before = std::fs::read(&victim).unwrap_or_default();
        setup.check_refused(&setup.file_of("mscorlib"), "not a regular file");
        assert_eq!(std::fs::read(&victim).unwrap_or_default(), before, "a link was written through");
        assert!(setup.files().iter().all(|file| std::fs::symlink_metadata(file).expect("a file").is_file()));
        assert!(setup.run_in_time().compiled <= FEW);
    }
}

#[test]
fn a_linked_cache_is_neither_used_nor_cleared() {
    let Some(setup) = Setup::filled("linked") else { return };
    let elsewhere = setup.folder.join("elsewhere");
    std::fs::rename(setup.cache(), &elsewhere).expect("a folder");
    symlink(&elsewhere, setup.cache()).expect("a link");
    setup.check_refused(&setup.cache(), "not a folder");
    let base = setup.folder.join("cache");
    let clear = saki(&["cache", "clear"], &setup.folder, &[("XDG_CACHE_HOME", base.to_str().expect("a text"))]);
    let done = { clear }.output().expect("saki runs");
    assert!(!done.status.success() && elsewhere.read_dir().expect("a folder").count() > 0, "{}", text(&done.stderr));
}

/// Relative paths are ignored, as the XDG Base Directory Specification has it.
#[test]
fn only_absolute_paths_name_a_cache() {
    let Some(setup) = Setup::of("relative", HELLO) else { return };
    let program = setup.program.display().to_string();
    for variables in [[("XDG_CACHE_HOME", "cache"), ("HOME", "home")], [("XDG_CACHE_HOME", ""), ("HOME", "")]] {
        let run = Run::of(saki(&["--stats", &program], &setup.folder, &variables).output().expect("saki runs"));
        assert_eq!((run.output.as_str(), run.found), ("hello\n", 0));
        assert!(!setup.folder.join("cache").exists() && !setup.folder.join("home").exists());
        let doctor = saki(&["doctor"], &setup.folder, &variables).output().expect("saki runs");
        assert!(text(&doctor.stdout).contains("neither XDG_CACHE_HOME nor HOME is an absolute path"));
    }
    let home = setup.folder.join("home");
    let variables = [("XDG_CACHE_HOME", "cache"), ("HOME", home.to_str().expect("a text"))];
    Run::of(saki(&["--stats", &program], &setup.folder, &variables).output().expect("saki runs"));
    assert!(home.join(".cache/saki").is_dir());
}

#[test]
fn executables_that_others_could_exchange_are_compiled_anew() {
    let Some(setup) = Setup::of("run-trust", HELLO) else { return };
    let base = setup.folder.join("cache");
    let source = |text: &str| std::fs::write(setup.folder.join("main.cs"), text).expect("a source");
    let run = || {
        let mut command =
            saki(&["run", "main.cs"], &setup.folder, &[("XDG_CACHE_HOME", base.to_str().expect("a text"))]);
        let done = command.output().expect("saki runs");
        assert!(done.status.success(), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    let main =
        |word: &str| format!("class Program {{ static void Main() {{ System.Console.WriteLine(\"{word}\"); }} }}");
    source(&main("planted"));
    assert_eq!(run(), "planted\n");
    let kept = || std::fs::read_dir(setup.cache().join("run")).expect("executables").flatten().map(|e| e.path());
    let planted = kept().next().expect("an executable").join("main.exe");
    let bad = std::fs::read(&planted).expect("an executable");
    source(&main("good"));
    assert_eq!(run(), "good\n");
    let good = kept().map(|folder| folder.join("main.exe")).find(|path| *path != planted).expect("two executables");
    // Where nobody else may write, what is kept is believed.
    std::fs::write(&good, &bad).expect("an executable");
    assert_eq!(run(), "planted\n");
    for open in [
        good.clone(),
        good.parent().expect("a folder").to_path_buf(),
        setup.cache().join("run"),
        setup.cache(),
        base.clone(),
    ] {
        std::fs::write(&good, &bad).expect("an executable");
        let mode = std::fs::metadata(&open).expect("a mode").permissions();
        std::fs::set_permissions(&open, PermissionsExt::from_mode(mode.mode() | 0o022)).expect("a mode");
        assert_eq!(run(), "good\n", "{}", open.display());
        if open.exists() {
            std::fs::set_permissions(&open, mode).expect("a mode");
        }
    }
    assert_eq!(run(), "planted\n", "the last one only changed the folder's mode");
}

/// A set-user-id process gets its environment from a user with fewer rights.
#[test]
fn an_elevated_process_ignores_the_environment() {
    if !is_root() {
        return;
    }
    let Some(setup) = Setup::filled("elevated") else { return };
    let elevated = setup.folder.join("elevated-saki");
    std::fs::copy(env!("CARGO_BIN_EXE_saki"), &elevated).expect("a copy of saki");
    std::fs::set_permissions(&elevated, PermissionsExt::from_mode(0o4755)).expect("a mode");
    let base = setup.folder.join("cache");
    let run = |executable: &Path, arguments: &[&str]| {
        let mut command = Command::new(executable);
        command
            .args(arguments)
            .env("XDG_CACHE_HOME", &base)
            .env("SAKI_GC_STRESS", "nonsense")
            .env("SAKI_PERF", "nonsense");
        command.env_remove("SAKI_NO_CACHE").env("MONO_PATH", &setup.folder).stdin(Stdio::null());
        output_of_written(command.uid(OTHER_USER).gid(OTHER_USER).current_dir("/")).expect("saki runs")
    };
    let doctor = text(&run(&elevated, &["doctor"]).stdout);
    let options = Command::new("findmnt").args(["-no", "OPTIONS", "-T"]).arg(&setup.folder).output();
    if options.is_ok_and(|done| text(&done.stdout).contains("nosuid")) {
        eprintln!("skipped: set-user-id has no effect here");
        return;
    }
    assert!(doctor.contains("more rights than its starter"), "{doctor}");
    let program = setup.program.display().to_string();
    let done = run(&elevated, &["--stats", &program]);
    let outcome = Run::of(done);
    assert_eq!((outcome.output.as_str(), outcome.found, outcome.kept), ("hello\n", 0, 0));
    // The same without the bit: the variables count.
    std::fs::set_permissions(&elevated, PermissionsExt::from_mode(0o755)).expect("a mode");
    let done = run(&elevated, &[&program]);
    assert!(text(&done.stderr).contains("nonsense"), "{}", text(&done.stderr));
}
