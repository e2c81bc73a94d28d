//! One pass over a CIL body before it is imported: where blocks begin, how many edges enter each, how arguments and
//! locals are used, and the facts that decide whether the body can be inlined.
//!
//! Left out: types; the stack.

use super::state::{Note, StackEntry};
use crate::ir::IrType;
use rustc_hash::FxHashMap;
use saki_metadata::opcodes::{Instruction, Opcode, Operand, decode};
use saki_metadata::{EhKind, MethodBody, Token};
use saki_types::{LoadError, LoadResult};
use std::cell::OnceCell;
use std::ops::RangeInclusive;

/// In bodies with more loops none is looked for over elements of arrays.
const MAX_ARRAY_LOOPS: usize = 64;

/// How the body uses one argument or local variable.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct VarUse {
    pub is_written: bool,
    /// `ldarga`/`ldloca`.
    pub address_taken: bool,
    pub is_read: bool,
    /// Written in the entry block before any other use, so that every path writes it first.
    pub set_first: bool,
}

/// See the module header.
#[derive(Default)]
pub(super) struct Scan {
    /// By code offset: 0 = inside a block, else 1 + number of edges that enter the block (saturating).
    reached: Vec<u8>,
    /// The offsets at which blocks begin, in ascending order, when somebody has asked for one.
    leaders: OnceCell<Vec<u32>>,
    pub args: Vec<VarUse>,
    pub locals: Vec<VarUse>,
    pub has_back_edge: bool,
    /// Targets of backward branches, and the last branch to each.
    back_edges: FxHashMap<u32, u32>,
    /// By offset of a backward branch: that of the next instruction.
    behind_back_branches: FxHashMap<u32, u32>,
    array_loops: Vec<(u32, u32)>,
    /// Offsets of instructions that read or write elements of arrays, ascending.
    elements: Vec<u32>,
    /// The code in loops: disjoint ranges from a target to the last branch to it, in ascending order.
    loops: Vec<RangeInclusive<u32>>,
    pub ret_count: u32,
    /// Stores into memory that is not a local variable, or calls.
    pub has_side_effects: bool,
    pub has_calls: bool,
    pub has_throw: bool,
    /// localloc, jmp, arglist, calli, endfilter …: never inlined.
    pub is_peculiar: bool,
    pub has_localloc: bool,
    /// A `tail.` prefix.
    pub has_tail: bool,
    /// Operands of call, callvirt, newobj, ldftn.
    pub callees: Vec<Token>,
    pub instruction_count: u32,
}

impl Scan {
    /// `spare`: an empty vector whose memory is used for `reached`.
    pub fn new(
        mut spare: Vec<u8>,
        body: &MethodBody<'static>,
        arg_count: usize,
        local_count: usize,
    ) -> LoadResult<Scan> {
        spare.resize(body.code.len() + 1, 0);
        let mut scan = Scan {
            reached: spare,
            args: vec![VarUse::default(); arg_count],
            locals: vec![VarUse::default(); local_count],
            ..Scan::default()
        };
        scan.reach(0);
        let mut falls_through = false;
        let mut in_entry_block = true;
        for clause in &body.eh_clauses {
            let ends = [clause.try_offset, clause.handler_offset];
            let filter = (clause.kind == EhKind::Filter).then_some(clause.class_token_or_filter_offset);
            for offset in ends.into_iter().chain(filter) {
                scan.check_offset(offset)?;
                scan.mark(offset);
            }
            // Handlers and filters have an entry of their own, which no branch shows.
            scan.reach_twice(clause.handler_offset);
            filter.into_iter().for_each(|offset| scan.reach_twice(offset));
            for (start, len) in [(clause.try_offset, clause.try_len), (clause.handler_offset, clause.handler_len)] {
                let end =
                    start.checked_add(len).ok_or_else(|| LoadError::invalid_program("exception clause overflows"))?;
                scan.check_offset_or_end(end)?;
                scan.mark(end);
            }
        }
        let mut previous_end = 0;
        for instruction in decode(body.code) {
            let instruction = instruction.map_err(|e| LoadError::invalid_program(e.to_string()))?;
            if falls_through && scan.reached[instruction.offset as usize] != 0 {
                scan.reach(instruction.offset);
            }
            if instruction.offset > 0 && scan.reached[instruction.offset as usize] != 0 {
                in_entry_block = false;
            }
            scan.instruction(&instruction, &mut in_entry_block)?;
            falls_through = !instruction.opcode.ends_flow();
            previous_end = instruction.next_offset;
        }
        debug_assert!(previous_end as usize <= body.code.len());
        scan.find_array_loops();
        scan.loops = united(scan.back_edges.iter().map(|(&target, &last)| target..=last).collect());
        Ok(scan)
    }

    /// The memory of the marks, for the next scan.
    pub fn into_reached(self) -> Vec<u8> {
        self.reached
    }

    fn check_offset(&self, offset: u32) -> LoadResult<()> {
        if (offset as usize) < self.reached.len() - 1 {
            return Ok(());
        }
        Err(LoadError::invalid_program(format!("offset IL_{offset:04x} is outside the method")))
    }

    fn check_offset_or_end(&self, offset: u32) -> LoadResult<()> {
        if offset as usize == self.reached.len() - 1 { Ok(()) } else { self.check_offset(offset) }
    }

    fn mark(&mut self, offset: u32) {
        let cell = &mut self.reached[offset as usize];
        *cell = (*cell).max(1);
    }

    fn reach(&mut self, offset: u32) {
        let cell = &mut self.reached[offset as usize];
        *cell = (*cell).max(1).saturating_add(1);
    }

    fn reach_twice(&mut self, offset: u32) {
        self.reach(offset);
        self.reach(offset);
    }

    /// Whether a block begins at this code offset.
    pub fn is_leader(&self, offset: u32) -> bool {
        self.reached.get(offset as usize).is_some_and(|r| *r != 0)
    }

    /// Whether the instruction lies between the target of a backward branch and the branch.
    pub fn is_in_loop(&self, offset: u32) -> bool {
        let behind = self.loops.partition_point(|range| *range.start() <= offset);
        self.loops[..behind].last().is_some_and(|range| range.contains(&offset))
    }

    /// Whether a branch goes back to the instruction.
    pub fn is_loop_start(&self, offset: u32) -> bool {
        self.back_edges.contains_key(&offset)
    }

    /// The number of the block that begins at this code offset, and that of all blocks.
    pub fn block_number(&self, offset: u32) -> Option<(u32, u32)> {
        let leaders = self.leaders.get_or_init(|| {
            let marks = self.reached.iter().enumerate();
            marks.filter(|(_, mark)| **mark != 0).map(|(offset, _)| offset as u32).collect()
        });
        let number = leaders.binary_search(&offset).ok()?;
        Some((number as u32, leaders.len() as u32))
    }

    /// Whether the edge leaves a loop.
    pub fn leaves_loop(&self, from: u32, to: u32) -> bool {
        self.back_edges.iter().any(|(&target, &last)| (target..=last).contains(&from) && !(target..=last).contains(&to))
    }

    /// The innermost loops over elements of arrays: where each begins, and the block behind it, if it ends there alone.
    /// None in bodies with many loops.
    pub fn array_loops(&self) -> &[(u32, u32)] {
        &self.array_loops
    }

    fn find_array_loops(&mut self) {
        if self.elements.is_empty() || self.back_edges.len() > MAX_ARRAY_LOOPS {
            return;
        }
        for (&start, &last) in &self.back_edges {
            let is_inside = |offset: &u32| (start..=last).contains(offset);
            let first_element = self.elements.partition_point(|&offset| offset < start);
            let has_elements = self.elements.get(first_element).is_some_and(is_inside);
            let is_innermost = !self.back_edges.keys().any(|target| *target != start && is_inside(target));
            let end = self.behind_back_branches[&last];
            if has_elements && is_innermost && self.has_one_way_in(end) {
                self.array_loops.push((start, end));
            }
        }
    }

    /// The loops of the body.
    pub fn loop_count(&self) -> usize {
        self.back_edges.len()
    }

    /// Whether exactly one edge enters the block at `offset`.
    pub fn has_one_way_in(&self, offset: u32) -> bool {
        self.reached.get(offset as usize) == Some(&2)
    }

    /// The facts about a stack slot at a join, when the first edge into it is imported. Facts of later edges can be
    /// merged only until the block is imported, so at the target of a back edge nothing is known.
    pub fn joined(&self, offset: u32, entry: &StackEntry) -> StackEntry {
        let mut joined = StackEntry { note: Note::None, ..*entry };
        if self.back_edges.contains_key(&offset) && !matches!(entry.ir, IrType::Struct(_)) {
            joined.ty = None;
            joined.is_exact = false;
            joined.is_non_null = false;
        }
        joined
    }

    fn branch(&mut self, instruction: &Instruction<'_>, target: u32) {
        let from = instruction.offset;
        // For a backward branch, the block that falls through into the target has been scanned already: count the
        // target as shared.
        if target <= from {
            self.has_back_edge = true;
            let last = self.back_edges.entry(target).or_insert(from);
            *last = from.max(*last);
            self.behind_back_branches.insert(from, instruction.next_offset);
            self.reach(target);
        }
        self.reach(target);
    }

    /// Notes a use of a variable. A number without a variable is not an error yet, since the instruction may be
    /// unreachable.
    fn var(vars: &mut [VarUse], index: usize, in_entry_block: bool, write: bool, address: bool) {
        let Some(var) = vars.get_mut(index) else { return };
        if write {
            var.set_first |= in_entry_block && !var.is_read && !var.address_taken && !var.is_written;
            var.is_written = true;
        } else if address {
            var.address_taken = true;
        } else {
            var.is_read = true;
        }
    }

    fn instruction(&mut self, instruction: &Instruction<'_>, in_entry_block: &mut bool) -> LoadResult<()> {
        use Opcode as O;
        self.instruction_count += 1;
        if (O::LdelemI1.code()..=O::Stelem.code()).contains(&instruction.opcode.code()) {
            self.elements.push(instruction.offset);
        }
        let operand = match instruction.operand {
            Operand::Var(n) => usize::from(n),
            _ => 0,
        };
        let entry = *in_entry_block;
        match instruction.opcode {
            O::Ldarg0 | O::Ldarg1 | O::Ldarg2 | O::Ldarg3 => {
                let index = instruction.opcode.code() - O::Ldarg0.code();
                Self::var(&mut self.args, usize::from(index), entry, false, false);
            }
            O::LdargS | O::Ldarg => Self::var(&mut self.args, operand, entry, false, false),
            O::LdargaS | O::Ldarga => Self::var(&mut self.args, operand, entry, false, true),
            O::StargS | O::Starg => Self::var(&mut self.args, operand, entry, true, false),
            O::Ldloc0 | O::Ldloc1 | O::Ldloc2 | O::Ldloc3 => {
                let index = instruction.opcode.code() - O::Ldloc0.code();
                Self::var(&mut self.locals, usize::from(index), entry, false, false);
            }
            O::LdlocS | O::Ldloc => Self::var(&mut self.locals, operand, entry, false, false),
            O::LdlocaS | O::Ldloca => Self::var(&mut self.locals, operand, entry, false, true),
            O::Stloc0 | O::Stloc1 | O::Stloc2 | O::Stloc3 => {
                let index = instruction.opcode.code() - O::Stloc0.code();
                Self::var(&mut self.locals, usize::from(index), entry, true, false);
            }
            O::StlocS | O::Stloc => Self::var(&mut self.locals, operand, entry, true, false),
            O::Call | O::Callvirt | O::Newobj | O::Ldftn | O::Ldvirtftn => {
                if let Operand::Token(token) = instruction.operand {
                    self.callees.push(token);
                }
                self.has_side_effects = true;
                self.has_calls = true;
            }
            O::Calli | O::Jmp | O::Localloc | O::Arglist | O::Mkrefany | O::Refanyval | O::Refanytype => {
                self.has_side_effects = true;
                self.has_calls = true;
                self.is_peculiar = true;
                self.has_localloc |= instruction.opcode == O::Localloc;
            }
            O::Tail => self.has_tail = true,
            O::Endfilter | O::Endfinally | O::Rethrow | O::Leave | O::LeaveS => self.is_peculiar = true,
            O::Throw => self.has_throw = true,
            O::Ret => self.ret_count += 1,
            O::Stfld
            | O::Stsfld
            | O::Stobj
            | O::Initobj
            | O::Cpobj
            | O::Cpblk
            | O::Initblk
            | O::Stelem
            | O::StelemRef
            | O::StelemI
            | O::StelemI1
            | O::StelemI2
            | O::StelemI4
            | O::StelemI8
            | O::StelemR4
            | O::StelemR8
            | O::StindI
            | O::StindI1
            | O::StindI2
            | O::StindI4
            | O::StindI8
            | O::StindR4
            | O::StindR8
            | O::StindRef
            | O::Unbox
            | O::UnboxAny
            | O::Box
            | O::Newarr => self.has_side_effects = true,
            _ => {}
        }
        match instruction.operand {
            Operand::Branch(target) => {
                *in_entry_block = false;
                self.branch(instruction, target);
            }
            Operand::Switch(targets) => {
                *in_entry_block = false;
                for target in targets.iter() {
                    self.branch(instruction, target);
                }
            }
            _ => {}
        }
        // The instruction behind a branch begins a block.
        let branches = matches!(instruction.operand, Operand::Branch(_) | Operand::Switch(_));
        if branches || instruction.opcode.ends_flow() {
            self.mark(instruction.next_offset);
            *in_entry_block = false;
        }
        Ok(())
    }
}

/// The ranges' union, as disjoint ranges in ascending order.
fn united(mut ranges: Vec<RangeInclusive<u32>>) -> Vec<RangeInclusive<u32>> {
    ranges.sort_unstable_by_key(|range| *range.start());
    let mut disjoint: Vec<RangeInclusive<u32>> = Vec::new();
    for range in ranges {
        match disjoint.last_mut() {
            Some(last) if range.start() <= last.end() => *last = *last.start()..=*range.end().max(last.end()),
            _ => disjoint.push(range),
        }
    }
    disjoint
}

#[cfg(test)]
mod tests {
    use super::united;

    #[test]
    fn ranges_are_united_where_they_meet() {
        assert_eq!(united(vec![7..=9, 1..=2, 8..=12, 12..=12, 14..=14]), [1..=2, 7..=12, 14..=14]);
        assert_eq!(united(vec![0..=20, 3..=4, 5..=6]), [0..=20]);
        assert!(united(Vec::new()).is_empty());
    }
}
