//! The runtime functions that compiled code calls, listed once.
//!
//! A helper is a Rust function that takes the current thread and the listed arguments (`runtime::helpers`, which does
//! not compile where the two differ). Compiled code never calls it directly: it calls the helper's *thunk* (Tail
//! convention, same arguments without the thread), which records the exit frame, passes the pinned register as first
//! argument, and on return throws `pending_exception` if it is set.
//!
//! The comment of a helper names its arguments in parentheses, then says what it does or returns and which exceptions
//! it throws.

/// Machine-level type of an argument or result. `Ref` and `Ptr` are both 64-bit words, and not the same to anybody but
/// `jit`: a helper takes objects for the one and addresses for the other, or does not compile, and `il` keeps only
/// values of the one alive as references.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum AbiType {
    Void,
    I32,
    I64,
    F32,
    F64,
    /// An object reference.
    Ref,
    /// Any other address: byref, type, method, vtable.
    Ptr,
}

macro_rules! helpers {
    ($($(#[$doc:meta])* $name:ident ( $($param:ident),* ) -> $ret:ident;)*) => {
        /// Names a runtime function; the discriminant indexes the helper table.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u16)]
        pub enum HelperId { $($(#[$doc])* $name,)* }

        impl HelperId {
            /// All helpers; files of the code cache name one by its place here.
            pub const ALL: &'static [HelperId] = &[$(HelperId::$name,)*];

            /// Parameters (without the thread) and result.
            pub const fn signature(self) -> (&'static [AbiType], AbiType) {
                match self { $(HelperId::$name => (&[$(AbiType::$param),*], AbiType::$ret),)* }
            }

            /// The helper's name in dumps, which is that of its variant.
            pub fn name(self) -> &'static str {
                match self { $(HelperId::$name => stringify!($name),)* }
            }
        }
    };
}

helpers! {
    /// (vtable) Allocates an instance, zeroed; registers finalizable objects.
    NewObject(Ptr) -> Ref;
    /// (array vtable, element count as native int) OverflowException when negative, OutOfMemoryException when too
    /// large.
    NewSzArray(Ptr, I64) -> Ref;
    /// (UTF-16 units) OutOfMemoryException when negative or too long.
    NewString(I32) -> Ref;
    /// (array vtable, address of i32 arguments, their number) Lengths, or (lower bound, length) pairs when 2×rank.
    NewMultiDimArray(Ptr, Ptr, I32) -> Ref;
    /// (object, type) Null or the object; else InvalidCastException.
    CastClass(Ref, Ptr) -> Ref;
    /// (object, type) The object if it is an instance, else null.
    IsInst(Ref, Ptr) -> Ref;
    /// (method) The object that a RuntimeMethodHandle of .NET's class libraries holds.
    MethodHandleObject(Ptr) -> Ref;
    /// (type handle of .NET's class libraries, not null) → its RuntimeType.
    TypeHandleObject(I64) -> Ref;
    /// (field) The object that a RuntimeFieldHandle of .NET's class libraries holds.
    FieldHandleObject(Ptr) -> Ref;
    /// (object, type) Address of the boxed value; NullReferenceException, InvalidCastException.
    Unbox(Ref, Ptr) -> Ptr;
    /// (array, value) Array store check: ArrayTypeMismatchException.
    CheckArrayStore(Ref, Ref) -> Void;
    /// (array, exact element type) ldelema check: ArrayTypeMismatchException.
    CheckElementAddress(Ref, Ptr) -> Void;
    /// (type) Runs the class constructor; TypeInitializationException.
    ClassInit(Ptr) -> Void;
    /// (field) Address of the thread-static field for this thread, its class initialised by the caller.
    ThreadStaticAddress(Ptr) -> Ptr;
    /// (object, method) Code address for ldvirtftn and for virtual calls that have no slot (generic virtual methods).
    ResolveVirtual(Ref, Ptr) -> Ptr;
    /// (exception) throw; NullReferenceException when null. Never returns.
    Throw(Ref) -> Void;
    /// (exception) rethrow keeping its trace. Never returns.
    Rethrow(Ref) -> Void;
    ThrowNullReference() -> Void;
    ThrowIndexOutOfRange() -> Void;
    /// InvalidOperationException: a GC handle was freed before it is used or freed.
    ThrowStaleHandle() -> Void;
    ThrowDivideByZero() -> Void;
    ThrowOverflow() -> Void;
    /// (index into the list of deferred errors of the body that calls) The load error met when importing an
    /// instruction.
    ThrowDeferred(I32) -> Void;
    /// (slot address, value) Reference store whose object is unknown (through a byref), with barrier.
    StoreRefUnknown(Ptr, Ref) -> Void;
    /// (slot address) Write barrier after an atomic reference store whose object is unknown.
    BarrierUnknown(Ptr) -> Void;
    /// (object) Write barrier slow path after a reference store into the object.
    BarrierSlow(Ref) -> Void;
    /// (destination, source, type) Copies a value type with barrier; destination anywhere.
    CopyStructBarrier(Ptr, Ptr, Ptr) -> Void;
    /// (destination, source, bytes) memmove of reference-free memory.
    MemMove(Ptr, Ptr, I64) -> Void;
    /// (destination, byte value, bytes) memset.
    MemSet(Ptr, I32, I64) -> Void;
    /// Safepoint slow path: collection, abort, preemption.
    Poll() -> Void;
    /// C fmod, the CIL `rem` on floats.
    FRem(F64, F64) -> F64;
    FRemSingle(F32, F32) -> F32;
    /// Float → integer conversions without a fast instruction; saturation as the x64 instruction gives (0x80…0).
    ConvR8ToU8(F64) -> I64;
    /// conv.ovf.* from a float: (value, target as `ConvTarget` number) OverflowException.
    ConvR8Checked(F64, I32) -> I64;
    /// (delegate, target, code address, method) Delegate constructor.
    DelegateInit(Ref, Ref, Ptr, Ptr) -> Void;
    /// (delegate, first argument) Code address for an open virtual delegate.
    DelegateResolveVirtual(Ref, Ref) -> Ptr;
    /// (address of a RuntimeArgumentHandle, cookie) `arglist`: stores the cookie in the handle.
    ArgListInit(Ptr, Ptr) -> Void;
    /// (boxed-type, address) Boxes a value, Nullable<T> as documented.
    BoxNullable(Ptr, Ptr) -> Ref;
    /// (destination, object, nullable type) unbox.any of Nullable<T>.
    UnboxNullable(Ptr, Ref, Ptr) -> Void;
    /// (type) The System.Type object.
    TypeObject(Ptr) -> Ref;
    /// (object) Monitor.Enter, when the inlined code does not suffice; MonitorExit likewise.
    MonitorEnter(Ref) -> Void;
    MonitorExit(Ref) -> Void;
    /// (monitor) Wakes a thread that waits to enter the monitor, which compiled code has just freed.
    MonitorWake(Ptr) -> Void;
    /// (object, milliseconds; negative = for ever) 1 = entered, 0 = timed out.
    MonitorTryEnter(Ref, I32) -> I32;
    /// (method pointer; its lowest bits say which part of the method) A call begins, in code compiled with probes;
    /// ProfileLeave: it ends.
    ProfileEnter(Ptr) -> Void;
    ProfileLeave(Ptr) -> Void;
    /// (method pointer; its lowest bits say which part of the method; address of the arguments' words) As ProfileEnter,
    /// in code that is traced; TraceLeave: (method pointer, address of the result's words), at its ends.
    TraceEnter(Ptr, Ptr) -> Void;
    TraceLeave(Ptr, Ptr) -> Void;
    /// (method pointer, CIL offset) A statement begins, in code whose coverage is recorded.
    CoverStatement(Ptr, I32) -> Void;
    /// P/Invoke: leaves managed state before a native call; LeaveNative re-enters it afterwards.
    EnterNative() -> Void;
    LeaveNative() -> Void;
    /// P/Invoke: (method) resolves the native entry point; DllNotFoundException, EntryPointNotFoundException.
    ResolveNative(Ptr) -> Ptr;
    /// P/Invoke: saves errno as the last error.
    SaveLastError() -> Void;
    /// P/Invoke marshalling: (managed value address, descriptor) The native word of the value.
    MarshalIn(Ptr, Ptr) -> I64;
    /// (native word, managed value address, descriptor) Converts the native word into the managed value.
    MarshalOut(I64, Ptr, Ptr) -> Void;
    /// (native word, managed value address, descriptor) Frees the memory that MarshalIn allocated.
    MarshalFree(I64, Ptr, Ptr) -> Void;
    /// (delegate, boxed arguments as object[], callback and state last) BeginInvoke: the IAsyncResult.
    DelegateBeginInvoke(Ref, Ref) -> Ref;
    /// (delegate, object[] with the IAsyncResult last) EndInvoke: the boxed result; by-reference results are left boxed
    /// in their places in the array. Throws what the call threw.
    DelegateEndInvoke(Ref, Ref) -> Ref;
    /// (transparent proxy, method, boxed arguments as object[]) Calls the method on the object behind the proxy: the
    /// boxed result; by-reference results are left boxed in their places in the array.
    ProxyInvoke(Ref, Ptr, Ref) -> Ref;
    /// (transparent proxy, field) The boxed value of a field of the proxy's object.
    ProxyGetField(Ref, Ptr) -> Ref;
    /// (transparent proxy, field) The field's address, if the object is in this context.
    ProxyFieldAddress(Ref, Ptr) -> Ptr;
    /// (type) A new object of a context-bound class, before its constructor has run: the object or a transparent proxy.
    NewContextBound(Ptr) -> Ref;
    /// (type) As NewContextBound, for other subclasses of MarshalByRefObject: a proxy only if the program has
    /// redirected the class.
    NewMarshalByRef(Ptr) -> Ref;
    /// (transparent proxy, field, boxed value) Sets a field of the proxy's object.
    ProxySetField(Ref, Ptr, Ref) -> Void;
    /// (marshalling descriptor) The cached ICustomMarshaler of a parameter.
    CustomMarshaler(Ptr) -> Ref;
    /// (marshalling descriptor) MarshalDirectiveException with the reason that the descriptor holds. Never returns.
    ThrowMarshalDirective(Ptr) -> Void;
    /// Native code calls a delegate: (callback context) The delegate.
    CallbackDelegate(Ptr) -> Ref;
    /// (native word, managed value address, descriptor) Sets the managed value from a native argument.
    CallbackIn(I64, Ptr, Ptr) -> Void;
    /// (managed value address, native word of the argument, descriptor) Converts a managed result or a changed
    /// by-reference argument: the native word of a result.
    CallbackOut(Ptr, I64, Ptr) -> I64;
    /// (method) Throws NotImplementedException with the full name of an internal call that Saki lacks.
    MissingInternalCall(Ptr) -> Void;
    /// (method) Throws the exception that compiling the method recorded: MissingMethod, BadImageFormat, InvalidProgram.
    ThrowCompileError(Ptr) -> Void;
    /// (bytes, frame pointer of the caller) `localloc` of a size not known when compiling: zeroed memory that belongs
    /// to that frame, 16-aligned; StackOverflow semantics as OutOfMemoryException. Blocks of dead (lower) frames are
    /// freed.
    LocAlloc(I64, Ptr) -> Ptr;
    /// (frame pointer) The frame returns: frees its `LocAlloc` blocks and those of lower frames.
    LocFree(Ptr) -> Void;
}
