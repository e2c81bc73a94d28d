//! The targets of relocations, and their numbers within one function.

use rustc_hash::FxHashMap;
use saki_abi::{HelperId, StubId};
use saki_il::ir::{Symbol, literal_text};
use std::fmt;

/// Target of a relocation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RelocTarget {
    Symbol(Symbol),
    /// An assembly stub of `code`.
    Stub(StubId),
    /// The Rust function behind a helper; only in its thunk.
    HelperFunction(HelperId),
    /// A C library function.
    LibCall(LibCall),
    /// `extern "C" fn(cookie: u64, args: *const u64, ret: *mut u64)`: runs a managed callback; only in
    /// native-to-managed thunks.
    CallbackDispatcher,
    /// An arbitrary 64-bit number that is passed to the dispatcher, chosen when the thunk is placed.
    CallbackCookie,
}

/// C functions that the code generator may call on its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LibCall {
    Memcpy,
}

impl RelocTarget {
    /// Whether the target lies in the code region, within reach of a direct call.
    pub(crate) fn is_near(self) -> bool {
        matches!(
            self,
            RelocTarget::Stub(_)
                | RelocTarget::Symbol(Symbol::MethodEntry(_) | Symbol::UnboxEntry(_) | Symbol::Helper(_))
        )
    }

    /// Key for de-duplication: the variant and its content.
    fn key(self) -> (u8, usize, u32) {
        fn address<T>(reference: &T) -> usize {
            std::ptr::from_ref(reference).addr()
        }
        match self {
            RelocTarget::Symbol(symbol) => match symbol {
                Symbol::TypeHandle(ty) => (0, address(ty), 0),
                Symbol::MethodHandle(method) => (1, address(method), 0),
                Symbol::FieldHandle(field) => (2, address(field), 0),
                Symbol::VTable(ty) => (3, address(ty), 0),
                Symbol::MethodEntry(method) => (4, address(method), 0),
                Symbol::UnboxEntry(method) => (5, address(method), 0),
                Symbol::StaticField(field) => (6, address(field), 0),
                Symbol::ClassInitFlag(ty) => (7, address(ty), 0),
                Symbol::StringLiteral(image, token) => (8, address(image), token),
                Symbol::TypeObject(ty) => (9, address(ty), 0),
                Symbol::Helper(helper) => (10, helper as usize, 0),
                Symbol::InternalCall(method) => (11, address(method), 0),
                Symbol::NativeCell(method) => (12, address(method), 0),
                Symbol::MarshalInfo(method, index) => (13, address(method), index),
                Symbol::VarArgCookie(image, token) => (14, address(image), token),
                Symbol::ThreadStaticPlace(field) => (15, address(field), 0),
                Symbol::NativeEntry(method) => (16, address(method), 0),
                Symbol::Noted(method, il_offset) => (17, address(method), il_offset),
                Symbol::Overrides(method) => (18, address(method), 0),
                Symbol::BlockCounts(method, count) => (19, address(method), count),
            },
            RelocTarget::Stub(stub) => (64, stub as usize, 0),
            RelocTarget::HelperFunction(helper) => (65, helper as usize, 0),
            RelocTarget::LibCall(call) => (66, call as usize, 0),
            RelocTarget::CallbackDispatcher => (67, 0, 0),
            RelocTarget::CallbackCookie => (68, 0, 0),
        }
    }
}

/// The name for dumps: kind and content.
impl fmt::Display for RelocTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RelocTarget::Symbol(symbol) => match symbol {
                Symbol::TypeHandle(ty) => write!(f, "type {}", ty.full_name()),
                Symbol::MethodHandle(method) => write!(f, "method {}", method.full_name()),
                Symbol::FieldHandle(field) => write!(f, "field {}:{}", field.owner.full_name(), field.name),
                Symbol::VTable(ty) => write!(f, "vtable {}", ty.full_name()),
                Symbol::MethodEntry(method) => write!(f, "entry {}", method.full_name()),
                Symbol::UnboxEntry(method) => write!(f, "unbox {}", method.full_name()),
                Symbol::StaticField(field) => write!(f, "static {}:{}", field.owner.full_name(), field.name),
                Symbol::ThreadStaticPlace(field) => {
                    write!(f, "thread static {}:{}", field.owner.full_name(), field.name)
                }
                Symbol::ClassInitFlag(ty) => write!(f, "initialised {}", ty.full_name()),
                Symbol::StringLiteral(image, token) => match literal_text(image, *token) {
                    Some(text) => write!(f, "string {text:?}"),
                    None => write!(f, "string {token:#x}"),
                },
                Symbol::TypeObject(ty) => write!(f, "type object {}", ty.full_name()),
                Symbol::Helper(helper) => write!(f, "helper {}", helper.name()),
                Symbol::InternalCall(method) => write!(f, "internal call {}", method.full_name()),
                Symbol::NativeCell(method) => write!(f, "native cell {}", method.full_name()),
                Symbol::NativeEntry(method) => write!(f, "native entry {}", method.full_name()),
                Symbol::MarshalInfo(method, index) => write!(f, "marshal info {index} of {}", method.full_name()),
                Symbol::VarArgCookie(_, token) => write!(f, "vararg cookie {token:#x}"),
                Symbol::Noted(method, il_offset) => write!(f, "noted at IL_{il_offset:04x} of {}", method.full_name()),
                Symbol::Overrides(method) => write!(f, "overrides of {}", method.full_name()),
                Symbol::BlockCounts(method, _) => write!(f, "block counts of {}", method.full_name()),
            },
            RelocTarget::Stub(stub) => write!(f, "stub {stub:?}"),
            RelocTarget::HelperFunction(helper) => write!(f, "function of helper {}", helper.name()),
            RelocTarget::LibCall(call) => write!(f, "C function {call:?}"),
            RelocTarget::CallbackDispatcher => f.write_str("callback dispatcher"),
            RelocTarget::CallbackCookie => f.write_str("callback cookie"),
        }
    }
}

/// The targets that one function names; their index is Cranelift's external name.
#[derive(Default)]
pub(crate) struct SymbolTable {
    targets: Vec<RelocTarget>,
    index: FxHashMap<(u8, usize, u32), u32>,
}

impl SymbolTable {
    pub(crate) fn clear(&mut self) {
        self.targets.clear();
        self.index.clear();
    }

    /// The number of `target`, new or known.
    pub(crate) fn intern(&mut self, target: RelocTarget) -> u32 {
        *self.index.entry(target.key()).or_insert_with(|| {
            self.targets.push(target);
            (self.targets.len() - 1) as u32
        })
    }

    pub(crate) fn target(&self, number: u32) -> Option<RelocTarget> {
        self.targets.get(number as usize).copied()
    }

    /// The targets' names for dumps, by number.
    pub(crate) fn names(&self) -> Vec<String> {
        self.targets.iter().map(ToString::to_string).collect()
    }

    /// Lines "u0:n = target" for dumps.
    pub(crate) fn describe(&self) -> Vec<String> {
        self.targets.iter().enumerate().map(|(n, target)| format!("; u0:{n} = {target:?}")).collect()
    }
}
