//! Whether the class library spins before it waits.
//!
//! Its locks, semaphores and events look for a change some ten times, with pauses of up to 64 iterations, before they
//! wait, unless the machine has one processor (`PlatformHelper.IsSingleProcessor`). Spinning saves a thread of the
//! system the way through the kernel. A green thread that waits gives its carrier to the next one for less than the
//! pauses cost, and while it spins it keeps the thread off the carrier that is to make the change. So in the green
//! modes the class library takes the machine there for one with one processor, and yields in place of pausing.
//!
//! Invariant: `Environment.ProcessorCount` and what is derived of it stay as they are. Left out: .NET's own class
//! library, which the machine tells how long to pause (`corelib::threads`).

use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::{CurrentThread, ManagedField};
use saki_sched::{ThreadMode, mode, parallelism};
use saki_types::LibraryType;

static IS_SINGLE_PROCESSOR: ManagedField = ManagedField::new(LibraryType::PlatformHelper, "IsSingleProcessor");

/// The class constructor of PlatformHelper, which does nothing else.
fn initialise_platform_helper(_t: CurrentThread) {
    let is_single = mode() != ThreadMode::Native || parallelism() == 1;
    // SAFETY: the address of a static field of type Boolean, which its class constructor alone writes.
    unsafe { *IS_SINGLE_PROCESSOR.static_address::<bool>() = is_single };
}

/// The body in Mono's class library counts processors alone.
pub(crate) const CORRECTIONS: &[LoopRow] =
    &[LoopRow::new("static System.Threading.PlatformHelper::.cctor() System.Void", &initialise_platform_helper)
        .correcting()];
