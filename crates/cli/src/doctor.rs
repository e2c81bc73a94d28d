//! `saki doctor`: what Saki finds on this machine, and what it does about it. Exit code 1 when a program could not run.
//!
//! Each line of the report is a function of its own; `LINES` is their order. The code caches come last, in as many
//! lines as they need.

use crate::environment;
use crate::options::{SHELL, VERSION};
use crate::toolchain::{self, Toolchain};
use saki_base::answer;
use saki_dotnet::installed;
use saki_os::errata::{self, CpuId, LockedReads};
use saki_reactor::IoModel;
use saki_runtime::exec::code_cache::directory;
use saki_runtime::object::class_library;
use std::path::Path;

/// How good what was found is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Good,
    /// Something is missing that most programs do without.
    Note,
    /// Programs cannot run.
    Bad,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Good => "ok",
            Verdict::Note => "note",
            Verdict::Bad => "BAD",
        }
    }
}

/// A line of the report.
struct Finding {
    what: &'static str,
    verdict: Verdict,
    text: String,
}

impl Finding {
    /// A fact about this machine that is no problem.
    fn fact(what: &'static str, text: impl Into<String>) -> Finding {
        Finding { what, verdict: Verdict::Good, text: text.into() }
    }

    fn note(what: &'static str, text: impl Into<String>) -> Finding {
        Finding { what, verdict: Verdict::Note, text: text.into() }
    }

    fn bad(what: &'static str, text: impl Into<String>) -> Finding {
        Finding { what, verdict: Verdict::Bad, text: text.into() }
    }
}

/// The facts that the lines of the report need.
struct Machine<'a> {
    framework_root: &'a Path,
}

const LINES: [fn(&Machine) -> Finding; 18] = [
    version,
    processor,
    processors_to_use,
    instruction_sets,
    vectors,
    atomic_instructions,
    class_library,
    native_helpers,
    compiler,
    shell,
    dotnet_runtimes,
    dotnet_compiler,
    debug_symbols,
    address_space,
    code_region,
    stack_guards,
    kernel_features,
    io_models,
];

/// Prints the report; the exit code.
pub fn run(framework_root: &Path) -> i32 {
    let machine = Machine { framework_root };
    let mut is_well = true;
    for line in LINES {
        let Finding { what, verdict, text } = line(&machine);
        is_well &= verdict != Verdict::Bad;
        print(verdict, what, &text);
    }
    caches();
    i32::from(!is_well)
}

fn print(verdict: Verdict, what: &str, text: &str) {
    answer!("{:<5}{what:<22}{text}", verdict.word());
}

/// The caches of compiled code, and which of their files are not used, and why. Programs run without caches, only
/// slower.
fn caches() {
    /// A cache that another user filled has hundreds of files.
    const MOST_SHOWN: usize = 20;
    let places = [("code cache", environment::own_cache()), ("installed code", directory::installed())];
    for (what, place) in places {
        let Some(place) = place else {
            match what {
                "code cache" if saki_os::privilege::is_elevated() => {
                    print(
                        Verdict::Note,
                        what,
                        "none: this process has more rights than its starter, whose environment is ignored",
                    );
                }
                "code cache" => print(Verdict::Note, what, "none: neither XDG_CACHE_HOME nor HOME is an absolute path"),
                _ => {}
            }
            continue;
        };
        let is_own = what == "code cache";
        let distrusted = place.distrusted();
        let unwritable = place.unwritable().filter(|_| is_own);
        if distrusted.is_empty() && unwritable.is_none() {
            print(Verdict::Good, what, &format!("{}: {}", place.path().display(), size_of_cache(&place)));
        }
        for distrust in distrusted.iter().take(MOST_SHOWN) {
            print(Verdict::Note, what, &format!("not used: {distrust}"));
        }
        if distrusted.len() > MOST_SHOWN {
            print(
                Verdict::Note,
                what,
                &format!("and {} more below {}", distrusted.len() - MOST_SHOWN, place.path().display()),
            );
        }
        if let Some(distrust) = unwritable {
            print(Verdict::Note, what, &format!("not written: {distrust}"));
        }
    }
}

/// "12 files, 3.4 MiB".
fn size_of_cache(place: &directory::CacheFolder) -> String {
    let opened = place.open().ok().flatten();
    let files = opened.as_ref().map_or_else(Vec::new, |opened| directory::files(opened.folder()));
    let bytes: u64 = files.iter().map(|file| file.size_bytes).sum();
    format!(
        "{} files, {:.1} of {} MiB",
        files.len(),
        bytes as f64 / f64::from(1 << 20),
        directory::MAX_TOTAL_BYTES >> 20
    )
}

fn version(_: &Machine) -> Finding {
    Finding::fact("saki", VERSION)
}

fn processor(_: &Machine) -> Finding {
    let text = match CpuId::of_this_processor() {
        Some(cpu) => {
            let vendor = String::from_utf8_lossy(&cpu.vendor).into_owned();
            format!("{vendor} family {} model {} stepping {}", cpu.family(), cpu.model(), cpu.signature & 0xf)
        }
        None => std::env::consts::ARCH.to_owned(),
    };
    Finding::fact("processor", text)
}

fn processors_to_use(_: &Machine) -> Finding {
    Finding::fact("processors to use", saki_os::cpu::count().to_string())
}

fn instruction_sets(_: &Machine) -> Finding {
    let names: Vec<String> = saki_jit::host_features().into_iter().map(instruction_set_name).collect();
    Finding::fact("instruction sets", if names.is_empty() { "the baseline".to_owned() } else { names.join(", ") })
}

/// "has_sse41" as processors' makers write it: "SSE4.1".
fn instruction_set_name(flag: &str) -> String {
    let name = flag.strip_prefix("has_").unwrap_or(flag).to_uppercase();
    match name.strip_prefix("SSE4") {
        Some(minor) if !minor.is_empty() => format!("SSE4.{minor}"),
        _ => name,
    }
}

fn vectors(_: &Machine) -> Finding {
    let text = if saki_jit::has_vectors() {
        "16 bytes, for System.Numerics, Mono.Simd and .NET's Vector128 (--no-simd does without)"
    } else {
        "none that compiled code uses: it takes SSE 4.2"
    };
    Finding::fact("vectors", text.to_owned())
}

fn atomic_instructions(_: &Machine) -> Finding {
    let text = ordering_of_atomics(errata::locked_reads(), saki_jit::atomics_are_fences());
    Finding::fact("atomic instructions", text.to_owned())
}

/// What is done about a processor whose locked instructions have the fault of `reads`, or, where `are_fences` is not
/// set, whose atomic operations are loops of exclusive loads and stores.
fn ordering_of_atomics(reads: LockedReads, are_fences: bool) -> &'static str {
    match reads {
        LockedReads::NeedFence => {
            "reads may pass locked instructions (AMD K8 revision E): a fence follows them in compiled code and in Saki's \
             locks; the C library's and the collector's own are as they were built"
        }
        _ if !are_fences => {
            "exclusive loads and stores, which reads may pass (no LSE): a fence follows them in compiled code"
        }
        LockedReads::Ordered => "reads stay behind locked instructions; no fence",
        LockedReads::SingleProcessor => "reads may pass locked instructions, but there is one processor; no fence",
        LockedReads::FixedByFirmware => "reads could pass locked instructions; the firmware prevents it; no fence",
    }
}

fn class_library(machine: &Machine) -> Finding {
    let profile = machine.framework_root.join(saki_types::binder::PROFILE);
    let corlib = profile.join("mscorlib.dll");
    let bad = |text: String| Finding::bad("class library", text);
    if !corlib.is_file() {
        return bad(format!(
            "{}: missing (Debian's package mono-mcs brings it, mono-devel all of it)",
            corlib.display()
        ));
    }
    let image = match saki_metadata::Image::open(&corlib) {
        Ok(image) => image,
        Err(error) => return bad(format!("{}: {error}", corlib.display())),
    };
    match class_library::identify(&image) {
        Err(text) => bad(text),
        Ok(version) => match class_library::strangers(&profile, version).first() {
            Some(text) => bad(text.clone()),
            None => {
                let release = saki_contract::release_of(&image).unwrap_or_else(|| version.name().to_owned());
                Finding::fact("class library", format!("{}: Mono {release}", corlib.display()))
            }
        },
    }
}

/// Mono's native libraries, which parts of the class library call: beside the class libraries' folder, or else where
/// Debian has them.
fn native_helpers(machine: &Machine) -> Finding {
    const WHAT: &str = "native helpers";
    let folder = machine.framework_root.parent().unwrap_or(machine.framework_root);
    let usual = Path::new(saki_interop::dllmap::LIBRARY_DIRECTORY);
    let is_there = |library: &str| [folder, usual].iter().any(|folder| folder.join(library).is_file());
    let missing: Vec<String> = NATIVE_HELPERS
        .iter()
        .filter(|(library, _)| !is_there(library))
        .map(|(library, purpose)| format!("no {library}, which {purpose} needs"))
        .collect();
    if missing.is_empty() {
        return Finding::fact(WHAT, NATIVE_HELPERS.map(|(library, _)| library).join(", "));
    }
    Finding::note(WHAT, format!("{} (Debian's package mono-runtime-common has them)", missing.join("; ")))
}

/// Files and what they are for.
const NATIVE_HELPERS: [(&str, &str); 3] = [
    ("libmono-native.so", "much of System"),
    ("libMonoPosixHelper.so", "Mono.Posix and compression"),
    ("libmono-btls-shared.so", "TLS"),
];

fn compiler(machine: &Machine) -> Finding {
    match toolchain::mono_compiler(machine.framework_root) {
        Ok(path) => Finding::fact("C# compiler", path.display().to_string()),
        Err(text) => Finding::note("C# compiler", format!("{text}; for 'saki run' of sources")),
    }
}

fn shell(machine: &Machine) -> Finding {
    let path = machine.framework_root.join(SHELL);
    if path.is_file() {
        return Finding::fact("C# shell", path.display().to_string());
    }
    let text = format!("{}: no such file (Debian's package mono-csharp-shell has it); for 'saki repl'", path.display());
    Finding::note("C# shell", text)
}

/// A runtime of .NET, with the reason why programs do not run on it, if they do not; and whether they do.
fn dotnet_runtime(one: &installed::Installed) -> (String, bool) {
    let path = one.folder.join(installed::CORE_LIBRARY);
    let refused = match saki_metadata::Image::open(&path) {
        Ok(image) => class_library::identify(&image).err(),
        Err(error) => Some(error.to_string()),
    };
    match refused {
        None => (one.version.to_string(), true),
        Some(reason) => (format!("{} (not served: {reason})", one.version), false),
    }
}

/// The runtimes of every .NET that is found, and which of these programs run on.
fn dotnet_runtimes(_: &Machine) -> Finding {
    const WHAT: &str = ".NET runtimes";
    let places = environment::dotnet_places();
    let mut is_one_served = false;
    let mut of_root = |root: &saki_dotnet::Root| {
        let (versions, are_served): (Vec<String>, Vec<bool>) =
            installed::runtimes(&root.path).iter().map(dotnet_runtime).unzip();
        is_one_served |= are_served.contains(&true);
        let versions = if versions.is_empty() { "none".to_owned() } else { versions.join(", ") };
        format!("{versions} in {} ({})", root.path.display(), root.found_by)
    };
    let all = places.roots().iter().map(&mut of_root).collect::<Vec<_>>().join("; ");
    match places.root() {
        Err(looked) => Finding::note(WHAT, format!("{looked}; for programs of modern .NET")),
        Ok(_) if is_one_served => Finding::fact(WHAT, all),
        Ok(_) => Finding::note(WHAT, format!("{all}; none that programs run on")),
    }
}

fn dotnet_compiler(_: &Machine) -> Finding {
    const WHAT: &str = "C# compiler of .NET";
    match Toolchain::of_net(&environment::dotnet_places()) {
        Ok(toolchain) => Finding::fact(WHAT, toolchain.compiler.display().to_string()),
        Err(text) => Finding::note(WHAT, format!("{text}; for 'saki run --net' of sources")),
    }
}

/// Whether native code has names in profiles and debuggers, and frames of the class library have lines.
fn debug_symbols(machine: &Machine) -> Finding {
    let name = saki_sampler::Symbols::of_loaded().name(debug_symbols as *const () as usize + 1).name;
    let profile = machine.framework_root.join(saki_types::binder::PROFILE);
    let has_lines = ["mscorlib.pdb", "mscorlib.dll.mdb"].iter().any(|file| profile.join(file).is_file());
    let lines = if has_lines {
        "the class library has lines"
    } else {
        "the class library has none, so its frames have no lines"
    };
    if name.contains("doctor") {
        return Finding::fact("debug symbols", format!("of Saki: names of functions; {lines}"));
    }
    let text = format!("Saki has none (stripped): profiles and gdb do not name its own functions; {lines}");
    Finding::note("debug symbols", text)
}

fn address_space(_: &Machine) -> Finding {
    let text = match saki_os::address_space::scarcity() {
        Some(scarcity) => format!("{scarcity}: the heap is mapped by need, tables are small"),
        None => "enough for the usual layout".to_owned(),
    };
    Finding::fact("address space", text)
}

fn code_region(_: &Machine) -> Finding {
    match saki_code::init() {
        Ok(()) => Finding::fact("code region", "mapped twice (writable apart from executable)"),
        Err(error) => Finding::bad("code region", error.to_string()),
    }
}

/// How stacks of green threads are guarded: it bounds how many there can be.
fn stack_guards(_: &Machine) -> Finding {
    Finding::fact("stack guards", saki_os::guard::kind().to_string())
}

fn kernel_features(_: &Machine) -> Finding {
    let name = |has: bool, what: &str| format!("{} {what}", if has { "has" } else { "lacks" });
    let features = [(saki_os::features::has_io_uring(), "io_uring"), (saki_os::features::has_rseq(), "rseq")];
    Finding::fact("kernel", features.map(|(has, what)| name(has, what)).join(", "))
}

/// The possible values of `--io`. Programs run without the others.
fn io_models(_: &Machine) -> Finding {
    let text = IoModel::ALL.map(|model| match model.check() {
        Ok(()) => model.to_string(),
        Err(cause) => format!("not {model} ({cause})"),
    });
    Finding::fact("I/O models", text.join(", "))
}

#[cfg(test)]
mod tests {
    /// "has_sse3 has_ssse3 ..." was how the code generator spells them.
    #[test]
    fn instruction_sets_are_named_as_people_do() {
        for (flag, name) in [("has_sse3", "SSE3"), ("has_sse41", "SSE4.1"), ("has_avx2", "AVX2"), ("has_lse", "LSE")] {
            assert_eq!(super::instruction_set_name(flag), name);
        }
    }

    #[test]
    fn atomics_without_order_have_a_fence() {
        use super::{LockedReads, ordering_of_atomics};
        for reads in
            [LockedReads::Ordered, LockedReads::SingleProcessor, LockedReads::FixedByFirmware, LockedReads::NeedFence]
        {
            let is_fenced = |are_fences| !ordering_of_atomics(reads, are_fences).contains("no fence");
            assert!(is_fenced(false));
            assert_eq!(is_fenced(true), reads == LockedReads::NeedFence);
        }
    }

    #[test]
    fn a_missing_class_library_is_bad() {
        assert_eq!(super::run(std::path::Path::new("/nonexistent")), 1);
    }
}
