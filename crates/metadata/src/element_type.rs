//! Element type bytes of signatures and attribute blobs. ECMA-335 §II.23.1.16.

macro_rules! element_types {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// An element type byte.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum ElementType { $($(#[$doc])* $name = $number,)* }

        impl ElementType {
            /// The element type of a byte, if it is one.
            #[inline]
            pub const fn from_u8(byte: u8) -> Option<Self> {
                match byte {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

element_types! {
    End = 0x00,
    Void = 0x01,
    Boolean = 0x02,
    Char = 0x03,
    I1 = 0x04,
    U1 = 0x05,
    I2 = 0x06,
    U2 = 0x07,
    I4 = 0x08,
    U4 = 0x09,
    I8 = 0x0a,
    U8 = 0x0b,
    R4 = 0x0c,
    R8 = 0x0d,
    String = 0x0e,
    Ptr = 0x0f,
    ByRef = 0x10,
    ValueType = 0x11,
    Class = 0x12,
    Var = 0x13,
    Array = 0x14,
    GenericInst = 0x15,
    TypedByRef = 0x16,
    I = 0x18,
    U = 0x19,
    FnPtr = 0x1b,
    Object = 0x1c,
    SzArray = 0x1d,
    MVar = 0x1e,
    CModReqd = 0x1f,
    CModOpt = 0x20,
    Internal = 0x21,
    Modifier = 0x40,
    Sentinel = 0x41,
    Pinned = 0x45,
    /// `System.Type` in an attribute blob.
    CaType = 0x50,
    /// A boxed value in an attribute blob.
    CaBoxed = 0x51,
    /// A field in an attribute blob.
    CaField = 0x53,
    /// A property in an attribute blob.
    CaProperty = 0x54,
    /// An enum in an attribute blob.
    CaEnum = 0x55,
}

impl ElementType {
    /// True for a type that is one byte in a signature: primitives, `string`, `object`, `typedref`, `void`.
    #[inline]
    pub const fn is_simple(self) -> bool {
        matches!(self as u8, 0x01..=0x0e | 0x16 | 0x18 | 0x19 | 0x1c)
    }

    /// Size in bytes of a fixed-width primitive (`Boolean`..`R8`).
    pub const fn primitive_size_bytes(self) -> Option<usize> {
        match self {
            Self::Boolean | Self::I1 | Self::U1 => Some(1),
            Self::Char | Self::I2 | Self::U2 => Some(2),
            Self::I4 | Self::U4 | Self::R4 => Some(4),
            Self::I8 | Self::U8 | Self::R8 => Some(8),
            _ => None,
        }
    }
}
