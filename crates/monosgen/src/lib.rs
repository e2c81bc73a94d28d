//! `libmonosgen-2.0.so.1`: a machine behind Mono's embedding API, for hosts that load Mono's library.
//!
//! The files are named after the parts of the API; `machine` starts the machine, `call` brings a thread of the host
//! into it and back. `docs/design/embedding.md` says what a handle is, which objects the collector sees, and what
//! differs from Mono.
//!
//! Invariant: no function unwinds into the host, and none goes on after something that it cannot do: it ends the
//! process with a message that names the function. Left out: the functions that `missing` lists.

mod arrays;
mod assemblies;
mod assembly_hooks;
mod assembly_names;
mod attributes;
mod call;
mod class_members;
mod classes;
mod command;
mod config;
mod contexts;
mod counters;
mod debug;
mod descriptions;
mod disassembly;
mod domains;
mod errors;
mod exceptions;
mod field_values;
mod gc;
mod gc_regions;
mod handles;
mod host_functions;
mod host_layers;
mod host_records;
mod icalls;
mod inner_names;
mod invocations;
mod invoke;
mod jit;
mod jit_info;
mod jit_options;
mod logger;
mod machine;
mod marshal_specs;
mod methods;
mod missing;
mod native_libraries;
mod objects;
mod old_profilers;
mod opcodes;
mod pe_files;
mod profiler_calls;
mod profiler_coverage;
mod profiler_events;
mod profiler_load;
mod profiler_sampling;
mod profilers;
mod reference_queues;
mod reflection;
mod security_actions;
mod signatures;
mod stack_walks;
mod strings;
mod tables;
mod text;
mod thread_control;
mod threads;
mod type_names;
mod types;

saki_interop::hide_c_names!();
