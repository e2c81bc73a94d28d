//! `mono/metadata/threads.h`: threads that are ended and waited for.

use crate::call::{call, call_managed, call_quietly, some};
use crate::host_functions::{self, ManageCallback};
use saki_abi::ObjRef;
use saki_runtime::Word;
use saki_runtime::vm::{exit_code, host_threads};
use saki_thread::ThreadKind;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

/// Mono prepares the data of its compiler here. Saki prepares a thread when it attaches: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_thread_new_init(_id: isize, _stack: *const c_void, _function: *const c_void) {}

/// The machine's end cleans up: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_thread_cleanup() {}

unsafe extern "C-unwind" {
    /// Unwinds the host's frames.
    fn pthread_exit(result: *mut c_void) -> !;
}

/// Ends the calling thread, or the process on the main thread, with the exit code of the environment.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn mono_thread_exit() -> ! {
    let code = call("mono_thread_exit", |t| (t.managed().kind() == ThreadKind::Main).then(exit_code));
    match code {
        // SAFETY: the thread is in native code, as any code of the host's that calls `exit`.
        Some(code) => unsafe { libc::exit(code) },
        // SAFETY: the thread is in native code; no frame of this library needs to be cleaned up. Its end is noticed as
        // that of any thread of the host's that ends.
        None => unsafe { pthread_exit(std::ptr::null_mut()) },
    }
}

/// Aborts a thread, as `Thread.Abort`.
///
/// # Safety
/// `thread` is a Thread object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_stop(thread: ObjRef) {
    const FUNCTION: &str = "mono_thread_stop";
    // SAFETY: the host's object.
    call_managed(FUNCTION, |t| host_threads::abort(t, unsafe { some(FUNCTION, thread) }));
}

/// Whether the machine did not start the thread: a host's, or the one that started the machine.
///
/// # Safety
/// `thread` is a Thread object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_is_foreign(thread: ObjRef) -> c_int {
    const FUNCTION: &str = "mono_thread_is_foreign";
    // SAFETY: the host's object.
    call_quietly(FUNCTION, |t| Ok(c_int::from(host_threads::is_foreign(t, unsafe { some(FUNCTION, thread) })?)))
}

/// Has the host's function asked by [`mono_thread_manage`] whether it shall wait for this thread; null: it waits.
///
/// # Safety
/// `thread` is a Thread object; the function may be called with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_set_manage_callback(thread: ObjRef, callback: Option<ManageCallback>) {
    const FUNCTION: &str = "mono_thread_set_manage_callback";
    // SAFETY: the host's object.
    let id = call_quietly(FUNCTION, |t| host_threads::managed_id(t, unsafe { some(FUNCTION, thread) }));
    host_functions::with(|functions| match callback {
        Some(callback) => drop(functions.manage_callbacks.insert(id, callback)),
        None => drop(functions.manage_callbacks.remove(&id)),
    });
}

/// The ids of foreground threads but the calling one.
fn foreground_threads() -> Vec<u32> {
    let mut ids = Vec::new();
    let own = saki_thread::current();
    saki_thread::for_each_thread(|thread| {
        let is_own = own.is_some_and(|own| std::ptr::eq(own, thread));
        if thread.kind() == ThreadKind::Foreground && !is_own {
            ids.push(thread.managed_id());
        }
    });
    ids
}

/// Waits until all foreground threads but the calling one have ended, and but those for which a function of
/// [`mono_thread_set_manage_callback`] gives 0.
#[unsafe(no_mangle)]
pub extern "C" fn mono_thread_manage() {
    const FUNCTION: &str = "mono_thread_manage";
    let mut left_out: Vec<u32> = Vec::new();
    loop {
        let callbacks = host_functions::with(|functions| functions.manage_callbacks.clone());
        if callbacks.is_empty() {
            return call(FUNCTION, |_| saki_thread::wait_for_foreground_threads());
        }
        let next = call(FUNCTION, |_| foreground_threads().into_iter().find(|id| !left_out.contains(id)));
        let Some(id) = next else { return };
        // A thread that has no object yet has no function either.
        let (object, number) = call_quietly(FUNCTION, |t| match host_threads::object_of(t, id) {
            Some(object) => Ok(Some((object.word(), host_threads::managed_id(t, object)?))),
            None => Ok(None),
        })
        .unwrap_or((ObjRef::NULL, 0));
        if let Some(callback) = callbacks.get(&number) {
            // SAFETY: the host's function, and an object that this frame holds.
            if unsafe { callback(object) } == 0 {
                left_out.push(id);
                continue;
            }
        }
        call(FUNCTION, |_| saki_thread::find_thread(id).is_some_and(|thread| thread.join(None)));
    }
}

/// Bytes of the stacks of threads that are started without a size; 0 = the machine's choice. Relaxed: it orders
/// nothing.
static DEFAULT_STACK_BYTES: AtomicU32 = AtomicU32::new(0);

/// Sets the size in bytes of the stacks of threads that [`crate::threads::mono_thread_create`] starts; 0 = the
/// machine's choice, which those that programs start always get.
#[unsafe(no_mangle)]
pub extern "C" fn mono_threads_set_default_stacksize(bytes: u32) {
    DEFAULT_STACK_BYTES.store(bytes, Ordering::Relaxed);
}

/// What [`mono_threads_set_default_stacksize`] has set.
#[unsafe(no_mangle)]
pub extern "C" fn mono_threads_get_default_stacksize() -> u32 {
    DEFAULT_STACK_BYTES.load(Ordering::Relaxed)
}
