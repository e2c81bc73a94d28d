//! Synchronisation: parking, thin locks, monitors, the lock-free handle table, pools with a slot for each processor.
//!
//! Invariant: owners are managed-thread ids, never OS threads, and every wait goes through a `ManagedParker`, so that a
//! green thread can park without its carrier. Atomics come from `facade`, which is `std` or, for models, `loom`. Left
//! out: safepoints (the `Blocker` passed in wraps waits in a safe region) and object knowledge.

pub mod backoff;
pub mod cancel_word;
pub mod facade;
pub mod handle_table;
#[cfg(loom)]
pub mod model;
pub mod monitor;
pub mod monitor_table;
pub mod object_lock;
mod owners_cell;
pub mod parker;
pub mod raw_lock;
pub mod raw_shared_lock;
#[cfg(not(loom))]
pub mod recycler;
pub mod sample_ring;
#[cfg(not(loom))]
pub mod short_mutex;
pub mod slot_pool;
pub mod thin_lock;
pub mod wait_word;
pub mod walk_epochs;
#[cfg(not(loom))]
pub mod word_locks;

pub use cancel_word::CancelWord;
pub use handle_table::{Handle, HandleKind, HandleSlot, HandleTable, SlotCache};
pub use monitor::{BlockEnd, Blocker, EnterEnd, Monitor, MonitorNode, NotOwner, WaitOutcome};
pub use monitor_table::MonitorTable;
pub use parker::{ManagedParker, ParkHooks, Parker};
pub use raw_lock::RawLock;
pub use raw_shared_lock::RawSharedLock;
#[cfg(not(loom))]
pub use recycler::Recycler;
pub use sample_ring::SampleRing;
pub use slot_pool::SlotPool;
pub use thin_lock::{ThinLockWord, TryLock, Unlock};
pub use wait_word::WaitWord;
pub use walk_epochs::{Stamp, Walk, WalkEpochs};
