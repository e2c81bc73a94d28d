//! The calling OS thread: stack bounds, id, name, yielding; starting one.
//!
//! Invariant: reports facts about the caller only. Left out: managed threads.

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;

type Body = Box<dyn FnOnce() + Send>;

extern "C" fn run_body(body: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: `start` leaked this box for the one thread that runs here.
    let body: Box<Body> = unsafe { Box::from_raw(body.cast()) };
    body();
    std::ptr::null_mut()
}

/// Starts a detached OS thread with a stack of about this size. The standard library's threads map an alternate signal stack
/// when they begin and end the process where the system has no room for it; all that these need is there before they begin.
/// A panic out of `body` ends the process.
///
/// Errors: the system's, when it has no room for another thread.
pub fn start(stack_size_bytes: usize, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let check = |error| if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) };
    let body: Box<Body> = Box::new(Box::new(body));
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: `attributes` is writable; the call initialises it when it returns 0.
    check(unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) })?;
    // SAFETY: initialised above.
    let mut attributes = unsafe { attributes.assume_init() };
    // SAFETY: as above.
    unsafe { libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED) };
    let size_bytes = crate::memory::round_up_to_page(stack_size_bytes.min(usize::MAX / 2));
    // SAFETY: as above.
    let mut result = check(unsafe { libc::pthread_attr_setstacksize(&mut attributes, size_bytes) });
    if result.is_ok() {
        let body = Box::into_raw(body);
        let mut id = MaybeUninit::<libc::pthread_t>::uninit();
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

/// Addresses of the calling thread's stack, guard pages excluded. For the main thread the low end follows the stack
/// limit (`ulimit -s`); the memory there may not be mapped yet.
pub fn stack_bounds() -> io::Result<Range<usize>> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: `attributes` is writable; the call initialises it when it returns 0.
    let error = unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    // SAFETY: initialised by the call above.
    let mut attributes = unsafe { attributes.assume_init() };
    let (mut low, mut len_bytes, mut guard_bytes) = (std::ptr::null_mut(), 0usize, 0usize);
    // SAFETY: all three are writable locals, `attributes` is initialised.
    let error = unsafe { libc::pthread_attr_getstack(&attributes, &mut low, &mut len_bytes) };
    // SAFETY: as above.
    unsafe { libc::pthread_attr_getguardsize(&attributes, &mut guard_bytes) };
    // SAFETY: initialised and not used again.
    unsafe { libc::pthread_attr_destroy(&mut attributes) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    let low = low as usize;
    let is_main = native_id() == std::process::id();
    // glibc ≥ 2.27 keeps the guard outside of the reported stack; older ones put it inside.
    let low_usable = if is_main { low } else { low + guard_bytes.min(len_bytes / 4) };
    Ok(low_usable..low + len_bytes)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_started_thread_has_the_stack_it_asked_for() {
        let (sender, receiver) = std::sync::mpsc::channel();
        start(2_000_000, move || sender.send(stack_bounds().unwrap()).unwrap()).unwrap();
        let bounds = receiver.recv().unwrap();
        assert!((1_900_000..2_100_000).contains(&bounds.len()), "{bounds:x?}");
        assert!(start(1 << 60, || ()).is_err());
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
