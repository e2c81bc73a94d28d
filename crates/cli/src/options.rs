//! The options of the virtual machine, which all commands that run programs share.

use crate::bundle::default_framework_root;
use crate::environment;
use crate::info::Libraries;
use crate::net_program::Shown;
use crate::profile::option::ProfileOption;
use crate::quantities::{parse_gc_threads, parse_nursery, parse_size};
use clap::{Args, ValueHint};
use saki_dotnet::HostOptions;
use saki_gc::HeapOptions;
use saki_hosting::settings;
use saki_jit::Tiers;
use saki_reactor::IoModel;
use saki_runtime::exec::compile::DumpOptions;
use saki_runtime::exec::compile_only::Form;
use saki_runtime::vm::profile_log::callspec::CallSpec;
use saki_runtime::vm::{ConfigurationFiles, ToolsRequest};
use saki_sched::{DEFAULT_HOT_STACKS, SmallStacks, ThreadMode};
use std::path::PathBuf;

/// The interactive C# shell (Debian's mono-csharp-shell), below the framework root.
pub const SHELL: &str = "4.5/csharp.exe";

/// The default number of collector threads.
const DEFAULT_GC_THREADS: usize = 1;

/// Version and commit (`build.rs`).
pub const VERSION: &str = env!("SAKI_VERSION");

/// What runs of programs have in common.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The program and its arguments.
    #[arg(skip)]
    pub command: Vec<String>,

    /// Directory of the class libraries [default: /usr/lib/mono; in a bundle, those that came with saki]
    #[arg(long, value_name = "DIR", default_value_os_t = default_framework_root(), hide_default_value = true, value_hint = ValueHint::DirPath)]
    pub framework: PathBuf,

    /// Largest heap, as bytes with an optional k, m or g
    #[arg(long, value_name = "SIZE", env = "SAKI_MAX_HEAP", value_parser = parse_size)]
    pub max_heap: Option<usize>,

    /// Bytes allocated between two nursery collections [default: 4m to 32m, by the share of time that they take]
    #[arg(long, value_name = "SIZE", env = "SAKI_NURSERY", value_parser = parse_nursery)]
    pub nursery: Option<usize>,

    /// Threads that trace during a collection
    #[arg(long, value_name = "N", env = "SAKI_GC_THREADS", default_value_t = DEFAULT_GC_THREADS, value_parser = parse_gc_threads)]
    pub gc_threads: usize,

    /// How threads are executed: native (OS threads), green (in turns on one OS thread), mn[:CARRIERS] (in turns on
    /// several, by default as many as there are processors)
    #[arg(long, value_name = "MODE", env = "SAKI_THREADS", default_value_t = ThreadMode::Native)]
    pub threads: ThreadMode,

    /// How threads wait for sockets, pipes and terminals: blocking (in the system call), poll, epoll or uring (parked,
    /// the system is asked for all of them together). Default: blocking with native threads, else epoll
    #[arg(long, value_name = "MODEL", env = "SAKI_IO")]
    pub io: Option<IoModel>,

    /// Green threads' stacks that keep their place: of more, those that are not used move to compact memory
    #[arg(long, value_name = "N", env = "SAKI_HOT_STACKS", default_value_t = DEFAULT_HOT_STACKS)]
    pub hot_stacks: usize,

    /// Green threads that start when there are N get small stacks, which grow. Test aid: at each method's entry when
    /// BYTES of them are used
    #[arg(long, value_name = "N[:BYTES]", env = "SAKI_SMALL_STACKS", default_value_t = SmallStacks::default())]
    pub small_stacks: SmallStacks,

    /// Test aid: collect at every N-th allocation and every 16·N-th poll, moving all that may move
    #[arg(long, value_name = "N", env = "SAKI_GC_STRESS")]
    pub gc_stress: Option<u32>,

    /// Neither use nor write the code cache ($XDG_CACHE_HOME/saki or ~/.cache/saki)
    #[arg(long, env = "SAKI_NO_CACHE", value_parser = clap::builder::BoolishValueParser::new())]
    pub no_cache: bool,

    /// Run code of vector types (System.Numerics) as the class library has it, without the processor's vectors
    #[arg(long, env = "SAKI_NO_SIMD", value_parser = clap::builder::BoolishValueParser::new())]
    pub no_simd: bool,

    /// The compiler that makes the code: 1, the baseline compiler; 2, the optimising one;
    /// both, the baseline compiler at first, and the optimising one for methods that run often
    #[arg(long, value_name = "TIERS", env = "SAKI_TIERS", default_value_t = Tiers::Both, hide_short_help = true)]
    pub tiers: Tiers,

    /// Tell profilers and debuggers of compiled code: map (/tmp/perf-PID.map), jitdump[:DIR] (DIR/jit-PID.dump, for
    /// `perf inject --jit`), both of these, gdb; several with commas [env: SAKI_PERF=]
    #[arg(long, value_name = "LIST")]
    pub perf: Option<ToolsRequest>,

    /// Print compile, memory and collection statistics at exit
    #[arg(long)]
    pub stats: bool,

    /// List the internal calls that the run asked for and Saki lacks
    #[arg(long)]
    pub missing: bool,

    /// Test aid: interrupt every thread HZ times a second, walk its stack in the signal handler and check what is found
    #[arg(long, value_name = "HZ", hide_short_help = true)]
    pub check_walks: Option<u32>,

    /// With --tiers=both: calls of a method, and rounds of its loops, after which it is compiled for the second tier
    #[arg(long, value_name = "COUNT", env = "SAKI_HOT_AFTER", hide_short_help = true)]
    pub hot_after: Option<u32>,

    /// Test aid: begin the counters of methods at random values, and have the second tier guess wrong at times; NUMBER
    /// decides how
    #[arg(long, value_name = "NUMBER", env = "SAKI_HOT_SEED", hide_short_help = true)]
    pub hot_seed: Option<u32>,

    /// Test aid: compile random methods again, HZ times a second, and let their callers run the new code and later the
    /// old
    #[arg(long, value_name = "HZ", hide_short_help = true)]
    pub replace_bodies: Option<u32>,

    /// Run the code generator's verifier
    #[arg(long, hide_short_help = true)]
    pub verify: bool,

    /// Print each method when it is compiled
    #[arg(long, hide_short_help = true)]
    pub trace_compile: bool,

    /// Print what becomes of methods whose name contains TEXT: which calls are inlined or guarded, and why others are
    /// not, which loops are unrolled, which checks are left
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    pub explain: Option<String>,

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

    /// Print a line for each call and each return of methods, as Mono's option does (program, T:Type, M:Type:Method,
    /// ...; 'mono --help-trace' has all)
    #[arg(
        long,
        value_name = "EXPRESSION",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        hide_short_help = true
    )]
    pub trace: Option<CallSpec>,

    /// Where assemblies may lie besides; set by `saki run`.
    #[arg(skip)]
    pub assembly_folders: Vec<PathBuf>,

    /// The file with `<dllmap>` entries; set by `mono --config`.
    #[arg(skip)]
    pub config: Option<PathBuf>,

    /// Run the program on an installed .NET, whatever it refers to
    #[arg(long)]
    pub net: bool,

    /// Run the program on Mono's class libraries, even if it is made for .NET
    #[arg(long, env = "SAKI_NO_NET", value_parser = clap::builder::BoolishValueParser::new())]
    pub no_net: bool,

    /// What .NET's host is asked for; set by `saki exec`.
    #[arg(skip)]
    pub host: Option<HostOptions>,

    /// How the program appears to itself; set when it is a single file.
    #[arg(skip)]
    pub shown: Option<Shown>,

    /// The executable of .NET's that was named in place of an assembly.
    #[arg(skip)]
    pub executable: Option<PathBuf>,

    /// The words before the program that are Saki's options.
    #[arg(skip)]
    pub words: Vec<String>,

    /// The machine's options that the command line or the environment set, by name; the parser fills it in.
    #[arg(skip)]
    pub given: Vec<&'static str>,

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

impl Default for Options {
    /// The defaults of the definitions (a test compares them).
    fn default() -> Options {
        Options {
            threads: ThreadMode::Native,
            hot_stacks: DEFAULT_HOT_STACKS,
            small_stacks: SmallStacks::default(),
            io: None,
            command: Vec::new(),
            framework: default_framework_root(),
            max_heap: None,
            nursery: None,
            gc_threads: DEFAULT_GC_THREADS,
            gc_stress: None,
            no_cache: false,
            no_simd: false,
            tiers: Tiers::Both,
            perf: None,
            stats: false,
            missing: false,
            check_walks: None,
            hot_after: None,
            hot_seed: None,
            replace_bodies: None,
            check_mutants: false,
            verify: false,
            trace_compile: false,
            explain: None,
            dump_ir: None,
            dump_clif: None,
            compile_only: Vec::new(),
            profile: None,
            trace: None,
            assembly_folders: Vec::new(),
            config: None,
            net: false,
            no_net: false,
            host: None,
            shown: None,
            executable: None,
            words: Vec::new(),
            given: Vec::new(),
            emit: Emit::Ir,
        }
    }
}

impl Options {
    /// The tools of `--perf`, else of SAKI_PERF.
    ///
    /// # Errors
    /// What is wrong with the variable.
    pub fn perf_tools(&self) -> Result<ToolsRequest, String> {
        match &self.perf {
            Some(tools) => Ok(tools.clone()),
            None => environment::text("SAKI_PERF").unwrap_or_default().parse().map_err(|e| format!("SAKI_PERF: {e}")),
        }
    }

    /// Directories to search for assemblies before the program's own.
    pub fn mono_path(&self) -> Vec<PathBuf> {
        environment::folders("MONO_PATH").into_iter().chain(self.assembly_folders.iter().cloned()).collect()
    }

    /// The class libraries that `--net` or `--no-net` asks for. A command line has one of them at most; the variable of
    /// the second counts less than the first.
    pub fn libraries(&self) -> Option<Libraries> {
        match (self.net, self.no_net) {
            (true, _) => Some(Libraries::Net),
            (_, true) => Some(Libraries::Mono),
            _ => None,
        }
    }

    /// Path of the program.
    pub fn program(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// Arguments for the program.
    pub fn arguments(&self) -> &[String] {
        self.command.get(1..).unwrap_or(&[])
    }

    /// The folder with the class library's `lib/mono`.
    pub fn framework_root(&self) -> PathBuf {
        self.framework.clone()
    }

    /// Where machine-wide configuration is read.
    pub fn configuration(&self) -> ConfigurationFiles {
        let from_environment = environment::configuration();
        ConfigurationFiles { file: self.config.clone().or(from_environment.file), ..from_environment }
    }

    /// The heap's options: sizes in bytes, and how often collections are forced for a test.
    pub fn heap(&self) -> HeapOptions {
        let stress = self.gc_stress.and_then(settings::stress);
        HeapOptions { max_heap_bytes: self.max_heap, nursery_bytes: self.nursery, gc_threads: self.gc_threads, stress }
    }

    /// What of compilations is shown.
    pub fn dump(&self) -> DumpOptions {
        DumpOptions {
            ir: self.dump_ir.clone(),
            clif: self.dump_clif.clone(),
            explain: self.explain.clone(),
            trace: self.trace_compile,
        }
    }

    /// Whether to use the code cache: not with options whose output appears only when code is compiled.
    pub fn code_cache(&self) -> bool {
        let wants_compiling = self.verify
            || self.explain.is_some()
            || self.dump_ir.is_some()
            || self.dump_clif.is_some()
            || !self.compile_only.is_empty()
            || self.check_mutants
            || self.trace.is_some()
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
