//! The command line: subcommands, and the options of the virtual machine that they share.
//!
//! `saki app.exe …` is the default command: everything behind the program is the program's. A first word that names a subcommand is
//! that subcommand, even if a file of that name exists (`saki ./info` runs the file). All help texts, man pages and shell
//! completions come from these definitions (`crate::generate`). Left out: Mono's command line (`crate::mono`).

use crate::cache_command::CacheAction;
use crate::heap_command::HeapWords;
use crate::profile_command::ProfileRequest;
use crate::profile_kind::{ABOUT_HEAP, HEAP, Kind, KindWord, parse_kinds};
use crate::profile_option::ProfileOption;
use crate::profile_words::ProfileWords;
use crate::run_source::RunCommand;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};
use saki_gc::{HeapOptions, Stress};
use saki_reactor::IoModel;
use saki_runtime::compile::DumpOptions;
use saki_runtime::compile_only::Form;
use saki_runtime::vm::Request;
use saki_sched::{DEFAULT_HOT_STACKS, ThreadMode};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Under GC stress, polls of compiled code between two collections for each allocation between two: loops poll much more
/// often than they allocate.
const STRESSED_POLLS_PER_ALLOCATION: u32 = 16;

/// Where Debian installs the class libraries.
pub const DEFAULT_FRAMEWORK_ROOT: &str = "/usr/lib/mono";

/// The default number of collector threads.
const DEFAULT_GC_THREADS: usize = 1;

/// Version and commit (`build.rs`).
pub const VERSION: &str = env!("SAKI_VERSION");

/// Runs .NET programs (CIL assemblies) on Mono's class libraries.
#[derive(Parser, Debug)]
#[command(name = "saki", version = VERSION, about, long_about = None, arg_required_else_help = true)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(override_usage = "saki [OPTIONS] PROGRAM [ARGUMENTS]...\n       saki COMMAND [...]")]
#[command(
    after_help = "Everything behind PROGRAM is the program's. A file with the name of a command is run as ./NAME.\n\
'saki help COMMAND' tells more. Called by the name 'mono', Saki takes Mono's command line.\n\
Environment: MONO_PATH adds directories to search for assemblies; docs/mono-options.md lists Mono's other variables."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Commands>,
    #[command(flatten)]
    program: ProgramCommand,
}

/// The default command.
#[derive(Parser, Debug)]
#[command(name = "saki", version = VERSION, arg_required_else_help = true)]
struct ProgramCommand {
    /// The program, a CIL executable, and its arguments
    #[arg(trailing_var_arg = true, required = true, num_args = 1.., value_names = ["PROGRAM", "ARGUMENTS"])]
    #[arg(value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    #[command(flatten)]
    options: Options,
}

/// The subcommands, in the order of the help.
#[derive(Subcommand, Debug)]
enum Commands {
    /// Run a program, or compile C# sources and run the result
    #[command(
        override_usage = "saki run [OPTIONS] PROGRAM [ARGUMENTS]...\n       saki run [OPTIONS] [-COMPILER_OPTION]... SOURCE.cs... [--] [ARGUMENTS]...",
        after_help = "Sources are compiled with mcs.exe, run by Saki itself; what comes out is kept in the cache. Options with one dash\n\
are the compiler's (-r:lib.dll, -unsafe, -define:X), those with two dashes Saki's. '--' ends the sources."
    )]
    Run(RunWords),
    /// Start an interactive C# shell (Debian's mono-csharp-shell)
    Repl(ReplWords),
    /// Show an assembly's identity, references and entry point
    Info {
        /// Assemblies or modules
        #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    /// Show what Saki finds on this machine, and what it does about it
    #[command(after_help = "The exit code is 1 when a program could not run.")]
    Doctor {
        #[command(flatten)]
        framework: FrameworkRoot,
    },
    /// Run a program and show where it spends its time, or show a profile that was written
    #[command(arg_required_else_help = true)]
    Profile(Box<ProfileCommand>),
    /// Show, empty or fill the code cache
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Cache {
        #[command(subcommand)]
        action: CacheCommands,
    },
    /// Write man pages and shell completions below DIR, where a system looks for them below its prefix
    #[command(hide = true)]
    Generate {
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

/// Words that are subcommands when they come first (a test compares them with the definitions).
const COMMAND_NAMES: [&str; 8] = ["run", "repl", "info", "doctor", "profile", "cache", "generate", "help"];

/// `saki run`.
#[derive(Args, Debug)]
struct RunWords {
    /// The program or the C# sources, and the program's arguments
    #[arg(trailing_var_arg = true, required = true, num_args = 1.., value_names = ["PROGRAM|SOURCE.cs", "ARGUMENTS"])]
    #[arg(value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    #[command(flatten)]
    options: Options,
}

/// `saki repl`.
#[derive(Args, Debug)]
struct ReplWords {
    /// The shell's options and scripts: -r:LIBRARY, -e EXPRESSION, FILE.cs
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS", value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    #[command(flatten)]
    options: Options,
}

/// `saki profile`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(
    override_usage = "saki profile [KINDS] [OPTIONS] PROGRAM [ARGUMENTS]...\n       saki profile [KINDS] [OPTIONS] --pid PID\n       saki profile COMMAND [...]",
    after_help = kinds_help()
)]
struct ProfileCommand {
    #[command(subcommand)]
    action: Option<ProfileCommands>,

    #[command(flatten)]
    words: ProfileWords,
}

fn kinds_help() -> String {
    let kinds = Kind::ALL.iter().map(|kind| (kind.name(), kind.about()));
    let rows = kinds.chain([(HEAP, ABOUT_HEAP)]).map(|(name, about)| format!("\n  {name:<12}{about}"));
    format!("KINDS, several with commas [default: cpu]:{}", rows.collect::<String>())
}

/// What shows profiles that were written, and the heap, which is no profile.
#[derive(Subcommand, Debug)]
enum ProfileCommands {
    /// Show what is alive when a program ends, and what keeps it alive
    #[command(
        override_usage = "saki profile heap [OPTIONS] PROGRAM [ARGUMENTS]...\n       saki profile heap [OPTIONS] --pid PID"
    )]
    Heap(Box<HeapWords>),
    /// Show a profile (pprof, speedscope, firefox or folded) as a table and a call tree, or a heap snapshot
    View {
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Of a heap snapshot: say why the objects of this type are alive
        #[arg(long, value_name = "TYPE")]
        why: Vec<String>,
    },
    /// Show whose shares differ between two profiles (pprof, speedscope, firefox or folded), or which types grew between two heap snapshots
    Diff {
        #[arg(value_name = "BEFORE", value_hint = ValueHint::FilePath)]
        before: PathBuf,
        #[arg(value_name = "AFTER", value_hint = ValueHint::FilePath)]
        after: PathBuf,
        /// Write a flame graph (svg) of AFTER: red where more was spent than in BEFORE, blue where less
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
}

/// `saki cache`.
#[derive(Subcommand, Debug)]
enum CacheCommands {
    /// List the files of compiled code, and those that an installation shares
    Stat,
    /// Remove the files of compiled code
    Clear,
    /// Compile what most programs use of the class library, and the C# compiler
    Seed {
        #[command(flatten)]
        framework: FrameworkRoot,
    },
}

/// `--framework` where it is the only option.
#[derive(Args, Debug)]
struct FrameworkRoot {
    /// Directory of the class libraries
    #[arg(long, value_name = "DIR", default_value = DEFAULT_FRAMEWORK_ROOT, value_hint = ValueHint::DirPath)]
    framework: PathBuf,
}

/// What runs of programs have in common.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The program and its arguments.
    #[arg(skip)]
    pub command: Vec<String>,

    /// Directory of the class libraries
    #[arg(long, value_name = "DIR", default_value = DEFAULT_FRAMEWORK_ROOT, value_hint = ValueHint::DirPath)]
    pub framework: PathBuf,

    /// Largest heap, as bytes with an optional k, m or g
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_heap: Option<usize>,

    /// Bytes allocated between two nursery collections [default: 4m to 32m, by the share of time that they take]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub nursery: Option<usize>,

    /// Threads that trace during a collection
    #[arg(long, value_name = "N", default_value_t = DEFAULT_GC_THREADS)]
    pub gc_threads: usize,

    /// How threads are executed: native (OS threads), green (in turns on one OS thread), mn[:CARRIERS] (in turns on several, by default as
    /// many as there are processors)
    #[arg(long, value_name = "MODE", env = "SAKI_THREADS", default_value_t = ThreadMode::Native)]
    pub threads: ThreadMode,

    /// How threads wait for sockets, pipes and terminals: blocking (in the system call), poll, epoll or uring (parked, the system is asked
    /// for all of them together). Default: blocking with native threads, else epoll
    #[arg(long, value_name = "MODEL", env = "SAKI_IO")]
    pub io: Option<IoModel>,

    /// Green threads' stacks that keep their place: of more, those that are not used move to compact memory
    #[arg(long, value_name = "N", env = "SAKI_HOT_STACKS", default_value_t = DEFAULT_HOT_STACKS)]
    pub hot_stacks: usize,

    /// Test aid: collect at every N-th allocation and every 16·N-th poll, moving all that may move
    #[arg(long, value_name = "N", env = "SAKI_GC_STRESS")]
    pub gc_stress: Option<u32>,

    /// Neither use nor write the code cache ($XDG_CACHE_HOME/saki or ~/.cache/saki)
    #[arg(long, env = "SAKI_NO_CACHE", value_parser = clap::builder::BoolishValueParser::new())]
    pub no_cache: bool,

    /// Run code of vector types (System.Numerics) as the class library has it, without the processor's vectors
    #[arg(long, env = "SAKI_NO_SIMD", value_parser = clap::builder::BoolishValueParser::new())]
    pub no_simd: bool,

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

    /// Test aid: load and compile the files that standard input names, each in a child, without running them
    #[arg(long, hide = true)]
    pub check_mutants: bool,

    /// Profile as Mono's option does (log:sample,output=FILE); 'saki profile' has more
    #[arg(long, value_name = "LIST", env = "SAKI_PROFILE", hide_short_help = true, hide_env = true)]
    pub profile: Option<ProfileOption>,

    /// Where assemblies may lie besides; set by `saki run`.
    #[arg(skip)]
    pub assembly_folders: Vec<PathBuf>,

    /// What --compile-only prints
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Emit::Ir, hide = true)]
    pub emit: Emit,
}

/// `--emit`.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Emit {
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
    RunSource(Box<RunCommand>),
    Cache { action: CacheAction, framework_root: PathBuf },
    Doctor { framework_root: PathBuf },
    Info { files: Vec<PathBuf> },
    AttachProfile { process: u32, request: Box<ProfileRequest> },
    ViewProfile { file: PathBuf, why: Vec<String> },
    CompareProfiles { before: PathBuf, after: PathBuf, output: Option<PathBuf> },
    Generate { folder: PathBuf },
}

/// What to print instead, and the exit code.
#[derive(Debug, PartialEq, Eq)]
pub struct Stop {
    pub text: String,
    pub goes_to_standard_output: bool,
    pub exit_code: i32,
}

impl Stop {
    /// An error, on standard error.
    pub fn error(exit_code: i32, text: impl Into<String>) -> Stop {
        Stop { text: text.into(), goes_to_standard_output: false, exit_code }
    }

    /// An answer that the command line asked for, such as help.
    pub fn answer(text: impl Into<String>) -> Stop {
        Stop { text: text.into(), goes_to_standard_output: true, exit_code: 0 }
    }

    pub fn refuse(name: &str, text: &str) -> Stop {
        Stop::error(crate::EXIT_UNUSABLE, format!("{name}: {text}\n"))
    }

    /// Prints it; the exit code.
    pub fn print(&self) -> i32 {
        if self.goes_to_standard_output {
            print!("{}", self.text)
        } else {
            eprint!("{}", self.text)
        }
        self.exit_code
    }
}

/// Reads a command line, without the command's own name.
///
/// # Errors
/// The words make no sense, or ask for help.
pub fn parse(words: Vec<OsString>) -> Result<(&'static str, Action), Stop> {
    if let Some(options) = plain_program(&words) {
        return Ok(("saki", Action::Run(Box::new(options))));
    }
    let name = words.first().and_then(|word| COMMAND_NAMES.iter().find(|name| word == **name)).copied();
    let (words, compiler_options) = match name {
        Some("run") => separate_run_options(words),
        Some("profile") => (name_kinds(words)?, Vec::new()),
        _ => (words, Vec::new()),
    };
    let cli = Cli::try_parse_from(std::iter::once(OsString::from("saki")).chain(words)).map_err(|e| stop(&e, name))?;
    Ok(match cli.command {
        None => ("saki", Action::Run(Box::new(Options { command: cli.program.words, ..cli.program.options }))),
        Some(Commands::Run(run)) => {
            let options = Options { command: run.words, ..run.options };
            if !options.command.first().is_some_and(|word| is_source(word)) {
                if let Some(option) = compiler_options.first() {
                    let (option, program) = (option.display(), options.program());
                    let text =
                        format!("{option} is an option of the C# compiler, but {program} is no C# source (name.cs)");
                    return Err(Stop::refuse("saki run", &text));
                }
                return Ok(("saki run", Action::Run(Box::new(options))));
            }
            let command = RunCommand::new(options, compiler_options).map_err(|text| Stop::refuse("saki run", &text))?;
            ("saki run", Action::RunSource(Box::new(command)))
        }
        Some(Commands::Repl(repl)) => {
            let shell = repl.options.framework.join(SHELL);
            if !shell.is_file() {
                let text = format!("{}: no such file (Debian's package mono-csharp-shell has it)", shell.display());
                return Err(Stop::refuse("saki repl", &text));
            }
            let command = std::iter::once(shell.display().to_string()).chain(repl.words).collect();
            ("saki repl", Action::Run(Box::new(Options { command, ..repl.options })))
        }
        Some(Commands::Info { files }) => ("saki info", Action::Info { files }),
        Some(Commands::Doctor { framework }) => ("saki doctor", Action::Doctor { framework_root: framework.framework }),
        Some(Commands::Profile(profile)) => match profile.action {
            None => ("saki profile", profile.words.into_action()?),
            Some(ProfileCommands::Heap(words)) => ("saki profile heap", words.into_action()),
            Some(ProfileCommands::View { file, why }) => ("saki profile view", Action::ViewProfile { file, why }),
            Some(ProfileCommands::Diff { before, after, output }) => {
                ("saki profile diff", Action::CompareProfiles { before, after, output })
            }
        },
        Some(Commands::Cache { action }) => {
            let default = || PathBuf::from(DEFAULT_FRAMEWORK_ROOT);
            let (name, action, framework_root) = match action {
                CacheCommands::Stat => ("saki cache stat", CacheAction::Stat, default()),
                CacheCommands::Clear => ("saki cache clear", CacheAction::Clear, default()),
                CacheCommands::Seed { framework } => ("saki cache seed", CacheAction::Seed, framework.framework),
            };
            (name, Action::Cache { action, framework_root })
        }
        Some(Commands::Generate { folder }) => ("saki generate", Action::Generate { folder }),
    })
}

/// The whole command, for man pages and completions.
pub fn definition() -> clap::Command {
    Cli::command()
}

/// Whether `word` names a C# source file.
pub fn is_source(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "cs")
}

/// Whether `word` would be a subcommand if it came first.
pub fn is_command_name(word: &str) -> bool {
    COMMAND_NAMES.contains(&word)
}

/// A fast path for `saki app.exe …` without options, by which start-up is measured: building the definitions of all
/// subcommands and options costs more than everything else before the machine starts.
fn plain_program(words: &[OsString]) -> Option<Options> {
    let first = words.first()?.to_str()?;
    let has_option_variables = [
        "SAKI_GC_STRESS",
        "SAKI_HOT_STACKS",
        "SAKI_IO",
        "SAKI_NO_CACHE",
        "SAKI_NO_SIMD",
        "SAKI_PROFILE",
        "SAKI_THREADS",
    ]
    .iter()
    .any(|name| std::env::var_os(name).is_some());
    if first.starts_with('-') || is_command_name(first) || has_option_variables {
        return None;
    }
    let command = words.iter().map(|word| word.to_str().map(str::to_owned)).collect::<Option<Vec<_>>>()?;
    Some(Options { command, ..Options::default() })
}

/// `saki profile`: the kinds, which come first, as an option. The heap alone is a command of its own.
fn name_kinds(mut words: Vec<OsString>) -> Result<Vec<OsString>, Stop> {
    let list = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    if list != HEAP && list.split(',').next().is_some_and(|name| name.parse::<KindWord>().is_ok()) {
        parse_kinds(list).map_err(|error| Stop::refuse("saki profile", &error))?;
        words[1] = format!("--kinds={list}").into();
    }
    Ok(words)
}

/// `saki run` takes the compiler's options between its own: the words with those taken out up to the first file, and those.
fn separate_run_options(words: Vec<OsString>) -> (Vec<OsString>, Vec<OsString>) {
    let mut own = Vec::new();
    let mut compiler_options = Vec::new();
    let mut words = words.into_iter().peekable();
    own.extend(words.next());
    let definitions = Options::augment_args(clap::Command::new("run"));
    let takes_value = |word: &OsString| {
        let name = word.to_str().and_then(|word| word.strip_prefix("--"));
        let option = definitions.get_arguments().find(|argument| argument.get_long() == name);
        name.is_some() && option.is_some_and(|option| option.get_action().takes_values())
    };
    while let Some(word) = words.next_if(|word| word.as_bytes().starts_with(b"-") && word != "--") {
        if word.as_bytes().starts_with(b"--") || word == "-h" {
            let wants_value = takes_value(&word);
            own.push(word);
            own.extend(if wants_value { words.next() } else { None });
        } else {
            compiler_options.push(word);
        }
    }
    // The next word is the option's value, whatever it begins with.
    if words.peek().is_some_and(|word| word != "--") {
        own.push("--".into());
    }
    own.extend(words);
    (own, compiler_options)
}

/// clap's message, with the name of the subcommand in place of clap's "error".
fn stop(error: &clap::Error, subcommand: Option<&str>) -> Stop {
    let text = error.render().to_string();
    let text = match text.strip_prefix("error: ") {
        Some(message) => {
            // The usage, where there is one, names the command: "Usage: saki cache seed [OPTIONS]".
            let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
            let usage = message.lines().find_map(|line| line.strip_prefix("Usage: "));
            let named = usage.map(|usage| usage.split(' ').take_while(is_name).collect::<Vec<_>>().join(" "));
            let called = || ["saki"].into_iter().chain(subcommand).collect::<Vec<_>>().join(" ");
            let name = named.unwrap_or_else(called);
            format!("{name}: {message}")
        }
        None => text,
    };
    Stop { text, goes_to_standard_output: !error.use_stderr(), exit_code: error.exit_code() }
}

pub fn parse_size(text: &str) -> Result<usize, String> {
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

impl Default for Options {
    /// The defaults of the definitions (a test compares them).
    fn default() -> Options {
        Options {
            threads: ThreadMode::Native,
            hot_stacks: DEFAULT_HOT_STACKS,
            io: None,
            command: Vec::new(),
            framework: PathBuf::from(DEFAULT_FRAMEWORK_ROOT),
            max_heap: None,
            nursery: None,
            gc_threads: DEFAULT_GC_THREADS,
            gc_stress: None,
            no_cache: false,
            no_simd: false,
            perf: None,
            stats: false,
            missing: false,
            check_walks: None,
            check_mutants: false,
            verify: false,
            trace_compile: false,
            dump_ir: None,
            dump_clif: None,
            compile_only: Vec::new(),
            profile: None,
            assembly_folders: Vec::new(),
            emit: Emit::Ir,
        }
    }
}

impl Options {
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

    /// Whether to use the code cache: not with options whose output appears only when code is compiled.
    pub fn code_cache(&self) -> bool {
        let wants_compiling = self.verify
            || self.dump_ir.is_some()
            || self.dump_clif.is_some()
            || !self.compile_only.is_empty()
            || self.check_mutants
            || self.profile.as_ref().is_some_and(ProfileOption::wants_compiling);
        !self.no_cache && !wants_compiling
    }

    /// The form that `compile_only` prints.
    pub fn form(&self) -> Form {
        match self.emit {
            Emit::Ir => Form::Ir,
            Emit::Clif => Form::Clif,
            Emit::Disasm => Form::Disassembly,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn refusal(text: &str) -> String {
        match parse(words(text)) {
            Ok(_) => panic!("{text} is taken"),
            Err(stop) => stop.text.lines().next().unwrap_or_default().to_owned(),
        }
    }

    fn run(text: &str) -> (&'static str, Options) {
        match parse(words(text)) {
            Ok((name, Action::Run(options))) => (name, *options),
            Ok(_) => panic!("{text} runs no program"),
            Err(stop) => panic!("{text}: {}", stop.text),
        }
    }

    #[test]
    fn definitions_are_consistent() {
        definition().debug_assert();
        let mut names: Vec<String> = definition().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        names.push("help".to_owned());
        assert_eq!(names, COMMAND_NAMES);
    }

    #[test]
    fn a_plain_program_gets_what_the_definitions_give_it() {
        let quick = plain_program(&words("app.exe --stats -x")).unwrap();
        let whole = Cli::try_parse_from(["saki", "app.exe", "--stats", "-x"]).unwrap().program;
        let whole = Options { command: whole.words, ..whole.options };
        assert_eq!(format!("{quick:?}"), format!("{whole:?}"));
    }

    #[test]
    fn profiles_are_of_the_kinds_that_come_first() {
        let kinds = |text: &str| match run(text).1.profile {
            Some(ProfileOption::Own(request)) => request.kind_names(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(kinds("profile cpu,gc,cpu --hz 10 app.exe x"), "cpu,gc");
        assert_eq!(kinds("profile app.exe wall"), "cpu");
        assert_eq!(kinds("profile --format folded ./gc"), "cpu");
        assert!(refusal("profile cpu,what app.exe").starts_with("saki profile: 'what' is not one of cpu, wall, alloc"));
        assert_eq!(refusal("profile gc"), "saki profile: the following required arguments were not provided:");
        assert!(matches!(parse(words("profile lock,gc --pid 1")), Ok(("saki profile", Action::AttachProfile { .. }))));
        assert_eq!(kinds("profile heap,gc,cpu --why X app.exe"), "gc,cpu,heap");
        assert_eq!(kinds("profile cpu,heap app.exe"), "cpu,heap");
        assert_eq!(kinds("profile heap app.exe"), "heap");
        assert!(matches!(
            parse(words("profile heap --pid 1")),
            Ok(("saki profile heap", Action::AttachProfile { .. }))
        ));
        assert_eq!(
            refusal("profile cpu --why X app.exe"),
            "saki profile: --why is for snapshots of the heap: 'heap' is not among the kinds"
        );
        assert!(matches!(parse(words("profile view x.folded")), Ok(("saki profile view", Action::ViewProfile { .. }))));
    }

    #[test]
    fn words_behind_the_program_are_the_programs() {
        assert_eq!(run("app.exe --help -V info").1.command, ["app.exe", "--help", "-V", "info"]);
        let (name, options) = run("--stats --max-heap 1m app.exe --stats");
        assert_eq!((name, options.max_heap), ("saki", Some(1 << 20)));
        assert_eq!(options.command, ["app.exe", "--stats"]);
        assert_eq!(run("run --max-heap 1m ./info --help").1.command, ["./info", "--help"]);
    }

    #[test]
    fn a_first_word_that_names_a_command_is_one() {
        assert!(matches!(parse(words("info a.dll")), Ok(("saki info", Action::Info { .. }))));
        assert_eq!(run("./info a.dll").1.command, ["./info", "a.dll"]);
        assert_eq!(run("--stats info a.dll").1.command, ["info", "a.dll"]);
    }

    #[test]
    fn errors_name_the_subcommand() {
        assert_eq!(refusal("info"), "saki info: the following required arguments were not provided:");
        assert_eq!(refusal("info --x a"), "saki info: unexpected argument '--x' found");
        assert_eq!(refusal("cache sed"), "saki cache: unrecognized subcommand 'sed'");
        assert_eq!(refusal("cache seed x"), "saki cache seed: unexpected argument 'x' found");
        assert_eq!(refusal("run --nursery x a.cs").split(" for ").next(), Some("saki run: invalid value 'x'"));
        assert_eq!(refusal("doctor x"), "saki doctor: unexpected argument 'x' found");
        assert!(refusal("run -unsafe x.exe").starts_with("saki run: -unsafe is an option of the C# compiler"));
        assert_eq!(refusal("--no-such x.exe"), "saki: unexpected argument '--no-such' found");
    }

    #[test]
    fn words_of_run_go_where_they_belong() {
        let Ok((_, Action::RunSource(command))) =
            parse(words("run --stats -unsafe --max-heap 64m -r:a.dll x.cs y.cs one -two z.cs"))
        else {
            panic!("not taken")
        };
        assert!(command.options.stats);
        assert_eq!(command.options.max_heap, Some(64 << 20));
        assert_eq!(command.compiler_options, ["-unsafe", "-r:a.dll"]);
        assert_eq!(command.sources, [Path::new("x.cs"), Path::new("y.cs")]);
        assert_eq!(command.arguments, ["one", "-two", "z.cs"]);
    }
}
