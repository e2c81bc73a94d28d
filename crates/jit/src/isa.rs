//! The target: Cranelift's settings, and the features of this processor.

use crate::error::CompileError;
use crate::options::{CompilerOptions, OptLevel};
use cranelift_codegen::isa::{self, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use saki_abi::NativeAbi;

/// Bodies begin on this boundary (log2): decoders fetch 32 bytes at a time.
const LOG2_FUNCTION_ALIGNMENT: &str = "5";

#[cfg(target_arch = "x86_64")]
const TARGET: &str = "x86_64-unknown-linux-gnu";
#[cfg(target_arch = "aarch64")]
const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Builds the target description for the machine this runs on.
pub(crate) fn build(options: &CompilerOptions) -> Result<OwnedTargetIsa, CompileError> {
    let bad = |error: &dyn std::fmt::Display| CompileError::Codegen(error.to_string());
    let mut flags = settings::builder();
    let mut set = |name: &str, value: &str| flags.set(name, value).map_err(|e| bad(&e));
    set("enable_pinned_reg", "true")?;
    set("preserve_frame_pointers", "true")?;
    set("unwind_info", "true")?;
    set("enable_probestack", "true")?;
    set("probestack_strategy", "inline")?;
    set("log2_min_function_alignment", LOG2_FUNCTION_ALIGNMENT)?;
    set("enable_verifier", if options.verify { "true" } else { "false" })?;
    match options.opt_level {
        OptLevel::Speed => set("opt_level", "speed")?,
        OptLevel::Plain => set("opt_level", "none")?,
        OptLevel::None => {
            set("opt_level", "none")?;
            set("regalloc_algorithm", "single_pass")?;
        }
    }
    let mut builder = isa::lookup_by_name(TARGET).map_err(|e| bad(&e))?;
    if options.host_features {
        for feature in host_features() {
            builder.enable(feature).map_err(|e| bad(&e))?;
        }
    }
    builder.finish(settings::Flags::new(flags)).map_err(|e| bad(&e))
}

/// How native code is called on the target.
pub(crate) fn native_abi(isa: &dyn TargetIsa) -> &'static NativeAbi {
    if isa.name() == "aarch64" { &NativeAbi::AARCH64 } else { &NativeAbi::X86_64 }
}

/// Features of this machine's processor beyond the baseline, by Cranelift's names, as far as the code generator uses
/// them.
#[cfg(target_arch = "x86_64")]
pub fn host_features() -> Vec<&'static str> {
    let mut features = Vec::new();
    macro_rules! detect {
        ($($feature:tt => $flag:literal),* $(,)?) => {
            $(if std::arch::is_x86_feature_detected!($feature) { features.push($flag); })*
        };
    }
    detect! {
        "sse3" => "has_sse3", "ssse3" => "has_ssse3", "sse4.1" => "has_sse41", "sse4.2" => "has_sse42",
        "popcnt" => "has_popcnt", "avx" => "has_avx", "avx2" => "has_avx2", "fma" => "has_fma",
        "bmi1" => "has_bmi1", "bmi2" => "has_bmi2", "lzcnt" => "has_lzcnt",
    }
    features
}

/// Features of this machine's processor beyond the baseline, by Cranelift's names, as far as the code generator uses
/// them.
#[cfg(target_arch = "aarch64")]
pub fn host_features() -> Vec<&'static str> {
    let mut features = Vec::new();
    if std::arch::is_aarch64_feature_detected!("lse") {
        features.push("has_lse");
    }
    features
}

/// Whether this processor has the vector instructions that compiled code with vectors uses without a test.
#[cfg(target_arch = "x86_64")]
pub fn has_vectors() -> bool {
    std::arch::is_x86_feature_detected!("ssse3") && std::arch::is_x86_feature_detected!("sse4.2")
}

/// Whether this processor has the vector instructions that compiled code with vectors uses without a test.
#[cfg(target_arch = "aarch64")]
pub fn has_vectors() -> bool {
    true
}

/// Whether an atomic read-modify-write orders all other accesses, as .NET demands. Loops of exclusive loads and stores
/// do not: later loads may be done before the store. Single instructions with acquire and release do (Arm ARM §B2.3.7,
/// "barrier-ordered-before").
#[cfg(target_arch = "aarch64")]
pub fn atomics_are_fences() -> bool {
    std::arch::is_aarch64_feature_detected!("lse")
}

/// Whether an atomic read-modify-write orders all other accesses, as .NET demands.
#[cfg(target_arch = "x86_64")]
pub fn atomics_are_fences() -> bool {
    true
}

/// The same of code for the baseline processor (`CompilerOptions::host_features` is not set), which on aarch64 has no
/// LSE.
pub fn baseline_atomics_are_fences() -> bool {
    cfg!(target_arch = "x86_64")
}
