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
        MODE.store(mode, Ordering::Relaxed);
    }
}

/// For a forked child, which has one thread: registers it as its parent was.
pub fn register_child() {
    if is_asymmetric() && !call(REGISTER_PRIVATE_EXPEDITED) {
        // Relaxed: there is no other thread; those to come see it.
        MODE.store(SYMMETRIC, Ordering::Relaxed);
    }
    // Relaxed: as above.
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
        saki_base::bug!("membarrier failed after it was registered: errno {}", crate::error::errno());
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
