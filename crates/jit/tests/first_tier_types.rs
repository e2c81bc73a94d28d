//! The tests of what compiled code does with types, for code of the baseline compiler; see `first_tier`.
#![cfg(target_arch = "x86_64")]

#[path = "types.rs"]
mod types;
