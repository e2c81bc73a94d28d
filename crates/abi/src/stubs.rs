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
    /// PreserveAll, `fn()`: runs the class constructor of the type in `stub_arg[0]`.
    ClassInit,
    /// PreserveAll, `fn()`: allocates an instance of the vtable in `stub_arg[0]` into `stub_result`.
    AllocSlow,
    /// PreserveAll, `fn()`: write barrier for the object in `stub_arg[0]`.
    BarrierSlow,
    /// PreserveAll, `fn(address)`: demotes the cache line to a cache level that other processors read faster, if the
    /// processor can.
    DemoteLine,
    /// IMT slots jump here: finds the target by receiver (rdi / x0) and `ThreadAbi.imt_method`.
    ImtResolve,
}

impl StubId {
    pub const ALL: &'static [StubId] = &[
        StubId::ThrowPending,
        StubId::ResumeUnwind,
        StubId::Poll,
        StubId::ClassInit,
        StubId::AllocSlow,
        StubId::BarrierSlow,
        StubId::DemoteLine,
        StubId::ImtResolve,
    ];
}

/// User trap codes (`TrapCode::user`, 1–250) and the exceptions they become.
pub mod trap {
    pub const NULL_REFERENCE: u8 = 1;
    pub const INDEX_OUT_OF_RANGE: u8 = 2;
    pub const DIVIDE_BY_ZERO: u8 = 3;
    pub const OVERFLOW: u8 = 4;
    /// Raised by the fault handler, not by an instruction of the body: the frame does not fit on the stack.
    pub const STACK_OVERFLOW: u8 = 5;
    pub const INVALID_CAST: u8 = 6;
    /// Code that cannot be reached; executing it is a bug of Saki.
    pub const UNREACHABLE: u8 = 7;
    /// Cranelift's own codes, raw.
    pub const CRANELIFT_STACK_OVERFLOW: u8 = 251;
    pub const CRANELIFT_INTEGER_OVERFLOW: u8 = 252;
    pub const CRANELIFT_HEAP_OUT_OF_BOUNDS: u8 = 253;
    pub const CRANELIFT_DIVISION_BY_ZERO: u8 = 254;
    pub const CRANELIFT_BAD_CONVERSION: u8 = 255;
}
