//! The baseline compiler: machine code straight from the IR, for the small functions that programs make at run time,
//! and in the first tier for all.
//!
//! A lambda compiled by `System.Linq.Expressions` has some ten instructions, and a program may make hundreds of
//! thousands. On such a function Cranelift spends most of its time on set-up that pays only for larger ones. This
//! compiler makes two passes over the IR: [`plan`] counts uses and unites equal values, [`emit`] chooses a register for
//! each value where it is defined. [`compile`] returns None for functions that it is not asked for (`coverage`), and
//! for those that no compiler can compile, for which Cranelift gives the error.
//!
//! | floor | files |
//! |---|---|
//! | the walk over the function | `emit` |
//! | families of instructions | `operations`, `numbers`, `vectors`, `objects`, `memory`, `atomics`, `locks`, … |
//! | calls, and the ends of blocks | `calls`, `native`, `tail_calls`, `terminators`, `exceptions`, `counters`, … |
//! | the code so far, registers for values | `context` |
//! | the macro assembler, with what is known where paths join | `branches` |
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
//! It names no register and no encoding: an architecture is a macro assembler (`saki_code::masm`) to it.

mod arguments;
mod atomics;
mod branches;
mod calls;
mod context;
mod counters;
mod coverage;
mod emit;
mod exceptions;
mod landings;
mod localloc;
mod locks;
mod memory;
mod native;
mod numbers;
mod objects;
mod operations;
mod parent_frame;
mod places;
mod plan;
mod registers;
mod tail_calls;
mod terminators;
mod types;
mod vectors;

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

impl<M> BuffersFor<M> {
    /// Values for which there is room.
    pub(crate) fn plan_capacity(&self) -> usize {
        self.plan.uses.capacity()
    }
}

/// Buffers for code of this machine's architecture.
pub(crate) type Buffers = BuffersFor<HostAssembler<RelocTarget>>;

/// The function's code and that of its filters. None if it is left out by `covers`, or if its IR or a type of it is at
/// fault.
pub(crate) fn compile<M: MacroAssembler<Target = RelocTarget>>(
    buffers: &mut BuffersFor<M>,
    func: &Function,
    covers: Covers,
    options: &CompilerOptions,
) -> Option<CompiledCode> {
    if !buffers.plan.make::<M>(func, covers) {
        return None;
    }
    let BuffersFor { plan, registers, masm } = buffers;
    let mut code = emit::emit(plan, registers, masm, func, options, None)?;
    if func.filters.is_empty() {
        return Some(code);
    }
    let frame = parent_frame::ParentFrame::new(func, registers);
    for filter in &func.filters {
        if !filter.filters.is_empty() || !plan.make::<M>(filter, covers) {
            return None;
        }
        code.filters.push(emit::emit(plan, registers, masm, filter, options, Some(&frame))?);
    }
    Some(code)
}
