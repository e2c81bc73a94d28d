//! What embedding hosts ask of threads' objects.

use crate::abort_requests;
use crate::object::thread::{CurrentThread, Managed};
use crate::references::Obj;
use crate::thread_objects;
use saki_thread::{ManagedThread, ThreadKind};

/// The current thread's Thread object; made now if it has none.
///
/// # Errors
/// OutOfMemoryException.
pub fn current_object<'t>(t: CurrentThread<'t>) -> Managed<Obj<'t>> {
    thread_objects::current_object(t)
}

/// The InternalThread of a Thread object.
///
/// # Errors
/// OutOfMemoryException.
pub fn internal_of<'t>(t: CurrentThread<'t>, thread: Obj<'t>) -> Managed<Obj<'t>> {
    thread_objects::internal_of(t, thread)
}

/// `Thread.ManagedThreadId`.
///
/// # Errors
/// OutOfMemoryException.
pub fn managed_id(t: CurrentThread, thread: Obj) -> Managed<i32> {
    Ok(thread_objects::MANAGED_ID.get(thread_objects::internal_of(t, thread)?))
}

/// The object of the thread that started the machine; None in a domain where it has none.
pub fn main_object<'t>(t: CurrentThread<'t>) -> Option<Obj<'t>> {
    let mut main = None;
    saki_thread::for_each_thread(|thread| {
        if thread.kind() == ThreadKind::Main {
            main = Some(thread);
        }
    });
    thread_objects::object_here(t, main?)
}

/// The object of the thread with this managed id; None in a domain where it has none.
pub fn object_of<'t>(t: CurrentThread<'t>, id: u32) -> Option<Obj<'t>> {
    thread_objects::object_here(t, saki_thread::find_thread(id)?.as_static())
}

/// `Thread.Abort`.
///
/// # Errors
/// ThreadAbortException when the thread aborts itself; OutOfMemoryException.
pub fn abort<'t>(t: CurrentThread<'t>, thread: Obj<'t>) -> Managed<()> {
    abort_requests::abort(t, thread_objects::internal_of(t, thread)?, None)
}

/// Whether the machine did not start the thread, but found it.
///
/// # Errors
/// OutOfMemoryException.
pub fn is_foreign<'t>(t: CurrentThread<'t>, thread: Obj<'t>) -> Managed<bool> {
    let internal = thread_objects::internal_of(t, thread)?;
    Ok(thread_objects::thread_of(internal).is_some_and(ManagedThread::is_foreign))
}
