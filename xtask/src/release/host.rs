//! What this machine tells a chroot: where packages come from, how the network is reached, names of hosts.
//!
//! Nothing here names a server: mirrors, proxies and registries are those that this machine is set up for; `mmdebstrap`
//! has a default for machines without Debian's mirrors. Left out: secrets, and whatever would make the chroot another
//! machine than a fresh one (compilers, flags, locales).

use std::fs;
use std::path::Path;
use std::process::Command;

/// Settings of apt that say how to reach packages, by the beginning of their names.
const APT_SETTINGS: [&str; 8] = [
    "Acquire::http::Proxy",
    "Acquire::https::Proxy",
    "Acquire::http::Timeout",
    "Acquire::Check-Date",
    "Acquire::Check-Valid-Until",
    "Acquire::ForceIPv",
    "Acquire::Retries",
    "Acquire::https::Verify",
];

/// Environment variables that commands in a chroot see, besides those that every command there has.
const VARIABLES: [&str; 10] = [
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "TERM",
    "SAKI_TEST_STRESS",
];
/// So do variables of cargo that begin so, other than those with secrets.
const CARGO_VARIABLES: [&str; 4] = ["CARGO_HTTP_", "CARGO_NET_", "CARGO_SOURCE_", "CARGO_REGISTRIES_"];

/// What was found out about this machine.
pub struct Host {
    codename: String,
    /// Of apt's repositories: the address, the suite it was asked for and the suite's codename.
    repositories: Vec<[String; 3]>,
    apt_settings: Vec<String>,
}

impl Host {
    /// Machines without apt have no repositories and no settings.
    pub fn read() -> Host {
        let output = |program: &str, arguments: &[&str]| {
            let done = Command::new(program).args(arguments).output().ok();
            done.map(|done| String::from_utf8_lossy(&done.stdout).into_owned()).unwrap_or_default()
        };
        let targets = ["indextargets", "--format", "$(REPO_URI) $(RELEASE) $(CODENAME)", "Identifier: Packages"];
        Host {
            codename: codename(&fs::read_to_string("/etc/os-release").unwrap_or_default()),
            repositories: repositories(&output("apt-get", &targets)),
            apt_settings: apt_settings(&output("apt-config", &["dump"])),
        }
    }

    /// Of the release that runs here; empty if it has none.
    pub fn codename(&self) -> &str {
        &self.codename
    }

    /// Lines of `sources.list` for `release`, from the mirrors that this machine has its own release from. None: they
    /// are not known.
    pub fn sources(&self, release: &str) -> Option<Vec<String>> {
        let mirror = |suffix: &str| {
            let own = format!("{}{suffix}", self.codename);
            self.repositories.iter().find(|[_, suite, codename]| *suite == own || *codename == own).map(|[uri, ..]| uri)
        };
        let (archive, security) = (mirror("")?, mirror("-security")?);
        let is_remote = |uri: &String| uri.starts_with("http://") || uri.starts_with("https://");
        if !is_remote(archive) || !is_remote(security) {
            return None;
        }
        if super::UNRELEASED.contains(&release) {
            return Some(vec![format!("deb {archive} {release} main")]);
        }
        Some(vec![
            format!("deb {archive} {release} main"),
            format!("deb {archive} {release}-updates main"),
            format!("deb {security} {release}-security main"),
        ])
    }

    /// Lines of `apt.conf`.
    pub fn apt_settings(&self) -> &[String] {
        &self.apt_settings
    }

    /// For commands in the chroot, whose user is root.
    pub fn environment(&self) -> Vec<(String, String)> {
        std::env::vars().filter(|(name, _)| is_handed_over(name)).collect()
    }

    /// Copies to `root` how names of hosts are found. Errors: it cannot be written to.
    pub fn hand_over_names(&self, root: &Path) -> Result<(), String> {
        for name in ["etc/resolv.conf", "etc/hosts"] {
            let path = root.join(name);
            // Absent, or a link that leads out of the chroot.
            let _ = fs::remove_file(&path);
            if let Ok(text) = fs::read(Path::new("/").join(name)) {
                fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
            }
        }
        Ok(())
    }
}

fn is_handed_over(variable: &str) -> bool {
    let is_secret = variable.ends_with("_TOKEN") || variable.contains("_CREDENTIAL") || variable.contains("_SECRET");
    let is_of_cargo = CARGO_VARIABLES.iter().any(|start| variable.starts_with(start));
    VARIABLES.contains(&variable) || is_of_cargo && !is_secret
}

fn codename(os_release: &str) -> String {
    let line = os_release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    line.unwrap_or_default().trim_matches('"').to_owned()
}

fn repositories(index_targets: &str) -> Vec<[String; 3]> {
    let words = |line: &str| -> Option<[String; 3]> {
        let mut words = line.split(' ').map(|word| word.trim_end_matches('/').to_owned());
        Some([words.next()?, words.next()?, words.next()?])
    };
    index_targets.lines().filter_map(words).collect()
}

fn apt_settings(dump: &str) -> Vec<String> {
    let is_wanted = |line: &&str| APT_SETTINGS.iter().any(|start| line.starts_with(start)) && !line.ends_with(" \"\";");
    dump.lines().filter(is_wanted).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(targets: &str) -> Host {
        Host {
            codename: codename("NAME=\"Debian\"\nVERSION_CODENAME=bookworm\n"),
            repositories: repositories(targets),
            apt_settings: Vec::new(),
        }
    }

    #[test]
    fn sources_are_the_mirrors_of_this_machine() {
        let targets = "http://other.test/x/ any any\nhttp://mirror.test/debian/ stable bookworm\n\
                       http://mirror.test/debian/ bookworm-updates bookworm-updates\n\
                       http://mirror.test/security/ bookworm-security \n";
        let expected = [
            "deb http://mirror.test/debian trixie main",
            "deb http://mirror.test/debian trixie-updates main",
            "deb http://mirror.test/security trixie-security main",
        ];
        assert_eq!(host(targets).sources("trixie").expect("both are there"), expected);
        assert_eq!(host(targets).sources("sid").expect("it is there"), ["deb http://mirror.test/debian sid main"]);
        assert_eq!(host("http://mirror.test/ubuntu/ noble noble\n").sources("trixie"), None);
        assert_eq!(host("file:/srv/a bookworm bookworm\nfile:/srv/s bookworm-security x\n").sources("trixie"), None);
    }

    #[test]
    fn settings_that_say_how_to_reach_packages() {
        let dump = "APT::Architecture \"amd64\";\nAcquire::Check-Date \"false\";\nAcquire::http \"\";\n\
                    Acquire::http::Proxy \"http://proxy.test:1\";\nAcquire::https::Proxy \"\";\n";
        let expected = ["Acquire::Check-Date \"false\";", "Acquire::http::Proxy \"http://proxy.test:1\";"];
        assert_eq!(apt_settings(dump), expected);
    }

    #[test]
    fn variables_without_secrets() {
        for name in ["https_proxy", "CARGO_HTTP_CAINFO", "CARGO_REGISTRIES_X_INDEX"] {
            assert!(is_handed_over(name), "{name}");
        }
        for name in ["PATH", "CARGO_TARGET_DIR", "CARGO_REGISTRIES_X_TOKEN", "CARGO_REGISTRIES_X_CREDENTIAL_PROVIDER"] {
            assert!(!is_handed_over(name), "{name}");
        }
    }
}
