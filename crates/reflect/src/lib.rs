//! Reflection: the objects of System.Reflection and the internal calls that read and use metadata through them.
//!
//! From the bottom up; a file names only files of its own line and of lines above:
//!
//! | area | modules |
//! |---|---|
//! | handles, objects, caches | `members`, `thread_cache`, `native_memory`, `cache`, `handles`, `objects`, `module`, `library_calls` |
//! | facts from metadata | `constants`, `modifiers`, `generic_constraints`, `type_name`, `resources`, `attribute_rows`; also `callers` |
//! | builders | `emit` |
//! | types | `runtime_type`, `type_handle`, `activation`, `security_level` |
//! | assemblies, names to types | `domain_events`, `loader_events`, `assembly_loading`, `assembly_name`, `assembly`, `type_lookup`, `tokens` |
//! | types made of types, and searched | `type_construction`, `type_members` |
//! | calls and values | `invocation`, `app_domain`, `real_proxy`, `field_access` |
//! | members | `field_info`, `marshal_as`, `parameters`, `property_info`, `event_info`, `method_body` |
//! | methods, and calls to other domains | `cross_domain`, `remoting`, `method_info` |
//! | attributes | `attribute_values`, `attribute_data`, `custom_attributes` |
//! | what the machine gets | `registry` |
//!
//! Invariant: one reflection object per handle and reflected type, because managed code compares them by reference.
//! Left out: delegates, enums, marshalling.

pub mod activation;
pub mod app_domain;
pub mod assembly;
pub mod assembly_loading;
pub mod assembly_name;
pub mod attribute_data;
pub mod attribute_rows;
pub mod attribute_values;
pub mod cache;
pub mod callers;
#[cfg(test)]
mod class_libraries;
pub mod constants;
pub mod cross_domain;
pub mod custom_attributes;
mod domain_events;
pub mod emit;
pub mod event_info;
pub mod field_access;
pub mod field_info;
pub mod generic_constraints;
pub mod handles;
pub mod invocation;
pub mod invocation_by_address;
mod library_calls;
mod loader_events;
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
mod real_proxy;
pub mod registry;
pub mod remoting;
pub mod resources;
pub mod runtime_type;
pub mod security_level;
mod thread_cache;
pub mod tokens;
pub mod type_construction;
pub mod type_guid;
pub mod type_handle;
pub mod type_lookup;
pub mod type_members;

pub use invocation::invoke_boxed;
pub use objects::{
    assembly_object, event_object, field_object, method_object, module_object, property_object, type_array,
};
pub use registry::{AppDomainEvents, FORGET_DEAD, REMOTING, TABLES};
pub use saki_types::type_name::{TypeName, parse_type_name};
