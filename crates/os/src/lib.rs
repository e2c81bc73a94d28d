//! The interface to the operating system: memory, futexes, barriers, threads, signals, clocks, random bytes.
//!
//! Invariant: no managed knowledge, and no other crate of the machine makes raw system calls for these things. Linux on
//! x86-64 is supported; code that depends on the architecture is in one file per architecture. Left out: sockets,
//! reactors, and files other than the machine's own. (`message_log` is here because crates of every layer write to it.)

pub mod address_space;
pub mod build_id;
pub mod c_library;
pub mod clock;
pub mod cpu;
pub mod dual_mapping;
pub mod errata;
pub mod error;
pub mod exit_list;
pub mod fault_context;
pub mod features;
pub mod file_map;
pub mod folder;
pub mod fork;
pub mod futex;
pub mod guard;
pub mod i_cache;
pub mod limits;
pub mod locale;
pub mod mappings;
pub mod membarrier;
pub mod memory;
pub mod message_log;
pub mod own_file;
pub mod privilege;
pub mod random;
pub mod records;
pub mod services;
pub mod signal;
pub mod thread;
pub mod thread_timer;

pub use dual_mapping::DualMapping;
pub use exit_list::{ExitStage, at_exit};
pub use fault_context::{FaultContext, SignalValue};
pub use fork::{ForkActions, ForkStage, on_fork};
pub use guard::GuardKind;
pub use memory::{Protection, Reservation, page_size_bytes};
pub use thread_timer::{ThreadTimer, TimerClock, TimerSetting};
