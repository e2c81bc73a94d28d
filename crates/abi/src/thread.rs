//! The part of a managed thread that compiled code touches, through the pinned register (r15 / x21).
//!
//! It is the first field of `thread::ManagedThread`. Except for `poll`, only the thread itself accesses it; other
//! threads may read it while the thread is stopped.

use crate::object::ObjRef;
use std::sync::atomic::AtomicU32;

/// Compiled code's view of the current managed thread.
#[repr(C)]
pub struct ThreadAbi {
    /// Non-zero: compiled code must leave its fast path at the next safepoint (collection, abort, preemption). Written
    /// by any thread.
    pub poll: AtomicU32,
    /// Managed thread id, never 0; the owner written into thin locks.
    pub managed_id: u32,
    /// An exception that a runtime function wants thrown when it returns; null = none.
    pub pending_exception: ObjRef,
    /// Frame pointer of the innermost managed→runtime thunk, where stack walks from Rust start; 0 = no managed frame.
    pub exit_frame: usize,
    /// The interface method of the interface call in flight (`types::Method`), for the IMT resolver.
    pub imt_method: *const (),
    /// Result of a register-preserving stub.
    pub stub_result: u64,
    /// Argument of a register-preserving stub.
    pub stub_arg: [u64; 3],
    /// Base of the table of thread-static blocks, indexed by the block number of a type; entries may be null.
    pub thread_statics: *mut *mut u8,
    /// Number of entries in `thread_statics`.
    pub thread_statics_len: usize,
    /// Bump allocation: next free byte and end of the thread's current buffer, maintained by `gc` (see `crate::heap`).
    pub alloc_cursor: usize,
    /// The end of the buffer that `alloc_cursor` is in; 0 sends every allocation to the slow path.
    pub alloc_limit: usize,
    /// Bases of two tables of bits beside the heap, see `HeapLayout`: the bits of valid objects, and the bits of
    /// objects that must be remembered when a reference is stored into them.
    pub vo_bit_base: usize,
    /// The base of the bits that say which objects must be remembered when a reference is stored into them.
    pub log_bit_base: usize,
    /// Lowest usable stack address; below it lies the reserve for handling stack overflows.
    pub stack_limit: usize,
    /// Highest stack address (exclusive).
    pub stack_base: usize,
    /// For a thread whose stack has grown, which is in two parts: where the outer part ends, whose words at and above
    /// this address are in use. 0: the stack is in one part. The inner part, on which the thread runs, lies below.
    pub outer_sp: usize,
    /// The outer part's `stack_limit`; means something only while `outer_sp` is not 0. `stack_limit` is the inner
    /// part's then.
    pub outer_limit: usize,
    /// Where the first frame of the inner part begins; means something only while `outer_sp` is not 0.
    pub inner_top: usize,
    /// Exception dispatch: the exception in flight between the two passes (see `unwind`).
    pub eh_exception: ObjRef,
    /// The first slot of GC handles, see `crate::handle`.
    pub handle_slots: usize,
    /// Base of the table of inflated monitors, see `crate::monitor`.
    pub monitor_entries: usize,
    /// Exception dispatch: clause index within the target method.
    pub eh_target_clause: usize,
    /// Errno as captured after the last P/Invoke with SetLastError.
    pub last_error: i32,
    /// Keeps what follows aligned to 8 bytes.
    pub reserved: u32,
    /// The `types::Universe` of the domain that the thread runs in; null = the first domain's.
    pub universe: *const (),
    /// Struct arguments of a tail call, from the caller's last instructions to the callee's first (see `jit`). The
    /// compile and interface hooks, which may run in between, save and restore them; no other code may run in between.
    pub tail_args: [u64; TAIL_ARGS_BYTES / 8],
}

/// What of the thread lies behind this struct, for the stub that calls native code; `thread` compares it with its own
/// (`ManagedThread`, `protocol`, `request`). Here the state: a 32-bit word at the beginning of an aligned 8-byte word,
/// whose rest is 0 in a thread that runs.
pub const THREAD_STATE_OFFSET: i32 = size_of::<ThreadAbi>() as i32;
/// The stack pointer at and above which the stack of a thread in native code is frozen.
pub const THREAD_PUBLISHED_SP_OFFSET: i32 = THREAD_STATE_OFFSET + 8;
/// The state of a thread that runs managed code.
pub const THREAD_RUNNING: u32 = 0;
/// The state of a thread in native code.
pub const THREAD_SAFE: u32 = 1;
/// The bit of `ThreadAbi::poll` with which a stop is requested.
pub const THREAD_POLL_STOP: u32 = 1;
/// The bit of `ThreadAbi::poll` with which the next safepoint looks at the stack.
pub const THREAD_POLL_STACK: u32 = 16;

/// Size of `ThreadAbi::tail_args`; a tail call whose struct arguments need more is compiled as an ordinary call.
pub const TAIL_ARGS_BYTES: usize = 512;

/// Bytes of a method's arguments in memory that can move to another part of the stack; the poll at the entry of a
/// method with more is an ordinary one.
pub const GROWTH_ARGUMENT_BYTES: usize = 512;

macro_rules! offsets {
    ($($name:ident = $field:ident;)*) => {
        $(pub const $name: i32 = std::mem::offset_of!(ThreadAbi, $field) as i32;)*
    };
}

offsets! {
    THREAD_POLL_OFFSET = poll;
    THREAD_MANAGED_ID_OFFSET = managed_id;
    THREAD_PENDING_EXCEPTION_OFFSET = pending_exception;
    THREAD_EXIT_FRAME_OFFSET = exit_frame;
    THREAD_IMT_METHOD_OFFSET = imt_method;
    THREAD_STUB_RESULT_OFFSET = stub_result;
    THREAD_STUB_ARG_OFFSET = stub_arg;
    THREAD_STATICS_OFFSET = thread_statics;
    THREAD_STATICS_LEN_OFFSET = thread_statics_len;
    THREAD_ALLOC_CURSOR_OFFSET = alloc_cursor;
    THREAD_ALLOC_LIMIT_OFFSET = alloc_limit;
    THREAD_VO_BIT_BASE_OFFSET = vo_bit_base;
    THREAD_LOG_BIT_BASE_OFFSET = log_bit_base;
    THREAD_STACK_LIMIT_OFFSET = stack_limit;
    THREAD_OUTER_SP_OFFSET = outer_sp;
    THREAD_OUTER_LIMIT_OFFSET = outer_limit;
    THREAD_EH_EXCEPTION_OFFSET = eh_exception;
    THREAD_HANDLE_SLOTS_OFFSET = handle_slots;
    THREAD_MONITOR_ENTRIES_OFFSET = monitor_entries;
    THREAD_LAST_ERROR_OFFSET = last_error;
    THREAD_TAIL_ARGS_OFFSET = tail_args;
}
