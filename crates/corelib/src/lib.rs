//! The internal calls of .NET's core assembly, System.Private.CoreLib: FCalls (methods marked `InternalCall`) and
//! QCalls (P/Invokes into "QCall"), by the managed type that declares them.
//!
//! A row's name has the mark of the versions that it holds for: "@net9 System.Object::GetType" is an FCall,
//! "@net QCall::ObjectNative_GetHashCode" a QCall, which is found by its entry point, since the names of generated
//! P/Invokes change; "@net9" and "@net10" hold for one version. Conventions of arguments are in `arguments`. Invariant:
//! a call that is not implemented has no row, so that calling it throws NotImplementedException with its name. Left
//! out: calls that Mono's class libraries make (`icall`, `reflect`, `interop`), whose functions rows here use where
//! they do the same.

mod activation;
pub mod arguments;
mod arrays;
mod assembly;
mod buffer;
mod class_fields;
mod custom_attribute;
mod delegates;
mod dependent_handle;
mod diagnostics;
mod dynamic_method;
mod emit;
mod environment;
pub mod event_counters;
mod events;
mod exceptions;
mod field_handle;
mod fields;
mod gc;
mod gc_handle;
mod generated_guid;
mod interlocked;
pub mod load_context;
mod load_messages;
mod marshal;
mod math;
mod metadata_import;
mod method_handle;
pub mod metrics;
mod module_handle;
mod monitor;
mod native_libraries;
mod native_monitors;
mod native_threads;
mod native_waits;
mod object;
pub mod own_executable;
mod runtime_helpers;
mod signature;
mod stream;
mod string;
mod text;
mod threads;
mod type_handle;
mod type_maps;
mod type_names;
mod value_type;
mod wait_handles;

use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::{InternalCall, UpperLayers};

/// One table per file, in the order of the files.
const TABLES: &[&[InternalCall]] = &[
    buffer::TABLE,
    activation::TABLE,
    events::TABLE,
    gc_handle::TABLE,
    generated_guid::TABLE,
    interlocked::TABLE,
    load_context::TABLE,
    load_messages::TABLE,
    object::TABLE,
    stream::TABLE,
    string::TABLE,
    arrays::TABLE,
    delegates::TABLE,
    dependent_handle::TABLE,
    diagnostics::TABLE,
    environment::TABLE,
    exceptions::TABLE,
    gc::TABLE,
    marshal::TABLE,
    math::TABLE,
    monitor::TABLE,
    native_libraries::TABLE,
    runtime_helpers::TABLE,
    threads::TABLE,
    value_type::TABLE,
    wait_handles::TABLE,
    assembly::TABLE,
    custom_attribute::TABLE,
    dynamic_method::TABLE,
    emit::ASSEMBLY_TABLE,
    emit::MODULE_TABLE,
    emit::TYPE_TABLE,
    field_handle::TABLE,
    metadata_import::TABLE,
    method_handle::TABLE,
    module_handle::TABLE,
    signature::TABLE,
    type_handle::TABLE,
    type_maps::TABLE,
    type_names::TABLE,
];

/// Functions in place of managed bodies that read CoreCLR's records.
const LOOPS: &[&[LoopRow]] = &[
    arrays::LOOPS,
    dependent_handle::LOOPS,
    dynamic_method::LOOPS,
    exceptions::LOOPS,
    gc_handle::LOOPS,
    marshal::LOOPS,
    method_handle::LOOPS,
    own_executable::LOOPS,
    runtime_helpers::LOOPS,
    threads::LOOPS,
    type_handle::LOOPS,
];

/// Everything above the runtime, for `Vm::builder`: the internal calls of all class libraries.
pub fn upper_layers() -> UpperLayers {
    let mut layers = saki_icall::upper_layers();
    layers.loader_events = &load_context::ContextEvents;
    layers.interop.resolve_native = native_libraries::resolve_native;
    layers.internal_calls.0.extend_from_slice(TABLES);
    layers.library_loops.extend_from_slice(LOOPS);
    layers.own_functions.push(native_waits::OWN_FUNCTIONS);
    layers.own_functions.push(native_monitors::OWN_FUNCTIONS);
    layers.own_functions.push(native_threads::OWN_FUNCTIONS);
    layers.own_functions.push(own_executable::OWN_FUNCTIONS);
    layers.forget_dead.extend_from_slice(load_context::FORGET_DEAD);
    layers
}

#[cfg(test)]
mod tests {
    use super::TABLES;
    use saki_contract::{Contract, ContractLine, LineKind, Version, split_mark};

    /// Whether the row "Type::Method" or "Type::Method(PARAMETERS)" names the line's method.
    fn is_row_of(row: &str, line: &ContractLine) -> bool {
        let (owner, name) = line.member();
        let (row_name, parameters) = row.split_once('(').map_or((row, None), |(name, rest)| (name, Some(rest)));
        let own = line.text.split_once('(').map_or("", |(_, rest)| rest);
        let has_parameters = |wanted: &str| own.starts_with(wanted);
        row_name.replace('/', "+") == format!("{owner}::{name}") && parameters.is_none_or(has_parameters)
    }

    /// A call that two rows implement, or none, would fail or run the wrong function.
    #[test]
    fn each_call_of_the_contract_has_one_row_and_each_row_a_call() {
        let contract = Contract::own();
        let section = contract.section("System.Private.CoreLib");
        let mut findings = Vec::new();
        for version in Version::NET {
            let names = TABLES.iter().copied().flatten().map(|row| row.name);
            let rows: Vec<&str> = names
                .filter_map(|name| split_mark(name).ok().filter(|(versions, _)| versions.contains(version)))
                .map(|(_, name)| name)
                .collect();
            let lines: Vec<&ContractLine> = section.iter().filter(|line| line.holds_for(version)).collect();
            for line in lines.iter().filter(|line| line.kind.is_call()) {
                let count = rows.iter().filter(|row| is_row_of(row, line)).count();
                if count != usize::from(line.kind == LineKind::Call) {
                    findings.push(format!("{version:?}: {count} rows of {} {}", line.kind.name(), line.text));
                }
            }
            let unused = rows.iter().filter(|row| !lines.iter().any(|line| is_row_of(row, line)));
            findings.extend(unused.map(|row| format!("{version:?}: no call for row {row}")));
        }
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }
}
