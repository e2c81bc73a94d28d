//! What happens in the machine, for the profiler of an embedding host (`HostEvents::profiler`).
//!
//! A host says which kinds it wants (`set_wanted`); each place where something happens looks at one word, and tells
//! only what is wanted. The host's function runs on the thread where it happens, in the state that the thread is in:
//! collections wait for it, and no object moves meanwhile. Events of a collection come on a collector thread, while the
//! world is stopped.
//!
//! Invariant: an event that is not wanted costs a load and a branch. Left out: Saki's own profiler and Mono's log
//! (`events`), which listen at the same places.

use crate::domain::Domain;
use crate::references::Obj;
use crate::upcalls::upcalls;
use saki_abi::ObjRef;
use saki_sync::handle_table::Handle;
use saki_types::{Assembly, Method, Ty};
use std::sync::atomic::{AtomicU64, Ordering};

/// A step of a collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectionStep {
    /// Threads are about to be stopped.
    BeforeStop,
    /// The world is stopped, and the collection begins.
    Begin,
    /// The collection is over; the world is stopped.
    End,
    /// Threads run again.
    AfterStop,
}

/// The part of a clause that is about to run, as metadata numbers kinds of clauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum ClausePart {
    /// A handler of a catch or filter clause.
    Catch = 0,
    /// The expression of a filter clause.
    Filter = 1,
    Finally = 2,
    Fault = 4,
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident $(($($ty:ty),*))?,)*) => {
        /// A kind of event: its number is that of its bit.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum HostEventKind {
            $($(#[$doc])* $name,)*
        }

        /// Something that has happened.
        pub enum HostEvent<'t> {
            $($(#[$doc])* $name $(($($ty),*))?,)*
            /// Not told: binds the lifetime.
            #[doc(hidden)]
            Never(std::convert::Infallible, Obj<'t>),
        }

        impl HostEvent<'_> {
            /// Its kind.
            pub fn kind(&self) -> HostEventKind {
                match self {
                    $(HostEvent::$name { .. } => HostEventKind::$name,)*
                    HostEvent::Never(never, _) => match *never {},
                }
            }
        }
    };
}

events! {
    /// A domain is made: it has no assemblies of its own yet.
    DomainLoading(&'static Domain),
    DomainLoaded(&'static Domain),
    DomainUnloading(&'static Domain),
    /// The domain's records are about to be freed.
    DomainUnloaded(&'static Domain),
    /// The domain has got its name.
    DomainNamed(&'static Domain),
    /// An assembly was loaded, with its manifest's image.
    AssemblyLoaded(&'static Assembly),
    /// An assembly's records are about to be freed.
    AssemblyUnloaded(&'static Assembly),
    /// A type's record was made; its parent is not known yet.
    TypeLoading(Ty),
    TypeLoaded(Ty),
    /// The type's parent cannot be loaded.
    TypeFailed(Ty),
    VTableLoading(Ty),
    VTableLoaded(Ty),
    VTableFailed(Ty),
    /// A method is about to be compiled.
    CompilationBegins(&'static Method),
    CompilationFailed(&'static Method),
    /// A body that begins at this address can be called.
    Compiled(&'static Method, usize),
    /// A method is about to be freed.
    MethodFreed(&'static Method),
    /// The machine or a host calls a method.
    InvocationBegins(&'static Method),
    InvocationEnds(&'static Method),
    /// An exception is thrown, perhaps again.
    Thrown(Obj<'t>),
    /// A clause of the method, by its number, is about to run.
    ClauseEntered(&'static Method, u32, ClausePart, Option<Obj<'t>>),
    /// The flag: old objects are collected, too.
    Collection(CollectionStep, bool),
    /// The heap has this many bytes after a collection that has changed them.
    HeapResized(usize),
    /// A collection has moved objects: addresses before and after.
    ObjectsMoved(&'t [(usize, usize)]),
    HandleCreated(Handle, ObjRef),
    HandleFreed(Handle),
    FinalizersBegin,
    FinalizersEnd,
    FinalizerBegins(Obj<'t>),
    FinalizerEnds(Obj<'t>),
    /// Another thread has the lock of the object.
    LockContended(Obj<'t>),
    /// The lock for which the thread has waited is its own.
    LockAcquired(Obj<'t>),
    /// The thread waits for the lock no longer.
    LockFailed(Obj<'t>),
    /// The calling thread is managed from now on.
    ThreadStarted,
    /// The calling thread runs no managed code any more.
    ThreadStopping,
    ThreadStopped,
    ThreadExited,
    /// The thread with this managed id has got a name.
    ThreadNamed(u32, &'t str),
    /// The object has its length and no other content.
    Allocated(Obj<'t>),
    /// The program has made a remoting context.
    ContextMade(Obj<'t>),
    /// A remoting context is finalized.
    ContextReleased(Obj<'t>),
    /// A method with a probe is called. The address of its arguments' rooms (`vm::host_probes`); 0 = not wanted.
    MethodEntered(&'static Method, usize),
    /// A method with a probe returns. The address of the rooms of its arguments and its result; 0 = not wanted.
    MethodLeft(&'static Method, usize),
    /// A method with a probe ends by a call of another one, if that is known.
    MethodTailCalls(&'static Method, Option<&'static Method>),
    /// An exception leaves a method with a probe.
    MethodLeftByException(&'static Method, Option<Obj<'t>>),
    /// Not told: code is compiled with the probes that `HostEvents::probes` says.
    Probes,
    /// Not told: code is compiled so that it tells of finally clauses that no exception enters.
    ClausesLeft,
}

/// The wanted kinds, as bits. Relaxed: a thread that sees a change late tells an event more or less.
static WANTED: AtomicU64 = AtomicU64::new(0);

/// Whether the host wants events of this kind.
#[inline(always)]
pub fn is_wanted(kind: HostEventKind) -> bool {
    WANTED.load(Ordering::Relaxed) & (1 << kind as u8) != 0
}

/// Whether the host wants any events.
#[inline(always)]
pub fn are_any_wanted() -> bool {
    WANTED.load(Ordering::Relaxed) != 0
}

/// Makes exactly these kinds wanted: bits by the kinds' numbers. May be called before there is a machine.
pub fn set_wanted(kinds: u64) {
    WANTED.store(kinds, Ordering::Relaxed);
}

/// Tells the host of something that it wants to know.
#[cold]
#[inline(never)]
pub fn tell(event: HostEvent<'_>) {
    upcalls().tell_host(event);
}

/// Tells the host, if it wants that.
#[inline(always)]
pub fn tell_if_wanted(event: HostEvent<'_>) {
    if is_wanted(event.kind()) {
        tell(event);
    }
}
