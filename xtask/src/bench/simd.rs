//! `--suite simd`: vectors, and the class library's loops over memory and text, beside .NET 9 (`$DOTNET9`), CoreCLR and
//! Mono.
//!
//! Programs are compiled against Debian's assemblies and run whole, as those of the other suites. Three things differ:
//!
//! - Debian's class library has `Vector<T>` in mscorlib, where CoreCLR 3.1 does not look for it. So programs with
//!   `Vector<T>` are compiled once more for it, against the reference assemblies that come with its SDK.
//! - Mono runs `Vector<T>` as a structure of scalars, for minutes where others take half a second: it has no figure for
//!   programs that do little else.
//! - Only Mono has a runtime that knows Mono.Simd.dll. The assembly lies beside the programs, so that the others run
//!   its managed code.
//!
//! Invariant: what a program prints does not depend on how many elements a vector has.

use std::fs;
use std::path::{Path, PathBuf};

use super::compiling::compile_file;
use super::measurement::{Cell, Row, measure};
use super::options::Options;
use super::pages::publish;
use super::peers::{self, Runtime};
use super::report::{self, ratio_of};
use crate::tool::Outcome;

struct Program {
    name: &'static str,
    has_generic_vectors: bool,
    is_for_mono: bool,
}

const fn program(name: &'static str) -> Program {
    Program { name, has_generic_vectors: false, is_for_mono: true }
}

/// With `Vector<T>` beside other work.
const fn with_generic_vectors(name: &'static str) -> Program {
    Program { name, has_generic_vectors: true, is_for_mono: true }
}

const fn all_generic_vectors(name: &'static str) -> Program {
    Program { name, has_generic_vectors: true, is_for_mono: false }
}

/// What is required beside a peer: of the geometric mean, and of each program.
struct Required {
    peer: &'static str,
    greatest_mean: Option<f64>,
    greatest_ratio: Option<f64>,
}

/// A group has a mean of its own.
struct Group {
    title: &'static str,
    programs: &'static [Program],
    required: &'static [Required],
}

const VECTORS: Group = Group {
    title: "vectors",
    programs: &[
        all_generic_vectors("dot-product"),
        all_generic_vectors("saxpy"),
        all_generic_vectors("mandelbrot-vector"),
        program("matrix-vectors"),
        program("ray-boxes"),
        with_generic_vectors("histogram"),
        all_generic_vectors("prefix-sums"),
        with_generic_vectors("byte-search"),
        program("utf8"),
        program("image-blur"),
    ],
    required: &[
        Required { peer: "net9", greatest_mean: Some(1.2), greatest_ratio: Some(2.0) },
        Required { peer: "coreclr", greatest_mean: Some(1.0), greatest_ratio: None },
    ],
};

const LOOPS: Group = Group {
    title: "memory and text",
    programs: &[
        program("memory-copy"),
        program("string-compare"),
        program("string-search"),
        program("string-building"),
        program("text-without-case"),
        program("array-order"),
        program("base64-hex"),
        program("big-numbers"),
    ],
    required: &[Required { peer: "net9", greatest_mean: None, greatest_ratio: Some(1.0) }],
};

/// Column titles of the ratios.
const PEERS: [(&str, &str); 3] = [("net9", "Saki/.NET 9"), ("coreclr", "Saki/CoreCLR"), ("mono", "Saki/Mono")];

const MONO_SIMD: &str = "/usr/lib/mono/4.5/Mono.Simd.dll";

/// An executable for each kind of runtime.
struct Executables {
    debian: PathBuf,
    /// For CoreCLR 3.1, if it needs one of its own.
    core: Option<PathBuf>,
}

impl Executables {
    fn of(&self, runtime: &Runtime) -> &Path {
        match &self.core {
            Some(core) if runtime.name == "coreclr" => core,
            _ => &self.debian,
        }
    }
}

/// The SDK's reference assemblies, by the path of its `dotnet`.
fn reference_assemblies(dotnet: &str) -> Option<Vec<String>> {
    let command = Path::new(dotnet);
    let found = std::env::var_os("PATH")
        .into_iter()
        .flat_map(|path| std::env::split_paths(&path).map(|folder| folder.join(dotnet)).collect::<Vec<_>>())
        .find(|path| path.exists());
    let dotnet = if command.components().count() > 1 { command.to_owned() } else { found? };
    let packs = fs::canonicalize(dotnet).ok()?.parent()?.join("packs/Microsoft.NETCore.App.Ref");
    let version = fs::read_dir(packs).ok()?.flatten().map(|entry| entry.path().join("ref")).next()?;
    let folder = fs::read_dir(version).ok()?.flatten().next()?.path();
    let mut files: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let is_wanted = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".dll") && (name.starts_with("System") || matches!(name, "netstandard.dll" | "mscorlib.dll"))
    };
    files.retain(|path| is_wanted(path));
    Some(files.iter().map(|path| format!("-r:{}", path.display())).collect())
}

fn compile(root: &Path, program: &Program, output: &Path, references: &[String]) -> Result<Executables, String> {
    let source = root.join(format!("bench/simd/{}.cs", program.name));
    let debian = output.join(format!("{}.exe", program.name));
    // 618: Mono.Simd is obsolete.
    let arguments = ["-nowarn:618", "-r:System.Core", "-r:System.Numerics", &format!("-r:{MONO_SIMD}")];
    compile_file(&source, &debian, &arguments.map(str::to_owned))?;
    if !program.has_generic_vectors || references.is_empty() {
        return Ok(Executables { debian, core: None });
    }
    let core = output.join(format!("{}.core.exe", program.name));
    // 1702: reference assemblies refer to each other by several versions.
    let mut arguments = ["-nowarn:1702", "-nostdlib", "-noconfig"].map(str::to_owned).to_vec();
    arguments.extend_from_slice(references);
    compile_file(&source, &core, &arguments)?;
    Ok(Executables { debian, core: Some(core) })
}

/// Runs the suite on these runtimes and .NET 9. Errors: a program does not compile. The verdict is false when a runtime
/// failed a program or a required figure was missed.
pub fn run(root: &Path, options: &Options, mut runtimes: Vec<Runtime>, output: &Path) -> Outcome {
    let output = &output.join("simd");
    fs::create_dir_all(output).map_err(|e| format!("{}: {e}", output.display()))?;
    fs::copy(MONO_SIMD, output.join("Mono.Simd.dll")).map_err(|e| format!("{MONO_SIMD}: {e}"))?;
    if !options.without.iter().any(|name| name == "net9")
        && let Some(net9) = peers::net9("net9", output)?
    {
        println!("{:8} {}", net9.name, net9.version);
        runtimes.insert(1.min(runtimes.len()), net9);
    }
    let references = runtimes.iter().find(|r| r.name == "coreclr").and_then(|r| reference_assemblies(&r.argv[0]));
    let references = references.unwrap_or_default();
    let mut rows = Vec::new();
    for program in VECTORS.programs.iter().chain(LOOPS.programs) {
        if options.filter.as_ref().is_some_and(|filter| !filter.is_match(program.name)) {
            continue;
        }
        let executables = compile(root, program, output, &references)?;
        let row = measure_program(program, &executables, &runtimes, options)?;
        println!("{}", report::progress(&row, &runtimes));
        rows.push(row);
    }
    let verdicts: Vec<Verdict> = [&VECTORS, &LOOPS].into_iter().flat_map(|g| verdicts(g, &rows, &runtimes)).collect();
    print!("\n{}", text(&rows, &runtimes, &verdicts, options));
    publish(root, options, &rows, &runtimes, || markdown(&rows, &runtimes, options))?;
    let all_ran = rows.iter().all(|row| row.cells.iter().all(|cell| cell.failure.is_none()));
    Ok(all_ran && verdicts.iter().all(|v| v.is_met != Some(false)))
}

/// A runtime that the program is not for has an empty cell.
fn measure_program(
    program: &Program,
    executables: &Executables,
    runtimes: &[Runtime],
    options: &Options,
) -> Result<Row, String> {
    let is_measured = |runtime: &Runtime| program.is_for_mono || runtime.name != "mono";
    let measured: Vec<Runtime> = runtimes.iter().filter(|runtime| is_measured(runtime)).cloned().collect();
    let mut row = measure(program.name, |runtime| executables.of(runtime), &measured, options)?;
    for (index, _) in runtimes.iter().enumerate().filter(|(_, runtime)| !is_measured(runtime)) {
        row.cells.insert(index, Cell { seconds: Vec::new(), max_rss_kib: 0, failure: None, stdout: None });
    }
    Ok(row)
}

struct Verdict {
    text: String,
    /// `None`: not measured in this run.
    is_met: Option<bool>,
}

/// A program's name, and Saki's time over the peer's.
type Ratio = (&'static str, f64);

/// The ratios of a group's programs that were measured, with their names.
fn ratios(group: &Group, rows: &[Row], runtimes: &[Runtime], peer: &str) -> Vec<Ratio> {
    let row_of = |program: &Program| rows.iter().find(|row| row.program == program.name);
    group
        .programs
        .iter()
        .filter_map(|program| Some((program.name, ratio_of(row_of(program)?, runtimes, peer)?)))
        .collect()
}

fn mean(ratios: &[Ratio]) -> f64 {
    (ratios.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

fn worst(ratios: &[Ratio]) -> Option<Ratio> {
    ratios.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// A mean counts when each of the programs has a figure; a ratio above the limit counts at once.
fn verdicts(group: &Group, rows: &[Row], runtimes: &[Runtime]) -> Vec<Verdict> {
    let mut all = Vec::new();
    for Required { peer, greatest_mean, greatest_ratio } in group.required {
        let ratios = ratios(group, rows, runtimes, peer);
        let is_whole = ratios.len() == group.programs.len();
        let title = PEERS.iter().find(|(name, _)| name == peer).map_or(*peer, |(_, title)| title);
        if let Some(limit) = greatest_mean {
            let (text, is_met) = match is_whole {
                true => (format!("{:.2}×", mean(&ratios)), Some(mean(&ratios) <= *limit)),
                false => ("not measured".to_owned(), None),
            };
            let text = format!("{}, geometric mean, {title}: {text} (required: at most {limit:.2}×)", group.title);
            all.push(Verdict { text, is_met });
        }
        if let Some(limit) = greatest_ratio {
            let (text, is_met) = match worst(&ratios) {
                Some((name, ratio)) if is_whole || ratio > *limit => {
                    (format!("{ratio:.2}× ({name})"), Some(ratio <= *limit))
                }
                _ => ("not measured".to_owned(), None),
            };
            all.push(Verdict {
                text: format!("{}, worst, {title}: {text} (required: at most {limit:.2}×)", group.title),
                is_met,
            });
        }
    }
    all
}

/// Header and body of the table, as cells. After each group its means and the worst.
fn table(rows: &[Row], runtimes: &[Runtime]) -> Vec<Vec<String>> {
    let mut header = vec!["program".to_owned()];
    header.extend(runtimes.iter().map(|runtime| runtime.name.to_owned()));
    header.extend(PEERS.iter().map(|(_, title)| (*title).to_owned()));
    let mut lines = vec![header];
    for group in [&VECTORS, &LOOPS] {
        for row in rows.iter().filter(|row| group.programs.iter().any(|program| program.name == row.program)) {
            let mut line = vec![row.program.to_owned()];
            line.extend(row.cells.iter().map(report::cell_text));
            line.extend(PEERS.iter().map(|(peer, _)| report::ratio_text(ratio_of(row, runtimes, peer))));
            lines.push(line);
        }
        let of_peers = PEERS.map(|(peer, _)| ratios(group, rows, runtimes, peer));
        let summary = |title: &str, figure: fn(&[Ratio]) -> Option<f64>| {
            let mut line = vec![format!("{title} of {}", group.title)];
            line.extend(runtimes.iter().map(|_| String::new()));
            line.extend(of_peers.iter().map(|ratios| report::ratio_text(figure(ratios))));
            line
        };
        lines.push(summary("geometric mean", |ratios| (!ratios.is_empty()).then(|| mean(ratios))));
        lines.push(summary("worst", |ratios| worst(ratios).map(|(_, ratio)| ratio)));
    }
    lines
}

fn text(rows: &[Row], runtimes: &[Runtime], verdicts: &[Verdict], options: &Options) -> String {
    let mut out = report::aligned(&table(rows, runtimes), options);
    for verdict in verdicts {
        out.push_str(&format!("{}{}\n", report::verdict_mark(verdict.is_met), verdict.text));
    }
    out
}

fn markdown(rows: &[Row], runtimes: &[Runtime], options: &Options) -> String {
    let mut out = format!(
        "## Vectors\n\nWritten by `./x bench --suite simd --markdown` on {}: {}.\n\nSeconds of {} time of whole processes, start-up \
         included, minimum/median of {} interleaved runs, and peak resident memory. Programs: `bench/simd/*.cs`, compiled with `mcs -optimize+` against Debian's \
         assemblies; those with `Vector<T>` for CoreCLR against its own. Mono has no figure where `Vector<T>`, which it runs as scalars, is all there is. Only Mono and Saki know Mono.Simd (image-blur); the others run its managed code. Ratios are of \
         medians; below 1, Saki is faster.\n\n",
        report::utc_now(),
        report::machine(),
        report::time_measured(options),
        options.runs()
    );
    report::add_table(&mut out, runtimes, &table(rows, runtimes));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime(name: &'static str) -> Runtime {
        Runtime { name, version: String::new(), argv: Vec::new(), environment: Vec::new() }
    }

    fn row(program: &'static str, medians: [f64; 2]) -> Row {
        let cell = |s| Cell { seconds: vec![s], max_rss_kib: 0, failure: None, stdout: None };
        Row { program, cells: medians.map(cell).into() }
    }

    #[test]
    fn one_slow_program_is_a_missed_figure() {
        let runtimes = [runtime("saki"), runtime("net9")];
        let mut rows: Vec<Row> = LOOPS.programs.iter().map(|program| row(program.name, [1.0, 2.0])).collect();
        let is_met = |rows: &[Row]| verdicts(&LOOPS, rows, &runtimes)[0].is_met;
        assert_eq!(is_met(&rows), Some(true));
        rows[3] = row(rows[3].program, [3.0, 2.0]);
        assert_eq!(is_met(&rows), Some(false));
        assert!(verdicts(&LOOPS, &rows, &runtimes)[0].text.contains(rows[3].program));
        rows.truncate(2);
        assert_eq!(is_met(&rows), None);
    }

    #[test]
    fn every_program_has_its_source() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/simd");
        for program in VECTORS.programs.iter().chain(LOOPS.programs) {
            assert!(folder.join(format!("{}.cs", program.name)).exists(), "{}", program.name);
        }
    }
}
