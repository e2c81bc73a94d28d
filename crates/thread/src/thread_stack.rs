//! The stack of a managed thread: its bounds, its reserve (`stack_reserve`), where it lies (`cold_stack`), and what of
//! it is scanned.

use crate::managed_thread::ManagedThread;
use crate::request::POLL_STACK;
use crate::spill::stack_pointer;
use crate::stack_reserve::{StackReserve, reserve_bytes};
use std::ops::Range;
use std::sync::atomic::Ordering;

const RED_ZONE_BYTES: usize = 128;

impl ManagedThread {
    /// The bounds of the OS thread's stack that the thread is about to run on.
    pub(crate) fn set_stack(&self, bounds: &Range<usize>) {
        self.set_usable_stack(bounds.start + reserve_bytes(bounds.len())..bounds.end);
    }

    /// The part of the stack above the reserve.
    pub(crate) fn set_usable_stack(&self, bounds: Range<usize>) {
        let abi = self.abi();
        // SAFETY: the calling thread is the structure's owner, and it is in no list yet.
        unsafe { (*abi).stack_limit = bounds.start };
        // SAFETY: the calling thread is the structure's owner, and it is in no list yet.
        unsafe { (*abi).stack_base = bounds.end };
    }

    /// Whether the thread may have run managed code (`get_ready`).
    pub fn is_ready(&self) -> bool {
        // Relaxed: the thread's own.
        self.is_ready.load(Ordering::Relaxed)
    }

    /// Gives the calling OS thread what managed code needs of it, if that has not been done: an alternate signal stack,
    /// and the reserve of its stack. Threads that a host attaches for a moment go without.
    #[inline]
    pub fn get_ready(&self) {
        if !self.is_ready() {
            self.make_ready();
        }
    }

    #[cold]
    fn make_ready(&self) {
        if let Some(carrier) = self.carrier() {
            carrier.install_signal_stack();
        }
        // Faults there need the alternate stack.
        self.stack_reserve.set_up();
        // Relaxed: the thread's own.
        self.is_ready.store(true, Ordering::Relaxed);
    }

    /// The usable stack, from `abi.stack_limit` (above the reserve) to its base.
    pub fn stack_bounds(&self) -> Range<usize> {
        // SAFETY: written once, at attach, before the thread is in the registry.
        unsafe { (*self.abi()).stack_limit..(*self.abi()).stack_base }
    }

    /// The part of the stack to scan while the thread is stopped: from the published SP to the base. Empty before the
    /// thread has run.
    pub fn stopped_stack_range(&self) -> Range<usize> {
        let base = self.stack_bounds().end;
        match self.published_sp.load(Ordering::Acquire) {
            0 => base..base,
            sp => sp & !7..base,
        }
    }

    /// Every range to scan conservatively while the thread is stopped: the stack and the saved registers.
    pub fn for_each_conservative_range(&self, mut visit: impl FnMut(Range<usize>)) {
        let mut stack = self.stopped_stack_range();
        if let Some((sp, context)) = self.hold.held() {
            visit(context..context + size_of::<libc::ucontext_t>());
            // A signal handler of the host's on another stack was interrupted: what it holds is unknown.
            let whole = self.reserve().stack_low()..stack.end;
            if whole.contains(&sp) {
                // Leaf functions use the bytes below the stack pointer (System V ABI, AMD64 supplement §3.2.2).
                stack.start = (sp & !7) - RED_ZONE_BYTES;
            }
        }
        match self.gap() {
            // Also a stack in two parts, from where native code was called that runs in the inner one.
            Some(gap) if stack.start < gap.start => {
                visit(stack.start..gap.start);
                visit(gap.end..stack.end);
            }
            _ => visit(self.cold_stack.present_place(stack)),
        }
        // Relaxed: the thread is stopped; the Acquire of its state came before.
        if self.registers_are_saved.load(Ordering::Relaxed) {
            let registers = self.saved_registers.as_ptr_range();
            visit(registers.start as usize..registers.end as usize);
        }
    }

    /// Whether the stack lies elsewhere.
    #[inline(always)]
    pub fn is_cold(&self) -> bool {
        self.cold_stack.is_cold()
    }

    /// Whether the thread, which is parked, has nothing but frames on its stack: it is not pinned, the stack is in one
    /// part, and its reserve is closed.
    pub fn may_put_stack_by(&self) -> bool {
        !self.is_pinned() && self.stack_reserve.is_closed() && !self.is_cold() && self.gap().is_none()
    }

    /// Copies the stack from `sp` on, and returns how many bytes; the stack's memory is not needed from then on.
    ///
    /// # Safety
    /// The thread is suspended at `sp`, and the caller owns it, under `while_moving`.
    pub unsafe fn put_stack_by(&self, sp: usize) -> usize {
        // SAFETY: the thread is suspended at `sp`, and this thread has it (state MOVING of its `ParkWord`), so nobody
        // else moves its stack, which goes up to its base.
        unsafe { self.cold_stack.put_by(sp, self.stack_bounds().end) }
    }

    /// Writes the copy back, whose place is writable again. Does nothing for a stack that is in its place.
    ///
    /// # Safety
    /// The thread is suspended, and the caller owns it, under `while_moving` or with the world stopped.
    pub unsafe fn restore_stack(&self) {
        // SAFETY: the thread is suspended, so nobody runs on its stack; its `ParkWord`, or a stopped world, keeps other
        // threads from moving it.
        unsafe { self.cold_stack.restore() };
    }

    /// Opens the part of the reserve in which the address of a fault lies, and makes the next safepoint check the
    /// stack; `false` if the address lies in no closed part. `in_large_frame`: the prologue of a frame of more than a
    /// page faulted; the lowest part stays closed for it. `sp`: the stack pointer of the code that faulted. For the
    /// fault handler, on this thread. Async-signal-safe.
    pub fn open_stack_reserve(&self, fault_address: usize, in_large_frame: bool, sp: usize) -> bool {
        let is_open = self.stack_reserve.open(fault_address, in_large_frame, sp)
            || self.inner_reserve.open(fault_address, in_large_frame, sp);
        if is_open {
            self.set_poll(POLL_STACK);
        }
        is_open
    }

    /// Whether a safepoint is to throw StackOverflowException. Closes the reserve when the thread has left it. For the
    /// thread itself.
    #[inline]
    pub fn takes_stack_overflow(&self) -> bool {
        // Relaxed: the thread's own bit.
        self.poll_word().load(Ordering::Relaxed) & POLL_STACK != 0 && self.look_at_stack(stack_pointer())
    }

    #[cold]
    fn look_at_stack(&self, sp: usize) -> bool {
        let reserve = self.reserve();
        if self.grows_all_the_time() {
            // The poll bit stays. A frame that cannot move uses up the stack as any other does.
            if reserve.is_left_at(sp) {
                reserve.close();
            }
            return sp < reserve.lower() && reserve.takes_overflow_at(sp);
        }
        if reserve.is_left_at(sp) {
            // Before it is closed: see `close`.
            self.clear_poll(POLL_STACK);
            reserve.close();
            return false;
        }
        // What a stack that can still grow needs of its reserve until it does is no overflow.
        (!self.can_grow() || sp < reserve.lower()) && reserve.takes_overflow_at(sp)
    }

    /// The reserve of the part of the stack that the thread is on.
    pub(crate) fn reserve(&self) -> &StackReserve {
        if self.gap().is_some() { &self.inner_reserve } else { &self.stack_reserve }
    }

    /// Whether the runtime can throw an exception with the stack pointer here. Async-signal-safe.
    pub fn has_stack_to_throw(&self, sp: usize) -> bool {
        sp >= self.reserve().lower()
    }

    /// Whether the calling code, on this thread, has so much stack left, or the part of it that a small stack allows.
    pub fn has_stack_for(&self, bytes: usize) -> bool {
        let end = self.gap().map_or(self.stack_bounds().end, |gap| gap.start);
        let stack = self.reserve().stack_low()..end;
        let sp = stack_pointer();
        // Nothing is known about a stack that the system does not know.
        !stack.contains(&sp) || sp - stack.start >= bytes.min(stack.len() / 4)
    }
}
