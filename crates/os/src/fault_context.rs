//! The interrupted machine state that a signal handler sees and may change.
//!
//! Invariant: reads and writes go straight to the kernel's saved context, so that a changed program counter takes
//! effect when the handler returns. Left out: the meaning of a fault.

#[cfg(target_arch = "aarch64")]
#[path = "fault_context/aarch64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "fault_context/x86_64.rs"]
mod arch;

/// The value that was sent with a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignalValue {
    pub value: usize,
    /// For a timer's signal: how many more times the timer expired before the signal was delivered.
    pub overruns: Option<u32>,
}

/// The beginning of `siginfo_t` with SI_TIMER and SI_QUEUE, as the kernel lays it out on 64-bit machines.
#[repr(C)]
pub(crate) struct ValueInfo {
    pub signal: i32,
    pub error: i32,
    pub code: i32,
    pub padding: i32,
    pub timer_or_process: i32,
    pub overruns_or_user: i32,
    pub value: usize,
    /// `siginfo_t` has 128 bytes.
    pub rest: [usize; 12],
}

/// A signal's saved context.
pub struct FaultContext {
    signal: i32,
    info: *mut libc::siginfo_t,
    context: *mut libc::ucontext_t,
}

impl FaultContext {
    /// # Safety
    /// The pointers are the arguments of a running `SA_SIGINFO` handler, which this value does not outlive.
    pub unsafe fn from_raw(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) -> FaultContext {
        FaultContext { signal, info, context: context.cast() }
    }

    /// The number of the signal.
    pub fn signal(&self) -> i32 {
        self.signal
    }

    /// `si_code`: > 0 when the kernel raised the signal for a fault, ≤ 0 when a process sent it.
    pub fn code(&self) -> i32 {
        // SAFETY: valid while the handler runs, by `from_raw`.
        unsafe { (*self.info).si_code }
    }

    /// Whether the interrupted code, which is the C library's, waits in a system call for something to happen. Calls
    /// that ask for memory are no such waits.
    pub(crate) fn waits_in_system_call(&self) -> bool {
        const FOR_MEMORY: [libc::c_long; 6] =
            [libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mprotect, libc::SYS_mremap, libc::SYS_madvise, libc::SYS_brk];
        // SAFETY: valid while the handler runs, by `from_raw`.
        let machine = unsafe { &(*self.context).uc_mcontext };
        match arch::next_system_call(machine) {
            Some(number) => !FOR_MEMORY.contains(&(number as libc::c_long)),
            None => arch::is_interrupted(machine),
        }
    }

    /// Whether the kernel raised it for an instruction of this thread, rather than some process by `kill`.
    pub fn is_fault(&self) -> bool {
        self.code() > 0
    }

    /// The process that sent it; `None` if the kernel raised it, or a timer. Async-signal-safe.
    pub fn sending_process(&self) -> Option<i32> {
        // SAFETY: valid while the handler runs, by `from_raw`; the kernel fills the field for these codes
        // (sigaction(2)).
        let sender = || unsafe { (*self.info).si_pid() };
        matches!(self.code(), libc::SI_USER | libc::SI_TKILL | libc::SI_QUEUE).then(sender)
    }

    /// The address whose access faulted (SIGSEGV, SIGBUS), or the faulting instruction (SIGFPE, SIGILL).
    pub fn fault_address(&self) -> usize {
        // SAFETY: valid while the handler runs; the field is set for the fault signals, else unspecified but readable.
        unsafe { (*self.info).si_addr() as usize }
    }

    fn machine(&self) -> &libc::mcontext_t {
        // SAFETY: valid while the handler runs, by `from_raw`.
        unsafe { &(*self.context).uc_mcontext }
    }

    fn machine_mut(&mut self) -> &mut libc::mcontext_t {
        // SAFETY: valid while the handler runs, and `&mut self` is the only access.
        unsafe { &mut (*self.context).uc_mcontext }
    }

    /// Program counter.
    pub fn pc(&self) -> usize {
        arch::pc(self.machine())
    }

    /// Stack pointer.
    pub fn sp(&self) -> usize {
        arch::sp(self.machine())
    }

    /// Frame pointer.
    pub fn fp(&self) -> usize {
        arch::fp(self.machine())
    }

    /// Where the thread goes on when the handler returns.
    pub fn set_pc(&mut self, value: usize) {
        arch::set_pc(self.machine_mut(), value);
    }

    /// The stack pointer with which it goes on.
    pub fn set_sp(&mut self, value: usize) {
        arch::set_sp(self.machine_mut(), value);
    }

    /// The frame pointer with which it goes on.
    pub fn set_fp(&mut self, value: usize) {
        arch::set_fp(self.machine_mut(), value);
    }

    /// Makes the thread go on as if it had just called the code at its program counter: with this return address. The
    /// words below its stack pointer must be free for use: nothing goes on in its frame.
    ///
    /// # Safety
    /// The stack pointer is that of a stack in use, with nothing below it.
    pub unsafe fn set_return_address(&mut self, value: usize) {
        // SAFETY: the contract is the same.
        unsafe { arch::set_return_address(self.machine_mut(), value) };
    }

    /// The return address of a function of which no instruction was executed yet, or which has undone its frame.
    ///
    /// # Safety
    /// The thread is at such an instruction, or the stack pointer is that of a stack in use, which has a word there.
    pub unsafe fn return_address(&self) -> usize {
        // SAFETY: the contract is the same.
        unsafe { arch::return_address(self.machine()) }
    }

    /// Undoes the frame of a function whose frame pointer is set: the registers are as at its first instruction, but
    /// for the program counter and what callees preserve beside the frame pointer.
    ///
    /// # Safety
    /// The frame pointer is that of the function that was interrupted.
    pub unsafe fn undo_frame(&mut self) {
        // SAFETY: the contract is the same.
        unsafe { arch::undo_frame(self.machine_mut()) };
    }

    /// The register in which functions get their return address (x30); None where that is on the stack.
    pub fn link_register(&self) -> Option<usize> {
        arch::link(self.machine())
    }

    /// A register that callees preserve, by DWARF's number (x86-64: rbx 3, rbp 6, r12 to r15 12 to 15); 0 for others.
    pub fn register(&self, dwarf_number: usize) -> usize {
        arch::by_dwarf_number(self.machine(), dwarf_number)
    }

    /// The value of a signal that a timer or `thread::queue_signal` sent.
    pub fn value(&self) -> Option<SignalValue> {
        let code = self.code();
        if code != libc::SI_TIMER && code != libc::SI_QUEUE {
            return None;
        }
        // SAFETY: valid while the handler runs, by `from_raw`; the kernel fills these fields for these codes
        // (sigaction(2)).
        let info = unsafe { &*self.info.cast::<ValueInfo>() };
        let overruns = (code == libc::SI_TIMER).then_some(info.overruns_or_user.max(0) as u32);
        Some(SignalValue { value: info.value, overruns })
    }

    /// The thread's alternate stack as it was set when the signal came; empty if there was none.
    pub fn alternate_stack(&self) -> std::ops::Range<usize> {
        // SAFETY: valid while the handler runs, by `from_raw`.
        let stack = unsafe { (*self.context).uc_stack };
        let start = stack.ss_sp as usize;
        if stack.ss_flags & libc::SS_DISABLE != 0 { 0..0 } else { start..start + stack.ss_size }
    }

    /// The register that holds the managed thread in compiled code (r15, x21). Valid only when `pc` is in compiled
    /// code.
    pub fn pinned_register(&self) -> usize {
        arch::pinned(self.machine())
    }

    /// Sets the C calling convention's integer argument `index` (0–3).
    pub fn set_argument(&mut self, index: usize, value: usize) {
        arch::set_argument(self.machine_mut(), index, value);
    }

    /// Every general register, for reports and conservative scanning; the order is the architecture's encoding order.
    pub fn general_registers(&self) -> Vec<(&'static str, usize)> {
        arch::general_registers(self.machine())
    }

    /// Raw arguments of the handler, for chaining.
    pub fn raw(&self) -> (*mut libc::siginfo_t, *mut libc::c_void) {
        (self.info, self.context.cast())
    }
}
