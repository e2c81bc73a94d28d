//! The point of the function that is being translated.

use crate::cfg::ControlFlow;
use saki_il::ir::{BlockId, Function, RegionId, ValueId};

#[derive(Clone, Copy)]
pub(crate) struct Position<'a> {
    pub(crate) func: &'a Function,
    pub(crate) flow: &'a ControlFlow,
    pub(crate) block: BlockId,
    pub(crate) region: Option<RegionId>,
    /// Instructions of the block that follow.
    pub(crate) rest: &'a [ValueId],
}

impl<'a> Position<'a> {
    /// Before the first block.
    pub(crate) fn new(func: &'a Function, flow: &'a ControlFlow) -> Position<'a> {
        Position { func, flow, block: BlockId(0), region: None, rest: &[] }
    }

    /// The clauses whose handlers protect the code here, innermost first.
    pub(crate) fn handlers(&self) -> &'a [u32] {
        self.flow.handlers_of(self.region)
    }
}
