//! Spills callee-saved registers to the stack, where a conservative scan finds them.
//!
//! Invariant: `spill_and_call` passes a stack pointer at or above which every register value of its callers lies; the
//! function that it calls runs below. Architecture code is in one file per architecture.

#[cfg(target_arch = "aarch64")]
#[path = "spill/aarch64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "spill/x86_64.rs"]
mod arch;

pub(crate) use arch::{CALLEE_SAVED_COUNT, capture_registers, stack_pointer};

/// Calls `f` with the stack pointer that covers all callee-saved registers.
#[inline]
pub(crate) fn with_spilled_registers<R>(f: impl FnOnce(usize) -> R) -> R {
    struct Call<F, R> {
        f: Option<F>,
        result: Option<R>,
    }
    /// # Safety
    /// `call` is the address of the `Call` that has `f`, which nothing else uses during the call.
    unsafe extern "C-unwind" fn run<F: FnOnce(usize) -> R, R>(call: *mut u8, sp: usize) {
        // SAFETY: `call` is the `Call` below, alive and otherwise unused during the call.
        let call = unsafe { &mut *call.cast::<Call<F, R>>() };
        if let Some(f) = call.f.take() {
            call.result = Some(f(sp));
        }
    }
    fn runner<F: FnOnce(usize) -> R, R>(_: &Call<F, R>) -> unsafe extern "C-unwind" fn(*mut u8, usize) {
        run::<F, R>
    }
    let mut call = Call { f: Some(f), result: None };
    let run = runner(&call);
    // SAFETY: `run` is instantiated for exactly this `call`.
    unsafe { arch::spill_and_call((&raw mut call).cast(), run) };
    match call.result {
        Some(result) => result,
        None => saki_base::bug!("spill_and_call did not call"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_closure_runs_below_the_published_stack_pointer() {
        let outer = 1u8;
        let (sp, inner) = super::with_spilled_registers(|sp| {
            let inner = 2u8;
            (sp, std::hint::black_box(&raw const inner) as usize)
        });
        assert!(inner < sp && sp < std::hint::black_box(&raw const outer) as usize);
        assert!(sp.is_multiple_of(8));
    }
}
