//! The parts of this crate that a machine is built with: internal calls, events of loading, remoting, the clean-up of
//! tables.

use saki_runtime::InternalCall;

pub use crate::loader_events::AppDomainEvents;
pub use crate::remoting::REMOTING;

/// The internal calls of reflection.
pub const TABLES: &[&[InternalCall]] = &[
    crate::activation::TABLE,
    crate::app_domain::TABLE,
    crate::assembly::TABLE,
    crate::assembly_loading::TABLE,
    crate::assembly_name::TABLE,
    crate::attribute_data::TABLE,
    crate::callers::TABLE,
    crate::custom_attributes::TABLE,
    crate::emit::attributes::TABLE,
    crate::emit::create::TABLE,
    crate::emit::dynamic_methods::TABLE,
    crate::emit::modules::TABLE,
    crate::emit::save::TABLE,
    crate::emit::signatures::TABLE,
    crate::emit::tokens::TABLE,
    crate::event_info::TABLE,
    crate::field_access::TABLE,
    crate::field_info::TABLE,
    crate::method_info::TABLE,
    crate::modifiers::TABLE,
    crate::module::TABLE,
    crate::parameters::TABLE,
    crate::property_info::TABLE,
    crate::remoting::TABLE,
    crate::resources::TABLE,
    crate::runtime_type::TABLE,
    crate::security_level::TABLE,
    crate::tokens::TABLE,
    crate::type_construction::TABLE,
    crate::type_guid::TABLE,
    crate::type_handle::TABLE,
    crate::type_lookup::TABLE,
    crate::type_members::TABLE,
];

/// Functions that drop dead records from the tables of this crate.
pub const FORGET_DEAD: &[fn()] = &[
    crate::cache::forget_dead,
    crate::members::forget_dead,
    crate::emit::emitted_module::forget_dead_modules,
    crate::tokens::forget_dead,
    crate::type_handle::forget_dead,
    crate::assembly_name::forget_dead,
];
