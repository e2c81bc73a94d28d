//! Which functions the baseline compiler is asked for.

use saki_il::ir::{BlockId, Function, Terminator, verify};

/// Which functions are compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Covers {
    /// Small ones without loops, whose code need not be good.
    Small,
    All,
}

/// Instructions of the largest function of `Covers::Small`.
const MAX_SMALL_INSTRUCTIONS: usize = 64;

pub(super) fn is_covered(func: &Function, covers: Covers) -> bool {
    // A continuation is there to be fast.
    !func.is_continuation && (covers == Covers::All || is_small(func))
}

fn is_small(func: &Function) -> bool {
    func.insts.len() <= MAX_SMALL_INSTRUCTIONS && func.clauses.is_empty() && !has_loop(func)
}

fn has_loop(func: &Function) -> bool {
    func.blocks.iter().enumerate().any(|(number, block)| goes_back(&block.terminator, number, number))
}

/// Whether the end of block `number` leads to block `limit` or one before it.
pub(super) fn goes_back(terminator: &Terminator, number: usize, limit: usize) -> bool {
    debug_assert!(limit <= number);
    let mut goes = false;
    verify::successors(terminator, &mut |target: BlockId| goes |= target.0 as usize <= limit);
    goes
}
