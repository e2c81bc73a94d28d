//! The same work in C#, Go and Java (`bench/profile`), without and with each one's profiler.
//!
//! Samples are taken 1,000 times a second by all, as far as they can: Go is told so, and JFR's shortest period is what
//! it makes of a millisecond.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::columns::{Column, named, strings, words};
use crate::bench::peers::{Runtime, find_go, find_java, run};

/// A kind of work, with rounds that take some fifth of a second and nearly one second.
pub struct Mode {
    pub name: &'static str,
    pub short: u32,
    pub long: u32,
}

pub const MODES: [Mode; 4] = [
    Mode { name: "calls", short: 15, long: 60 },
    Mode { name: "floats", short: 600, long: 2400 },
    Mode { name: "alloc", short: 60, long: 240 },
    Mode { name: "trees", short: 600, long: 2400 },
];

/// Mono takes up to four times as long, and gets fewer rounds.
const MONO_DIVISOR: u32 = 2;

/// Name, and the words in front of the program.
const SAKI: [(&str, &[&str]); 5] = [
    ("off", &[]),
    ("cpu, 1 kHz", &["profile", "cpu", "--format=folded", "--output=/dev/null"]),
    ("cpu, 10 kHz", &["profile", "cpu", "--hz=10000", "--format=folded", "--output=/dev/null"]),
    ("wall, 100 Hz", &["profile", "wall", "--format=folded", "--output=/dev/null"]),
    ("alloc, 512 KiB", &["profile", "alloc", "--format=folded", "--output=/dev/null"]),
];

const MONO: [(&str, &[&str]); 2] =
    [("mono, off", &[]), ("mono, sample=1000", &["--profile=log:nodefaults,sample=1000,output=/dev/null"])];

/// The columns, with their programs built in `folder`. Languages that are not there have none. Errors: a program does
/// not compile.
pub fn columns(root: &Path, runtimes: &[Runtime], folder: &Path) -> Result<Vec<Column>, String> {
    let sources = root.join("bench/profile");
    let program = compile(&sources.join("work.cs"), folder)?;
    let mut columns = Vec::new();
    for (name, kinds, divisor) in [("saki", &SAKI[..], 1), ("mono", &MONO[..], MONO_DIVISOR)] {
        if let Some(runtime) = named(runtimes, name) {
            let column = |(name, options): &(&'static str, &[&str])| {
                let argv = words(&[&runtime.argv, &strings(options), std::slice::from_ref(&program)]);
                Column { divisor, ..Column::new(name, argv) }
            };
            columns.extend(kinds.iter().map(column));
        }
    }
    if let Some((go, version)) = find_go() {
        println!("{:8} {version}", "go");
        let (source, executable) = (sources.join("work.go"), folder.join("work-go"));
        if !is_newer(&executable, &source) {
            run(Command::new(go).args(["build", "-o"]).arg(&executable).arg(source))?;
        }
        let off = Column::new("go, off", vec![executable.display().to_string()]);
        let profile = folder.join("go.pb.gz").display().to_string();
        let environment = vec![("CPU_PROFILE".to_owned(), profile)];
        columns.extend([off.clone(), Column { name: "go, pprof", environment, is_off: false, ..off }]);
    }
    if let Some((bin, version)) = find_java() {
        println!("{:8} {version}", "java");
        let classes = folder.join("java");
        fs::create_dir_all(&classes).map_err(|e| format!("{}: {e}", classes.display()))?;
        let source = sources.join("Work.java");
        if !is_newer(&classes.join("Work.class"), &source) {
            run(Command::new(bin.join("javac")).arg("-d").arg(&classes).arg(source))?;
        }
        let java = [bin.join("java").display().to_string()];
        let program = ["-cp".to_owned(), classes.display().to_string(), "Work".to_owned()];
        columns.push(Column::new("java, off", words(&[&java, &program])));
        let recording = folder.join("java.jfr");
        let flight = [
            // It would tell of the recording on standard output.
            "-Xlog:disable".to_owned(),
            format!(
                "-XX:StartFlightRecording=settings=profile,jdk.ExecutionSample#period=1ms,filename={}",
                recording.display()
            ),
        ];
        columns.push(Column::new("java, JFR", words(&[&java, &flight, &program])));
    }
    Ok(columns)
}

/// Compiles a C# program to `folder`. Errors: those of the compiler.
pub fn compile(source: &Path, folder: &Path) -> Result<String, String> {
    let name = source.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let path = folder.join(name).with_extension("exe");
    let executable = path.display().to_string();
    if !is_newer(&path, source) {
        run(Command::new("mcs").args(["-nologo", "-optimize+", "-debug-", &format!("-out:{executable}")]).arg(source))?;
    }
    Ok(executable)
}

/// Whether the file was made of its source as that is now.
fn is_newer(file: &Path, source: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    time(file).is_some_and(|made| time(source).is_some_and(|written| made > written))
}
