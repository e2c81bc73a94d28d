//! Error numbers of libSystem.Native, which are the same on all systems (`Interop.Error` of the class library).

pub(super) const SUCCESS: i32 = 0;
pub(super) const AGAIN: i32 = 0x1_0006;
pub(super) const IN_PROGRESS: i32 = 0x1_001A;
pub(super) const INTERRUPTED: i32 = 0x1_001B;
