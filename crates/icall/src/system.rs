//! Namespace System.

pub mod app_domain;
pub mod arg_iterator;
pub mod array;
pub mod array_copy;
pub mod array_create;
pub mod array_values;
pub mod buffer;
pub mod console_driver;
pub mod date_time;
pub mod delegate;
pub mod enumeration;
pub mod environment;
mod exponent_digits;
pub mod gc;
pub mod math;
pub mod number_formatter;
pub mod object;
pub mod string;
mod typed_reference;
pub mod value_type;
