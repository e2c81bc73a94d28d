//! `--suite embedding`: what calls of Mono's embedding API cost a host, with Saki's library beside Mono's own.
//!
//! The host, `bench/embedding/host.c`, is compiled once with Debian's headers; the loader's search path says which
//! library it gets. `import clr` is a Python with pythonnet, whole processes, if `tools/embedding/setup` has made one.
//! Runs of the two are interleaved; a figure is the least, which a busy machine disturbs least.
//! Invariant: both libraries give every figure, or the run has failed. Left out: `--json`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::compiling::compile_file;
use super::figures::{failure, figures_of};
use super::options::Options;
use super::pages::write_section;
use super::report;
use crate::process::{self, Job};
use crate::tool::Outcome;

/// Where Debian has Mono's library.
const MONO_FOLDER: &str = "/usr/lib";

/// The most that Saki's figure may be of Mono's; `import clr` has another limit.
const GREATEST_RATIO: f64 = 0.7;

const IMPORT: &str = "import clr";

/// `import clr` under the library that the environment names.
const IMPORT_SCRIPT: &str = "import os, pythonnet; from clr_loader import get_mono; \
                             pythonnet.set_runtime(get_mono(libmono=os.environ['MONO_LIBRARY'])); import clr";

/// A figure of both, in nanoseconds: Saki's, Mono's.
struct Row {
    name: String,
    saki: f64,
    mono: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.saki / self.mono
    }

    fn limit(&self) -> f64 {
        if self.name == IMPORT { 1.0 } else { GREATEST_RATIO }
    }

    fn cells(&self) -> [String; 4] {
        let value = |ns: f64| if ns < 1e6 { format!("{ns:.0}") } else { format!("{:.0} ms", ns / 1e6) };
        [self.name.clone(), value(self.mono), value(self.saki), format!("{:.2}", self.ratio())]
    }
}

/// Runs the suite. Errors: Saki's library or Mono's headers are not there, or the host does not compile.
pub fn run(root: &Path, options: &Options, output: &Path) -> Outcome {
    let folder = std::env::var("MONO_COMPAT").unwrap_or("target/mono-compat".to_owned());
    let saki_folder = root.join(folder).join("lib");
    for folder in [&saki_folder, Path::new(MONO_FOLDER)] {
        let library = folder.join("libmonosgen-2.0.so.1");
        if !library.exists() {
            return Err(format!("{} is not there (./x bench --suite embedding builds Saki's)", library.display()));
        }
    }
    let sources = root.join("bench/embedding");
    let called = output.join("embedding.dll");
    compile_file(&sources.join("embedding.cs"), &called, &["-target:library".to_owned()])?;
    let host = compile_host(&sources, output)?;
    let python = std::env::var("EMBEDDING").unwrap_or("target/embedding".to_owned());
    let python = root.join(python).join("pythonnet/python/bin/python");
    let is_wanted = |name: &str| options.filter.as_ref().is_none_or(|filter| filter.is_match(name));
    let mut rows: Vec<Row> = Vec::new();
    for _ in 0..options.runs() {
        let run_both = |argv: &[String]| -> Result<[Vec<(String, f64)>; 2], String> {
            Ok([measure(argv, &saki_folder, output)?, measure(argv, Path::new(MONO_FOLDER), output)?])
        };
        let [mut saki, mut mono] = run_both(&[host.display().to_string(), called.display().to_string()])?;
        if python.exists() {
            let [of_saki, of_mono] =
                run_both(&[python.display().to_string(), "-c".to_owned(), IMPORT_SCRIPT.to_owned()])?;
            saki.extend(of_saki);
            mono.extend(of_mono);
        }
        for ((name, saki), (_, mono)) in saki.into_iter().zip(mono).filter(|((name, _), _)| is_wanted(name)) {
            match rows.iter_mut().find(|row| row.name == name) {
                Some(row) => (row.saki, row.mono) = (row.saki.min(saki), row.mono.min(mono)),
                None => rows.push(Row { name, saki, mono }),
            }
        }
    }
    if !python.exists() {
        println!("skipped: {IMPORT}: {} is not there (tools/embedding/setup)", python.display());
    }
    let mut lines = vec![["ns", "Mono", "Saki", "Saki/Mono"].map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(|row| row.cells().to_vec()));
    let mut text = report::aligned(&lines, options);
    for row in &rows {
        let mark = report::verdict_mark(Some(row.ratio() <= row.limit()));
        let _ = writeln!(text, "{mark}{}: {:.2} (required: at most {:.1})", row.name, row.ratio(), row.limit());
    }
    print!("\n{text}");
    if options.markdown {
        write_section(&root.join("docs/benchmarks.md"), options.suite, &markdown(&lines, options))?;
    }
    Ok(!rows.is_empty() && rows.iter().all(|row| row.ratio() <= row.limit()))
}

fn compile_host(sources: &Path, output: &Path) -> Result<PathBuf, String> {
    let host = output.join("embedding-host");
    let script = "cc -O2 \"$1\" $(pkg-config --cflags --libs mono-2) -lpthread -o \"$2\"";
    let done = Command::new("sh")
        .args(["-ec", script, "sh"])
        .arg(sources.join("host.c"))
        .arg(&host)
        .output()
        .map_err(|e| format!("cannot start sh: {e}"))?;
    if done.status.success() {
        return Ok(host);
    }
    Err(format!("the host does not compile (libmono-2.0-dev, gcc):\n{}", String::from_utf8_lossy(&done.stderr)))
}

/// The figures that a process prints; its own time, if it prints none. Errors: it ends badly.
fn measure(argv: &[String], library_folder: &Path, output: &Path) -> Result<Vec<(String, f64)>, String> {
    let library = library_folder.join("libmonosgen-2.0.so.1").display().to_string();
    let environment =
        [("LD_LIBRARY_PATH".to_owned(), library_folder.display().to_string()), ("MONO_LIBRARY".to_owned(), library)];
    let begin = Instant::now();
    let finished = process::run(&Job {
        argv,
        directory: output,
        environment: &environment,
        stdin: &[],
        timeout: Duration::from_secs(300),
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    if let Some(reason) = failure(&finished) {
        return Err(format!("{} with {}: {reason}", argv[0], library_folder.display()));
    }
    let figures = figures_of(&String::from_utf8_lossy(&finished.stdout));
    Ok(if figures.is_empty() { vec![(IMPORT.to_owned(), seconds * 1e9)] } else { figures })
}

fn markdown(lines: &[Vec<String>], options: &Options) -> String {
    let mut out = format!(
        "## Mono's embedding API\n\nWritten by `./x bench --suite embedding --markdown` on {}: {}.\n\nNanoseconds a call, the least of {} interleaved \
         runs of `bench/embedding/host.c` with each library; `{IMPORT}` is a Python with pythonnet, whole. Below 1, Saki is faster.\n\n",
        report::utc_now(),
        report::machine(),
        options.runs(),
    );
    for (index, line) in lines.iter().enumerate() {
        let _ = writeln!(out, "| {} |", line.join(" | "));
        if index == 0 {
            let _ = writeln!(out, "|{}", "---|".repeat(line.len()));
        }
    }
    out
}
