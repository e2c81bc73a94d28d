//! The context switch. Architecture code is in one file per architecture.

#[cfg(target_arch = "aarch64")]
#[path = "switch/aarch64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "switch/x86_64.rs"]
mod arch;

/// A suspended context: its stack pointer, at which its registers are saved. 0 = not suspended.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Context {
    pub(crate) sp: usize,
}

impl Context {
    /// The stack pointer of the suspended context: scan from here to the stack's top.
    pub fn stack_pointer(&self) -> usize {
        self.sp
    }
}

/// The function that a new context runs; it never returns.
pub type Entry = extern "C" fn(argument: *mut u8) -> !;

/// Makes a context that calls `entry(argument)` on the stack whose first frame begins at `top` when it is switched to.
///
/// # Safety
/// `top` is the 16-byte aligned end of a writable stack that nothing else uses, and that outlives the context.
pub unsafe fn prepare(top: usize, entry: Entry, argument: *mut u8) -> Context {
    assert!(top.is_multiple_of(16));
    // SAFETY: the words below `top` are written, which belong to a stack that nothing else uses (contract).
    Context { sp: unsafe { arch::prepare(top, entry, argument) } }
}

/// Suspends the caller in `from` and continues `to`; returns when something switches to `from`.
///
/// # Safety
/// Both are valid. `to` was prepared or suspended and is not running; its stack is alive. `from` stays at its address
/// until it is continued. Nothing of the caller may depend on thread-local addresses across the call. (Raw pointers:
/// the other side changes both contexts meanwhile, which references would deny.)
#[inline(always)]
pub unsafe fn switch(from: *mut Context, to: *const Context) {
    // SAFETY: `from` is valid, by this function's contract.
    let place = unsafe { &raw mut (*from).sp };
    // SAFETY: `to` is valid, by this function's contract.
    let target = unsafe { (*to).sp };
    // SAFETY: `target` is the stack pointer of a context that is not running, on a live stack, where `prepare` or an
    // earlier switch has left the registers; `place` stays until this context is continued (contract).
    unsafe { arch::switch(place, target) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StackPool, StackPoolOptions};

    struct PingPong {
        main: Context,
        fiber: Context,
        count: u64,
    }

    extern "C" fn run(argument: *mut u8) -> ! {
        let shared = argument.cast::<PingPong>();
        loop {
            // SAFETY: the test's `PingPong` outlives the fiber, and main is suspended.
            unsafe { (*shared).count += 1 };
            // SAFETY: main is suspended in its own switch.
            unsafe { switch(&raw mut (*shared).fiber, &raw const (*shared).main) };
        }
    }

    #[test]
    fn two_contexts_alternate_and_keep_their_locals() {
        const SWITCHES: u64 = 100_000;
        let pool = StackPool::new(StackPoolOptions::DEFAULT);
        let stack = pool.take(64 << 10).unwrap();
        let mut place = PingPong { main: Context::default(), fiber: Context::default(), count: 0 };
        let shared = &raw mut place;
        // SAFETY: the stack is fresh and lives to the end of the test.
        let prepared = unsafe { prepare(stack.top(), run, shared.cast()) };
        // SAFETY: `place` is alive.
        unsafe { (*shared).fiber = prepared };
        let kept: Vec<u64> = (0..8).collect();
        let start = std::time::Instant::now();
        for i in 0..SWITCHES {
            // SAFETY: `place` is alive; the fiber is suspended whenever main runs.
            unsafe { switch(&raw mut (*shared).main, &raw const (*shared).fiber) };
            // SAFETY: `place` is alive, and the fiber is suspended.
            assert_eq!(unsafe { (*shared).count }, i + 1);
        }
        println!("{} ns for two switches", start.elapsed().as_nanos() as u64 / SWITCHES);
        assert_eq!(kept.iter().sum::<u64>(), 28);
        // SAFETY: `place` is alive, and the fiber is suspended for good.
        assert!(stack.bounds().contains(&unsafe { (*shared).fiber.sp }));
    }
}
