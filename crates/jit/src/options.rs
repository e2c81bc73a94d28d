//! How code is generated.

use saki_abi::HeapLayout;
use std::fmt;
use std::str::FromStr;

/// Level of optimisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OptLevel {
    /// No mid-end optimisation and a fast register allocator: only for code without loops that rarely runs.
    None,
    /// No mid-end optimisation: for functions on which it would take too long (`crate::size`).
    Plain,
    #[default]
    Speed,
}

/// Which compiler makes a function's code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tier {
    /// The baseline compiler.
    First,
    /// The optimising compiler, but for small dynamic methods.
    Second,
}

/// The tiers in which methods run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tiers {
    First,
    Second,
    /// Methods begin in the first tier, which counts; those that are worth it go on in the second.
    #[default]
    Both,
}

impl Tiers {
    /// The tier of code that has no counters.
    pub fn of_uncounted_code(self) -> Tier {
        if self == Tiers::First { Tier::First } else { Tier::Second }
    }
}

impl FromStr for Tiers {
    type Err = String;

    fn from_str(text: &str) -> Result<Tiers, String> {
        match text {
            "1" => Ok(Tiers::First),
            "2" => Ok(Tiers::Second),
            "both" => Ok(Tiers::Both),
            _ => Err(format!("'{text}' is not 1, 2 or both")),
        }
    }
}

impl fmt::Display for Tiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tiers::First => "1",
            Tiers::Second => "2",
            Tiers::Both => "both",
        })
    }
}

/// Options of a [`crate::Compiler`].
#[derive(Clone, Debug)]
pub struct CompilerOptions {
    /// The heap in which the code allocates.
    pub heap: HeapLayout,
    pub opt_level: OptLevel,
    pub tiers: Tiers,
    /// Calls after which a method's code in the first tier asks for more.
    pub calls_to_hot: u32,
    /// Rounds of its loops after which it asks.
    pub rounds_to_hot: u32,
    /// Run Cranelift's verifier on every function.
    pub verify: bool,
    /// Each object that a program makes is allocated, since a profiler is to be told of all.
    pub keep_allocations: bool,
    /// Test aid: every allocation takes the slow path.
    pub stress_allocation: bool,
    /// Test aid: every poll takes the slow path.
    pub stress_poll: bool,
    /// Test aid: every reference store with a known object calls the barrier's slow path.
    pub stress_barrier: bool,
    /// A fence behind each atomic instruction, for processors on which reads pass those (`saki_os::errata`,
    /// `atomics_are_fences`).
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
            tiers: Tiers::Second,
            calls_to_hot: 2_000,
            rounds_to_hot: 20_000,
            verify: cfg!(debug_assertions),
            keep_allocations: false,
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
