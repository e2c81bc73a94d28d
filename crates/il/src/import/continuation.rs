//! From tier to tier: counts in the first tier's code, and functions that go on for its frames at loops.
//!
//! A continuation is a function of its own that is called by the frame that it goes on for, takes that frame's pointer,
//! and does the rest of the method's work. It copies the variables from the frame to its own locals, so that they can
//! live in registers. Those whose addresses other code may have stay where they are: variables whose address was taken,
//! in methods that make pointers of addresses or have a variable that can hold one. A callee that got such an address
//! as an argument cannot keep it (it is a byref), unless it makes a pointer of it, which is for fixed memory only.
//!
//! Invariant: nothing throws before the code has reached the loop's region, whose handlers are those of the frame.
//!
//! Left out: loops in handlers, whose exception is in the frame as well, and those that begin with values on the stack;
//! synchronized methods, whose lock the frame releases; methods with filters or `localloc`; variable arguments.

use super::builder::plain;
use super::emitter::Emitter;
use super::options::Continuation;
use super::prologue::keeps_this;
use super::state::{Binding, Var};
use crate::ir::{AliasClass, Inst, IrType, LocalId, LocalKind, Op, ValueId};
use saki_abi::NO_SLOT;
use saki_metadata::EhKind;
use saki_types::method::impl_flags;
use saki_types::{LoadError, LoadResult, Ty};

impl Emitter<'_> {
    /// At the beginning of a block: counts the round, if a loop begins here that other code may continue.
    pub(super) fn count_loop(&mut self, offset: u32) {
        if self.options.count && self.may_continue_at(offset) {
            self.b.effect(Op::CountLoop(offset));
            self.counts_loops = true;
        }
    }

    fn may_continue_at(&self, offset: u32) -> bool {
        let scope = &self.s;
        let is_handler = |clause: &saki_metadata::EhClause| {
            (clause.handler_offset..clause.handler_offset + clause.handler_len).contains(&offset)
        };
        let clauses = &scope.body.eh_clauses;
        !scope.is_inlined
            && self.parent.is_none()
            && scope.stack.is_empty()
            && scope.scan.is_loop_start(offset)
            && !scope.scan.has_localloc
            && self.method.impl_flags & impl_flags::SYNCHRONIZED == 0
            && !scope.sig.is_vararg
            && !clauses.iter().any(|clause| clause.kind == EhKind::Filter || is_handler(clause))
    }

    /// Has the code count its calls; to be called when the body has been imported.
    pub(super) fn count_calls(&mut self) {
        let count = ValueId(self.b.f.insts.len() as u32);
        self.b.f.insts.push(Inst { op: Op::CountCall, ty: IrType::Void, il_offset: 0 });
        self.b.f.blocks[0].insts.insert(0, count);
        if self.counts_loops {
            self.b.f.makes_pointers = self.makes_pointers;
            let vars = self.s.args.iter().chain(&self.s.locals);
            self.b.f.variables.extend(vars.filter_map(|var| match var.binding {
                Binding::Local(local) => Some(local),
                _ => None,
            }));
        }
    }

    /// Emits what comes before the rest of the body, and gives the IL offset at which that begins.
    pub(super) fn begin_continuation(&mut self, at: &Continuation) -> LoadResult<Option<u32>> {
        let (arg_count, local_count) = (self.s.arg_count(), self.s.local_sigs.len());
        if at.slots.len() != arg_count + local_count {
            return Err(LoadError::invalid_program("a frame has other variables than its method"));
        }
        self.reserve();
        self.b.f.is_continuation = true;
        let entry = self.b.block(None);
        self.b.current = Some(entry);
        self.b.local(IrType::I64, LocalKind::Param(0));
        let stay = at.makes_pointers || self.may_hold_addresses()?;
        for index in 0..arg_count {
            let ty = self.s.arg_type(index)?;
            let usage = self.s.scan.args[index];
            let local = self.continue_variable(ty, at.slots[index], usage.address_taken, stay, true)?;
            self.add_argument(local, ty);
        }
        for index in 0..local_count {
            let sig = self.s.local_sigs[index];
            let usage = self.s.scan.locals[index];
            let slot = at.slots[arg_count + index];
            let local = self.continue_variable(sig.ty, slot, usage.address_taken, stay, false)?;
            self.b.f.locals[local.0 as usize].pinned = sig.pinned;
            self.s.locals.push(Var { binding: Binding::Local(local), ty: sig.ty, is_this: false, is_exact: false });
        }
        if keeps_this(self.method) {
            self.keep_this();
        }
        self.set_up_exceptions()?;
        self.has_loops = true;
        Ok(Some(at.il_offset))
    }

    /// Whether some variable may hold the address of another one.
    fn may_hold_addresses(&self) -> LoadResult<bool> {
        for index in 0..self.s.arg_count() {
            if may_hold_address(self.s.arg_type(index)?)? {
                return Ok(true);
            }
        }
        for local in &self.s.local_sigs {
            if may_hold_address(local.ty)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The local for a variable of the frame.
    fn continue_variable(
        &mut self,
        ty: Ty,
        slot: i32,
        address_taken: bool,
        stay: bool,
        is_argument: bool,
    ) -> LoadResult<LocalId> {
        if slot == NO_SLOT {
            let local = self.variable(ty, LocalKind::Normal, address_taken)?;
            self.b.f.locals[local.0 as usize].zero_init = true;
            return Ok(local);
        }
        let is_indirect = is_argument && matches!(super::kinds::ir_type(ty)?, IrType::Struct(_));
        let outer = self.variable(ty, LocalKind::FrameSlot { offset_bytes: slot, is_indirect }, true)?;
        if address_taken && stay {
            return Ok(outer);
        }
        let copy = self.variable(ty, LocalKind::Normal, address_taken)?;
        match self.b.local_type(copy) {
            IrType::Struct(struct_ty) => {
                let (dst, src) = (self.b.addr_of(copy), self.b.addr_of(outer));
                let flags = plain(AliasClass::Any);
                self.b.effect(Op::CopyStruct { dst, src, ty: struct_ty, barrier: false, flags });
            }
            _ => {
                let value = self.b.get(outer);
                self.b.set(copy, value);
            }
        }
        Ok(copy)
    }
}

/// Whether a value of the type may contain the address of a variable.
fn may_hold_address(ty: Ty) -> LoadResult<bool> {
    use saki_metadata::ElementType as E;
    if ty.is_byref() || ty.is_pointer() || matches!(ty.element_type, E::I | E::U | E::TypedByRef) {
        return Ok(true);
    }
    if ty.element_type != E::ValueType {
        return Ok(false);
    }
    for field in ty.fields()?.iter().filter(|field| !field.is_static()) {
        if may_hold_address(field.ty()?)? {
            return Ok(true);
        }
    }
    Ok(false)
}
