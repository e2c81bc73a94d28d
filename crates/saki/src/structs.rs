//! Structs of Rust that are structs of C#.

use crate::calls::is_struct;
use crate::values::{StructBytes, Thrown};
use crate::{Class, Object, Thread, Value};
use saki_runtime::object::exceptions::ToManaged;
use saki_types::universe;

/// A struct of Rust with the layout of a C# struct; [`managed_struct!`](crate::managed_struct) implements it.
///
/// # Safety
/// The type is `#[repr(C)]` with the fields of the C# struct in their order, none of which is a reference or a pointer;
/// every pattern of bits that the C# struct may have is a value.
pub unsafe trait ManagedStruct: Copy + 'static {
    /// The C# struct's name with its namespace.
    const NAME: &'static str;
}

/// Implements [`ManagedStruct`], [`FromValue`](crate::FromValue) and [`IntoValue`](crate::IntoValue) for a struct of
/// Rust.
///
/// ```
/// #[repr(C)]
/// #[derive(Clone, Copy)]
/// struct Point {
///     x: i32,
///     y: f64,
/// }
///
/// // SAFETY: `struct Point { public int X; public double Y; }`.
/// saki::managed_struct!(unsafe Point = "Some.Point");
/// ```
#[macro_export]
macro_rules! managed_struct {
    (unsafe $ty:ty = $name:literal) => {
        // SAFETY: the macro's user says so.
        unsafe impl $crate::ManagedStruct for $ty {
            const NAME: &'static str = $name;
        }

        impl $crate::FromValue for $ty {
            const NAME: &'static str = $name;

            fn from_value<'t>(t: $crate::Thread<'t>, value: $crate::Value<'t>) -> Option<Self> {
                value.as_object()?.read_struct(t)
            }
        }

        impl $crate::IntoValue for $ty {
            fn into_value<'t>(
                self,
                t: $crate::Thread<'t>,
            ) -> ::core::result::Result<$crate::Value<'t>, $crate::Exception<'t>> {
                t.struct_object(&self).map($crate::Value::Object)
            }
        }
    };
}

impl<'t> Value<'t> {
    /// A struct, as an argument or for a field.
    pub fn of<T: ManagedStruct>(value: &'t T) -> Value<'t> {
        Value::Struct(bytes_of(value))
    }
}

fn bytes_of<T: ManagedStruct>(value: &T) -> StructBytes<'_> {
    // SAFETY: the bytes of the value, of which padding may be uninitialised.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) };
    StructBytes { name: T::NAME, bytes }
}

impl<'t> Object<'t> {
    /// The value in the box of a struct; None if the object is something else, or the sizes differ.
    pub fn read_struct<T: ManagedStruct>(self, t: Thread<'_>) -> Option<T> {
        let object = self.obj(t);
        // SAFETY: a value of `T`'s layout lies in the box, and has a value of `T`: what the trait demands.
        is_struct(object.ty(), T::NAME, size_of::<T>()).then(|| unsafe { object.data().cast::<T>().read_unaligned() })
    }
}

impl<'t> Thread<'t> {
    /// A box with the struct's value.
    ///
    /// # Errors
    /// TypeLoadException if no assembly that is loaded has a struct of this name; ArgumentException if its layout is
    /// another; OutOfMemoryException.
    pub fn struct_object<T: ManagedStruct>(self, value: &T) -> Thrown<'t, Object<'t>> {
        let bytes = bytes_of(value);
        for assembly in universe().binder().loaded().iter() {
            let found = self.caught(assembly.image.find_type_by_path(bytes.name).to_managed(self.inner()))?;
            if let Some(found) = found {
                return Class::new(found).boxed(self, Value::Struct(bytes));
            }
        }
        self.throw("System.TypeLoadException", &format!("No assembly has a struct '{}'.", bytes.name))
    }
}
