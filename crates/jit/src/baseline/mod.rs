//! The baseline compiler: machine code straight from the IR for the small functions that programs make at run time.
//!
//! A lambda compiled by `System.Linq.Expressions` has some ten instructions, and a program may make hundreds of thousands.
//! On such a function Cranelift spends most of its time on set-up that pays only for larger ones. This compiler makes two passes
//! over the IR: [`plan`] counts uses and unites equal values, [`emit`] chooses a register for each value where it is defined. Covered
//! are scalars, arithmetic, comparisons, memory accesses, array elements, calls with arguments in registers, and forward branches;
//! [`compile`] returns None for functions with anything else (struct values, regions, loops, allocation, casts, write barriers), which
//! Cranelift compiles.
//!
//! The code follows the same conventions of `code` as Cranelift's: frame-pointer chain with the same first four bytes, arguments and
//! results in the same registers, no callee-saved register touched, traps and IL positions in the same tables. The only optimisations
//! are constants as immediates, reuse of dead operands' registers, and branches on comparisons.
//!
//! x86-64 only: elsewhere `absent.rs` takes its place, which covers nothing.

mod assembler;
mod calls;
mod emit;
mod operations;
mod plan;
mod registers;

use crate::output::CompiledCode;
use saki_il::ir::{Function, IrType};

/// Machine type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Machine {
    Long,
    Quad,
    Single,
    Double,
}

impl Machine {
    /// None for types that are not scalars.
    fn of(ty: IrType) -> Option<Machine> {
        match ty {
            IrType::I32 => Some(Machine::Long),
            IrType::I64 | IrType::Ref | IrType::ByRef => Some(Machine::Quad),
            IrType::F32 => Some(Machine::Single),
            IrType::F64 => Some(Machine::Double),
            IrType::Void | IrType::V128 | IrType::Struct(_) | IrType::Block(_) => None,
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Machine::Single | Machine::Double)
    }
}

/// Buffers that are reused from one compilation to the next.
#[derive(Default)]
pub(crate) struct Buffers {
    plan: plan::Plan,
    registers: registers::Registers,
    assembler: assembler::Assembler,
}

/// The function's code, or None if this compiler does not cover it. `stress_poll`: polls always take their slow path.
pub(crate) fn compile(buffers: &mut Buffers, func: &Function, stress_poll: bool) -> Option<CompiledCode> {
    if !buffers.plan.make(func) {
        return None;
    }
    emit::emit(buffers, func, stress_poll)
}
