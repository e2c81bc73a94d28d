//! Namespaces System.Security and below it.

pub mod key_pair_persistence;
pub mod principal;
pub mod rng;
pub mod security_manager;
