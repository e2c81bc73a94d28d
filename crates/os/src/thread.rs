//! The calling OS thread: stack bounds, id, name, yielding; and the only function that makes OS threads.
//!
//! Invariant: a thread made here takes none of the program's signals from its first instruction until it has an
//! alternate stack that holds nested handlers, and none after its body has returned. A handler may come anywhere else,
//! and finds either an alternate stack that holds nested ones or, on threads that native code made, the thread's own
//! stack: nothing installs a small alternate stack. The standard library would give one of 8 KiB to each thread that it
//! makes, which two nested handlers with vector registers overflow (tidy checks that no other code makes threads). Left
//! out: managed threads.

use crate::fault_context::ValueInfo;
use crate::limits::{Resource, limit_bytes};
use crate::signal::SignalMask;
use std::cell::Cell;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;

type Body = Box<dyn FnOnce() + Send>;

extern "C" fn run_body(body: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: `create` leaked this box for the one thread that runs here.
    let body: Box<Body> = unsafe { Box::from_raw(body.cast()) };
    body();
    // Signals stay blocked for good: only the destructors of thread-local variables and the C library's end of the
    // thread follow.
    SignalMask::block_all();
    std::ptr::null_mut()
}

/// Starts a detached OS thread with a stack of about this size. It begins with all signals blocked but those of faults;
/// `body` gets the creator's mask, to set it once the thread has an alternate stack. A panic out of `body` ends the
/// process.
///
/// Errors: the system's, when it has no room for another thread.
pub fn start(
    name: Option<&str>,
    stack_size_bytes: usize,
    body: impl FnOnce(SignalMask) + Send + 'static,
) -> io::Result<()> {
    let name = name.map(str::to_owned);
    let mask = SignalMask::block_all();
    let result = create(
        stack_size_bytes,
        Box::new(move || {
            let here = 0_u8;
            STARTED.set(Some(((&raw const here).addr(), stack_size_bytes)));
            if let Some(name) = name {
                set_native_name(&name);
            }
            body(mask);
        }),
    );
    mask.set();
    result
}

fn create(stack_size_bytes: usize, body: Body) -> io::Result<()> {
    let check = |error| if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) };
    let body: Box<Body> = Box::new(body);
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: `attributes` is writable; the call initialises it when it returns 0.
    check(unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) })?;
    // SAFETY: initialised above.
    let mut attributes = unsafe { attributes.assume_init() };
    // SAFETY: `attributes` is initialised.
    unsafe { libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED) };
    let size_bytes = crate::memory::round_up_to_page(stack_size_bytes.min(usize::MAX / 2));
    // SAFETY: `attributes` is initialised.
    let mut result = check(unsafe { libc::pthread_attr_setstacksize(&mut attributes, size_bytes) });
    if result.is_ok() {
        let body = Box::into_raw(body);
        let mut id = MaybeUninit::<libc::pthread_t>::uninit();
        touch_stack_ahead();
        // SAFETY: `id` is writable, `attributes` initialised, and `run_body` takes what `body` points to.
        result = check(unsafe { libc::pthread_create(id.as_mut_ptr(), &attributes, run_body, body.cast()) });
        if result.is_err() {
            // SAFETY: no thread began, so the box is still this function's.
            drop(unsafe { Box::from_raw(body) });
        }
    }
    // SAFETY: initialised and not used again.
    unsafe { libc::pthread_attr_destroy(&mut attributes) };
    result
}

/// A handler that is called when an OS thread ends, also when native code ends it (`pthread_exit`).
pub struct EndNotice(libc::pthread_key_t);

impl EndNotice {
    /// `handler` gets the argument that the thread passed to `ask`. It runs on the ending thread's stack, after the
    /// destructors of thread-local variables (on the process's first thread without them), and not when the process
    /// ends.
    ///
    /// Errors: the system's, when there are too many such handlers.
    pub fn new(handler: unsafe extern "C" fn(*mut libc::c_void)) -> io::Result<EndNotice> {
        let mut key = 0;
        // SAFETY: `key` is writable.
        match unsafe { libc::pthread_key_create(&mut key, Some(handler)) } {
            0 => Ok(EndNotice(key)),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Registers the handler to be called once, at the end of the calling thread, with the address of `argument`.
    pub fn ask<T: Sync>(&self, argument: &'static T) {
        // SAFETY: the key is never deleted. If there is no memory for the value, the thread's end goes unnoticed.
        unsafe { libc::pthread_setspecific(self.0, std::ptr::from_ref(argument).cast()) };
    }
}

/// Bytes that `run_below_gap` leaves free for destructors of thread-specific data; in a small stack no more than one
/// part in `GAP_SHARE`.
const GAP_BYTES: usize = 64 << 10;
const GAP_SHARE: usize = 32;

/// Runs `body`, which does not return, at some distance below the caller's frame. If native code ends the process's
/// first OS thread while other threads' frames are on its stack, the C library goes on at the outermost frame and
/// overwrites the stack right below it.
pub fn run_below_gap(body: extern "C" fn() -> !) -> ! {
    let gap_bytes = GAP_BYTES.min(limit_bytes(Resource::Stack) / GAP_SHARE) & !15;
    // SAFETY: the C calling convention; `body` does not return, so the stack pointer need not be restored. The stack
    // may grow further than the gap.
    unsafe { arch::call_below(body, gap_bytes) }
}

#[cfg(target_arch = "x86_64")]
mod arch {
    /// # Safety
    /// The stack has room for the gap, which is a multiple of 16.
    #[unsafe(naked)]
    pub(super) unsafe extern "C" fn call_below(body: extern "C" fn() -> !, gap_bytes: usize) -> ! {
        std::arch::naked_asm!(
            ".cfi_startproc",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "sub rsp, rsi",
            "call rdi",
            "ud2",
            ".cfi_endproc",
        )
    }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    /// # Safety
    /// The stack has room for the gap, which is a multiple of 16.
    #[unsafe(naked)]
    pub(super) unsafe extern "C" fn call_below(body: extern "C" fn() -> !, gap_bytes: usize) -> ! {
        std::arch::naked_asm!(
            ".cfi_startproc",
            "stp x29, x30, [sp, #-16]!",
            "mov x29, sp",
            ".cfi_def_cfa x29, 16",
            ".cfi_offset x29, -16",
            ".cfi_offset x30, -8",
            "sub sp, sp, x1",
            "blr x0",
            "brk #1",
            ".cfi_endproc",
        )
    }
}

/// The calling thread's stack stays until the process ends, and nothing runs on it.
pub fn sleep_for_ever() -> ! {
    SignalMask::block_all();
    loop {
        // SAFETY: no preconditions.
        unsafe { libc::pause() };
    }
}

/// Touches as much stack as a call into the C library takes. To be called before a call that blocks all signals, as
/// those that start threads and processes do: meanwhile the fault handler cannot open a closed page of the stack, and
/// the kernel ends a process that touches one.
#[inline(never)]
pub fn touch_stack_ahead() {
    const LIBRARY_STACK_BYTES: usize = 32 << 10;
    // The prologue of such a frame touches each of its pages.
    std::hint::black_box(&mut MaybeUninit::<[u8; LIBRARY_STACK_BYTES]>::uninit());
}

thread_local! {
    /// For a thread that [`start`] has made: an address in its first frame, and the size of its stack.
    static STARTED: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// The most that the C library puts between the end of a stack and the first frame: its own record of the thread, and
/// thread-local storage.
const ABOVE_FIRST_FRAME_BYTES: usize = 64 << 10;

/// Addresses of the calling thread's stack, guard pages excluded. For the main thread the low end follows the stack
/// limit (`ulimit -s`); the memory there may not be mapped yet.
pub fn stack_bounds() -> io::Result<Range<usize>> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: `attributes` is writable; the call initialises it when it returns 0.
    let error = unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) };
    let is_main = native_id() == std::process::id();
    if error != 0 && is_main {
        return Ok(main_stack_bounds());
    }
    // The C library's function allocates, which fails where address space is scarce.
    if let Some((first_frame, size_bytes)) = STARTED.get().filter(|_| error != 0) {
        return Ok(first_frame - size_bytes.saturating_sub(ABOVE_FIRST_FRAME_BYTES)..first_frame);
    }
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    // SAFETY: initialised by the call above.
    let mut attributes = unsafe { attributes.assume_init() };
    let (mut low, mut len_bytes, mut guard_bytes) = (std::ptr::null_mut(), 0usize, 0usize);
    // SAFETY: all three are writable locals, `attributes` is initialised.
    let error = unsafe { libc::pthread_attr_getstack(&attributes, &mut low, &mut len_bytes) };
    // SAFETY: `guard_bytes` is a writable local, `attributes` is initialised.
    unsafe { libc::pthread_attr_getguardsize(&attributes, &mut guard_bytes) };
    // SAFETY: initialised and not used again.
    unsafe { libc::pthread_attr_destroy(&mut attributes) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    let low = low as usize;
    // glibc ≥ 2.27 keeps the guard outside of the reported stack; older ones put it inside.
    let low_usable = if is_main { low } else { low + guard_bytes.min(len_bytes / 4) };
    let high = low + len_bytes;
    // Without a limit the C library gives all that lies free below the stack.
    let is_unlimited = is_main && limit_bytes(Resource::Stack) == usize::MAX;
    Ok(if is_unlimited { low_usable.max(high - UNLIMITED_BYTES)..high } else { low_usable..high })
}

/// Size of the main thread's stack where there is no limit: less than the machine's memory, so that endless recursion
/// ends as an overflow, and more than programs need.
const UNLIMITED_BYTES: usize = 1 << 30;

/// Bounds of the main thread's stack where there is no `/proc`, from which the C library reads them: from the program's
/// name, which the kernel puts at the very top of the stack, down to the limit.
fn main_stack_bounds() -> Range<usize> {
    // SAFETY: no preconditions.
    let name = unsafe { libc::getauxval(libc::AT_EXECFN) } as usize;
    let local = 0u8;
    let high = crate::memory::round_up_to_page(name.max(&raw const local as usize));
    let len_bytes = match limit_bytes(Resource::Stack) {
        usize::MAX => UNLIMITED_BYTES,
        bytes => bytes.min(high / 2),
    };
    high - len_bytes..high
}

/// The kernel's id of the calling thread.
pub fn native_id() -> u32 {
    // SAFETY: no preconditions.
    unsafe { libc::gettid() as u32 }
}

/// Names the calling thread for debuggers and `ps`; the kernel keeps 15 bytes.
pub fn set_native_name(name: &str) {
    let mut buffer = [0u8; 16];
    let mut len = name.len().min(15);
    while !name.is_char_boundary(len) {
        len -= 1;
    }
    buffer[..len].copy_from_slice(&name.as_bytes()[..len]);
    // SAFETY: PR_SET_NAME reads at most 16 bytes of the NUL-terminated buffer.
    unsafe { libc::prctl(libc::PR_SET_NAME, buffer.as_ptr(), 0, 0, 0) };
}

/// Lets another thread run.
pub fn yield_now() {
    // SAFETY: no preconditions.
    unsafe { libc::sched_yield() };
}

/// Sends a signal to one thread of this process.
pub fn send_signal(native_id: u32, signal: i32) -> io::Result<()> {
    // SAFETY: tgkill takes no pointers; ids of ended threads give ESRCH.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), native_id as libc::pid_t, signal) };
    crate::error::check(result as i32)
}

/// Sends a signal to one thread of this process, with a value (`FaultContext::value`). rt_tgsigqueueinfo(2).
pub fn queue_signal(native_id: u32, signal: i32, value: usize) -> io::Result<()> {
    let process = std::process::id() as i32;
    let info = ValueInfo {
        signal,
        error: 0,
        code: libc::SI_QUEUE,
        padding: 0,
        timer_or_process: process,
        overruns_or_user: 0,
        value,
        rest: [0; 12],
    };
    // SAFETY: `info` has the size and layout of `siginfo_t`, which the kernel only reads; ids of ended threads give
    // ESRCH.
    let result = unsafe {
        libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, native_id as libc::pid_t, signal, &raw const info)
    };
    crate::error::check(result as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_started_thread_has_the_stack_it_asked_for() {
        let (sender, receiver) = std::sync::mpsc::channel();
        start(None, 2_000_000, move |_| sender.send(stack_bounds().unwrap()).unwrap()).unwrap();
        let bounds = receiver.recv().unwrap();
        assert!((1_900_000..2_100_000).contains(&bounds.len()), "{bounds:x?}");
        assert!(start(None, 1 << 60, |_| ()).is_err());
    }

    #[test]
    fn a_thread_takes_signals_only_between_its_mask_and_the_end_of_its_body() {
        fn is_blocked() -> bool {
            let mut now = MaybeUninit::<libc::sigset_t>::zeroed();
            // SAFETY: a null new mask only queries.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), now.as_mut_ptr()) };
            // SAFETY: zeroed, then filled by the call.
            unsafe { libc::sigismember(now.as_ptr(), libc::SIGUSR1) == 1 }
        }
        struct AtEnd(std::sync::mpsc::Sender<bool>);
        impl Drop for AtEnd {
            fn drop(&mut self) {
                self.0.send(is_blocked()).unwrap();
            }
        }
        thread_local!(static AT_END: std::cell::RefCell<Option<AtEnd>> = const { std::cell::RefCell::new(None) });
        let (sender, receiver) = std::sync::mpsc::channel();
        assert!(!is_blocked());
        start(Some("begun"), 2 << 20, move |mask| {
            AT_END.with(|end| *end.borrow_mut() = Some(AtEnd(sender.clone())));
            sender.send(is_blocked()).unwrap();
            mask.set();
            sender.send(is_blocked()).unwrap();
        })
        .unwrap();
        assert!(!is_blocked());
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [true, false, true]);
        let (sender, receiver) = std::sync::mpsc::channel();
        let service = crate::services::Service::ThreadDump;
        crate::services::machine().start(service, move || sender.send(is_blocked()).unwrap()).unwrap();
        assert_eq!(receiver.recv(), Ok(true));
    }

    #[test]
    fn bounds_hold_the_current_frame() {
        let here = &raw const *"x" as *const u8 as usize;
        let local = 0u8;
        let bounds = stack_bounds().unwrap();
        assert!(bounds.contains(&(&raw const local as usize)) && !bounds.contains(&here));
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let bounds = small.spawn(|| stack_bounds().unwrap()).unwrap().join().unwrap();
        assert!(bounds.len() <= (256 << 10) + 2 * crate::page_size_bytes(), "{bounds:x?}");
    }
}
