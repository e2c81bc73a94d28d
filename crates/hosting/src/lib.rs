//! What the hosts of a machine have in common: the `saki` command, and `libcoreclr.so` as a guest in a process of
//! others.
//!
//! | module | what it is about |
//! |---|---|
//! | `quantities` | sizes, counts and flags in words |
//! | `environment` | the variables that Saki reads |
//! | `settings` | the machine's options by their names: `--hot-stacks`, SAKI_HOT_STACKS, `Saki.HotStacks` |
//! | `properties` | the properties that .NET's host hands to a runtime |
//! | `contract` | the functions that .NET's host offers to a runtime |
//! | `thread_pool` | the settings of .NET's thread pool |
//! | `functions` | static methods of programs as C functions for hosts |
//! | `net` | starting a machine from these |
//!
//! Left out: command lines, exit codes, and what a process does around its machine.

pub mod contract;
pub mod environment;
pub mod functions;
pub mod net;
pub mod properties;
pub mod quantities;
pub mod settings;
mod thread_pool;
