//! Mono's environment variables: which ones have an effect in Saki, and where.
//!
//! The list is what `docs/mono-options.md` shows. Variables of the class library work because the class library reads
//! them itself; those marked as accepted belong to parts that Saki does not have.

use super::table::EXIT_REFUSED;
use crate::exit::Stop;

/// How Saki treats a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Saki supports the variable; the text says how.
    Does(&'static str),
    /// The class library reads it.
    ClassLibrary,
    /// Nothing changes; the text says why.
    Accepted(&'static str),
}

use Effect::{Accepted, ClassLibrary, Does};

/// In alphabetical order.
#[cfg_attr(not(test), expect(dead_code, reason = "what the document is made from"))]
pub const VARIABLES: &[(&str, Effect)] = &[
    ("GC_DONT_GC", Accepted("of the Boehm collector, which Debian's Mono does not have either")),
    ("HTTP_PROXY, NO_PROXY", ClassLibrary),
    ("LLVM_COUNT, MONO_LLVM, MONO_LLVM_OPT", Accepted("there is no LLVM")),
    ("MONO_ARM_FORCE_SOFT_FLOAT, MONO_CPU_ARCH", Accepted("of other processors")),
    ("MONO_ASPNET_INHIBIT_SETTINGSMAP, MONO_ASPNET_NODELETE, MONO_ASPNET_WEBCONFIG_CACHESIZE", ClassLibrary),
    ("MONO_CAIRO_DEBUG_DISPOSE", ClassLibrary),
    ("MONO_CFG_DIR", Does("holds `mono/config` and `mono/4.5/machine.config`; /etc without it")),
    ("MONO_COM", Accepted("COM objects of Windows programs")),
    ("MONO_CONFIG", Does("the file with `<dllmap>` entries, in place of /etc/mono/config and ~/.mono/config")),
    ("MONO_DARWIN_USE_KQUEUE_FSW, MONO_DARWIN_WATCHER_MAXFDS", Accepted("of another system")),
    ("MONO_DEBUG", Does("`gdb` tells gdb of compiled code; Mono's other names are accepted, unknown ones are refused")),
    ("MONO_DISABLE_MANAGED_COLLATION", ClassLibrary),
    ("MONO_DISABLE_SHARED_AREA", Accepted("there is no area that other processes look into")),
    ("MONO_DNS", ClassLibrary),
    ("MONO_EGD_SOCKET", Accepted("random numbers come from the kernel")),
    ("MONO_ENABLE_AIO", Accepted("sockets use epoll")),
    ("MONO_ENABLE_COOP_SUSPEND, MONO_THREADS_SUSPEND", Accepted("threads stop cooperatively, always")),
    ("MONO_ENV_OPTIONS", Does("options before those of the command line, when Saki is called `mono`")),
    ("MONO_EVENTLOG_TYPE", ClassLibrary),
    (
        "MONO_EXTERNAL_ENCODINGS",
        Does("encodings of the program's arguments, when Saki is called `mono`; file names are UTF-8"),
    ),
    ("MONO_GAC_PREFIX", Does("prefixes whose lib/mono/gac is asked before the framework's")),
    ("MONO_GC_DEBUG", Does("`collect-before-allocs[=N]`; the checks of Mono's own collector are accepted")),
    (
        "MONO_GC_PARAMS",
        Does("`max-heap-size=` and `nursery-size=`; what tunes other parts of Mono's collector is accepted"),
    ),
    ("MONO_INLINELIMIT", Accepted("of Mono's compiler")),
    ("MONO_IOMAP", Accepted("Debian's Mono 6.8 takes file names as they are, too")),
    (
        "MONO_JIT_DUMP_METHOD, MONO_VERBOSE_METHOD, MONO_VERBOSE_HWCAP",
        Accepted("of Mono's compiler; `saki --dump-clif` shows a method"),
    ),
    ("MONO_CONSERVATIVE_HWCAP", Accepted("of Mono's compiler")),
    (
        "MONO_LOG_LEVEL, MONO_LOG_MASK",
        Does(
            "`info` with `asm` shows each place where an assembly is looked for and the outcome, `dll` native libraries, `cfg` configuration files, \
             `gc` collections, `aot` the code cache; `warning` with `type` what cannot be loaded; `debug` with `type` classes, with `threadpool` workers, \
             with `io-layer-process` started programs; Mono's other masks are accepted and show nothing",
        ),
    ),
    ("MONO_LOG_DEST, MONO_LOG_HEADER", Does("a file that messages are appended to; time and process before each")),
    ("MONO_MANAGED_WATCHER", ClassLibrary),
    ("MONO_MESSAGING_PROVIDER", ClassLibrary),
    ("MONO_NO_SMP", Does("the process stays on one processor")),
    ("MONO_NO_TLS", Accepted("of Mono's compiler")),
    ("MONO_OPTIONS", Does("Debian's launchers put it before the program: options of the command line")),
    ("MONO_PATH", Does("directories to search for assemblies first")),
    ("MONO_REGISTRY_PATH", ClassLibrary),
    ("MONO_SDB_ENV_OPTIONS", Accepted("there is no soft debugger")),
    ("MONO_SHARED_DIR, MONO_SHARED_HOSTNAME", Accepted("no state is shared between processes in files")),
    ("MONO_STRICT_IO_EMULATION", Accepted("no advisory locks are taken around writes")),
    ("MONO_TLS_PROVIDER, MONO_TLS_SESSION_CACHE_TIMEOUT", ClassLibrary),
    ("MONO_THREADS_PER_CPU", Does("workers for each processor that the thread pool begins with")),
    ("MONO_TRACE", Accepted("Mono 6.8 does not read it either")),
    ("MONO_TRACE_LISTENER", ClassLibrary),
    ("MONO_WCF_TRACE", ClassLibrary),
    ("MONO_X509_REVOCATION_MODE", ClassLibrary),
    ("MONO_XDEBUG", Does("gdb is told of compiled code")),
    ("MONO_XEXCEPTIONS, MONO_XSYNC", ClassLibrary),
    ("MONO_XMLSERIALIZER_DEBUG, MONO_XMLSERIALIZER_THS", ClassLibrary),
];

/// The options of MONO_DEBUG and the command line; those that end with "=" have a value.
pub const DEBUG_OPTIONS: [&str; 36] = [
    "handle-sigint",
    "keep-delegates",
    "reverse-pinvoke-exceptions",
    "collect-pagefault-stats",
    "break-on-unverified",
    "no-gdb-backtrace",
    "suspend-on-native-crash",
    "suspend-on-sigsegv",
    "suspend-on-exception",
    "suspend-on-unhandled",
    "dont-free-domains",
    "dyn-runtime-invoke",
    "gdb",
    "lldb",
    "llvm-disable-self-init",
    "llvm-disable-inlining",
    "explicit-null-checks",
    "gen-seq-points",
    "gen-compact-seq-points",
    "no-compact-seq-points",
    "single-imm-size",
    "init-stacks",
    "casts",
    "soft-breakpoints",
    "check-pinvoke-callconv",
    "use-fallback-tls",
    "debug-domain-unload",
    "partial-sharing",
    "align-small-structs",
    "native-debugger-break",
    "disable_omit_fp",
    "test-tailcall-require",
    "verbose-gdb",
    "clr-memory-model",
    "weak-memory-model",
    "thread-dump-dir=",
];

/// Whether MONO_DEBUG, or the command line behind two dashes, may have this.
pub fn is_debug_option(option: &str) -> bool {
    let matches = |name: &str| if name.ends_with('=') { option.starts_with(name) } else { option == name };
    option.is_empty() || DEBUG_OPTIONS.into_iter().any(matches)
}

/// Applies the option, if it has a meaning for Saki.
pub fn set_debug_option(option: &str, tools: &mut Vec<&'static str>) {
    if option == "gdb" {
        tools.push("gdb");
    }
}

/// MONO_DEBUG.
pub fn set_debug_options(list: &str, tools: &mut Vec<&'static str>) -> Result<(), Stop> {
    for option in list.split(',').filter(|_| !list.is_empty()) {
        if !is_debug_option(option) {
            let known = DEBUG_OPTIONS.map(|name| format!("'{name}'")).join(", ");
            let text =
                format!("Invalid option for the MONO_DEBUG env variable: {option}\nAvailable options: {known}.\n");
            return Err(Stop::error(EXIT_REFUSED, text));
        }
        set_debug_option(option, tools);
    }
    Ok(())
}

/// MONO_NO_SMP: binds the process to one of the processors that it may use. Where the system refuses, nothing changes.
pub fn stay_on_one_processor() {
    // SAFETY: an all-zero set is empty.
    let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let len_bytes = size_of::<libc::cpu_set_t>();
    // SAFETY: the set has that size; 0 is the calling thread, whose later threads inherit it.
    if unsafe { libc::sched_getaffinity(0, len_bytes, &raw mut allowed) } != 0 {
        return;
    }
    let most = 8 * len_bytes;
    // SAFETY: `cpu` is below the number of bits in the set.
    let Some(first) = (0..most).find(|&cpu| unsafe { libc::CPU_ISSET(cpu, &allowed) }) else { return };
    // SAFETY: a set of processors is an array of integers, for which zero is valid.
    let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `first` is below the number of bits in the set.
    unsafe { libc::CPU_SET(first, &mut one) };
    // SAFETY: the set has that size.
    unsafe { libc::sched_setaffinity(0, len_bytes, &raw const one) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_debug_options_are_refused_by_name() {
        let mut tools = Vec::new();
        set_debug_options("no-gdb-backtrace,gdb,thread-dump-dir=/tmp", &mut tools).unwrap();
        assert_eq!(tools, ["gdb"]);
        let stop = set_debug_options("no-such", &mut tools).unwrap_err();
        assert!(stop.text.starts_with("Invalid option for the MONO_DEBUG env variable: no-such\n"), "{}", stop.text);
    }
}
