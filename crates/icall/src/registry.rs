//! All tables of this crate, and of the crates below it, in one call.

use crate::{diagnostics, globalization, io, mono, net, process, runtime_services, security, system, text, threading};
use saki_runtime::InternalCall;
use saki_runtime::internal_calls::register;

/// One table per file, in the order of the files.
const TABLES: &[&[InternalCall]] = &[
    diagnostics::debugger::TABLE,
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
    io::native_read::TABLE,
    io::path::TABLE,
    io::watcher::TABLE,
    mono::crash_state::TABLE,
    mono::handles::TABLE,
    mono::runtime::TABLE,
    mono::safe_string_marshal::TABLE,
    net::dns::TABLE,
    net::socket::TABLE,
    net::socket_options::TABLE,
    net::socket_select::TABLE,
    net::socket_transfer::TABLE,
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

/// Registers every internal call. Called once, before managed code runs.
pub fn register_all() {
    for table in TABLES {
        register(table);
    }
    saki_reflect::register();
    threading::thread::install();
}
