//! The baseline compiler: machine code straight from the IR, for the small functions that programs make at run time,
//! and in the first tier for nearly all.
//!
//! A lambda compiled by `System.Linq.Expressions` has some ten instructions, and a program may make hundreds of
//! thousands. On such a function Cranelift spends most of its time on set-up that pays only for larger ones. This
//! compiler makes two passes over the IR: [`plan`] counts uses and unites equal values, [`emit`] chooses a register for
//! each value where it is defined. [`compile`] returns None for functions that it does not cover (`coverage`), which
//! Cranelift compiles.
//!
//! | floor | files |
//! |---|---|
//! | the walk over the function | `emit` |
//! | families of instructions | `operations`, `objects`, `memory`, `calls`, `terminators`, `exceptions` |
//! | the code so far, registers for values | `context` |
//! | data | `plan`, `registers`, `places`, `landings`, `types` |
//!
//! Invariant: between blocks every value that another block uses is in its slot, and every local that some block reads
//! before it writes it, or whose address is taken, is in memory. So nothing is merged where blocks join, and handlers
//! find what they read.
//!
//! The code follows the same conventions of `code` as Cranelift's: frame-pointer chain with the same first four bytes,
//! arguments and results in the same places, callee-saved registers handed back, traps, IL positions and protected
//! calls in the same tables. The only optimisations are constants as immediates, reuse of dead operands' registers, and
//! branches on comparisons.
//!
//! It names no register and no encoding: an architecture is a macro assembler (`saki_code::masm`) to it. Where there is
//! none, `absent.rs` takes its place, which covers nothing.

mod calls;
mod context;
mod counters;
mod coverage;
mod emit;
mod exceptions;
mod landings;
mod memory;
mod objects;
mod operations;
mod places;
mod plan;
mod registers;
mod terminators;
mod types;

pub(crate) use coverage::Covers;

use crate::options::CompilerOptions;
use crate::output::CompiledCode;
use crate::symbols::RelocTarget;
use saki_code::masm::{HostAssembler, MacroAssembler};
use saki_il::ir::Function;

/// Buffers that are reused from one compilation to the next.
#[derive(Default)]
pub(crate) struct BuffersFor<M> {
    plan: plan::Plan,
    registers: registers::Registers,
    masm: M,
}

/// Buffers for code of this machine's architecture.
pub(crate) type Buffers = BuffersFor<HostAssembler<RelocTarget>>;

/// The function's code, or None if this compiler does not cover it, or leaves it out by `covers`.
pub(crate) fn compile<M: MacroAssembler<Target = RelocTarget>>(
    buffers: &mut BuffersFor<M>,
    func: &Function,
    covers: Covers,
    options: &CompilerOptions,
) -> Option<CompiledCode> {
    if !buffers.plan.make::<M>(func, covers) {
        return None;
    }
    emit::emit(&buffers.plan, &mut buffers.registers, &mut buffers.masm, func, options)
}
