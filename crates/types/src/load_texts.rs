//! The messages of load errors about types, in .NET's words or in Mono's (`LibraryProfile::has_mono_texts`).
//!
//! .NET names a nested type without the types around it.

use crate::error::LoadError;
use crate::identity::qualified;
use crate::ty::Ty;

/// Whether the program runs on class libraries with Mono's texts.
pub fn are_mono() -> bool {
    crate::universe().profile().has_mono_texts
}

/// "Could not load type 'T' from assembly 'A' because …", or Mono's message.
pub(crate) fn type_refused(ty: Ty, because: &str, in_mono: impl FnOnce() -> String) -> LoadError {
    if are_mono() {
        return LoadError::type_load(in_mono(), ty.full_name());
    }
    let (name, assembly) = (ty.message_name(), ty.image().assembly().display_name());
    LoadError::type_load(format!("Could not load type '{name}' from assembly '{assembly}' because {because}."), name)
}

/// A generic type with another number of arguments than it has parameters, or a type without parameters.
pub(crate) fn wrong_number_of_arguments(definition: Ty, count: usize) -> LoadError {
    if are_mono() {
        let name = definition.full_name();
        let message = format!("Type {name} takes {} generic arguments, not {count}", definition.args.len());
        return LoadError::type_load(message, name);
    }
    let name = definition.def().map_or_else(|| definition.full_name(), |def| qualified(def.namespace, def.name));
    let assembly = definition.image().assembly().display_name();
    let message = format!(
        "The generic type '{name}' was used with the wrong number of generic arguments in assembly '{assembly}'."
    );
    LoadError::type_load(message, name)
}
