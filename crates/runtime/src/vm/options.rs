//! What a host decides before the machine starts.
//!
//! Invariant: whatever the machine does differently because of a command line or a variable of the environment is a
//! field here, which the host fills; the options do not change once the machine has started. Left out: variables that
//! are the program's own business (PATH, the locale, `System.Environment`), which are read when the program asks.

use crate::code_cache::CachePlaces;
use crate::compile;
use crate::coverage::CoverageSettings;
use crate::profile_log::LogSettings;
use crate::profile_log::callspec::CallSpec;
use crate::vm::host_policies::HostPolicies;
use crate::vm::net::NetRuntime;
use saki_os::clock::Clock;
use saki_os::message_log::MessageOptions;
use saki_os::random::Random;
pub use saki_tools::ToolsRequest;
use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};

/// The options of a start. The default: the installed class libraries, native threads, no code cache.
#[derive(Clone, Debug)]
pub struct VmOptions {
    /// Directory of the class libraries: `/usr/lib/mono`.
    pub framework_root: PathBuf,
    /// The .NET on whose class libraries the program runs; None: those of Mono in `framework_root`.
    pub net: Option<NetRuntime>,
    /// MONO_PATH.
    pub mono_path: Vec<PathBuf>,
    /// Assembly caches (`PREFIX/lib/mono/gac`) that are searched before the framework's: MONO_GAC_PREFIX.
    pub assembly_caches: Vec<PathBuf>,
    /// Where machine-wide configuration is read.
    pub configuration: ConfigurationFiles,
    /// Which messages about its work the machine writes, and where.
    pub messages: MessageOptions,
    /// The collector's options.
    pub heap: saki_gc::HeapOptions,
    /// How threads are executed.
    pub threads: saki_sched::ThreadMode,
    /// If more green threads have stacks, unused stacks are moved to compact memory.
    pub hot_stacks: usize,
    /// Which green threads begin on small stacks, which grow.
    pub small_stacks: saki_sched::SmallStacks,
    /// Workers for each processor that the thread pool begins with: MONO_THREADS_PER_CPU.
    pub pool_threads_per_cpu: u16,
    /// The way in which threads wait for descriptors; None: the usual one for the kind of threads.
    pub io: Option<saki_reactor::IoModel>,
    /// What is printed of methods that are compiled.
    pub dump: compile::DumpOptions,
    /// Run the code generator's verifier on all code.
    pub verify: bool,
    /// The places of the persistent code cache; None: it is not used.
    pub code_cache: Option<CachePlaces>,
    /// Allocate each object that the program makes, for a profiler that begins with the program and is told of all.
    pub keep_allocations: bool,
    /// Implement vector types by the processor's vectors, where it has them.
    pub vectors: bool,
    /// The compiler that makes the code of methods.
    pub tiers: saki_jit::Tiers,
    /// Calls of a method, and rounds of its loops, after which it is compiled for the second tier; None: what pays.
    pub hot_after: Option<u32>,
    /// Have the second tier come at moments, and with guesses, that this number decides (`object::perturbation`).
    pub hot_seed: Option<u32>,
    /// The profilers and debuggers to which code is described.
    pub tools: ToolsRequest,
    /// Count what compiling costs (`compile::statistics`), and which generic instances could share code.
    pub statistics: bool,
    /// Check so many times a second, by signals, that stacks can be walked from any instruction; None: never.
    pub check_walks_hz: Option<u32>,
    /// Replace the bodies of random methods so many times a second; None: never.
    pub replace_bodies_hz: Option<u32>,
    /// Have SIGQUIT write the stacks of all threads.
    pub thread_dumps: bool,
    /// Serve clients of the host, who send `os::signal::of_clients`.
    pub serves_clients: bool,
    /// Compile methods with what this log needs; `profile_log::begin` begins it.
    pub log: Option<LogSettings>,
    /// Record which statements are reached.
    pub coverage: Option<CoverageSettings>,
    /// Write a line for each call and each return of these methods.
    pub trace: Option<CallSpec>,
    /// Write the crash reports that the program asks for to files: not with MONO_CRASH_NOFILE.
    pub crash_files: bool,
    /// What a host of the library decides.
    pub host: HostPolicies,
    /// Whose time the machine runs by.
    pub clock: Clock,
    /// From where the machine takes its random choices; not those of the program, which are the system's.
    pub random: Random,
}

/// Files with machine-wide configuration: `<dllmap>` entries and `machine.config`.
#[derive(Clone, Default, Debug)]
pub struct ConfigurationFiles {
    /// Holds `mono/config` and `mono/4.5/machine.config`: MONO_CFG_DIR. None: the one beside the class libraries, or
    /// /etc.
    pub folder: Option<PathBuf>,
    /// The only file that is asked for `<dllmap>` entries, in place of all others: `mono --config`, or MONO_CONFIG.
    pub file: Option<PathBuf>,
    /// The user's file, asked after the folder's: `~/.mono/config`. None in a process with more rights than the user
    /// who started it, since a map names native libraries to load.
    pub user_file: Option<PathBuf>,
}

impl Default for VmOptions {
    fn default() -> Self {
        VmOptions {
            framework_root: PathBuf::from("/usr/lib/mono"),
            net: None,
            mono_path: Vec::new(),
            assembly_caches: Vec::new(),
            configuration: ConfigurationFiles::default(),
            messages: MessageOptions::default(),
            heap: saki_gc::HeapOptions::default(),
            threads: saki_sched::ThreadMode::Native,
            hot_stacks: saki_sched::DEFAULT_HOT_STACKS,
            small_stacks: saki_sched::SmallStacks::default(),
            pool_threads_per_cpu: 1,
            io: None,
            dump: compile::DumpOptions::default(),
            verify: false,
            code_cache: None,
            keep_allocations: false,
            vectors: true,
            tiers: saki_jit::Tiers::Second,
            hot_after: None,
            hot_seed: None,
            tools: ToolsRequest::default(),
            statistics: false,
            check_walks_hz: None,
            replace_bodies_hz: None,
            thread_dumps: false,
            serves_clients: false,
            log: None,
            coverage: None,
            trace: None,
            crash_files: true,
            host: HostPolicies::default(),
            clock: Clock::SYSTEM,
            random: Random::SYSTEM,
        }
    }
}

static OPTIONS: OnceLock<VmOptions> = OnceLock::new();

/// Keeps the options of the start, for parts that ask later. A second start, which fails, gets those of the first.
pub(super) fn keep(options: VmOptions) -> &'static VmOptions {
    OPTIONS.get_or_init(|| options)
}

/// The options that the machine was started with; the default ones where no machine was started, as in tests of a part.
pub fn options() -> &'static VmOptions {
    static NONE: LazyLock<VmOptions> = LazyLock::new(VmOptions::default);
    OPTIONS.get().unwrap_or(&NONE)
}
