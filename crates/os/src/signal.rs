//! Signal handlers on an alternate stack, which chain to the handlers installed before them.
//!
//! Invariant: a signal that the handler passes on reaches the previous handler with the arguments that the kernel
//! gave, or takes the default action; `errno` is preserved. Everything here that runs in a handler is
//! async-signal-safe: it takes no lock and allocates nothing. Left out: the meaning of faults.

use crate::error::{check, errno, set_errno};
use crate::fault_context::FaultContext;
use crate::memory::{Reservation, page_size_bytes, round_up_to_page};
use saki_base::locks::{Mutex, rank};
use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The decision of a handler about a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Disposition {
    /// Continue at the context's (possibly changed) program counter.
    Handled,
    /// Not ours: give it to the previous handler.
    PassOn,
}

/// A handler; it runs on the alternate stack of the interrupted thread, if that has one.
pub type SignalHandler = fn(&mut FaultContext) -> Disposition;

const SIGNAL_COUNT: usize = 65;

/// The signal by which a command of Saki's tells a process that it waits for it. Not one that .NET or Mono use:
/// programs for .NET may handle SIGQUIT themselves.
pub fn of_clients() -> i32 {
    libc::SIGRTMIN() + 11
}

/// The signal by which a collection holds threads in native code (`thread::hold`).
pub fn of_holds() -> i32 {
    libc::SIGRTMIN() + 12
}

struct Slot {
    /// The `SignalHandler`; 0 = none. Release by `install`, Acquire by `trampoline`, which then sees `previous` and what
    /// the handler needs; Relaxed under `INSTALL`.
    handler: AtomicUsize,
    /// The action found at installation. Written once before `handler`.
    previous: UnsafeCell<MaybeUninit<libc::sigaction>>,
}

struct Slots([Slot; SIGNAL_COUNT]);

// SAFETY: `previous` is written only under `INSTALL`, before the Release store of `handler` and the `sigaction` call
// that make the trampoline read it.
unsafe impl Sync for Slots {}

static SLOTS: Slots = Slots(
    [const { Slot { handler: AtomicUsize::new(0), previous: UnsafeCell::new(MaybeUninit::uninit()) } }; SIGNAL_COUNT],
);
static INSTALL: Mutex<rank::SignalActions, ()> = Mutex::new(());

/// Installs or replaces the process's handler for a signal. The action found the first time stays the chained one.
///
/// Errors: those of `sigaction`.
pub fn install(signal: i32, handler: SignalHandler) -> io::Result<()> {
    let slot = SLOTS.0.get(signal as usize).ok_or(io::ErrorKind::InvalidInput)?;
    let _guard = INSTALL.lock();
    let first = slot.handler.load(Ordering::Relaxed) == 0;
    if first {
        // SAFETY: under `INSTALL`, and no trampoline for this signal is installed yet.
        let previous = unsafe { &mut *slot.previous.get() };
        // SAFETY: a null new action only queries; `previous` is writable.
        check(unsafe { libc::sigaction(signal, std::ptr::null(), previous.as_mut_ptr()) })?;
    }
    // Release: pairs with the Acquire in `trampoline`; the data that the handler needs is visible.
    slot.handler.store(handler as usize, Ordering::Release);
    if !first {
        return Ok(());
    }
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all-zero is a valid `sigaction`.
    let action = unsafe { action.assume_init_mut() };
    action.sa_sigaction = trampoline as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the mask is writable.
    unsafe { libc::sigemptyset(&mut action.sa_mask) };
    // SAFETY: `action` is initialised and `trampoline` has the SA_SIGINFO signature.
    check(unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) })
}

extern "C" fn trampoline(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let saved_errno = errno();
    // SAFETY: these are the arguments of the running handler.
    let mut fault = unsafe { FaultContext::from_raw(signal, info, context) };
    let handler = SLOTS.0[signal as usize].handler.load(Ordering::Acquire);
    // SAFETY: only `install` stores there, a `SignalHandler`, before this trampoline can be called.
    let handler = unsafe { std::mem::transmute::<usize, SignalHandler>(handler) };
    if handler(&mut fault) == Disposition::PassOn {
        chain(&fault);
    }
    set_errno(saved_errno);
}

/// Gives the signal to the action found before ours.
fn chain(fault: &FaultContext) {
    let signal = fault.signal();
    let (info, context) = fault.raw();
    // SAFETY: written before the trampoline was installed and not changed afterwards.
    let previous = unsafe { (*SLOTS.0[signal as usize].previous.get()).assume_init_ref() };
    match previous.sa_sigaction {
        libc::SIG_IGN if !fault.is_fault() => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            let mut default = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: all-zero means SIG_DFL with an empty mask.
            unsafe { libc::sigaction(signal, default.assume_init_mut(), std::ptr::null_mut()) };
            if !fault.is_fault() {
                // The faulting instruction does not run again by itself, so send the signal again; it stays blocked
                // until the handler returns.
                // SAFETY: no preconditions.
                unsafe { libc::raise(signal) };
            }
        }
        function if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            type Action = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
            // SAFETY: SA_SIGINFO says that the handler has this signature.
            let function = unsafe { std::mem::transmute::<usize, Action>(function) };
            function(signal, info, context);
        }
        function => {
            // SAFETY: without SA_SIGINFO the handler takes the signal number only.
            let function = unsafe { std::mem::transmute::<usize, extern "C" fn(i32)>(function) };
            function(signal);
        }
    }
}

/// Whether a signal that our handler passes on takes the default action: `install` found no other handler.
/// Async-signal-safe.
pub fn is_default_behind(signal: i32) -> bool {
    let slot = &SLOTS.0[signal as usize];
    // Acquire: pairs with `install`, as in `trampoline`.
    if slot.handler.load(Ordering::Acquire) == 0 {
        return true;
    }
    // SAFETY: written before `handler`, and not changed afterwards.
    let previous = unsafe { (*slot.previous.get()).assume_init_ref() };
    previous.sa_sigaction == libc::SIG_DFL
}

/// Writes to standard error past every buffer and lock. A closed one loses the text. Async-signal-safe.
pub fn write_to_stderr(mut text: &[u8]) {
    while !text.is_empty() {
        // SAFETY: the buffer is valid for its length.
        let written = unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        match usize::try_from(written) {
            Ok(count) if count > 0 => text = &text[count..],
            _ => return,
        }
    }
}

/// How many handlers may be nested on our alternate stacks, and how much stack each of them may use besides the frame
/// that the kernel makes for it. A program's native parts can rely on this.
pub const MAX_NESTED_HANDLERS: usize = 8;
/// Bytes of stack for each of them.
pub const HANDLER_STACK_BYTES: usize = 8 << 10;

/// The size of the kernel's signal frame where the kernel does not report it. It covers AVX-512, which kernels have
/// supported for longer than they report the size.
const UNTOLD_FRAME_BYTES: usize = 4096;

/// Bytes that the kernel puts on the stack for a handler, with this processor's vector registers. Async-signal-safe.
pub fn frame_bytes() -> usize {
    // SAFETY: no preconditions.
    let told = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    if told == 0 { UNTOLD_FRAME_BYTES } else { told }
}

/// Bytes of an alternate stack that holds `MAX_NESTED_HANDLERS`.
pub fn alternate_stack_bytes() -> usize {
    round_up_to_page(MAX_NESTED_HANDLERS * (frame_bytes() + HANDLER_STACK_BYTES))
}

/// A guarded alternate signal stack of the calling thread. Dropping it, on the same thread, puts the previous one back,
/// unless someone else has changed the thread's alternate stack since: the previous one may be gone by then.
pub struct AlternateStack {
    /// None while it is dropped.
    memory: Option<Reservation>,
    previous: libc::stack_t,
}

impl AlternateStack {
    /// Installs an alternate stack of `alternate_stack_bytes` for the calling thread.
    ///
    /// Errors: the system's, when it has no room.
    pub fn install() -> io::Result<AlternateStack> {
        AlternateStackMemory::map()?.install()
    }

    /// Whether the address lies on this stack.
    pub fn contains(&self, address: usize) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.contains(address))
    }
}

/// The memory of an alternate stack, not yet assigned to a thread.
pub struct AlternateStackMemory {
    /// None once it is installed.
    memory: Option<Reservation>,
    size_bytes: usize,
}

impl Drop for AlternateStackMemory {
    fn drop(&mut self) {
        self.memory.take().into_iter().for_each(keep);
    }
}

/// Alternate stacks of threads that have ended: threads that come and go map none. All have one size.
///
/// | a place | meaning | next |
/// |---|---|---|
/// | null | empty | a stack's base, by the thread that gives its stack back |
/// | a base | a guard page and a stack, which nobody uses | null, by a thread that takes it |
///
/// Both steps are atomic exchanges, so a stack has one owner. Release and Acquire: the owner before has left it.
static SPARE_STACKS: [AtomicPtr<u8>; 16] = [const { AtomicPtr::new(ptr::null_mut()) }; 16];

/// The bytes of an alternate stack and the guard page below it.
fn guarded_stack_bytes() -> usize {
    alternate_stack_bytes() + page_size_bytes()
}

impl AlternateStackMemory {
    /// A stack of `alternate_stack_bytes` with a guard page below it, one that a thread has left if there is one.
    ///
    /// Errors: the system's, when it has no room.
    pub fn map() -> io::Result<AlternateStackMemory> {
        let size_bytes = alternate_stack_bytes();
        for place in &SPARE_STACKS {
            // Relaxed: the exchange decides.
            if place.load(Ordering::Relaxed).is_null() {
                continue;
            }
            // Acquire: pairs with the Release of `keep`.
            let base = place.swap(ptr::null_mut(), Ordering::Acquire);
            if !base.is_null() {
                // SAFETY: what `keep` leaked, with this length, and the exchange gave it to this thread alone.
                let memory = unsafe { Reservation::reclaim(base, guarded_stack_bytes()) };
                return Ok(AlternateStackMemory { memory: Some(memory), size_bytes });
            }
        }
        let guard_bytes = page_size_bytes();
        let memory = Reservation::reserve(guarded_stack_bytes())?;
        memory.commit(guard_bytes, size_bytes)?;
        Ok(AlternateStackMemory { memory: Some(memory), size_bytes })
    }

    /// Makes it the calling thread's alternate stack.
    pub fn install(mut self) -> io::Result<AlternateStack> {
        let base = self.memory.as_ref().map_or(ptr::null_mut(), |memory| memory.base().wrapping_add(page_size_bytes()));
        let stack = libc::stack_t { ss_sp: base.cast(), ss_flags: 0, ss_size: self.size_bytes };
        let mut previous = MaybeUninit::<libc::stack_t>::uninit();
        // SAFETY: `stack` names committed memory that lives until the previous stack is back.
        check(unsafe { libc::sigaltstack(&stack, previous.as_mut_ptr()) })?;
        // SAFETY: filled by the successful call.
        Ok(AlternateStack { memory: self.memory.take(), previous: unsafe { previous.assume_init() } })
    }
}

/// Keeps the memory of an alternate stack that no thread has any more, or gives it back if enough are kept.
fn keep(memory: Reservation) {
    let base = memory.base();
    for place in &SPARE_STACKS {
        // Release: who takes it comes after this thread's last use. Relaxed on failure: nothing is read.
        if place.compare_exchange(ptr::null_mut(), base, Ordering::Release, Ordering::Relaxed).is_ok() {
            memory.leak();
            return;
        }
    }
}

impl Drop for AlternateStack {
    fn drop(&mut self) {
        let mut now = MaybeUninit::<libc::stack_t>::zeroed();
        // SAFETY: a null new stack only queries; `now` is writable.
        unsafe { libc::sigaltstack(std::ptr::null(), now.as_mut_ptr()) };
        // SAFETY: zeroed, then filled by the call.
        if !self.contains(unsafe { now.assume_init() }.ss_sp as usize) {
            return;
        }
        if self.previous.ss_flags & libc::SS_DISABLE != 0 {
            // Some kernels check the size even when disabling.
            self.previous.ss_size = libc::SIGSTKSZ;
        }
        self.previous.ss_flags &= libc::SS_DISABLE;
        // SAFETY: `previous` came from the kernel for this thread.
        let is_back = unsafe { libc::sigaltstack(&self.previous, std::ptr::null_mut()) } == 0;
        if is_back && let Some(memory) = self.memory.take() {
            keep(memory);
        }
    }
}

/// A thread's signal mask.
#[derive(Clone, Copy)]
pub struct SignalMask(libc::sigset_t);

impl SignalMask {
    /// Blocks all signals of the calling thread but those of faults, and returns the former mask.
    pub fn block_all() -> SignalMask {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: initialises the set.
        unsafe { libc::sigfillset(set.as_mut_ptr()) };
        for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT] {
            // SAFETY: initialised above.
            unsafe { libc::sigdelset(set.as_mut_ptr(), fault) };
        }
        let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: both point to sets; the call cannot fail with a valid first argument.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, set.as_ptr(), before.as_mut_ptr()) };
        // SAFETY: zeroed, then filled by the call.
        SignalMask(unsafe { before.assume_init() })
    }

    /// The calling thread's mask.
    pub fn current() -> SignalMask {
        let mut mask = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: without a new mask the call only fills `mask`.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), mask.as_mut_ptr()) };
        // SAFETY: zeroed, then filled by the call.
        SignalMask(unsafe { mask.assume_init() })
    }

    /// Gives the calling thread this mask.
    pub fn set(&self) {
        // SAFETY: an initialised set.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}

/// Restores the default action of a signal.
pub fn reset_to_default(signal: i32) -> io::Result<()> {
    let mut default = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all-zero means SIG_DFL with an empty mask.
    check(unsafe { libc::sigaction(signal, default.assume_init_mut(), std::ptr::null_mut()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    static HITS: AtomicU32 = AtomicU32::new(0);
    static EARLIER_HITS: AtomicU32 = AtomicU32::new(0);

    fn skip_the_instruction(fault: &mut FaultContext) -> Disposition {
        HITS.fetch_add(1, Ordering::Relaxed);
        assert_eq!(fault.fault_address(), 0x10);
        // `mov byte ptr [rax], 1` is three bytes long.
        let next = fault.pc() + 3;
        fault.set_pc(next);
        Disposition::Handled
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_fault_is_handled_on_the_alternate_stack() {
        let _stack = AlternateStack::install().unwrap();
        install(libc::SIGSEGV, skip_the_instruction).unwrap();
        // SAFETY: the handler skips the faulting store.
        unsafe { std::arch::asm!("mov byte ptr [rax], 1", in("rax") 0x10) };
        assert_eq!(HITS.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn an_alternate_stack_holds_nested_handlers() {
        static DEPTH: AtomicU32 = AtomicU32::new(0);
        extern "C" fn nest(signal: i32) {
            let block = std::hint::black_box([1u8; HANDLER_STACK_BYTES / 2]);
            if DEPTH.fetch_add(u32::from(block[0]), Ordering::Relaxed) + 1 < MAX_NESTED_HANDLERS as u32 {
                // SAFETY: no preconditions; SA_NODEFER runs the handler at once.
                unsafe { libc::raise(signal) };
            }
            std::hint::black_box(&block);
        }
        let signal = libc::SIGRTMIN() + 9;
        // SAFETY: all-zero is a valid `sigaction`.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = nest as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_NODEFER;
        let _stack = AlternateStack::install().unwrap();
        // SAFETY: `nest` is async-signal-safe.
        assert_eq!(unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) }, 0);
        // SAFETY: no preconditions.
        unsafe { libc::raise(signal) };
        assert_eq!(DEPTH.load(Ordering::Relaxed), MAX_NESTED_HANDLERS as u32);
    }

    fn current_stack() -> libc::stack_t {
        let mut now = MaybeUninit::<libc::stack_t>::zeroed();
        // SAFETY: only queries.
        unsafe { libc::sigaltstack(std::ptr::null(), now.as_mut_ptr()) };
        // SAFETY: filled by the call.
        unsafe { now.assume_init() }
    }

    #[test]
    fn an_alternate_stack_that_was_replaced_is_not_put_back() {
        let ours = AlternateStack::install().unwrap();
        let none = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: libc::SIGSTKSZ };
        // SAFETY: no handler runs on the stack.
        assert_eq!(unsafe { libc::sigaltstack(&none, std::ptr::null_mut()) }, 0);
        drop(ours);
        assert_eq!(current_stack().ss_flags, libc::SS_DISABLE);
    }

    extern "C" fn earlier(_signal: i32) {
        EARLIER_HITS.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn an_unknown_signal_reaches_the_previous_handler() {
        // SAFETY: `earlier` is async-signal-safe.
        unsafe { libc::signal(libc::SIGUSR2, earlier as *const () as usize) };
        install(libc::SIGUSR2, |_| Disposition::PassOn).unwrap();
        // SAFETY: no preconditions.
        unsafe { libc::raise(libc::SIGUSR2) };
        assert_eq!(EARLIER_HITS.load(Ordering::Relaxed), 1);
    }
}
