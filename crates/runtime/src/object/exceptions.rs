//! Making and throwing managed exceptions from Rust.

use crate::cells::RootCell;
use crate::domain::{self, Preallocated};
use crate::exception_types::ExceptionType;
use crate::fields::ManagedField;
use crate::object;
use crate::references::{Obj, Str};
use crate::slot::Slot;
pub use crate::thread::Thrown;
use crate::thread::{CurrentThread, Managed};
use crate::upcalls::upcalls;
use saki_os::message_log::{self, Level, LogSubject};
use saki_types::{LibraryType, LoadError, LoadErrorKind, LoadResult, Method, Ty, load_texts, universe};

static MESSAGE: ManagedField = ManagedField::new(LibraryType::Exception, "_message");
static HRESULT: ManagedField = ManagedField::new(LibraryType::Exception, "_HResult");
pub(crate) static STACK_TRACE: ManagedField = ManagedField::new(LibraryType::Exception, "_stackTrace");
pub static INNER_EXCEPTION: ManagedField = ManagedField::new(LibraryType::Exception, "_innerException");

/// Turns load errors into pending exceptions.
pub trait ToManaged<T> {
    /// # Errors
    /// The exception that .NET documents for the load error is pending.
    fn to_managed(self, t: CurrentThread) -> Managed<T>;
}

impl<T> ToManaged<T> for LoadResult<T> {
    fn to_managed(self, t: CurrentThread) -> Managed<T> {
        self.map_err(|error| throw_load_error(t, &error))
    }
}

/// Mono's own text. The class library's text, for `new StackOverflowException ()`, differs.
const STACK_OVERFLOW_MESSAGE: &str = "The requested operation caused a stack overflow.";

/// Preallocates the exceptions of the current domain that cannot be made when they are needed.
///
/// # Errors
/// What their constructors throw.
pub fn preallocate(t: CurrentThread) -> Managed<()> {
    let domain = domain::current();
    let cell = |made| RootCell::of_domain(domain.universe, made);
    let out_of_memory = new_exception(t, ExceptionType::OutOfMemory, None)?;
    if !load_texts::are_mono() {
        // .NET's has no text, and so the one that names the type.
        MESSAGE.set_ref(t, out_of_memory, None::<Obj>);
    }
    let out_of_memory = cell(out_of_memory);
    let stack_overflow = cell(new_exception(t, ExceptionType::StackOverflow, Some(STACK_OVERFLOW_MESSAGE))?);
    let _ = domain.preallocated.set(Preallocated { out_of_memory, stack_overflow });
    Ok(())
}

/// Throws the preallocated OutOfMemoryException.
pub fn out_of_memory(t: CurrentThread) -> Thrown {
    match domain::current().preallocated.get() {
        Some(made) => {
            let exception = prepared(t, made.out_of_memory);
            empty_trace(t, exception);
            t.throw(exception)
        }
        None => saki_base::bug!("out of memory while starting up"),
    }
}

/// Throws the OutOfMemoryException for an array with more elements than there can be.
pub(crate) fn too_many_elements(t: CurrentThread) -> Thrown {
    if load_texts::are_mono() {
        return out_of_memory(t);
    }
    throw(t, ExceptionType::OutOfMemory, "Array dimensions exceeded supported range.")
}

/// A preallocated exception.
fn prepared<'t>(t: CurrentThread<'t>, cell: RootCell) -> Obj<'t> {
    cell.obj(t).unwrap_or_else(|| saki_base::bug!("a preallocated exception is gone"))
}

/// Empties the trace of a preallocated exception, which is about to be thrown again.
fn empty_trace(t: CurrentThread, exception: Obj) {
    STACK_TRACE.set_ref(t, exception, None::<Obj>);
}

/// Throws StackOverflowException.
pub fn stack_overflow(t: CurrentThread) -> Thrown {
    t.throw(stack_overflow_object(t))
}

/// A StackOverflowException, made without running managed code: a copy of the preallocated one, or without memory that
/// one itself.
pub fn stack_overflow_object<'t>(t: CurrentThread<'t>) -> Obj<'t> {
    let Some(made) = domain::current().preallocated.get() else {
        saki_base::bug!("the stack overflowed while starting up")
    };
    if universe().profile().overflow_ends_process {
        upcalls().end_by_stack_overflow(t);
    }
    match object::new_instance_of(t, prepared(t, made.stack_overflow).vtable()) {
        Ok(copy) => {
            let original = prepared(t, made.stack_overflow);
            for field in [&MESSAGE, &INNER_EXCEPTION] {
                field.set_ref(t, copy, field.obj(original));
            }
            let hresult: i32 = HRESULT.get(original);
            HRESULT.set(copy, hresult);
            copy
        }
        Err(Thrown(())) => {
            t.take_pending();
            let exception = prepared(t, made.stack_overflow);
            empty_trace(t, exception);
            exception
        }
    }
}

/// Stack that compiling a method may take; methods of the class library need less than 100 KiB.
pub(crate) const COMPILATION_STACK_BYTES: usize = 128 << 10;

/// Stack that a class constructor may take, including the compilation of it and of the methods that it calls. Reserves
/// hold twice as much.
pub(crate) const CLASS_CONSTRUCTOR_STACK_BYTES: usize = COMPILATION_STACK_BYTES + (64 << 10);

/// To be called before work that takes this much stack and must not be interrupted by a stack overflow.
///
/// # Errors
/// StackOverflowException if less stack is left.
pub(crate) fn ensure_stack(t: CurrentThread, bytes: usize) -> Managed<()> {
    let is_started = domain::current().preallocated.get().is_some();
    if is_started && !t.managed().has_stack_for(bytes) { Err(stack_overflow(t)) } else { Ok(()) }
}

/// Whether it is a StackOverflowException of the current domain.
pub(crate) fn is_stack_overflow(t: CurrentThread, exception: Obj) -> bool {
    let made = domain::current().preallocated.get();
    made.is_some_and(|made| std::ptr::eq(exception.vtable(), prepared(t, made.stack_overflow).vtable()))
}

/// An exception object of a corlib type, constructed with its message if there is one.
///
/// # Errors
/// What the constructor throws.
pub fn new_exception<'t>(t: CurrentThread<'t>, exception: ExceptionType, message: Option<&str>) -> Managed<Obj<'t>> {
    new_exception_of(t, exception.ty(), message)
}

/// An exception object of any exception type with the usual constructors, constructed with its message if there is one.
///
/// # Errors
/// What the constructor throws.
pub fn new_exception_of<'t>(t: CurrentThread<'t>, ty: Ty, message: Option<&str>) -> Managed<Obj<'t>> {
    let exception = Obj::new(t, ty)?;
    let with_message = match message {
        Some(_) => ty.find_method_sig(".ctor", &[universe().string()]).to_managed(t)?,
        None => None,
    };
    match (with_message, message) {
        (Some(ctor), Some(text)) => {
            let text = Str::new(t, text)?;
            upcalls().invoke(t, ctor, &[Slot::from_ref(exception), Slot::from_ref(text)])?;
        }
        _ => {
            if let Some(ctor) = ty.find_method_sig(".ctor", &[]).to_managed(t)? {
                upcalls().invoke(t, ctor, &[Slot::from_ref(exception)])?;
            }
            if let Some(text) = message {
                let text = Str::new(t, text)?;
                MESSAGE.set_ref(t, exception, text);
            }
        }
    }
    Ok(exception)
}

/// Throws a corlib exception with a message.
pub fn throw(t: CurrentThread, exception: ExceptionType, message: &str) -> Thrown {
    match new_exception(t, exception, Some(message)) {
        Ok(exception) => t.throw(exception),
        Err(thrown) => thrown,
    }
}

/// Throws a corlib exception with its default message.
pub fn throw_default(t: CurrentThread, exception: ExceptionType) -> Thrown {
    throw_made(t, new_exception(t, exception, None))
}

/// NullReferenceException for an operation of compiled code on null.
pub fn throw_null_reference(t: CurrentThread) -> Thrown {
    match universe().profile().null_reference_text {
        Some(text) => throw(t, ExceptionType::NullReference, text),
        None => throw_default(t, ExceptionType::NullReference),
    }
}

/// ArgumentNullException for a parameter.
pub fn throw_argument_null(t: CurrentThread, parameter: &str) -> Thrown {
    throw_with_texts(t, ExceptionType::ArgumentNull, [parameter])
}

/// ArgumentException with a message of its own and the parameter it is about.
pub fn throw_argument(t: CurrentThread, message: &str, parameter: &str) -> Thrown {
    throw_with_texts(t, ExceptionType::Argument, [message, parameter])
}

/// Throws an exception that was made, or goes on with the one that its making has thrown.
pub fn throw_made(t: CurrentThread, made: Managed<Obj>) -> Thrown {
    match made {
        Ok(exception) => t.throw(exception),
        Err(thrown) => thrown,
    }
}

/// An exception of mscorlib, made by its constructor of one or two strings.
pub fn throw_with_texts<const N: usize>(t: CurrentThread, exception: ExceptionType, texts: [&str; N]) -> Thrown {
    const { assert!(N == 1 || N == 2) };
    throw_made(
        t,
        (|| {
            let ty = exception.ty();
            let exception = Obj::new(t, ty)?;
            if let Some(ctor) = ty.find_method_sig(".ctor", &[universe().string(); N]).to_managed(t)? {
                // The words lie on the stack, where collections see them.
                let mut words = [Slot::from_ref(exception); 3];
                for (word, text) in words[1..].iter_mut().zip(texts) {
                    *word = Slot::from_ref(Str::new(t, text)?);
                }
                upcalls().invoke(t, ctor, &words[..=N])?;
            }
            Ok(exception)
        })(),
    )
}

/// NotImplementedException that names what Saki lacks.
pub fn throw_not_implemented(t: CurrentThread, what: &str) -> Thrown {
    crate::missing::record(what);
    throw(t, ExceptionType::NotImplemented, what)
}

/// The exception that .NET documents for a load error.
pub fn throw_load_error(t: CurrentThread, error: &LoadError) -> Thrown {
    throw_made(t, load_exception(t, error))
}

/// The exception object for a load error.
///
/// # Errors
/// What constructors throw.
pub fn load_exception<'t>(t: CurrentThread<'t>, error: &LoadError) -> Managed<Obj<'t>> {
    if !matches!(error.kind, LoadErrorKind::FileNotFound | LoadErrorKind::FileLoad) {
        message_log::message(Level::Warning, LogSubject::Types, &error.message);
    }
    let exception_type = match error.kind {
        LoadErrorKind::TypeLoad | LoadErrorKind::UnfinishedType => ExceptionType::TypeLoad,
        LoadErrorKind::Unanswered => saki_base::bug!("a program was not asked for what it must load"),
        LoadErrorKind::MissingMethod => ExceptionType::MissingMethod,
        LoadErrorKind::MissingField => ExceptionType::MissingField,
        LoadErrorKind::MissingMember => ExceptionType::MissingMember,
        LoadErrorKind::AmbiguousMatch => ExceptionType::AmbiguousMatch,
        LoadErrorKind::InvalidTypeName => ExceptionType::Argument,
        LoadErrorKind::FileNotFound => ExceptionType::FileNotFound,
        LoadErrorKind::FileLoad => ExceptionType::FileLoad,
        LoadErrorKind::BadImageFormat | LoadErrorKind::ReferenceAssembly => ExceptionType::BadImageFormat,
        LoadErrorKind::InvalidProgram | LoadErrorKind::InvalidAccessor => ExceptionType::InvalidProgram,
        LoadErrorKind::MethodAccess => ExceptionType::MethodAccess,
        LoadErrorKind::FieldAccess => ExceptionType::FieldAccess,
        LoadErrorKind::MemberAccess => ExceptionType::MemberAccess,
        LoadErrorKind::InvalidOperation => ExceptionType::InvalidOperation,
        LoadErrorKind::AmbiguousImplementation => ExceptionType::AmbiguousImplementation,
        LoadErrorKind::EntryPointNotFound => ExceptionType::EntryPointNotFound,
        LoadErrorKind::Verification => ExceptionType::Verification,
        LoadErrorKind::NotSupported => ExceptionType::NotSupported,
        LoadErrorKind::PlatformNotSupported => ExceptionType::PlatformNotSupported,
    };
    // .NET does not say what is wrong with a body; the log does.
    let is_told = error.kind != LoadErrorKind::InvalidProgram || load_texts::are_mono();
    let exception = new_exception(t, exception_type, is_told.then_some(error.message.as_str()))?;
    static FILE_NAME: ManagedField =
        ManagedField::of_exception(ExceptionType::FileNotFound, "<FileName>k__BackingField");
    static TYPE_NAME: ManagedField = ManagedField::of_exception(ExceptionType::TypeLoad, "ClassName");
    let subject = Str::new(t, &error.subject)?;
    match error.kind {
        LoadErrorKind::FileNotFound => FILE_NAME.set_ref(t, exception, subject),
        LoadErrorKind::TypeLoad | LoadErrorKind::UnfinishedType => TYPE_NAME.set_ref(t, exception, subject),
        _ => {}
    }
    Ok(exception)
}

/// An exception's message as it was given, without what `Message` makes of it.
pub(crate) fn given_message(exception: Obj<'_>) -> Option<Str<'_>> {
    MESSAGE.str(exception)
}

/// An exception's HResult.
pub fn hresult(exception: Obj) -> i32 {
    HRESULT.get(exception)
}

/// The exception object that `throw` throws: the operand itself or, where it is no Exception, a RuntimeWrappedException
/// around it. So every object in flight is an Exception with a stack trace.
///
/// # Errors
/// Exceptions of making the wrapper.
pub fn as_exception<'t>(t: CurrentThread<'t>, thrown: Obj<'t>) -> Managed<Obj<'t>> {
    if thrown.ty().is_subclass_of(universe().exception()).to_managed(t)? {
        return Ok(thrown);
    }
    let ty = ExceptionType::RuntimeWrapped.ty();
    let exception = Obj::new(t, ty)?;
    if let Some(ctor) = ty.find_method_sig(".ctor", &[universe().object()]).to_managed(t)? {
        upcalls().invoke(t, ctor, &[Slot::from_ref(exception), Slot::from_ref(thrown)])?;
    }
    Ok(exception)
}

/// The object that a method's handlers get for an exception: unless the assembly asks for wrappers
/// (`RuntimeCompatibilityAttribute.WrapNonExceptionThrows`), a wrapper is replaced by the object that was
/// thrown.
pub fn as_seen_by<'t>(exception: Obj<'t>, method: &'static Method) -> Obj<'t> {
    static WRAPPED: ManagedField = ManagedField::of_exception(ExceptionType::RuntimeWrapped, "_wrappedException");
    if !ExceptionType::RuntimeWrapped.is(exception.ty()) || method.image().assembly().wraps_thrown_objects() {
        return exception;
    }
    WRAPPED.obj(exception).unwrap_or(exception)
}
