//! Which methods the importer knows by name.
//!
//! Some must be replaced because their bodies are placeholders (`ByReference<T>`, `Array.UnsafeMov`); the others have
//! working internal calls or CIL bodies and are replaced for speed only.

use super::comparers::has_known_comparer;
use super::vectors::VectorCall;
use crate::ir::{AtomicRmw, MemType, UnOp};
use saki_types::{ElementType, LoadResult, Method, Ty};

/// The replacement of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Intrinsic {
    ByReferenceCtor,
    ByReferenceGet,
    /// `Array.UnsafeMov<S, R>`: the same bits as another type.
    Reinterpret(Ty, Ty),
    InitializeArray,
    /// A constant of type int32 or bool.
    Constant(i32),
    TypeFromHandle,
    /// `Type ==` (true) or `!=` (false).
    TypeEquality(bool),
    TypeIsValueType,
    StringLength,
    /// `FastAllocateString(int)`.
    NewString,
    StringChar,
    ArrayLength,
    /// `GetLength` (false) or `GetLowerBound` (true) of a dimension.
    ArrayDimension(bool),
    ArrayRank,
    /// `Array.GetGenericValueImpl<T>` (false) or `SetGenericValueImpl<T>` (true).
    ArrayElementCopy(Ty, bool),
    Math(UnOp),
    /// Adds a constant and returns the new value.
    InterlockedStep(MemType, i32),
    InterlockedAdd(MemType),
    InterlockedExchange(MemType),
    InterlockedCompareExchange(MemType),
    /// With an `out bool succeeded`.
    InterlockedCompareExchangeFlag(MemType),
    VolatileRead(Ty),
    VolatileWrite(Ty),
    Fence,
    MonitorEnter,
    /// `ReliableEnter(object, ref bool)`: enters, then sets the flag.
    MonitorEnterFlag,
    /// `ReliableEnterTimeout(object, int, ref bool)`: as `MonitorTryEnterFlag`, if the timeout is a valid constant.
    MonitorEnterTimeoutFlag,
    /// `try_enter_with_atomic_var(object, int, ref bool)`: sets the flag to whether the lock was taken.
    MonitorTryEnterFlag,
    MonitorExit,
    Nothing,
    /// The method's Rust function, without the wrapper.
    DirectInternalCall,
    /// Saki's function in place of the method (`library_loops`).
    LibraryLoop,
    EnumHasFlag,
    ObjectGetType,
    /// `EqualityComparer<T>.Default` of a type whose comparer is known.
    DefaultComparer,
    Vector(VectorCall),
}

/// The memory type of an atomic operation on a value of this type.
fn atomic_type(ty: Ty) -> Option<MemType> {
    match ty.element_type {
        _ if ty.is_reference_type() => Some(MemType::Ref),
        ElementType::I4 | ElementType::U4 => Some(MemType::I32),
        ElementType::I8 | ElementType::U8 | ElementType::I | ElementType::U => Some(MemType::I64),
        _ => None,
    }
}

/// Finds the intrinsic for a method, by its names and parameters.
///
/// # Errors
/// The errors of the method's signature.
pub(super) fn find(method: &'static Method) -> LoadResult<Option<Intrinsic>> {
    let owner = method.owner;
    let Some(def) = owner.def() else { return Ok(None) };
    if !def.image.is_corlib || def.enclosing.is_some() {
        return Ok(None);
    }
    match def.namespace {
        "System" => system(method, def.name),
        "System.Collections.Generic" => collections(method, def.name),
        "System.Threading" => threading(method, def.name),
        "System.Runtime.CompilerServices" => compiler_services(method, def.name),
        "System.Runtime.InteropServices" => Ok(interop_services(method, def.name)),
        _ => Ok(None),
    }
}

fn system(method: &'static Method, owner: &str) -> LoadResult<Option<Intrinsic>> {
    use Intrinsic as I;
    if is_type_query(method, owner) {
        return Ok(Some(I::DirectInternalCall));
    }
    if !matches!(owner, "ByReference`1" | "Array" | "Math" | "MathF" | "String" | "Type" | "Enum" | "Object") {
        return Ok(None);
    }
    let sig = method.sig()?;
    let params = &sig.params;
    let of_float = |op: UnOp| match params[..] {
        [p] if matches!(p.element_type, ElementType::R8 | ElementType::R4) && p == sig.ret => Some(I::Math(op)),
        _ => None,
    };
    Ok(match (owner, method.name, params.len()) {
        ("ByReference`1", ".ctor", 1) => Some(I::ByReferenceCtor),
        ("ByReference`1", "get_Value", 0) => Some(I::ByReferenceGet),
        ("Array", "UnsafeMov", 1) => match method.generic_args {
            [from, to] => Some(I::Reinterpret(from, to)),
            _ => None,
        },
        ("Array", "get_Length", 0) => Some(I::ArrayLength),
        ("Array", "GetLength", 1) => Some(I::ArrayDimension(false)),
        ("Array", "GetLowerBound", 1) => Some(I::ArrayDimension(true)),
        ("Array", "get_Rank", 0) => Some(I::ArrayRank),
        ("Array", "GetGenericValueImpl", 2) => method.generic_args.first().map(|t| I::ArrayElementCopy(t, false)),
        ("Array", "SetGenericValueImpl", 2) => method.generic_args.first().map(|t| I::ArrayElementCopy(t, true)),
        ("Math" | "MathF", "Sqrt", 1) => of_float(UnOp::Sqrt),
        ("Math" | "MathF", "Abs", 1) => of_float(UnOp::Abs),
        ("Math" | "MathF", "Floor", 1) => of_float(UnOp::Floor),
        ("Math" | "MathF", "Ceiling", 1) => of_float(UnOp::Ceil),
        ("Math" | "MathF", "Truncate", 1) => of_float(UnOp::Trunc),
        ("Math" | "MathF", "Round", 1) => of_float(UnOp::RoundEven),
        ("String", "get_Length", 0) => Some(I::StringLength),
        ("String", "get_Chars", 1) => Some(I::StringChar),
        ("String", "FastAllocateString", 1) => Some(I::NewString),
        ("Type", "GetTypeFromHandle", 1) => Some(I::TypeFromHandle),
        ("Type", "op_Equality", 2) => Some(I::TypeEquality(true)),
        ("Type", "op_Inequality", 2) => Some(I::TypeEquality(false)),
        ("Type", "get_IsValueType", 0) => Some(I::TypeIsValueType),
        ("Enum", "HasFlag", 1) => Some(I::EnumHasFlag),
        ("Object", "GetType", 0) => Some(I::ObjectGetType),
        _ => None,
    })
}

fn collections(method: &'static Method, owner: &str) -> LoadResult<Option<Intrinsic>> {
    if owner != "EqualityComparer`1" || method.name != "get_Default" {
        return Ok(None);
    }
    let [ty] = method.owner.args else { return Ok(None) };
    Ok(has_known_comparer(ty)?.then_some(Intrinsic::DefaultComparer))
}

/// Queries about types or identity that take a few nanoseconds: reflection and expression trees make dozens in a row.
fn is_type_query(method: &'static Method, owner: &str) -> bool {
    let is_listed = match owner {
        "RuntimeTypeHandle" => matches!(
            method.name,
            "GetAttributes"
                | "GetBaseType"
                | "GetCorElementType"
                | "HasInstantiation"
                | "IsGenericTypeDefinition"
                | "IsGenericVariable"
                | "IsInstanceOfType"
                | "is_subclass_of"
                | "type_is_assignable_from"
        ),
        "RuntimeType" => method.name == "GetTypeCodeImplInternal",
        "Object" => method.name == "InternalGetHashCode",
        _ => false,
    };
    is_listed && method.is_internal_call()
}

/// Methods of GC handles, which take a few nanoseconds and need no frame of their own in stack traces.
fn interop_services(method: &'static Method, owner: &str) -> Option<Intrinsic> {
    let is_direct = owner == "GCHandle"
        && method.is_internal_call()
        && matches!(method.name, "GetTarget" | "GetTargetHandle" | "FreeHandle");
    is_direct.then_some(Intrinsic::DirectInternalCall)
}

fn threading(method: &'static Method, owner: &str) -> LoadResult<Option<Intrinsic>> {
    use Intrinsic as I;
    if !matches!(owner, "Interlocked" | "Volatile" | "Thread" | "Monitor") {
        return Ok(None);
    }
    let sig = method.sig()?;
    let params = &sig.params;
    let target = params.first().filter(|p| p.is_byref()).and_then(|p| p.element());
    let atomic = target.and_then(atomic_type);
    Ok(match (owner, method.name, params.len()) {
        ("Interlocked", "Increment", 1) => atomic.map(|m| I::InterlockedStep(m, 1)),
        ("Interlocked", "Decrement", 1) => atomic.map(|m| I::InterlockedStep(m, -1)),
        ("Interlocked", "Add", 2) => atomic.map(I::InterlockedAdd),
        ("Interlocked", "Exchange", 2) => atomic.map(I::InterlockedExchange),
        ("Interlocked", "CompareExchange", 3) => atomic.map(I::InterlockedCompareExchange),
        ("Interlocked", "CompareExchange", 4)
            if atomic == Some(MemType::I32) && target != params.get(1).and_then(|p| p.element()) =>
        {
            Some(I::InterlockedCompareExchangeFlag(MemType::I32))
        }
        ("Interlocked", "Read", 1) => target.map(I::VolatileRead),
        ("Interlocked", "MemoryBarrier", 0) | ("Thread", "MemoryBarrier", 0) => Some(I::Fence),
        ("Volatile", "Read", 1) | ("Thread", "VolatileRead", 1) => target.map(I::VolatileRead),
        ("Volatile", "Write", 2) | ("Thread", "VolatileWrite", 2) => target.map(I::VolatileWrite),
        ("Thread", "SpinWait_nop", 0) => Some(I::Nothing),
        ("Monitor", "Enter", 1) => Some(I::MonitorEnter),
        ("Monitor", "Exit", 1) => Some(I::MonitorExit),
        ("Monitor", "ReliableEnter", 2) => Some(I::MonitorEnterFlag),
        ("Monitor", "ReliableEnterTimeout", 3) => Some(I::MonitorEnterTimeoutFlag),
        ("Monitor", "try_enter_with_atomic_var", 3) => Some(I::MonitorTryEnterFlag),
        _ => None,
    })
}

fn compiler_services(method: &'static Method, owner: &str) -> LoadResult<Option<Intrinsic>> {
    use Intrinsic as I;
    if owner != "RuntimeHelpers" {
        return Ok(None);
    }
    let count = method.sig()?.params.len();
    Ok(match (method.name, count) {
        ("InitializeArray", 2) => Some(I::InitializeArray),
        ("get_OffsetToStringData", 0) => Some(I::Constant(saki_abi::object::STRING_CHARS_OFFSET)),
        ("IsReferenceOrContainsReferences", 0) => match method.generic_args {
            [ty] => Some(I::Constant(i32::from(ty.is_reference_type() || ty.contains_references()?))),
            _ => None,
        },
        _ => None,
    })
}

impl Intrinsic {
    /// The atomic read-modify-write operation of the intrinsic, if it has one.
    pub fn atomic(self) -> Option<(AtomicRmw, MemType)> {
        match self {
            Intrinsic::InterlockedStep(mem, _) | Intrinsic::InterlockedAdd(mem) => Some((AtomicRmw::Add, mem)),
            Intrinsic::InterlockedExchange(mem) => Some((AtomicRmw::Exchange, mem)),
            _ => None,
        }
    }
}
