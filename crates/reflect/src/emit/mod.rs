//! System.Reflection.Emit: from builder objects to methods, types and files.
//!
//! | area | modules |
//! |---|---|
//! | dynamic methods | `dynamic_methods` |
//! | fields of the builders | `builders`, `blocks` |
//! | assemblies, modules, tokens | `modules`, `tokens` |
//! | writing metadata | `encoder`, `members`, `type_rows`, `method_rows`, `values`, `signatures` |
//! | attributes | `attributes` |
//! | finishing types, saving modules | `create`, `save` |
//!
//! Invariant: code that reads builders allocates no managed object, so that nothing moves meanwhile; objects that are needed
//! longer are kept by handles and root cells.

pub mod attributes;
mod blocks;
mod builders;
pub mod create;
pub mod dynamic_methods;
mod encoder;
mod members;
mod method_rows;
pub mod modules;
pub mod save;
pub mod signatures;
pub mod tokens;
mod type_rows;
mod values;

pub(crate) use builders::builder_of;
pub(crate) use method_rows::code_as_written;
pub use tokens::{finished_builder_field, finished_builder_method, finished_builder_type};
