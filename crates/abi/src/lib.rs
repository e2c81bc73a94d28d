//! Definitions that compiled code and the runtime share: layouts of object headers, vtables and the thread struct, the helper list,
//! and the tables and relocations that come with compiled code.
//!
//! Invariant: every offset that compiled code uses is a constant of this crate, derived with `offset_of!` from the
//! `#[repr(C)]` type that the runtime uses, so that the two cannot drift apart. Left out: everything with behaviour.

pub mod frame;
pub mod helpers;
pub mod object;
pub mod position;
pub mod reloc;
pub mod stubs;
pub mod tables;
pub mod thread;
pub mod vtable;

pub use frame::{CALLEE_SAVED, SpillArea};
pub use helpers::{AbiType, HelperId};
pub use object::{ArrayHeader, ObjRef, Object, StringHeader};
pub use reloc::{AddressUse, Reloc, RelocKind};
pub use stubs::StubId;
pub use tables::{BodyTables, ClauseKind, EnclosingHandler, IlMapEntry, InlineSite, ProtectedCall, TrapSite};
pub use thread::ThreadAbi;
pub use vtable::{RefMap, VTable, VTableFlags};
