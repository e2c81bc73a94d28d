//! The lowest layer: objects and the facts about them. It allocates and reads objects, strings and arrays, builds
//! vtables, keeps references for Rust code (root cells, GC handles, statics), and makes exceptions.
//!
//! Invariant: nothing here names a file of the layers above, `exec` and `vm`.

pub mod cast_cache;
pub mod cells;
pub mod class_library;
pub mod delegate_signatures;
pub mod delegates;
pub(crate) mod domain;
pub mod entries;
pub mod ephemeron_pairs;
pub(crate) mod events;
pub mod exception_trace;
pub mod exception_types;
pub mod exceptions;
pub mod fields;
#[cfg(test)]
pub(crate) mod fixture;
pub mod handles;
pub mod host_events;
mod instances;
pub mod managed_methods;
pub mod member_handles;
pub mod method_names;
pub mod method_tables;
pub mod missing;
mod new_references;
pub mod overrides;
pub mod perturbation;
pub mod proxies;
pub mod references;
pub mod runtime_events;
pub(crate) mod slot;
pub mod statics;
pub mod strings;
pub mod thread;
pub mod thread_state;
pub mod type_objects;
pub mod typed_values;
pub(crate) mod upcalls;
pub mod versions;
pub(crate) mod vtable_code;
pub mod vtables;
pub(crate) mod weak_references;
pub mod widening;

pub use instances::{
    box_value, copy_struct, new_array, new_array_in_place, new_byte_array, new_instance, new_instance_of,
    new_instance_without_finalizer, new_multi_dim_array, new_sz_array, new_sz_array_of, nullable_offsets,
};
pub(crate) use instances::{is_assignable, is_assignable_or_throws};
