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

pub use exec::{
    callback_exceptions, class_init, code_cache, compile, compile_all, compile_only, context_statics, crossings,
    helpers, internal_calls, invoke, library_loops, local_alloc, monitors, proxy_calls, sharing_statistics,
    tail_arguments, thread_aborts, thread_data, thread_statics, waitables, waits,
};
pub use object::{
    cast_cache, cells, class_library, delegate_signatures, delegates, entries, exception_types, exceptions, fields,
    handles, method_names, missing, proxies, references, statics, strings, thread, thread_state, type_objects,
    typed_values, vtables, widening,
};
pub use vm::{
    call_trace, collectible, coverage, crash_report, domain_copy, domain_unload, domains, dynamic_methods, exit,
    finalizer, heap_snapshot, interruption, profile_events, profile_frames, profile_log, source_lines, stack_text,
    stack_trace, suspension, thread_dump, thread_names, thread_pool, threads, unhandled, walk_check,
};

pub(crate) use exec::{contexts, initialised, local_blocks, stops, upper_layers};
pub(crate) use object::{domain, events, exception_trace, slot, upcalls, vtable_code, weak_references};
pub(crate) use vm::{
    abort_requests, exit_code, finalizer_signal, fork, heap_client, thread_hooks, thread_objects, thread_waits,
    thrown_frames,
};

pub use cells::RootCell;
pub use crossings::{Place, RefPlace};
pub use exception_types::ExceptionType;
pub use exceptions::{Thrown, ToManaged};
pub use fields::ManagedField;
pub use handles::RootedHandle;
pub use internal_calls::{InternalCall, InternalCallTables};
pub use invoke::Slot;
pub use references::{Array, Obj, Str, Word};
pub use saki_abi::ObjRef;
pub use thread::{CurrentThread, Managed};
pub use upper_layers::{HostEvents, Interop, OwnFunction, Remoting, UpperLayers, VarArgCookie, upper_layers};
pub use vm::Vm;
