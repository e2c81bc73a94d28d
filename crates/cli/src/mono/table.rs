//! The options of mono(1), and how Saki treats each. `docs/mono-options.md` is made from this list.

use Meaning::{
    Accepted, AssemblyLoader, CollectorDebug, CollectorParameters, Config, ListOptimizations, Optimize, PerfMap,
    Profile, Refused, Response, Runtime, Security, Statistics, Text, Trace, Usage, Verbose, Version, VersionNumber,
};

/// Mono's exit code for command lines that it does not take.
pub const EXIT_REFUSED: i32 = 1;

/// How Saki treats an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Nothing changes.
    Accepted,
    /// It asks for something that Saki cannot do; the message.
    Refused(&'static str),
    Version,
    VersionNumber,
    Usage,
    /// This text is printed.
    Text(&'static str),
    ListOptimizations,
    Optimize,
    Debug,
    Security,
    AssemblyLoader,
    Runtime,
    CollectorParameters,
    CollectorDebug,
    Config,
    Verbose,
    Statistics,
    PerfMap,
    Profile,
    Trace,
    Response,
}

/// A line of the list.
#[derive(Debug)]
pub struct MonoOption {
    /// As mono(1) writes it: "--gc=sgen" is that word, "--debug=OPTIONS" any word that begins with "--debug=",
    /// "--config FILE" a word and the one behind it.
    pub spelling: &'static str,
    pub meaning: Meaning,
    /// What it does here, or why nothing, for the document.
    pub note: &'static str,
}

const fn option(spelling: &'static str, meaning: Meaning, note: &'static str) -> MonoOption {
    MonoOption { spelling, meaning, note }
}

const NO_AOT: Meaning = Refused(
    "mono: --aot: Saki compiles no assembly files ahead of time; it keeps compiled code in its cache by itself",
);
const NO_DEBUGGER: Meaning =
    Refused("mono: --debugger-agent: Saki has no soft debugger; 'saki --perf gdb' shows managed frames in gdb");

/// Refused because it asks for an action other than running the program.
const fn action(text: &'static str) -> Meaning {
    Refused(text)
}

const OF_MONOS_COMPILER: &str = "of Mono's compiler";
const ONE_COMPILER: &str = "there is one compiler, which compiles at run time";
const IS_AN_ACTION: &str = "examines Mono's compiler instead of running the program";

const DEVELOPMENT: &str = "Saki has other options for its developers: 'saki --help' shows them.\n\n\
    The options supported by MONO_DEBUG can also be passed on the command line.\n";

const DEBUG: &str = "Debugging options:\n   --debug[=OPTIONS]     Lines in stack traces are shown with or without it; OPTIONS is a comma\n\
    \x20                        separated list of\n\n    \
    gdb                  Tell gdb of compiled code\n    \
    casts                Accepted\n    \
    mdb-optimizations    Accepted\n";

const TRACE: &str = "Tracing options:\n   --trace[=EXPR]        A line for each call and each return; EXPR says of which methods\n\n\
    EXPR is a list of these, separated by commas; the last that fits a method decides:\n    \
    ASSEMBLY             Methods of this assembly (without .dll)\n    \
    all                  All methods, as without EXPR\n    \
    program              Methods of the program's own assembly\n    \
    wrapper              Calls of native code, and calls by it\n    \
    N:Namespace          Methods of this namespace\n    \
    T:Type               Methods of this type\n    \
    M:Type:Method        This method\n    \
    E:Type               Exceptions of this type are told of; E:all: all exceptions\n    \
    -EXPR                Leaves out what EXPR names\n    \
    disabled             Nothing until SIGUSR2 comes, which switches the trace on and off\n";

const HANDLERS: &str = "No handlers supported on current platform.\n";

/// In the order of mono(1); options that only `--help-devel` lists follow.
pub const OPTIONS: &[MonoOption] = &[
    option("--aot", NO_AOT, "compiled code is kept in the code cache"),
    option("--aot=OPTIONS", NO_AOT, "as above"),
    option("--aot-path=PATH", Accepted, "there are no such files"),
    option("--apply-bindings=FILE", Accepted, "matters with --aot only"),
    option(
        "--assembly-loader=MODE",
        AssemblyLoader,
        "`strict` or `legacy` is accepted, anything else warned of; loading is as by default",
    ),
    option("--attach=OPTIONS", Accepted, "no tool can attach, so `disable` is so"),
    option(
        "--config FILE",
        Config,
        "the file with `<dllmap>` entries, in place of /etc/mono/config and ~/.mono/config",
    ),
    option("--debugger-agent=OPTIONS", NO_DEBUGGER, "there is no soft debugger"),
    option("--desktop", Accepted, "the nursery's size follows the program"),
    option("--server", Accepted, "as above"),
    option("--full-aot", Accepted, ONE_COMPILER),
    option("--full-aot-interp", Accepted, ONE_COMPILER),
    option("--hybrid-aot", Accepted, ONE_COMPILER),
    option("--llvmonly", Accepted, ONE_COMPILER),
    option("--llvmonly-interp", Accepted, ONE_COMPILER),
    option("--gc=sgen", Accepted, "there is one collector"),
    option("--gc=boehm", Accepted, "there is one collector"),
    option("--gc-debug=OPTIONS", CollectorDebug, "as MONO_GC_DEBUG"),
    option("--gc-params=OPTIONS", CollectorParameters, "as MONO_GC_PARAMS, which follows it"),
    option("--arch=64", Accepted, "so it is"),
    option("--arch=32", Refused("mono: --arch=32: Saki is a 64-bit program only"), "64 bits only"),
    option("--help", Usage, "prints what the options are"),
    option("-h", Usage, "prints what the options are"),
    option("--help-devel", Text(DEVELOPMENT), "prints where the list is"),
    option("--help-debug", Text(DEBUG), "prints what `--debug=` takes"),
    option("--help-trace", Text(TRACE), "prints what `--trace=` takes"),
    option("--help-handlers", Text(HANDLERS), "says that there are none, as Mono does on Linux"),
    option("--list-opt", ListOptimizations, "prints the names that `-O=` takes"),
    option("--interpreter", Accepted, ONE_COMPILER),
    option("--interp", Accepted, ONE_COMPILER),
    option("--interp=OPTIONS", Accepted, ONE_COMPILER),
    option("--llvm", Accepted, ONE_COMPILER),
    option("--nollvm", Accepted, ONE_COMPILER),
    option("--ffast-math", Accepted, OF_MONOS_COMPILER),
    option("--optimize=MODE", Optimize, "Mono's names are accepted, others refused; code is always optimised"),
    option("-O=MODE", Optimize, "as above"),
    option("--response=FILE", Response, "the words of FILE follow those of the command line"),
    option("--runtime=VERSION", Runtime, "v4.0.30319 it is; anything else gets a warning, as under Mono"),
    option("--use-map-jit", Accepted, "of another system"),
    option("--verify-all", Accepted, "code is not verified, as under Mono without it"),
    option("--security", Security, "`validil` and `verifiable` are accepted, `cas` warned of, `core-clr` refused"),
    option("--security=MODE", Security, "as above"),
    option("-V", Version, "Mono's first line, with Saki's version in parentheses"),
    option("--version", Version, "Mono's first line, with Saki's version in parentheses"),
    option("--version=number", VersionNumber, "the release of the class libraries: 6.8.0.105"),
    option("--debug", Meaning::Debug, "stack traces show files and lines with or without it"),
    option(
        "--debug=OPTIONS",
        Meaning::Debug,
        "`gdb` tells gdb of compiled code, `casts` and `mdb-optimizations` are accepted, others refused",
    ),
    option("--profile", Profile, "as `--profile=log`"),
    option(
        "--profile=MODULE",
        Profile,
        "`log` and `coverage` are Mono's profilers with their options (`--profile=log:help`, `--profile=coverage:help`)",
    ),
    option("--trace", Trace, "a line for each call and each return, as Mono writes them; `saki --trace` does so, too"),
    option(
        "--trace=EXPRESSION",
        Trace,
        "`all`, `program`, `wrapper`, `N:`, `T:`, `M:`, `E:`, assemblies, `-` in front, `disabled`; SIGUSR2 switches",
    ),
    option("--no-x86-stack-align", Accepted, "of another processor"),
    option("--jitmap", PerfMap, "a perf map, as `saki --perf map` writes it"),
    option("--bisect=OPTIMIZATION:FILE", Accepted, OF_MONOS_COMPILER),
    option("--break METHOD", Accepted, "gdb finds methods by name (`--debug=gdb`)"),
    option("--breakonex", Accepted, OF_MONOS_COMPILER),
    option(
        "--compile METHOD",
        action("mono: --compile: Saki compiles no single methods; 'saki --dump-clif NAME' shows one"),
        IS_AN_ACTION,
    ),
    option("--compile-all", action("mono: --compile-all: Saki compiles what runs, when it runs"), IS_AN_ACTION),
    option("--compile-all=N", action("mono: --compile-all: Saki compiles what runs, when it runs"), IS_AN_ACTION),
    option(
        "--graph METHOD",
        action("mono: --graph: Saki draws no graphs; 'saki --dump-ir NAME' shows a method"),
        IS_AN_ACTION,
    ),
    option(
        "--graph=TYPE METHOD",
        action("mono: --graph: Saki draws no graphs; 'saki --dump-ir NAME' shows a method"),
        IS_AN_ACTION,
    ),
    option(
        "--ncompile N",
        action("mono: --ncompile: Saki does not measure its compiler this way; 'saki --stats' tells"),
        IS_AN_ACTION,
    ),
    option("--stats", Statistics, "prints Saki's own statistics at exit, on standard error"),
    option("--wapi=COMMAND", Refused("--wapi= option no longer supported"), "as Mono has it"),
    option("-v", Verbose, "prints each method when it is compiled"),
    option("--verbose", Verbose, "prints each method when it is compiled"),
    option("--agent=ASSEMBLY", Refused("mono: --agent: Saki runs no agent assemblies"), "not done"),
    option(
        "--handlers=HANDLERS",
        Refused("error: --handlers=, one or more unknown handlers"),
        "there are none, as in Mono on Linux",
    ),
    option("--break-at-bb METHOD N", Accepted, OF_MONOS_COMPILER),
    option("--inject-async-exc METHOD OFFSET", Accepted, "a test aid of Mono's own"),
    option("--print-vtable", Accepted, OF_MONOS_COMPILER),
    option(
        "--print-icall-table",
        Refused("mono: --print-icall-table: Saki has no such table; 'saki --missing' tells what a program lacks"),
        "`saki --missing` tells what a program lacks",
    ),
    option("--statfile FILE", Accepted, "matters with --compile only"),
    option("--regression", action("mono: --regression: a test of Mono's own compiler, not Saki's"), IS_AN_ACTION),
    option(
        "--single-method=OPTIONS",
        action("mono: --single-method: a test of Mono's own compiler, not Saki's"),
        IS_AN_ACTION,
    ),
    option("--inside-mdb", Refused("The Mono Debugger is no longer supported."), "as Mono has it"),
];

/// The option that `word` is, and its value ("" without one).
pub fn find(word: &str) -> Option<(&'static MonoOption, &str)> {
    OPTIONS.iter().find_map(|option| {
        let spelling = option.spelling.split(' ').next().unwrap_or_default();
        if word == spelling {
            return Some((option, ""));
        }
        // A value in capitals stands for any value; "--gc=sgen" is a separate option.
        let (name, value) =
            spelling.split_once('=').filter(|(_, value)| value.starts_with(|c: char| c.is_uppercase()))?;
        debug_assert!(!value.is_empty());
        Some((option, word.strip_prefix(name)?.strip_prefix('=')?))
    })
}

/// Names that `-O=` takes, with Mono's descriptions.
pub const OPTIMIZATIONS: [&str; 29] = [
    "peephole",
    "branch",
    "inline",
    "cfold",
    "consprop",
    "copyprop",
    "deadce",
    "linears",
    "cmov",
    "shared",
    "sched",
    "intrins",
    "tailc",
    "loop",
    "fcmov",
    "leaf",
    "aot",
    "precomp",
    "abcrem",
    "ssapre",
    "exception",
    "ssa",
    "float32",
    "sse2",
    "gsharedvt",
    "gshared",
    "simd",
    "unsafe",
    "alias-analysis",
];

/// Whether `-O=` takes it: a name, "all", or either behind a minus sign.
pub fn is_optimization(name: &str) -> bool {
    let name = name.strip_prefix('-').unwrap_or(name);
    name == "all" || OPTIMIZATIONS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::super::variables::{Effect, VARIABLES};
    use super::*;
    use std::fmt::Write;

    #[test]
    fn each_option_is_found_by_its_spelling() {
        for option in OPTIONS {
            let word = option.spelling.split(' ').next().unwrap();
            let (found, value) = find(word).unwrap();
            assert_eq!(found.spelling, option.spelling, "listed twice");
            assert_eq!(value.is_empty(), word == found.spelling.split(' ').next().unwrap() || value.is_empty());
        }
        assert_eq!(find("--debug=gdb,casts").unwrap().1, "gdb,casts");
        assert!(find("--gc=other").is_none() && find("--debugx").is_none() && find("-").is_none());
    }

    fn document() -> String {
        let mut text = String::from(include_str!("document.md"));
        text.push_str("\n## Options\n\n| option | here | |\n|---|---|---|\n");
        for MonoOption { spelling, meaning, note } in OPTIONS {
            let effect = match meaning {
                Accepted => "accepted",
                Refused(_) => "refused",
                _ => "done",
            };
            writeln!(text, "| `{spelling}` | {effect} | {note} |").unwrap();
        }
        text.push_str("\nThe names that MONO_DEBUG takes are options behind two dashes, too (`--no-gdb-backtrace`).\n");
        text.push_str("\n## Environment variables\n\n| variable | here | |\n|---|---|---|\n");
        for (names, effect) in VARIABLES {
            let (effect, note) = match effect {
                Effect::Does(note) => ("done", *note),
                Effect::ClassLibrary => ("done", "the class library reads it"),
                Effect::Accepted(note) => ("ignored", *note),
            };
            writeln!(text, "| {names} | {effect} | {note} |").unwrap();
        }
        text
    }

    /// `UPDATE_EXPECT=1 cargo test -p saki-cli document` writes it.
    #[test]
    fn the_document_lists_what_the_command_line_takes() {
        expect_test::expect_file!["../../../../docs/mono-options.md"].assert_eq(&document());
    }
}
