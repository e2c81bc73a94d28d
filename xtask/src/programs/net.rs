//! Programs for modern .NET: compiled by the C# 12 compiler of `target/net`, many in one process.
//!
//! `tools/net/setup` fetches the compiler, the framework that Saki loads, and the `dotnet` that judges what is right.
//! As with the other compilers, each program has
//! a folder of its own with a `stamp`, which is removed before the compiler runs and written for what it made. Programs
//! of the area `net` keep their outputs beside
//! the other areas'; what is compiled of the other areas, for `--net`, goes to a root of its own.
//! Left out: fetching (the script says by itself why it cannot), and judging (`programs` and `net_suite`).

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Compilers, Program, compile};

/// The area of the programs that only modern .NET runs.
const AREA: &str = "net/";

/// The release of .NET that programs run on.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RuntimeVersion {
    #[value(name = "9")]
    Nine,
    #[value(name = "10")]
    Ten,
}

/// What `tools/net/setup` has made.
pub struct Net {
    /// The folder of the assemblies that programs are compiled against: 9's, whatever runs them, except those for .NET
    /// 10 alone.
    reference: PathBuf,
    /// The folder of the framework's assemblies, for `--framework`.
    framework: PathBuf,
    /// The `dotnet` whose results are right.
    dotnet: PathBuf,
    compiler: PathBuf,
    /// Hashes of what the framework and the compiler were made from.
    stamps: String,
}

impl Net {
    /// None: at least one part of it is not there.
    pub fn find(root: &Path, version: RuntimeVersion) -> Option<Net> {
        let folder = root.join("target/net");
        let read = |path: &str| fs::read_to_string(folder.join(path)).ok();
        let stamps = read("9/stamp")? + &read("compiler/stamp")?;
        let framework = |major: &str| {
            let version = read(&format!("{major}/version")).filter(|_| folder.join(major).join("stamp").exists())?;
            Some(folder.join(major).join("shared/Microsoft.NETCore.App").join(version.trim()))
        };
        let (framework_of_runs, dotnet) = match version {
            RuntimeVersion::Nine => (framework("9")?, folder.join("9/dotnet")),
            RuntimeVersion::Ten => (framework("10")?, folder.join("10/dotnet10")),
        };
        let (reference, compiler) = (framework("9")?, folder.join("compiler/csc"));
        Some(Net { reference, framework: framework_of_runs, dotnet, compiler, stamps })
    }

    /// A hash of what the framework and the compiler were made from.
    pub fn stamps(&self) -> &str {
        &self.stamps
    }

    /// The command that runs a program for modern .NET: the peer's, or Saki's on the framework's assemblies.
    pub fn command(&self, saki: &[String], is_peer: bool) -> Vec<String> {
        if is_peer {
            return vec![self.dotnet.display().to_string()];
        }
        let mut words = saki.to_vec();
        words.extend(["--framework".to_owned(), self.framework.display().to_string()]);
        words
    }

    /// The command where Saki has .NET's host find the framework below `DOTNET_ROOT`.
    pub fn hosted_command(&self, saki: &[String], is_peer: bool) -> Vec<String> {
        if is_peer {
            return self.command(saki, is_peer);
        }
        let mut words = saki.to_vec();
        words.push("--net".to_owned());
        words
    }

    /// The folder with a `dotnet`, for `DOTNET_ROOT`: programs that start themselves again name no framework.
    pub fn dotnet_root(&self) -> PathBuf {
        self.dotnet.parent().unwrap_or(Path::new(".")).to_path_buf()
    }

    /// Makes the programs up to date under `output_root`: the path of each one's `.dll`, or the compiler's messages, by
    /// name.
    /// Errors: a source that cannot be read, or a compiler that does not start.
    pub fn compile(
        &self,
        programs: &[&Program],
        compilers: &Compilers,
        output_root: &Path,
    ) -> Result<HashMap<String, Result<PathBuf, String>>, String> {
        let mut made = HashMap::new();
        let (mut libraries, mut lines, mut started) = (Vec::new(), Vec::new(), Vec::new());
        // Those that need types which 9 lacks.
        let mut lines_of_ten = Vec::new();
        for &program in programs {
            let target = Target::of(program, output_root)?;
            let stamp = self.stamp(program, target.library.as_deref())?;
            if target.assembly.exists() && fs::read_to_string(&target.stamp).is_ok_and(|old| old == stamp) {
                made.insert(program.name.clone(), Ok(target.assembly));
                continue;
            }
            target.clear()?;
            let mut options = options(program);
            if let Some(source) = &target.library {
                let library = target.assembly.with_extension("lib.dll");
                if source.extension().is_some_and(|e| e == "il") {
                    let own = target.assembly.with_extension("lib.il");
                    let text = fs::read_to_string(source).map_err(|e| format!("{}: {e}", source.display()))?;
                    fs::write(&own, il_for_net(&text)).map_err(|e| format!("{}: {e}", own.display()))?;
                    if let Err(report) = compile::build(&own, &library, true, &[], compilers) {
                        made.insert(program.name.clone(), Err(report));
                        continue;
                    }
                } else {
                    libraries.push(line(source, &library, &["-library".to_owned()]));
                }
                options.push(format!("-r:{}", library.display()));
            }
            let lines = if is_of_ten_alone(&program.source) { &mut lines_of_ten } else { &mut lines };
            lines.push(line(&program.source, &target.assembly, &options));
            started.push((program.name.clone(), target.assembly, target.stamp, stamp));
        }
        let mut messages = HashMap::new();
        if !lines.is_empty() {
            messages.extend(self.run_compiler(&[libraries, lines], output_root)?);
        }
        if !lines_of_ten.is_empty() {
            messages.extend(self.run_compiler_on(&self.framework, &[lines_of_ten], output_root)?);
        }
        for (name, assembly, stamp_path, stamp) in started {
            let result = match messages.get(&assembly) {
                None if assembly.exists() => {
                    fs::write(&stamp_path, stamp).map_err(|e| format!("{}: {e}", stamp_path.display()))?;
                    Ok(assembly)
                }
                message => Err(format!("does not compile:\n{}", message.map_or("", |m| m.trim_end()))),
            };
            made.insert(name, result);
        }
        Ok(made)
    }

    /// One process for all. Each wave's lines refer to what the waves before it make. The messages, by the output that
    /// they are about.
    pub fn run_compiler(&self, waves: &[Vec<String>], output_root: &Path) -> Result<HashMap<PathBuf, String>, String> {
        self.run_compiler_on(&self.reference, waves, output_root)
    }

    fn run_compiler_on(
        &self,
        reference: &Path,
        waves: &[Vec<String>],
        output_root: &Path,
    ) -> Result<HashMap<PathBuf, String>, String> {
        let batch = output_root.join("batch");
        // An empty line between two waves.
        let text = waves.iter().map(|lines| lines.join("\n")).collect::<Vec<_>>().join("\n\n");
        fs::write(&batch, text).map_err(|e| format!("{}: {e}", batch.display()))?;
        let done = Command::new(&self.compiler)
            .arg(format!("-fw:{}", reference.display()))
            .arg(format!("-batch:{}", batch.display()))
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("cannot start {}: {e}", self.compiler.display()))?;
        let output = String::from_utf8_lossy(&done.stdout);
        if !output.lines().last().is_some_and(|line| line.ends_with(" compiled")) {
            let report = String::from_utf8_lossy(&done.stderr);
            return Err(format!("the C# 12 compiler failed ({}):\n{}", done.status, report.trim_end()));
        }
        Ok(messages(&output))
    }

    fn stamp(&self, program: &Program, library: Option<&Path>) -> Result<String, String> {
        compile::stamp(program, library).map(|sources| {
            let mut hasher = DefaultHasher::new();
            self.stamps.hash(&mut hasher);
            format!("{sources}{:016x}", hasher.finish())
        })
    }
}

/// Whether the program belongs to the area that only modern .NET runs.
pub fn is_net(program: &Program) -> bool {
    program.name.starts_with(AREA)
}

/// Whether a program of the area `net` needs what only .NET 10 has: it has no `NAME.expected`. It is compiled against
/// .NET 10 and refers to no library of its own.
pub fn is_of_ten_alone(source: &Path) -> bool {
    source.with_extension("expected10").exists() && !source.with_extension("expected").exists()
}

/// The file with what a program is expected to print: `NAME.expected10` where .NET 10 prints something else than 9.
pub fn expected_file(source: &Path, version: RuntimeVersion) -> PathBuf {
    let ten = source.with_extension("expected10");
    if version == RuntimeVersion::Ten && ten.exists() { ten } else { source.with_extension("expected") }
}

/// Where a program's files lie.
struct Target {
    assembly: PathBuf,
    stamp: PathBuf,
    /// The source of the library that it refers to.
    library: Option<PathBuf>,
}

impl Target {
    fn of(program: &Program, output_root: &Path) -> Result<Target, String> {
        let directory = output_root.join(&program.name);
        let stem = program.source.file_stem().and_then(|s| s.to_str()).ok_or("source without a name")?;
        let library = compile::library_of(program, stem);
        Ok(Target { assembly: directory.join(format!("{stem}.dll")), stamp: directory.join("stamp"), library })
    }

    /// Removes what an earlier compilation made, so that only this one's output can be found.
    fn clear(&self) -> Result<(), String> {
        let directory = self.stamp.parent().ok_or("a stamp without a folder")?;
        // Absent when this is the first compilation.
        let _ = fs::remove_dir_all(directory);
        fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))
    }
}

/// The line before the types of a library in IL that .NET's class libraries have themselves, and the one behind them.
const OWN_TYPES: [&str; 2] = ["// The class library's, where it has them.", "// End."];

/// A library in IL, for .NET: the compiler asks for a core assembly with a version, and types that .NET has are taken
/// from there.
fn il_for_net(text: &str) -> String {
    const MSCORLIB: &str = ".assembly extern mscorlib {}";
    const VERSIONED: &str = ".assembly extern mscorlib { .ver 4:0:0:0 .publickeytoken = (B7 7A 5C 56 19 34 E0 89) }\n\
         .assembly extern System.Private.CoreLib { .ver 9:0:0:0 .publickeytoken = (7C EC 85 D7 BE A7 79 8E) }";
    let [begin, end] = OWN_TYPES;
    let (mut lines, mut own_types, mut is_own) = (Vec::new(), Vec::new(), false);
    for line in text.lines() {
        match line {
            line if line == begin => is_own = true,
            line if line == end => is_own = false,
            line if is_own && line.starts_with(".class") => {
                own_types.extend(line.split_whitespace().find(|word| word.starts_with("System.")));
            }
            line if !is_own => lines.push(line.replace(MSCORLIB, VERSIONED)),
            _ => {}
        }
    }
    let mut text = lines.join("\n") + "\n";
    for name in own_types {
        text = text.replace(name, &format!("[System.Private.CoreLib]{name}"));
    }
    text
}

/// A line of the batch: words are separated by tabs, since paths may hold blanks.
fn line(source: &Path, output: &Path, options: &[String]) -> String {
    let mut words = vec![source.display().to_string(), format!("-out:{}", output.display())];
    words.extend_from_slice(options);
    words.join("\t")
}

/// The compiler's options: those of the header `csc`, and what those of `mcs` mean here. Every assembly of the
/// framework is referred to, unsafe code is allowed and
/// warnings are off in any case.
fn options(program: &Program) -> Vec<String> {
    let from_mcs = program.header.compiler_options.iter().filter_map(|option| match option.as_str() {
        "-debug" => Some("-pdb".to_owned()),
        "-checked+" => Some("-checked".to_owned()),
        option if option.starts_with("-define:") => Some(option.to_owned()),
        _ => None,
    });
    let folder = program.source.parent().unwrap_or(Path::new("."));
    let own = program.header.csc_options.iter().map(|option| match option.strip_prefix("-resource:") {
        Some(file) => format!("-resource:{}", folder.join(file).display()),
        None => option.clone(),
    });
    // As the build tools of .NET define it.
    from_mcs.chain(own).chain(["-define:NET".to_owned()]).collect()
}

/// What the compiler says: `PATH: FAILED`, followed by the lines of its messages.
fn messages(output: &str) -> HashMap<PathBuf, String> {
    let mut all: HashMap<PathBuf, String> = HashMap::new();
    let mut current = None;
    for line in output.lines() {
        if let Some(path) = line.strip_suffix(": FAILED") {
            let path = PathBuf::from(path);
            all.entry(path.clone()).or_default();
            current = Some(path);
        } else if let Some(text) = current.as_ref().and_then(|path| all.get_mut(path)) {
            text.push_str(line);
            text.push('\n');
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_net_has_are_taken_from_there() {
        let text = ".assembly extern mscorlib {}\n// The class library's, where it has them.\n\
                    .class public System.A extends [mscorlib]System.Attribute {\n}\n// End.\n\
                    .class B { .custom instance void System.A::.ctor() }\n";
        let made = il_for_net(text);
        assert!(!made.contains(".class public System.A"), "{made}");
        assert!(made.contains(".custom instance void [System.Private.CoreLib]System.A::.ctor()"), "{made}");
        assert!(made.contains(".ver 4:0:0:0"), "{made}");
    }

    #[test]
    fn messages_belong_to_the_output_before_them() {
        let all = messages(
            "a/b.dll: FAILED\nb.cs(1,2): error CS0246: no\nb.cs(2,2): error\nc.dll: FAILED\nd\n3 of 5 compiled\n",
        );
        assert_eq!(all.len(), 2);
        assert_eq!(all[Path::new("a/b.dll")], "b.cs(1,2): error CS0246: no\nb.cs(2,2): error\n");
    }
}
