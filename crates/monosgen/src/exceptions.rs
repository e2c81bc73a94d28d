//! `mono/metadata/exception.h`: making exceptions. What cannot be made is null.

use crate::call::{call_quietly, held, in_host_code, some};
use crate::classes;
use crate::host_functions::{self, Hook, UnhandledHook};
use crate::machine::end;
use crate::text::text;
use saki_abi::ObjRef;
use saki_metadata::Token;
use saki_reflect::{field_access, members};
use saki_runtime::exec::invoke;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::vm::domains::Domain;
use saki_runtime::vm::unhandled;
use saki_runtime::{CurrentThread, Managed, Obj, Slot, Str, Word};
use saki_types::{GenericContext, Image, LoadResult, Method, Ty, universe};
use std::ffi::{c_char, c_void};

/// An object of the class, made by the first constructor that takes such arguments.
fn construct<'t>(
    t: CurrentThread<'t>,
    function: &str,
    class: Ty,
    takes: impl Fn(&[Ty]) -> bool,
    arguments: &[Option<Obj<'t>>],
) -> Managed<Obj<'t>> {
    let Some(constructor) = constructor(class, takes).to_managed(t)? else {
        end(function, &format!("finds no constructor of {}", class.full_name()))
    };
    let made = Obj::new(t, class)?;
    let mut slots = vec![Slot::from_ref(made)];
    slots.extend(arguments.iter().map(|argument| Slot::from_ref(*argument)));
    invoke::invoke(t, constructor, &slots)?;
    Ok(made)
}

fn constructor(class: Ty, takes: impl Fn(&[Ty]) -> bool) -> LoadResult<Option<&'static Method>> {
    for method in class.methods_named(".ctor")? {
        if takes(&method.sig()?.params) {
            return Ok(Some(method));
        }
    }
    Ok(None)
}

/// A class of an image that must be there.
fn class_named(t: CurrentThread, function: &str, image: &'static Image, namespace: &str, name: &str) -> Managed<Ty> {
    match classes::find(image, namespace, name).to_managed(t)? {
        Some(class) => Ok(class),
        None => end(function, &format!("finds no class {namespace}.{name}")),
    }
}

fn set_text(t: CurrentThread, exception: Obj, field: &str, value: &str) -> Managed<()> {
    let Some(field) = members::find_field(exception.ty(), field).to_managed(t)? else { return Ok(()) };
    field_access::set_value(t, field, Some(exception), Some(Str::new(t, value)?.into()))
}

/// An exception of a class, made by the constructor without parameters; then its text is set.
fn with_message<'t>(t: CurrentThread<'t>, function: &str, class: Ty, message: Option<&str>) -> Managed<Obj<'t>> {
    let made = construct(t, function, class, <[Ty]>::is_empty, &[])?;
    if let Some(message) = message {
        set_text(t, made, "_message", message)?;
    }
    Ok(made)
}

/// An exception of a class, made by the constructor that takes one or two strings.
fn with_strings<'t>(
    t: CurrentThread<'t>,
    function: &str,
    class: Ty,
    first: Option<Obj<'t>>,
    second: Option<Obj<'t>>,
) -> Managed<Obj<'t>> {
    let count = if second.is_some() { 2 } else { 1 };
    let takes = |params: &[Ty]| params.len() == count && params.iter().all(|&ty| ty == universe().string());
    construct(t, function, class, takes, &[first, second][..count])
}

/// The host's text, if there is one.
///
/// # Safety
/// `message` is null or ends in NUL.
unsafe fn some_text(message: *const c_char) -> Option<String> {
    // SAFETY: not null, so the host's text, which ends in NUL.
    (!message.is_null()).then(|| unsafe { text(message) })
}

/// An exception of a class of an image, made by the constructor without parameters.
///
/// # Safety
/// The texts end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_exception_from_name(
    image: &'static Image,
    namespace: *const c_char,
    name: *const c_char,
) -> ObjRef {
    // SAFETY: the host's texts; there is no message.
    unsafe { mono_exception_from_name_msg(image, namespace, name, std::ptr::null()) }
}

/// [`mono_exception_from_name`].
///
/// # Safety
/// The texts end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_exception_from_name_domain(
    _domain: Option<&'static Domain>,
    image: &'static Image,
    namespace: *const c_char,
    name: *const c_char,
) -> ObjRef {
    // SAFETY: the host's texts.
    unsafe { mono_exception_from_name(image, namespace, name) }
}

/// [`mono_exception_from_name`] with a text, if there is one.
///
/// # Safety
/// The texts end in NUL; `message` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_exception_from_name_msg(
    image: &'static Image,
    namespace: *const c_char,
    name: *const c_char,
    message: *const c_char,
) -> ObjRef {
    const FUNCTION: &str = "mono_exception_from_name_msg";
    // SAFETY: the host's texts, which end in NUL.
    let (namespace, name, message) = unsafe { (text(namespace), text(name), some_text(message)) };
    call_quietly(FUNCTION, |t| {
        let class = class_named(t, FUNCTION, image, &namespace, &name)?;
        Ok(with_message(t, FUNCTION, class, message.as_deref())?.word())
    })
}

/// An exception made by a constructor that takes two strings, or one if the second is null.
///
/// # Safety
/// The texts end in NUL; the strings are null or strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_exception_from_name_two_strings(
    image: &'static Image,
    namespace: *const c_char,
    name: *const c_char,
    first: ObjRef,
    second: ObjRef,
) -> ObjRef {
    const FUNCTION: &str = "mono_exception_from_name_two_strings";
    // SAFETY: the host's texts, which end in NUL.
    let (namespace, name) = unsafe { (text(namespace), text(name)) };
    // SAFETY: null or the host's strings.
    let (first, second) = unsafe { (held(first), held(second)) };
    call_quietly(FUNCTION, |t| {
        let class = class_named(t, FUNCTION, image, &namespace, &name)?;
        Ok(with_strings(t, FUNCTION, class, first, second)?.word())
    })
}

/// An exception of the class of a token, made by the constructor without parameters.
#[unsafe(no_mangle)]
pub extern "C" fn mono_exception_from_token(image: &'static Image, token: u32) -> ObjRef {
    const FUNCTION: &str = "mono_exception_from_token";
    call_quietly(FUNCTION, |t| {
        let class = image.resolve_type(Token(token), &GenericContext::NONE).to_managed(t)?;
        Ok(with_message(t, FUNCTION, class, None)?.word())
    })
}

/// [`mono_exception_from_name_two_strings`] of the class of a token.
///
/// # Safety
/// The strings are null or strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_exception_from_token_two_strings(
    image: &'static Image,
    token: u32,
    first: ObjRef,
    second: ObjRef,
) -> ObjRef {
    const FUNCTION: &str = "mono_exception_from_token_two_strings";
    // SAFETY: null or the host's strings.
    let (first, second) = unsafe { (held(first), held(second)) };
    call_quietly(FUNCTION, |t| {
        let class = image.resolve_type(Token(token), &GenericContext::NONE).to_managed(t)?;
        Ok(with_strings(t, FUNCTION, class, first, second)?.word())
    })
}

macro_rules! plain_exceptions {
    ($($function:ident => $namespace:literal $name:literal;)*) => { $(
        #[doc = concat!("A ", $namespace, ".", $name, ".")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $function() -> ObjRef {
            const FUNCTION: &str = stringify!($function);
            call_quietly(FUNCTION, |t| {
                let class = class_named(t, FUNCTION, universe().corlib(), $namespace, $name)?;
                Ok(with_message(t, FUNCTION, class, None)?.word())
            })
        }
    )* };
}

plain_exceptions! {
    mono_get_exception_divide_by_zero => "System" "DivideByZeroException";
    mono_get_exception_security => "System.Security" "SecurityException";
    mono_get_exception_arithmetic => "System" "ArithmeticException";
    mono_get_exception_overflow => "System" "OverflowException";
    mono_get_exception_null_reference => "System" "NullReferenceException";
    mono_get_exception_thread_abort => "System.Threading" "ThreadAbortException";
    mono_get_exception_thread_interrupted => "System.Threading" "ThreadInterruptedException";
    mono_get_exception_invalid_cast => "System" "InvalidCastException";
    mono_get_exception_index_out_of_range => "System" "IndexOutOfRangeException";
    mono_get_exception_array_type_mismatch => "System" "ArrayTypeMismatchException";
    mono_get_exception_appdomain_unloaded => "System" "AppDomainUnloadedException";
    mono_get_exception_stack_overflow => "System" "StackOverflowException";
    mono_get_exception_out_of_memory => "System" "OutOfMemoryException";
    mono_get_exception_field_access => "System" "FieldAccessException";
    mono_get_exception_method_access => "System" "MethodAccessException";
}

macro_rules! exceptions_with_text {
    ($($function:ident => $namespace:literal $name:literal;)*) => { $(
        #[doc = concat!("A ", $namespace, ".", $name, " with this text, or the class's own for null.")]
        ///
        /// # Safety
        /// `message` is null or ends in NUL.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(message: *const c_char) -> ObjRef {
            const FUNCTION: &str = stringify!($function);
            // SAFETY: null or the host's text, which ends in NUL.
            let message = unsafe { some_text(message) };
            call_quietly(FUNCTION, |t| {
                let class = class_named(t, FUNCTION, universe().corlib(), $namespace, $name)?;
                Ok(with_message(t, FUNCTION, class, message.as_deref())?.word())
            })
        }
    )* };
}

exceptions_with_text! {
    mono_get_exception_execution_engine => "System" "ExecutionEngineException";
    mono_get_exception_thread_state => "System.Threading" "ThreadStateException";
    mono_get_exception_serialization => "System.Runtime.Serialization" "SerializationException";
    mono_get_exception_invalid_operation => "System" "InvalidOperationException";
    mono_get_exception_not_implemented => "System" "NotImplementedException";
    mono_get_exception_not_supported => "System" "NotSupportedException";
    mono_get_exception_io => "System.IO" "IOException";
    mono_get_exception_synchronization_lock => "System.Threading" "SynchronizationLockException";
    mono_get_exception_cannot_unload_appdomain => "System" "CannotUnloadAppDomainException";
    mono_get_exception_bad_image_format => "System" "BadImageFormatException";
}

/// An exception about an argument, with the argument's name and a text, if they are there.
fn of_argument(function: &str, name: &str, argument: Option<&str>, message: Option<&str>) -> ObjRef {
    call_quietly(function, |t| {
        let class = class_named(t, function, universe().corlib(), "System", name)?;
        let made = with_message(t, function, class, message)?;
        if let Some(argument) = argument {
            set_text(t, made, "_paramName", argument)?;
        }
        Ok(made.word())
    })
}

/// An ArgumentNullException about this argument.
///
/// # Safety
/// `argument` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_argument_null(argument: *const c_char) -> ObjRef {
    // SAFETY: null or the host's text, which ends in NUL.
    let argument = unsafe { some_text(argument) };
    of_argument("mono_get_exception_argument_null", "ArgumentNullException", argument.as_deref(), None)
}

/// An ArgumentException about this argument, with this text.
///
/// # Safety
/// The texts are null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_argument(argument: *const c_char, message: *const c_char) -> ObjRef {
    // SAFETY: null or the host's texts, which end in NUL.
    let (argument, message) = unsafe { (some_text(argument), some_text(message)) };
    of_argument("mono_get_exception_argument", "ArgumentException", argument.as_deref(), message.as_deref())
}

/// An ArgumentOutOfRangeException about this argument.
///
/// # Safety
/// `argument` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_argument_out_of_range(argument: *const c_char) -> ObjRef {
    // SAFETY: null or the host's text, which ends in NUL.
    let argument = unsafe { some_text(argument) };
    of_argument("mono_get_exception_argument_out_of_range", "ArgumentOutOfRangeException", argument.as_deref(), None)
}

/// An exception of the core assembly made by the constructor that takes one or two strings.
fn of_texts(function: &str, namespace: &str, name: &str, first: Argument, second: Argument) -> ObjRef {
    call_quietly(function, |t| {
        let class = class_named(t, function, universe().corlib(), namespace, name)?;
        let first = first.object(t)?;
        let second = second.object(t)?;
        Ok(with_strings(t, function, class, first, second)?.word())
    })
}

/// A string of the host's, or one that is to be made.
enum Argument {
    Object(Option<Obj<'static>>),
    Text(Option<String>),
}

impl Argument {
    fn object<'t>(self, t: CurrentThread<'t>) -> Managed<Option<Obj<'t>>> {
        Ok(match self {
            Argument::Object(object) => object,
            Argument::Text(Some(text)) => Some(Str::new(t, &text)?.into()),
            Argument::Text(None) => None,
        })
    }
}

/// A TypeLoadException about this class of this assembly.
///
/// # Safety
/// `class` is null or a string, `assembly` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_type_load(class: ObjRef, assembly: *const c_char) -> ObjRef {
    // SAFETY: null or the host's string, and null or its text, which ends in NUL.
    let (class, assembly) = unsafe { (held(class), some_text(assembly)) };
    let assembly = Argument::Text(Some(assembly.unwrap_or_default()));
    of_texts("mono_get_exception_type_load", "System", "TypeLoadException", Argument::Object(class), assembly)
}

/// A MissingMethodException about this method of this class.
///
/// # Safety
/// The texts are null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_missing_method(class: *const c_char, member: *const c_char) -> ObjRef {
    // SAFETY: null or the host's texts, which end in NUL.
    let (class, member) = unsafe { (Argument::Text(some_text(class)), Argument::Text(some_text(member))) };
    of_texts("mono_get_exception_missing_method", "System", "MissingMethodException", class, member)
}

/// A MissingFieldException about this field of this class.
///
/// # Safety
/// The texts are null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_missing_field(class: *const c_char, member: *const c_char) -> ObjRef {
    // SAFETY: null or the host's texts, which end in NUL.
    let (class, member) = unsafe { (Argument::Text(some_text(class)), Argument::Text(some_text(member))) };
    of_texts("mono_get_exception_missing_field", "System", "MissingFieldException", class, member)
}

/// A FileNotFoundException about this file, whose name is its text as well.
///
/// # Safety
/// `file` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_file_not_found(file: ObjRef) -> ObjRef {
    // SAFETY: null or the host's string.
    let file = unsafe { held(file) };
    let (message, file) = (Argument::Object(file), Argument::Object(file));
    of_texts("mono_get_exception_file_not_found", "System.IO", "FileNotFoundException", message, file)
}

/// A FileNotFoundException about this file, with this text.
///
/// # Safety
/// `message` is null or ends in NUL, `file` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_file_not_found2(message: *const c_char, file: ObjRef) -> ObjRef {
    // SAFETY: null or the host's text, which ends in NUL, and null or its string.
    let (message, file) = unsafe { (Argument::Text(some_text(message)), Argument::Object(held(file))) };
    of_texts("mono_get_exception_file_not_found2", "System.IO", "FileNotFoundException", message, file)
}

/// A BadImageFormatException about this file, with this text.
///
/// # Safety
/// `message` is null or ends in NUL, `file` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_bad_image_format2(message: *const c_char, file: ObjRef) -> ObjRef {
    // SAFETY: null or the host's text, which ends in NUL, and null or its string.
    let (message, file) = unsafe { (Argument::Text(some_text(message)), Argument::Object(held(file))) };
    of_texts("mono_get_exception_bad_image_format2", "System", "BadImageFormatException", message, file)
}

/// A TypeInitializationException about this class, around this exception.
///
/// # Safety
/// `class` ends in NUL, `inner` is null or an exception.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_type_initialization(class: *const c_char, inner: ObjRef) -> ObjRef {
    const FUNCTION: &str = "mono_get_exception_type_initialization";
    // SAFETY: the host's text, which ends in NUL, and null or its exception.
    let (class, inner) = unsafe { (text(class), held(inner)) };
    call_quietly(FUNCTION, |t| {
        let exception = class_named(t, FUNCTION, universe().corlib(), "System", "TypeInitializationException")?;
        let takes = |params: &[Ty]| *params == [universe().string(), universe().exception()];
        let class = Str::new(t, &class)?.into();
        Ok(construct(t, FUNCTION, exception, takes, &[Some(class), inner])?.word())
    })
}

/// A ReflectionTypeLoadException with these types and these exceptions.
///
/// # Safety
/// Both are arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_reflection_type_load(types: ObjRef, exceptions: ObjRef) -> ObjRef {
    const FUNCTION: &str = "mono_get_exception_reflection_type_load";
    // SAFETY: the host's arrays.
    let arguments = unsafe { [held(types), held(exceptions)] };
    call_quietly(FUNCTION, |t| {
        let (namespace, name) = ("System.Reflection", "ReflectionTypeLoadException");
        let class = class_named(t, FUNCTION, universe().corlib(), namespace, name)?;
        let takes = |params: &[Ty]| params.len() == 2 && params.iter().all(|ty| ty.is_sz_array());
        Ok(construct(t, FUNCTION, class, takes, &arguments)?.word())
    })
}

/// A RuntimeWrappedException around an object.
///
/// # Safety
/// `object` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_get_exception_runtime_wrapped(object: ObjRef) -> ObjRef {
    const FUNCTION: &str = "mono_get_exception_runtime_wrapped";
    // SAFETY: null or the host's object.
    let arguments = [unsafe { held(object) }];
    call_quietly(FUNCTION, |t| {
        let (namespace, name) = ("System.Runtime.CompilerServices", "RuntimeWrappedException");
        let class = class_named(t, FUNCTION, universe().corlib(), namespace, name)?;
        Ok(construct(t, FUNCTION, class, |params| params.len() == 1, &arguments)?.word())
    })
}

/// Prints an exception as an unhandled one.
///
/// # Safety
/// `exception` is an exception.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_print_unhandled_exception(exception: ObjRef) {
    const FUNCTION: &str = "mono_print_unhandled_exception";
    // SAFETY: the host's exception.
    crate::call::call(FUNCTION, |t| unhandled::report(t, unsafe { some(FUNCTION, exception) }));
}

/// Raises AppDomain.UnhandledException, prints the exception if no handler is there, and goes on.
///
/// # Safety
/// `exception` is an exception.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_unhandled_exception(exception: ObjRef) {
    const FUNCTION: &str = "mono_unhandled_exception";
    crate::call::call(FUNCTION, |t| {
        // SAFETY: the host's exception.
        let exception = unsafe { some(FUNCTION, exception) };
        if !unhandled::raise_event(t, exception) {
            unhandled::report(t, exception);
        }
    });
}

/// Gives an exception that is unhandled to the host's function, if there is one.
pub(crate) fn report_unhandled<'t>(_: CurrentThread<'t>, exception: Obj<'t>) -> bool {
    let Some(hook) = host_functions::with(|functions| functions.unhandled) else { return false };
    let word = exception.word();
    // SAFETY: an object that this frame holds, and the host's data.
    in_host_code(|| unsafe { (hook.function)(word, hook.data()) });
    true
}

/// Has the host's function called with an exception that is unhandled, in place of the report, after the handlers of
/// AppDomain.UnhandledException. If it returns, the process ends.
///
/// # Safety
/// The function may be called with `data` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_install_unhandled_exception_hook(function: Option<UnhandledHook>, data: *mut c_void) {
    host_functions::with(|functions| functions.unhandled = function.map(|function| Hook::new(function, data)));
}
