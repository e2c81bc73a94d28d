//! The suites, their programs, and the options of `cargo xtask bench`.

use regex::Regex;

/// The eight programs whose geometric mean is reported.
pub(super) const KERNELS: [&str; 8] =
    ["fib", "nbody", "spectral-norm", "fannkuch", "mandelbrot", "sieve", "matmul", "binary-trees"];

/// All programs, in the order in which they run and are shown.
const PROGRAMS: [&str; 10] =
    ["hello", "alloc", "fib", "nbody", "spectral-norm", "fannkuch", "mandelbrot", "sieve", "matmul", "binary-trees"];

/// Programs that live by the class library; all of them count in their geometric mean.
const LIBRARY: [&str; 6] = ["file-copy", "line-reading", "formatting", "collections", "regex", "json"];

/// What to measure.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Suite {
    /// Start-up, allocation and the eight kernels.
    Kernels,
    /// Handles, weak references, locks, allocation by several threads.
    Threads,
    /// Methods made at run time.
    Dynamic,
    /// P/Invokes, thread statics, reflection's invoke, checked and decimal arithmetic, async methods; beside .NET 9
    /// ($DOTNET9) as well.
    Operations,
    /// Files, text, collections, regular expressions, JSON.
    Library,
    /// What threads cost in the three modes, beside Go and Java as well.
    Green,
    /// Servers and other I/O in Saki's thread modes and I/O models, beside Go and Java as well. Needs wrk.
    Io,
    /// What profiling costs.
    Profile,
    /// Vectors, and the class library's loops over memory and text; beside .NET 9 ($DOTNET9) as well.
    Simd,
    /// Programs for .NET on its class libraries, beside .NET 9 and 10 (target/net).
    Net,
    /// A server of ASP.NET Core, beside .NET 9 and 10 (target/net). Needs wrk.
    Web,
    /// Calls of Mono's embedding API by a host in C, and `import clr` in Python, beside Mono's own library.
    Embedding,
}

impl Suite {
    pub(super) fn programs(self) -> &'static [&'static str] {
        if self == Suite::Library { &LIBRARY } else { &PROGRAMS }
    }

    /// The programs of the geometric mean, and what the table calls it.
    pub(super) fn averaged(self) -> (&'static [&'static str], &'static str) {
        if self == Suite::Library {
            (&LIBRARY, "geometric mean of the library programs")
        } else {
            (&KERNELS, "geometric mean of the eight")
        }
    }
}

const DEFAULT_RUNS: usize = 5;

#[derive(clap::Args)]
pub struct Options {
    /// What to measure.
    #[arg(long, value_enum, default_value = "kernels")]
    pub(super) suite: Suite,
    /// Runtime command of Saki (default: target/release/saki).
    #[arg(long, value_name = "COMMAND")]
    pub(super) saki: Option<String>,
    /// Repetitions of each program under each runtime [default: 5, of the suites green, io and profile 3].
    #[arg(long)]
    pub(super) runs: Option<usize>,
    /// Only programs whose name matches this regular expression.
    #[arg(long, value_name = "RE")]
    pub(super) filter: Option<Regex>,
    /// Do not run this runtime (saki, mono, coreclr; in the suites green, io and net the columns that they print); may
    /// be repeated.
    #[arg(long, value_name = "NAME")]
    pub(super) without: Vec<String>,
    /// Measure processor seconds instead of wall seconds: for a machine that does other work, too.
    #[arg(long)]
    pub(super) cpu: bool,
    /// Also write docs/benchmarks.md.
    #[arg(long)]
    pub(super) markdown: bool,
    /// Also store the figures in bench/results/.
    #[arg(long)]
    pub(super) json: bool,
}

impl Options {
    pub(super) fn runs(&self) -> usize {
        self.runs.unwrap_or(DEFAULT_RUNS).max(1)
    }
}
