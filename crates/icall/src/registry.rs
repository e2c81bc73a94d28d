//! The internal calls of this crate, and the value that gives the machine its upper layers.

use crate::{diagnostics, globalization, io, mono, net, process, runtime_services, security, system, text, threading};
use saki_os::ForkActions;
use saki_runtime::{HostEvents, InternalCall, InternalCallTables, UpperLayers};

/// One table per file, in the order of the files.
const TABLES: &[&[InternalCall]] = &[
    diagnostics::debugger::TABLE,
    diagnostics::log_profiler::TABLE,
    diagnostics::performance_counters::TABLE,
    diagnostics::stack_frame::TABLE,
    diagnostics::stack_trace::TABLE,
    diagnostics::stopwatch::TABLE,
    globalization::calendar_data::TABLE,
    globalization::culture_data::TABLE,
    globalization::culture_info::TABLE,
    globalization::region_info::TABLE,
    io::drive_info::TABLE,
    io::memory_map::TABLE,
    io::mono_io::TABLE,
    io::mono_io_paths::TABLE,
    io::native_streams::TABLE,
    io::path::TABLE,
    io::watcher::TABLE,
    mono::crash_state::TABLE,
    mono::handles::TABLE,
    mono::runtime::TABLE,
    mono::safe_string_marshal::TABLE,
    net::dns::TABLE,
    net::socket_calls::TABLE,
    net::socket_connections::TABLE,
    net::socket_options::TABLE,
    net::socket_select::TABLE,
    net::socket_transfers::TABLE,
    net::tls::TABLE,
    process::file_version::TABLE,
    process::information::TABLE,
    process::native_methods::TABLE,
    process::start::TABLE,
    runtime_services::com_slots::TABLE,
    runtime_services::context::TABLE,
    runtime_services::gc_handle::TABLE,
    runtime_services::runtime_helpers::TABLE,
    runtime_services::runtime_imports::TABLE,
    runtime_services::runtime_information::TABLE,
    security::key_pair_persistence::TABLE,
    security::principal::TABLE,
    security::rng::TABLE,
    security::security_manager::TABLE,
    system::app_domain::TABLE,
    system::arg_iterator::TABLE,
    system::array::TABLE,
    system::array_copy::TABLE,
    system::array_create::TABLE,
    system::array_values::TABLE,
    system::buffer::TABLE,
    system::console_driver::TABLE,
    system::date_time::TABLE,
    system::delegate::TABLE,
    system::enumeration::TABLE,
    system::environment::TABLE,
    system::gc::TABLE,
    system::math::TABLE,
    system::number_formatter::TABLE,
    system::object::TABLE,
    system::string::TABLE,
    system::value_type::TABLE,
    text::encoding_helper::TABLE,
    text::normalization::TABLE,
    threading::interlocked::TABLE,
    threading::io_selector::TABLE,
    threading::monitor::TABLE,
    threading::mutex::TABLE,
    threading::native_events::TABLE,
    threading::semaphore::TABLE,
    threading::thread::TABLE,
    threading::thread_pool::TABLE,
    threading::timer::TABLE,
    threading::volatile::TABLE,
    threading::wait_handle::TABLE,
];

/// Everything above the runtime, for `Vm::builder`.
pub fn upper_layers() -> UpperLayers {
    UpperLayers {
        interop: saki_interop::functions(),
        remoting: saki_reflect::REMOTING,
        loader_events: &saki_reflect::AppDomainEvents,
        internal_calls: all_tables(),
        library_loops: crate::loops::tables(),
        own_functions: vec![crate::io::native_streams::OWN_FUNCTIONS, crate::process::unix_signals::OWN_FUNCTIONS],
        forget_dead: [saki_reflect::FORGET_DEAD, saki_interop::FORGET_DEAD].concat(),
        forks: FORKS,
        host: HostEvents::default(),
    }
}

/// What internal calls keep when the process forks: a child has none of the threads that wait, work in the pool or
/// watch something.
const FORKS: ForkActions = ForkActions {
    prepare: || {
        process::hold_for_fork();
        saki_runtime::exec::waitables::hold_for_fork();
        threading::io_selector::hold_for_fork();
        net::look_ups::hold_for_fork();
    },
    parent: || {
        net::look_ups::release_after_fork();
        threading::io_selector::release_after_fork();
        saki_runtime::exec::waitables::release_after_fork();
        process::release_after_fork();
    },
    child: || {
        process::begin_child();
        saki_runtime::exec::waitables::begin_child();
        threading::io_selector::begin_child();
        saki_runtime::vm::thread_pool::begin_child();
        net::look_ups::begin_child();
        system::console_driver::begin_child();
    },
    restart: system::console_driver::restart_child,
};

fn all_tables() -> InternalCallTables {
    InternalCallTables([TABLES, saki_reflect::TABLES, saki_interop::TABLES].concat())
}

#[cfg(test)]
mod tests {
    use saki_contract::{Contract, ContractLine, LineKind, Version, split_mark};

    /// Whether the row names the line's method. Nested types are "Outer/Inner" in names of types, "Outer+Inner" in
    /// parameters.
    fn is_row_of(row: &str, line: &ContractLine) -> bool {
        let (owner, name) = line.member();
        let own_parameters =
            line.text.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')).map(|(text, _)| text);
        let (row_name, parameters) = match row.split_once('(') {
            Some((row_name, rest)) => (row_name, rest.strip_suffix(')')),
            None => (row, None),
        };
        let is_same = row_name.replace('/', "+") == format!("{owner}::{name}");
        is_same && (parameters.is_none() || parameters == own_parameters)
    }

    /// A call that two rows implement, or none, would fail or run the wrong function.
    #[test]
    fn each_call_of_the_contract_has_one_row_and_each_row_a_call() {
        let rows = saki_runtime::exec::internal_calls::row_names(&super::all_tables());
        let contract = Contract::own();
        let mut findings = Vec::new();
        for version in Version::MONO {
            let holds = |row: &&str| split_mark(row).is_ok_and(|(versions, _)| versions.contains(version));
            let rows: Vec<&str> =
                rows.iter().copied().filter(holds).map(|row| split_mark(row).expect("a mark").1).collect();
            let lines = contract.sections.iter().flat_map(|section| &section.lines);
            let lines: Vec<&ContractLine> = lines.filter(|line| line.holds_for(version)).collect();
            for line in lines.iter().filter(|line| line.kind.is_call()) {
                let count = rows.iter().filter(|row| is_row_of(row, line)).count();
                if count != usize::from(line.kind == LineKind::Call) {
                    findings.push(format!("{version:?}: {count} rows of {} {}", line.kind.name(), line.text));
                }
            }
            // A row may stand in for a method with code, too.
            let is_listed = |row: &str| {
                let mut lines = lines.iter().filter(|line| matches!(line.kind, LineKind::Call | LineKind::Method));
                lines.any(|line| is_row_of(row, line))
            };
            let unused = rows.iter().filter(|row| !is_listed(row));
            findings.extend(unused.map(|row| format!("{version:?}: no call for row {row}")));
        }
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }
}
