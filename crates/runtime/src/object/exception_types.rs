//! The exception types of corlib that Rust code throws, by name once.

use saki_types::{Ty, universe};

macro_rules! exception_types {
    ($($variant:ident = $namespace:literal $name:literal;)*) => {
        /// An exception type of corlib.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ExceptionType { $($variant,)* }

        impl ExceptionType {
            pub const ALL: &'static [ExceptionType] = &[$(ExceptionType::$variant,)*];

            /// Namespace and name.
            pub const fn full_name(self) -> (&'static str, &'static str) {
                match self { $(ExceptionType::$variant => ($namespace, $name),)* }
            }
        }
    };
}

exception_types! {
    AppDomainUnloaded = "System" "AppDomainUnloadedException";
    Application = "System" "ApplicationException";
    Argument = "System" "ArgumentException";
    ArgumentNull = "System" "ArgumentNullException";
    ArgumentOutOfRange = "System" "ArgumentOutOfRangeException";
    ArrayTypeMismatch = "System" "ArrayTypeMismatchException";
    BadImageFormat = "System" "BadImageFormatException";
    CannotUnloadAppDomain = "System" "CannotUnloadAppDomainException";
    CustomAttributeFormat = "System.Reflection" "CustomAttributeFormatException";
    DivideByZero = "System" "DivideByZeroException";
    DllNotFound = "System" "DllNotFoundException";
    DuplicateWaitObject = "System" "DuplicateWaitObjectException";
    EntryPointNotFound = "System" "EntryPointNotFoundException";
    ExecutionEngine = "System" "ExecutionEngineException";
    FieldAccess = "System" "FieldAccessException";
    FileLoad = "System.IO" "FileLoadException";
    FileNotFound = "System.IO" "FileNotFoundException";
    Format = "System" "FormatException";
    IO = "System.IO" "IOException";
    IndexOutOfRange = "System" "IndexOutOfRangeException";
    InvalidCast = "System" "InvalidCastException";
    InvalidOperation = "System" "InvalidOperationException";
    InvalidProgram = "System" "InvalidProgramException";
    MarshalDirective = "System.Runtime.InteropServices" "MarshalDirectiveException";
    MemberAccess = "System" "MemberAccessException";
    MethodAccess = "System" "MethodAccessException";
    MissingField = "System" "MissingFieldException";
    MissingMember = "System" "MissingMemberException";
    MissingMethod = "System" "MissingMethodException";
    NotImplemented = "System" "NotImplementedException";
    NotSupported = "System" "NotSupportedException";
    NullReference = "System" "NullReferenceException";
    OutOfMemory = "System" "OutOfMemoryException";
    Overflow = "System" "OverflowException";
    PlatformNotSupported = "System" "PlatformNotSupportedException";
    ReflectionTypeLoad = "System.Reflection" "ReflectionTypeLoadException";
    Remoting = "System.Runtime.Remoting" "RemotingException";
    RuntimeWrapped = "System.Runtime.CompilerServices" "RuntimeWrappedException";
    Serialization = "System.Runtime.Serialization" "SerializationException";
    StackOverflow = "System" "StackOverflowException";
    SynchronizationLock = "System.Threading" "SynchronizationLockException";
    System = "System" "SystemException";
    Target = "System.Reflection" "TargetException";
    TargetParameterCount = "System.Reflection" "TargetParameterCountException";
    ThreadAbort = "System.Threading" "ThreadAbortException";
    ThreadInterrupted = "System.Threading" "ThreadInterruptedException";
    ThreadState = "System.Threading" "ThreadStateException";
    TypeInitialization = "System" "TypeInitializationException";
    TypeLoad = "System" "TypeLoadException";
}

impl ExceptionType {
    /// The type in the current domain. All class libraries that Saki runs on have it (`tests/internal_call_signatures.rs` of `icall`).
    pub fn ty(self) -> Ty {
        let (namespace, name) = self.full_name();
        match universe().corlib_type(namespace, name) {
            Ok(ty) => ty,
            Err(error) => saki_base::bug!("exception type: {error}"),
        }
    }

    /// Whether `ty` is the type, in whichever domain.
    pub fn is(self, ty: Ty) -> bool {
        let (namespace, name) = self.full_name();
        ty.is_corlib(namespace, name)
    }
}
