//! The exceptions of values that cannot be marshalled.
//!
//! Left out: load errors, and exceptions that only one function throws.

use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, Thrown};
use saki_runtime::object::thread::CurrentThread;
use saki_types::universe;

/// ArgumentException: a value that does not fit its native type.
pub fn argument_error(t: CurrentThread, message: &str) -> Thrown {
    exceptions::throw(t, ExceptionType::Argument, message)
}

/// The exception for a struct without native layout: TypeLoadException in .NET, MarshalDirectiveException in Mono.
pub fn layout_error(t: CurrentThread, message: &str) -> Thrown {
    match universe().profile().refuses_more_native_fields {
        true => exceptions::throw(t, ExceptionType::TypeLoad, message),
        false => directive_error(t, message),
    }
}

/// MarshalDirectiveException: a type or declaration without a native form.
pub fn directive_error(t: CurrentThread, message: &str) -> Thrown {
    exceptions::throw(t, ExceptionType::MarshalDirective, message)
}
