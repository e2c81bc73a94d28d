//! Functions of Rust with types of Rust: `|a: i32, text: String| -> f64` as an internal call or a delegate.
//!
//! A function's parameters and result are converted by two traits; what does not fit is an ArgumentException that says
//! which parameter got which value. Left out: structs, and objects whose class is checked (take an [`Object`] value).

use crate::values::Thrown;
use crate::{Class, Exception, Object, Thread, Value, VmBuilder};
use std::fmt::Display;

/// A type of Rust that a parameter may have.
pub trait FromValue: Sized {
    /// As the message of an exception names it: "int".
    const NAME: &'static str;

    /// The value, or None if it is another kind of value.
    fn from_value<'t>(t: Thread<'t>, value: Value<'t>) -> Option<Self>;
}

/// A type of Rust that a result may have.
pub trait IntoValue {
    /// The value for managed code.
    ///
    /// # Errors
    /// What managed code gets thrown.
    fn into_value<'t>(self, t: Thread<'t>) -> Result<Value<'t>, Exception<'t>>;
}

macro_rules! plain {
    ($($ty:ty, $get:ident, $name:literal;)*) => { $(
        impl FromValue for $ty {
            const NAME: &'static str = $name;

            fn from_value<'t>(_t: Thread<'t>, value: Value<'t>) -> Option<Self> {
                value.$get()
            }
        }

        impl IntoValue for $ty {
            fn into_value<'t>(self, _t: Thread<'t>) -> Result<Value<'t>, Exception<'t>> {
                Ok(Value::from(self))
            }
        }
    )* };
}

plain! {
    bool, as_bool, "bool";
    i8, as_i8, "sbyte";
    u8, as_u8, "byte";
    i16, as_i16, "short";
    i32, as_i32, "int";
    u32, as_u32, "uint";
    i64, as_i64, "long";
    u64, as_u64, "ulong";
    f32, as_f32, "float";
    f64, as_f64, "double";
}

impl FromValue for u16 {
    const NAME: &'static str = "ushort";

    fn from_value<'t>(_t: Thread<'t>, value: Value<'t>) -> Option<Self> {
        if let Value::U16(number) = value { Some(number) } else { None }
    }
}

impl IntoValue for u16 {
    fn into_value<'t>(self, _t: Thread<'t>) -> Result<Value<'t>, Exception<'t>> {
        Ok(Value::U16(self))
    }
}

impl FromValue for String {
    const NAME: &'static str = "string";

    fn from_value<'t>(t: Thread<'t>, value: Value<'t>) -> Option<Self> {
        value.as_text(t)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    const NAME: &'static str = T::NAME;

    fn from_value<'t>(t: Thread<'t>, value: Value<'t>) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::from_value(t, value).map(Some) }
    }
}

impl IntoValue for () {
    fn into_value<'t>(self, _t: Thread<'t>) -> Result<Value<'t>, Exception<'t>> {
        Ok(Value::Unit)
    }
}

impl IntoValue for String {
    fn into_value<'t>(self, t: Thread<'t>) -> Result<Value<'t>, Exception<'t>> {
        self.as_str().into_value(t)
    }
}

impl IntoValue for &str {
    fn into_value<'t>(self, t: Thread<'t>) -> Result<Value<'t>, Exception<'t>> {
        t.string(self).map(Value::Object)
    }
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value<'t>(self, t: Thread<'t>) -> Result<Value<'t>, Exception<'t>> {
        self.map_or(Ok(Value::Null), |value| value.into_value(t))
    }
}

/// An error is an InvalidOperationException with its text.
impl<T: IntoValue, E: Display> IntoValue for Result<T, E> {
    fn into_value<'t>(self, t: Thread<'t>) -> Result<Value<'t>, Exception<'t>> {
        match self {
            Ok(value) => value.into_value(t),
            Err(error) => t.throw("System.InvalidOperationException", &error.to_string()),
        }
    }
}

/// A function of Rust whose parameters, `P` as a tuple, and result convert.
pub trait TypedFunction<P>: Send + Sync + 'static {
    /// Calls it.
    ///
    /// # Errors
    /// ArgumentException for values that do not fit; what the result's conversion throws.
    fn call<'t>(&self, t: Thread<'t>, arguments: &[Value<'t>]) -> Result<Value<'t>, Exception<'t>>;
}

/// The argument at the index.
fn argument<'t, T: FromValue>(t: Thread<'t>, arguments: &[Value<'t>], index: usize) -> Thrown<'t, T> {
    let Some(&value) = arguments.get(index) else {
        let message = format!("The function wants a {} as parameter {}, and there is none.", T::NAME, index + 1);
        return t.throw("System.ArgumentException", &message);
    };
    match T::from_value(t, value) {
        Some(converted) => Ok(converted),
        None => {
            let message =
                format!("The function wants a {} as parameter {}, and gets another value.", T::NAME, index + 1);
            t.throw("System.ArgumentException", &message)
        }
    }
}

macro_rules! typed {
    ($($parameter:ident $index:literal),*; $count:literal) => {
        impl<F, R, $($parameter),*> TypedFunction<($($parameter,)*)> for F
        where
            F: Fn($($parameter),*) -> R + Send + Sync + 'static,
            R: IntoValue,
            $($parameter: FromValue,)*
        {
            fn call<'t>(&self, t: Thread<'t>, arguments: &[Value<'t>]) -> Result<Value<'t>, Exception<'t>> {
                if arguments.len() > $count {
                    let message = format!("The function has {} parameters, and gets {}.", $count, arguments.len());
                    return t.throw("System.ArgumentException", &message);
                }
                self($(argument::<$parameter>(t, arguments, $index)?),*).into_value(t)
            }
        }
    };
}

typed! { ; 0 }
typed! { A 0; 1 }
typed! { A 0, B 1; 2 }
typed! { A 0, B 1, C 2; 3 }
typed! { A 0, B 1, C 2, D 3; 4 }
typed! { A 0, B 1, C 2, D 3, E 4; 5 }
typed! { A 0, B 1, C 2, D 3, E 4, G 5; 6 }

impl VmBuilder {
    /// A function for an internal call, as [`VmBuilder::function`], with types of Rust:
    /// `|a: i32, text: String| -> f64`.
    /// `Option` is for what may be null, a `Result`'s error becomes an InvalidOperationException.
    #[must_use]
    pub fn typed_function<P>(self, name: &str, function: impl TypedFunction<P>) -> VmBuilder {
        self.function(name, move |t, arguments| function.call(t, arguments))
    }
}

impl<'t> Thread<'t> {
    /// A delegate, as [`Thread::delegate`], over a function with types of Rust.
    ///
    /// # Errors
    /// Those of [`Thread::delegate`].
    pub fn typed_delegate<P>(self, class: Class, function: impl TypedFunction<P>) -> Thrown<'t, Object<'t>> {
        self.delegate(class, move |t, arguments| function.call(t, arguments))
    }
}
