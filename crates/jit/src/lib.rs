//! From the typed IR of `il` to machine code, relocations and tables, by Cranelift.
//!
//! [`Compiler`] turns one `il::ir::Function` (and its filters) into [`CompiledCode`]: bytes that contain no address of
//! the running process, relocations against [`RelocTarget`]s, and the tables that the unwinder, the signal handlers and
//! stack traces need. The thunks between Rust, C and managed code come from here too
//! ([`Compiler::compile_helper_thunk`], [`Compiler::compile_invoke_thunk`],
//! [`Compiler::compile_native_to_managed_thunk`]). The conventions are written down in `code` (stubs, exception tables)
//! and `abi` (layouts).
//!
//! Invariants: no unsafe code, no runtime address, no state that depends on which methods were compiled before: the
//! same function gives the same code. Left out: placing and publishing code (`code`), deciding what to compile
//! (`runtime`).
#![forbid(unsafe_code)]

mod baseline;
mod cfg;
mod compiler;
mod destination;
mod dump;
mod error;
mod failure;
mod isa;
mod liveness;
mod loop_placement;
mod loops;
mod lower;
mod native_signature;
mod null_area;
mod options;
mod output;
mod signatures;
mod size;
mod struct_classes;
mod symbols;
mod thunks;
mod type_facts;
mod vector_memory;

pub use compiler::{CompileContext, Compiler};
pub use dump::Dump;
pub use error::CompileError;
pub use isa::{atomics_are_fences, baseline_atomics_are_fences, has_vectors, host_features};
pub use options::{CompilerOptions, OptLevel, Tier, Tiers};
pub use output::{CompiledBy, CompiledCode, CompiledTables};
pub use symbols::{LibCall, RelocTarget};
