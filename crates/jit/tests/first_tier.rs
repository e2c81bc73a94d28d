//! The tests of what compiled code does, for code of the baseline compiler (`common::compiler` looks at this crate's
//! name).

#[path = "execute.rs"]
mod execute;
