//! A chroot of one Debian release in `target/debian/NAME`: made by `mmdebstrap`, kept from run to run, entered by
//! `enter.sh`.
//!
//! The folder holds `root`, the system; `target`, the checkout's build folder there; `made`, from what `root` was made;
//! and two empty files whose times matter: `updated`, when the lists of packages were, and `succeeded`, when a command
//! was. The lock beside it is held as long as a `Chroot` lives. Invariant: `root` is complete: it is made under another
//! name and renamed. An installation that was killed in it is completed before the next command.

use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::Stop;
use super::host::Host;
use super::isolation::Rights;

/// After that many days a chroot is made anew. Security updates come every few days; what a new machine gets should be
/// what is tested.
const MAX_AGE: Duration = Duration::from_secs(7 * DAY_SECONDS);
/// After that long the lists of packages are fetched again.
const MAX_AGE_OF_LISTS: Duration = Duration::from_secs(DAY_SECONDS);
const DAY_SECONDS: u64 = 24 * 60 * 60;

/// Where mmdebstrap writes apt's settings, and we after it.
const APT_SETTINGS: &str = "etc/apt/apt.conf.d/99mmdebstrap";

/// What apt prints when it cannot reach packages.
const UNREACHABLE: [&str; 3] = ["Failed to fetch", "Temporary failure resolving", "Could not resolve"];

/// Completes what a killed apt or dpkg left half done.
const REPAIR: &str = "[ -z \"$(dpkg --audit)\" ] || { dpkg --configure -a && apt-get install --fix-broken -y -q; }";

/// In a user namespace mmdebstrap cannot make device nodes, nor mount a `devpts` whose group is not root. So it finds a
/// `dev` with what packages need.
const DEVICES: &str = "mkdir -p \"$0/dev\" && mount -t tmpfs tmpfs \"$0/dev\" && \
                       for name in null zero full random urandom tty; do \
                       : >\"$0/dev/$name\" && mount --bind \"/dev/$name\" \"$0/dev/$name\" || exit; done && exec \"$@\"";

/// From the checkout.
const SCRIPT: &str = "xtask/src/release/enter.sh";

/// A chroot of a release of Debian, locked for this run.
pub struct Chroot {
    name: String,
    folder: PathBuf,
    checkout: PathBuf,
    rights: Rights,
    /// Open, and thereby locked.
    _lock: File,
}

impl Chroot {
    /// Waits until no other process has the chroot. Errors: its folder cannot be made.
    pub fn lock(checkout: &Path, name: &str, rights: Rights) -> Result<Chroot, String> {
        let folder = checkout.join("target/debian").join(name);
        fs::create_dir_all(folder.join("target")).map_err(|e| format!("{}: {e}", folder.display()))?;
        let path = folder.with_extension("lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(|e| format!("{}: {e}", path.display()))?;
        let locked = match lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                println!("{name}: waiting for another run there to end");
                lock.lock()
            }
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        };
        locked.map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Chroot { name: name.to_owned(), folder, checkout: checkout.to_path_buf(), rights, _lock: lock })
    }

    /// The folder that is the root inside.
    pub fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// The folder for what is built inside.
    pub fn target(&self) -> PathBuf {
        self.folder.join("target")
    }

    /// Remembers that a command succeeded, for which all packages were there.
    pub fn note_success(&self) -> Result<(), String> {
        self.touch("succeeded")
    }

    /// A command for `argv` in the checkout, as the chroot's root. Its environment is a fresh machine's with
    /// `environment`.
    pub fn enter(&self, argv: &[String], environment: &[(String, String)]) -> Command {
        let (root, checkout, target) = (self.root(), self.checkout.display().to_string(), self.target());
        let (root, target) = (root.display().to_string(), target.display().to_string());
        let script = self.checkout.join(SCRIPT).display().to_string();
        let mut words = vec!["sh", &script, &root, &checkout, &target];
        words.extend(argv.iter().map(String::as_str));
        let mut command = self.rights.isolate(&words);
        command.envs([("HOME", "/root"), ("USER", "root"), ("LOGNAME", "root"), ("LANG", "C.UTF-8")]);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Makes the chroot, if there is none that is still good, and takes over this machine's settings.
    /// Errors: packages cannot be reached (a skip), or something else went wrong.
    pub fn make_ready(&self, host: &Host, is_fresh_wanted: bool) -> Result<(), Stop> {
        let recipe = self.recipe(host);
        let is_there = self.root().exists();
        let is_same = fs::read_to_string(self.folder.join("made")).is_ok_and(|made| made == recipe);
        if is_fresh_wanted || !is_same || !self.is_newer("made", MAX_AGE) {
            match self.make(host, &recipe, is_fresh_wanted) {
                // An older chroot is better than none.
                Err(Stop::Skip(reason)) if is_there && is_same && !is_fresh_wanted => {
                    println!("{}: {reason}; going on with the chroot that is there", self.name);
                }
                made => made?,
            }
        }
        host.hand_over_names(&self.root())?;
        let settings = self.apt_settings(host).join("\n") + "\n";
        let path = self.root().join(APT_SETTINGS);
        fs::write(&path, settings).map_err(|e| format!("{}: {e}", path.display()))?;
        self.run_quietly(host, &["sh", "-c", REPAIR]).map_err(|messages| {
            format!("an interrupted installation cannot be completed (--fresh helps):\n{messages}")
        })?;
        if self.is_newer("updated", MAX_AGE_OF_LISTS) {
            return Ok(());
        }
        match self.run_quietly(host, &["apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any"]) {
            Ok(()) => self.touch("updated")?,
            Err(_) if self.folder.join("succeeded").exists() => {
                println!("{}: the lists of packages cannot be reached; going on with what is installed", self.name);
            }
            Err(messages) => return Err(Stop::Skip(format!("packages cannot be reached: {}", last_line(&messages)))),
        }
        Ok(())
    }

    /// What decides whether a chroot that is there is still the wanted one.
    fn recipe(&self, host: &Host) -> String {
        let sources = host.sources(&self.name).unwrap_or_default();
        format!("{} {:?}\n{}\n", self.name, self.rights, sources.join("\n"))
    }

    fn apt_settings(&self, host: &Host) -> Vec<String> {
        let mut settings = host.apt_settings().to_vec();
        if self.rights == Rights::UserNamespace {
            // There is no other user that could download.
            settings.push("APT::Sandbox::User \"root\";".to_owned());
        }
        settings
    }

    fn make(&self, host: &Host, recipe: &str, is_target_stale: bool) -> Result<(), Stop> {
        println!("{}: making a chroot (a minute or two)", self.name);
        let unfinished = self.folder.join("root.unfinished");
        let unfinished_text = unfinished.display().to_string();
        remove(&unfinished)?;
        let settings: Vec<String> = self.apt_settings(host).iter().map(|line| format!("--aptopt={line}")).collect();
        let sources = host.sources(&self.name);
        let mut words = match self.rights {
            Rights::Root => vec!["mmdebstrap"],
            Rights::UserNamespace => {
                vec!["sh", "-c", DEVICES, &unfinished_text, "mmdebstrap", "--skip=check/empty,chroot/mount/dev"]
            }
        };
        words.extend(["--mode=root", "--variant=minbase"]);
        words.extend(settings.iter().map(String::as_str));
        words.extend([self.name.as_str(), &unfinished_text]);
        words.extend(sources.iter().flatten().map(String::as_str));
        let mut command = self.rights.isolate(&words);
        command.envs(host.environment());
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("unshare: {e}"))?;
        let mut messages = String::new();
        for line in child.stderr.take().into_iter().flat_map(|stream| BufReader::new(stream).lines()) {
            let line = line.map_err(|e| format!("mmdebstrap: {e}"))?;
            if let Some(step) = line.strip_prefix("I: ").filter(|step| !step.starts_with("skipping ")) {
                println!("  ... {step}");
            }
            messages.push_str(&line);
            messages.push('\n');
        }
        if !child.wait().map_err(|e| format!("mmdebstrap: {e}"))?.success() {
            remove(&unfinished)?;
            let unreachable = messages.lines().find(|line| UNREACHABLE.iter().any(|text| line.contains(text)));
            return Err(match unreachable {
                Some(line) => Stop::Skip(format!("packages cannot be reached: {}", line.trim())),
                None => Stop::Fail(format!("mmdebstrap failed:\n{messages}")),
            });
        }
        // From here on there is no good chroot, until `made` is written.
        for stale in ["made", "updated", "succeeded", "root"] {
            remove(&self.folder.join(stale))?;
        }
        if is_target_stale {
            remove(&self.target())?;
            fs::create_dir(self.target()).map_err(|e| format!("{}: {e}", self.target().display()))?;
        }
        fs::rename(&unfinished, self.root()).map_err(|e| format!("{unfinished_text}: {e}"))?;
        fs::write(self.folder.join("made"), recipe).map_err(|e| format!("{}: {e}", self.folder.display()))?;
        Ok(())
    }

    /// Errors: what it printed.
    fn run_quietly(&self, host: &Host, argv: &[&str]) -> Result<(), String> {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let done = self.enter(&argv, &host.environment()).stdin(Stdio::null()).output().map_err(|e| e.to_string())?;
        match done.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).trim_end().to_owned()),
        }
    }

    fn is_newer(&self, name: &str, limit: Duration) -> bool {
        let modified = fs::metadata(self.folder.join(name)).and_then(|m| m.modified());
        // A time in the future counts as new.
        modified.is_ok_and(|time| time.elapsed().unwrap_or_default() < limit)
    }

    fn touch(&self, name: &str) -> Result<(), String> {
        fs::write(self.folder.join(name), "").map_err(|e| format!("{}: {e}", self.folder.join(name).display()))
    }
}

/// Deletes a file or folder, if it is there. Errors: something is mounted in it, whose contents would go, too; it
/// belongs to somebody else.
fn remove(path: &Path) -> Result<(), String> {
    let error = |reason: &dyn std::fmt::Display| format!("{} cannot be deleted: {reason}", path.display());
    let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(|e| error(&e))?;
    if let Some(mount) =
        mounts.lines().filter_map(|line| line.split(' ').nth(4)).find(|m| Path::new(m).starts_with(path))
    {
        return Err(error(&format!("{mount} is mounted")));
    }
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path).map_err(|e| error(&e)),
        Ok(_) => fs::remove_file(path).map_err(|e| error(&e)),
    }
}

fn last_line(messages: &str) -> &str {
    messages.lines().last().unwrap_or_default()
}
