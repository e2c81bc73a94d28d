//! All tables of this crate in one call.

use saki_runtime::internal_calls;

/// Registers the internal calls of reflection and the AppDomain's load events. Called once, after the VM has started and
/// before the program runs.
pub fn register() {
    crate::assembly_loading::install_hooks();
    saki_runtime::proxies::install_hooks(crate::remoting::HOOKS);
    register_rows();
}

/// The internal calls alone, which need no machine.
pub fn register_rows() {
    for table in [
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
        crate::type_handle::TABLE,
        crate::type_lookup::TABLE,
        crate::type_members::TABLE,
    ] {
        internal_calls::register(table);
    }
}
