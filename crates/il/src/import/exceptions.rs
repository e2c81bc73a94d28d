//! Try regions, handlers, `leave`, `endfinally`, `throw`, `rethrow`. ECMA-335 §I.12.4.2, §III.3.34, §III.3.46.
//!
//! The body of a finally handler is imported once. A selector local says where control continues after it: 0 = an
//! exception entered the handler, so unwinding resumes; k = the k-th continuation, set by the `leave` that entered it.
//! A `leave` through several finally handlers chains them, inner to outer. Left out: the code of filters (see
//! `filters`).

use super::emitter::Emitter;
use super::kinds::is_exact_class;
use super::stack::{Note, StackEntry, Val};
use super::state::{BlockLabel, ClauseInfo};
use crate::ir::{BlockId, Clause, ClauseKind, IrType, LocalId, Op, Region, RegionId, Terminator, ValueId};
use saki_metadata::{EhKind, Token};
use saki_types::{LoadError, LoadResult, universe};
use std::ops::Range;

impl Emitter<'_> {
    /// Makes the regions and clauses of the body.
    ///
    /// # Errors
    /// The errors of the catch types.
    pub(super) fn set_up_exceptions(&mut self) -> LoadResult<()> {
        let clauses = self.s.body.eh_clauses.clone();
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for clause in &clauses {
            let range = clause.try_offset..clause.try_offset + clause.try_len;
            if !ranges.contains(&range) {
                ranges.push(range);
            }
        }
        ranges.sort_by_key(|r| (r.end - r.start, r.start));
        let first = self.b.f.regions.len() as u32;
        for (index, range) in ranges.iter().enumerate() {
            let outer = ranges[index + 1..].iter().position(|o| o.start <= range.start && range.end <= o.end);
            let parent = match outer {
                Some(distance) => Some(RegionId(first + (index + 1 + distance) as u32)),
                None => self.s.base_region,
            };
            self.b.f.regions.push(Region { parent, clauses: Vec::new() });
            self.s.exceptions.ranges.push((range.clone(), RegionId(first + index as u32)));
        }
        for clause in &clauses {
            let range = clause.try_offset..clause.try_offset + clause.try_len;
            let position = ranges.iter().position(|r| *r == range).expect("collected above");
            self.add_clause(clause, RegionId(first + position as u32))?;
        }
        Ok(())
    }

    fn add_clause(&mut self, clause: &saki_metadata::EhClause, region: RegionId) -> LoadResult<()> {
        let exception = self.b.temp(IrType::Ref);
        let index = self.b.f.clauses.len() as u32;
        let handler_region = self.s.region_at(clause.handler_offset);
        let mut body = self.b.block(handler_region);
        let handler = body;
        let mut entry = StackEntry::scalar(ValueId(0), IrType::Ref).non_null();
        let mut filter_offset = None;
        let mut selector = None;
        let kind = match clause.kind {
            EhKind::Catch => {
                let token = Token(clause.class_token_or_filter_offset);
                let ty = self.facts.resolve_type(self.s.image, token, &self.s.context)?;
                entry = StackEntry { ty: Some(ty), is_exact: is_exact_class(ty), note: Note::None, ..entry };
                ClauseKind::Catch(ty)
            }
            EhKind::Filter => {
                entry.ty = Some(universe().object());
                filter_offset = Some(clause.class_token_or_filter_offset);
                let filter = self.s.exceptions.clauses.iter().filter(|c| c.kind == EhKind::Filter).count();
                ClauseKind::Filter(filter as u32)
            }
            EhKind::Finally => {
                let local = self.b.temp(IrType::I32);
                selector = Some(local);
                body = self.b.block(handler_region);
                let saved = self.b.current.replace(handler);
                let zero = self.b.i32(0);
                self.b.set(local, zero);
                self.b.terminate(Terminator::Jump(body));
                self.b.current = saved;
                ClauseKind::Finally
            }
            EhKind::Fault => ClauseKind::Fault,
        };
        let catches = matches!(clause.kind, EhKind::Catch | EhKind::Filter);
        let label = BlockLabel {
            block: body,
            entries: if catches { vec![entry] } else { Vec::new() },
            joins: None,
            exception: catches.then_some(exception),
            is_imported: false,
        };
        if self.s.labels.insert(clause.handler_offset, label).is_some() {
            return Err(LoadError::invalid_program("two exception clauses share a handler"));
        }
        self.b.f.clauses.push(Clause { kind, handler, exception_local: exception });
        self.b.f.regions[region.0 as usize].clauses.push(index);
        self.s.exceptions.clauses.push(ClauseInfo {
            index,
            kind: clause.kind,
            try_range: clause.try_offset..clause.try_offset + clause.try_len,
            handler_range: clause.handler_offset..clause.handler_offset + clause.handler_len,
            filter_offset,
            region,
            exception,
            selector,
            dispatch: None,
            continuations: Vec::new(),
        });
        Ok(())
    }

    pub(super) fn leave(&mut self, target: u32) -> LoadResult<()> {
        self.s.stack.clear();
        let offset = self.s.offset;
        let leaves_catch = |c: &ClauseInfo| {
            matches!(c.kind, EhKind::Catch | EhKind::Filter)
                && c.handler_range.contains(&offset)
                && !c.handler_range.contains(&target)
        };
        if self.options.emit_polls && self.s.exceptions.clauses.iter().any(leaves_catch) {
            // The safepoint at which an abort that the clause has caught is thrown again.
            self.b.effect(Op::Poll);
        }
        let left = |c: &ClauseInfo| {
            c.kind == EhKind::Finally && c.try_range.contains(&offset) && !c.try_range.contains(&target)
        };
        let mut finallys: Vec<usize> =
            (0..self.s.exceptions.clauses.len()).filter(|i| left(&self.s.exceptions.clauses[*i])).collect();
        if finallys.is_empty() {
            return self.jump(target);
        }
        finallys.sort_by_key(|i| {
            let range = &self.s.exceptions.clauses[*i].try_range;
            range.end - range.start
        });
        if target <= offset {
            self.has_loops = true;
            if self.options.emit_polls {
                self.b.effect(Op::Poll);
            }
        }
        let target_block = self.jump_target(target)?;
        // From the outermost handler to the innermost: the continuation of each.
        let mut next: Option<(usize, i32)> = None;
        for index in finallys.into_iter().rev() {
            let known = self.s.exceptions.clauses[index].continuations.iter().position(|(t, _)| *t == target);
            let position = match known {
                Some(position) => position,
                None => {
                    let region = self.s.region_at(self.s.exceptions.clauses[index].handler_range.start);
                    let block = self.b.block(region);
                    let saved = self.b.current.replace(block);
                    match next {
                        None => self.b.terminate(Terminator::Jump(target_block)),
                        Some((outer, selector)) => self.enter_finally(outer, selector),
                    }
                    self.b.current = saved;
                    let continuations = &mut self.s.exceptions.clauses[index].continuations;
                    continuations.push((target, block));
                    continuations.len() - 1
                }
            };
            next = Some((index, position as i32 + 1));
        }
        let (innermost, selector) = next.expect("there is a finally handler");
        self.enter_finally(innermost, selector);
        Ok(())
    }

    fn enter_finally(&mut self, clause: usize, selector: i32) {
        let info = &self.s.exceptions.clauses[clause];
        let local = info.selector.expect("finally clauses have selectors");
        let body = self.s.labels[&info.handler_range.start].block;
        let value = self.b.i32(selector);
        self.b.set(local, value);
        self.b.terminate(Terminator::Jump(body));
    }

    pub(super) fn end_finally(&mut self) -> LoadResult<()> {
        self.s.stack.clear();
        let offset = self.s.offset;
        let Some(position) = self.innermost_handler(offset, |kind| matches!(kind, EhKind::Finally | EhKind::Fault))
        else {
            return Err(LoadError::invalid_program("endfinally outside a finally or fault handler"));
        };
        let info = &self.s.exceptions.clauses[position];
        let (index, handler) = (info.index, info.handler_range.start);
        if info.kind == EhKind::Fault {
            self.b.terminate(Terminator::ResumeUnwind { clause: index });
            return Ok(());
        }
        let dispatch = match info.dispatch {
            Some(block) => block,
            None => {
                let region = self.s.region_at(handler);
                let block = self.b.block(region);
                self.s.exceptions.clauses[position].dispatch = Some(block);
                block
            }
        };
        self.b.terminate(Terminator::Jump(dispatch));
        Ok(())
    }

    fn innermost_handler(&self, offset: u32, wanted: impl Fn(EhKind) -> bool) -> Option<usize> {
        let clauses = &self.s.exceptions.clauses;
        (0..clauses.len())
            .filter(|i| wanted(clauses[*i].kind) && clauses[*i].handler_range.contains(&offset))
            .min_by_key(|i| clauses[*i].handler_range.end - clauses[*i].handler_range.start)
    }

    /// Emits the dispatch after each finally handler, now that all continuations are known.
    pub(super) fn finish_finally_handlers(&mut self) {
        for position in 0..self.s.exceptions.clauses.len() {
            let info = &self.s.exceptions.clauses[position];
            let (Some(dispatch), Some(selector)) = (info.dispatch, info.selector) else { continue };
            let clause = info.index;
            let continuations: Vec<BlockId> = info.continuations.iter().map(|(_, block)| *block).collect();
            self.b.current = Some(dispatch);
            if continuations.is_empty() {
                self.b.terminate(Terminator::ResumeUnwind { clause });
                continue;
            }
            let region = self.b.region();
            let resume = self.b.block(region);
            let value = self.b.get(selector);
            match continuations[..] {
                [only] => self.b.terminate(Terminator::Brif { cond: value, then: only, otherwise: resume }),
                _ => {
                    let mut targets = vec![resume];
                    targets.extend(continuations);
                    self.b.terminate(Terminator::Switch { value, targets, default: resume });
                }
            }
            self.b.current = Some(resume);
            self.b.mark_cold();
            self.b.terminate(Terminator::ResumeUnwind { clause });
        }
    }

    pub(super) fn throw(&mut self) -> LoadResult<()> {
        let (_, value) = self.pop_reference()?;
        self.has_calls = true;
        self.b.mark_cold();
        self.b.terminate(Terminator::Throw(value));
        Ok(())
    }

    pub(super) fn rethrow(&mut self) -> LoadResult<()> {
        let offset = self.s.offset;
        let Some(position) = self.innermost_handler(offset, |kind| matches!(kind, EhKind::Catch | EhKind::Filter))
        else {
            return Err(LoadError::invalid_program("rethrow outside a catch handler"));
        };
        let local = self.s.exceptions.clauses[position].exception;
        let value = self.b.get(local);
        self.b.mark_cold();
        self.b.terminate(Terminator::Rethrow(value));
        Ok(())
    }

    /// Pushes the exception that a filter examines.
    pub(super) fn push_exception(&mut self, local: LocalId) {
        let value = self.b.get(local);
        let mut entry = StackEntry::scalar(value, IrType::Ref).with_type(universe().object()).non_null();
        entry.val = Val::Scalar(value);
        self.push(entry);
    }

    pub(super) fn end_filter(&mut self) -> LoadResult<()> {
        if self.parent.is_none() {
            return Err(LoadError::invalid_program("endfilter outside a filter"));
        }
        let value = self.pop_word()?;
        let value = self.fit(value, IrType::I32);
        self.b.terminate(Terminator::EndFilter(value));
        Ok(())
    }
}
