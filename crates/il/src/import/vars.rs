//! Arguments and local variables: ldarg, starg, ldarga, ldloc, stloc, ldloca.
//!
//! A read-only argument of an inlined body is bound to the caller's value itself. In a filter the variables of the
//! method become `ParentSlot` locals at their first use. ECMA-335 §III.3.

use super::builder::plain;
use super::emitter::{Emitter, KnownObject};
use super::kinds::{ir_type, is_exact_class, mem_type};
use super::stack::{Effect, Note, StackEntry, Val};
pub(super) use super::state::VarRef;
use super::state::{Binding, Var};
use crate::ir::{AliasClass, CallTarget, IrType, LocalId, LocalKind, MemType, Op, ValueId};
use saki_types::{LoadError, LoadResult, Ty};

impl Emitter<'_> {
    fn var(&mut self, var: VarRef) -> LoadResult<Var> {
        let vars = match var {
            VarRef::Arg(_) => &self.s.args,
            VarRef::Local(_) => &self.s.locals,
        };
        let (VarRef::Arg(index) | VarRef::Local(index)) = var;
        let found = *vars
            .get(index)
            .ok_or_else(|| LoadError::invalid_program(format!("there is no argument or local variable {index}")))?;
        let Binding::Parent(parent_local) = found.binding else { return Ok(found) };
        let local = self.parent_slot(parent_local);
        let bound = Var { binding: Binding::Local(local), ..found };
        self.s.bound.push((var, found));
        match var {
            VarRef::Arg(index) => self.s.args[index] = bound,
            VarRef::Local(index) => self.s.locals[index] = bound,
        }
        Ok(bound)
    }

    /// A filter's view of a local of its parent.
    pub(super) fn parent_slot(&mut self, parent_local: LocalId) -> LocalId {
        let parent = self.parent.as_mut().expect("Binding::Parent exists only in filters");
        parent.expose(parent_local);
        let ty = parent.local_type(parent_local);
        let local = self.b.local(ty, LocalKind::ParentSlot(parent_local));
        self.b.expose(local);
        local
    }

    pub(super) fn load_var(&mut self, var: VarRef) -> LoadResult<()> {
        let var = self.var(var)?;
        let entry = match var.binding {
            Binding::Operand(entry) => entry,
            Binding::Local(local) => match self.b.local_type(local) {
                IrType::Struct(ty) => StackEntry::of_struct(Val::InLocal(local, 0), ty),
                ir => {
                    let value = self.scalar_variable(local, var.ty)?;
                    let mut entry = StackEntry::scalar(value, ir).with_type(var.ty);
                    entry.is_exact = ir == IrType::Ref && (var.is_exact || is_exact_class(var.ty));
                    entry.is_non_null = var.is_this;
                    if var.is_this {
                        entry.note = Note::This;
                    }
                    if let Some(object) = self.known.known_locals.get(&local) {
                        entry.is_non_null = true;
                        if let Some(exact) = object.exact {
                            entry = entry.exact(exact);
                        }
                        if object.note != Note::None {
                            entry.note = object.note;
                        }
                    }
                    entry
                }
            },
            Binding::Parent(_) => unreachable!("resolved by `var`"),
        };
        self.push(entry);
        Ok(())
    }

    /// Notes that the reference was null-checked, so that the local from which it was read is non-null from here on.
    pub(super) fn note_non_null(&mut self, value: ValueId) {
        if let Op::LocalGet(local) = *self.b.op(value)
            && self.b.local_type(local) == IrType::Ref
            && !self.b.is_exposed(local)
            && self.parent.is_none()
        {
            self.known.known_locals.entry(local).or_default();
        }
    }

    /// Value of a scalar variable. Of an exposed one of a small type, only the low bytes are sure to be current.
    fn scalar_variable(&mut self, local: LocalId, ty: Ty) -> LoadResult<ValueId> {
        match small_type(ty)? {
            Some(mem) if self.b.is_exposed(local) => {
                let addr = self.b.addr_of(local);
                Ok(self.b.load(addr, 0, mem, plain(AliasClass::Any)))
            }
            _ => Ok(self.b.get(local)),
        }
    }

    pub(super) fn load_var_address(&mut self, var: VarRef) -> LoadResult<()> {
        let var = self.var(var)?;
        let Binding::Local(local) = var.binding else {
            return Err(LoadError::invalid_program("the address of an argument is taken that was not expected to be"));
        };
        let addr = self.b.addr_of(local);
        self.push(StackEntry::scalar(addr, IrType::ByRef).non_null());
        Ok(())
    }

    pub(super) fn store_var(&mut self, var: VarRef) -> LoadResult<()> {
        let var = self.var(var)?;
        let Binding::Local(local) = var.binding else {
            return Err(LoadError::invalid_program("an argument is written that was not expected to be"));
        };
        let entry = self.pop()?;
        self.store_local(local, &entry, var.ty)
    }

    /// Writes a local variable.
    pub(super) fn store_local(&mut self, local: LocalId, entry: &StackEntry, ty: Ty) -> LoadResult<()> {
        let IrType::Struct(struct_ty) = self.b.local_type(local) else {
            let value = self.coerce(entry, ty)?;
            if self.b.is_exposed(local) {
                self.spill(Effect::Local(local))?;
                if let Some(mem) = small_type(ty)? {
                    let addr = self.b.addr_of(local);
                    self.b.store(addr, 0, value, mem, plain(AliasClass::Any));
                    return Ok(());
                }
            }
            self.b.set(local, value);
            self.known.known_locals.remove(&local);
            if entry.is_non_null && entry.ir == IrType::Ref && !self.b.is_exposed(local) && self.parent.is_none() {
                let note = if matches!(entry.note, Note::Delegate(_)) { entry.note } else { Note::None };
                let object = KnownObject { exact: entry.ty.filter(|_| entry.is_exact), note };
                self.known.known_locals.insert(local, object);
            }
            return Ok(());
        };
        if matches!(entry.val, Val::InLocal(from, 0) if from == local) {
            return Ok(());
        }
        self.spill(Effect::Local(local))?;
        if let Val::Temp(temp) = entry.val
            && self.retarget_call_result(temp, local)
        {
            return Ok(());
        }
        let dst = self.b.addr_of(local);
        self.copy_entry_to(dst, 0, entry, struct_ty, false)
    }

    /// Makes the call just emitted write its struct result to `local` instead of `temp`, unless the local could be
    /// observed while the call runs.
    fn retarget_call_result(&mut self, temp: LocalId, local: LocalId) -> bool {
        if self.b.is_exposed(local) || self.b.region().is_some() || self.parent.is_some() {
            return false;
        }
        let Some(last) = self.b.last_inst() else { return false };
        let Op::Call { target, struct_result: Some(address), args, .. } = self.b.op(last) else { return false };
        if matches!(target, CallTarget::Native { .. }) || *self.b.op(*address) != Op::LocalAddr(temp) {
            return false;
        }
        let (address, args) = (*address, args.clone());
        if args.iter().any(|arg| self.b.local_at(*arg).is_some_and(|(at, _)| at == local)) {
            return false;
        }
        self.b.f.insts[address.0 as usize].op = Op::LocalAddr(local);
        true
    }

    /// A local of the method for a variable of this type.
    pub(super) fn variable(&mut self, ty: Ty, kind: LocalKind, address_taken: bool) -> LoadResult<LocalId> {
        let ir = ir_type(ty)?;
        if ir == IrType::Void {
            return Err(LoadError::invalid_program("a variable of type void"));
        }
        let local = self.b.local(ir, kind);
        if address_taken {
            self.b.expose(local);
        } else if let Some(mem) = small_type(ty)? {
            self.known.narrow_locals.insert(local, mem);
        }
        Ok(local)
    }
}

/// The memory type of a type smaller than int32; None for others.
fn small_type(ty: Ty) -> LoadResult<Option<MemType>> {
    Ok(mem_type(ty)?.filter(|m| matches!(m, MemType::I8 | MemType::U8 | MemType::I16 | MemType::U16)))
}
