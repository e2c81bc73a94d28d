//! The exception types of the class library that Rust code throws, among the types that have roles.

use saki_types::{LibraryType, Ty, universe};

macro_rules! exception_types {
    ($($variant:ident = $role:ident;)*) => {
        /// An exception type of corlib.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum ExceptionType { $($variant,)* }

        impl ExceptionType {
            pub const ALL: &'static [ExceptionType] = &[$(ExceptionType::$variant,)*];

            pub const fn role(self) -> LibraryType {
                match self { $(ExceptionType::$variant => LibraryType::$role,)* }
            }
        }
    };
}

exception_types! {
    AmbiguousImplementation = AmbiguousImplementationException;
    AmbiguousMatch = AmbiguousMatchException;
    AppDomainUnloaded = AppDomainUnloadedException;
    Application = ApplicationException;
    Argument = ArgumentException;
    ArgumentNull = ArgumentNullException;
    ArgumentOutOfRange = ArgumentOutOfRangeException;
    ArrayTypeMismatch = ArrayTypeMismatchException;
    BadImageFormat = BadImageFormatException;
    CannotUnloadAppDomain = CannotUnloadAppDomainException;
    CustomAttributeFormat = CustomAttributeFormatException;
    DivideByZero = DivideByZeroException;
    DllNotFound = DllNotFoundException;
    DuplicateWaitObject = DuplicateWaitObjectException;
    EntryPointNotFound = EntryPointNotFoundException;
    ExecutionEngine = ExecutionEngineException;
    FieldAccess = FieldAccessException;
    FileLoad = FileLoadException;
    FileNotFound = FileNotFoundException;
    Format = FormatException;
    IO = IOException;
    IndexOutOfRange = IndexOutOfRangeException;
    InvalidCast = InvalidCastException;
    InvalidOperation = InvalidOperationException;
    InvalidProgram = InvalidProgramException;
    MarshalDirective = MarshalDirectiveException;
    MemberAccess = MemberAccessException;
    MethodAccess = MethodAccessException;
    MissingField = MissingFieldException;
    MissingMember = MissingMemberException;
    MissingMethod = MissingMethodException;
    NotImplemented = NotImplementedException;
    NotSupported = NotSupportedException;
    NullReference = NullReferenceException;
    OutOfMemory = OutOfMemoryException;
    Overflow = OverflowException;
    PlatformNotSupported = PlatformNotSupportedException;
    ReflectionTypeLoad = ReflectionTypeLoadException;
    Remoting = RemotingException;
    RuntimeWrapped = RuntimeWrappedException;
    Serialization = SerializationException;
    StackOverflow = StackOverflowException;
    SynchronizationLock = SynchronizationLockException;
    System = SystemException;
    Target = TargetException;
    TargetParameterCount = TargetParameterCountException;
    ThreadAbort = ThreadAbortException;
    ThreadInterrupted = ThreadInterruptedException;
    ThreadState = ThreadStateException;
    TypeInitialization = TypeInitializationException;
    TypeLoad = TypeLoadException;
    Verification = VerificationException;
}

impl ExceptionType {
    /// The type in the current domain. All class libraries that Saki runs on have it
    /// (`tests/internal_call_signatures.rs` of `icall`).
    pub fn ty(self) -> Ty {
        match universe().library_type(self.role()) {
            Ok(ty) => ty,
            Err(error) => saki_base::bug!("exception type: {error}"),
        }
    }

    /// Whether `ty` is the type, in whichever domain.
    pub fn is(self, ty: Ty) -> bool {
        ty.is(self.role())
    }
}
