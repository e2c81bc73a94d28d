//! Names of threads: a boxed string in the InternalThread, for the class library; a copy in the `ManagedThread`, for
//! reports; and the system's name of the native thread. A program may set a name once, also before it starts the
//! thread.

use crate::fields::ManagedField;
use crate::host_events::{HostEvent, tell_if_wanted};
use crate::references::Obj;
use crate::thread_objects::{self, state};
use saki_base::locks::{Mutex, MutexGuard, rank};
use saki_thread::ManagedThread;
use saki_types::LibraryType;

/// The native part of a thread's name: a boxed string, null = none.
static NAME: ManagedField = ManagedField::new(LibraryType::InternalThread, "name_chars");
/// Whether the program has set the name, which it may do once.
static IS_NAMED: ManagedField = ManagedField::new(LibraryType::InternalThread, "name_free");
/// Guards every thread's name; held for a copy, never at a safepoint.
static NAMES: Mutex<rank::ThreadNames, ()> = Mutex::new(());

/// Takes the lock. Where the fields lie must be known before: finding it out takes the loader lock.
fn lock() -> MutexGuard<'static, rank::ThreadNames, ()> {
    let _ = (NAME.offset_bytes(), IS_NAMED.offset_bytes());
    NAMES.lock()
}

/// The name in an InternalThread.
pub fn name_of(internal: Obj) -> Option<String> {
    let _guard = lock();
    let name = NAME.get::<*const String>(internal);
    // SAFETY: null or a box from `replace`, not freed while the lock is held.
    (!name.is_null()).then(|| unsafe { (*name).clone() })
}

/// Sets a thread's name. `by_program`: only once, and reports false the second time.
pub fn replace(internal: Obj, name: Option<&str>, by_program: bool) -> bool {
    {
        if name.is_some() {
            thread_objects::register(internal);
        }
        let _guard = lock();
        if by_program && IS_NAMED.get::<i32>(internal) != 0 {
            return false;
        }
        let new = name.map_or(std::ptr::null_mut(), |name| Box::into_raw(Box::new(name.to_owned())));
        let old = NAME.get::<*mut String>(internal);
        NAME.set(internal, new);
        IS_NAMED.set(internal, i32::from(by_program && name.is_some()));
        free_box(old);
    }
    if let Some(managed) = thread_objects::thread_of(internal) {
        managed.set_name(name);
        if let Some(name) = name.filter(|_| thread_objects::state_of(internal) & state::STOPPED == 0) {
            show(managed, name);
            if managed.is_attached() {
                tell_if_wanted(HostEvent::ThreadNamed(managed.managed_id(), name));
            }
        }
    }
    true
}

/// Frees the name of an unreachable InternalThread.
pub fn free(internal: Obj) {
    let _guard = NAMES.lock();
    let name = NAME.get::<*mut String>(internal);
    NAME.set(internal, std::ptr::null_mut::<String>());
    free_box(name);
}

fn free_box(name: *mut String) {
    if !name.is_null() {
        // SAFETY: a box from `replace`, taken out of the object by the caller, under the lock.
        drop(unsafe { Box::from_raw(name) });
    }
}

/// To be called when a thread begins: gives it the name of its object.
pub(crate) fn adopt(managed: &ManagedThread, internal: Obj) {
    if let Some(name) = name_of(internal) {
        managed.set_name(Some(&name));
        show(managed, &name);
    }
}

/// Shows the name to the system's tools, which keep 15 bytes of it.
fn show(thread: &ManagedThread, name: &str) {
    const MAX_NAME_BYTES: usize = 15;
    let mut end = name.len().min(MAX_NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    // A green thread does not change its carrier's name.
    if !thread.is_green() && thread.native_id() != 0 {
        // The name only helps debugging, so errors are ignored.
        let _ = std::fs::write(format!("/proc/self/task/{}/comm", thread.native_id()), &name[..end]);
    }
}
