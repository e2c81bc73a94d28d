//! Errors as values: exceptions of managed code, and what the library refuses; the frame of each function.

use crate::kept;
use saki::{Error, Exception, Thread, Unscoped};
use std::ffi::CString;

/// An error in the host's hands.
pub struct SakiError {
    /// The exception's type. All texts end at a NUL in them.
    pub class: CString,
    pub message: CString,
    /// Type, message and stack.
    pub text: CString,
    pub stack: CString,
    /// The exception; none for what the library itself refuses. Freed with the error.
    pub exception: Option<Unscoped>,
}

/// Why a function does not do what it was asked for.
pub enum CallFailure<'t> {
    Exception(Exception<'t>),
    Error(Box<SakiError>),
}

/// A text of C's: a NUL in it ends it.
fn c_text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

impl CallFailure<'_> {
    /// An argument is null that may not be.
    pub fn null(what: &str) -> CallFailure<'static> {
        CallFailure::wrong(format!("{what} is null."))
    }

    /// An argument is wrong.
    pub fn wrong(message: String) -> CallFailure<'static> {
        CallFailure::Error(SakiError::new("System.ArgumentException", &message))
    }

    /// The host keeps too many objects.
    pub fn full() -> CallFailure<'static> {
        CallFailure::memory("the host keeps too many objects")
    }

    /// Memory is short.
    pub fn memory(message: &str) -> CallFailure<'static> {
        CallFailure::Error(SakiError::new("System.OutOfMemoryException", message))
    }

    /// The call does not fit the machine's state.
    pub fn state(message: &str) -> CallFailure<'static> {
        CallFailure::Error(SakiError::new("System.InvalidOperationException", message))
    }
}

impl<'t> From<Exception<'t>> for CallFailure<'t> {
    fn from(exception: Exception<'t>) -> CallFailure<'t> {
        CallFailure::Exception(exception)
    }
}

impl From<saki::Refused> for CallFailure<'static> {
    fn from(refused: saki::Refused) -> CallFailure<'static> {
        CallFailure::state(&refused.to_string())
    }
}

impl From<Error> for CallFailure<'static> {
    fn from(error: Error) -> CallFailure<'static> {
        CallFailure::state(error.message())
    }
}

impl SakiError {
    /// An error without an exception.
    pub fn new(class: &str, message: &str) -> Box<SakiError> {
        let text = format!("{class}: {message}");
        let [class, message, text] = [class, message, &text].map(c_text);
        Box::new(SakiError { class, message, text, stack: CString::default(), exception: None })
    }

    /// The error for an exception, which it keeps.
    pub fn of(t: Thread<'_>, exception: Exception<'_>) -> Box<SakiError> {
        let texts = [exception.class_name(), exception.message(), exception.text(), exception.stack()];
        let [class, message, text, stack] = texts.map(|text| c_text(&text));
        Box::new(SakiError { class, message, text, stack, exception: kept::keep(t, exception.object()) })
    }

    /// The error of a failure.
    pub fn of_failure(t: Thread<'_>, failure: CallFailure<'_>) -> Box<SakiError> {
        match failure {
            CallFailure::Exception(exception) => SakiError::of(t, exception),
            CallFailure::Error(error) => error,
        }
    }

    /// The exception to throw in managed code; the error is freed.
    pub fn into_exception<'t>(self, t: Thread<'t>) -> Exception<'t> {
        let kept = self.exception.and_then(|kept| kept.get(t)).and_then(|object| t.exception(object));
        let made = || t.throw(&self.class.to_string_lossy(), &self.message.to_string_lossy());
        let exception = kept.unwrap_or_else(|| made().unwrap_or_else(|exception| exception));
        if let Some(kept) = self.exception {
            kept::let_go(t, kept);
        }
        exception
    }

    /// Lets the exception go, from outside.
    pub fn free(&mut self) {
        kept::release(&mut self.exception.take().into_iter().collect());
    }
}

/// The error as what a function of the interface returns: null for success.
pub type Returned = Option<Box<SakiError>>;

/// Runs a function of the interface inside the machine.
pub fn run(body: impl for<'t> FnOnce(Thread<'t>) -> Result<(), CallFailure<'t>>) -> Returned {
    outside(|| {
        let vm = kept::machine().ok_or_else(|| CallFailure::state("no machine has been started"))?;
        match kept::enter(vm, |t| body(t).err().map(|failure| SakiError::of_failure(t, failure)))? {
            Some(error) => Err(CallFailure::Error(error)),
            None => Ok(()),
        }
    })
}

/// A function of the interface that needs no machine.
pub fn outside(body: impl FnOnce() -> Result<(), CallFailure<'static>>) -> Returned {
    match body() {
        Ok(()) | Err(CallFailure::Exception(_)) => None,
        Err(CallFailure::Error(error)) => Some(error),
    }
}
