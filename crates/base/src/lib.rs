//! The smallest shared pieces: the `bug!` macro, the door for messages, leaking arenas, the string interner and typed
//! ids.
//!
//! Invariant: depends on nothing of the virtual machine. Left out: anything that knows about metadata, memory or
//! threads.

pub mod arena;
pub mod bug;
pub mod dominators;
pub mod id;
pub mod interner;
pub mod locks;
pub mod messages;

pub use arena::{Arena, leak, leak_slice, leak_str};
pub use interner::{Interner, Symbol};
