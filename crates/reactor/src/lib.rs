//! Waiting for file descriptors without an OS thread for each wait.
//!
//! A thread that finds that an operation would block calls `wait` and tries again afterwards: it parks like for any other wait, so a green thread
//! gives its carrier away. The *poller* (`poll`) asks the system which descriptors have become ready (`Backend`) and wakes
//! whoever waits for them: with green threads a carrier without work, else an OS thread of its own (`PolledBy`). Which system interface that is, and whether there is one at all, is said at the start (`IoModel`).
//!
//! Where the system reports by itself (epoll), the record of a descriptor says whether a call may work, so that calls that would fail are not made (`Look`).
//! With io_uring the system moves the bytes itself (`transfer`).
//!
//! Invariant: a wait never misses readiness: whoever waits says so before the system is asked to report, or finds in the record of the descriptor that
//! it was reported (`record`). A wait may end for nothing; so callers try, wait, and try again. Nobody is registered on a stack: waiting threads are found by
//! their structures. Left out: the operations themselves, and how long a wait may take besides its timeout.

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
