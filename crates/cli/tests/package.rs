//! The contents of the Debian package. Needs `dpkg-deb` and binutils. `./x package --check` installs and removes it,
//! which needs root.

mod support;

use std::path::Path;
use std::process::Command;
use support::{folder, run};

#[test]
fn the_package_holds_the_command_its_pages_and_completions() {
    let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    if !["dpkg-deb", "objdump", "strip", "gzip"].into_iter().all(is_there) {
        return eprintln!("skipped: no tools for packages");
    }
    let output = folder("package");
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/debian/build");
    let done = run(Command::new(build).arg(env!("CARGO_BIN_EXE_saki")).arg(&output).arg("-Znone"));
    assert_eq!(done.exit_code, Some(0), "{}", done.stderr);
    let package = std::fs::read_dir(&output).unwrap().next().expect("a package").unwrap().path();
    let listed = run(Command::new("dpkg-deb").arg("--contents").arg(&package)).stdout;
    for file in [
        "./usr/bin/saki",
        "./usr/sbin/saki-as-mono",
        "./usr/share/man/man1/saki.1.gz",
        "./usr/share/man/man1/saki-cache-seed.1.gz",
        "./usr/share/man/man8/saki-as-mono.8.gz",
        "./usr/share/bash-completion/completions/saki",
        "./usr/share/zsh/vendor-completions/_saki",
        "./usr/share/fish/vendor_completions.d/saki.fish",
        "./usr/share/doc/saki/copyright",
        "./usr/share/doc/saki/changelog.gz",
    ] {
        let line = listed.lines().find(|line| line.ends_with(&format!(" {file}")));
        assert!(line.is_some_and(|line| line.contains("root/root")), "{file} in {listed}");
    }
    let field = |name: &str| run(Command::new("dpkg-deb").arg("--field").arg(&package).arg(name)).stdout;
    assert!(field("Version").starts_with(env!("CARGO_PKG_VERSION")));
    // From the oldest known class libraries to before the release that follows the newest.
    let [oldest, .., newest] = saki_contract::Version::MONO.map(saki_contract::Version::name);
    let (major, minor) = newest.split_once('.').expect("a version");
    let beyond = format!("libmono-corlib4.5-dll (<< {major}.{})", minor.parse::<u32>().expect("a number") + 1);
    let depends = field("Depends");
    assert!(
        depends.contains(&format!("libmono-corlib4.5-dll (>= {oldest}.")) && depends.contains(&beyond),
        "{depends}"
    );
    assert!(field("Provides").contains("cli-virtual-machine"));
    let control = output.join("control");
    assert_eq!(run(Command::new("dpkg-deb").arg("--control").arg(&package).arg(&control)).exit_code, Some(0));
    let sums = std::fs::read_to_string(control.join("md5sums")).unwrap();
    assert!(sums.lines().any(|line| line.ends_with("  usr/bin/saki")), "{sums}");
    for script in ["postinst", "prerm"] {
        assert_eq!(run(Command::new("sh").arg("-n").arg(control.join(script))).exit_code, Some(0));
    }
}
