//! Try regions, handlers, `leave`, `endfinally`, `throw`, `rethrow`. ECMA-335 §I.12.4.2, §III.3.34, §III.3.46.
//!
//! The body of a finally handler is imported once. A selector local says where control continues after it: 0 = an
//! exception entered the handler, so unwinding resumes; k = the k-th continuation, set by the `leave` that entered it.
//! A `leave` through several finally handlers chains them, inner to outer. Left out: the code of filters (see
//! `filters`).

use super::emitter::Emitter;
use super::kinds::is_exact_class;
use super::ranges::RangeIndex;
use super::stack::{Note, StackEntry, Val};
use super::state::{BlockLabel, ClauseInfo};
use crate::ir::{Clause, ClauseKind, IrType, LocalId, Op, Region, RegionId, Terminator, ValueId};
use rustc_hash::FxHashMap;
use saki_metadata::{EhClause, EhKind, Token};
use saki_types::{LoadError, LoadResult, universe};
use std::ops::Range;

/// The code that a clause protects.
fn try_range(clause: &EhClause) -> Range<u32> {
    clause.try_offset..clause.try_offset + clause.try_len
}

impl Emitter<'_> {
    /// Makes the regions and clauses of the body.
    ///
    /// # Errors
    /// The errors of the catch types.
    pub(super) fn set_up_exceptions(&mut self) -> LoadResult<()> {
        let clauses = self.s.body.eh_clauses.clone();
        if clauses.is_empty() {
            return Ok(());
        }
        let mut ranges: Vec<Range<u32>> = clauses.iter().map(try_range).collect();
        ranges.sort_unstable_by_key(|r| (r.end - r.start, r.start));
        ranges.dedup();
        let numbers: FxHashMap<Range<u32>, usize> = ranges.iter().cloned().zip(0..).collect();
        let first = self.b.f.regions.len() as u32;
        let tries = RangeIndex::new(ranges);
        for index in 0..numbers.len() {
            let parent = tries.parent(index).map(|outer| RegionId(first + outer as u32)).or(self.s.base_region);
            self.b.f.regions.push(Region { parent, clauses: Vec::new() });
        }
        self.s.exceptions.first_region = first;
        self.s.exceptions.clauses_of = vec![Vec::new(); numbers.len()];
        self.s.exceptions.tries = tries;
        let mut filters = 0;
        for clause in &clauses {
            self.add_clause(clause, numbers[&try_range(clause)], filters)?;
            filters += u32::from(clause.kind == EhKind::Filter);
        }
        let range_of = |clause: usize| &self.s.exceptions.clauses[clause].handler_range;
        let mut order: Vec<usize> = (0..clauses.len()).collect();
        order.sort_by_key(|&clause| (range_of(clause).end - range_of(clause).start, range_of(clause).start));
        self.s.exceptions.handlers = RangeIndex::new(order.iter().map(|&clause| range_of(clause).clone()).collect());
        self.s.exceptions.handler_clauses = order;
        Ok(())
    }

    /// `filters`: filter clauses before this one.
    fn add_clause(&mut self, clause: &EhClause, try_block: usize, filters: u32) -> LoadResult<()> {
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
                ClauseKind::Filter(filters)
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
        let mut label = BlockLabel::new(body, if catches { vec![entry] } else { Vec::new() });
        label.exception = catches.then_some(exception);
        if self.s.labels.insert(clause.handler_offset, label).is_some() {
            return Err(LoadError::invalid_program("two exception clauses share a handler"));
        }
        self.b.f.clauses.push(Clause { kind, handler, exception_local: exception });
        let exceptions = &mut self.s.exceptions;
        self.b.f.regions[exceptions.region(try_block).0 as usize].clauses.push(index);
        exceptions.clauses_of[try_block].push(exceptions.clauses.len());
        exceptions.clauses.push(ClauseInfo {
            index,
            kind: clause.kind,
            handler_range: clause.handler_offset..clause.handler_offset + clause.handler_len,
            filter_offset,
            exception,
            selector,
            dispatch: None,
            continuations: Vec::new(),
            continuation_of: FxHashMap::default(),
        });
        Ok(())
    }

    pub(super) fn leave(&mut self, target: u32) -> LoadResult<()> {
        self.s.stack.clear();
        let offset = self.s.offset;
        let exceptions = &self.s.exceptions;
        let catches = |clause: usize| matches!(exceptions.clauses[clause].kind, EhKind::Catch | EhKind::Filter);
        if self.options.emit_polls && exceptions.left_handlers(offset, target).any(catches) {
            // The safepoint at which an abort that the clause has caught is thrown again.
            self.b.effect(Op::Poll);
        }
        // Innermost first.
        let left = exceptions.tries.left(offset, target).flat_map(|try_block| &exceptions.clauses_of[try_block]);
        let finallys: Vec<usize> =
            left.copied().filter(|&clause| exceptions.clauses[clause].kind == EhKind::Finally).collect();
        if finallys.is_empty() {
            return self.jump(target);
        }
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
            let position = match self.s.exceptions.clauses[index].continuation_of.get(&target) {
                Some(position) => *position,
                None => {
                    let region = self.s.region_at(self.s.exceptions.clauses[index].handler_range.start);
                    let block = self.b.block(region);
                    let saved = self.b.current.replace(block);
                    match next {
                        None => self.b.terminate(Terminator::Jump(target_block)),
                        Some((outer, selector)) => self.enter_finally(outer, selector),
                    }
                    self.b.current = saved;
                    let clause = &mut self.s.exceptions.clauses[index];
                    clause.continuations.push(block);
                    clause.continuation_of.insert(target, clause.continuations.len() - 1);
                    clause.continuations.len() - 1
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
        let index = info.index;
        self.tell_clause(index);
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
        let exceptions = &self.s.exceptions;
        exceptions.handlers_at(offset).find(|&clause| wanted(exceptions.clauses[clause].kind))
    }

    /// Emits the dispatch after each finally handler, now that all continuations are known.
    pub(super) fn finish_finally_handlers(&mut self) {
        for position in 0..self.s.exceptions.clauses.len() {
            let info = &self.s.exceptions.clauses[position];
            let (Some(dispatch), Some(selector)) = (info.dispatch, info.selector) else { continue };
            let clause = info.index;
            let continuations = info.continuations.clone();
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
