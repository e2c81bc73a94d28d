//! The middle layer: running managed code. It compiles methods and places their code, keeps code between runs, calls managed code from Rust, and has the
//! functions that compiled code calls.
//!
//! Invariant: nothing here names a file of the layer above, `vm`.

pub mod callback_exceptions;
pub mod class_init;
pub mod code_cache;
pub mod compile;
pub mod compile_all;
pub mod compile_only;
pub mod context_statics;
pub(crate) mod contexts;
pub mod crossings;
pub(crate) mod dynamic_casts;
pub mod helpers;
pub mod host_calls;
pub(crate) mod initialised;
pub mod internal_calls;
pub mod invoke;
pub mod library_loops;
pub mod local_alloc;
pub(crate) mod local_blocks;
pub mod monitors;
pub mod proxy_calls;
pub(crate) mod stops;
pub mod tail_arguments;
pub mod thread_aborts;
pub mod thread_data;
pub mod thread_statics;
pub(crate) mod upper_layers;
pub mod waitables;
pub mod waits;
