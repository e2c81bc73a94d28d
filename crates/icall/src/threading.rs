//! Namespace System.Threading.

pub mod interlocked;
pub mod io_selector;
pub mod monitor;
pub mod mutex;
pub mod native_events;
pub mod semaphore;
pub(crate) mod spinning;
pub mod thread;
pub mod thread_pool;
pub mod timer;
pub mod volatile;
pub mod wait_handle;
