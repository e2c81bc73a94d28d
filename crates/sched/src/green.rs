//! The scheduler's part of a green thread.
//!
//! Invariant: records belong to thread structures, which are reused and never freed; so a late `unpark` leaves a stale
//! token at worst. Left out: how the thread parks (`park`).

use crate::park_word::ParkWord;
use saki_fiber::{Context, PooledStack};
use saki_sync::ParkHooks;
use saki_thread::ManagedThread;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64};

pub(crate) type Body = Box<dyn FnOnce(&'static ManagedThread) + Send>;

/// See the module header.
pub(crate) struct Green {
    pub(crate) thread: &'static ManagedThread,
    /// Its saved context; valid while it is suspended.
    pub(crate) context: UnsafeCell<Context>,
    pub(crate) word: ParkWord,
    /// Whether it has run since the mover of stacks last looked, and whether the mover's list has it (`cold`).
    pub(crate) has_run: AtomicBool,
    pub(crate) is_listed: AtomicBool,
    /// When the thread was woken, if there is an observer (`dispatch`), else 0. Relaxed: the carrier that switches to
    /// the thread has seen it become runnable.
    pub(crate) ready_ns: AtomicU64,
    /// None for the main thread, which runs on the stack that the process began with.
    pub(crate) stack: UnsafeCell<Option<PooledStack>>,
    /// The inner part of a stack that has grown.
    pub(crate) inner: UnsafeCell<Option<PooledStack>>,
    /// The size of the inner part; 0 for a stack that does not grow.
    pub(crate) inner_bytes: UnsafeCell<usize>,
    /// The function that it will run, until it begins.
    pub(crate) body: UnsafeCell<Option<Body>>,
}

// SAFETY: the cells are touched by one context at a time: the creator before the thread is runnable, the thread itself,
// the context that runs after it on its carrier, and the mover of stacks while it is parked; run queues and `word`
// order these.
unsafe impl Sync for Green {}
// SAFETY: nothing in the record belongs to the thread that made it: contexts, stacks and bodies (`Send`) go from
// carrier to carrier.
unsafe impl Send for Green {}

impl Green {
    /// The record of `thread`, made if it has none yet; the thread parks by `hooks` then.
    pub(crate) fn of_new(thread: &'static ManagedThread, hooks: &'static ParkHooks) -> &'static Green {
        if let Some(green) = Green::of(thread) {
            return green;
        }
        let green: &'static Green = saki_os::records::keep(Green {
            thread,
            context: UnsafeCell::default(),
            word: ParkWord::default(),
            has_run: AtomicBool::new(false),
            is_listed: AtomicBool::new(false),
            ready_ns: AtomicU64::new(0),
            stack: UnsafeCell::new(None),
            inner: UnsafeCell::new(None),
            inner_bytes: UnsafeCell::new(0),
            body: UnsafeCell::new(None),
        });
        thread.monitor_node().parker.set_hooks(hooks, green.as_pointer());
        green
    }

    /// The record of a green thread.
    #[inline(always)]
    pub(crate) fn of(thread: &ManagedThread) -> Option<&'static Green> {
        // SAFETY: null, or a record from `of_new`.
        unsafe { thread.scheduler_data().cast::<Green>().as_ref() }
    }

    pub(crate) fn as_pointer(&'static self) -> *mut () {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}
