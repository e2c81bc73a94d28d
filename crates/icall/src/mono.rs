//! Namespace Mono.

pub mod crash_state;
pub mod handles;
pub mod runtime;
pub mod safe_string_marshal;
