//! What walks of native frames need to know of the processor.
//!
//! Invariant: the only place of this crate that names an architecture. Left out: how frames are described
//! (`call_frame_information`).

#[cfg(target_arch = "aarch64")]
#[path = "machine/aarch64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "machine/x86_64.rs"]
mod arch;

pub(crate) use arch::here;
pub use arch::{FP, PRESERVED, REGISTERS, RETURN_ADDRESS, SP, interrupted_register, link, plain_address};

/// Values of registers by DWARF's number.
pub type Values = [usize; REGISTERS];

/// Registers of one moment.
pub struct Moment {
    pub pc: usize,
    pub sp: usize,
    /// Of the registers in `PRESERVED`.
    pub values: Values,
}

/// Which of an interrupted thread's registers is meant.
#[derive(Clone, Copy)]
pub enum Which {
    Pc,
    Sp,
    /// By DWARF's number, one of `PRESERVED`.
    Preserved(usize),
}
