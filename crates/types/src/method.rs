//! `Method`: a method of an exact type, and the form of its signature. At the bottom of this crate, like `ty`: plain
//! data and cells.

use crate::domain::Image;
use crate::field::Field;
use crate::lazy_word::LazyRef;
use crate::ty::{GenericContext, Ty};
use saki_metadata::Rid;
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};

/// A decoded signature with all generic arguments substituted and custom modifiers dropped.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MethodSig {
    pub has_this: bool,
    pub explicit_this: bool,
    pub is_vararg: bool,
    /// Unmanaged calling convention of a function pointer (0 = managed, 1 = C, 2 = stdcall, 3 = thiscall, 4 =
    /// fastcall).
    pub unmanaged_convention: u8,
    pub generic_param_count: u32,
    pub ret: Ty,
    pub params: Vec<Ty>,
    /// Index in `params` where the variable part of a vararg call site begins.
    pub sentinel: Option<usize>,
}

/// A local variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalSig {
    pub ty: Ty,
    pub pinned: bool,
}

/// The methods of array types, which have no metadata.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrayMethod {
    /// `rank` lengths.
    Ctor,
    /// `rank` (lower bound, length) pairs.
    CtorBounds,
    /// Constructor of an SZ array of SZ arrays, with the lengths of that many levels (two or more), the outermost
    /// first.
    CtorNested(u32),
    Get,
    Set,
    Address,
}

/// The kinds of stubs for objects that may be transparent proxies (`remoting`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RemotingStub {
    /// Calls the method on a transparent proxy, by passing its arguments to the proxy's RealProxy.
    Invoke(&'static Method),
    /// Calls the method on an object or, through `Invoke`, on a proxy.
    Call(&'static Method),
    /// `T get(object)`: reads the field of an object or of the object that a proxy represents.
    GetField(&'static Field),
    /// `void set(object, T)`.
    SetField(&'static Field),
    /// `T& address(object)`; InvalidOperationException for a proxy of an object in another context.
    FieldAddress(&'static Field),
}

impl RemotingStub {
    pub(crate) fn owner(self) -> Ty {
        match self {
            RemotingStub::Invoke(method) | RemotingStub::Call(method) => method.owner,
            RemotingStub::GetField(field) | RemotingStub::SetField(field) | RemotingStub::FieldAddress(field) => {
                field.owner
            }
        }
    }
}

pub enum MethodKind {
    Def {
        image: &'static Image,
        rid: Rid,
    },
    Array(ArrayMethod),
    /// Made at run time; the image is its own (`dynamic`).
    Dynamic(&'static Image),
    /// A stub between a caller and an object that may be in another domain.
    Remoting(RemotingStub),
    /// A wrapper that converts arguments for a native function (`native_call`).
    NativeCall(&'static MethodSig),
}

/// The runtime's data about a method that few methods have.
#[derive(Default)]
pub struct RareRuntime {
    /// Unboxing entry stub, 0 until asked for.
    pub unbox_entry: AtomicUsize,
    /// Native entry point cell of a P/Invoke, and other per-kind data.
    pub native: AtomicUsize,
    /// The invoke thunk of its signature, 0 until Rust has called the method.
    pub invoke_thunk: AtomicUsize,
    /// Whether reflection has asked the method all that decides, whatever the arguments are, if it may be called, and
    /// has found that it may. Relaxed: a fact about what never changes, which publishes nothing.
    pub is_invocable: AtomicBool,
}

/// The runtime's data about a method.
///
/// | `rare` | who moves it | ordering |
/// |---|---|---|
/// | null | initial | |
/// | a leaked box | `rare`, once | AcqRel: publishes the record; Acquire of readers pairs with it |
#[derive(Default)]
pub struct MethodRuntime {
    /// Address of the entry stub's bookkeeping (`code::MethodEntry`), null until asked for.
    pub entry: AtomicPtr<u8>,
    /// The current version of its code (`runtime::object::versions`), null before the first.
    pub version: AtomicPtr<u8>,
    /// Address of its code if that stays its code as long as it lives; 0 before it is compiled, or if it may be replaced.
    pub lasting_code: AtomicUsize,
    rare: AtomicPtr<RareRuntime>,
    /// Calls and rounds of loops of its code in the first tier, weighted so that the sum overflows when the method is
    /// worth more. Compiled code adds without atomic operations, so some are lost.
    pub heat: AtomicI32,
    /// `OVERRIDDEN`, and a bit of `runtime::object::overrides`, whose protocol it is.
    pub overrides: AtomicU8,
}

impl MethodRuntime {
    /// The data that few methods have, made when it is first asked for.
    pub fn rare(&self) -> &RareRuntime {
        // Acquire: see the table.
        let mut rare = self.rare.load(Ordering::Acquire);
        if rare.is_null() {
            let made = Box::into_raw(Box::default());
            // AcqRel, Acquire: see the table.
            rare = match self.rare.compare_exchange(rare, made, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => made,
                Err(earlier) => {
                    // SAFETY: made above, and no other thread has it.
                    drop(unsafe { Box::from_raw(made) });
                    earlier
                }
            };
        }
        // SAFETY: not null; a box that `drop` frees, so it lives as long as `self`.
        unsafe { &*rare }
    }
}

impl Drop for MethodRuntime {
    fn drop(&mut self) {
        let rare = *self.rare.get_mut();
        if !rare.is_null() {
            // SAFETY: leaked by `rare`; nobody else has the method any more.
            drop(unsafe { Box::from_raw(rare) });
        }
    }
}

/// A program the size of a compiler has a hundred thousand methods, and the allocator's next size is a quarter larger.
const _: () = assert!(size_of::<Method>() <= 112);

/// In `MethodRuntime::overrides`: a class that has a vtable overrides the method.
pub const OVERRIDDEN: u8 = 1;

/// Bytes from a method to its `MethodRuntime::heat`.
pub const HEAT_OFFSET: i32 = (offset_of!(Method, runtime) + offset_of!(MethodRuntime, heat)) as i32;

/// What generic methods and their instantiations have beside the others. See `Method::generic_args` and
/// `Method::definition`.
pub(crate) struct MethodGenerics {
    pub(crate) args: &'static [Ty],
    pub(crate) definition: Option<&'static Method>,
}

/// One method of one exact type; generic method instantiations are methods of their own. Equality is identity.
pub struct Method {
    /// Exact declaring type.
    pub owner: Ty,
    pub kind: MethodKind,
    pub name: &'static str,
    /// `MethodAttributes`.
    pub flags: u16,
    /// `MethodImplAttributes`.
    pub impl_flags: u16,
    /// None: the method is not generic.
    pub(crate) generics: Option<&'static MethodGenerics>,
    pub runtime: MethodRuntime,
    /// Cache of `vtable_slot`; u32::MAX = not known.
    pub(crate) slot: AtomicU32,
    /// Filled by `signature`.
    pub(crate) sig: LazyRef<&'static MethodSig>,
}

impl PartialEq for Method {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Method {}
impl std::hash::Hash for Method {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self as *const Method as usize).hash(state);
    }
}

pub mod method_flags {
    pub const ACCESS_MASK: u16 = 7;
    pub const PRIVATE: u16 = 1;
    pub const PUBLIC: u16 = 6;
    pub const STATIC: u16 = 0x10;
    pub const FINAL: u16 = 0x20;
    pub const VIRTUAL: u16 = 0x40;
    pub const HIDE_BY_SIG: u16 = 0x80;
    pub const NEW_SLOT: u16 = 0x100;
    pub const ABSTRACT: u16 = 0x400;
    pub const SPECIAL_NAME: u16 = 0x800;
    pub const RT_SPECIAL_NAME: u16 = 0x1000;
    pub const PINVOKE: u16 = 0x2000;
}

pub mod impl_flags {
    pub const CODE_TYPE_MASK: u16 = 3;
    pub const NATIVE: u16 = 1;
    pub const RUNTIME: u16 = 3;
    pub const NO_INLINING: u16 = 8;
    pub const SYNCHRONIZED: u16 = 0x20;
    pub const PRESERVE_SIG: u16 = 0x80;
    pub const AGGRESSIVE_INLINING: u16 = 0x100;
    pub const INTERNAL_CALL: u16 = 0x1000;
}

impl MethodSig {
    /// An ordinary managed signature: no generic parameters, no variable arguments.
    pub fn managed(has_this: bool, ret: Ty, params: Vec<Ty>) -> MethodSig {
        MethodSig {
            has_this,
            explicit_this: false,
            is_vararg: false,
            unmanaged_convention: 0,
            generic_param_count: 0,
            ret,
            params,
            sentinel: None,
        }
    }
}

impl Method {
    /// A public method that is not in metadata, or whose row the caller reads: not generic, and nothing is known of it
    /// yet but its kind.
    pub(crate) fn new(owner: Ty, kind: MethodKind, name: &'static str) -> Method {
        Method {
            owner,
            kind,
            name,
            flags: method_flags::PUBLIC,
            impl_flags: 0,
            generics: None,
            runtime: MethodRuntime::default(),
            slot: AtomicU32::new(u32::MAX),
            sig: LazyRef::default(),
        }
    }

    /// Method type arguments; the parameters themselves for a generic definition.
    #[inline]
    pub fn generic_args(&self) -> &'static [Ty] {
        self.generics.map_or(&[], |generics| generics.args)
    }

    /// The generic definition this instantiates (same owner); None when this is not a method instantiation.
    #[inline]
    pub fn definition(&self) -> Option<&'static Method> {
        self.generics.and_then(|generics| generics.definition)
    }

    pub fn is_static(&self) -> bool {
        self.flags & method_flags::STATIC != 0
    }
    pub fn is_virtual(&self) -> bool {
        self.flags & method_flags::VIRTUAL != 0
    }
    pub fn is_abstract(&self) -> bool {
        self.flags & method_flags::ABSTRACT != 0
    }
    pub fn is_final(&self) -> bool {
        self.flags & method_flags::FINAL != 0
    }
    pub fn is_new_slot(&self) -> bool {
        self.flags & method_flags::NEW_SLOT != 0
    }
    pub fn is_pinvoke(&self) -> bool {
        self.flags & method_flags::PINVOKE != 0 && !self.is_internal_call()
    }
    pub fn is_internal_call(&self) -> bool {
        self.impl_flags & impl_flags::INTERNAL_CALL != 0
    }
    /// Whether the runtime supplies the body: delegate members.
    pub fn is_runtime_implemented(&self) -> bool {
        self.impl_flags & impl_flags::CODE_TYPE_MASK == impl_flags::RUNTIME
    }
    pub fn is_constructor(&self) -> bool {
        self.name == ".ctor" && self.flags & method_flags::RT_SPECIAL_NAME != 0
    }
    pub fn is_class_constructor(&self) -> bool {
        self.name == ".cctor" && self.flags & method_flags::RT_SPECIAL_NAME != 0
    }
    pub fn is_generic_definition(&self) -> bool {
        self.definition().is_none() && !self.generic_args().is_empty()
    }
    /// Whether the method mentions generic parameters, so that no compiled body or frame of it can exist.
    pub fn is_open(&self) -> bool {
        self.owner.is_open || self.generic_args().iter().any(|t| t.is_open)
    }

    /// MethodDef row, None for array and dynamic methods.
    pub fn rid(&self) -> Option<Rid> {
        match self.kind {
            MethodKind::Def { rid, .. } => Some(rid),
            MethodKind::Array(_) | MethodKind::Dynamic(_) | MethodKind::Remoting(_) | MethodKind::NativeCall(_) => None,
        }
    }

    pub fn image(&self) -> &'static Image {
        match self.kind {
            MethodKind::Def { image, .. } | MethodKind::Dynamic(image) => image,
            MethodKind::Array(_) | MethodKind::Remoting(_) | MethodKind::NativeCall(_) => self.owner.image(),
        }
    }

    /// Type and method arguments for resolving the body's tokens.
    pub fn context(&self) -> GenericContext {
        GenericContext { class_args: self.owner.args, method_args: self.generic_args() }
    }
}
