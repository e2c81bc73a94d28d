//! How code is generated.

use saki_abi::HeapLayout;
use std::fmt;
use std::str::FromStr;

/// Level of optimisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OptLevel {
    /// No mid-end optimisation and a fast register allocator: only for code without loops that rarely runs.
    None,
    #[default]
    Speed,
}

/// Which compiler makes the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tier {
    /// The baseline compiler, where it covers the function.
    First,
    /// The optimising compiler, but for small dynamic methods.
    #[default]
    Second,
}

impl FromStr for Tier {
    type Err = String;

    fn from_str(text: &str) -> Result<Tier, String> {
        match text {
            "1" => Ok(Tier::First),
            "2" => Ok(Tier::Second),
            _ => Err(format!("'{text}' is neither 1 nor 2")),
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tier::First => "1",
            Tier::Second => "2",
        })
    }
}

/// Options of a [`crate::Compiler`].
#[derive(Clone, Debug)]
pub struct CompilerOptions {
    /// The heap in which the code allocates.
    pub heap: HeapLayout,
    pub opt_level: OptLevel,
    pub tier: Tier,
    /// Run Cranelift's verifier on every function.
    pub verify: bool,
    /// Test aid: every allocation takes the slow path.
    pub stress_allocation: bool,
    /// Test aid: every poll takes the slow path.
    pub stress_poll: bool,
    /// Test aid: every reference store with a known object calls the barrier's slow path.
    pub stress_barrier: bool,
    /// A fence behind each locked instruction, for processors on which reads pass those (`saki_os::errata`).
    pub fence_after_atomics: bool,
    /// Fences on both sides of asymmetric barriers, where the kernel does not offer those (`saki_os::membarrier`).
    pub symmetric_barriers: bool,
    /// The handle table has a slot for every number, so that compiled code may load a slot before it has checked that
    /// the number is a handle (`saki_sync::handle_table`).
    pub inline_handles: bool,
    /// Use the features of this machine's processor beyond the baseline. Off: code that any x86-64-v1 or armv8 can run.
    pub host_features: bool,
    /// Unchecked conversions of floats that do not fit give the nearest integer, and 0 for NaN; otherwise what x64's
    /// instructions give.
    pub saturates_conversions: bool,
    /// Use the processor's vector instructions for operations of vector types; requires `isa::has_vectors`.
    pub vectors: bool,
}

impl CompilerOptions {
    /// The usual options, for code that allocates in this heap.
    pub fn new(heap: HeapLayout) -> CompilerOptions {
        CompilerOptions {
            heap,
            opt_level: OptLevel::Speed,
            tier: Tier::Second,
            verify: cfg!(debug_assertions),
            stress_allocation: false,
            stress_poll: false,
            stress_barrier: false,
            fence_after_atomics: false,
            symmetric_barriers: false,
            inline_handles: true,
            host_features: true,
            saturates_conversions: false,
            vectors: crate::isa::has_vectors(),
        }
    }
}
