//! The runtime's own data of a managed thread, behind `ManagedThread::runtime_data`.

use crate::domain::Domain;
use crate::handles::RootedHandle;
use crate::host_events::HostEventKind;
use crate::local_blocks::FreedBlocks;
use crate::references::Obj;
use crate::thread::CurrentThread;
use saki_sampler::allocations::Recorder;
use saki_sync::handle_table::HandleKind;
use saki_thread::ManagedThread;
use saki_types::Ty;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::atomic::Ordering;

/// A frame that is inside an exception handler: its frame pointer and the number of the clause in the method.
pub type HandlerFrame = (usize, usize);

/// Read and written by the thread itself only, but for `Recorder`s (`saki_sampler::allocations`).
#[derive(Default)]
pub struct ThreadData {
    pub(crate) allocations_of_log: OnceCell<Box<Recorder>>,
    pub(crate) allocations_of_session: OnceCell<Box<Recorder>>,
    /// For `vm::host_profiler`.
    pub(crate) types_to_tell: RefCell<Vec<(HostEventKind, Ty)>>,
    local_blocks: Cell<usize>,
    freed_blocks: FreedBlocks,
    caller_raises_resolve: Cell<bool>,
    catches_at_abort: RefCell<Vec<HandlerFrame>>,
    thread_objects: RefCell<ThreadObjects>,
    domains_entered: RefCell<Vec<&'static Domain>>,
    affinity_depth: Cell<u32>,
    activity_id: Cell<[u8; 16]>,
    host_result: RefCell<Option<RootedHandle>>,
}

impl ThreadData {
    /// Set while the binder is called by code that raises AssemblyResolve itself, with the name as the program wrote
    /// it.
    pub fn caller_raises_resolve(&self) -> &Cell<bool> {
        &self.caller_raises_resolve
    }

    /// The activity that events of the thread belong to, as a Guid; 0 at first.
    pub fn activity_id(&self) -> &Cell<[u8; 16]> {
        &self.activity_id
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

    /// The Thread object that stands for the thread in a domain; None when there is none yet.
    pub fn thread_object<'t>(&self, t: CurrentThread<'t>, domain: i32) -> Option<Obj<'t>> {
        self.thread_objects.borrow().get(t, domain)
    }

    /// Domains that the thread has entered and not left, innermost last.
    pub fn domains_entered(&self) -> &RefCell<Vec<&'static Domain>> {
        &self.domains_entered
    }

    /// Keeps the Thread object of a domain that the thread leaves.
    pub fn keep_thread_object(&self, t: CurrentThread, domain: i32, object: Option<Obj>) {
        self.thread_objects.borrow_mut().set(t, domain, object);
    }

    /// A Thread object that stands for the thread in some other domain.
    pub fn foreign_thread_object<'t>(&self, t: CurrentThread<'t>) -> Option<Obj<'t>> {
        self.thread_objects.borrow().first(t)
    }

    /// Keeps in place the object that a function of the host returns, until its next one: the thread is in native code
    /// on the way back to managed code, which has the object then.
    pub fn keep_host_result(&self, t: CurrentThread, object: Obj) {
        self.host_result.replace(RootedHandle::try_new(t, HandleKind::Pinned, Some(object)));
    }

    /// Forgets the Thread objects of all domains.
    pub fn release_thread_objects(&self) {
        drop(self.thread_objects.take());
    }

    /// Catch clauses that frames were in when the abort in flight was thrown.
    pub fn catches_at_abort(&self) -> &RefCell<Vec<HandlerFrame>> {
        &self.catches_at_abort
    }
}

/// The Thread objects of a thread in the domains that it is not in now.
#[derive(Default)]
struct ThreadObjects(Vec<(i32, RootedHandle)>);

impl ThreadObjects {
    fn handle(&self, domain: i32) -> Option<&RootedHandle> {
        self.0.iter().find(|(id, _)| *id == domain).map(|(_, handle)| handle)
    }

    fn get<'t>(&self, t: CurrentThread<'t>, domain: i32) -> Option<Obj<'t>> {
        self.handle(domain)?.target(t)
    }

    fn set(&mut self, t: CurrentThread, domain: i32, object: Option<Obj>) {
        if let Some(handle) = self.handle(domain) {
            handle.set_target(object);
        } else if let Some(object) = object
            && let Some(handle) = RootedHandle::try_new(t, HandleKind::Normal, Some(object))
        {
            self.0.retain(|(_, handle)| !handle.is_unloaded());
            self.0.push((domain, handle));
        }
    }

    /// The first of the objects.
    fn first<'t>(&self, t: CurrentThread<'t>) -> Option<Obj<'t>> {
        self.0.iter().find_map(|(_, handle)| handle.target(t))
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
/// The data of the current thread or of a stopped one. None for a thread that has not attached yet or has detached.
pub(crate) fn of_managed(thread: &ManagedThread) -> Option<&ThreadData> {
    // Relaxed: written by the thread itself, whose stop orders it.
    let address = thread.runtime_data.load(Ordering::Relaxed);
    // SAFETY: null, or a leaked box of this thread, which frees it between two safepoints.
    unsafe { (address as *const ThreadData).as_ref() }
}
