//! `saki doctor`: what Saki finds on this machine, and what it does about it. Exit code 1 when a program could not run.
//!
//! Each line of the report is a function of its own; `LINES` is their order. The code caches come last, in as many lines as they need.

use saki_base::answer;
use saki_os::errata::{self, CpuId, LockedReads};
use saki_reactor::IoModel;
use saki_runtime::class_library;
use saki_runtime::code_cache::directory;
use std::path::Path;

/// A line of the report.
struct Finding {
    what: &'static str,
    /// false: programs cannot run.
    is_good: bool,
    text: String,
}

impl Finding {
    /// A fact about this machine that is no problem.
    fn fact(what: &'static str, text: impl Into<String>) -> Finding {
        Finding { what, is_good: true, text: text.into() }
    }
}

/// The facts that the lines of the report need.
struct Machine<'a> {
    framework_root: &'a Path,
}

const LINES: [fn(&Machine) -> Finding; 11] = [
    processor,
    processors_to_use,
    instruction_sets,
    vectors,
    atomic_instructions,
    class_library,
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
        let Finding { what, is_good, text } = line(&machine);
        is_well &= is_good;
        print(if is_good { "ok" } else { "BAD" }, what, &text);
    }
    caches();
    i32::from(!is_well)
}

fn print(verdict: &str, what: &str, text: &str) {
    answer!("{verdict:<5}{what:<22}{text}");
}

/// The caches of compiled code, and which of their files are not used, and why. Programs run without caches, only slower.
fn caches() {
    /// A cache that another user filled has hundreds of files.
    const MOST_SHOWN: usize = 20;
    let places = [("code cache", directory::own()), ("installed code", directory::installed())];
    for (what, place) in places {
        let Some(place) = place else {
            match what {
                "code cache" if saki_os::privilege::is_elevated() => {
                    print(
                        "note",
                        what,
                        "none: this process has more rights than its starter, whose environment is ignored",
                    );
                }
                "code cache" => print("note", what, "none: neither XDG_CACHE_HOME nor HOME is an absolute path"),
                _ => {}
            }
            continue;
        };
        let is_own = what == "code cache";
        let distrusted = place.distrusted();
        let unwritable = place.unwritable().filter(|_| is_own);
        if distrusted.is_empty() && unwritable.is_none() {
            print("ok", what, &place.path().display().to_string());
        }
        for distrust in distrusted.iter().take(MOST_SHOWN) {
            print("note", what, &format!("not used: {distrust}"));
        }
        if distrusted.len() > MOST_SHOWN {
            print(
                "note",
                what,
                &format!("and {} more below {}", distrusted.len() - MOST_SHOWN, place.path().display()),
            );
        }
        if let Some(distrust) = unwritable {
            print("note", what, &format!("not written: {distrust}"));
        }
    }
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
    Finding::fact("instruction sets", saki_jit::host_features().join(" "))
}

fn vectors(_: &Machine) -> Finding {
    let text = if saki_jit::has_vectors() {
        "16 bytes, for System.Numerics and Mono.Simd (--no-simd does without)"
    } else {
        "none that compiled code uses: it takes SSE 4.2"
    };
    Finding::fact("vectors", text.to_owned())
}

fn atomic_instructions(_: &Machine) -> Finding {
    Finding::fact(
        "atomic instructions",
        match errata::locked_reads() {
            LockedReads::Ordered => "reads stay behind locked instructions; no fence",
            LockedReads::SingleProcessor => "reads may pass locked instructions, but there is one processor; no fence",
            LockedReads::FixedByFirmware => "reads could pass locked instructions; the firmware prevents it; no fence",
            LockedReads::NeedFence => {
                "reads may pass locked instructions (AMD K8 revision E): a fence follows them in compiled code and in Saki's \
                 locks; the C library's and the collector's own are as they were built"
            }
        },
    )
}

fn class_library(machine: &Machine) -> Finding {
    let profile = machine.framework_root.join(saki_types::binder::PROFILE);
    let corlib = profile.join("mscorlib.dll");
    let bad = |text: String| Finding { what: "class library", is_good: false, text };
    if !corlib.is_file() {
        return bad(format!("{}: missing", corlib.display()));
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
        Err(error) => Finding { what: "code region", is_good: false, text: error.to_string() },
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
    #[test]
    fn a_missing_class_library_is_bad() {
        assert_eq!(super::run(std::path::Path::new("/nonexistent")), 1);
    }
}
