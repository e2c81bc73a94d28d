//! The failures that code tests for, as Cranelift's traps.

pub(super) use crate::failure::Failure;
use cranelift_codegen::ir::TrapCode;

impl Failure {
    /// The trap that the signal handler turns into the exception.
    pub(super) fn trap_code(self) -> TrapCode {
        TrapCode::unwrap_user(self.trap())
    }
}
