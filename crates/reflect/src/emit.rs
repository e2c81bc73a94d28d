//! System.Reflection.Emit: from builder objects to methods, types and files.
//!
//! From the bottom up:
//!
//! | area | modules |
//! |---|---|
//! | fields of the builders | `builders`, `blocks`, `values` |
//! | dynamic methods | `dynamic_methods` |
//! | what the tokens of a module name | `emitted_module` |
//! | assemblies and modules, attributes | `modules`, `attributes` |
//! | writing metadata | `encoder`, `signatures`, `members`, `tokens`, `method_rows`, `type_rows` |
//! | finishing types, saving modules | `create`, `save` |
//!
//! Invariant: code that reads builders allocates no managed object, so that nothing moves meanwhile; objects that are
//! needed longer are kept by handles and root cells.

pub mod attributes;
mod blocks;
mod builders;
pub mod create;
pub mod dynamic_methods;
pub mod emitted_module;
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
pub use builders::{finished_builder_field, finished_builder_method, finished_builder_type};
pub(crate) use method_rows::code_as_written;
