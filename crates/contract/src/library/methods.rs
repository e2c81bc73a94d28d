//! The methods of the class libraries that the machine's code treats specially, as data: each has a role, by which all
//! other code asks for it.
//!
//! A row is a role, the method's name in Mono's class libraries and the number of its parameters, where overloads
//! differ (`_`: all methods of the name). The owner is a role itself. Profiles may rename a method or lack it: then
//! nothing is treated specially, so that each role must be one without which programs still run, or one whose method no
//! other class library has. Left out: methods that have a Rust function for their whole work; rows of internal calls
//! and library loops name these by their signatures.

use super::types::LibraryType;

/// A row of the table.
struct Row {
    owner: LibraryType,
    name: &'static str,
    /// The number of parameters without `this`; None = any.
    params: Option<u8>,
}

macro_rules! count {
    (_) => {
        None
    };
    ($count:literal) => {
        Some($count)
    };
}

macro_rules! library_methods {
    ($($owner:ident { $($role:ident = $name:literal $params:tt;)* })*) => {
        /// The role of a method of the class libraries.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        pub enum LibraryMethod { $($($role,)*)* }

        const ROWS: &[Row] = &[$($(Row {
            owner: LibraryType::$owner,
            name: $name,
            params: count!($params),
        },)*)*];

        impl LibraryMethod {
            /// All roles, in the order of the table.
            pub const ALL: &'static [LibraryMethod] = &[$($(LibraryMethod::$role,)*)*];
        }
    };
}

library_methods! {
    Array {
        ArrayGetGenericValue = "GetGenericValueImpl" 2;
        ArrayGetLength = "get_Length" 0;
        ArrayGetLengthOf = "GetLength" 1;
        ArrayGetLowerBound = "GetLowerBound" 1;
        ArrayGetRank = "get_Rank" 0;
        ArraySetGenericValue = "SetGenericValueImpl" 2;
        ArrayUnsafeMov = "UnsafeMov" 1;
    }
    ByReference {
        ByReferenceGetValue = "get_Value" 0;
        ByReferenceNew = ".ctor" 1;
    }
    Double {
        DoubleConvertToIntegerNative = "ConvertToIntegerNative" 1;
        DoubleMultiplyAddEstimate = "MultiplyAddEstimate" 3;
    }
    Enum {
        EnumHasFlag = "HasFlag" 1;
    }
    EqualityComparer {
        EqualityComparerDefault = "get_Default" _;
    }
    GCHandle {
        GCHandleAlloc = "Alloc" _;
        GCHandleFree = "Free" _;
        GCHandleFreeHandle = "FreeHandle" _;
        GCHandleGetTarget = "GetTarget" _;
        GCHandleGetTargetHandle = "GetTargetHandle" _;
        GCHandleInternalGet = "InternalGet" 1;
        GCHandleIsAllocated = "get_IsAllocated" _;
        GCHandleNew = ".ctor" _;
        GCHandleTarget = "get_Target" _;
    }
    Interlocked {
        InterlockedAdd = "Add" 2;
        InterlockedAnd = "And" 2;
        InterlockedCompareExchange = "CompareExchange" 3;
        InterlockedCompareExchangeFlag = "CompareExchange" 4;
        InterlockedDecrement = "Decrement" 1;
        InterlockedExchange = "Exchange" 2;
        InterlockedExchangeAdd = "ExchangeAdd" 2;
        InterlockedIncrement = "Increment" 1;
        InterlockedMemoryBarrier = "MemoryBarrier" 0;
        InterlockedOr = "Or" 2;
        InterlockedReadMemoryBarrier = "ReadMemoryBarrier" 0;
        InterlockedRead = "Read" 1;
    }
    MemoryMarshal {
        MemoryMarshalGetArrayDataReference = "GetArrayDataReference" 1;
    }
    MethodTable {
        MethodTableIsMultiDimensionalArray = "get_IsMultiDimensionalArray" 0;
        MethodTableMultiDimensionalArrayRank = "get_MultiDimensionalArrayRank" 0;
    }
    Math {
        MathAbs = "Abs" 1;
        MathCeiling = "Ceiling" 1;
        MathFloor = "Floor" 1;
        MathReciprocalEstimate = "ReciprocalEstimate" 1;
        MathReciprocalSqrtEstimate = "ReciprocalSqrtEstimate" 1;
        MathRound = "Round" 1;
        MathSqrt = "Sqrt" 1;
        MathTruncate = "Truncate" 1;
    }
    MathF {
        MathFAbs = "Abs" 1;
        MathFCeiling = "Ceiling" 1;
        MathFFloor = "Floor" 1;
        MathFReciprocalEstimate = "ReciprocalEstimate" 1;
        MathFReciprocalSqrtEstimate = "ReciprocalSqrtEstimate" 1;
        MathFRound = "Round" 1;
        MathFSqrt = "Sqrt" 1;
        MathFTruncate = "Truncate" 1;
    }
    Monitor {
        MonitorEnter = "Enter" 1;
        MonitorExit = "Exit" 1;
        MonitorReliableEnter = "ReliableEnter" 2;
        MonitorReliableEnterTimeout = "ReliableEnterTimeout" 3;
        MonitorTryEnterFlag = "try_enter_with_atomic_var" 3;
    }
    Object {
        ObjectGetHashCode = "GetHashCode" _;
        ObjectGetType = "GetType" 0;
        ObjectIdentityHash = "InternalGetHashCode" _;
    }
    RuntimeHelpers {
        HelpersCreateSpan = "CreateSpan" 1;
        HelpersGetMethodTable = "GetMethodTable" 1;
        HelpersIsBitwiseEquatable = "IsBitwiseEquatable" 0;
        HelpersInitializeArray = "InitializeArray" 2;
        HelpersIsReferenceOrContainsReferences = "IsReferenceOrContainsReferences" 0;
        HelpersOffsetToStringData = "get_OffsetToStringData" 0;
    }
    RuntimeType {
        RuntimeTypeIsEnum = "get_IsEnum" 0;
        RuntimeTypeTypeCode = "GetTypeCodeImplInternal" _;
    }
    RuntimeTypeHandle {
        TypeHandleGetAttributes = "GetAttributes" _;
        TypeHandleGetBaseType = "GetBaseType" _;
        TypeHandleGetCorElementType = "GetCorElementType" _;
        TypeHandleHasInstantiation = "HasInstantiation" _;
        TypeHandleIsGenericTypeDefinition = "IsGenericTypeDefinition" _;
        TypeHandleIsGenericVariable = "IsGenericVariable" _;
        TypeHandleIsInstanceOfType = "IsInstanceOfType" _;
        TypeHandleIsSubclassOf = "is_subclass_of" _;
        TypeHandleTypeIsAssignableFrom = "type_is_assignable_from" _;
    }
    Single {
        SingleConvertToIntegerNative = "ConvertToIntegerNative" 1;
        SingleMultiplyAddEstimate = "MultiplyAddEstimate" 3;
    }
    String {
        StringAllocate = "FastAllocateString" 1;
        StringGetChars = "get_Chars" 1;
        StringGetLength = "get_Length" 0;
    }
    Thread {
        ThreadMemoryBarrier = "MemoryBarrier" 0;
        ThreadSpinWait = "SpinWait_nop" 0;
        ThreadVolatileRead = "VolatileRead" 1;
        ThreadVolatileWrite = "VolatileWrite" 2;
    }
    Type {
        TypeFromHandle = "GetTypeFromHandle" 1;
        TypeIsEnum = "get_IsEnum" 0;
        TypeIsPrimitive = "get_IsPrimitive" 0;
        TypeIsValueType = "get_IsValueType" 0;
        TypeOpEquality = "op_Equality" 2;
        TypeOpInequality = "op_Inequality" 2;
    }
    Unsafe {
        UnsafeAdd = "Add" 2;
        UnsafeAddByteOffset = "AddByteOffset" 2;
        UnsafeAreSame = "AreSame" 2;
        UnsafeAs = "As" 1;
        UnsafeAsPointer = "AsPointer" 1;
        UnsafeAsRef = "AsRef" 1;
        UnsafeBitCast = "BitCast" 1;
        UnsafeByteOffset = "ByteOffset" 2;
        UnsafeCopy = "Copy" 2;
        UnsafeCopyBlock = "CopyBlock" 3;
        UnsafeCopyBlockUnaligned = "CopyBlockUnaligned" 3;
        UnsafeInitBlock = "InitBlock" 3;
        UnsafeInitBlockUnaligned = "InitBlockUnaligned" 3;
        UnsafeIsAddressGreaterThan = "IsAddressGreaterThan" 2;
        UnsafeIsAddressLessThan = "IsAddressLessThan" 2;
        UnsafeIsNullRef = "IsNullRef" 1;
        UnsafeNullRef = "NullRef" 0;
        UnsafeRead = "Read" 1;
        UnsafeReadUnaligned = "ReadUnaligned" 1;
        UnsafeSizeOf = "SizeOf" 0;
        UnsafeSkipInit = "SkipInit" 1;
        UnsafeSubtract = "Subtract" 2;
        UnsafeSubtractByteOffset = "SubtractByteOffset" 2;
        UnsafeUnbox = "Unbox" 1;
        UnsafeWrite = "Write" 2;
        UnsafeWriteUnaligned = "WriteUnaligned" 2;
    }
    Volatile {
        VolatileRead = "Read" 1;
        VolatileWrite = "Write" 2;
    }
}

/// The positions of the rows of an owner: the first one, and the one behind the last.
const RANGES: [(u8, u8); LibraryType::COUNT] = {
    let mut ranges = [(0, 0); LibraryType::COUNT];
    let mut at = 0;
    while at < ROWS.len() {
        let range = &mut ranges[ROWS[at].owner as usize];
        if range.1 == 0 {
            range.0 = at as u8;
        }
        at += 1;
        range.1 = at as u8;
    }
    assert!(ROWS.len() <= u8::MAX as usize, "positions have eight bits");
    ranges
};

impl LibraryMethod {
    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The name in the table, which a profile may change (`LibraryProfile::method_name`).
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The type that declares the method.
    pub const fn owner(self) -> LibraryType {
        self.row().owner
    }

    /// The methods of a type.
    pub(super) fn of_owner(owner: LibraryType) -> impl Iterator<Item = LibraryMethod> {
        let (first, end) = RANGES[owner as usize];
        LibraryMethod::ALL[first as usize..end as usize].iter().copied()
    }
}

/// Of methods with the same name, the one with this number of parameters.
pub(super) fn choose<E>(
    mut methods: impl Iterator<Item = LibraryMethod>,
    params: impl FnOnce() -> Result<usize, E>,
) -> Result<Option<LibraryMethod>, E> {
    let Some(first) = methods.next() else { return Ok(None) };
    if first.row().params.is_none() {
        return Ok(Some(first));
    }
    let count = params()?;
    let fits = |method: &LibraryMethod| method.row().params.is_some_and(|params| usize::from(params) == count);
    Ok(std::iter::once(first).chain(methods).find(fits))
}
