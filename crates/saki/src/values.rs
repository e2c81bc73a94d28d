//! Values that pass between Rust and managed code; errors: exceptions inside a run, their texts outside.

use crate::{Object, Thread};
use saki_runtime::vm::unhandled;
use saki_types::Ty;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A value of managed code. Structs are boxed objects.
#[derive(Clone, Copy, Debug)]
pub enum Value<'t> {
    /// No value: the result of a `void` method.
    Unit,
    /// The null reference.
    Null,
    /// `bool`
    Bool(bool),
    /// `char`, a UTF-16 unit.
    Char(u16),
    /// `sbyte`
    I8(i8),
    /// `byte`
    U8(u8),
    /// `short`
    I16(i16),
    /// `ushort`
    U16(u16),
    /// `int`
    I32(i32),
    /// `uint`
    U32(u32),
    /// `long`, and `nint`
    I64(i64),
    /// `ulong`, and `nuint`
    U64(u64),
    /// `float`
    F32(f32),
    /// `double`
    F64(f64),
    /// A string, an array, any other object, or a boxed struct.
    Object(Object<'t>),
    /// A string to be made, as an argument.
    Text(&'t str),
    /// A struct of Rust, as an argument: [`Value::of`].
    Struct(StructBytes<'t>),
    /// A variable that a function of Rust got by reference.
    Place(Place<'t>),
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident $variant:ident $ty:ty;)*) => {
        impl<'t> Value<'t> { $(
            $(#[$doc])*
            /// None for other values.
            pub fn $name(self) -> Option<$ty> {
                match self {
                    Value::$variant(value) => Some(value),
                    _ => None,
                }
            }
        )* }
        $(
            impl From<$ty> for Value<'_> {
                fn from(value: $ty) -> Self {
                    Value::$variant(value)
                }
            }
        )*
    };
}

numbers! {
    /// The value if it is a `bool`.
    as_bool Bool bool;
    /// The value if it is an `sbyte`.
    as_i8 I8 i8;
    /// The value if it is a `byte`.
    as_u8 U8 u8;
    /// The value if it is a `short`.
    as_i16 I16 i16;
    /// The value if it is an `int`.
    as_i32 I32 i32;
    /// The value if it is a `uint`.
    as_u32 U32 u32;
    /// The value if it is a `long`.
    as_i64 I64 i64;
    /// The value if it is a `ulong`.
    as_u64 U64 u64;
    /// The value if it is a `float`.
    as_f32 F32 f32;
    /// The value if it is a `double`.
    as_f64 F64 f64;
}

impl<'t> Value<'t> {
    /// The object, if it is one.
    pub fn as_object(self) -> Option<Object<'t>> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_text(self, t: Thread<'t>) -> Option<String> {
        match self {
            Value::Object(object) => object.text(t),
            Value::Text(text) => Some(text.to_owned()),
            _ => None,
        }
    }

    /// The variable, if the value is one.
    pub fn as_place(self) -> Option<Place<'t>> {
        match self {
            Value::Place(place) => Some(place),
            _ => None,
        }
    }

    /// Whether it is null.
    pub fn is_null(self) -> bool {
        matches!(self, Value::Null)
    }
}

impl<'t> From<Object<'t>> for Value<'t> {
    fn from(object: Object<'t>) -> Self {
        Value::Object(object)
    }
}

impl<'t> From<&'t str> for Value<'t> {
    fn from(text: &'t str) -> Self {
        Value::Text(text)
    }
}

impl<'t> From<Option<Object<'t>>> for Value<'t> {
    fn from(object: Option<Object<'t>>) -> Self {
        object.map_or(Value::Null, Value::Object)
    }
}

/// The bytes of a struct, and the name of its type.
#[derive(Clone, Copy, Debug)]
pub struct StructBytes<'t> {
    pub(crate) name: &'static str,
    pub(crate) bytes: &'t [MaybeUninit<u8>],
}

/// A variable that a function got by reference (`ref`, `out`, `in`), while the function runs.
#[derive(Clone, Copy)]
pub struct Place<'t> {
    pub(crate) ty: Ty,
    pub(crate) address: *mut u8,
    /// Bound to the function's scope, and to its thread.
    scope: PhantomData<(&'t (), *const ())>,
}

impl<'t> Place<'t> {
    /// # Safety
    /// For the time `'t` a variable of the type is at the address, in memory that does not move.
    pub(crate) unsafe fn new(ty: Ty, address: *mut u8) -> Place<'t> {
        Place { ty, address, scope: PhantomData }
    }
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ref {}", self.ty.full_name())
    }
}

/// The result of code that may throw.
pub(crate) type Thrown<'t, T> = Result<T, Exception<'t>>;

/// An exception that managed code threw.
#[derive(Clone, Copy)]
pub struct Exception<'t> {
    thread: Thread<'t>,
    object: Object<'t>,
}

/// What went wrong, as text: an exception that has left the run in which it was thrown, or a machine that did not
/// start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    class: String,
    message: String,
    text: String,
}

impl<'t> Exception<'t> {
    pub(crate) fn new(thread: Thread<'t>, object: Object<'t>) -> Exception<'t> {
        Exception { thread, object }
    }

    /// The exception object.
    pub fn object(self) -> Object<'t> {
        self.object
    }

    /// The name of its class: "System.FormatException".
    pub fn class_name(self) -> String {
        self.object.class(self.thread).full_name()
    }

    /// Its `Message`; empty if that throws.
    pub fn message(self) -> String {
        let message = self.object.get(self.thread, "Message");
        message.ok().and_then(|message| message.as_text(self.thread)).unwrap_or_default()
    }

    /// Its `StackTrace`: a line for each call between the throw and the run; empty if it was never thrown.
    pub fn stack(self) -> String {
        let stack = self.object.get(self.thread, "StackTrace");
        stack.ok().and_then(|stack| stack.as_text(self.thread)).unwrap_or_default()
    }

    /// The text of `ToString`, with the stack of the throw.
    pub fn text(self) -> String {
        unhandled::describe(self.thread.inner(), self.object.obj(self.thread))
    }
}

impl fmt::Debug for Exception<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Display for Exception<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class_name(), self.message())
    }
}

impl std::error::Error for Exception<'_> {}

impl Error {
    pub(crate) fn start(message: String) -> Error {
        Error { class: String::new(), text: message.clone(), message }
    }

    /// The name of the exception's class; empty for a machine that did not start.
    pub fn class_name(&self) -> &str {
        &self.class
    }

    /// The exception's message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The text of `ToString`, with the stack of the throw.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl From<Exception<'_>> for Error {
    fn from(exception: Exception<'_>) -> Error {
        Error { class: exception.class_name(), message: exception.message(), text: exception.text() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class.as_str() {
            "" => f.write_str(&self.message),
            class => write!(f, "{class}: {}", self.message),
        }
    }
}

impl std::error::Error for Error {}
