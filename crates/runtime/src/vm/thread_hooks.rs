//! The data and resources that a managed thread gets when it attaches, and gives back when it detaches.

use crate::events::{LogEvents, is_logged};
use crate::thread::CurrentThread;
use crate::thread_data::{self, ThreadData};
use crate::{handles, monitors, profile_events, profile_log};
use saki_thread::{ManagedThread, ThreadHooks};
use std::sync::atomic::Ordering;

fn attached(thread: &'static ManagedThread) {
    let data = Box::into_raw(Box::<ThreadData>::default());
    // Relaxed: the thread itself reads it; others only when it is stopped or has ended, which orders it.
    thread.runtime_data.store(data as usize, Ordering::Relaxed);
    handles::bind_thread(thread);
    monitors::bind_thread(thread);
    saki_gc::bind_thread(thread);
    if is_logged(LogEvents::ALWAYS) {
        profile_log::thread_attached(thread);
    }
}

fn detaching(thread: &'static ManagedThread) {
    if is_logged(LogEvents::ALWAYS) {
        profile_log::thread_detaching(thread);
    }
    profile_events::thread_detaching(thread);
    // SAFETY: the thread detaches itself.
    let t = unsafe { CurrentThread::from_abi(thread.abi()) };
    thread_data::of(t).release_thread_objects();
    // Relaxed: as in `attached`.
    let data = thread.runtime_data.swap(0, Ordering::Relaxed) as *mut ThreadData;
    if !data.is_null() {
        // SAFETY: made in `attached`; the thread runs no managed code any more.
        drop(unsafe { Box::from_raw(data) });
    }
}

/// Binds every thread, present and future, to the collector and gives it its data.
pub static HOOKS: ThreadHooks =
    ThreadHooks { attached, detaching, ended_in_native_code: crate::threads::ended_in_native_code };
