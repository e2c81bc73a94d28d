//! The types of the core assembly that the VM asks for most: a cell for each, filled when a domain is made.
//!
//! Their names are those of their roles (`LibraryType`). Those that a class library may lack are options; where one is
//! absent there are no such objects.

use saki_contract::LibraryType;
use saki_metadata::ElementType;

macro_rules! well_known {
    (required { $($field:ident = $role:ident;)* } optional { $($may:ident = $may_role:ident;)* }) => {
        /// See the module header. `T` is a type.
        pub struct WellKnown<T> { $($field: T,)* $($may: Option<T>,)* }

        impl<T: Copy> WellKnown<T> {
            /// # Errors
            /// The error that `require` returns for the first type that the core assembly lacks, and those of `find`.
            pub(crate) fn load<E>(
                require: impl Fn(LibraryType) -> Result<T, E>,
                find: impl Fn(LibraryType) -> Result<Option<T>, E>,
            ) -> Result<WellKnown<T>, E> {
                $(const { assert!(!LibraryType::$role.is_optional()) };)*
                Ok(WellKnown {
                    $($field: require(LibraryType::$role)?,)*
                    $($may: find(LibraryType::$may_role)?,)*
                })
            }

            $(pub fn $field(&self) -> T { self.$field })*
            $(pub fn $may(&self) -> Option<T> { self.$may })*
        }
    };
}

well_known! {
    required {
        void = Void;
        boolean = Boolean;
        char_ = Char;
        sbyte = SByte;
        byte = Byte;
        int16 = Int16;
        uint16 = UInt16;
        int32 = Int32;
        uint32 = UInt32;
        int64 = Int64;
        uint64 = UInt64;
        single = Single;
        double = Double;
        string = String;
        object = Object;
        intptr = IntPtr;
        uintptr = UIntPtr;
        typed_reference = TypedReference;
        array = Array;
        value_type = ValueType;
        enum_type = Enum;
        delegate = Delegate;
        multicast_delegate = MulticastDelegate;
        nullable = Nullable;
        exception = Exception;
        type_ = Type;
        runtime_type = RuntimeType;
        ilist = IList;
        icollection = ICollection;
        ienumerable = IEnumerable;
        ireadonly_list = IReadOnlyList;
        ireadonly_collection = IReadOnlyCollection;
    }
    optional {
        marshal_by_ref = MarshalByRefObject;
        context_bound = ContextBoundObject;
        critical_finalizer_object = CriticalFinalizerObject;
        internal_thread = InternalThread;
    }
}

impl<T: Copy> WellKnown<T> {
    /// The type of a one-byte signature element.
    pub fn primitive(&self, element: ElementType) -> T {
        use ElementType as E;
        match element {
            E::Boolean => self.boolean,
            E::Char => self.char_,
            E::I1 => self.sbyte,
            E::U1 => self.byte,
            E::I2 => self.int16,
            E::U2 => self.uint16,
            E::I4 => self.int32,
            E::U4 => self.uint32,
            E::I8 => self.int64,
            E::U8 => self.uint64,
            E::R4 => self.single,
            E::R8 => self.double,
            E::I => self.intptr,
            E::U => self.uintptr,
            E::String => self.string,
            E::Object => self.object,
            E::TypedByRef => self.typed_reference,
            _ => self.void,
        }
    }
}
