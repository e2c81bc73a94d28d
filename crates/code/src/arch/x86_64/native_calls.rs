//! x86-64: the stubs through which compiled code calls C functions (`StubId::CallNative`).
//!
//! ```text
//! rbp + 8   return address (managed)
//! rbp       caller's rbp                     ← exit_frame
//! rbp - 32  rbx r12 r13 r14                  ← rsp, published_sp
//! rbp - 48  bytes of the arguments in memory, and a word for alignment; then a copy of these arguments, where there
//!           are any: the stub's frame lies between the caller's frame and the function's
//! below     native code; then, while the hooks run, the registers of arguments or results
//! ```
//! The thread's states and their orderings are those of `thread::protocol`: the stub is `StopWords::enter` before the
//! call and `StopWords::try_leave_safe` after it, with the light barrier of `os::membarrier`. Stores and loads are
//! those of x86-64, which releases with every store and acquires with every load.
//!
//! Invariant: from the store of SAFE to the load of the poll word after RUNNING the stub touches nothing at or above
//! the published stack pointer. Left out: results on the stack of the x87.

use crate::hooks::{self, StubHooks};
use saki_abi::ThreadAbi;
use saki_abi::stubs::MAX_MEMORY_ARGUMENT_BYTES;
use saki_abi::thread::{
    THREAD_EXIT_FRAME_OFFSET, THREAD_LAST_ERROR_OFFSET, THREAD_POLL_OFFSET, THREAD_POLL_STOP,
    THREAD_PUBLISHED_SP_OFFSET, THREAD_RUNNING, THREAD_SAFE, THREAD_STATE_OFFSET, THREAD_STUB_ARG_OFFSET,
};
use saki_os::membarrier;
use std::arch::{asm, naked_asm};
use std::mem::offset_of;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Bytes from the thread pointer (fs) to `errno`. The same for all OS threads, because the C library is there when the
/// process starts, so that its variables are in the static block.
static ERRNO_OFFSET_BYTES: AtomicIsize = AtomicIsize::new(0);

/// The lines between the function's return and the thread's come back are given by the user.
macro_rules! native_call_stub {
    ($(#[$doc:meta])* $name:ident, $returned:literal, $($before_call:literal)*, $($after_call:literal)*, $($operand:ident = $kind:ident $value:expr),*) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Only managed code calls this stub: r15 is the thread, `stub_arg[0]` the address of a C function, whose
        /// arguments are in their registers and where the stub's kind says.
        #[allow(named_asm_labels, reason = "`return_from_native_call` needs the address behind the call")]
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name() {
            naked_asm!(
                "push rbp",
                "mov rbp, rsp",
                "push rbx",
                "push r12",
                "push r13",
                "push r14",
                "mov [r15 + {exit_frame}], rbp",
                "mov [r15 + {published_sp}], rsp",
                $($before_call,)*
                "mov dword ptr [r15 + {state}], {safe}",
                "cmp byte ptr [rip + {mode}], {asymmetric}",
                "jne 4f",
                "2:",
                "test byte ptr [r15 + {poll}], {stop}",
                "jnz 5f",
                "3:",
                "call qword ptr [r15 + {function}]",
                concat!(".hidden ", $returned),
                concat!(".globl ", $returned),
                concat!($returned, ":"),
                $($after_call,)*
                // The state, and `registers_are_saved` beside it, which a callback may have left behind.
                "mov qword ptr [r15 + {state}], {running}",
                "cmp byte ptr [rip + {mode}], {asymmetric}",
                "jne 6f",
                "7:",
                "cmp dword ptr [r15 + {poll}], 0",
                "jne 8f",
                "9:",
                "leave",
                "ret",
                "4:",
                "mfence",
                "jmp 2b",
                "6:",
                "mfence",
                "jmp 7b",
                "5:",
                "sub rsp, 176",
                "mov [rsp], rdi",
                "mov [rsp + 8], rsi",
                "mov [rsp + 16], rdx",
                "mov [rsp + 24], rcx",
                "mov [rsp + 32], r8",
                "mov [rsp + 40], r9",
                "movaps [rsp + 48], xmm0",
                "movaps [rsp + 64], xmm1",
                "movaps [rsp + 80], xmm2",
                "movaps [rsp + 96], xmm3",
                "movaps [rsp + 112], xmm4",
                "movaps [rsp + 128], xmm5",
                "movaps [rsp + 144], xmm6",
                "movaps [rsp + 160], xmm7",
                "mov rdi, r15",
                "call qword ptr [rip + {hooks} + {entered}]",
                "mov rdi, [rsp]",
                "mov rsi, [rsp + 8]",
                "mov rdx, [rsp + 16]",
                "mov rcx, [rsp + 24]",
                "mov r8, [rsp + 32]",
                "mov r9, [rsp + 40]",
                "movaps xmm0, [rsp + 48]",
                "movaps xmm1, [rsp + 64]",
                "movaps xmm2, [rsp + 80]",
                "movaps xmm3, [rsp + 96]",
                "movaps xmm4, [rsp + 112]",
                "movaps xmm5, [rsp + 128]",
                "movaps xmm6, [rsp + 144]",
                "movaps xmm7, [rsp + 160]",
                "add rsp, 176",
                "jmp 3b",
                "8:",
                "sub rsp, 48",
                "mov [rsp], rax",
                "mov [rsp + 8], rdx",
                "movaps [rsp + 16], xmm0",
                "movaps [rsp + 32], xmm1",
                "mov rdi, r15",
                "call qword ptr [rip + {hooks} + {returned}]",
                "mov rax, [rsp]",
                "mov rdx, [rsp + 8]",
                "movaps xmm0, [rsp + 16]",
                "movaps xmm1, [rsp + 32]",
                "jmp 9b",
                exit_frame = const THREAD_EXIT_FRAME_OFFSET,
                published_sp = const THREAD_PUBLISHED_SP_OFFSET,
                state = const THREAD_STATE_OFFSET,
                safe = const THREAD_SAFE,
                running = const THREAD_RUNNING,
                poll = const THREAD_POLL_OFFSET,
                stop = const THREAD_POLL_STOP,
                function = const THREAD_STUB_ARG_OFFSET,
                mode = sym membarrier::MODE,
                asymmetric = const membarrier::ASYMMETRIC,
                hooks = sym hooks::HOOKS,
                entered = const offset_of!(StubHooks, native_entered),
                returned = const offset_of!(StubHooks, native_returned),
                $($operand = $kind $value,)*
            )
        }
    };
}

/// A stub for functions whose arguments are in registers.
macro_rules! plain_native_call_stub {
    ($(#[$doc:meta])* $name:ident, $returned:literal, $($after_call:literal)*, $($operand:ident = $kind:ident $value:expr),*) => {
        native_call_stub!($(#[$doc])* $name, $returned, , $($after_call)*, $($operand = $kind $value),*);
    };
}

/// A stub that copies arguments in memory: r10 and r11 hold no arguments.
macro_rules! copying_native_call_stub {
    ($(#[$doc:meta])* $name:ident, $returned:literal, $($after_call:literal)*, $($operand:ident = $kind:ident $value:expr),*) => {
        native_call_stub!(
            $(#[$doc])*
            $name,
            $returned,
            "mov r11, [r15 + {memory_bytes}]"
            "push r11"
            "lea rsp, [rsp - 8]"
            "sub rsp, r11"
            "22:"
            "mov r10, [rbp + r11 + 8]"
            "mov [rsp + r11 - 8], r10"
            "sub r11, 8"
            "jnz 22b",
            $($after_call)*,
            memory_bytes = const THREAD_STUB_ARG_OFFSET + 8 $(, $operand = $kind $value)*
        );
    };
}

/// A stub of the kind given that saves errno; linked through `knowing_errno`. rcx holds no result.
macro_rules! error_saving_stub {
    ($kind:ident, $(#[$doc:meta])* $name:ident, $returned:literal) => {
        $kind!(
            $(#[$doc])*
            $name,
            $returned,
            "mov rcx, [rip + {errno_offset}]"
            "mov ecx, fs:[rcx]"
            "mov [r15 + {last_error}], ecx",
            errno_offset = sym ERRNO_OFFSET_BYTES,
            last_error = const THREAD_LAST_ERROR_OFFSET
        );
    };
}

plain_native_call_stub!(
    /// `StubId::CallNative`.
    call_native,
    "saki_call_native_returned",
    ,
);

error_saving_stub!(
    plain_native_call_stub,
    /// `StubId::CallNativeSavingError`.
    call_native_saving_error,
    "saki_call_native_saving_error_returned"
);

copying_native_call_stub!(
    /// `StubId::CallNativeInMemory`.
    call_native_in_memory,
    "saki_call_native_in_memory_returned",
    ,
);

error_saving_stub!(
    copying_native_call_stub,
    /// `StubId::CallNativeInMemorySavingError`.
    call_native_in_memory_saving_error,
    "saki_call_native_in_memory_saving_error_returned"
);

unsafe extern "C" {
    /// Where the function of `call_native` returns to; not a function.
    fn saki_call_native_returned();
    /// Where that of `call_native_saving_error` returns to.
    fn saki_call_native_saving_error_returned();
    /// Where those of the stubs that copy arguments return to.
    fn saki_call_native_in_memory_returned();
    /// See above.
    fn saki_call_native_in_memory_saving_error_returned();
}

/// Bytes from the stub's frame pointer down to the return address of the C function, without arguments in memory; with
/// such, to the number of their bytes.
const FUNCTION_RETURN_BYTES: usize = 40;
/// From there down to the return address, beside the arguments.
const BEHIND_NUMBER_BYTES: usize = 16;

/// Where the return address of the C function is that was called by the stub with this frame; None: the frame is no
/// stub's.
///
/// # Safety
/// `frame` lies on the calling thread's stack, above the frames of the running functions.
unsafe fn return_place(frame: usize) -> Option<usize> {
    let place = frame - FUNCTION_RETURN_BYTES;
    // SAFETY: native code has returned or runs below the frame, so that its return address, at least, lies there.
    let word = unsafe { (place as *const usize).read() };
    let plain: [unsafe extern "C" fn(); 2] = [saki_call_native_returned, saki_call_native_saving_error_returned];
    if plain.iter().any(|stub| *stub as usize == word) {
        return Some(place);
    }
    if word > MAX_MEMORY_ARGUMENT_BYTES {
        return None;
    }
    let place = place.checked_sub(BEHIND_NUMBER_BYTES + word)?;
    if place < (&raw const word).addr() || !place.is_multiple_of(8) {
        return None;
    }
    // SAFETY: between this function's frame and the other, on the stack.
    let word = unsafe { (place as *const usize).read() };
    let copying: [unsafe extern "C" fn(); 2] =
        [saki_call_native_in_memory_returned, saki_call_native_in_memory_saving_error_returned];
    copying.iter().any(|stub| *stub as usize == word).then_some(place)
}

/// See `crate::return_from_native_call`.
///
/// # Safety
/// Those of that function.
pub(super) unsafe fn return_from_native_call(thread: *mut ThreadAbi) {
    // SAFETY: the current thread's own field.
    let frame = unsafe { (*thread).exit_frame };
    if frame == 0 {
        return;
    }
    // SAFETY: the frame of the stub, or of another one, that called this thread's innermost native code: it lies on the
    // stack, below which that code's frames are.
    if let Some(place) = unsafe { return_place(frame) } {
        // SAFETY: the frame is a stub's, whose saved registers and return address are in their places.
        unsafe { return_zero(thread, frame, place) };
    }
}

/// `ret` of the C function, with the registers that the stub saved for walks, which the function would have preserved.
///
/// # Safety
/// `frame` is the frame pointer of one of the stubs, which waits for its function; `place` is where that returns to.
#[unsafe(naked)]
unsafe extern "C" fn return_zero(thread: *mut ThreadAbi, frame: usize, place: usize) {
    naked_asm!(
        "mov r15, rdi",
        "mov rbp, rsi",
        "mov rbx, [rbp - 8]",
        "mov r12, [rbp - 16]",
        "mov r13, [rbp - 24]",
        "mov r14, [rbp - 32]",
        "mov rsp, rdx",
        "xor eax, eax",
        "xor edx, edx",
        "pxor xmm0, xmm0",
        "pxor xmm1, xmm1",
        "ret"
    )
}

/// A stub that saves errno, from now on with knowledge where that is.
pub(super) fn knowing_errno(stub: unsafe extern "C" fn()) -> unsafe extern "C" fn() {
    let thread_pointer: isize;
    // SAFETY: reads the first word of the calling OS thread's control block, which holds its own address.
    unsafe { asm!("mov {}, fs:[0]", out(reg) thread_pointer, options(nostack, preserves_flags, readonly)) };
    // Relaxed: every writer stores the same number, and code that calls the stub is placed after a store.
    ERRNO_OFFSET_BYTES.store(saki_os::error::errno_address() as isize - thread_pointer, Ordering::Relaxed);
    stub
}
