//! The columns of the suite: Saki's I/O models under its thread modes, the .NET runtimes, Go and Java; and the programs
//! of bench/io for each.
//!
//! What is not there has no column. Left out: what is measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::peers::{Runtime, compile_folder, find_go, find_java, net9, run};

/// Saki with the operating system's threads.
pub const NATIVE: &str = "native";
/// Saki with green threads on several carriers.
pub const MN: &str = "mn";
/// Mono.
pub const MONO: &str = "mono";
/// CoreCLR.
pub const CORECLR: &str = "coreclr";
/// Go.
pub const GO: &str = "go";

/// Column, threads, I/O model.
const SAKI: [(&str, &str, &str); 6] = [
    (NATIVE, "native", "blocking"),
    ("native epoll", "native", "epoll"),
    ("green", "green", "epoll"),
    (MN, "mn", "epoll"),
    ("mn poll", "mn", "poll"),
    ("mn uring", "mn", "uring"),
];

/// What a column's programs are built with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuiltFor {
    Saki,
    DotNet,
    Go,
    Java,
}

/// A program of bench/io.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Program {
    /// HTTP over plain sockets.
    Raw,
    /// HTTP by the runtime's own server: HttpListener, net/http.
    Library,
    Pipe,
    Copy,
    Tls,
}

/// A runtime with its options.
pub struct Column {
    pub runtime: Runtime,
    pub kind: BuiltFor,
}

/// The programs of bench/io, built.
pub struct Programs {
    dot_net: PathBuf,
    go: PathBuf,
    java: PathBuf,
    /// Files of a certificate made for this: for .NET, and the two for Go.
    certificate: PathBuf,
    pem: [PathBuf; 2],
}

impl Column {
    /// How to run a program; a server's port follows. `None`: there is no such program for the runtime.
    pub fn command(&self, program: Program, programs: &Programs) -> Option<Vec<String>> {
        let name = match (program, self.kind) {
            (Program::Raw, _) => "raw",
            (Program::Library, BuiltFor::Go) => "http",
            (Program::Library, BuiltFor::Saki | BuiltFor::DotNet) => "listener",
            (Program::Pipe, BuiltFor::Saki | BuiltFor::DotNet) => "pipe",
            (Program::Copy, BuiltFor::Saki | BuiltFor::DotNet) => "copy",
            (Program::Tls, BuiltFor::Saki | BuiltFor::DotNet | BuiltFor::Go) => "tls",
            _ => return None,
        };
        let mut argv = self.runtime.argv.clone();
        match self.kind {
            BuiltFor::Saki | BuiltFor::DotNet => argv.push(programs.dot_net.display().to_string()),
            BuiltFor::Go => argv = vec![programs.go.display().to_string()],
            BuiltFor::Java => argv.extend(["-cp".to_owned(), programs.java.display().to_string(), "Server".to_owned()]),
        }
        argv.push(name.to_owned());
        match (program, self.kind) {
            (Program::Tls, BuiltFor::Go) => argv.extend(programs.pem.iter().map(|path| path.display().to_string())),
            (Program::Tls, _) => argv.push(programs.certificate.display().to_string()),
            _ => {}
        }
        Some(argv)
    }
}

/// The columns, with their programs built in `output`. Errors: a program does not compile, or openssl makes no
/// certificate.
pub fn available(root: &Path, base: Vec<Runtime>, output: &Path) -> Result<(Vec<Column>, Programs), String> {
    let programs = Programs {
        dot_net: output.join("io.exe"),
        go: output.join("io-go"),
        java: output.join("io-java"),
        certificate: output.join("io.pfx"),
        pem: [output.join("io-certificate.pem"), output.join("io-key.pem")],
    };
    let sources = root.join("bench/io");
    compile_folder(&sources, &programs.dot_net, &["-r:System", "-r:System.Core"])?;
    make_certificate(&programs)?;
    let mut columns = Vec::new();
    for runtime in base {
        if runtime.name == "saki" {
            columns.extend(SAKI.iter().filter_map(|model| saki_column(&runtime, model)));
        } else {
            columns.push(Column { runtime, kind: BuiltFor::DotNet });
        }
    }
    columns.extend(net9("net9", output)?.map(|runtime| Column { runtime, kind: BuiltFor::DotNet }));
    if let Some((go, version)) = find_go() {
        run(Command::new(&go).args(["build", "-o"]).arg(&programs.go).arg(sources.join("main.go")))?;
        let runtime = Runtime { name: GO, version, argv: Vec::new(), environment: Vec::new() };
        columns.push(Column { runtime, kind: BuiltFor::Go });
    }
    if let Some((bin, version)) = find_java() {
        fs::create_dir_all(&programs.java).map_err(|e| format!("{}: {e}", programs.java.display()))?;
        run(Command::new(bin.join("javac")).arg("-d").arg(&programs.java).arg(sources.join("Server.java")))?;
        let argv = vec![bin.join("java").display().to_string()];
        let runtime = Runtime { name: "java", version, argv, environment: Vec::new() };
        columns.push(Column { runtime, kind: BuiltFor::Java });
    }
    Ok((columns, programs))
}

/// `None` where the kernel or this Saki does not have the model.
fn saki_column(saki: &Runtime, &(name, threads, io): &(&'static str, &str, &str)) -> Option<Column> {
    let mut argv = saki.argv.clone();
    argv.extend([format!("--threads={threads}"), format!("--io={io}")]);
    let asked = Command::new(&argv[0]).args(&argv[1..]).arg("--version").output().ok()?;
    if !asked.status.success() {
        return None;
    }
    let version = format!("{} --threads={threads} --io={io}", saki.version);
    Some(Column { runtime: Runtime { name, version, argv, environment: Vec::new() }, kind: BuiltFor::Saki })
}

/// Of a kind that Mono's libraries read, too.
fn make_certificate(programs: &Programs) -> Result<(), String> {
    let [certificate, key] = &programs.pem;
    run(Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost", "-keyout"])
        .arg(key)
        .arg("-out")
        .arg(certificate))?;
    run(Command::new("openssl")
        .args(["pkcs12", "-export", "-passout", "pass:saki", "-certpbe", "PBE-SHA1-3DES", "-keypbe", "PBE-SHA1-3DES"])
        .args(["-macalg", "sha1", "-inkey"])
        .arg(key)
        .arg("-in")
        .arg(certificate)
        .arg("-out")
        .arg(&programs.certificate))
}
