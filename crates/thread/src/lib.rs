//! Managed threads: their structure, registry, safepoints, blocking, thread statics, process exit.
//!
//! Invariant: threads stop only cooperatively (see `safepoint`); while the world is stopped, every word in which a
//! stopped thread may hold an object reference is on its stack above the published stack pointer, in its saved
//! registers, in its root slots or in its thread-static blocks. Thread state lives in [`ManagedThread`]; OS
//! thread-local storage holds only `current`.
//!
//! The files from the bottom up; none names one of a later row, except that a carrier and its thread know each other:
//!
//! | files | what they hold |
//! |---|---|
//! | `protocol`, `hold`, `histogram`, `spill`, `child_locks`, `process_number` | the stop protocol on bare words; registers; locks in a forked child, and its number |
//! | `stack_reserve`, `cold_stack`, `statics` | parts of a thread |
//! | `managed_thread`, `carrier` | the two records |
//! | `current`, `request`, `stop`, `scheduler_hooks` | the thread that runs here, what is asked of it, the process's stop words, what threads ask of a scheduler |
//! | `thread_stack`, `blocking`, `giving_way`, `waits`, `native_transition` | what a thread does: its stack, safe regions, waits, native code |
//! | `exit`, `registry`, `safepoint`, `partial_stop` | all threads: when the process may end, their list, stops |
//! | `spawn`, `scheduling`, `fork` | starting OS threads, the interface for a scheduler, and what a forked child keeps |
//!
//! Left out: collections, exceptions, the green-thread scheduler. With `--cfg loom` only the stop protocol is
//! built, for its model.

#[cfg(not(loom))]
pub mod blocking;
#[cfg(not(loom))]
pub mod carrier;
#[cfg(not(loom))]
pub mod child_locks;
#[cfg(not(loom))]
pub mod cold_stack;
#[cfg(not(loom))]
pub mod current;
#[cfg(not(loom))]
pub mod exit;
#[cfg(not(loom))]
pub mod fork;
#[cfg(not(loom))]
mod giving_way;
#[cfg(not(loom))]
pub mod growth;
#[cfg(not(loom))]
pub mod histogram;
mod hold;
#[cfg(not(loom))]
pub mod managed_thread;
#[cfg(not(loom))]
mod native_transition;
#[cfg(not(loom))]
mod partial_stop;
#[cfg(not(loom))]
mod process_number;
pub mod protocol;
#[cfg(not(loom))]
pub mod registry;
#[cfg(not(loom))]
pub mod request;
#[cfg(not(loom))]
pub mod safepoint;
#[cfg(not(loom))]
pub mod scheduler_hooks;
#[cfg(not(loom))]
pub mod scheduling;
#[cfg(not(loom))]
pub mod spawn;
#[cfg(not(loom))]
mod spill;
#[cfg(not(loom))]
mod stack_reserve;
#[cfg(not(loom))]
pub mod statics;
#[cfg(not(loom))]
mod stop;
#[cfg(not(loom))]
mod thread_stack;
#[cfg(not(loom))]
mod waits;

#[cfg(not(loom))]
pub use blocking::{SafeRegion, blocking, lock_in_safe_region};
#[cfg(not(loom))]
pub use carrier::{AllocBuffer, Carrier, for_each_carrier, for_each_thread_that_ran};
#[cfg(not(loom))]
pub use current::current;
#[cfg(not(loom))]
pub use exit::{foreground_thread_count, wait_for_foreground_threads};
#[cfg(not(loom))]
pub use histogram::HistogramSnapshot;
#[cfg(not(loom))]
pub use hold::hold_native_code;
#[cfg(not(loom))]
pub use managed_thread::{ManagedThread, NO_STATE, RootSlot, ThreadKind, WaitObserver, WaitState, WaitTarget, root};
#[cfg(not(loom))]
pub use native_transition::{enter_native, leave_native, tell_stopper};
#[cfg(not(loom))]
pub use partial_stop::visit_stopping_threads;
#[cfg(not(loom))]
pub use registry::{
    CarrierHooks, ThreadHooks, ThreadRef, abort_process, add_carrier_hooks, add_hooks, attach_current, attach_foreign,
    detach_current, end_process, find_thread, for_each_thread, may_attach, thread_count, try_attach_current,
};
#[cfg(not(loom))]
pub use request::{
    POLL_INTERRUPT, POLL_KEPT, POLL_PREEMPT, POLL_STACK, POLL_STOP, POLL_SUSPEND, POLL_TAKEN, POLL_YIELD,
    REQUEST_ABORT, REQUEST_INTERRUPT,
};
#[cfg(not(loom))]
pub use safepoint::{
    StopReason, StopToken, resume_the_world, stop_latency_histogram, stop_the_world, with_world_stopped,
};
#[cfg(not(loom))]
pub use spawn::{SpawnedThread, default_stack_bytes, spawn, stack_bytes};
#[cfg(not(loom))]
pub use statics::{BlockScan, StaticBlock};
