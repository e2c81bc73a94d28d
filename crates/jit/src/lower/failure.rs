//! The failures that code generated for an instruction tests for.

use cranelift_codegen::ir::TrapCode;
use saki_abi::HelperId;
use saki_abi::stubs::trap;

/// The exception that a failed check throws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    NullReference,
    IndexOutOfRange,
    DivideByZero,
    Overflow,
}

impl Failure {
    /// The helper that throws the exception.
    pub(super) fn helper(self) -> HelperId {
        match self {
            Failure::NullReference => HelperId::ThrowNullReference,
            Failure::IndexOutOfRange => HelperId::ThrowIndexOutOfRange,
            Failure::DivideByZero => HelperId::ThrowDivideByZero,
            Failure::Overflow => HelperId::ThrowOverflow,
        }
    }

    /// The trap that the signal handler turns into the exception.
    pub(super) fn trap_code(self) -> TrapCode {
        TrapCode::unwrap_user(match self {
            Failure::NullReference => trap::NULL_REFERENCE,
            Failure::IndexOutOfRange => trap::INDEX_OUT_OF_RANGE,
            Failure::DivideByZero => trap::DIVIDE_BY_ZERO,
            Failure::Overflow => trap::OVERFLOW,
        })
    }
}
