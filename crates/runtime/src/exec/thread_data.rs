//! The runtime's own data of a managed thread, behind `ManagedThread::runtime_data`.

use crate::domain::Domain;
use crate::handles;
use crate::local_blocks::FreedBlocks;
use crate::thread::CurrentThread;
use saki_abi::ObjRef;
use saki_sync::handle_table::{Handle, HandleKind};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;

/// A frame that is inside an exception handler: its frame pointer and the number of the clause in the method.
pub type HandlerFrame = (usize, usize);

/// Read and written by the thread itself only.
#[derive(Default)]
pub struct ThreadData {
    local_blocks: Cell<usize>,
    freed_blocks: FreedBlocks,
    caller_raises_resolve: Cell<bool>,
    catches_at_abort: RefCell<Vec<HandlerFrame>>,
    thread_objects: RefCell<ThreadObjects>,
    domains_entered: RefCell<Vec<&'static Domain>>,
    affinity_depth: Cell<u32>,
}

impl ThreadData {
    /// Set while the binder is called by code that raises AssemblyResolve itself, with the name as the program wrote
    /// it.
    pub fn caller_raises_resolve(&self) -> &Cell<bool> {
        &self.caller_raises_resolve
    }

    /// Calls of `Thread.BeginThreadAffinity` that have not been ended.
    pub fn affinity_depth(&self) -> &Cell<u32> {
        &self.affinity_depth
    }

    /// Head of the thread's `localloc` blocks.
    pub fn local_blocks(&self) -> &Cell<usize> {
        &self.local_blocks
    }

    /// Freed `localloc` blocks.
    pub fn freed_blocks(&self) -> &FreedBlocks {
        &self.freed_blocks
    }

    /// The Thread object that stands for the thread in a domain; null when there is none yet.
    pub fn thread_object(&self, domain: i32) -> ObjRef {
        self.thread_objects.borrow().get(domain)
    }

    /// Domains that the thread has entered and not left, innermost last.
    pub fn domains_entered(&self) -> &RefCell<Vec<&'static Domain>> {
        &self.domains_entered
    }

    /// Keeps the Thread object of a domain that the thread leaves.
    pub fn keep_thread_object(&self, t: CurrentThread, domain: i32, object: ObjRef) {
        self.thread_objects.borrow_mut().set(t, domain, object);
    }

    /// A Thread object that stands for the thread in some other domain.
    pub fn foreign_thread_object(&self) -> ObjRef {
        self.thread_objects.borrow().first()
    }

    /// Forgets the Thread objects, of one domain or of all.
    pub fn release_thread_objects(&self, t: CurrentThread, domain: Option<i32>) {
        self.thread_objects.borrow_mut().release(t, domain);
    }

    /// Catch clauses that frames were in when the abort in flight was thrown.
    pub fn catches_at_abort(&self) -> &RefCell<Vec<HandlerFrame>> {
        &self.catches_at_abort
    }
}

/// The Thread objects of a thread in the domains that it is not in now.
#[derive(Default)]
struct ThreadObjects(Vec<(i32, Handle)>);

impl ThreadObjects {
    /// Null when the thread has none in the domain.
    fn get(&self, domain: i32) -> ObjRef {
        let found = self.0.iter().find(|(id, _)| *id == domain);
        found.and_then(|(_, handle)| handles::target(*handle).ok()).unwrap_or(ObjRef::NULL)
    }

    fn set(&mut self, t: CurrentThread, domain: i32, object: ObjRef) {
        if let Some((_, handle)) = self.0.iter().find(|(id, _)| *id == domain) {
            // A handle of ours is not stale.
            let _ = handles::set_target(*handle, object);
        } else if !object.is_null()
            && let Some(handle) = handles::allocate(t, HandleKind::Normal, object)
        {
            // Handles of domains that were unloaded since are stale.
            self.0.retain(|(_, handle)| handles::target(*handle).is_ok());
            self.0.push((domain, handle));
        }
    }

    /// Any of them.
    fn first(&self) -> ObjRef {
        self.0.iter().find_map(|(_, handle)| handles::target(*handle).ok()).unwrap_or(ObjRef::NULL)
    }

    /// Gives the handles back, of one domain or of all.
    fn release(&mut self, t: CurrentThread, domain: Option<i32>) {
        self.0.retain(|(id, handle)| {
            let goes = domain.is_none_or(|domain| domain == *id);
            if goes {
                let _ = handles::free(t, *handle);
            }
            !goes
        });
    }
}

/// The current thread's data.
pub fn of(t: CurrentThread) -> &'static ThreadData {
    // Relaxed: written by this thread when it attached.
    let address = t.managed().runtime_data.load(Ordering::Relaxed);
    debug_assert_ne!(address, 0, "the thread was attached before the runtime's hooks");
    // SAFETY: a leaked box of this thread, freed when it detaches.
    unsafe { &*(address as *const ThreadData) }
}
