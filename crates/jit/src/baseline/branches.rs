//! Branches of the emitted code, and what is known of values where its paths join again.
//!
//! The compiler goes through the code once, in the order in which it lies there, and what it knows of registers and
//! slots changes as it goes: "the value was stored to this slot", "the value is in this register". Behind a branch the
//! code that makes it so runs on one path only. Where the other path joins, the compiler would believe it of both: a
//! value that had to make room on one path is read from a slot to which the other path has stored nothing.
//!
//! Invariant: from a jump to the place where it leads no register is asked for and no value is moved, stored or
//! defined. [`Branches`] stands before the macro assembler, notes with each label how often that has happened so far
//! ([`Changes`]), and compares where the label is bound; it does so in builds with debug assertions. Only what knows
//! the count can change places of values: [`Registers`](super::registers::Registers) demands a [`Changes`] for that,
//! and nothing else makes one. To forget what is known (the last use of a value, a call) is no change: that is right
//! on each path.
//!
//! Labels of blocks are not watched, since no value is in a register where a block begins, and what other blocks use
//! is stored where it is defined. Out-of-line code begins with what was known at its jump, and goes back to a place
//! where nothing more is known; it may change nothing, since the registers are those of the code that was left.

use saki_code::masm::{Address, IntegerOp, Label, MachineType, MacroAssembler, MemoryAccess, Reg, RegImm, Relation};
use std::ops::{Deref, DerefMut};

/// Counts how often what is known of values has grown.
#[derive(Default, Debug)]
pub(super) struct Changes {
    count: u32,
    /// Whether out-of-line code is emitted.
    is_out_of_line: bool,
}

impl Changes {
    /// A register is asked for, or a value gets a place.
    #[inline]
    pub(super) fn note(&mut self) {
        debug_assert!(!self.is_out_of_line, "out-of-line code asks for a register or moves a value");
        self.count += 1;
    }
}

/// The counts at which jumps to a label were made, or it was bound: the least and the greatest.
#[derive(Clone, Copy, Debug)]
struct Seen {
    least: u32,
    greatest: u32,
    is_bound: bool,
}

/// The macro assembler, all of whose operations that jump are watched.
pub(super) struct Branches<'a, M> {
    masm: &'a mut M,
    pub changes: Changes,
    /// By label that was made here: what has been seen of it. Empty without debug assertions.
    labels: Vec<Option<Option<Seen>>>,
}

impl<'a, M> Branches<'a, M> {
    pub(super) fn new(masm: &'a mut M) -> Self {
        Branches { masm, changes: Changes::default(), labels: Vec::new() }
    }
}

impl<M> Deref for Branches<'_, M> {
    type Target = M;

    fn deref(&self) -> &M {
        self.masm
    }
}

impl<M> DerefMut for Branches<'_, M> {
    fn deref_mut(&mut self) -> &mut M {
        self.masm
    }
}

impl<M: MacroAssembler> Branches<'_, M> {
    /// A jump to the label is emitted, backwards if it is bound.
    fn leads_to(&mut self, label: Label) {
        let count = self.changes.count;
        let Some(Some(seen)) = self.labels.get_mut(label.index()) else { return };
        match seen {
            Some(seen) if seen.is_bound => {
                assert!(seen.least == count && seen.greatest == count, "a value has moved where a jump back skips it");
            }
            Some(seen) => (seen.least, seen.greatest) = (seen.least.min(count), seen.greatest.max(count)),
            None => *seen = Some(Seen { least: count, greatest: count, is_bound: false }),
        }
    }

    fn may_lead_to(&mut self, label: Option<Label>) {
        label.into_iter().for_each(|label| self.leads_to(label));
    }

    pub(super) fn label(&mut self) -> Label {
        let label = self.masm.label();
        if cfg!(debug_assertions) {
            self.labels.resize(label.index(), None);
            self.labels.push(Some(None));
        }
        label
    }

    /// The label denotes this place, to which the code before leads as well.
    pub(super) fn bind(&mut self, label: Label) {
        let count = self.changes.count;
        if let Some(Some(seen)) = self.labels.get_mut(label.index()) {
            let before = seen.unwrap_or(Seen { least: count, greatest: count, is_bound: false });
            assert!(
                before.least == count && before.greatest == count && !before.is_bound,
                "a register was asked for, or a value moved, on one of two paths that join here"
            );
            *seen = Some(Seen { is_bound: true, ..before });
        }
        self.masm.bind(label);
    }

    /// The label denotes this place, to which only its jumps lead; what follows is out-of-line code.
    pub(super) fn bind_out_of_line(&mut self, label: Label) {
        self.changes.is_out_of_line = true;
        if let Some(Some(seen)) = self.labels.get_mut(label.index())
            && let Some(seen) = seen
        {
            // Jumps from places where different things are known can lead to code that does not come back.
            self.changes.count = if seen.least == seen.greatest { seen.least } else { u32::MAX };
            seen.is_bound = true;
        }
        self.masm.bind(label);
    }

    pub(super) fn jump(&mut self, target: Label) {
        self.leads_to(target);
        self.masm.jump(target);
    }

    pub(super) fn jump_if(
        &mut self,
        relation: Relation,
        ty: MachineType,
        first: Reg,
        second: RegImm,
        then: Label,
        otherwise: Option<Label>,
    ) {
        self.leads_to(then);
        self.may_lead_to(otherwise);
        self.masm.jump_if(relation, ty, first, second, then, otherwise);
    }

    pub(super) fn jump_if_nonzero(&mut self, ty: MachineType, register: Reg, target: Label) {
        self.leads_to(target);
        self.masm.jump_if_nonzero(ty, register, target);
    }

    pub(super) fn jump_if_word(&mut self, ty: MachineType, word: Address, is_zero: bool, target: Label) {
        self.leads_to(target);
        self.masm.jump_if_word(ty, word, is_zero, target);
    }

    pub(super) fn count_up(&mut self, word: Address, amount: i32, overflow: Label) {
        self.leads_to(overflow);
        self.masm.count_up(word, amount, overflow);
    }

    pub(super) fn compare_exchange(&mut self, access: MemoryAccess, place: Address, new: Reg, unequal: Option<Label>) {
        self.may_lead_to(unequal);
        self.masm.compare_exchange(access, place, new, unequal);
    }

    pub(super) fn integer(
        &mut self,
        op: IntegerOp,
        ty: MachineType,
        first: Reg,
        second: RegImm,
        overflow: Option<Label>,
    ) {
        self.may_lead_to(overflow);
        self.masm.integer(op, ty, first, second, overflow);
    }

    pub(super) fn multiply(&mut self, ty: MachineType, left: Reg, right: Reg, overflow: Option<Label>) {
        self.may_lead_to(overflow);
        self.masm.multiply(ty, left, right, overflow);
    }

    pub(super) fn multiply_constant(
        &mut self,
        ty: MachineType,
        to: Reg,
        left: Reg,
        right: i32,
        overflow: Option<Label>,
    ) {
        self.may_lead_to(overflow);
        self.masm.multiply_constant(ty, to, left, right, overflow);
    }

    pub(super) fn multiply_unsigned(&mut self, ty: MachineType, right: Reg, overflow: Label) {
        self.leads_to(overflow);
        self.masm.multiply_unsigned(ty, right, overflow);
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use crate::symbols::RelocTarget;
    use saki_code::masm::{CodeOptions, HostAssembler};

    type Masm = HostAssembler<RelocTarget>;

    fn with_branches(emit: impl FnOnce(&mut Branches<'_, Masm>)) {
        let mut masm = Masm::default();
        masm.begin(CodeOptions::default());
        emit(&mut Branches::new(&mut masm));
    }

    fn jump_if_zero(branches: &mut Branches<'_, Masm>, target: Label) {
        branches.jump_if(Relation::Equal, MachineType::I64, Masm::RESULT, RegImm::Imm(0), target, None);
    }

    #[test]
    fn changes_before_the_branch_and_behind_the_join_are_right() {
        with_branches(|branches| {
            let (slow, next, again) = (branches.label(), branches.label(), branches.label());
            branches.changes.note();
            jump_if_zero(branches, slow);
            branches.bind(next);
            branches.changes.note();
            branches.bind(again);
            jump_if_zero(branches, again);
            branches.bind_out_of_line(slow);
            branches.jump(next);
        });
    }

    #[test]
    #[should_panic(expected = "on one of two paths")]
    fn no_register_is_asked_for_on_one_path() {
        with_branches(|branches| {
            let next = branches.label();
            jump_if_zero(branches, next);
            branches.changes.note();
            branches.bind(next);
        });
    }

    #[test]
    #[should_panic(expected = "a jump back skips it")]
    fn no_register_is_asked_for_in_a_loop() {
        with_branches(|branches| {
            let again = branches.label();
            branches.bind(again);
            branches.changes.note();
            jump_if_zero(branches, again);
        });
    }

    #[test]
    #[should_panic(expected = "a jump back skips it")]
    fn out_of_line_code_goes_back_to_where_nothing_more_is_known() {
        with_branches(|branches| {
            let (slow, next) = (branches.label(), branches.label());
            jump_if_zero(branches, slow);
            branches.changes.note();
            branches.bind(next);
            branches.bind_out_of_line(slow);
            branches.jump(next);
        });
    }

    #[test]
    #[should_panic(expected = "out-of-line code asks")]
    fn out_of_line_code_asks_for_no_register() {
        with_branches(|branches| {
            let slow = branches.label();
            jump_if_zero(branches, slow);
            branches.bind_out_of_line(slow);
            branches.changes.note();
        });
    }
}
