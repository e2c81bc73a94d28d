//! Who is inside the machine: runs of the host's threads, attachments, and the host's functions that managed code
//! calls.
//!
//! Invariant: once the machine's end has begun, no thread begins a run from outside; a function of the host that
//! managed code calls may still call back, since its thread is inside already.

use saki_interop::reverse_calls::ReverseCall;
use saki_runtime::CurrentThread;
use saki_sync::WaitWord;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

/// Why the machine does not do what a host asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The machine has ended, or is about to.
    Ended,
    /// The machine cannot be ended inside a run, or by a function that managed code calls.
    InsideRun,
    /// The calling thread is at its end, and its thread-local storage gone: in a destructor of a thread-local variable,
    /// or at the process's exit.
    ThreadEnds,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Ended => "the machine has ended",
            Refused::InsideRun => "a machine cannot be ended inside a run",
            Refused::ThreadEnds => "the thread is at its end",
        })
    }
}

impl std::error::Error for Refused {}

/// How many threads are in a run, and `ENDED`. A thread adds itself first and looks for `ENDED` then (AcqRel); the
/// thread that ends the machine sets `ENDED` (AcqRel) and waits until no other thread is left (Acquire, which pairs
/// with the Release of those that leave).
pub(crate) struct Runs(WaitWord);

/// In `Runs`: the machine has ended, or is about to.
const ENDED: u32 = 1 << 31;

thread_local! {
    /// Runs that the thread is in, one in the other, and calls of the host's functions.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Attachments of the thread.
    static ATTACHMENTS: Cell<usize> = const { Cell::new(0) };
    /// Whether one of them lasts until the thread ends.
    static IS_KEPT: Cell<bool> = const { Cell::new(false) };
}

/// Whether the thread is in a run, or managed code has called a function of the host on it.
pub(crate) fn is_inside() -> bool {
    DEPTH.get() > 0
}

impl Runs {
    pub(crate) fn new() -> Runs {
        Runs(WaitWord::new(0))
    }

    /// Whether runs may begin.
    pub(crate) fn are_possible(&self) -> bool {
        // Acquire: pairs with the change of `end`, though nothing is read after it.
        self.0.load(Ordering::Acquire) & ENDED == 0
    }

    /// Lets no run begin any more, and waits for those that have.
    pub(crate) fn end(&self) {
        // AcqRel, and Acquire: see the type.
        self.0.atomic().fetch_or(ENDED, Ordering::AcqRel);
        loop {
            let now = self.0.load(Ordering::Acquire);
            if now == ENDED {
                break;
            }
            self.0.wait(now, None);
        }
    }

    fn leave(&self) {
        // Release: the thread that ends the machine sees what the run has done.
        if self.0.atomic().fetch_sub(1, Ordering::Release) == ENDED + 1 {
            self.0.wake_all();
        }
    }
}

/// A thread is in a run.
pub(crate) struct Entered<'s>(&'s Runs);

impl Entered<'_> {
    pub(crate) fn new(runs: &Runs) -> Result<Entered<'_>, Refused> {
        let depth = DEPTH.get();
        if depth == 0 {
            if !is_attached() && !saki_thread::may_attach() {
                return Err(Refused::ThreadEnds);
            }
            // AcqRel: see `Runs`.
            let before = runs.0.atomic().fetch_add(1, Ordering::AcqRel);
            if before & ENDED != 0 {
                runs.leave();
                return Err(Refused::Ended);
            }
        }
        DEPTH.set(depth + 1);
        Ok(Entered(runs))
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() == 0 {
            self.0.leave();
        }
    }
}

/// Managed code has called a function of the host: runs in it lie inside the machine. The thread is pinned to its OS
/// thread for as long, so that the depth is this call's alone.
pub(crate) struct InFunction;

impl InFunction {
    pub(crate) fn new() -> InFunction {
        DEPTH.set(DEPTH.get() + 1);
        InFunction
    }
}

impl Drop for InFunction {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// The thread is RUNNING, and goes back when this is dropped; one without attachment is forgotten then.
pub(crate) struct Inside {
    call: Option<ReverseCall>,
    pub(crate) t: CurrentThread<'static>,
    is_foreign: bool,
}

impl Inside {
    pub(crate) fn enter() -> Inside {
        let is_foreign = saki_thread::current().is_none();
        let call = ReverseCall::enter();
        // SAFETY: the structure of this thread, which is RUNNING until `call` is left; `run` gives it away for as long.
        let t = unsafe { CurrentThread::from_abi(call.abi()) };
        Inside { call: Some(call), t, is_foreign }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            // SAFETY: `Object`s are handles, so that no frame of the host's holds a reference.
            unsafe { call.leave() };
        }
        if self.is_foreign && ATTACHMENTS.get() == 0 {
            saki_thread::detach_current();
        }
    }
}

/// Keeps the calling thread known to the machine between runs, which are then cheaper.
pub struct Attachment {
    is_ours: bool,
    /// It ends on its thread.
    thread: PhantomData<*const ()>,
}

impl Attachment {
    pub(crate) fn new(runs: &Runs) -> Result<Attachment, Refused> {
        let _entered = Entered::new(runs)?;
        let is_ours = saki_thread::current().is_none();
        ATTACHMENTS.set(ATTACHMENTS.get() + 1);
        drop(Inside::enter());
        Ok(Attachment { is_ours, thread: PhantomData })
    }

    /// Keeps the thread attached until it ends, or until [`detach`]. A thread that was known to the machine without
    /// this attachment stays as it is.
    pub fn keep(self) {
        if self.is_ours {
            IS_KEPT.set(true);
            std::mem::forget(self);
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        ATTACHMENTS.set(ATTACHMENTS.get() - 1);
        if self.is_ours && ATTACHMENTS.get() == 0 {
            saki_thread::detach_current();
        }
    }
}

/// Whether the machine knows the calling thread: it is attached, in a run, or one of managed code.
pub fn is_attached() -> bool {
    saki_thread::current().is_some()
}

/// Ends an attachment that was to last until the thread's end ([`Attachment::keep`]). False, and nothing happens, if
/// the thread has none, or is inside the machine. The machine may have ended.
pub fn detach() -> bool {
    if is_inside() || !IS_KEPT.replace(false) {
        return false;
    }
    drop(Attachment { is_ours: true, thread: PhantomData });
    true
}
