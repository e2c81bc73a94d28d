//! The contract between compiled code and the virtual machine: layouts of object headers, vtables, the thread struct,
//! the heap, locks and handles; the helpers and stubs that compiled code calls; the calling convention of native code;
//! the tables and relocations that come with compiled code.
//!
//! Invariant: an offset that compiled code uses is derived with `offset_of!` from the type that the runtime uses.
//! Nearly all are constants of this crate, whose types are `#[repr(C)]`; where the type lies above, the constant is
//! compared with it there at compile time. One is not here: `jit`, which lies above `types`, takes the offset of a
//! method's code from `types::Method` itself. So no offset drifts from its field.
//! Left out: behaviour, except computations on these data.

pub mod conversion;
pub mod frame;
pub mod handle;
pub mod heap;
pub mod helpers;
pub mod method_table;
pub mod monitor;
pub mod native;
pub mod noted;
pub mod object;
pub mod packed_pairs;
pub mod position;
pub mod reloc;
pub mod stubs;
pub mod sync_word;
pub mod tables;
pub mod thread;
pub mod vtable;

pub use conversion::ConvTarget;
pub use frame::{CALLEE_SAVED, SpillArea};
pub use heap::{BitTable, HeapLayout};
pub use helpers::{AbiType, HelperId};
pub use native::{NativeAbi, StructClass};
pub use noted::{BLOCK_COUNT_BYTES, Noted};
pub use object::{ArrayHeader, ObjRef, Object, StringHeader};
pub use packed_pairs::PackedPairs;
pub use reloc::{AddressUse, Reloc, RelocKind};
pub use stubs::StubId;
pub use tables::{
    BodyTables, ClauseKind, EnclosingHandler, FrameMap, IlMapEntry, InlineSite, NO_SLOT, ProtectedCall, TrapSite,
};
pub use thread::ThreadAbi;
pub use vtable::{RefMap, VTable, VTableFlags};
