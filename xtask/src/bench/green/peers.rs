//! The columns of the suite: Saki's three modes, the .NET runtimes, Go, Java; and how each is told its number of
//! processors.
//!
//! What is not there has no column.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use super::benchmarks::{self, Benchmark, Program};
use crate::bench::compiling::compile;
use crate::bench::peers::{Runtime, compile_folder, find_go, find_java, net9, run};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Saki; the mode is the column's name.
    Saki,
    DotNet,
    Go,
    Java,
}

/// A command line and what it needs in the environment.
pub struct Command {
    pub argv: Vec<String>,
    pub environment: Vec<(String, String)>,
}

/// A runtime that the suite runs beside others.
pub struct Peer {
    pub runtime: Runtime,
    kind: Kind,
}

impl Peer {
    /// Whether its threads are the operating system's.
    pub fn has_native_threads(&self) -> bool {
        self.runtime.name == benchmarks::NATIVE || self.kind == Kind::DotNet
    }

    /// Whether there is such a program for it. A pause of Go's collector is not a time that one thread could measure.
    pub fn runs(&self, benchmark: &Benchmark) -> bool {
        match self.kind {
            Kind::Saki | Kind::DotNet => true,
            Kind::Go => benchmark.program == Program::Green && benchmark.arguments[0] != "pause",
            Kind::Java => benchmark.program == Program::Green,
        }
    }

    /// How to run a program of `executables` on so many processors (0: all). `None`: there are not so many.
    pub fn command(&self, program: Program, executables: &Executables, processors: usize) -> Option<Command> {
        let mut argv = self.runtime.argv.clone();
        let mut environment = self.runtime.environment.clone();
        let allowed = allowed_processors();
        let limit = if processors == 0 { allowed.len() } else { processors };
        if limit > allowed.len() {
            return None;
        }
        let pinned = || {
            let list: Vec<String> = allowed[..limit].iter().map(usize::to_string).collect();
            ["taskset", "-c", &list.join(",")].map(str::to_owned)
        };
        match self.kind {
            Kind::Saki => {
                let name = self.runtime.name;
                let mode = if name == benchmarks::MN { format!("{name}:{limit}") } else { name.to_owned() };
                argv.insert(1, format!("--threads={mode}"));
                if name == benchmarks::NATIVE && processors > 0 {
                    argv.splice(0..0, pinned());
                }
            }
            Kind::DotNet if processors > 0 => drop(argv.splice(0..0, pinned())),
            Kind::DotNet => {}
            Kind::Go => environment.push(("GOMAXPROCS".to_owned(), limit.to_string())),
            Kind::Java => argv.insert(1, format!("-Djdk.virtualThreadScheduler.parallelism={limit}")),
        }
        match (self.kind, program) {
            (Kind::Saki | Kind::DotNet, Program::Green) => argv.push(executables.green.display().to_string()),
            (Kind::Saki | Kind::DotNet, Program::Lambdas) => argv.push(executables.lambdas.display().to_string()),
            (Kind::Go, _) => argv = vec![executables.go.display().to_string()],
            (Kind::Java, _) => {
                argv.extend(["-cp".to_owned(), executables.java.display().to_string(), "Green".to_owned()])
            }
        }
        Some(Command { argv, environment })
    }
}

/// The numbers of the processors that this process may use.
fn allowed_processors() -> Vec<usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("0");
    processors_of(list)
}

/// "0-2,5" means 0, 1, 2, 5.
fn processors_of(list: &str) -> Vec<usize> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    list.split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(number(first)?..=number(last)?)
        })
        .flatten()
        .collect()
}

/// The compiled programs. Those of a language that is not there do not exist.
pub struct Executables {
    pub green: PathBuf,
    pub lambdas: PathBuf,
    go: PathBuf,
    java: PathBuf,
}

/// The columns, with their programs built in `output`. Errors: a program does not compile.
pub fn available(root: &Path, base: Vec<Runtime>, output: &Path) -> Result<(Vec<Peer>, Executables), String> {
    let executables = Executables {
        green: output.join("green.exe"),
        lambdas: compile(root, "lambdas", output)?,
        go: output.join("green-go"),
        java: output.join("green-java"),
    };
    let sources = root.join("bench/green");
    compile_folder(&sources, &executables.green, &[])?;
    let mut peers = Vec::new();
    for runtime in base {
        if runtime.name == "saki" {
            for name in [benchmarks::NATIVE, benchmarks::GREEN, benchmarks::MN] {
                let version = format!("{} --threads={name}", runtime.version);
                let runtime = Runtime { name, version, argv: runtime.argv.clone(), environment: Vec::new() };
                peers.push(Peer { runtime, kind: Kind::Saki });
            }
        } else {
            peers.push(Peer { runtime, kind: Kind::DotNet });
        }
    }
    if let Some(runtime) = net9(benchmarks::NET9, output)? {
        peers.push(Peer { runtime, kind: Kind::DotNet });
    }
    if let Some((go, version)) = find_go() {
        let mut build = process::Command::new(&go);
        build.args(["build", "-o"]).arg(&executables.go).arg(sources.join("main.go"));
        match run(&mut build) {
            Ok(()) => {
                let argv = vec![executables.go.display().to_string()];
                let runtime = Runtime { name: benchmarks::GO, version, argv, environment: Vec::new() };
                peers.push(Peer { runtime, kind: Kind::Go });
            }
            // Before 1.22 it is another language.
            Err(reason) => eprintln!("go is left out: {reason}"),
        }
    }
    if let Some((bin, version)) = find_java() {
        fs::create_dir_all(&executables.java).map_err(|e| format!("{}: {e}", executables.java.display()))?;
        run(process::Command::new(bin.join("javac")).arg("-d").arg(&executables.java).arg(sources.join("Green.java")))?;
        let argv = vec![bin.join("java").display().to_string(), "--enable-native-access=ALL-UNNAMED".to_owned()];
        let runtime = Runtime { name: benchmarks::JAVA, version, argv, environment: Vec::new() };
        peers.push(Peer { runtime, kind: Kind::Java });
    }
    Ok((peers, executables))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_read_from_ranges() {
        assert_eq!(processors_of("\t0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(processors_of("3"), [3]);
    }
}
