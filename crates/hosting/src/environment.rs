//! The variables of the environment that hosts read, all of them: the machine below gets options and reads none.
//!
//! Invariant: every variable that has a meaning for Saki has a row in `VARIABLES`, and is read by the functions of this
//! file, or by `clap`, which makes an option of it. Left out: variables of the program (the locale, what it asks
//! `System.Environment` for) and of its class library, SAKI_BACKTRACE, which a fault of the machine reads when it is
//! reported, and Mono's variables without effect (`mono::variables`).

use saki_dotnet::Places;
use saki_dotnet::places::ROOT_VARIABLE;
use saki_os::message_log::MessageOptions;
use saki_os::privilege;
use saki_runtime::exec::code_cache::CachePlaces;
use saki_runtime::exec::code_cache::directory::{self, CacheFolder};
use saki_runtime::vm::ConfigurationFiles;
use std::ffi::OsString;
use std::path::PathBuf;

/// In alphabetical order: the name, and what it means.
pub const VARIABLES: &[(&str, &str)] = &[
    ("DOTNET_ADDITIONAL_DEPS", "files of assemblies besides the program's own, to which `saki dotnet` adds one"),
    ("DOTNET_ROOT", "the folder of an installed .NET"),
    ("DOTNET_ROOT_ARM64", "the folder of an installed .NET for this architecture"),
    ("DOTNET_ROOT_X64", "the folder of an installed .NET for this architecture"),
    ("DOTNET_SHARED_STORE", "stores of packages, to which `saki dotnet` adds one"),
    ("DOTNET_ThreadPool_Blocking_CooperativeBlocking", "0: blocked workers of .NET's thread pool are not replaced"),
    ("DOTNET_ThreadPool_Blocking_DelayStepMs", "how much longer .NET's thread pool waits before each further thread"),
    ("DOTNET_ThreadPool_Blocking_MaxDelayMs", "the longest time that .NET's thread pool waits before it adds a thread"),
    (
        "DOTNET_ThreadPool_Blocking_ThreadsPerDelayStep_ProcCountFactor",
        "threads for each processor between longer waits",
    ),
    (
        "DOTNET_ThreadPool_Blocking_ThreadsToAddWithoutDelay_ProcCountFactor",
        "threads for each processor without a wait",
    ),
    ("DOTNET_ThreadPool_ForceMaxWorkerThreads", "the most workers of .NET's thread pool"),
    ("DOTNET_ThreadPool_ForceMinWorkerThreads", "how many workers .NET's thread pool makes without a wait"),
    ("HOME", "~/.cache holds the code cache, ~/.mono/config `<dllmap>` entries"),
    ("LANG", "the encoding of arguments under the name `mono`"),
    ("LC_ALL", "the encoding of arguments under the name `mono`"),
    ("LC_CTYPE", "the encoding of arguments under the name `mono`"),
    ("MONO_CFG_DIR", "the folder of machine-wide configuration"),
    ("MONO_CONFIG", "the file with `<dllmap>` entries"),
    ("MONO_CRASH_NOFILE", "if set, crash reports are not written to files"),
    ("MONO_DEBUG", "options for debugging"),
    ("MONO_ENV_OPTIONS", "options in front of those of Mono's command line"),
    ("MONO_EXTERNAL_ENCODINGS", "encodings of arguments under the name `mono`"),
    ("MONO_GAC_PREFIX", "prefixes whose lib/mono/gac is searched first"),
    ("MONO_GC_DEBUG", "checks of the collector"),
    ("MONO_GC_PARAMS", "sizes of the heap"),
    ("MONO_LOG_DEST", "the file for messages"),
    ("MONO_LOG_HEADER", "if set, time and process stand before messages"),
    ("MONO_LOG_LEVEL", "the least important messages that are shown"),
    ("MONO_LOG_MASK", "the subjects of messages that are shown"),
    ("MONO_NO_SMP", "if set, the process stays on one processor"),
    ("MONO_PATH", "folders that are searched for assemblies first"),
    ("MONO_THREADS_PER_CPU", "workers for each processor that the thread pool begins with"),
    ("MONO_XDEBUG", "if set, gdb is told of compiled code"),
    ("PATH", "folders with `dotnet`"),
    ("SAKI_GC_STRESS", "--gc-stress"),
    ("SAKI_GC_THREADS", "--gc-threads"),
    ("SAKI_HOT_AFTER", "--hot-after"),
    ("SAKI_HOT_SEED", "--hot-seed"),
    ("SAKI_HOT_STACKS", "--hot-stacks"),
    ("SAKI_IO", "--io"),
    ("SAKI_MAX_HEAP", "--max-heap"),
    ("SAKI_NO_CACHE", "--no-cache"),
    ("SAKI_NO_NET", "--no-net"),
    ("SAKI_NO_SIMD", "--no-simd"),
    ("SAKI_NURSERY", "--nursery"),
    ("SAKI_PERF", "--perf"),
    ("SAKI_PROFILE", "--profile"),
    ("SAKI_SMALL_STACKS", "--small-stacks"),
    ("SAKI_THREADS", "--threads"),
    ("SAKI_TIERS", "--tiers"),
    ("XDG_CACHE_HOME", "the folder of caches, in place of ~/.cache"),
];

/// The variable's value; None if it is not set.
pub fn value(name: &str) -> Option<OsString> {
    debug_assert!(VARIABLES.iter().any(|(known, _)| *known == name), "{name} has no row in VARIABLES");
    std::env::var_os(name)
}

/// The variable's value; None if it is not set, or not UTF-8.
pub fn text(name: &str) -> Option<String> {
    value(name)?.into_string().ok()
}

/// Whether the variable is set, to whatever value.
pub fn is_set(name: &str) -> bool {
    value(name).is_some()
}

/// The folders that a list names, with colons between.
pub fn folders(name: &str) -> Vec<PathBuf> {
    let list = value(name).unwrap_or_default();
    std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// Removes Saki's variables and Mono's from the environment, so that neither this process nor its children heed them.
///
/// # Safety
/// No other thread runs.
pub unsafe fn forget() {
    use std::os::unix::ffi::OsStrExt;
    for (name, _) in std::env::vars_os() {
        if name.as_bytes().starts_with(b"SAKI_") || name.as_bytes().starts_with(b"MONO_") {
            // SAFETY: no other thread runs yet that could read the environment: this function demands it.
            unsafe { std::env::remove_var(name) };
        }
    }
}

/// MONO_GAC_PREFIX.
pub fn assembly_caches() -> Vec<PathBuf> {
    folders("MONO_GAC_PREFIX").into_iter().map(|prefix| prefix.join("lib/mono/gac")).collect()
}

/// MONO_CFG_DIR, MONO_CONFIG and HOME. A process with more rights than the user who started it uses no file of that
/// user.
pub fn configuration() -> ConfigurationFiles {
    let path = |name| value(name).map(PathBuf::from);
    let home = path("HOME").filter(|_| !privilege::is_elevated());
    ConfigurationFiles {
        folder: path("MONO_CFG_DIR"),
        file: path("MONO_CONFIG"),
        user_file: home.map(|home| home.join(".mono/config")),
    }
}

/// MONO_LOG_LEVEL and its like. `syslog` as a destination goes to standard output.
pub fn messages() -> MessageOptions {
    let destination = value("MONO_LOG_DEST").filter(|path| !path.is_empty() && path != "syslog");
    MessageOptions {
        level: text("MONO_LOG_LEVEL"),
        mask: text("MONO_LOG_MASK"),
        has_header: is_set("MONO_LOG_HEADER"),
        file: destination.map(PathBuf::from),
    }
}

/// MONO_THREADS_PER_CPU; 1 without a number. The thread pool has a limit of its own.
pub fn pool_threads_per_cpu() -> u16 {
    let number = text("MONO_THREADS_PER_CPU").and_then(|number| number.trim().parse::<i32>().ok());
    u16::try_from(number.unwrap_or(1).clamp(1, u16::MAX.into())).unwrap_or(u16::MAX)
}

/// The user's own cache: `$XDG_CACHE_HOME/saki`, or `~/.cache/saki`. None if neither variable is set, and in a process
/// with more rights than the user who started it, because that user chose the environment.
pub fn own_cache() -> Option<CacheFolder> {
    if privilege::is_elevated() {
        return None;
    }
    // Relative paths are ignored, as the XDG Base Directory Specification asks.
    let absolute = |name: &str| value(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(directory::own_in(base))
}

/// The places of the code cache.
pub fn cache_places() -> CachePlaces {
    CachePlaces { own: own_cache(), installed: directory::installed() }
}

/// Where an installed .NET may be: DOTNET_ROOT, PATH and the system's places. In a process with more rights than the
/// user who started it the variables do not count, since that user chose them.
pub fn dotnet_places() -> Places {
    if privilege::is_elevated() {
        return Places::of_system(Vec::new(), Vec::new());
    }
    let named =
        |name: &'static str| value(name).filter(|path| !path.is_empty()).map(|path| (name, PathBuf::from(path)));
    let variables = [ROOT_VARIABLE, "DOTNET_ROOT"].into_iter().filter_map(named).collect();
    Places::of_system(variables, folders("PATH"))
}
