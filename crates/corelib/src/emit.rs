//! System.Reflection.Emit's AssemblyBuilder: metadata that grows while a program defines types.
//!
//! From the bottom up:
//!
//! | area | modules |
//! |---|---|
//! | the records of a module, by its tokens | `tables` |
//! | a module: its records, and where the rows of finished types lie | `module` |
//! | the image of one finished type | `image` |
//! | attributes that stand for flags of a row | `pseudo_attributes` |
//! | tokens of a module for reflection | `reading` |
//! | the calls of the builders' classes | `assembly_builder`, `module_builder`, `type_builder` |
//!
//! docs/design/net-emit.md describes how they work together. Invariant: a token that a builder has got names the same
//! thing as long as its module lives: for ever, unless the assembly is collectible (RunAndCollect).

mod assembly_builder;
mod image;
mod module;
mod module_builder;
mod pseudo_attributes;
mod reading;
mod tables;
mod type_builder;

pub(crate) use assembly_builder::raise_type_resolve;
pub(crate) use module::forget_dead as forget_dead_modules;
pub(crate) use reading::{
    code_as_written, late_attributes, literal, locate, names_something, references_of, show, types_of,
};

use saki_runtime::InternalCall;

/// The internal calls of `RuntimeAssemblyBuilder`.
pub const ASSEMBLY_TABLE: &[InternalCall] = assembly_builder::TABLE;
/// The internal calls of `RuntimeModuleBuilder`.
pub const MODULE_TABLE: &[InternalCall] = module_builder::TABLE;
/// The internal calls of `RuntimeTypeBuilder`.
pub const TYPE_TABLE: &[InternalCall] = type_builder::TABLE;
