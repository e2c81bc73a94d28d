//! The scheduler of green threads: managed threads that take turns on a few OS threads, the carriers.
//!
//! The crates above start threads with [`spawn`] and need not know the mode: waits go through the threads' parkers, whose hooks the
//! scheduler sets (`green`), and blocking native code runs in safe regions, from which the scheduler takes the carrier
//! (`scheduler::take`). In native mode the scheduler does nothing. The parts that carriers share, run queues with stealing, the injector,
//! timers, are generic over a *task*, a word that they pass on and never interpret; their atomics come from `saki_sync::facade`, so that
//! models run the shipped code.
//!
//! Invariant: nothing here runs managed code, allocates managed objects or reaches a safepoint; a thread is in one queue at most, or
//! suspended, or runs. Left out: the events that idle carriers wait for besides work (`poller`), and native code that blocks, whose carrier is
//! taken.

pub mod idle;
pub mod injector;
pub mod park_word;
pub mod queue;
pub mod run_next;
pub mod slots;
mod task_word;
pub mod timers;

#[cfg(not(loom))]
mod cold;
#[cfg(not(loom))]
mod dispatch;
#[cfg(not(loom))]
mod green;
#[cfg(not(loom))]
mod mode;
#[cfg(not(loom))]
mod native_exit;
#[cfg(not(loom))]
mod poller;
#[cfg(not(loom))]
mod scheduler;
#[cfg(not(loom))]
mod watcher;
#[cfg(not(loom))]
mod worker;

#[cfg(not(loom))]
pub use cold::{ColdCounts, DEFAULT_HOT_STACKS};
#[cfg(not(loom))]
pub use dispatch::{Dispatch, DispatchObserver, observe_dispatch};
pub use idle::{IdleCarriers, SleepEnd};
pub use injector::Injector;
#[cfg(not(loom))]
pub use mode::ThreadMode;
pub use park_word::ParkWord;
#[cfg(not(loom))]
pub use poller::{Poller, start_polling};
pub use queue::RunQueue;
pub use run_next::RunNext;
#[cfg(not(loom))]
pub use scheduler::{Statistics, mode, parallelism, spawn, start, statistics};
pub use slots::{Reclaimed, SlotHolder, Slots, WorkerSlot};
pub use task_word::TaskWord;
pub use timers::{TimerKey, Timers};
