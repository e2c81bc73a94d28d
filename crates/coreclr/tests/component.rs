//! Components: a host in C calls static methods of a library by way of .NET's own hostfxr, which loads our library in
//! place of CoreCLR's. `tools/net/setup` fetches .NET and its compiler; without them or a C compiler it is skipped.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file that cargo builds beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().expect("a folder");
    let places = [folder.join("libcoreclr.so"), folder.parent().expect("a folder").join("libcoreclr.so")];
    places.into_iter().find(|file| file.is_file()).expect("cargo test -p saki-coreclr builds it")
}

/// `target/net`, if everything is there.
fn net() -> Option<PathBuf> {
    let net = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?.join("net");
    let found = net.join("9/stamp").exists() && net.join("compiler/stamp").exists();
    if !found {
        eprintln!("skipped: {} has no .NET 9 and compiler (tools/net/setup fetches them)", net.display());
    }
    found.then_some(net)
}

/// A root of links to .NET's files, but for `libcoreclr.so`: ours, or .NET's with `None`. hostfxr is a copy, for it
/// looks for the root by its own path.
fn root(folder: &Path, net: &Path, coreclr: Option<&Path>) -> PathBuf {
    let version = std::fs::read_to_string(net.join("9/version")).expect("a version");
    let version = version.trim();
    let (fxr, framework) = (format!("host/fxr/{version}"), format!("shared/Microsoft.NETCore.App/{version}"));
    for part in [&fxr, &framework] {
        std::fs::create_dir_all(folder.join(part)).expect("a folder");
    }
    let resolver = folder.join(&fxr).join("libhostfxr.so");
    std::fs::copy(net.join("9").join(&fxr).join("libhostfxr.so"), &resolver).expect("copied");
    for entry in std::fs::read_dir(net.join("9").join(&framework)).expect("a folder").flatten() {
        let target = match coreclr {
            Some(ours) if entry.file_name() == "libcoreclr.so" => ours.to_path_buf(),
            _ => entry.path(),
        };
        symlink(target, folder.join(&framework).join(entry.file_name())).expect("linked");
    }
    resolver
}

fn succeeds(command: &mut Command) -> bool {
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{command:?}: {output:?}");
            true
        }
        Err(error) => {
            eprintln!("skipped: {:?}: {error}", command.get_program());
            false
        }
    }
}

/// What the host prints, with our library or with .NET's.
fn run(name: &str, ours: bool, threads: &str) -> Option<String> {
    let net = net()?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/component");
    let (host, component) = (folder.join("host"), folder.join("component.dll"));
    if !succeeds(Command::new("gcc").arg("-o").arg(&host).arg(sources.join("host.c")).args(["-ldl", "-pthread"])) {
        return None;
    }
    let mut framework = String::from("-fw:");
    let version = std::fs::read_to_string(net.join("9/version")).expect("a version");
    framework.push_str(&net.join("9/shared/Microsoft.NETCore.App").join(version.trim()).display().to_string());
    let second = folder.join("second.dll");
    for library in [&component, &second] {
        let out = format!("-out:{}", library.display());
        let mut compiler = Command::new(net.join("compiler/csc"));
        succeeds(compiler.args(["-library", &framework, &out]).arg(sources.join("component.cs")));
    }
    let config = folder.join("component.runtimeconfig.json");
    let text = r#"{"runtimeOptions":{"tfm":"net9.0","framework":{"name":"Microsoft.NETCore.App","version":"9.0.0"}}}"#;
    std::fs::write(&config, text).expect("written");
    let ours = ours.then(library);
    let resolver = root(&folder.join("root"), &net, ours.as_deref());
    let output = Command::new(&host)
        .args([&resolver, &folder.join("root"), &config, &component, &second])
        .env("SAKI_NO_CACHE", "1")
        .env("SAKI_THREADS", threads)
        .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
        .output()
        .expect("run");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

#[test]
fn a_host_calls_methods_of_a_component_from_all_its_threads() {
    let Some(expected) = run("component-net", false, "native") else { return };
    for line in ["third thread: 34 41 5", "in the default context: 7", "from bytes: 11"] {
        assert!(expected.contains(line), "{expected}");
    }
    for threads in ["native", "green", "mn"] {
        assert_eq!(run(&format!("component-{threads}"), true, threads).as_ref(), Some(&expected), "{threads}");
    }
}
