//! Code heap, code map, stubs: the memory of compiled code, and the stubs that it jumps through.
//!
//! Invariant: an address that can be executed as managed code is either in an asm stub of this crate or covered by a
//! [`CodeInfo`] that [`lookup`] finds *before* the address becomes reachable (code and tables → bit in the start map →
//! i-cache sync → entry cell). Left out: what the code means (`jit`), walking and exceptions (`unwind`). With `--cfg
//! loom` only the start map, the lists of waiting calls and the hand-over are compiled, for their models.
//!
//! # Conventions that compiled code follows (x86-64)
//!
//! On aarch64 the same holds with the registers that `docs/design/aarch64.md` names.
//!
//! **Managed calls** use `CallConv::Tail`: integer arguments rdi rsi rdx rcx r8 r9, floats and vectors xmm0–7, then the
//! stack (callee pops); results rax / xmm0. rbx r12 r13 r14 are preserved on normal return only. r15 is `*ThreadAbi`,
//! always. Every frame keeps the rbp chain (`[rbp]` = caller's rbp, `[rbp+8]` = return address). rax, r10 and r11 are
//! free at function entry (stubs clobber them).
//!
//! **Method calls** go to `MethodEntry::stub_address()` (16 bytes, `jmp [cell]`), or to the code once it is final;
//! calls that were placed before are patched then (`PlacedTarget::Method`), and so are vtable and IMT slots. IMT: store
//! the interface method in `ThreadAbi.imt_method`, receiver in rdi, call through the IMT slot (which holds an entry
//! stub, an unbox stub, or `StubId::ImtResolve`).
//!
//! **Tail calls** pass struct arguments in `ThreadAbi.tail_args`, from which the callee's first instructions move them
//! to its frame (`jit`, `lower::calls`). Code that runs between a jump to a method and the method's first instruction,
//! and that may run managed code or collect, must preserve those bytes; the compile and interface hooks do.
//!
//! **Helper thunks** (one per `HelperId`, emitted by `jit`, Tail, `CodeKind::HelperThunk`):
//! 1. `exit_frame` := own frame pointer (`get_frame_pointer`), before calling Rust;
//! 2. call the Rust helper (SystemV): thread (r15) first, then the arguments;
//! 3. if `pending_exception != 0`: call `StubId::ThrowPending` (Tail, no arguments, never returns), else return.
//!
//! Nothing needs to be reset: `exit_frame` is only read while Rust runs. P/Invoke frames do step 1 as well.
//!
//! **Throwing**: call the thunk of `HelperId::Throw`/`Rethrow`/`ThrowX` (the Rust helper sets `pending_exception`, step
//! 3 throws), or, where compiled code itself finds `pending_exception != 0` (after a register-preserving stub), call
//! `StubId::ThrowPending` directly. Inside a try region each of these, and every other call, is a `try_call`.
//!
//! **Handlers**: each `try_call` gives a [`ProtectedCall`](saki_abi::ProtectedCall): return-address offset,
//! `frame_offset_bytes` (= Cranelift's `frame_offset`: FP − SP when landing), and its
//! [`EnclosingHandler`](saki_abi::EnclosingHandler)s *innermost first*: (clause index, landing offset). Encode the
//! clause index in the exception tag. All handlers (catch, filter, finally, fault) enclosing the call are listed.
//! Landing: rsp = FP − frame_offset, rbp = FP, r15 = thread, and
//! - catch and filter clauses: rax = exception object, rdx = clause index;
//! - finally and fault clauses: rax = exception object, rdx = **unwind token** (opaque i64). Keep both as values while
//!   the handler body runs (they live in SSA, so nested exceptions need no bookkeeping), and end the body with a call
//!   of `StubId::ResumeUnwind(exception: rdi, token: rsi)` (Tail, never returns). That call is itself a `try_call` with
//!   the handlers *outside* this clause if there are any, else a plain call.
//!
//! **Filters**: a separate Tail function `fn(parent_fp: i64, exception: i64) -> i32` (non-zero = handle), own
//! `CodeKind::Filter`; its address goes into `PlacedClause::Filter`. The parent's locals are at parent_fp − known
//! offsets. When the filter says yes the *parent's* landing pad for the clause runs (rdx = clause index).
//!
//! **Register-preserving stubs** (`CallConv::PreserveAll`; usually without arguments and results; preserve all
//! registers but flags): `StubId::Poll`; `ClassInit` (type in `stub_arg[0]`); `AllocSlow` (vtable in `stub_arg[0]`,
//! object in `stub_result`); `BarrierSlow` (object in `stub_arg[0]`); `DemoteLine` (address as its one argument); `Hot`
//! (method and loop in `stub_arg`, code in `stub_result`). After
//! Poll, ClassInit and AllocSlow test `pending_exception` and, if it is set, call `StubId::ThrowPending` from a cold
//! block.
//!
//! **Native calls** go to `StubId::CallNative` with the function's address in `stub_arg[0]`, by the System V convention
//! of the function's own signature, or to `StubId::CallNativeInMemory`. The stub leaves managed state for the call, so
//! that the call is no protected one: afterwards the code tests `pending_exception` as after Poll.
//!
//! **Invoke thunks** (one per signature, `CodeKind::EntryThunk`, Tail): `fn(code: rdi, args: *const u64 rsi, ret: *mut
//! u64 rdx)`: loads the arguments (one 8-byte slot each, in order; small ints already extended, F32 in the low half),
//! calls `code` (plain indirect Tail call) and stores the result, if any, to `ret[0]` (8 bytes; I32 sign-extended, F32
//! raw in the low 32 bits). Rust calls it with [`enter`].
//!
//! **Traps**: `ud2` and faulting loads outside try regions become exceptions by the body's
//! [`TrapSite`](saki_abi::TrapSite) table (offset of the faulting instruction → raw Cranelift `TrapCode`; user codes
//! are `saki_abi::stubs::trap`). A SIGSEGV below 64 KiB is a NullReferenceException without any table entry; offsets ≥
//! 64 KiB need an explicit check. A trap never lands in a handler of its own frame: inside try regions checks are
//! explicit calls.
//!
//! **IL map**: sorted (native offset → IL offset); a return address is looked up at `offset − 1`.

#[cfg(not(loom))]
mod arch;
#[cfg(not(loom))]
mod call_sites;
#[cfg(not(loom))]
mod entry;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod frame_liveness;
#[cfg(not(loom))]
mod growth;
pub mod hand_over;
#[cfg(not(loom))]
mod heap;
#[cfg(not(loom))]
mod hooks;
pub mod hot_queue;
#[cfg(not(loom))]
mod imt;
#[cfg(not(loom))]
mod info;
mod linked_calls;
#[cfg(not(loom))]
mod map;
#[cfg(not(loom))]
mod observer;
#[cfg(not(loom))]
mod region;
mod start_map;
#[cfg(not(loom))]
mod stub_slots;
#[cfg(not(loom))]
mod trampolines;

#[cfg(not(loom))]
pub use arch::masm;
#[cfg(not(loom))]
pub use arch::{
    DEBUGGER_FRAMES, DebuggerFrames, ENTRY_PREVIOUS_EXIT_OFFSET, ENTRY_SAVED_BYTES, FrameState, enter,
    enter_return_address, enter_unwound_address, fault_throw_address, return_from_native_call, stub_address,
};
#[cfg(not(loom))]
pub use entry::MethodEntry;
#[cfg(not(loom))]
pub use error::CodeError;
#[cfg(not(loom))]
pub use frame_liveness::{FrameLiveness, LiveWords};
#[cfg(not(loom))]
pub use growth::grow;
#[cfg(not(loom))]
pub use heap::{PlacedTarget, free_all, free_all_of_domain, place, retire};
#[cfg(not(loom))]
pub use hooks::{LANDING_REGISTERS, Landing, StubHooks, UnwindHooks};
#[cfg(not(loom))]
pub use imt::{imt_cache_forget, imt_cache_insert, imt_cache_lead, imt_cached};
#[cfg(not(loom))]
pub use info::{CodeInfo, CodeKind, NewBody, PlacedClause, PlacedInlineSite, PlacedTables};
#[cfg(not(loom))]
pub use map::{contains, lookup, mapped_range, walks};
#[cfg(not(loom))]
pub use observer::{CodeObserver, chunk_of, observe};
#[cfg(not(loom))]
pub use region::{allow_breakpoints, forget_written, init, region_range};
#[cfg(not(loom))]
pub use stub_slots::veneer;
#[cfg(not(loom))]
pub use trampolines::install_hooks;
