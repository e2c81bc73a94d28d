//! From CIL to a typed intermediate representation: import, inlining, devirtualisation, check elimination, and the
//! bodies that the runtime supplies itself (delegates, array methods, internal-call and P/Invoke wrappers).
//!
//! Invariant: no unsafe code, no code generator, no runtime address. Errors of the program found while importing become
//! code that throws them where CIL says they occur.
#![forbid(unsafe_code)]

mod delegate_layout;
mod function_pool;
pub mod import;
pub mod ir;
pub mod opt;
pub mod synth;
mod type_map;
mod vector_types;

pub use function_pool::recycle;
