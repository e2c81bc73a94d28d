//! `saki doctor`: what Saki finds on this machine, and what it does about it. Exit code 1 when a program could not run.

use saki_os::errata::{self, CpuId, LockedReads};
use saki_runtime::code_cache::directory;
use std::path::Path;

/// Prints the report; the exit code.
pub fn run(framework_root: &Path) -> i32 {
    let mut is_well = true;
    let mut line = |what: &str, is_good: bool, text: String| {
        is_well &= is_good;
        print(if is_good { "ok" } else { "BAD" }, what, &text);
    };
    line("processor", true, processor());
    line("processors to use", true, saki_os::cpu::count().to_string());
    line("instruction sets", true, saki_jit::host_features().join(" "));
    line("atomic instructions", true, locked_reads(errata::locked_reads()).to_owned());
    let corlib = framework_root.join("4.5/mscorlib.dll");
    let found = if corlib.is_file() { corlib.display().to_string() } else { format!("{}: missing", corlib.display()) };
    line("class library", corlib.is_file(), found);
    if let Some(scarcity) = saki_os::address_space::scarcity() {
        line("address space", true, format!("{scarcity}: the heap is mapped by need, tables are small"));
    }
    match saki_code::init() {
        Ok(()) => line("code region", true, "mapped twice (writable apart from executable)".to_owned()),
        Err(error) => line("code region", false, error.to_string()),
    }
    caches();
    i32::from(!is_well)
}

fn print(verdict: &str, what: &str, text: &str) {
    println!("{verdict:<5}{what:<22}{text}");
}

/// Where compiled code is kept, and what there is not used, and why. Programs run without, only slower.
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

fn processor() -> String {
    match CpuId::of_this_processor() {
        Some(cpu) => {
            let vendor = String::from_utf8_lossy(&cpu.vendor).into_owned();
            format!("{vendor} family {} model {} stepping {}", cpu.family(), cpu.model(), cpu.signature & 0xf)
        }
        None => std::env::consts::ARCH.to_owned(),
    }
}

fn locked_reads(state: LockedReads) -> &'static str {
    match state {
        LockedReads::Ordered => "reads stay behind locked instructions; no fence",
        LockedReads::SingleProcessor => "reads may pass locked instructions, but there is one processor; no fence",
        LockedReads::FixedByFirmware => "reads could pass locked instructions; the firmware prevents it; no fence",
        LockedReads::NeedFence => {
            "reads may pass locked instructions (AMD K8 revision E): a fence follows them in compiled code and in Saki's \
             locks; the C library's and the collector's own are as they were built"
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_missing_class_library_is_bad() {
        assert_eq!(super::run(std::path::Path::new("/nonexistent")), 1);
    }
}
