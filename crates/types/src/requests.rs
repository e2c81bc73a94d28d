//! What loading asks of the program: to find an assembly (`AppDomain.AssemblyResolve`), to hear of one
//! (`AssemblyLoad`), to finish a type (`TypeResolve`). Answering runs managed code, which only a managed thread can do,
//! and not in the middle of anything.
//!
//! A compilation runs inside `without_managed_code`: a fact that needs an answer is refused with
//! `LoadErrorKind::Unanswered`, and the request is noted. The caller then has a managed thread `answer` it, and
//! computes again. It hands in the requests that have been answered: a fact for which one of them did not help fails.
//!
//! Invariants: no managed code runs inside `without_managed_code` (`forbid_in_computations` checks that in debug builds
//! where the program is asked); what failed for want of an answer is not remembered (`Lazy`), since a later attempt may
//! succeed. Left out: files that are modules of one assembly, which are loaded without asking.

use crate::computation::{self, Computation};
use crate::domain::{EmittedType, Image};
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use saki_metadata::Rid;
use std::cell::Cell;
use std::fmt;

/// What the program is asked for.
#[derive(Clone, Copy)]
pub enum Request {
    /// The assembly of an AssemblyRef row, which is not loaded yet.
    Reference(&'static Image, Rid),
    /// The assembly of the class that UnsafeAccessorTypeAttribute names at a Param row, and the function that finds it
    /// (`accessors`, a floor above).
    AccessorType(&'static Image, Rid, fn(&'static Image, Rid) -> LoadResult<()>),
    /// A type that its TypeBuilder has not finished yet.
    Emitted(&'static EmittedType),
}

impl Request {
    /// Asks the program. It must run on a managed thread that holds no lock of the machine.
    ///
    /// # Errors
    /// Those of loading the assembly; `UnfinishedType`.
    pub fn answer(self) -> LoadResult<()> {
        match self {
            Request::Reference(image, rid) => image.assembly_ref(rid).map(|_| ()),
            Request::AccessorType(image, rid, find) => find(image, rid),
            Request::Emitted(emitted) => emitted.require().map(|_| ()),
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Reference(image, rid) => write!(f, "reference {rid} of {}", image.meta.path().display()),
            Request::AccessorType(image, rid, _) => {
                write!(f, "the type for parameter {rid} of {}", image.meta.path().display())
            }
            Request::Emitted(_) => f.write_str("a type that is not finished"),
        }
    }
}

impl PartialEq for Request {
    fn eq(&self, other: &Request) -> bool {
        match (self, other) {
            (Request::Reference(image, rid), Request::Reference(other, other_rid))
            | (Request::AccessorType(image, rid, _), Request::AccessorType(other, other_rid, _)) => {
                image == other && rid == other_rid
            }
            (Request::Emitted(emitted), Request::Emitted(other)) => std::ptr::eq(*emitted, *other),
            _ => false,
        }
    }
}

/// What is kept about a computation that must not run managed code.
struct Details<'a> {
    answered: &'a [Request],
    /// The first request that was refused.
    wanted: Cell<Option<Request>>,
}

/// Runs `work`, whose result counts only if it has asked the program for nothing.
///
/// # Errors
/// The request that `work` made first; its result is dropped.
pub fn without_managed_code<T>(answered: &[Request], work: impl FnOnce() -> T) -> Result<T, Request> {
    let details = Details { answered, wanted: Cell::new(None) };
    let computation =
        Computation { are_failures_doubted: Cell::new(false), details: std::ptr::from_ref(&details).cast() };
    let result = computation::run(&computation, work);
    details.wanted.get().map_or(Ok(result), Err)
}

/// How a fact goes on for which the program would have to be asked.
pub(crate) enum Leave {
    Ask,
    /// As if the program had been asked and had no answer.
    HasNoAnswer,
}

/// Called before the program is asked.
///
/// # Errors
/// `Unanswered`, inside `without_managed_code`.
pub(crate) fn ask(request: Request) -> LoadResult<Leave> {
    computation::with_current(|current| {
        let Some(current) = current else { return Ok(Leave::Ask) };
        // SAFETY: `without_managed_code` alone makes computations; its frame, which has the details, has not returned.
        let details = unsafe { &*current.details.cast::<Details>() };
        if details.answered.contains(&request) {
            return Ok(Leave::HasNoAnswer);
        }
        details.wanted.set(Some(details.wanted.get().unwrap_or(request)));
        current.are_failures_doubted.set(true);
        Err(LoadError::new(LoadErrorKind::Unanswered, "the program has to be asked first", ""))
    })
}

/// Whether the calling thread is inside `without_managed_code`.
pub fn is_in_computation() -> bool {
    computation::with_current(|current| current.is_some())
}

/// Called where the program is asked or told, which runs managed code.
pub(crate) fn forbid_in_computations() {
    if cfg!(debug_assertions) && is_in_computation() {
        saki_base::bug!("managed code is about to run in the middle of a compilation");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::assemble;

    const CLASSES: &str = "
        .assembly extern System.Core { }
        .assembly extern Absent { }
        .class public Derived extends [System.Core]System.Linq.EnumerableQuery { }
        .class public Orphan extends [Absent]Absent.Parent { }
    ";

    #[test]
    fn a_fact_whose_assembly_is_not_loaded_waits_for_an_answer() {
        let Some(fixture) = assemble(CLASSES) else { return };
        let derived = fixture.0.find_type("", "Derived").expect("readable").expect("there");
        let parent = || without_managed_code(&[], || derived.parent());
        // Another test may have loaded System.Core.
        let found = parent().or_else(|request| {
            request.answer().expect("System.Core loads");
            parent()
        });
        let found = found.expect("it asks once").expect("the failure was not remembered");
        assert_eq!(found.map(|ty| ty.full_name()).as_deref(), Some("System.Linq.EnumerableQuery"));
    }

    #[test]
    fn a_fact_whose_assembly_is_absent_fails_after_it_was_asked_for() {
        let Some(fixture) = assemble(CLASSES) else { return };
        let orphan = fixture.0.find_type("", "Orphan").expect("readable").expect("there");
        let parent = |answered: &[Request]| without_managed_code(answered, || orphan.parent().map_err(|e| e.kind));
        let Err(request) = parent(&[]) else { panic!("the parent was found without asking") };
        assert!(parent(&[]).is_err(), "a refused fact is asked for again");
        assert_eq!(request.answer().map_err(|e| e.kind), Err(LoadErrorKind::FileNotFound));
        let failed = parent(&[request]).expect("nobody is asked again");
        assert_eq!(failed.map(|_| ()), Err(LoadErrorKind::FileNotFound));
    }
}
