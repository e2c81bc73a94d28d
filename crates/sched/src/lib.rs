//! The scheduler of green threads: managed threads that take turns on a few OS threads, the carriers.
//!
//! The crates above start threads with [`spawn`] and need not know the mode: waits go through the threads' parkers,
//! whose hooks the scheduler sets (`park`), and blocking native code runs in safe regions, from which the scheduler
//! takes the carrier (`handover`). In native mode the scheduler does nothing. The parts that carriers share, run queues
//! with stealing, the injector, timers, are generic over a *task*, a word that they pass on and never interpret; their
//! atomics come from `saki_sync::facade`, so that models run the shipped code.
//!
//! The files from the bottom up; none names one of a later row:
//!
//! | files | what they hold |
//! |---|---|
//! | `task_word`, `run_next`, `queue` and `injector`, `timers`, `slots`, `idle`, `park_word` | the parts that carriers share, each with its protocol |
//! | `dispatch`, `mode`, `poller`, `green` | the observer, the mode, the source of events, the record of a thread |
//! | `parts`, `worker`, `workers`, `cold`, `watcher_sleep`, `polling` | the state of the scheduler, and what is done to it without running anything |
//! | `runnable`, `carriers`, `search`, `switch` | running threads: a thread that becomes runnable may need another worker, which searches for threads and switches to them, after which others become runnable |
//! | `park`, `handover`, `native_exit`, `watcher` | how threads wait, lose and get back their carriers, and end |
//! | `scheduler`, `fork` | start, new threads, counts; the start in a forked child |
//!
//! Invariant: nothing here runs managed code, allocates managed objects or reaches a safepoint; a thread is in one
//! queue at most, or suspended, or runs. Left out: the events that idle carriers wait for besides work (`poller`), and
//! native code that blocks, whose carrier is taken.

pub mod idle;
pub mod injector;
pub mod park_word;
pub mod queue;
pub mod run_next;
pub mod slots;
mod task_word;
pub mod timers;

#[cfg(not(loom))]
mod carriers;
#[cfg(not(loom))]
mod cold;
#[cfg(not(loom))]
mod dispatch;
#[cfg(not(loom))]
mod fork;
#[cfg(not(loom))]
mod green;
#[cfg(not(loom))]
mod growth;
#[cfg(not(loom))]
mod handover;
#[cfg(not(loom))]
mod lookahead;
#[cfg(not(loom))]
mod mode;
#[cfg(not(loom))]
mod native_exit;
#[cfg(not(loom))]
mod park;
#[cfg(not(loom))]
mod parts;
#[cfg(not(loom))]
mod poller;
#[cfg(not(loom))]
mod polling;
#[cfg(not(loom))]
mod runnable;
#[cfg(not(loom))]
mod scheduler;
#[cfg(not(loom))]
mod search;
#[cfg(not(loom))]
mod switch;
#[cfg(not(loom))]
mod watcher;
#[cfg(not(loom))]
mod watcher_sleep;
#[cfg(not(loom))]
mod worker;
#[cfg(not(loom))]
mod workers;

#[cfg(not(loom))]
pub use cold::{ColdCounts, DEFAULT_HOT_STACKS};
#[cfg(not(loom))]
pub use dispatch::{Dispatch, DispatchObserver, observe_dispatch};
#[cfg(not(loom))]
pub use fork::start as hook_forks;
#[cfg(not(loom))]
pub use growth::SmallStacks;
pub use idle::{IdleCarriers, SleepEnd};
pub use injector::Injector;
#[cfg(not(loom))]
pub use mode::{ThreadMode, mode, parallelism};
pub use park_word::ParkWord;
#[cfg(not(loom))]
pub use poller::Poller;
#[cfg(not(loom))]
pub use polling::start_polling;
pub use queue::RunQueue;
pub use run_next::RunNext;
#[cfg(not(loom))]
pub use scheduler::{Statistics, spawn, start, statistics};
pub use slots::{Reclaimed, SlotHolder, Slots, WorkerSlot};
pub use task_word::TaskWord;
pub use timers::{TimerKey, Timers};
#[cfg(not(loom))]
pub use watcher::wake_for_end;
