//! The assembly stubs and trap codes that compiled code names. The stubs live in `code`, which documents them.

/// An assembly stub of `code`; compiled code calls it through a relocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum StubId {
    /// Tail, `fn() -> !`: throws `ThreadAbi.pending_exception` as if by the caller.
    ThrowPending,
    /// Tail, `fn(exception, token) -> !`: ends a finally or fault handler that was entered by an exception.
    ResumeUnwind,
    /// PreserveAll, `fn()`: safepoint slow path.
    Poll,
    /// PreserveAll, `fn()`: safepoint slow path at a method's entry, before the method has done anything: the frame may
    /// go on in another part of the stack (`code::growth`).
    PollEntry,
    /// PreserveAll, `fn()`: runs the class constructor of the type in `stub_arg[0]`.
    ClassInit,
    /// PreserveAll, `fn()`: allocates an instance of the vtable in `stub_arg[0]` into `stub_result`.
    AllocSlow,
    /// PreserveAll, `fn()`: write barrier for the object in `stub_arg[0]`.
    BarrierSlow,
    /// PreserveAll, `fn(address)`: demotes the cache line to a cache level that other processors read faster, if the
    /// processor can.
    DemoteLine,
    /// PreserveAll, `fn()`: a counter of the method in `stub_arg[0]` has run out, at the loop whose IL offset is in
    /// `stub_arg[1]`, or at a call if that is [`NO_LOOP`]. `stub_result`: the code that continues the loop, or 0.
    Hot,
    /// System V, with the signature of the C function whose address is in `stub_arg[0]`, which has no arguments in
    /// memory: leaves managed state, calls the function, comes back. Afterwards an exception may be pending.
    CallNative,
    /// Like `CallNative`, but errno goes to `last_error` before the thread comes back.
    CallNativeSavingError,
    /// Like `CallNative`, for a function with arguments in memory: copies the `stub_arg[1]` bytes above the return
    /// address, a multiple of 16 and at most [`MAX_MEMORY_ARGUMENT_BYTES`].
    CallNativeInMemory,
    /// Like `CallNativeInMemory`, but errno goes to `last_error` before the thread comes back.
    CallNativeInMemorySavingError,
    /// IMT slots jump here: finds the target by receiver (rdi / x0) and `ThreadAbi.imt_method`.
    ImtResolve,
}

/// The most that [`StubId::CallNativeInMemory`] copies.
pub const MAX_MEMORY_ARGUMENT_BYTES: usize = 2048;

/// The argument of [`StubId::Hot`] that stands for no loop.
pub const NO_LOOP: u32 = u32::MAX;

impl StubId {
    /// All stubs; files of the code cache name one by its place here.
    pub const ALL: &'static [StubId] = &[
        StubId::ThrowPending,
        StubId::ResumeUnwind,
        StubId::Poll,
        StubId::PollEntry,
        StubId::ClassInit,
        StubId::AllocSlow,
        StubId::BarrierSlow,
        StubId::DemoteLine,
        StubId::Hot,
        StubId::CallNative,
        StubId::CallNativeSavingError,
        StubId::CallNativeInMemory,
        StubId::CallNativeInMemorySavingError,
        StubId::ImtResolve,
    ];
}

/// User trap codes (`TrapCode::user`, 1–250) and the exceptions they become.
pub mod trap {
    /// A null reference is used: NullReferenceException.
    pub const NULL_REFERENCE: u8 = 1;
    /// An index lies outside of an array: IndexOutOfRangeException.
    pub const INDEX_OUT_OF_RANGE: u8 = 2;
    /// An integer is divided by zero: DivideByZeroException.
    pub const DIVIDE_BY_ZERO: u8 = 3;
    /// A result or a conversion has no place in its type: OverflowException.
    pub const OVERFLOW: u8 = 4;
    /// Raised by the fault handler, not by an instruction of the body: the frame does not fit on the stack.
    pub const STACK_OVERFLOW: u8 = 5;
    /// An object is not of the type that is asked for: InvalidCastException.
    pub const INVALID_CAST: u8 = 6;
    /// Code that cannot be reached; executing it is a bug of Saki.
    pub const UNREACHABLE: u8 = 7;
    /// Cranelift's own codes, raw.
    pub const CRANELIFT_STACK_OVERFLOW: u8 = 251;
    /// Cranelift's own trap codes, here and below: a result that does not fit.
    pub const CRANELIFT_INTEGER_OVERFLOW: u8 = 252;
    /// An access outside of a heap.
    pub const CRANELIFT_HEAP_OUT_OF_BOUNDS: u8 = 253;
    /// A division by zero.
    pub const CRANELIFT_DIVISION_BY_ZERO: u8 = 254;
    /// A float that no integer stands for.
    pub const CRANELIFT_BAD_CONVERSION: u8 = 255;
}
