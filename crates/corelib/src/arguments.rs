//! The structs by which System.Private.CoreLib passes objects and records to the machine.
//!
//! A struct passes by the address of the caller's copy, which lives as long as the call. Invariant: the records that
//! managed code holds as native words are those that the machine gave it: `RuntimeType.m_handle` a type handle
//! (`method_tables`), `RuntimeAssembly.m_assembly` a `types::Assembly`, `RuntimeModule.m_pData` a `types::Image`,
//! internal handles a `types::Method` or `types::Field`.

use saki_runtime::exec::crossings::RefPlace;
use saki_runtime::object::method_tables;
use saki_runtime::{CurrentThread, Obj, Str, Word};
use saki_types::{Assembly, Field, Image, Method, Ty};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Defines a struct that consists of the address of a variable and a native word.
macro_rules! with_handle {
    ($($(#[$doc:meta])* $vis:vis $name:ident;)*) => { $(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy)]
        $vis struct $name<'t>(NonNull<[usize; 2]>, PhantomData<&'t ()>);

        impl $name<'_> {
            /// The native word.
            pub fn handle(self) -> usize {
                // SAFETY: the module header: two words that live as long as the call.
                unsafe { self.0.read()[1] }
            }
        }
    )* };
}

with_handle! {
    /// `QCallTypeHandle`.
    pub(crate) TypeArgument;
    /// `QCallAssembly`.
    pub(crate) AssemblyArgument;
    /// `QCallModule`.
    pub(crate) ModuleArgument;
}

impl TypeArgument<'_> {
    /// The type; None for a null handle.
    pub fn find(self) -> Option<Ty> {
        // SAFETY: the module header: a type handle.
        Some(self.handle()).filter(|handle| *handle != 0).map(|handle| unsafe { method_tables::type_of_handle(handle) })
    }

    /// The type of a handle that the class library has checked not to be null.
    pub fn ty(self) -> Ty {
        self.find().unwrap_or_else(|| saki_base::bug!("a QCall got a null type handle"))
    }
}

impl AssemblyArgument<'_> {
    /// The assembly.
    pub fn assembly(self) -> &'static Assembly {
        // SAFETY: the module header: the address of an assembly's record.
        unsafe { (self.handle() as *const Assembly).as_ref() }
            .unwrap_or_else(|| saki_base::bug!("a QCall got a null assembly"))
    }
}

impl ModuleArgument<'_> {
    /// The module.
    pub fn image(self) -> &'static Image {
        // SAFETY: the module header: the address of an image's record.
        unsafe { (self.handle() as *const Image).as_ref() }
            .unwrap_or_else(|| saki_base::bug!("a QCall got a null module"))
    }
}

/// Defines a struct that consists of one word.
macro_rules! one_word {
    ($($(#[$doc:meta])* $vis:vis $name:ident = $word:ty;)*) => { $(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy)]
        $vis struct $name<'t>(NonNull<$word>, PhantomData<&'t ()>);
    )* };
}

one_word! {
    /// `ObjectHandleOnStack`: the address of a variable of a reference type.
    pub(crate) ObjectPlace = Option<RefPlace<'t>>;
    /// `StringHandleOnStack`: the address of a variable of type string.
    pub(crate) StringPlace = Option<RefPlace<'t>>;
    /// `StackCrawlMarkHandle`: the address of a variable of type StackCrawlMark.
    pub(crate) StackMark = *const i32;
    /// `RuntimeMethodHandleInternal`.
    pub(crate) MethodArgument = *const Method;
    /// `RuntimeFieldHandleInternal`.
    pub(crate) FieldArgument = *const Field;
}

impl StackMark<'_> {
    /// Whether the caller of the method that calls reflection is asked for, not that method.
    pub(crate) fn is_of_callers_caller(self) -> bool {
        /// `StackCrawlMark.LookForMyCallersCaller`
        const CALLERS_CALLER: i32 = 2;
        // SAFETY: the module header: a struct of one word, the address of a variable.
        let variable = unsafe { self.0.read() };
        // SAFETY: managed code passes the address of a local variable, which lives for the call.
        unsafe { variable.read() == CALLERS_CALLER }
    }
}

impl<'t> ObjectPlace<'t> {
    fn place(self) -> RefPlace<'t> {
        // SAFETY: the module header: a struct of one word, the address of a variable.
        unsafe { self.0.read() }.unwrap_or_else(|| saki_base::bug!("a QCall got no place for an object"))
    }

    /// The variable's object.
    pub fn get(self) -> Option<Obj<'t>> {
        self.place().get()
    }

    /// Stores a reference of the variable's type.
    pub fn set(self, t: CurrentThread, value: impl Word) {
        self.place().set(t, value);
    }
}

impl<'t> StringPlace<'t> {
    /// The variable's string.
    pub fn get(self) -> Option<Str<'t>> {
        // SAFETY: the struct has one word, the address of a variable that lives as long as the call.
        unsafe { self.0.read() }.and_then(RefPlace::get).and_then(Obj::as_str)
    }

    /// Stores a string, or null.
    pub fn set(self, t: CurrentThread, value: Option<Str>) {
        // SAFETY: the struct has one word, the address of a variable that lives as long as the call.
        if let Some(place) = unsafe { self.0.read() } {
            place.set(t, value);
        }
    }
}

impl MethodArgument<'_> {
    /// The method; None for a null handle.
    pub fn find(self) -> Option<&'static Method> {
        // SAFETY: the module header: null or a method's record.
        unsafe { self.0.read().as_ref() }
    }

    /// The method of a handle that the class library has checked not to be null.
    pub fn method(self) -> &'static Method {
        self.find().unwrap_or_else(|| saki_base::bug!("a null method handle"))
    }
}

impl FieldArgument<'_> {
    /// The field; None for a null handle.
    pub fn find(self) -> Option<&'static Field> {
        // SAFETY: the module header: null or a field's record.
        unsafe { self.0.read().as_ref() }
    }

    /// The field of a handle that the class library has checked not to be null.
    pub fn field(self) -> &'static Field {
        self.find().unwrap_or_else(|| saki_base::bug!("a null field handle"))
    }
}

saki_runtime::address_parameters! {
    /// Structs pass by address.
    ['t] TypeArgument<'t>;
    /// As above.
    ['t] AssemblyArgument<'t>;
    /// As above.
    ['t] ModuleArgument<'t>;
    /// As above.
    ['t] ObjectPlace<'t>;
    /// As above.
    ['t] StringPlace<'t>;
    /// As above.
    ['t] StackMark<'t>;
    /// As above.
    ['t] MethodArgument<'t>;
    /// As above.
    ['t] FieldArgument<'t>;
}
