//! Namespace Mono.

pub mod handles;
pub mod runtime;
pub mod safe_string_marshal;
