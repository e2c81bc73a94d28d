//! Reflection: the objects of System.Reflection and the internal calls that read and use metadata through them.
//!
//! | area | modules |
//! |---|---|
//! | handles, objects, caches | `handles`, `cache`, `objects`, `members`, `parameters` |
//! | names to types | `type_name`, `type_lookup`, `callers` |
//! | types | `runtime_type`, `type_handle`, `type_members`, `type_construction`, `generic_constraints` |
//! | members | `method_info`, `method_body`, `field_info`, `property_info`, `event_info`, `modifiers`, `marshal_as`, `constants` |
//! | calls and values | `invocation`, `field_access`, `activation` |
//! | attributes | `custom_attributes`, `attribute_values`, `attribute_data` |
//! | builders | `emit` |
//! | assemblies | `assembly`, `assembly_loading`, `assembly_name`, `resources`, `module`, `tokens`, `app_domain` |
//!
//! Invariant: one reflection object per handle and reflected type, because managed code compares them by reference.
//! Left out: delegates, enums, marshalling.

pub mod activation;
pub mod app_domain;
pub mod assembly;
pub mod assembly_loading;
pub mod assembly_name;
pub mod attribute_data;
pub mod attribute_values;
pub mod cache;
pub mod callers;
#[cfg(test)]
mod class_libraries;
pub mod constants;
pub mod cross_domain;
pub mod custom_attributes;
pub mod emit;
pub mod event_info;
pub mod field_access;
pub mod field_info;
pub mod generic_constraints;
pub mod handles;
pub mod invocation;
pub mod known;
pub mod marshal_as;
pub mod members;
pub mod method_body;
pub mod method_info;
pub mod modifiers;
pub mod module;
pub mod native_memory;
pub mod objects;
pub mod parameters;
pub mod property_info;
pub mod registry;
pub mod remoting;
pub mod resources;
pub mod runtime_type;
pub mod security_level;
mod thread_cache;
pub mod tokens;
pub mod type_construction;
pub mod type_handle;
pub mod type_lookup;
pub mod type_members;
pub mod type_name;

pub use invocation::invoke_boxed;
pub use objects::{
    assembly_object, event_object, field_object, method_object, module_object, property_object, type_array,
};
pub use registry::{AppDomainEvents, FORGET_DEAD, REMOTING, TABLES};
pub use type_name::{TypeName, parse_type_name};
