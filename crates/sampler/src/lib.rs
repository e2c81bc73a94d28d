//! The sampling profiler: signals that may come anywhere find where threads spend their time.
//!
//! ```text
//!   timer of an OS thread → SIGPROF → handler → ring          on that thread: no lock, no allocation
//!                                               ring → reader → Profile        on a thread of its own
//! ```
//!
//! - Each OS thread that runs managed code (each carrier) has a timer of its own that counts its processor time, armed
//!   when the thread is attached and disarmed before it detaches. So there is no process-wide signal that reaches an
//!   arbitrary thread, and no signal before the thread knows its managed thread.
//! - A sample has the weight of all expirations of its timer since the one before: kernels look at these timers at
//!   their own ticks, 250 or 1,000 a second.
//! - The handler walks the frames of the managed thread that runs, whatever the instruction
//!   (`saki_unwind::Frames::of_context`); from native code it finds the managed frames by the call frame information
//!   (`native_walk`).
//! - Samples belong to managed threads: green threads have no timers of their own, their carriers have.
//! - Threads of the machine that take no signals (the collector's) are counted as a whole, by their processor time.
//!
//! Besides processor time, the profiler measures wall-clock time (`wall`), and threads record events themselves
//! (`events`). A session has any combination of them, each in its own profile, and may pass all samples and events on
//! as they come (`Consumer`).
//!
//! From the bottom up: `wake` and `threads` (timers, rings); `machine`, `call_frame_information`, `modules`, `symbols`,
//! `native_walk`; `interrupted` (crashes); `handler`, whose format of samples `stack` decodes; `events` and
//! `allocations`; `recording`; `carriers` (which threads are sampled); `reader` and its thread, `reader_thread`;
//! `wall`; `session`.
//!
//! Invariant: while nothing is sampled, no code of this crate runs: no hook is on a path of managed code. Left out:
//! file formats (`saki_profile`).

pub mod allocations;
mod call_frame_information;
mod carriers;
mod demangle;
pub mod events;
mod handler;
pub mod interrupted;
mod machine;
mod modules;
mod native_walk;
mod reader;
mod reader_thread;
mod recording;
mod session;
mod stack;
mod symbols;
mod threads;
mod unsampled;
mod wake;
mod wall;

pub use carriers::interval;
pub use events::{Consumer, Event, EventKind, Kinds, StackSample, Subject};
pub use reader::{Resolve, SourcePlace};
pub use recording::{Recording, What};
pub use session::{Sampled, Session, start, stop};
pub use stack::{Stack, StackFrame};
pub use symbols::{NativeName, NativePlace, Symbols};
pub use wake::wake_reader;
