//! The code that replaces calls of methods with roles in the class library (`LibraryMethod`).
//!
//! Some must be replaced because their bodies are placeholders (`ByReference<T>`, `Array.UnsafeMov`); the others have
//! working internal calls or CIL bodies and are replaced for speed only.

use super::comparers::has_known_comparer;
use super::kinds::mem_type;
use super::options::ImportOptions;
use super::vectors::{self, VectorCall};
use crate::ir::{AtomicRmw, MemType, UnOp};
use saki_types::{ElementType, LibraryMethod, LoadResult, Method, Ty};

/// A fact of a type that `Type` reports, and by which generic methods choose (`Interlocked.CompareExchange<T>`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum TypeFact {
    Enum,
    Primitive,
    ValueType,
}

impl TypeFact {
    /// Whether it holds for the type.
    pub fn holds_for(self, ty: Ty) -> bool {
        use ElementType as E;
        match self {
            TypeFact::Enum => ty.is_enum(),
            TypeFact::Primitive => {
                let is_number = matches!(
                    ty.element_type,
                    E::I1 | E::U1 | E::I2 | E::U2 | E::I4 | E::U4 | E::I8 | E::U8 | E::R4 | E::R8
                );
                is_number || matches!(ty.element_type, E::Boolean | E::Char | E::I | E::U)
            }
            TypeFact::ValueType => ty.is_value_type(),
        }
    }
}

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
    TypeIs(TypeFact),
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
    /// `Math.ReciprocalEstimate` (false) or `ReciprocalSqrtEstimate` (true), exactly.
    Reciprocal(bool),
    /// `MultiplyAddEstimate`: a product and a sum, each rounded.
    MultiplyAdd,
    /// `ConvertToIntegerNative<T>`: what the processor's conversion gives.
    ConvertNative(Ty),
    /// `MemoryMarshal.GetArrayDataReference<T>(T[])`.
    ArrayData,
    /// Adds and returns the old value.
    InterlockedExchangeAdd(MemType),
    /// Adds a constant and returns the new value.
    InterlockedStep(MemType, i32),
    InterlockedAdd(MemType),
    /// Combines bits and returns the old value.
    InterlockedAnd(MemType),
    InterlockedOr(MemType),
    InterlockedExchange(MemType),
    InterlockedCompareExchange(MemType),
    /// With an `out bool succeeded`.
    InterlockedCompareExchangeFlag(MemType),
    VolatileRead(Ty),
    /// `Interlocked.Read`: a volatile read behind a fence.
    FencedRead(Ty),
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
    /// `Unsafe`'s methods: a sequence of instructions on the arguments.
    Steps(&'static [UnsafeStep], Ty),
    /// `Unsafe.BitCast<S, R>`: the same bytes as another type of this size.
    BitCast(Ty, Ty),
    /// `RuntimeHelpers.CreateSpan<T>` of a static field's data in the file.
    SpanOfData(Ty),
    /// `RuntimeHelpers.GetMethodTable`.
    MethodTableOf,
    /// `MethodTable.IsMultiDimensionalArray` (false), `MultiDimensionalArrayRank` (true).
    MethodTableRank(bool),
}

/// An instruction of `Intrinsic::Steps`; `T` is the method's last type argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum UnsafeStep {
    /// Pushes an argument.
    Arg(usize),
    /// Pushes the size of `T` in bytes.
    SizeOf,
    /// Pushes a null address.
    Null,
    /// conv.i, conv.u.
    ConvI,
    ConvU,
    Mul,
    Add,
    Sub,
    Eq,
    GreaterUn,
    LessUn,
    /// ldobj, stobj of `T`.
    Load,
    Store,
    /// The next access is unaligned.
    Unaligned,
    CopyBlock,
    InitBlock,
    /// unbox to the address of a `T`.
    Unbox,
    /// Marks the topmost value as a reference to an object of class `T`.
    AsObject,
    /// Marks the topmost value as a managed pointer.
    AsByRef,
}

/// The memory type of an atomic operation on a value of this type. `Interlocked` refuses structs, as wide as they are.
fn atomic_type(ty: Ty) -> LoadResult<Option<MemType>> {
    if ty.is_reference_type() || ty.is_enum() || TypeFact::Primitive.holds_for(ty) { mem_type(ty) } else { Ok(None) }
}

/// Finds the intrinsic for a method, by its role in the class library.
///
/// # Errors
/// The errors of the method's signature.
pub(super) fn find(method: &'static Method) -> LoadResult<Option<Intrinsic>> {
    use Intrinsic as I;
    use LibraryMethod as M;
    if asks_for_processor(method)? {
        return Ok(Some(I::Constant(0)));
    }
    let Some(role) = method.library_role()? else { return Ok(None) };
    Ok(match role {
        M::ArrayGetGenericValue => method.generic_args().first().map(|ty| I::ArrayElementCopy(ty, false)),
        M::ArrayGetLength => Some(I::ArrayLength),
        M::ArrayGetLengthOf => Some(I::ArrayDimension(false)),
        M::ArrayGetLowerBound => Some(I::ArrayDimension(true)),
        M::ArrayGetRank => Some(I::ArrayRank),
        M::ArraySetGenericValue => method.generic_args().first().map(|ty| I::ArrayElementCopy(ty, true)),
        M::ArrayUnsafeMov => match method.generic_args() {
            [from, to] => Some(I::Reinterpret(from, to)),
            _ => None,
        },
        M::ByReferenceGetValue => Some(I::ByReferenceGet),
        M::ByReferenceNew => Some(I::ByReferenceCtor),
        M::EnumHasFlag => Some(I::EnumHasFlag),
        M::EqualityComparerDefault => match method.owner.args {
            [ty] => has_known_comparer(ty)?.then_some(I::DefaultComparer),
            _ => None,
        },
        M::HelpersInitializeArray => Some(I::InitializeArray),
        M::HelpersIsReferenceOrContainsReferences => match method.generic_args() {
            [ty] => Some(I::Constant(i32::from(ty.is_reference_type() || ty.contains_references()?))),
            _ => None,
        },
        M::HelpersOffsetToStringData => Some(I::Constant(saki_abi::object::STRING_CHARS_OFFSET)),
        M::MathAbs | M::MathFAbs => of_float(method, UnOp::Abs)?,
        M::MathCeiling | M::MathFCeiling => of_float(method, UnOp::Ceil)?,
        M::MathFloor | M::MathFFloor => of_float(method, UnOp::Floor)?,
        M::MathRound | M::MathFRound => of_float(method, UnOp::RoundEven)?,
        M::MathSqrt | M::MathFSqrt => of_float(method, UnOp::Sqrt)?,
        M::MathTruncate | M::MathFTruncate => of_float(method, UnOp::Trunc)?,
        M::MonitorEnter => Some(I::MonitorEnter),
        M::MonitorExit => Some(I::MonitorExit),
        M::MonitorReliableEnter => Some(I::MonitorEnterFlag),
        M::MonitorReliableEnterTimeout => Some(I::MonitorEnterTimeoutFlag),
        M::MonitorTryEnterFlag => Some(I::MonitorTryEnterFlag),
        M::ObjectGetType => Some(I::ObjectGetType),
        M::StringAllocate => Some(I::NewString),
        M::StringGetChars => Some(I::StringChar),
        M::StringGetLength => Some(I::StringLength),
        M::ThreadSpinWait => Some(I::Nothing),
        M::TypeFromHandle => Some(I::TypeFromHandle),
        M::RuntimeTypeIsEnum | M::TypeIsEnum => Some(I::TypeIs(TypeFact::Enum)),
        M::TypeIsPrimitive => Some(I::TypeIs(TypeFact::Primitive)),
        M::TypeIsValueType => Some(I::TypeIs(TypeFact::ValueType)),
        M::TypeOpEquality => Some(I::TypeEquality(true)),
        M::TypeOpInequality => Some(I::TypeEquality(false)),
        // The managed body takes the handle for an address.
        M::GCHandleInternalGet => Some(I::DirectInternalCall),
        M::DoubleConvertToIntegerNative | M::SingleConvertToIntegerNative => {
            method.generic_args().first().map(|ty| I::ConvertNative(ty))
        }
        M::DoubleMultiplyAddEstimate | M::SingleMultiplyAddEstimate => Some(I::MultiplyAdd),
        M::MathReciprocalEstimate | M::MathFReciprocalEstimate => Some(I::Reciprocal(false)),
        M::MathReciprocalSqrtEstimate | M::MathFReciprocalSqrtEstimate => Some(I::Reciprocal(true)),
        M::MemoryMarshalGetArrayDataReference if !method.generic_args().is_empty() => Some(I::ArrayData),
        M::HelpersCreateSpan => method.generic_args().first().map(|ty| I::SpanOfData(ty)),
        M::HelpersGetMethodTable => Some(I::MethodTableOf),
        M::HelpersIsBitwiseEquatable => match method.generic_args() {
            [ty] => Some(I::Constant(i32::from(is_bitwise_equatable(ty)?))),
            _ => None,
        },
        M::MethodTableIsMultiDimensionalArray => Some(I::MethodTableRank(false)),
        M::MethodTableMultiDimensionalArrayRank => Some(I::MethodTableRank(true)),
        M::UnsafeBitCast => match method.generic_args() {
            [from, to] => Some(I::BitCast(from, to)),
            _ => None,
        },
        role if let Some(steps) = unsafe_steps(role, method)? => {
            let ty = method.generic_args().last().copied();
            Some(I::Steps(steps, ty.unwrap_or_else(|| saki_types::universe().byte())))
        }
        role if is_quick(role) => method.is_internal_call().then_some(I::DirectInternalCall),
        role => of_memory(role, method)?,
    })
}

/// What a method says that reports a fact of the processor, so that calls through reflection and delegates return the
/// same as calls in line.
///
/// # Errors
/// The errors of the enclosing types.
pub(super) fn constant_fact(options: &ImportOptions, method: &'static Method) -> LoadResult<Option<i32>> {
    match vectors::constant_of(options, method) {
        None if asks_for_processor(method)? => Ok(Some(0)),
        constant => Ok(constant),
    }
}

/// Whether the method asks for instructions of the processor, of which Saki has none for programs to use. Methods of
/// generic types (`Vector128<T>.IsSupported`) answer for themselves.
fn asks_for_processor(method: &'static Method) -> LoadResult<bool> {
    if !method.name.starts_with("get_Is") || !method.is_static() || !method.owner.args.is_empty() {
        return Ok(false);
    }
    let Some(namespace) = namespace_of_processor(method)? else { return Ok(false) };
    Ok(method.owner.universe().profile().is_processor_fact(namespace, method.name))
}

/// Whether the method stands for an instruction of a processor, which Saki has for the core assembly alone.
pub(super) fn is_instruction(method: &'static Method) -> LoadResult<bool> {
    let namespace = namespace_of_processor(method)?;
    Ok(namespace.is_some_and(|namespace| method.owner.universe().profile().is_of_instructions(namespace)))
}

/// The namespace of a method of the core assembly, if class libraries of its kind have facts of the processor.
fn namespace_of_processor(method: &'static Method) -> LoadResult<Option<&'static str>> {
    let profile = method.owner.universe().profile();
    if profile.processor_facts.is_empty() || !method.owner.is_of_core_assembly() {
        return Ok(None);
    }
    let mut outermost = method.owner;
    while let Some(outer) = outermost.enclosing_type()? {
        outermost = outer;
    }
    Ok(outermost.def().map(|def| def.namespace))
}

/// Whether equal values of the type have equal bytes, and different ones different bytes: integers and enumerations.
fn is_bitwise_equatable(ty: Ty) -> LoadResult<bool> {
    use ElementType as E;
    let is_integer = |ty: Ty| {
        matches!(
            ty.underlying().element_type,
            E::Boolean | E::Char | E::I1 | E::U1 | E::I2 | E::U2 | E::I4 | E::U4 | E::I8 | E::U8 | E::I | E::U
        )
    };
    Ok(ty.is_value_type() && is_integer(ty))
}

/// The instructions of a method of `Unsafe`, whose own body throws.
fn unsafe_steps(role: LibraryMethod, method: &'static Method) -> LoadResult<Option<&'static [UnsafeStep]>> {
    use LibraryMethod as M;
    use UnsafeStep::*;
    Ok(Some(match role {
        M::UnsafeAdd => &[Arg(0), Arg(1), ConvI, SizeOf, ConvI, Mul, Add],
        M::UnsafeAddByteOffset => &[Arg(0), Arg(1), Add],
        M::UnsafeSubtract => &[Arg(0), Arg(1), ConvI, SizeOf, ConvI, Mul, Sub],
        M::UnsafeSubtractByteOffset => &[Arg(0), Arg(1), Sub],
        M::UnsafeAreSame => &[Arg(0), Arg(1), Eq],
        M::UnsafeIsAddressGreaterThan => &[Arg(0), Arg(1), GreaterUn],
        M::UnsafeIsAddressLessThan => &[Arg(0), Arg(1), LessUn],
        M::UnsafeIsNullRef => &[Arg(0), ConvU, Null, Eq],
        M::UnsafeNullRef => &[Null, AsByRef],
        M::UnsafeAs if method.sig()?.ret.is_byref() => &[Arg(0)],
        M::UnsafeAs => &[Arg(0), AsObject],
        M::UnsafeAsPointer => &[Arg(0), ConvU],
        M::UnsafeAsRef => &[Arg(0), AsByRef],
        M::UnsafeByteOffset => &[Arg(1), Arg(0), Sub],
        M::UnsafeCopy => &[Arg(0), Arg(1), Load, Store],
        M::UnsafeCopyBlock => &[Arg(0), Arg(1), Arg(2), CopyBlock],
        M::UnsafeCopyBlockUnaligned => &[Arg(0), Arg(1), Arg(2), Unaligned, CopyBlock],
        M::UnsafeInitBlock => &[Arg(0), Arg(1), Arg(2), InitBlock],
        M::UnsafeInitBlockUnaligned => &[Arg(0), Arg(1), Arg(2), Unaligned, InitBlock],
        M::UnsafeRead => &[Arg(0), Load],
        M::UnsafeReadUnaligned => &[Arg(0), Unaligned, Load],
        M::UnsafeWrite => &[Arg(0), Arg(1), Store],
        M::UnsafeWriteUnaligned => &[Arg(0), Arg(1), Unaligned, Store],
        M::UnsafeSizeOf => &[SizeOf],
        M::UnsafeSkipInit => &[],
        M::UnsafeUnbox => &[Arg(0), Unbox],
        _ => return Ok(None),
    }))
}

/// A function of one floating-point number.
fn of_float(method: &'static Method, op: UnOp) -> LoadResult<Option<Intrinsic>> {
    let sig = method.sig()?;
    Ok(match sig.params[..] {
        [p] if matches!(p.element_type, ElementType::R8 | ElementType::R4) && p == sig.ret => Some(Intrinsic::Math(op)),
        _ => None,
    })
}

/// Internal calls that take a few nanoseconds and need no frame of their own in stack traces: reflection and expression
/// trees ask dozens of these questions about types in a row.
fn is_quick(role: LibraryMethod) -> bool {
    use LibraryMethod as M;
    matches!(
        role,
        M::GCHandleFreeHandle
            | M::GCHandleGetTarget
            | M::GCHandleGetTargetHandle
            | M::ObjectIdentityHash
            | M::RuntimeTypeTypeCode
            | M::TypeHandleGetAttributes
            | M::TypeHandleGetBaseType
            | M::TypeHandleGetCorElementType
            | M::TypeHandleHasInstantiation
            | M::TypeHandleIsGenericTypeDefinition
            | M::TypeHandleIsGenericVariable
            | M::TypeHandleIsInstanceOfType
            | M::TypeHandleIsSubclassOf
            | M::TypeHandleTypeIsAssignableFrom
    )
}

/// Atomic and volatile accesses, and fences.
fn of_memory(role: LibraryMethod, method: &'static Method) -> LoadResult<Option<Intrinsic>> {
    use Intrinsic as I;
    use LibraryMethod as M;
    let params = &method.sig()?.params;
    let target = params.first().filter(|p| p.is_byref()).and_then(|p| p.element());
    let atomic = target.map(atomic_type).transpose()?.flatten();
    // Sums of narrower numbers would have to wrap around. The class library has none.
    let word = atomic.filter(|mem| matches!(mem, MemType::I32 | MemType::I64));
    let integer = atomic.filter(|mem| !matches!(mem, MemType::Ref | MemType::F32 | MemType::F64));
    Ok(match role {
        M::InterlockedAdd => word.map(I::InterlockedAdd),
        M::InterlockedAnd => integer.map(I::InterlockedAnd),
        M::InterlockedCompareExchange => atomic.map(I::InterlockedCompareExchange),
        M::InterlockedCompareExchangeFlag
            if atomic == Some(MemType::I32) && target != params.get(1).and_then(|p| p.element()) =>
        {
            Some(I::InterlockedCompareExchangeFlag(MemType::I32))
        }
        M::InterlockedDecrement => word.map(|m| I::InterlockedStep(m, -1)),
        M::InterlockedExchangeAdd => word.map(I::InterlockedExchangeAdd),
        M::InterlockedExchange => atomic.map(I::InterlockedExchange),
        M::InterlockedIncrement => word.map(|m| I::InterlockedStep(m, 1)),
        M::InterlockedOr => integer.map(I::InterlockedOr),
        M::InterlockedMemoryBarrier | M::InterlockedReadMemoryBarrier | M::ThreadMemoryBarrier => Some(I::Fence),
        M::InterlockedRead => target.map(I::FencedRead),
        M::ThreadVolatileRead | M::VolatileRead => target.map(I::VolatileRead),
        M::ThreadVolatileWrite | M::VolatileWrite => target.map(I::VolatileWrite),
        _ => None,
    })
}

impl Intrinsic {
    /// The atomic read-modify-write operation of the intrinsic, if it has one.
    pub fn atomic(self) -> Option<(AtomicRmw, MemType)> {
        match self {
            Intrinsic::InterlockedStep(mem, _)
            | Intrinsic::InterlockedAdd(mem)
            | Intrinsic::InterlockedExchangeAdd(mem) => Some((AtomicRmw::Add, mem)),
            Intrinsic::InterlockedAnd(mem) => Some((AtomicRmw::And, mem)),
            Intrinsic::InterlockedOr(mem) => Some((AtomicRmw::Or, mem)),
            Intrinsic::InterlockedExchange(mem) => Some((AtomicRmw::Exchange, mem)),
            _ => None,
        }
    }
}
