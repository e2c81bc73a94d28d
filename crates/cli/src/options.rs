//! The command line. Options come before the program; everything after it belongs to the program.

use crate::cache_command::CacheAction;
use crate::run_source::RunCommand;
use clap::Parser;
use saki_gc::{HeapOptions, Stress};
use saki_runtime::compile::DumpOptions;
use saki_runtime::compile_only::Form;
use saki_runtime::vm::Request;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Under GC stress, polls of compiled code between two collections for each allocation between two: loops poll much more
/// often than they allocate.
const STRESSED_POLLS_PER_ALLOCATION: u32 = 16;

/// Where Debian installs the class libraries.
pub const DEFAULT_FRAMEWORK_ROOT: &str = "/usr/lib/mono";

/// Runs .NET programs (CIL assemblies) on Mono's class libraries.
#[derive(Parser, Debug)]
#[command(name = "saki", version, about, long_about = None, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(
    after_help = "`saki run [OPTIONS] file.cs... [ARGUMENTS]` compiles C# and runs it: --options are Saki's, -options the \
compiler's (-r:lib.dll, -unsafe, -define:X).\n\
`saki repl [ARGUMENTS]` is an interactive C# shell (Debian's mono-csharp-shell).\n\
`saki info app.exe` shows an assembly's identity, references and entry point.\n\
`saki cache stat|clear|seed` shows, empties or fills the code cache.\n\
Environment: MONO_PATH adds directories to search for assemblies."
)]
pub struct Options {
    /// The program, a CIL executable, and its arguments
    #[arg(trailing_var_arg = true, required = true, num_args = 1.., value_names = ["PROGRAM", "ARGUMENTS"])]
    command: Vec<String>,

    /// Directory of the class libraries
    #[arg(long, value_name = "DIR", default_value = DEFAULT_FRAMEWORK_ROOT)]
    pub framework: PathBuf,

    /// Largest heap, as bytes with an optional k, m or g
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_heap: Option<usize>,

    /// Bytes allocated between two nursery collections [default: 4m to 32m, by the share of time that they take]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub nursery: Option<usize>,

    /// Threads that trace during a collection
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub gc_threads: usize,

    /// Test aid: collect at every N-th allocation and every 16·N-th poll, moving all that may move
    #[arg(long, value_name = "N", env = "SAKI_GC_STRESS")]
    pub gc_stress: Option<u32>,

    /// Neither use nor write the code cache ($XDG_CACHE_HOME/saki or ~/.cache/saki)
    #[arg(long, env = "SAKI_NO_CACHE", value_parser = clap::builder::BoolishValueParser::new())]
    pub no_cache: bool,

    /// Tell profilers and debuggers of compiled code: map (/tmp/perf-PID.map), jitdump[:DIR] (DIR/jit-PID.dump, for `perf inject
    /// --jit`), both of these, gdb; several with commas [env: SAKI_PERF=]
    #[arg(long, value_name = "LIST")]
    pub perf: Option<Request>,

    /// Print compile, memory and collection statistics at exit
    #[arg(long)]
    pub stats: bool,

    /// List the internal calls that the run asked for and Saki lacks
    #[arg(long)]
    pub missing: bool,

    /// Test aid: interrupt every thread HZ times a second, walk its stack in the signal handler and check what is found
    #[arg(long, value_name = "HZ", hide_short_help = true)]
    pub check_walks: Option<u32>,

    /// Run the code generator's verifier
    #[arg(long, hide_short_help = true)]
    pub verify: bool,

    /// Print each method when it is compiled
    #[arg(long, hide_short_help = true)]
    pub trace_compile: bool,

    /// Print the intermediate representation of methods whose name contains TEXT
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    pub dump_ir: Option<String>,

    /// Print the code generator's input and output for methods whose name contains TEXT
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    pub dump_clif: Option<String>,

    /// Test aid: print what becomes of this method (Namespace.Type:Method), without running the program
    #[arg(long, value_name = "METHOD", hide = true)]
    pub compile_only: Vec<String>,

    /// Where assemblies may lie besides; set by `saki run`.
    #[arg(skip)]
    pub assembly_folders: Vec<PathBuf>,

    /// What --compile-only prints
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Emit::Ir, hide = true)]
    emit: Emit,
}

/// `--emit`.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Emit {
    /// The intermediate representation
    Ir,
    /// Cranelift's input
    Clif,
    /// Machine instructions
    Disasm,
}

/// The interactive C# shell (Debian's mono-csharp-shell), below the framework root.
const SHELL: &str = "4.5/csharp.exe";

/// What to do.
pub enum Action {
    Run(Box<Options>),
    RunSource(RunCommand),
    Cache(CacheAction),
    Doctor,
    Info {
        path: PathBuf,
    },
    /// The command line makes no sense: one line.
    Refuse(String),
}

/// Parses the process's arguments; prints help or an error and exits when they ask for that.
pub fn parse() -> Action {
    let mut words = std::env::args_os().skip(1);
    let command = words.next();
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    match command.as_ref().and_then(|word| word.to_str()) {
        Some("info") => {
            if let (Some(path), None) = (words.next(), words.next())
                && !is_option(&path)
            {
                return Action::Info { path: path.into() };
            }
        }
        Some("doctor") => {
            return match words.next() {
                None => Action::Doctor,
                Some(_) => Action::Refuse("doctor: takes no arguments".to_owned()),
            };
        }
        Some("cache") => {
            let action = words.next().and_then(|word| CacheAction::parse(word.to_str()?));
            return match (action, words.next()) {
                (Some(action), None) => Action::Cache(action),
                _ => Action::Refuse("cache: 'stat', 'clear' or 'seed' is expected".to_owned()),
            };
        }
        Some("run") => {
            let words: Vec<OsString> = words.collect();
            if words.first().is_none_or(|word| word != "--help" && word != "-h") {
                return RunCommand::parse(words.into_iter()).map_or_else(Action::Refuse, Action::RunSource);
            }
            Options::parse_words([OsString::from("saki"), OsString::from("--help")].into_iter());
        }
        Some("repl") => {
            let shell = Path::new(DEFAULT_FRAMEWORK_ROOT).join(SHELL);
            return Action::Run(Box::new(Options::parse_words(
                [OsString::from("saki"), shell.into_os_string()].into_iter().chain(words),
            )));
        }
        _ => {}
    }
    Action::Run(Box::new(Options::parse()))
}

fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.chars().last().map(|c| c.to_ascii_lowercase()) {
        Some('k') => (&text[..text.len() - 1], 10),
        Some('m') => (&text[..text.len() - 1], 20),
        Some('g') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: usize = digits.parse().map_err(|_| format!("'{text}' is no size (examples: 512m, 2g)"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("'{text}' is too large"))
}

/// MONO_PATH's directories.
fn mono_path() -> Vec<PathBuf> {
    std::env::var_os("MONO_PATH")
        .map(|v| std::env::split_paths(&v).filter(|p| !p.as_os_str().is_empty()).collect())
        .unwrap_or_default()
}

impl Options {
    /// As `parse`, of a command line made here.
    pub fn parse_words(words: impl Iterator<Item = OsString>) -> Options {
        <Options as Parser>::parse_from(words)
    }

    /// Directories to search for assemblies before the program's own.
    pub fn mono_path(&self) -> Vec<PathBuf> {
        mono_path().into_iter().chain(self.assembly_folders.iter().cloned()).collect()
    }

    /// Path of the program.
    pub fn program(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// Arguments for the program.
    pub fn arguments(&self) -> &[String] {
        self.command.get(1..).unwrap_or(&[])
    }

    pub fn framework_root(&self) -> PathBuf {
        self.framework.clone()
    }

    pub fn heap(&self) -> HeapOptions {
        let stress = self.gc_stress.filter(|&n| n > 0).map(|n| Stress {
            every_nth_allocation: n,
            every_nth_safepoint: n.saturating_mul(STRESSED_POLLS_PER_ALLOCATION),
        });
        HeapOptions {
            max_heap_bytes: self.max_heap,
            nursery_bytes: self.nursery,
            gc_threads: self.gc_threads.max(1),
            stress,
        }
    }

    pub fn dump(&self) -> DumpOptions {
        DumpOptions { ir: self.dump_ir.clone(), clif: self.dump_clif.clone(), trace: self.trace_compile }
    }

    /// Whether to use the code cache: not when something was asked for that is only seen when code is compiled.
    pub fn code_cache(&self) -> bool {
        let wants_compiling =
            self.verify || self.dump_ir.is_some() || self.dump_clif.is_some() || !self.compile_only.is_empty();
        !self.no_cache && !wants_compiling
    }

    /// What `compile_only` asks for.
    pub fn form(&self) -> Form {
        match self.emit {
            Emit::Ir => Form::Ir,
            Emit::Clif => Form::Clif,
            Emit::Disasm => Form::Disassembly,
        }
    }
}
