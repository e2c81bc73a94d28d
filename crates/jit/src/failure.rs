//! The failures that code generated for an instruction tests for, in both compilers.

use saki_abi::HelperId;
use saki_abi::stubs::trap;

/// The exception that a failed check throws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    NullReference,
    IndexOutOfRange,
    DivideByZero,
    Overflow,
}

impl Failure {
    /// The helper that throws the exception.
    pub(crate) fn helper(self) -> HelperId {
        match self {
            Failure::NullReference => HelperId::ThrowNullReference,
            Failure::IndexOutOfRange => HelperId::ThrowIndexOutOfRange,
            Failure::DivideByZero => HelperId::ThrowDivideByZero,
            Failure::Overflow => HelperId::ThrowOverflow,
        }
    }

    /// The trap that the signal handler turns into the exception.
    pub(crate) fn trap(self) -> u8 {
        match self {
            Failure::NullReference => trap::NULL_REFERENCE,
            Failure::IndexOutOfRange => trap::INDEX_OUT_OF_RANGE,
            Failure::DivideByZero => trap::DIVIDE_BY_ZERO,
            Failure::Overflow => trap::OVERFLOW,
        }
    }
}
