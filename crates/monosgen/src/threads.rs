//! `mono/metadata/threads.h`: threads. A `MonoThread` is a System.Threading.Thread object.

use crate::call::{call, call_managed, call_quietly, some};
use crate::domains::mono_domain_set;
use crate::text::given;
use crate::thread_control::mono_threads_get_default_stacksize;
use saki_abi::ObjRef;
use saki_runtime::object::{exceptions, handles};
use saki_runtime::vm::domains::Domain;
use saki_runtime::vm::{host_profiler, host_threads, thread_names};
use saki_runtime::{CurrentThread, Obj, Word};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_thread::ThreadKind;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// The calling thread's object.
#[unsafe(no_mangle)]
pub extern "C" fn mono_thread_current() -> ObjRef {
    call_managed("mono_thread_current", |t| Ok(host_threads::current_object(t)?.word()))
}

/// Makes the calling thread managed, in the domain; its object.
#[unsafe(no_mangle)]
pub extern "C" fn mono_thread_attach(domain: Option<&'static Domain>) -> ObjRef {
    if let Some(domain) = domain {
        mono_domain_set(domain, 0);
    }
    mono_thread_current()
}

/// Ends the managed thread of the calling thread, if that is what the object stands for. The main thread stays, as do
/// threads that managed code has called the host's code on.
///
/// # Safety
/// `thread` is a Thread object; the host holds no addresses of objects on the calling thread's stack any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_detach(thread: ObjRef) {
    const FUNCTION: &str = "mono_thread_detach";
    let may_end = call_quietly(FUNCTION, |t| {
        let is_own = thread.is_null() || host_threads::current_object(t)?.word() == thread;
        let is_attached = t.managed().kind() == ThreadKind::Background && t.exit_frame() == 0;
        Ok(c_int::from(is_own && is_attached))
    });
    if may_end != 0 {
        call(FUNCTION, |_| host_profiler::thread_ended());
        saki_thread::detach_current();
    }
}

/// Threads are not ended by the machine's end: 0.
#[unsafe(no_mangle)]
pub extern "C" fn mono_thread_detach_if_exiting() -> c_int {
    0
}

/// The handle of the object that [`mono_thread_set_main`] was given; 0 = none. Relaxed: the handle's table orders what
/// it leads to.
static MAIN: AtomicU32 = AtomicU32::new(0);

/// Sets what [`mono_thread_get_main`] gives.
///
/// # Safety
/// `thread` is a Thread object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_set_main(thread: ObjRef) {
    const FUNCTION: &str = "mono_thread_set_main";
    call_managed(FUNCTION, |t| {
        // SAFETY: the host's object.
        let thread = unsafe { some(FUNCTION, thread) };
        let handle = handles::allocate(t, HandleKind::Normal, thread).ok_or_else(|| exceptions::out_of_memory(t))?;
        let before = MAIN.swap(handle.bits(), Ordering::Relaxed);
        if let Some(before) = Handle::from_bits(before) {
            // The handle was this file's alone.
            let _ = handles::free(t, before);
        }
        Ok(())
    });
}

/// The object of the main thread: the one that was set, or that of the thread that started the machine.
#[unsafe(no_mangle)]
pub extern "C" fn mono_thread_get_main() -> ObjRef {
    call("mono_thread_get_main", |t| {
        let set = Handle::from_bits(MAIN.load(Ordering::Relaxed));
        let set = set.and_then(|handle| Obj::of_handle(t, handle).ok().flatten());
        set.or_else(|| host_threads::main_object(t)).word()
    })
}

/// The thread's name, for `mono_free`; null if it has none.
///
/// # Safety
/// `thread` is a Thread object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_get_name_utf8(thread: ObjRef) -> *mut c_char {
    const FUNCTION: &str = "mono_thread_get_name_utf8";
    call_quietly(FUNCTION, |t| {
        // SAFETY: the host's object.
        let internal = host_threads::internal_of(t, unsafe { some(FUNCTION, thread) })?;
        Ok(thread_names::name_of(internal).map_or(ptr::null_mut(), |name| given(name.as_bytes())))
    })
}

/// `Thread.ManagedThreadId`.
///
/// # Safety
/// `thread` is a Thread object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_get_managed_id(thread: ObjRef) -> i32 {
    const FUNCTION: &str = "mono_thread_get_managed_id";
    // SAFETY: the host's object.
    call_quietly(FUNCTION, |t| host_threads::managed_id(t, unsafe { some(FUNCTION, thread) }))
}

/// The host's function and its data, on the way to another thread.
struct Start(unsafe extern "C" fn(*mut c_void) -> *mut c_void, *mut c_void);

// SAFETY: the host gives both to another thread.
unsafe impl Send for Start {}

/// Starts a managed thread that calls the host's function.
///
/// # Safety
/// The function may be called with `data` on another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_create(
    domain: Option<&'static Domain>,
    function: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    data: *mut c_void,
) {
    const FUNCTION: &str = "mono_thread_create";
    let start = Start(function, data);
    let stack_bytes = mono_threads_get_default_stacksize() as usize;
    call_managed(FUNCTION, |t| {
        let started = saki_thread::spawn(ThreadKind::Foreground, None, stack_bytes, move |thread| {
            let start = start;
            // SAFETY: the thread just attached.
            host_profiler::thread_started(unsafe { CurrentThread::from_abi(thread.abi()) });
            // SAFETY: the thread is RUNNING; the frames above hold no references.
            unsafe { saki_thread::enter_native(thread.abi()) };
            if let Some(domain) = domain {
                mono_domain_set(domain, 0);
            }
            // SAFETY: the host's function and its data.
            unsafe { start.0(start.1) };
            // SAFETY: `enter_native` above.
            unsafe { saki_thread::leave_native(thread.abi()) };
            host_profiler::thread_ended();
        });
        started.map(drop).map_err(|_| exceptions::out_of_memory(t))
    });
}

/// Stacks of all threads go to standard error.
#[unsafe(no_mangle)]
pub extern "C" fn mono_threads_request_thread_dump() {
    let dump = call("mono_threads_request_thread_dump", |_| saki_runtime::vm::thread_dump::all());
    saki_base::tell!("{dump}");
}

/// Makes the calling thread managed.
#[unsafe(no_mangle)]
pub extern "C" fn mono_threads_attach_tools_thread() {
    call("mono_threads_attach_tools_thread", |_| ());
}
