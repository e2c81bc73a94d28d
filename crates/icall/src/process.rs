//! System.Diagnostics.Process and Microsoft.Win32.NativeMethods (System.dll).
//!
//! Left out: WaitForInputIdle, other users' credentials, the links of ShellExecuteEx
//! to desktop programs.

mod exit_watch;
pub mod file_version;
pub mod information;
mod modules;
pub mod native_methods;
mod processes;
pub(crate) use exit_watch::CORRECTIONS;
pub use processes::{begin_child, hold_for_fork, release_after_fork};
pub mod start;
pub mod unix_signals;
mod version_resource;
