//! The corlib types that the VM itself names: a list of names, and a cell per name for the type found.

use saki_metadata::ElementType;

macro_rules! well_known {
    ($($field:ident = $namespace:literal $name:literal;)*) => {
        /// See the module header. `T` is a type.
        pub struct WellKnown<T> { $($field: T,)* }

        impl<T: Copy> WellKnown<T> {
            /// # Errors
            /// The error that `find`, called with namespace and name, returns for the first type that corlib lacks.
            pub(crate) fn load<E>(find: impl Fn(&str, &str) -> Result<T, E>) -> Result<WellKnown<T>, E> {
                Ok(WellKnown { $($field: find($namespace, $name)?,)* })
            }

            $(pub fn $field(&self) -> T { self.$field })*
        }
    };
}

well_known! {
    void = "System" "Void";
    boolean = "System" "Boolean";
    char_ = "System" "Char";
    sbyte = "System" "SByte";
    byte = "System" "Byte";
    int16 = "System" "Int16";
    uint16 = "System" "UInt16";
    int32 = "System" "Int32";
    uint32 = "System" "UInt32";
    int64 = "System" "Int64";
    uint64 = "System" "UInt64";
    single = "System" "Single";
    double = "System" "Double";
    string = "System" "String";
    object = "System" "Object";
    intptr = "System" "IntPtr";
    uintptr = "System" "UIntPtr";
    typed_reference = "System" "TypedReference";
    array = "System" "Array";
    value_type = "System" "ValueType";
    enum_type = "System" "Enum";
    delegate = "System" "Delegate";
    multicast_delegate = "System" "MulticastDelegate";
    nullable = "System" "Nullable`1";
    exception = "System" "Exception";
    type_ = "System" "Type";
    runtime_type = "System" "RuntimeType";
    ilist = "System.Collections.Generic" "IList`1";
    icollection = "System.Collections.Generic" "ICollection`1";
    ienumerable = "System.Collections.Generic" "IEnumerable`1";
    ireadonly_list = "System.Collections.Generic" "IReadOnlyList`1";
    ireadonly_collection = "System.Collections.Generic" "IReadOnlyCollection`1";
    marshal_by_ref = "System" "MarshalByRefObject";
    context_bound = "System" "ContextBoundObject";
    critical_finalizer_object = "System.Runtime.ConstrainedExecution" "CriticalFinalizerObject";
    internal_thread = "System.Threading" "InternalThread";
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
