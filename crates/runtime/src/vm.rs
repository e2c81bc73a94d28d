//! The upper layer: the machine as a whole. Domains, threads and their ends, finalizers, the end of code and types,
//! profiling, start and exit.

pub(crate) mod abort_requests;
pub mod body_replacement;
pub mod call_trace;
pub mod collectible;
pub mod collection_events;
pub mod counters;
pub mod coverage;
pub mod crash_report;
pub mod domain_copy;
pub mod domain_unload;
pub mod domains;
pub mod dynamic_methods;
pub mod exit;
pub(crate) mod exit_code;
pub(crate) mod file_pages;
pub mod finalizer;
pub(crate) mod finalizer_signal;
pub mod first_chance;
pub(crate) mod fork;
pub(crate) mod heap_client;
pub mod heap_snapshot;
pub mod host_policies;
pub mod host_probes;
pub mod host_profiler;
pub mod host_settings;
pub mod host_threads;
pub mod interruption;
pub(crate) mod leaked_threads;
mod machine;
pub mod net;
pub mod options;
pub mod profile_events;
pub mod profile_frames;
pub mod profile_log;
pub(crate) mod services;
pub mod source_lines;
mod stack_overflow;
pub mod stack_text;
pub mod stack_trace;
pub mod suspension;
pub(crate) mod termination;
pub mod thread_dump;
pub(crate) mod thread_hooks;
pub mod thread_names;
pub(crate) mod thread_objects;
pub mod thread_pool;
pub(crate) mod thread_waits;
pub mod threads;
pub(crate) mod thrown_frames;
pub mod tiers;
pub mod unhandled;
pub(crate) mod upcalls;
pub mod walk_check;

pub use machine::{
    StartError, Vm, VmBuilder, command_line, domain_object, entry_assembly, ephemeron_tombstone, execute, exit_code,
    make_program, set_command_line, set_exit_code,
};
pub use options::{ConfigurationFiles, ToolsRequest, VmOptions, options};
