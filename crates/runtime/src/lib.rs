//! The virtual machine: what compiled code calls, what Rust code needs to work with managed objects, start-up and exit.
//!
//! Invariants: an exception for the program is left pending on the thread (`Err(Thrown)` in Rust) and thrown when the
//! runtime function returns to compiled code; Rust holds object references only in locals, root cells and handles.
//! Left out: the internal calls themselves (`icall`, `reflect`, `interop`).
//!
//! Three layers, each of which knows only those below it: `object` → `exec` → `vm`.

pub mod exec;
pub mod object;
pub mod vm;

// Inside, modules are named without their layer, which `layers` of tidy knows; other crates name it.
pub(crate) use exec::{
    callback_exceptions, class_init, code_cache, compile, context_statics, contexts, crossings, helpers, initialised,
    internal_calls, invoke, library_loops, local_alloc, local_blocks, monitors, proxy_calls, stops, tail_arguments,
    thread_aborts, thread_data, thread_statics, upper_layers, waitables, waits,
};
pub(crate) use object::{
    cast_cache, cells, class_library, delegates, domain, entries, events, exception_trace, exception_types, exceptions,
    fields, handles, host_events, managed_methods, method_names, missing, proxies, references, runtime_events, slot,
    statics, strings, thread, thread_state, type_objects, upcalls, vtable_code, vtables, weak_references, widening,
};
pub(crate) use vm::{
    abort_requests, call_trace, collectible, collection_events, coverage, crash_report, domain_copy, domains,
    dynamic_methods, exit, exit_code, file_pages, finalizer, finalizer_signal, first_chance, fork, heap_client,
    host_probes, host_profiler, interruption, leaked_threads, profile_events, profile_frames, profile_log,
    source_lines, stack_text, stack_trace, suspension, thread_dump, thread_hooks, thread_names, thread_objects,
    thread_waits, threads, thrown_frames, unhandled, walk_check,
};

pub use cells::RootCell;
pub use crossings::{Place, RefPlace};
pub use exception_types::ExceptionType;
pub use exceptions::{Thrown, ToManaged};
pub use fields::ManagedField;
pub use handles::RootedHandle;
pub use internal_calls::{InternalCall, InternalCallTables};
pub use invoke::Slot;
pub use managed_methods::ManagedMethod;
pub use references::{Array, Obj, Str, Word};
pub use saki_abi::ObjRef;
pub use thread::{CurrentThread, Managed};
pub use upper_layers::{HostEvents, Interop, OwnFunction, Remoting, UpperLayers, VarArgCookie, upper_layers};
pub use vm::Vm;
