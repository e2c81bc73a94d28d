//! In place of the baseline compiler where there is none: no function is covered, so Cranelift compiles all.

use crate::options::CompilerOptions;
use crate::output::CompiledCode;
use saki_il::ir::Function;

/// See the other compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Covers {
    Small,
    All,
}

/// Buffers that are reused from one compilation to the next: none.
#[derive(Default)]
pub(crate) struct Buffers;

impl Buffers {
    /// Values for which there is room.
    pub(crate) fn plan_capacity(&self) -> usize {
        0
    }
}

/// None: this compiler does not cover the function.
pub(crate) fn compile(_: &mut Buffers, _: &Function, _: Covers, _: &CompilerOptions) -> Option<CompiledCode> {
    None
}
