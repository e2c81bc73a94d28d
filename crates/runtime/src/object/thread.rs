//! The current managed thread as the runtime's functions receive it.

use crate::references::{Array, Obj, Str, Word};
use saki_abi::ThreadAbi;
use saki_os::clock::Clock;
use saki_thread::ManagedThread;
use std::marker::PhantomData;

/// The current thread: the first argument of every helper and internal call. Copyable, one pointer.
///
/// `'t` is the duration of the call that got it. References to objects (`Obj<'t>`) are bound to it, so that they
/// cannot be kept in statics, where no collection would see them.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct CurrentThread<'t>(*mut ThreadAbi, PhantomData<&'t ManagedThread>);

/// What surrounds the machine, for code that runs in it. There is one machine in a process, so the value is empty; code
/// that asks it need not change when there are several.
#[derive(Clone, Copy, Debug)]
pub struct Machine(());

impl Machine {
    /// Whose time the machine runs by.
    pub fn clock(self) -> Clock {
        saki_os::clock::machine()
    }
}

/// Proof that an exception is pending on the current thread.
#[derive(Debug)]
#[must_use]
pub struct Thrown(pub(crate) ());

/// Result of runtime functions that may leave a managed exception pending.
pub type Managed<T> = Result<T, Thrown>;

impl<'t> CurrentThread<'t> {
    /// The thread that compiled code passes, or a `ManagedThread`'s own.
    ///
    /// # Safety
    /// `abi` belongs to the current OS thread's managed thread. `'t` is no longer than the caller's call, or than the
    /// value that the caller borrows: a reference that is bound to it must not be kept where no collection sees it.
    pub unsafe fn from_abi(abi: *mut ThreadAbi) -> CurrentThread<'t> {
        CurrentThread(abi, PhantomData)
    }

    /// Calls `body` with the current thread; aborts when the OS thread is not attached.
    pub fn with<R>(body: impl for<'c> FnOnce(CurrentThread<'c>) -> R) -> R {
        match CurrentThread::with_attached(body) {
            Some(result) => result,
            None => saki_base::bug!("managed state used on a thread that is not attached"),
        }
    }

    /// Calls `body` with the current thread; None when the OS thread is not attached, as before the machine has
    /// started.
    pub fn with_attached<R>(body: impl for<'c> FnOnce(CurrentThread<'c>) -> R) -> Option<R> {
        saki_thread::current().map(|thread| body(CurrentThread(thread.abi(), PhantomData)))
    }

    /// The thread's part that compiled code knows.
    pub fn abi(self) -> *mut ThreadAbi {
        self.0
    }

    /// The machine that the thread belongs to.
    pub fn vm(self) -> Machine {
        Machine(())
    }

    /// The whole managed thread.
    pub fn managed(self) -> &'static ManagedThread {
        // SAFETY: `abi` is the first field of the repr(C) `ManagedThread` it came from, which outlives its OS thread.
        unsafe { &*(self.0 as *const ManagedThread) }
    }

    /// Managed id, as written into thin locks.
    pub fn id(self) -> u32 {
        // SAFETY: the current thread's own struct; the id was written before the thread ran.
        unsafe { (*self.0).managed_id }
    }

    /// The exception that will be thrown when the runtime function returns; None if there is none.
    pub fn pending(self) -> Option<Obj<'t>> {
        // SAFETY: only this thread reads and writes the field, which is a root.
        unsafe { Obj::from_word((*self.0).pending_exception) }
    }

    /// Whether an exception will be thrown when the runtime function returns.
    pub fn is_pending(self) -> bool {
        self.pending().is_some()
    }

    /// Sets the exception that will be thrown when the runtime function returns.
    pub fn set_pending(self, exception: impl Word) {
        // SAFETY: only this thread reads and writes the field; it is a root, so no barrier is needed.
        unsafe { (*self.0).pending_exception = exception.word() }
    }

    /// Takes the pending exception.
    pub fn take_pending(self) -> Option<Obj<'t>> {
        let exception = self.pending();
        self.set_pending(None::<Obj>);
        exception
    }

    /// Takes the pending exception. There must be one.
    pub fn take_exception(self) -> Obj<'t> {
        self.take_pending().unwrap_or_else(|| saki_base::bug!("no exception is pending"))
    }

    /// The object in a root slot of the thread.
    pub fn root(self, slot: usize) -> Option<Obj<'t>> {
        Obj::in_root(self, &self.managed().roots[slot])
    }

    /// Sets a root slot of the thread.
    pub fn set_root(self, slot: usize, object: impl Word) {
        self.managed().roots[slot].set(object.word());
    }

    /// Leaves `exception` to be thrown on return.
    pub fn throw(self, exception: impl Word) -> Thrown {
        self.set_pending(exception);
        Thrown(())
    }

    /// Frame pointer of the innermost managed→runtime thunk.
    pub fn exit_frame(self) -> usize {
        // SAFETY: only this thread writes the field, by the thunks that it runs.
        unsafe { (*self.0).exit_frame }
    }

    /// Runs the body of an internal call: on `Err` the exception is pending and a zero value is returned.
    pub fn run<T: IcallResult>(self, body: impl FnOnce() -> Managed<T>) -> T {
        match body() {
            Ok(value) => value,
            Err(Thrown(())) => {
                debug_assert!(self.is_pending());
                T::zero()
            }
        }
    }
}

/// Types that an internal call can return to compiled code.
pub trait IcallResult {
    /// The value returned when an exception is pending; compiled code never uses it.
    fn zero() -> Self;
}

macro_rules! zeroes {
    ($($ty:ty = $zero:expr),*) => { $(impl IcallResult for $ty { fn zero() -> Self { $zero } })* };
}
zeroes!(
    () = (),
    bool = false,
    u8 = 0,
    i8 = 0,
    u16 = 0,
    i16 = 0,
    u32 = 0,
    i32 = 0,
    u64 = 0,
    i64 = 0,
    usize = 0,
    isize = 0,
    f32 = 0.0,
    f64 = 0.0
);

macro_rules! null_references {
    ($($reference:ident),*) => { $(impl IcallResult for Option<$reference<'_>> { fn zero() -> Self { None } })* };
}
null_references!(Obj, Str, Array);

impl<T> IcallResult for *mut T {
    fn zero() -> Self {
        std::ptr::null_mut()
    }
}
impl<T> IcallResult for *const T {
    fn zero() -> Self {
        std::ptr::null()
    }
}
