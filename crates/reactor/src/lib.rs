//! Waiting for file descriptors without an OS thread for each wait.
//!
//! A thread that finds that an operation would block calls `wait` and tries again afterwards: it parks like for any
//! other wait, so a green thread gives its carrier away. The *poller* (`poll`) asks the system which descriptors have
//! become ready (`Backend`) and wakes whoever waits for them: with green threads a carrier without work, else an OS
//! thread of its own (`PolledBy`). `IoModel`, set at the start, says which system interface is used, if any.
//!
//! Where the system reports by itself (epoll), the record of a descriptor says whether a call may work, so that calls
//! that would fail are not made (`Look`). With io_uring the system moves the bytes itself (`transfer`).
//!
//! The files from the bottom up: `record` (one descriptor), `transfer_request`, `observer`; `backend` and the system
//! interfaces below it; `model` chooses one of them; `descriptor` has the records by number; `poller` asks the backend
//! and wakes; `waits`, `notification` and `transfer` are the three ways to wait.
//!
//! Invariant: a wait never misses readiness: a waiter registers before the system is asked to report, or finds in the
//! record of the descriptor that readiness was reported (`record`). Wake-ups may be spurious, so callers loop: try,
//! wait, try again. No registration lies on a stack: waiting threads are found by their structures. Left out: the
//! operations themselves, and limits of a wait other than its timeout.

#[cfg(not(loom))]
mod backend;
#[cfg(not(loom))]
mod descriptor;
#[cfg(not(loom))]
mod model;
#[cfg(not(loom))]
mod notification;
#[cfg(not(loom))]
mod observer;
#[cfg(not(loom))]
mod poller;
mod record;
#[cfg(not(loom))]
mod transfer;
#[cfg(not(loom))]
mod transfer_request;
#[cfg(not(loom))]
mod waits;

#[cfg(not(loom))]
pub use model::{IoModel, PolledBy, model, start, waits_park};
#[cfg(not(loom))]
pub use notification::{are_ready, observe};
#[cfg(not(loom))]
pub use observer::{Observer, set_observer};
#[cfg(not(loom))]
pub use poller::{forget, hook_forks, interrupt, poll};
pub use record::{Interest, Lifetime, Readiness};
#[cfg(not(loom))]
pub use transfer::{TransferEnd, completes_transfers, transfer};
#[cfg(not(loom))]
pub use transfer_request::Direction;
#[cfg(not(loom))]
pub use waits::{Look, WaitEnd, wait, wait_any};
