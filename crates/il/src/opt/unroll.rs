//! Unrolls small inner loops, with one safepoint for all copies of the body.
//!
//! The poll at the head of a loop costs up to a sixth of a loop of few instructions. The copies keep the tests of the
//! loop, so the number of rounds need not be known; only the last one goes back to the head, and only the head polls. A
//! thread still reaches a safepoint within a bounded number of instructions.
//!
//! Invariant: a copy's values are used in the copy alone, so a loop whose values are used behind it stays as it is.
//! Left out: loops with calls, where a poll does not count, and loops around loops.

use crate::ir::dominators::Dominators;
use crate::ir::verify::{operands, operands_mut, successors, terminator_operands, terminator_operands_mut};
use crate::ir::{Block, BlockId, Decision, Function, Inst, Op, Terminator, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Functions with more blocks are left as they are.
const MAX_BLOCKS: usize = 400;
/// Blocks of a loop that is unrolled.
const MAX_LOOP_BLOCKS: usize = 12;
/// Loops of at most this weight have four bodies afterwards, others of at most `MAX_WEIGHT` two.
const SMALL_WEIGHT: usize = 16;
const MAX_WEIGHT: usize = 48;
/// Instructions that are added to a function at most.
const BUDGET: usize = 1200;

struct Loop {
    header: u32,
    /// Ascending.
    blocks: Vec<u32>,
    copies: usize,
}

/// Runs the pass. `explain`: what it does is noted.
pub(super) fn run(function: &mut Function, explain: bool) {
    if function.blocks.len() < 2 || function.blocks.len() > MAX_BLOCKS {
        return;
    }
    let mut loops = inner_loops(function);
    if loops.is_empty() {
        return;
    }
    let crossings = crossings(function);
    let leaves = |blocks: &[u32]| {
        crossings.iter().any(|(from, to)| blocks.binary_search(from).is_ok() && blocks.binary_search(to).is_err())
    };
    loops.retain(|inner| !leaves(&inner.blocks));
    let before = function.insts.len();
    for inner in &loops {
        if function.insts.len() - before < BUDGET {
            unroll(function, inner, explain);
        }
    }
}

/// The innermost loops that are worth it, by header.
fn inner_loops(function: &Function) -> Vec<Loop> {
    let mut back_edges: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); function.blocks.len()];
    let mut dominators = None;
    for (number, block) in function.blocks.iter().enumerate() {
        let number = number as u32;
        successors(&block.terminator, &mut |target| {
            predecessors[target.0 as usize].push(number);
            // The header of a loop is made before the blocks that go back to it.
            if target.0 != 0
                && target.0 <= number
                && dominators.get_or_insert_with(|| Dominators::of(function)).dominates(target.0, number)
            {
                back_edges.entry(target.0).or_default().push(number);
            }
        });
    }
    let mut headers: Vec<u32> = back_edges.keys().copied().collect();
    headers.sort_unstable();
    headers
        .into_iter()
        .filter_map(|header| {
            let blocks = body_of(header, &back_edges[&header], &predecessors)?;
            // One whose other version runs (`versions`).
            if function.blocks[header as usize].cold {
                return None;
            }
            let is_inner = blocks.iter().all(|block| *block == header || !back_edges.contains_key(block));
            let copies = if is_inner { copies_of(function, header, &blocks) } else { 1 };
            (copies > 1).then_some(Loop { header, blocks, copies })
        })
        .collect()
}

/// The blocks from which the ends of the back edges are reached without passing the header. None: too many.
fn body_of(header: u32, ends: &[u32], predecessors: &[Vec<u32>]) -> Option<Vec<u32>> {
    let mut blocks = vec![header];
    let mut work = ends.to_vec();
    while let Some(block) = work.pop() {
        if blocks.contains(&block) {
            continue;
        }
        if blocks.len() == MAX_LOOP_BLOCKS {
            return None;
        }
        blocks.push(block);
        work.extend(&predecessors[block as usize]);
    }
    blocks.sort_unstable();
    Some(blocks)
}

/// How many bodies the loop is to have.
fn copies_of(function: &Function, header: u32, blocks: &[u32]) -> usize {
    let region = function.blocks[header as usize].region;
    let mut weight = 0;
    let mut polls = false;
    for &number in blocks {
        let block = &function.blocks[number as usize];
        if block.region != region || matches!(block.terminator, Terminator::Switch { .. }) {
            return 1;
        }
        for &value in &block.insts {
            match weight_of(&function.insts[value.0 as usize].op) {
                Some(more) => weight += more,
                None => return 1,
            }
            polls |= matches!(function.insts[value.0 as usize].op, Op::Poll);
        }
        weight += usize::from(matches!(block.terminator, Terminator::Brif { .. }));
    }
    match weight {
        _ if !polls => 1,
        _ if weight <= SMALL_WEIGHT => 4,
        _ if weight <= MAX_WEIGHT => 2,
        _ => 1,
    }
}

/// What an instruction counts; None if a loop with it is not unrolled, for it calls, or may.
pub(super) fn weight_of(op: &Op) -> Option<usize> {
    Some(match op {
        Op::ConstI32(_)
        | Op::ConstI64(_)
        | Op::ConstF32(_)
        | Op::ConstF64(_)
        | Op::ConstV128(_)
        | Op::Null
        | Op::SymbolAddr(_)
        | Op::LocalGet(_)
        | Op::LocalSet(..)
        | Op::LocalAddr(_)
        | Op::ElementAddr { .. }
        | Op::Poll
        | Op::CurrentThread
        | Op::FramePointer => 0,
        Op::Bin(..)
        | Op::Un(..)
        | Op::Cmp(..)
        | Op::Conv { .. }
        | Op::Select(..)
        | Op::Vector { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::NullCheck(_)
        | Op::BoundsCheck { .. }
        | Op::ArrayLen(_) => 1,
        _ => return None,
    })
}

/// For values that are used in other blocks than theirs: both blocks.
pub(super) fn crossings(function: &Function) -> FxHashSet<(u32, u32)> {
    let mut block_of = vec![u32::MAX; function.insts.len()];
    for (number, block) in function.blocks.iter().enumerate() {
        for value in &block.insts {
            block_of[value.0 as usize] = number as u32;
        }
    }
    let mut found = FxHashSet::default();
    for (number, block) in function.blocks.iter().enumerate() {
        let number = number as u32;
        let mut visit = |value: ValueId| {
            let from = block_of[value.0 as usize];
            if from != number {
                found.insert((from, number));
            }
        };
        for value in &block.insts {
            operands(&function.insts[value.0 as usize].op, &mut visit);
        }
        terminator_operands(&block.terminator, &mut visit);
    }
    found
}

fn unroll(function: &mut Function, inner: &Loop, explain: bool) {
    if explain {
        let il_offset = function.blocks[inner.header as usize].terminator_il_offset;
        let text = format!("unrolled: this loop has {} bodies", inner.copies);
        function.decisions.push(Decision { method: function.method, il_offset, text });
    }
    let first_copy = function.blocks.len() as u32;
    let count = inner.blocks.len() as u32;
    // The block that stands for a block of the loop in copy N; 0 is the loop itself.
    let in_copy = |block: BlockId, copy: u32| match inner.blocks.binary_search(&block.0) {
        Ok(place) if copy > 0 => BlockId(first_copy + (copy - 1) * count + place as u32),
        _ => block,
    };
    let copies = inner.copies as u32;
    // Where a jump of copy N leads: the way to the head leads to the next copy.
    let target = |block: BlockId, copy: u32| match block.0 == inner.header {
        true => in_copy(block, (copy + 1) % copies),
        false => in_copy(block, copy),
    };
    for copy in 1..copies {
        let mut values: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        for &number in &inner.blocks {
            let original = &function.blocks[number as usize];
            let (ids, region) = (original.insts.clone(), original.region);
            let (cold, then_is_likely) = (original.cold, original.then_is_likely);
            let few_rounds = original.few_rounds;
            let (mut terminator, terminator_il_offset) = (original.terminator.clone(), original.terminator_il_offset);
            let mut insts = Vec::with_capacity(ids.len());
            for id in ids {
                let Inst { mut op, ty, il_offset } = function.insts[id.0 as usize].clone();
                if matches!(op, Op::Poll) {
                    continue;
                }
                operands_mut(&mut op, &mut |value| *value = values.get(value).copied().unwrap_or(*value));
                let copied = ValueId(function.insts.len() as u32);
                function.insts.push(Inst { op, ty, il_offset });
                values.insert(id, copied);
                insts.push(copied);
            }
            terminator_operands_mut(&mut terminator, &mut |value| {
                *value = values.get(value).copied().unwrap_or(*value);
            });
            redirect(&mut terminator, &|block| target(block, copy));
            function.blocks.push(Block {
                insts,
                terminator,
                terminator_il_offset,
                region,
                cold,
                then_is_likely,
                few_rounds,
            });
        }
    }
    for &number in &inner.blocks {
        redirect(&mut function.blocks[number as usize].terminator, &|block| target(block, 0));
    }
}

/// Changes where the end of a block leads.
pub(super) fn redirect(terminator: &mut Terminator, to: &dyn Fn(BlockId) -> BlockId) {
    match terminator {
        Terminator::Jump(block) => *block = to(*block),
        Terminator::Brif { then, otherwise, .. } => (*then, *otherwise) = (to(*then), to(*otherwise)),
        Terminator::Switch { targets, default, .. } => {
            targets.iter_mut().for_each(|block| *block = to(*block));
            *default = to(*default);
        }
        _ => {}
    }
}
