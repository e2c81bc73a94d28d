//! The unwinder on code of the real code generator.

#![cfg(target_arch = "x86_64")]

mod common;
mod exceptions;
mod faults;
