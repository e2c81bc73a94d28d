//! Asymmetric barriers: a heavy side that makes every running thread of the process pass a full barrier, so that the
//! light side needs none.
//!
//! Invariant: `light` on one thread and `heavy` on another order memory as two sequentially consistent fences would,
//! whether or not the kernel has `membarrier`. Left out: who is on which side. `fenced` is the symmetric one, for
//! `Interlocked`.
//!
//! | step | with membarrier | without |
//! |---|---|---|
//! | `light` | compiler fence | fence(SeqCst) |
//! | `heavy` | system call (0.8 µs) + fence(SeqCst) | fence(SeqCst) |
//!
//! Once the light side is free it stays so for the life of the process and its forked children: compiled code was made
//! without fences. Where the system call is refused afterwards (a filter of system calls), `heavy` ends the process,
//! since nothing else makes other threads pass a barrier: the interrupts that changes of page tables cause are those of
//! x86-64 alone, and signals do not reach threads that block them. Each light side has a heavy one on the other end, so
//! no order is lost without a message.

use std::sync::atomic::{AtomicU8, Ordering, compiler_fence, fence};

const UNKNOWN: u8 = 0;
/// The value of [`MODE`] with which the light side is free.
pub const ASYMMETRIC: u8 = 1;
const SYMMETRIC: u8 = 2;

/// How the light side orders; assembly reads it where `light` stands. Relaxed: either mode is correct for whoever reads
/// it (`initialise`).
pub static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);
/// Of `synchronise_cores`: 0 = not asked, 1 = registered, 2 = the kernel cannot.
static CORES_REGISTERED: AtomicU8 = AtomicU8::new(0);

const REGISTER_PRIVATE_EXPEDITED: i32 = 1 << 4;
const PRIVATE_EXPEDITED: i32 = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED_SYNC_CORE: i32 = 1 << 6;
const PRIVATE_EXPEDITED_SYNC_CORE: i32 = 1 << 5;

fn call(command: i32) -> bool {
    // SAFETY: membarrier takes no pointers.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Decides once which form the process uses. Until then `light` is the strong form, which is always correct.
pub fn initialise() {
    // Relaxed: both sides are correct in either mode as long as `heavy` is at least as strong as the mode `light` saw;
    // MODE turns ASYMMETRIC only after registration, and `heavy` makes the system call in every mode but SYMMETRIC.
    if MODE.load(Ordering::Relaxed) == UNKNOWN {
        let mode = if call(REGISTER_PRIVATE_EXPEDITED) { ASYMMETRIC } else { SYMMETRIC };
        // An exchange, since of two threads that come here at once one may have been refused: the first decides.
        let _ = MODE.compare_exchange(UNKNOWN, mode, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// For a forked child, which has one thread. Linux copies the registration with the address space; where a kernel does
/// not, the child registers anew. It may be refused and yet go on, as a child that only calls `exec` needs no barrier:
/// `heavy` tells.
pub fn register_child() {
    if is_asymmetric() {
        call(REGISTER_PRIVATE_EXPEDITED);
    }
    // Relaxed: there is no other thread; those to come see it.
    CORES_REGISTERED.store(0, Ordering::Relaxed);
}

/// Whether the light side is free on this machine.
pub fn is_asymmetric() -> bool {
    MODE.load(Ordering::Relaxed) == ASYMMETRIC
}

/// The light side of the barrier.
#[inline(always)]
pub fn light() {
    if MODE.load(Ordering::Relaxed) == ASYMMETRIC {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// The heavy side of the barrier.
pub fn heavy() {
    fence(Ordering::SeqCst);
    if MODE.load(Ordering::Relaxed) != SYMMETRIC && !call(PRIVATE_EXPEDITED) && is_asymmetric() {
        saki_base::bug!(
            "the system refuses membarrier, which it granted before (by a filter of system calls?): errno {}",
            crate::error::errno()
        );
    }
    fence(Ordering::SeqCst);
}

/// The outcome of a sequentially consistent read-modify-write, behind which no later access is done before it, nor
/// before what precedes it: Rust's operations promise that only among one another. On x86-64 they are full barriers. On
/// aarch64 later loads may be done before the store of a loop of exclusive accesses, and a comparison that fails stores
/// nothing, so that it is no barrier.
#[inline(always)]
pub fn fenced<T>(outcome: T) -> T {
    if cfg!(not(target_arch = "x86_64")) {
        fence(Ordering::SeqCst);
    }
    outcome
}

/// Makes every running thread of the process execute a core-serialising instruction, so that they fetch code
/// written before. Returns whether the kernel could.
pub fn synchronise_cores() -> bool {
    // Relaxed: registering twice is harmless.
    if CORES_REGISTERED.load(Ordering::Relaxed) == 0 {
        let state = if call(REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) { 1 } else { 2 };
        CORES_REGISTERED.store(state, Ordering::Relaxed);
    }
    CORES_REGISTERED.load(Ordering::Relaxed) == 1 && call(PRIVATE_EXPEDITED_SYNC_CORE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `in_child` in a forked child, and returns what `waitpid` says of it.
    fn in_child(in_child: impl FnOnce() -> i32) -> i32 {
        // SAFETY: the child calls what the test gives it, and ends.
        let child = crate::fork::plainly(|| unsafe { libc::fork() });
        if child == 0 {
            // SAFETY: ends the child.
            unsafe { libc::_exit(in_child()) };
        }
        let mut status = 0;
        // SAFETY: waits for the child just made.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        status
    }

    /// From now on the system refuses membarrier to the calling thread. False: it has no filters.
    fn forbid() -> bool {
        let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
        let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        let mut filter = [
            // The number of the call is the first word.
            statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
            libc::sock_filter { jf: 1, ..statement(libc::BPF_JMP | libc::BPF_JEQ, libc::SYS_membarrier as u32) },
            statement(libc::BPF_RET, refuse),
            statement(libc::BPF_RET, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: numbers.
        let is_ready = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
        // SAFETY: a filter that the kernel copies.
        is_ready && unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) } == 0
    }

    #[test]
    fn a_forked_child_keeps_the_mode_that_compiled_code_relies_on() {
        const NO_FILTERS: i32 = 2;
        initialise();
        let was_asymmetric = is_asymmetric();
        let status = in_child(|| {
            register_child();
            heavy();
            i32::from(is_asymmetric() != was_asymmetric)
        });
        assert_eq!(status, 0);
        let status = in_child(|| {
            if !forbid() {
                return NO_FILTERS;
            }
            register_child();
            i32::from(is_asymmetric() != was_asymmetric)
        });
        assert!(status == 0 || libc::WEXITSTATUS(status) == NO_FILTERS, "{status:#x}");
    }

    #[test]
    fn a_barrier_that_the_system_refuses_does_not_pass_for_one() {
        initialise();
        if !is_asymmetric() {
            return eprintln!("skipped: no membarrier here");
        }
        let status = in_child(|| {
            if forbid() {
                register_child();
                heavy();
            }
            0
        });
        let has_aborted = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT;
        // SAFETY: asks; no filter is set.
        let has_filters = unsafe { libc::prctl(libc::PR_GET_SECCOMP) } >= 0;
        assert!(has_aborted || !has_filters && status == 0, "{status:#x}");
    }
}
