//! Which functions are too large for the optimising compiler.
//!
//! Time and memory of the baseline compiler are in proportion to the function's size. Those of Cranelift are not: it
//! keeps, for each variable, a table by block; the table of a protected call names each handler around it, and each
//! pass over the successors of such a call reads it; a value that is moved out of loops is compared with each loop
//! around it; and its register allocator merges and splits ranges that grow with the function. The figures are in
//! docs/design/code-generation.md. So a function is measured before, in one pass, by what those costs grow with.

use saki_il::ir::verify::successors;
use saki_il::ir::{Function, IrType, Op};

/// Instructions of the IR. Cranelift takes some 5 KB and 15 µs for each.
const MAX_INSTRUCTIONS: usize = 40_000;
/// Blocks × variables. Cranelift takes 2 to 4 bytes for each pair.
const MAX_VARIABLES_IN_BLOCKS: usize = 16_000_000;
/// Protected calls × handlers around each.
const MAX_HANDLERS_OF_CALLS: usize = 30_000;
/// Blocks × loops around each.
const MAX_LOOPS_AROUND_BLOCKS: usize = 600_000;

/// Whether the optimising compiler would take more time or memory than is in proportion to the function's size, or more
/// than a process should spend on one function.
pub(crate) fn is_huge(func: &Function) -> bool {
    let blocks = func.blocks.len();
    // Most functions are small, so that nothing can be above its limit.
    if func.insts.len() < 2_000 && blocks < 500 && func.clauses.len() < 16 {
        return false;
    }
    func.insts.len() > MAX_INSTRUCTIONS
        || blocks * variables(func) > MAX_VARIABLES_IN_BLOCKS
        || handlers_of_calls(func) > MAX_HANDLERS_OF_CALLS
        || loops_around_blocks(func) > MAX_LOOPS_AROUND_BLOCKS
}

/// Locals that become variables of Cranelift.
fn variables(func: &Function) -> usize {
    let is_variable = |ty: IrType| !matches!(ty, IrType::Struct(_) | IrType::Block(_) | IrType::Void);
    func.locals.iter().filter(|local| !local.address_exposed && is_variable(local.ty)).count()
}

/// The handlers around each instruction that may be a call, all in all.
fn handlers_of_calls(func: &Function) -> usize {
    if func.clauses.is_empty() {
        return 0;
    }
    // A region's parent has a higher number where one region lies in another, but nothing here relies on that.
    let handlers_around = |mut region: usize| {
        let mut count = 0;
        for _ in 0..func.regions.len() {
            count += func.regions[region].clauses.len();
            match func.regions[region].parent {
                Some(parent) if count <= MAX_HANDLERS_OF_CALLS => region = parent.0 as usize,
                _ => break,
            }
        }
        count
    };
    let mut by_region = vec![None; func.regions.len()];
    let mut sum: usize = 0;
    for block in &func.blocks {
        let Some(region) = block.region.map(|region| region.0 as usize).filter(|&region| region < by_region.len())
        else {
            continue;
        };
        let handlers = *by_region[region].get_or_insert_with(|| handlers_around(region));
        let calls = block.insts.iter().filter(|value| may_call(&func.insts[value.0 as usize].op)).count();
        sum = sum.saturating_add(calls * handlers);
        if sum > MAX_HANDLERS_OF_CALLS {
            break;
        }
    }
    sum
}

/// Whether code of the operation in a protected region has a call.
fn may_call(op: &Op) -> bool {
    matches!(
        op,
        Op::Call { .. }
            | Op::NewObject(_)
            | Op::NewArray(..)
            | Op::NewString(_)
            | Op::CastClass(..)
            | Op::Unbox(..)
            | Op::ClassInit(_)
            | Op::Poll
            | Op::NullCheck(_)
            | Op::BoundsCheck { .. }
            | Op::ArrayLen(_)
            | Op::MonitorEnter(_)
            | Op::MonitorExit(_)
    )
}

/// Blocks between the target of a backward branch and the branch, for each target.
fn loops_around_blocks(func: &Function) -> usize {
    let mut last_branch: Vec<usize> = (0..func.blocks.len()).collect();
    for (number, block) in func.blocks.iter().enumerate() {
        successors(&block.terminator, &mut |target| {
            if let Some(last) = last_branch.get_mut(target.0 as usize) {
                *last = (*last).max(number);
            }
        });
    }
    // Of other jumps than backward ones the target has the higher number.
    let spans = last_branch.iter().enumerate().map(|(target, last)| last.saturating_sub(target));
    spans.fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_il::ir::{
        Block, BlockId, Clause, ClauseKind, Inst, Local, LocalId, LocalKind, Region, RegionId, Terminator, ValueId,
    };

    fn local() -> Local {
        Local { ty: IrType::I32, kind: LocalKind::Normal, address_exposed: false, zero_init: false, pinned: false }
    }

    /// Blocks of so many polls, each of which goes to the next one.
    fn function(block_count: u32, polls: u32) -> Function {
        let mut function = Function::default();
        for number in 0..block_count {
            let first = function.insts.len() as u32;
            let poll = Inst { op: Op::Poll, ty: IrType::Void, il_offset: 0 };
            function.insts.extend(std::iter::repeat_n(poll, polls as usize));
            let is_last = number + 1 == block_count;
            function.blocks.push(Block {
                insts: (first..first + polls).map(ValueId).collect(),
                terminator: if is_last { Terminator::Ret(None) } else { Terminator::Jump(BlockId(number + 1)) },
                terminator_il_offset: 0,
                region: None,
                cold: false,
                then_is_likely: false,
                few_rounds: false,
            });
        }
        function
    }

    #[test]
    fn large_functions_are_not_huge_while_nothing_in_them_multiplies() {
        let mut function = function(3_000, 10);
        function.locals.extend(std::iter::repeat_n(local(), 1_000));
        assert!(!is_huge(&function));
    }

    #[test]
    fn instructions_are_counted() {
        assert!(is_huge(&function(1, 40_001)));
    }

    #[test]
    fn variables_are_counted_by_block() {
        let mut function = function(3_000, 1);
        function.locals.extend(std::iter::repeat_n(local(), 6_000));
        assert!(is_huge(&function));
        function.locals.iter_mut().for_each(|local| local.address_exposed = true);
        assert!(!is_huge(&function), "locals in memory cost nothing");
    }

    #[test]
    fn handlers_are_counted_by_call() {
        let mut function = function(300, 10);
        for number in 0..300u32 {
            let clause = Clause { kind: ClauseKind::Fault, handler: BlockId(1), exception_local: LocalId(0) };
            function.clauses.push(clause);
            let parent = number.checked_sub(1).map(RegionId);
            function.regions.push(Region { parent, clauses: vec![number] });
        }
        assert!(!is_huge(&function), "no block is in a region");
        for (number, block) in function.blocks.iter_mut().enumerate() {
            block.region = Some(RegionId(number as u32));
        }
        assert!(is_huge(&function));
    }

    #[test]
    fn loops_are_counted_by_block() {
        let branch = |function: &mut Function, from: u32, to: u32| {
            let (then, otherwise) = (BlockId(to), BlockId(from + 1));
            function.blocks[from as usize].terminator = Terminator::Brif { cond: ValueId(0), then, otherwise };
        };
        let mut disjoint = function(2_000, 1);
        (10..1_990).for_each(|from| branch(&mut disjoint, from, from - 1));
        assert!(!is_huge(&disjoint));
        let mut nested = function(2_000, 1);
        (1_000..1_900).for_each(|from| branch(&mut nested, from, 2_000 - from));
        assert!(is_huge(&nested));
    }
}
