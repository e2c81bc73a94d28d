//! aarch64: frames that move to another part of the stack, and calls of native code, with hand-assembled callers.

#![cfg(target_arch = "aarch64")]

use saki_abi::thread::{THREAD_POLL_STACK, THREAD_SAFE, THREAD_STUB_ARG_OFFSET};
use saki_abi::{ObjRef, StubId, ThreadAbi};
use saki_code::{
    CodeKind, Landing, NewBody, StubHooks, UnwindHooks, enter, grow, install_hooks, place, return_from_native_call,
    stub_address,
};
use std::arch::naked_asm;
use std::sync::Once;

fn new_thread() -> Box<ThreadAbi> {
    // SAFETY: all fields are integers, atomics or nullable pointers.
    unsafe { Box::new(std::mem::zeroed()) }
}

/// Overwrites the registers that a hook may overwrite.
#[unsafe(naked)]
extern "C" fn trash_registers() {
    naked_asm!(
        ".irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17",
        "mov x\\r, #-1",
        ".endr",
        ".irp r, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
        "movi v\\r\\().16b, #255",
        ".endr",
        "ret",
    )
}

/// # Safety
/// `thread` is the current thread.
unsafe extern "C" fn trash(thread: *mut ThreadAbi) {
    // SAFETY: the test's current thread.
    unsafe { (*thread).stub_result += 1 };
    trash_registers();
}

/// Moves the stub's frame and its caller's to the memory from `stub_arg[1]` to `stub_arg[2]`.
///
/// # Safety
/// `thread` is the current thread; the memory is unused.
unsafe extern "C" fn trash_or_grow(thread: *mut ThreadAbi, a: usize, b: usize, c: usize, d: usize) -> usize {
    // SAFETY: the test's current thread.
    let [_, start, end] = unsafe { (*thread).stub_arg };
    // SAFETY: called by the stub (contract), and the memory is the test's.
    let place = unsafe { grow(thread, [a, b, c, d], start as usize..end as usize) };
    trash_registers();
    place
}

extern "C" fn never_compiled(_: *mut ThreadAbi, _: *const ()) -> usize {
    unreachable!("no test compiles")
}

extern "C" fn never_resolved(_: *mut ThreadAbi, _: ObjRef, _: *const ()) -> usize {
    unreachable!("no test calls through an interface")
}

extern "C" fn never_thrown(_: *mut ThreadAbi, _: usize, _: *mut Landing) {
    unreachable!("no test throws")
}

extern "C" fn never_resumed(_: *mut ThreadAbi, _: usize, _: *mut Landing, _: ObjRef, _: u64) {
    unreachable!("no test throws")
}

extern "C" fn never_faulted(_: *mut ThreadAbi, _: usize, _: *mut Landing, _: u64) {
    unreachable!("no test faults")
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        install_hooks(StubHooks {
            compile: never_compiled,
            resolve_interface: never_resolved,
            poll: trash,
            poll_entry: trash_or_grow,
            class_init: trash,
            alloc_slow: trash,
            barrier_slow: trash,
            hot: trash,
            native_entered: trash,
            native_returned: trash,
            unwind: UnwindHooks { throw_pending: never_thrown, resume: never_resumed, fault: never_faulted },
        });
    });
}

#[test]
fn a_frame_moves_to_the_inner_part_and_returns_to_the_outer() {
    const STORE_ARGUMENT: u32 = 0xf900_07e2; // str x2, [sp, #8]
    const STORE_OWN_ADDRESS: u32 = 0xf900_07fd; // str x29, [sp, #8]: within the frame's own words
    const LIMIT: usize = 4096;
    install();
    for (store, moves) in [(STORE_ARGUMENT, true), (STORE_OWN_ADDRESS, false)] {
        let instructions = [
            0xa9bf_7bfd, // stp x29, x30, [sp, #-16]!
            0x9100_03fd, // mov x29, sp
            0xd100_43ff, // sub sp, sp, #16
            0xf900_03e2, // str x2, [sp]
            store,
            0x5800_0111, // ldr x17, .+32
            0xd63f_0220, // blr x17
            0x9100_03e9, // mov x9, sp
            0xf900_0069, // str x9, [x3]
            0xf940_03e2, // ldr x2, [sp]
            0x9100_03bf, // mov sp, x29
            0xa8c1_7bfd, // ldp x29, x30, [sp], #16
            0xd65f_03c0, // ret
        ];
        let mut body: Vec<u8> = instructions.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        body.extend((stub_address(StubId::PollEntry) as u64).to_le_bytes());
        let code = place(body, 16, &[], NewBody::new(CodeKind::Method, std::ptr::null(), "grows")).unwrap().start;
        let inner = vec![0_u64; 4096];
        let inner = inner.as_ptr_range();
        let mut thread = new_thread();
        thread.stack_base = saki_os::thread::stack_bounds().unwrap().end;
        thread.stack_limit = LIMIT;
        thread.stub_arg = [0, inner.start as u64, inner.end as u64];
        let (mut result, mut stack_pointer) = (0, 0_u64);
        // SAFETY: the body takes a number and the address of a word.
        let status = unsafe { enter(&mut *thread, code, [77, &raw mut stack_pointer as u64, 0], &mut result) };
        assert_eq!((status, result), (0, 77));
        assert_eq!(inner.contains(&(stack_pointer as *const u64)), moves);
        assert_eq!((thread.outer_sp, thread.stack_limit), (0, LIMIT));
        assert_eq!(*thread.poll.get_mut(), if moves { THREAD_POLL_STACK } else { 0 });
    }
}

/// EXDEV.
const CROSS_DEVICE: i32 = 18;

/// A thread with what `abi::thread` says lies behind its first part.
#[repr(C)]
struct WholeThread {
    abi: ThreadAbi,
    state: u64,
    published_sp: usize,
    /// What the native function found.
    seen: [u64; 4],
}

/// # Safety
/// The arguments are those of the tests below.
unsafe extern "C" fn native(thread: *mut WholeThread, a: u64, b: u64, c: f64) -> u64 {
    // SAFETY: the test's thread, which the stub's caller leaves alone during the call.
    let thread = unsafe { &mut *thread };
    thread.seen = [thread.state, thread.published_sp as u64, thread.abi.exit_frame as u64, (c * 2.0) as u64];
    saki_os::error::set_errno(CROSS_DEVICE);
    // Left by a callback.
    thread.state |= 1 << 32;
    a * 100 + b
}

/// Changes registers that it has to preserve, and has its frame left.
///
/// # Safety
/// x0 is the thread.
#[unsafe(naked)]
unsafe extern "C" fn left_native() {
    naked_asm!(
        "stp x29, x30, [sp, #-16]!",
        "mov x29, sp",
        "mov x19, #1",
        "mov x28, #1",
        "fmov d8, #1.0",
        "bl {leave}",
        "brk #0",
        leave = sym return_from_native_call,
    )
}

/// Calls the stub whose address is in `stub_arg[1]` with the arguments x2, x3, x4, and 5.0; returns its result and what
/// it finds in x19, x28 and d8, which hold 10,000, 20,000 and 2.0 before: all added.
///
/// # Safety
/// Managed code; the stub may be called.
#[unsafe(naked)]
unsafe extern "C" fn caller() {
    naked_asm!(
        "stp x29, x30, [sp, #-48]!",
        "mov x29, sp",
        "stp x19, x28, [sp, #16]",
        "str d8, [sp, #32]",
        "mov x19, #10000",
        "mov x28, #20000",
        "fmov d8, #2.0",
        "mov x0, x2",
        "mov x1, x3",
        "mov x2, x4",
        "fmov d0, #5.0",
        "ldr x16, [x21, #{stub}]",
        "blr x16",
        "fcvtzu x9, d8",
        "add x2, x0, x9",
        "add x2, x2, x19",
        "add x2, x2, x28",
        "ldr d8, [sp, #32]",
        "ldp x19, x28, [sp, #16]",
        "ldp x29, x30, [sp], #48",
        "ret",
        stub = const THREAD_STUB_ARG_OFFSET + 8,
    )
}

fn call_native(function: usize, stub: StubId, poll: u32) -> (Box<WholeThread>, u64) {
    install();
    // SAFETY: integers, atomics and nullable pointers.
    let mut thread: Box<WholeThread> = unsafe { Box::new(std::mem::zeroed()) };
    *thread.abi.poll.get_mut() = poll;
    thread.abi.stub_arg[0] = function as u64;
    thread.abi.stub_arg[1] = stub_address(stub) as u64;
    let mut result = 0;
    let address = &raw mut *thread;
    // SAFETY: the caller passes its arguments on to the function.
    let status = unsafe { enter(address.cast(), caller as *const () as usize, [address as u64, 7, 8], &mut result) };
    assert_eq!(status, 0);
    (thread, result)
}

const PRESERVED: u64 = 30_002;

#[test]
fn native_calls_leave_managed_state_and_come_back() {
    for (poll, stub) in [0, 1, 2]
        .into_iter()
        .flat_map(|poll| [StubId::CallNative, StubId::CallNativeSavingError].map(|stub| (poll, stub)))
    {
        let (thread, result) = call_native(native as *const () as usize, stub, poll);
        assert_eq!(result, PRESERVED + 708, "{stub:?} {poll}");
        assert_eq!(thread.state, 0, "RUNNING, and no stale registers");
        let [state, published_sp, exit_frame, doubled] = thread.seen;
        assert_eq!((state, doubled), (u64::from(THREAD_SAFE), 10));
        assert_eq!(exit_frame - published_sp, 160, "the registers are kept on the stack");
        assert_eq!(thread.abi.exit_frame, 0, "enter restores the exit frame");
        // Hooks are called before the function for a stop, after it for anything.
        assert_eq!(thread.abi.stub_result, [0, 2, 1][poll as usize]);
        let error = if stub == StubId::CallNative { 0 } else { CROSS_DEVICE };
        assert_eq!(thread.abi.last_error, error);
    }
}

#[test]
fn a_native_frame_that_is_left_returns_zero_and_restores_registers() {
    for stub in [StubId::CallNative, StubId::CallNativeSavingError] {
        let (thread, result) = call_native(left_native as *const () as usize, stub, 0);
        assert_eq!((result, thread.state), (PRESERVED, 0), "{stub:?}");
    }
}
