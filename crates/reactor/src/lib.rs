//! Waiting for file descriptors without an OS thread for each wait.
//!
//! A thread that finds that an operation would block calls `wait` and tries again afterwards: it parks like for any other wait, so a green thread
//! gives its carrier away. The *poller* (`poll`) asks the system which descriptors have become ready (`Backend`) and wakes
//! whoever waits for them: with green threads a carrier without work, else an OS thread of its own (`PolledBy`). `IoModel`, set at the start, says which system interface
//! is used, if any.
//!
//! Where the system reports by itself (epoll), the record of a descriptor says whether a call may work, so that calls that would fail are not made (`Look`).
//! With io_uring the system moves the bytes itself (`transfer`).
//!
//! Invariant: a wait never misses readiness: a waiter registers before the system is asked to report, or finds in the record of the descriptor that readiness
//! was reported (`record`). A wait may end for nothing; so callers try, wait, and try again. No registration lies on a stack: waiting threads are found by
//! their structures. Left out: the operations themselves, and limits of a wait other than its timeout.

#[cfg(not(loom))]
mod backend;
#[cfg(not(loom))]
mod descriptor;
#[cfg(not(loom))]
mod model;
#[cfg(not(loom))]
mod observer;
mod record;
#[cfg(not(loom))]
mod transfer;

#[cfg(not(loom))]
pub use descriptor::{Look, WaitEnd, forget, interrupt, poll, wait, wait_any};
#[cfg(not(loom))]
pub use model::{IoModel, PolledBy, model, start, waits_park};
#[cfg(not(loom))]
pub use observer::{Observer, observe, set_observer};
pub use record::{Interest, Lifetime, Readiness};
#[cfg(not(loom))]
pub use transfer::{Direction, TransferEnd, completes_transfers, transfer};
