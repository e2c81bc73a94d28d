//! The types of the class libraries that the machine's code names, as data: each has a role, by which all other code
//! asks for it.
//!
//! A row is a role and the name that the type has in Mono's class libraries; nested types are "Outer/Inner". A profile
//! may rename a role or say that its class libraries lack it (`LibraryProfile`), which they may only for rows marked
//! `optional`: an absent type has no objects, so that no field of it is reached, and code that needs the type itself
//! gets none, or TypeLoadException where managed code asked for it. Left out: types that are named in the rows of
//! internal calls and library loops alone, by whole signatures.

/// An assembly of the class libraries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LibraryAssembly {
    /// The core assembly, which each profile names.
    Core,
    Named(&'static str),
}

/// Where a type is found by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeName {
    pub assembly: LibraryAssembly,
    pub namespace: &'static str,
    /// Without the namespace; nested types as "Outer/Inner".
    pub name: &'static str,
}

/// A row of the table.
struct Row {
    name: TypeName,
    is_optional: bool,
}

/// Whether a row of a table is marked `optional`.
macro_rules! is_marked {
    () => {
        false
    };
    (optional) => {
        true
    };
}

macro_rules! library_types {
    ($([$assembly:expr] { $($namespace:literal { $($role:ident = $name:literal $(, $optional:ident)?;)* })* })*) => {
        /// The role of a type of the class libraries.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        pub enum LibraryType { $($($($role,)*)*)* }

        const ROWS: &[Row] = &[$($($(Row {
            name: TypeName { assembly: $assembly, namespace: $namespace, name: $name },
            is_optional: is_marked!($($optional)?),
        },)*)*)*];

        impl LibraryType {
            /// All roles, in the order of the table.
            pub const ALL: &'static [LibraryType] = &[$($($(LibraryType::$role,)*)*)*];
        }
    };
}

library_types! {
    [LibraryAssembly::Core] {
        "Microsoft.Win32.SafeHandles" {
            SafeFileHandle = "SafeFileHandle", optional;
        }
        "System" {
            AppContext = "AppContext", optional;
            AppDomain = "AppDomain";
            AppDomainSetup = "AppDomainSetup", optional;
            AppDomainUnloadedException = "AppDomainUnloadedException";
            ApplicationException = "ApplicationException";
            ArgIterator = "ArgIterator";
            ArgumentException = "ArgumentException";
            ArgumentNullException = "ArgumentNullException";
            ArgumentOutOfRangeException = "ArgumentOutOfRangeException";
            Array = "Array";
            ArrayTypeMismatchException = "ArrayTypeMismatchException";
            Attribute = "Attribute";
            BadImageFormatException = "BadImageFormatException";
            BitConverter = "BitConverter";
            Boolean = "Boolean";
            Buffer = "Buffer";
            ByReference = "ByReference`1", optional;
            Byte = "Byte";
            CannotUnloadAppDomainException = "CannotUnloadAppDomainException";
            Char = "Char";
            Console = "Console", optional;
            ContextBoundObject = "ContextBoundObject", optional;
            DateTime = "DateTime";
            DBNull = "DBNull";
            Decimal = "Decimal";
            Delegate = "Delegate";
            DivideByZeroException = "DivideByZeroException";
            DllNotFoundException = "DllNotFoundException";
            Double = "Double";
            DuplicateWaitObjectException = "DuplicateWaitObjectException";
            EntryPointNotFoundException = "EntryPointNotFoundException";
            Enum = "Enum";
            Exception = "Exception";
            ExecutionEngineException = "ExecutionEngineException";
            FieldAccessException = "FieldAccessException";
            FormatException = "FormatException";
            IEquatable = "IEquatable`1";
            IndexOutOfRangeException = "IndexOutOfRangeException";
            Int16 = "Int16";
            Int32 = "Int32";
            Int64 = "Int64";
            Int128 = "Int128", optional;
            IntPtr = "IntPtr";
            InvalidCastException = "InvalidCastException";
            InvalidOperationException = "InvalidOperationException";
            InvalidProgramException = "InvalidProgramException";
            MarshalByRefObject = "MarshalByRefObject", optional;
            Math = "Math";
            MathF = "MathF", optional;
            MemberAccessException = "MemberAccessException";
            MethodAccessException = "MethodAccessException";
            MissingFieldException = "MissingFieldException";
            MissingMemberException = "MissingMemberException";
            MissingMethodException = "MissingMethodException";
            MulticastDelegate = "MulticastDelegate";
            NotImplementedException = "NotImplementedException";
            NotSupportedException = "NotSupportedException";
            Nullable = "Nullable`1";
            NullReferenceException = "NullReferenceException";
            Object = "Object";
            OutOfMemoryException = "OutOfMemoryException";
            OverflowException = "OverflowException";
            PlatformNotSupportedException = "PlatformNotSupportedException";
            RuntimeArgumentHandle = "RuntimeArgumentHandle";
            RuntimeFieldHandle = "RuntimeFieldHandle";
            RuntimeFieldInfoStub = "RuntimeFieldInfoStub", optional;
            RuntimeMethodHandle = "RuntimeMethodHandle";
            RuntimeMethodInfoStub = "RuntimeMethodInfoStub", optional;
            RuntimeType = "RuntimeType";
            RuntimeTypeHandle = "RuntimeTypeHandle";
            SByte = "SByte";
            Single = "Single";
            Signature = "Signature", optional;
            StackOverflowException = "StackOverflowException";
            String = "String";
            SystemException = "SystemException";
            SZArrayHelper = "SZArrayHelper", optional;
            Type = "Type";
            TypedReference = "TypedReference";
            TypeInitializationException = "TypeInitializationException";
            TypeLoadException = "TypeLoadException";
            UInt16 = "UInt16";
            UInt32 = "UInt32";
            UInt64 = "UInt64";
            UInt128 = "UInt128", optional;
            UIntPtr = "UIntPtr";
            UnhandledExceptionEventArgs = "UnhandledExceptionEventArgs";
            ValueType = "ValueType";
            Void = "Void";
            WeakReference = "WeakReference";
            WeakReferenceOf = "WeakReference`1";
        }
        "System.Collections.Generic" {
            EqualityComparer = "EqualityComparer`1";
            ICollection = "ICollection`1";
            IEnumerable = "IEnumerable`1";
            IList = "IList`1";
            IReadOnlyCollection = "IReadOnlyCollection`1";
            IReadOnlyList = "IReadOnlyList`1";
            KeyValuePair = "KeyValuePair`2";
        }
        "System.Diagnostics" {
            StackFrame = "StackFrame";
        }
        "System.Globalization" {
            CalendarData = "CalendarData", optional;
            CultureData = "CultureData", optional;
            CultureInfo = "CultureInfo";
            RegionInfo = "RegionInfo", optional;
            TextInfo = "TextInfo";
        }
        "System.IO" {
            FileLoadException = "FileLoadException";
            FileNotFoundException = "FileNotFoundException";
            FileStream = "FileStream", optional;
            IOException = "IOException";
        }
        "System.Reflection" {
            AmbiguousMatchException = "AmbiguousMatchException";
            Assembly = "Assembly";
            AssemblyName = "AssemblyName", optional;
            CustomAttributeData = "CustomAttributeData";
            CustomAttributeFormatException = "CustomAttributeFormatException";
            CustomAttributeNamedArgument = "CustomAttributeNamedArgument";
            CustomAttributeTypedArgument = "CustomAttributeTypedArgument";
            ExceptionHandlingClause = "ExceptionHandlingClause";
            FieldInfo = "FieldInfo";
            LocalVariableInfo = "LocalVariableInfo";
            ManifestResourceInfo = "ManifestResourceInfo";
            MemberInfo = "MemberInfo";
            MethodBody = "MethodBody";
            MethodInfo = "MethodInfo";
            Missing = "Missing";
            Module = "Module";
            MonoArrayMethod = "MonoArrayMethod", optional;
            MonoEventInfo = "MonoEventInfo", optional;
            MonoMethodInfo = "MonoMethodInfo", optional;
            MonoPropertyInfo = "MonoPropertyInfo", optional;
            ParameterInfo = "ParameterInfo";
            Pointer = "Pointer";
            PropertyInfo = "PropertyInfo";
            ReflectionTypeLoadException = "ReflectionTypeLoadException";
            RtFieldInfo = "RtFieldInfo", optional;
            RuntimeAssembly = "RuntimeAssembly";
            RuntimeConstructorInfo = "RuntimeConstructorInfo";
            RuntimeEventInfo = "RuntimeEventInfo";
            RuntimeExceptionHandlingClause = "RuntimeExceptionHandlingClause", optional;
            RuntimeFieldInfo = "RuntimeFieldInfo";
            RuntimeLocalVariableInfo = "RuntimeLocalVariableInfo", optional;
            RuntimeMethodBody = "RuntimeMethodBody", optional;
            RuntimeMethodInfo = "RuntimeMethodInfo";
            RuntimeModule = "RuntimeModule";
            RuntimeParameterInfo = "RuntimeParameterInfo";
            RuntimePropertyInfo = "RuntimePropertyInfo";
            TargetException = "TargetException";
            TargetParameterCountException = "TargetParameterCountException";
        }
        "System.Reflection.Emit" {
            ArrayType = "ArrayType", optional;
            AssemblyBuilder = "AssemblyBuilder", optional;
            ByRefType = "ByRefType", optional;
            ConstructorBuilder = "ConstructorBuilder", optional;
            ConstructorOnTypeBuilderInst = "ConstructorOnTypeBuilderInst", optional;
            CustomAttributeBuilder = "CustomAttributeBuilder", optional;
            DynamicMethod = "DynamicMethod", optional;
            DynamicResolver = "DynamicResolver", optional;
            EnumBuilder = "EnumBuilder", optional;
            EventBuilder = "EventBuilder", optional;
            FieldBuilder = "FieldBuilder", optional;
            FieldOnTypeBuilderInst = "FieldOnTypeBuilderInst", optional;
            GenericTypeParameterBuilder = "GenericTypeParameterBuilder", optional;
            ILExceptionBlock = "ILExceptionBlock", optional;
            ILExceptionInfo = "ILExceptionInfo", optional;
            ILGenerator = "ILGenerator", optional;
            MethodBuilder = "MethodBuilder", optional;
            MethodOnTypeBuilderInst = "MethodOnTypeBuilderInst", optional;
            ModuleBuilder = "ModuleBuilder", optional;
            MonoResource = "MonoResource", optional;
            MonoWin32Resource = "MonoWin32Resource", optional;
            ParameterBuilder = "ParameterBuilder", optional;
            PointerType = "PointerType", optional;
            PropertyBuilder = "PropertyBuilder", optional;
            RefEmitPermissionSet = "RefEmitPermissionSet", optional;
            SignatureHelper = "SignatureHelper", optional;
            SymbolType = "SymbolType", optional;
            TypeBuilder = "TypeBuilder", optional;
            TypeBuilderInstantiation = "TypeBuilderInstantiation", optional;
            UnmanagedMarshal = "UnmanagedMarshal", optional;
        }
        "System.Runtime" {
            AmbiguousImplementationException = "AmbiguousImplementationException";
        }
        "System.Runtime.CompilerServices" {
            Ephemeron = "Ephemeron", optional;
            RuntimeCompatibilityAttribute = "RuntimeCompatibilityAttribute";
            MethodTable = "MethodTable", optional;
            RawArrayData = "RawArrayData", optional;
            RuntimeHelpers = "RuntimeHelpers";
            RuntimeWrappedException = "RuntimeWrappedException";
            Unsafe = "Unsafe", optional;
        }
        "System.Runtime.ConstrainedExecution" {
            CriticalFinalizerObject = "CriticalFinalizerObject", optional;
        }
        "System.Runtime.InteropServices" {
            CriticalHandle = "CriticalHandle";
            GCHandle = "GCHandle";
            HandleRef = "HandleRef";
            ICustomMarshaler = "ICustomMarshaler";
            MarshalAsAttribute = "MarshalAsAttribute";
            MemoryMarshal = "MemoryMarshal", optional;
            MarshalDirectiveException = "MarshalDirectiveException";
            SafeHandle = "SafeHandle";
        }
        "System.Runtime.Intrinsics" {
            Vector128Of = "Vector128`1", optional;
            Vector256Of = "Vector256`1", optional;
            Vector512Of = "Vector512`1", optional;
        }
        "System.Runtime.Loader" {
            AssemblyLoadContext = "AssemblyLoadContext", optional;
        }
        "System.Runtime.Remoting" {
            IRemotingTypeInfo = "IRemotingTypeInfo", optional;
            RemotingException = "RemotingException", optional;
            RemotingServices = "RemotingServices", optional;
        }
        "System.Runtime.Remoting.Activation" {
            ActivationServices = "ActivationServices", optional;
        }
        "System.Runtime.Remoting.Contexts" {
            Context = "Context", optional;
        }
        "System.Runtime.Remoting.Messaging" {
            AsyncResult = "AsyncResult", optional;
            MonoMethodMessage = "MonoMethodMessage", optional;
        }
        "System.Runtime.Remoting.Proxies" {
            RealProxy = "RealProxy", optional;
            TransparentProxy = "TransparentProxy", optional;
        }
        "System.Runtime.Serialization" {
            SerializationException = "SerializationException";
        }
        "System.Security" {
            VerificationException = "VerificationException";
        }
        "System.Text" {
            DecoderNLS = "DecoderNLS", optional;
            StringBuilder = "StringBuilder";
            UnicodeEncoding = "UnicodeEncoding";
            Utf8Decoder = "UTF8Encoding/UTF8Decoder", optional;
        }
        "System.Threading" {
            EventWaitHandle = "EventWaitHandle";
            Interlocked = "Interlocked";
            InternalThread = "InternalThread", optional;
            Monitor = "Monitor";
            PlatformHelper = "PlatformHelper", optional;
            PortableThreadPool = "PortableThreadPool", optional;
            RegisteredWaitHandle = "RegisteredWaitHandle";
            SynchronizationLockException = "SynchronizationLockException";
            Thread = "Thread";
            ThreadAbortException = "ThreadAbortException";
            ThreadInterruptedException = "ThreadInterruptedException";
            ThreadPool = "ThreadPool";
            ThreadPoolWaitCallback = "_ThreadPoolWaitCallback", optional;
            ThreadStateException = "ThreadStateException";
            Volatile = "Volatile";
            WaitHandle = "WaitHandle";
        }
    }
    [LibraryAssembly::Named("System")] {
        "System" {
            IOSelectorJob = "IOSelectorJob", optional;
        }
        "System.Diagnostics" {
            CounterCreationData = "CounterCreationData";
            FileVersionInfo = "FileVersionInfo";
            Process = "Process";
            ProcInfo = "Process/ProcInfo";
            ProcessModule = "ProcessModule";
            ProcessStartInfo = "ProcessStartInfo";
        }
        "System.Net" {
            IPAddress = "IPAddress";
            SocketAddress = "SocketAddress";
        }
        "System.Net.Sockets" {
            IPv6MulticastOption = "IPv6MulticastOption";
            LingerOption = "LingerOption";
            MulticastOption = "MulticastOption";
            Socket = "Socket";
        }
    }
    [LibraryAssembly::Named("System.Numerics")] {
        "System.Numerics" {
            BigInteger = "BigInteger", optional;
            BigNumberBuffer = "BigNumber/BigNumberBuffer", optional;
        }
    }
}

impl LibraryType {
    /// The number of roles.
    pub const COUNT: usize = LibraryType::ALL.len();

    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The name in the table, which a profile may change (`LibraryProfile::name_of`).
    pub const fn name(self) -> TypeName {
        self.row().name
    }

    /// Whether a class library may lack the type.
    pub const fn is_optional(self) -> bool {
        self.row().is_optional
    }
}
