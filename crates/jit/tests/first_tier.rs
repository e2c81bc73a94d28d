//! The tests of what compiled code does, for code of the baseline compiler (`common::compiler` looks at this crate's
//! name).
#![cfg(target_arch = "x86_64")]

#[path = "execute.rs"]
mod execute;
