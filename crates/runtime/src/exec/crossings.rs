//! The types of values that pass between managed code and the Rust functions of internal calls and helpers.
//!
//! Internal calls and library loops are safe Rust functions. A row of a table (`InternalCall::new`, `library_loops::Row::new`) takes the
//! kinds of its parameters from the function's own type and makes the function that compiled code calls; `Signature::difference` compares
//! the kinds with the managed signature. Only compiled code calls by the table, and with arguments of these kinds. Left out: the types
//! behind pointers and addresses of value types, which Rust functions name and the comparison does not see.

use crate::internal_calls::InternalCall;
use crate::references::{Array, Obj, Str, Word};
use crate::thread::{CurrentThread, IcallResult, Managed};
use saki_abi::helpers::AbiType;
use saki_abi::vtable::VTable;
use saki_abi::{ObjRef, Object};
use saki_il::ir::IrType;
use saki_os::membarrier::fenced;
use saki_sync::monitor::Monitor;
use saki_types::{ElementType, Field, LibraryType, LoadResult, Method, Ty, Type};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize, Ordering,
};

/// The form in which a value passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// No result.
    Void,
    /// A result that compiled code turns into the managed one.
    Expanded,
    /// 32 bits or fewer.
    I32,
    /// 64 bits: `long`, native integers.
    I64,
    F32,
    F64,
    /// A reference to any object.
    Object,
    /// A reference to a string.
    String,
    /// A reference to an array.
    Array,
    /// Pointers, byrefs, native integers, and the addresses by which value types of more than one word pass.
    Address,
    /// A byref of a value type of this size.
    Place {
        size_bytes: usize,
    },
    /// A byref of a reference type.
    RefPlace,
}

/// A Rust type that passes to or from managed code.
///
/// # Safety
/// Each value that a managed type of this kind passes is a value of the Rust type.
pub unsafe trait Crossing {
    const KIND: Kind;
}

/// A type of parameters.
///
/// # Safety
/// The register type has the size and class that the System V convention gives the kind.
pub unsafe trait Parameter: Crossing {
    /// The type that compiled code passes: integers of fewer bits are passed as 32 bits.
    type Register;

    fn from_register(register: Self::Register) -> Self;
}

/// A type of results.
///
/// # Safety
/// The register type has the size and class that the System V convention gives the kind.
pub unsafe trait Returned: Crossing {
    /// The type that compiled code gets. Integers of fewer than 32 bits are extended: compiled code reads the whole register, while the
    /// System V convention leaves its upper bits undefined.
    type Register: IcallResult;

    fn into_register(self) -> Self::Register;
}

macro_rules! parameters {
    ($([$($generic:tt),*] $ty:ty = $kind:expr;)*) => { $(
        // SAFETY: the layout of the kind's register.
        unsafe impl<$($generic),*> Crossing for $ty {
            const KIND: Kind = $kind;
        }

        // SAFETY: the layout of the kind's register.
        unsafe impl<$($generic),*> Parameter for $ty {
            type Register = $ty;

            #[inline]
            fn from_register(register: $ty) -> $ty {
                register
            }
        }
    )* };
}

/// Parameters that are an address which the class library got from this crate or its own memory. Each type is declared with the reason for its layout.
#[macro_export]
macro_rules! address_parameters {
    ($($(#[$reason:meta])* [$($generic:tt),*] $ty:ty;)*) => { $(
        // SAFETY: the reason above the type.
        $(#[$reason])*
        unsafe impl<$($generic),*> $crate::exec::crossings::Crossing for $ty {
            const KIND: $crate::exec::crossings::Kind = $crate::exec::crossings::Kind::Address;
        }

        // SAFETY: as above.
        unsafe impl<$($generic),*> $crate::exec::crossings::Parameter for $ty {
            type Register = $ty;

            #[inline]
            fn from_register(register: $ty) -> $ty {
                register
            }
        }
    )* };
}

macro_rules! results {
    ($([$($generic:tt),*] $ty:ty;)*) => { $(
        // SAFETY: the layout of the kind's register.
        unsafe impl<$($generic),*> Returned for $ty {
            type Register = $ty;

            #[inline]
            fn into_register(self) -> $ty {
                self
            }
        }
    )* };
}

macro_rules! narrow_integers {
    ($($ty:ty),*) => { $(
        // SAFETY: the layout of the kind's register.
        unsafe impl Crossing for $ty {
            const KIND: Kind = Kind::I32;
        }

        // SAFETY: the layout of the kind's register.
        unsafe impl Parameter for $ty {
            type Register = i32;

            #[inline]
            fn from_register(register: i32) -> $ty {
                register as $ty
            }
        }

        // SAFETY: the layout of the kind's register.
        unsafe impl Returned for $ty {
            type Register = i32;

            #[inline]
            fn into_register(self) -> i32 {
                i32::from(self)
            }
        }
    )* };
}

parameters! {
    [] i32 = Kind::I32;
    [] u32 = Kind::I32;
    [] i64 = Kind::I64;
    [] u64 = Kind::I64;
    [] isize = Kind::I64;
    [] usize = Kind::I64;
    [] f32 = Kind::F32;
    [] f64 = Kind::F64;
    ['t] Option<Obj<'t>> = Kind::Object;
    ['t] Option<Str<'t>> = Kind::String;
    ['t] Option<Array<'t>> = Kind::Array;
    [T] *const T = Kind::Address;
    [T] *mut T = Kind::Address;
    ['t, T] Place<'t, T> = Kind::Place { size_bytes: size_of::<T>() };
    ['t, T] Option<Place<'t, T>> = Kind::Place { size_bytes: size_of::<T>() };
    ['t] RefPlace<'t> = Kind::RefPlace;
    ['t] Option<RefPlace<'t>> = Kind::RefPlace;
}

results! {
    [] ();
    [] i32;
    [] u32;
    [] i64;
    [] u64;
    [] isize;
    [] usize;
    [] f32;
    [] f64;
    ['t] Option<Obj<'t>>;
    ['t] Option<Str<'t>>;
    ['t] Option<Array<'t>>;
    [T] *const T;
    [T] *mut T;
}

narrow_integers!(i8, u8, i16, u16);

/// Records that are never freed while code that names them can run; compiled code has their addresses as constants.
macro_rules! records {
    ($($ty:ty),*) => { $(
        parameters! {
            [] &'static $ty = Kind::Address;
            [] Option<&'static $ty> = Kind::Address;
        }
    )* };
}
records!(VTable, Type, Method, Field, Monitor);

// SAFETY: the layout of the kind's register.
unsafe impl Crossing for () {
    const KIND: Kind = Kind::Void;
}

// SAFETY: the layout of the kind's register.
unsafe impl Crossing for bool {
    const KIND: Kind = Kind::I32;
}

// SAFETY: the layout of the kind's register.
unsafe impl Parameter for bool {
    type Register = i32;

    /// A System.Boolean is false if its byte is zero; in unverifiable code true may have other values than 1.
    #[inline]
    fn from_register(register: i32) -> bool {
        register as u8 != 0
    }
}

// SAFETY: the layout of the kind's register.
unsafe impl Returned for bool {
    type Register = i32;

    #[inline]
    fn into_register(self) -> i32 {
        i32::from(self)
    }
}

macro_rules! references {
    ($($ty:ident = $kind:expr;)*) => { $(
        // SAFETY: the layout of the kind's register.
        unsafe impl Crossing for $ty<'_> {
            const KIND: Kind = $kind;
        }

        // SAFETY: the layout of the kind's register.
        unsafe impl<'t> Returned for $ty<'t> {
            type Register = Option<$ty<'t>>;

            #[inline]
            fn into_register(self) -> Option<$ty<'t>> {
                Some(self)
            }
        }
    )* };
}

references! {
    Obj = Kind::Object;
    Str = Kind::String;
    Array = Kind::Array;
}

/// The kinds of a function's parameters, without the thread, and of its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    pub params: &'static [Kind],
    pub result: Kind,
}

/// The target of a byref parameter of a plain type: a local, a field, an element or a static.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Place<'t, T>(NonNull<T>, PhantomData<&'t T>);

impl<T: Copy> Place<'_, T> {
    pub fn get(self) -> T {
        // SAFETY: compiled code passes the address of a variable of this type, which lives as long as the call.
        unsafe { self.0.read() }
    }

    pub fn set(self, value: T) {
        // SAFETY: as in `get`.
        unsafe { self.0.write(value) };
    }
}

impl<'t, T> Place<'t, T> {
    pub fn as_ptr(self) -> *mut T {
        self.0.as_ptr()
    }
}

macro_rules! atomic_places {
    ($($atomic:ty),*) => { $(
        impl<'t> Place<'t, $atomic> {
            /// The variable, which other threads access as well.
            pub fn atomic(self) -> &'t $atomic {
                // SAFETY: compiled code passes the address of an aligned variable of this size, which lives as long as the call.
                unsafe { self.0.as_ref() }
            }
        }
    )* };
}
atomic_places!(
    AtomicI8,
    AtomicU8,
    AtomicI16,
    AtomicU16,
    AtomicI32,
    AtomicU32,
    AtomicI64,
    AtomicU64,
    AtomicIsize,
    AtomicUsize
);

/// The target of a byref parameter of a reference type.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct RefPlace<'t>(NonNull<ObjRef>, PhantomData<&'t ObjRef>);

impl<'t> RefPlace<'t> {
    pub fn get(self) -> Option<Obj<'t>> {
        // SAFETY: compiled code passes the address of a variable of a reference type, which lives as long as the call.
        unsafe { Obj::from_word(ObjRef::load(self.as_ptr())) }
    }

    /// Stores a reference of the variable's type, with barrier.
    pub fn set(self, t: CurrentThread, value: impl Word) {
        // SAFETY: as in `get`; the variable may lie on the stack or in the heap.
        unsafe { saki_gc::barrier::store_ref_unknown(t.managed(), self.0.as_ptr(), value.word()) };
    }

    pub fn as_ptr(self) -> *mut ObjRef {
        self.0.as_ptr()
    }

    fn atomic(self) -> &'t AtomicPtr<Object> {
        // SAFETY: as in `get`; the variable is aligned, and a reference is a pointer.
        unsafe { AtomicPtr::from_ptr(self.0.as_ptr().cast()) }
    }

    /// The variable's object, read with acquire order; None for null.
    pub fn load(self) -> Option<Obj<'t>> {
        // SAFETY: the variable holds a reference.
        unsafe { Obj::from_word(ObjRef(self.atomic().load(Ordering::Acquire))) }
    }

    /// Stores a reference of the variable's type, with barrier and with release order.
    pub fn store(self, t: CurrentThread, value: impl Word) {
        self.atomic().store(value.word().0, Ordering::Release);
        self.note_stored(t);
    }

    /// Stores a reference of the variable's type and returns the one before. Sequentially consistent, and a full fence.
    pub fn swap(self, t: CurrentThread, value: impl Word) -> Option<Obj<'t>> {
        // SeqCst: in one order with all other operations of `Interlocked`, which this is one of.
        let before = fenced(self.atomic().swap(value.word().0, Ordering::SeqCst));
        self.note_stored(t);
        // SAFETY: the variable held a reference.
        unsafe { Obj::from_word(ObjRef(before)) }
    }

    /// Stores a reference of the variable's type if the variable holds `expected`, and returns the one before.
    /// Sequentially consistent, and a full fence.
    pub fn compare_exchange(self, t: CurrentThread, value: impl Word, expected: impl Word) -> Option<Obj<'t>> {
        let (value, expected) = (value.word().0, expected.word().0);
        // SeqCst: as in `swap`, also on failure: then it is a read by `Interlocked`.
        let before = match fenced(self.atomic().compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)) {
            Ok(before) => {
                self.note_stored(t);
                before
            }
            Err(before) => before,
        };
        // SAFETY: the variable held a reference.
        unsafe { Obj::from_word(ObjRef(before)) }
    }

    /// The write barrier of a store that was made.
    fn note_stored(self, t: CurrentThread) {
        saki_gc::barrier::after_store_unknown(t.managed(), self.0.as_ptr());
    }
}

/// A function that can be an internal call or a library loop: a safe function of the current thread and values that cross. It may return
/// `Managed`: on `Err` the exception is pending, and compiled code throws it instead of using the result.
///
/// `Parts` are the types of the parameters and of the result.
pub trait Callable<Parts>: Copy {
    const SIGNATURE: Signature;
    /// The function that compiled code calls (System V): the thread, then the arguments.
    const ENTRY: *const ();
}

/// What a `Callable` may return.
pub trait Outcome {
    type Value: Returned;

    fn into_register(self, t: CurrentThread) -> <Self::Value as Returned>::Register;
}

impl<T: Returned> Outcome for T {
    type Value = T;

    #[inline]
    fn into_register(self, _t: CurrentThread) -> T::Register {
        Returned::into_register(self)
    }
}

impl<T: Returned> Outcome for Managed<T> {
    type Value = T;

    #[inline]
    fn into_register(self, t: CurrentThread) -> T::Register {
        t.run(|| self.map(Returned::into_register))
    }
}

/// The only value of the type of a function item.
fn function_item<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "internal calls are function items") };
    // SAFETY: a type without bytes, of which `InternalCall::new` or the table of helpers was given a value; reading it reads nothing.
    unsafe { NonNull::<F>::dangling().read() }
}

macro_rules! callables {
    ($($entry:ident: $($param:ident)*;)*) => { $(
        #[allow(non_snake_case, reason = "parameters are named as their types, where there are any")]
        extern "C" fn $entry<'t, F, R, $($param),*>(
            t: CurrentThread<'t>,
            $($param: $param::Register),*
        ) -> <R::Value as Returned>::Register
        where
            F: Fn(CurrentThread<'t>, $($param),*) -> R + Copy,
            R: Outcome,
            $($param: Parameter,)*
        {
            function_item::<F>()(t, $($param::from_register($param)),*).into_register(t)
        }

        impl<'t, F, R: Outcome, $($param: Parameter),*> Callable<(CurrentThread<'t>, $($param,)* R)> for F
        where
            F: Fn(CurrentThread<'t>, $($param),*) -> R + Copy,
        {
            const SIGNATURE: Signature = Signature { params: &[$($param::KIND),*], result: <R::Value as Crossing>::KIND };
            const ENTRY: *const () = $entry::<'t, F, R, $($param),*> as *const ();
        }
    )* };
}
callables! {
    call0: ;
    call1: A;
    call2: A B;
    call3: A B C;
    call4: A B C D;
    call5: A B C D E;
    call6: A B C D E G;
    call7: A B C D E G H;
    call8: A B C D E G H I;
    call9: A B C D E G H I J;
    call10: A B C D E G H I J K;
    call11: A B C D E G H I J K L;
    call12: A B C D E G H I J K L M;
    call13: A B C D E G H I J K L M N;
    call14: A B C D E G H I J K L M N O;
}

impl InternalCall {
    /// The row of a method's name, as `internal_calls` describes it, and the function that implements it.
    pub const fn new<Parts, F: Callable<Parts>>(name: &'static str, _function: &F) -> InternalCall {
        InternalCall { name, function: F::ENTRY, signature: F::SIGNATURE }
    }

    /// The row of a call that the code generator expands, and the function that implements it. The expanded code makes
    /// the managed result from the function's result, so the two types may differ.
    pub const fn expanded<Parts, F: Callable<Parts>>(name: &'static str, _function: &F) -> InternalCall {
        let signature = Signature { params: F::SIGNATURE.params, result: Kind::Expanded };
        InternalCall { name, function: F::ENTRY, signature }
    }
}

impl Kind {
    /// Whether a value of the machine-level type passes as this kind.
    pub(crate) const fn is(self, ty: AbiType) -> bool {
        match ty {
            AbiType::Void => matches!(self, Kind::Void),
            AbiType::I32 => matches!(self, Kind::I32),
            AbiType::I64 => matches!(self, Kind::I64),
            AbiType::F32 => matches!(self, Kind::F32),
            AbiType::F64 => matches!(self, Kind::F64),
            AbiType::Ref => matches!(self, Kind::Object | Kind::String | Kind::Array),
            AbiType::Ptr => matches!(self, Kind::Address | Kind::I64 | Kind::Place { .. } | Kind::RefPlace),
        }
    }

    /// Whether a value of the managed type passes as this kind.
    fn takes(self, managed: Ty, passed: IrType) -> bool {
        match self {
            Kind::Void => passed == IrType::Void,
            Kind::Expanded => true,
            Kind::I32 => passed == IrType::I32,
            Kind::I64 => passed == IrType::I64 && !managed.is_pointer(),
            Kind::F32 => passed == IrType::F32,
            Kind::F64 => passed == IrType::F64,
            Kind::Object => passed == IrType::Ref,
            Kind::String => passed == IrType::Ref && managed.element_type == ElementType::String,
            Kind::Array => passed == IrType::Ref && (managed.is_array() || managed.is(LibraryType::Array)),
            Kind::Address => match passed {
                IrType::ByRef | IrType::Struct(_) => true,
                IrType::I64 => !matches!(managed.element_type, ElementType::I8 | ElementType::U8),
                _ => false,
            },
            Kind::Place { size_bytes } => managed.element().is_some_and(|element| {
                let is_value = passed == IrType::ByRef && !element.is_reference_type();
                is_value && element.value_size_bytes().is_ok_and(|size| size as usize == size_bytes)
            }),
            Kind::RefPlace => {
                passed == IrType::ByRef && managed.element().is_some_and(|element| element.is_reference_type())
            }
        }
    }
}

impl Signature {
    /// The first difference from the managed signature of `method`; None where they agree.
    ///
    /// # Errors
    /// The errors of the method's signature.
    pub fn difference(&self, method: &'static Method) -> LoadResult<Option<String>> {
        let passed = saki_il::synth::builder::call_sig(method)?;
        let sig = method.sig()?;
        let mut managed: Vec<Ty> = Vec::with_capacity(passed.params.len());
        if passed.params.len() > sig.params.len() {
            managed.push(method.owner);
        }
        managed.extend(&sig.params);
        let mut kinds = self.params;
        // A value type of several words is written where the first argument points.
        if let Some(IrType::Struct(_)) = passed.ret {
            match kinds.split_first() {
                Some((Kind::Address, rest)) => kinds = rest,
                _ => return Ok(Some(format!("no parameter for the address of the result, {}", sig.ret.full_name()))),
            }
        } else if !self.result.takes(sig.ret, passed.ret.unwrap_or(IrType::Void)) {
            return Ok(Some(format!("the result is {}, not {:?}", sig.ret.full_name(), self.result)));
        }
        if kinds.len() != managed.len() {
            return Ok(Some(format!("{} parameters, not {}", managed.len(), kinds.len())));
        }
        let mut parameters = kinds.iter().zip(managed).zip(&passed.params).enumerate();
        let differing = parameters.find(|(_, ((kind, managed), passed))| !kind.takes(managed, **passed));
        Ok(differing
            .map(|(index, ((kind, managed), _))| format!("parameter {index} is {}, not {kind:?}", managed.full_name())))
    }
}
