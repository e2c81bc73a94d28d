//! The virtual machine: what compiled code calls, what Rust code needs to work with managed objects, start-up and exit.
//!
//! Invariants: an exception for the program is left pending on the thread (`Err(Thrown)` in Rust) and thrown when the
//! runtime function returns to compiled code; Rust holds object references only in locals, root cells and handles.
//! Left out: the internal calls themselves (`icall`, `reflect`, `interop`).

pub mod callback_exceptions;
pub mod cast_cache;
pub mod cells;
pub mod class_init;
pub mod class_library;
pub mod code_cache;
pub mod collectible;
pub mod compile;
pub mod compile_all;
pub mod compile_only;
pub mod context_statics;
pub mod delegates;
pub mod domain_copy;
pub mod domain_unload;
pub mod domains;
pub mod dynamic_methods;
pub mod entries;
pub mod exceptions;
pub mod exit;
mod exit_code;
pub mod fields;
pub mod finalizer;
pub mod handles;
mod heap_client;
pub mod heap_snapshot;
pub mod helpers;
pub mod internal_calls;
pub mod interruption;
pub mod invoke;
pub mod library_loops;
pub mod local_alloc;
pub mod missing;
pub mod monitors;
pub mod object;
pub mod pending;
pub mod profile_events;
pub mod profile_frames;
pub mod profile_log;
pub mod proxies;
pub mod sharing_statistics;
pub mod source_lines;
pub mod stack_trace;
pub mod statics;
pub mod strings;
pub mod suspension;
pub mod tail_arguments;
pub mod thread;
pub mod thread_data;
pub mod thread_dump;
pub mod thread_names;
pub mod threads;
pub mod type_objects;
pub mod types_by_name;
pub mod unhandled;
mod upper_layers;
pub mod vm;
mod vtable_code;
pub mod vtables;
pub mod walk_check;

pub use cells::RootCell;
pub use exceptions::{Thrown, ToManaged};
pub use fields::ManagedField;
pub use internal_calls::{InternalCall, InternalCallTables};
pub use invoke::Slot;
pub use saki_abi::ObjRef;
pub use thread::{CurrentThread, Managed};
pub use upper_layers::{HostEvents, Interop, OwnFunction, Remoting, UpperLayers, VarArgCookie, upper_layers};
pub use vm::Vm;
