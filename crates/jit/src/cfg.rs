//! The control-flow graph of an IR function: translation order, predecessors, handlers of regions.
//!
//! A block inside a region has an edge to every handler around it, since any of its instructions may throw.

use crate::error::CompileError;
use saki_il::ir::{Block, BlockId, Function, RegionId, Terminator};

/// See the module header; indices are IR block and region numbers.
pub(crate) struct ControlFlow {
    /// Reachable blocks, each after the blocks that dominate it; the entry first.
    pub order: Vec<BlockId>,
    /// Number of control-flow edges into a block; handlers of regions count as having several.
    pub predecessor_count: Vec<u32>,
    /// Some predecessor (the only one if the count is 1).
    pub predecessor: Vec<Option<BlockId>>,
    /// Position in `order`; `u32::MAX` = unreachable.
    pub position: Vec<u32>,
    /// By region: the handlers that protect its code, innermost first, as clause indices.
    pub handlers: Vec<Vec<u32>>,
}

/// Targets of a terminator, with repetitions.
pub(crate) fn targets(terminator: &Terminator) -> Vec<BlockId> {
    match terminator {
        Terminator::Jump(target) => vec![*target],
        Terminator::Brif { then, otherwise, .. } => vec![*then, *otherwise],
        Terminator::Switch { targets, default, .. } => {
            let mut all = targets.clone();
            all.push(*default);
            all
        }
        _ => Vec::new(),
    }
}

impl ControlFlow {
    /// # Errors
    /// `InvalidIr` when a block, region or clause is named that does not exist, or regions nest in a circle.
    pub(crate) fn compute(func: &Function) -> Result<ControlFlow, CompileError> {
        let handlers = region_handlers(func)?;
        let count = func.blocks.len();
        let mut flow = ControlFlow {
            order: Vec::with_capacity(count),
            predecessor_count: vec![0; count],
            predecessor: vec![None; count],
            position: vec![u32::MAX; count],
            handlers,
        };
        for clause in &func.clauses {
            flow.check(clause.handler, func)?;
            flow.predecessor_count[clause.handler.0 as usize] += 2;
        }
        if count == 0 {
            return Err(CompileError::invalid_ir("a function without blocks"));
        }
        flow.walk(func)?;
        Ok(flow)
    }

    fn check(&self, block: BlockId, func: &Function) -> Result<(), CompileError> {
        if block.0 as usize >= func.blocks.len() {
            return Err(CompileError::invalid_ir(format!("block {} does not exist", block.0)));
        }
        Ok(())
    }

    fn successors(&self, func: &Function, block: &Block) -> Vec<BlockId> {
        let mut all = targets(&block.terminator);
        if let Some(region) = block.region {
            all.extend(self.handlers[region.0 as usize].iter().map(|&c| func.clauses[c as usize].handler));
        }
        all
    }

    /// Depth-first walk with an explicit stack (methods may have tens of thousands of blocks).
    fn walk(&mut self, func: &Function) -> Result<(), CompileError> {
        let mut seen = vec![false; func.blocks.len()];
        let mut postorder = Vec::with_capacity(func.blocks.len());
        let mut stack = vec![(BlockId(0), self.successors(func, &func.blocks[0]), 0usize)];
        seen[0] = true;
        // The prologue enters block 0.
        self.predecessor_count[0] += 1;
        while let Some((block, successors, next)) = stack.last_mut() {
            let Some(&successor) = successors.get(*next) else {
                postorder.push(*block);
                stack.pop();
                continue;
            };
            *next += 1;
            let from = *block;
            self.check(successor, func)?;
            let index = successor.0 as usize;
            self.predecessor_count[index] += 1;
            self.predecessor[index] = Some(from);
            if !seen[index] {
                seen[index] = true;
                let region = func.blocks[index].region;
                if region.is_some_and(|r| r.0 as usize >= func.regions.len()) {
                    return Err(CompileError::invalid_ir(format!("block {index} is in a region that does not exist")));
                }
                let successors = self.successors(func, &func.blocks[index]);
                stack.push((successor, successors, 0));
            }
        }
        self.order.extend(postorder.iter().rev());
        for (position, block) in self.order.iter().enumerate() {
            self.position[block.0 as usize] = position as u32;
        }
        Ok(())
    }

    /// Handlers around code of `region`, innermost first.
    pub(crate) fn handlers_of(&self, region: Option<RegionId>) -> &[u32] {
        region.map_or(&[], |r| &self.handlers[r.0 as usize])
    }
}

fn region_handlers(func: &Function) -> Result<Vec<Vec<u32>>, CompileError> {
    let mut handlers = Vec::with_capacity(func.regions.len());
    for index in 0..func.regions.len() {
        let mut clauses = Vec::new();
        let mut depth = 0;
        let mut current = Some(RegionId(index as u32));
        while let Some(id) = current {
            let Some(region) = func.regions.get(id.0 as usize) else {
                return Err(CompileError::invalid_ir(format!("region {} does not exist", id.0)));
            };
            depth += 1;
            if depth > func.regions.len() {
                return Err(CompileError::invalid_ir("regions nest in a circle"));
            }
            for &clause in &region.clauses {
                if clause as usize >= func.clauses.len() {
                    return Err(CompileError::invalid_ir(format!("clause {clause} does not exist")));
                }
                clauses.push(clause);
            }
            current = region.parent;
        }
        handlers.push(clauses);
    }
    Ok(handlers)
}
