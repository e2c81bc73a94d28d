//! Namespaces System.Security and below it.

pub mod principal;
pub mod rng;
pub mod security_manager;
