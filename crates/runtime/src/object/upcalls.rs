//! The calls of lower layers to higher ones, as one value: running managed code for an exception or a cast, the
//! functions behind compiled code, events for profilers.
//!
//! `vm::upcalls` implements them; the machine sets the value first of all when it starts. Invariant: a layer of this
//! crate calls a higher one in no other way.

use crate::events::LockWait;
use crate::host_events::{HostEvent, HostEventKind};
use crate::references::Obj;
use crate::slot::Slot;
use crate::thread::{CurrentThread, Managed};
use saki_abi::vtable::VTable;
use saki_abi::{HelperId, ObjRef};
use saki_code::CodeInfo;
use saki_il::ir::Function;
use saki_jit::CompiledBy;
use saki_sync::handle_table::Handle;
use saki_types::{Method, Ty};
use std::sync::OnceLock;

/// See the module header.
pub(crate) trait Upcalls: Sync {
    /// Calls `method` non-virtually (`exec::invoke`).
    ///
    /// # Errors
    /// The exception that left the method, or one from compiling it, is pending.
    fn invoke(&self, t: CurrentThread, method: &'static Method, args: &[Slot]) -> Managed<Slot>;

    /// Reports a stack overflow and ends the process.
    fn end_by_stack_overflow(&self, t: CurrentThread) -> !;

    /// Whether a proxy whose class is not assignable to `ty` may be used as `ty`.
    ///
    /// # Errors
    /// What the RealProxy's `CanCastTo` throws.
    fn can_cast_proxy(&self, t: CurrentThread, proxy: Obj, ty: Ty) -> Managed<bool>;

    /// Whether an object says that it may be used as an interface that its type does not have; None: it does not decide
    /// that (IDynamicInterfaceCastable). `throws`: it is to throw in place of saying no.
    ///
    /// # Errors
    /// What the object throws; with `throws` InvalidCastException.
    fn can_cast_dynamically(&self, t: CurrentThread, object: Obj, to: Ty, throws: bool) -> Managed<Option<bool>>;

    /// The method that implements an interface method for an object whose type does not have the interface; None: the
    /// object does not decide that.
    ///
    /// # Errors
    /// What the object throws, and the exceptions for what it may not answer.
    fn dynamic_method(&self, t: CurrentThread, on: Obj, method: &'static Method) -> Managed<Option<&'static Method>>;

    /// Address of the Rust function of a helper.
    fn helper_function(&self, id: HelperId) -> usize;

    /// Keeps a dynamic method for ever, because code takes its address.
    fn keep_dynamic_method(&self, method: &'static Method);

    /// Frees the second body of a dynamic method that two threads compiled at once; its address was not given out.
    fn discard_body(&self, body: &'static CodeInfo);

    /// The first exception is about to be thrown in a thread at a point that the thread did not choose. Holds no lock.
    fn thrown_asynchronously(&self);

    /// Whether code is compiled with probes at the begin and the ends of methods, which other runs cannot use.
    fn are_calls_probed(&self) -> bool;

    /// Adds probes to code of `method`, if its calls are recorded.
    fn add_probes(&self, method: &'static Method, function: &mut Function);

    /// A probe at the begin of a method, or at an end. `tagged`, its argument, is the address of a method; the low bits
    /// say which part of the method.
    ///
    /// # Safety
    /// Code with the probe passes `tagged`.
    unsafe fn probed(&self, t: CurrentThread, tagged: usize, is_end: bool);

    /// A probe of a trace: as `probed`, with the address of the words that `call_trace` has stored.
    ///
    /// # Safety
    /// Code with the probe passes `tagged` and `words`.
    unsafe fn traced(&self, t: CurrentThread, tagged: usize, words: usize, is_end: bool);

    /// The CIL offsets of the method at which statements begin, in ascending order; none unless coverage is recorded.
    fn statements(&self, method: &'static Method) -> Vec<u32>;

    /// The statement at this CIL offset has begun.
    fn statement_covered(&self, method: &'static Method, offset: u32);

    /// Whether code tells of finally clauses that no exception enters.
    fn are_clauses_told(&self) -> bool;

    /// The finally clause of this number is entered, and not by an exception.
    fn finally_entered(&self, method: &'static Method, clause: u32);

    /// Called when a type has got its vtable, without the loader's lock, because this may wait.
    fn type_loaded(&self, ty: Ty, vtable: &VTable);

    /// Called when a handle was made. `target`: the word of the object, whose address alone is used.
    fn handle_created(&self, t: CurrentThread, handle: Handle, target: ObjRef);

    /// Called before a handle is freed.
    fn handle_to_be_freed(&self, t: CurrentThread, handle: Handle);

    fn handle_freed(&self, t: CurrentThread, handle: Handle);

    /// Called when the wait for the lock of `object` is over.
    fn lock_wait_ended(&self, t: CurrentThread, object: Obj, wait: LockWait);

    /// Called when a thread has to wait for the lock of `object`, and when such a wait is over. `what`: a kind of
    /// `saki_profile::mlpd::event::monitor`.
    fn lock_contended(&self, t: CurrentThread, object: Obj, what: u8);

    /// Called when a method has got its code, whose compilation began at `began_ns`.
    fn compiled(&self, t: CurrentThread, method: &'static Method, code: usize, by: CompiledBy, began_ns: u64);

    /// Called when a method's code has been published.
    fn code_published(&self, method: &'static Method, code: usize);

    /// Tells the host, which wants to know it.
    fn tell_host(&self, event: HostEvent<'_>);

    /// Tells the host, perhaps later, what has happened to a type.
    fn tell_host_of_type(&self, kind: HostEventKind, ty: Ty);

    /// Tells the host what could not be told when it happened.
    fn tell_host_deferred(&self, t: CurrentThread);
}

static UPCALLS: OnceLock<&'static dyn Upcalls> = OnceLock::new();

/// Called by `vm`, when the machine starts.
pub(crate) fn set(upcalls: &'static dyn Upcalls) {
    let _ = UPCALLS.set(upcalls);
}

/// The layers above.
pub(crate) fn upcalls() -> &'static dyn Upcalls {
    match UPCALLS.get() {
        Some(upcalls) => *upcalls,
        None => saki_base::bug!("no machine runs"),
    }
}
