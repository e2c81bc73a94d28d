//! Boxing and unboxing. ECMA-335 §III.4.1, §III.4.32–4.33.
//!
//! The idioms of generic code for value types (`box; brtrue`, `box; isinst; brtrue`, `box; unbox.any`) never allocate:
//! they are recognised by the instructions that follow the `box`. For types that cannot be boxed (by-reference-like ones)
//! nothing else is valid.

use super::builder::plain;
use super::emitter::Emitter;
use super::kinds::ir_type;
use super::operand_kinds::require_kind;
use super::stack::{StackEntry, Val};
use crate::ir::{AliasClass, IrType, NullCheck, Op, Symbol};
use saki_abi::HelperId;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_metadata::opcodes::{Opcode as O, Operand};
use saki_types::{LibraryType, LoadError, LoadResult, Ty, universe};

impl Emitter<'_> {
    pub(super) fn box_value(&mut self, ty: Ty) -> LoadResult<()> {
        if ty.is_reference_type() {
            return Ok(());
        }
        let entry = self.pop()?;
        require_kind(&entry, ir_type(ty)?)?;
        if self.skip_box(ty, &entry)? {
            return Ok(());
        }
        let boxed = self.boxed(&entry, ty)?;
        self.push(boxed);
        Ok(())
    }

    /// Boxes a value and returns the object's entry.
    pub(super) fn boxed(&mut self, entry: &StackEntry, ty: Ty) -> LoadResult<StackEntry> {
        self.has_calls = true;
        if ty.is_reference_type() {
            return Ok(*entry);
        }
        if ty.is_nullable() {
            let addr = self.struct_addr(entry)?;
            let handle = self.b.symbol(Symbol::TypeHandle(ty));
            let value = self.b.helper(HelperId::BoxNullable, vec![handle, addr]);
            return Ok(StackEntry::scalar(value, IrType::Ref).exact(ty.args[0]));
        }
        let ty = if ty.is_pointer() { universe().library_type(LibraryType::IntPtr)? } else { ty };
        if ty.is_byref() || ty.element_type == saki_types::ElementType::Void || ty.is_byref_like()? {
            return Err(LoadError::invalid_program(format!("{} cannot be boxed", ty.full_name())));
        }
        let object = self.b.inst(Op::NewObject(ty), IrType::Ref);
        // The object is new, so the store needs no barrier.
        self.store_at(object, OBJECT_HEADER_BYTES as i32, entry, ty, plain(AliasClass::Field), Some(object), false)?;
        Ok(StackEntry::scalar(object, IrType::Ref).exact(ty).non_null())
    }

    /// Folds a `box` of a value type with the instructions that follow. True: done, the operand is consumed.
    fn skip_box(&mut self, ty: Ty, entry: &StackEntry) -> LoadResult<bool> {
        if ty.is_nullable() || !ty.is_value_type() {
            return Ok(false);
        }
        let Some(next) = self.peek(self.s.next_offset) else { return Ok(false) };
        match (next.opcode, next.operand) {
            (O::Brtrue | O::BrtrueS | O::Brfalse | O::BrfalseS, _) => {
                self.push_i32(1);
                Ok(true)
            }
            (O::UnboxAny, Operand::Token(token)) => {
                let target = self.facts.resolve_type(self.s.image, token, &self.s.context)?;
                if target != ty {
                    return Ok(false);
                }
                self.push(*entry);
                self.s.next_offset = next.next_offset;
                Ok(true)
            }
            (O::Ldnull, _) => {
                let Some(compare) = self.peek(next.next_offset) else { return Ok(false) };
                let outcome = match compare.opcode {
                    O::Ceq => 0,
                    O::CgtUn => 1,
                    _ => return Ok(false),
                };
                self.push_i32(outcome);
                self.s.next_offset = compare.next_offset;
                Ok(true)
            }
            (O::Isinst, Operand::Token(token)) => {
                let target = self.facts.resolve_type(self.s.image, token, &self.s.context)?;
                let target = if target.is_nullable() { target.args[0] } else { target };
                let matches = ty.is_assignable_to(target)?;
                if !matches && (ty.mentions_stand_in() || target.mentions_stand_in()) {
                    return Ok(false);
                }
                let Some(then) = self.peek(next.next_offset) else { return Ok(false) };
                match (then.opcode, then.operand) {
                    (O::Brtrue | O::BrtrueS | O::Brfalse | O::BrfalseS, _) => {
                        self.push_i32(i32::from(matches));
                        self.s.next_offset = next.next_offset;
                        Ok(true)
                    }
                    (O::UnboxAny, Operand::Token(token))
                        if matches && self.facts.resolve_type(self.s.image, token, &self.s.context)? == ty =>
                    {
                        self.push(*entry);
                        self.s.next_offset = then.next_offset;
                        Ok(true)
                    }
                    (O::Ldnull, _) => {
                        let Some(compare) = self.peek(then.next_offset) else { return Ok(false) };
                        let outcome = match compare.opcode {
                            O::Ceq => !matches,
                            O::CgtUn => matches,
                            _ => return Ok(false),
                        };
                        self.push_i32(i32::from(outcome));
                        self.s.next_offset = compare.next_offset;
                        Ok(true)
                    }
                    _ => Ok(false),
                }
            }
            _ => Ok(false),
        }
    }

    pub(super) fn unbox(&mut self, ty: Ty) -> LoadResult<()> {
        let (_, object) = self.pop_reference()?;
        self.has_calls = true;
        if ty.is_nullable() {
            let entry = self.unboxed_nullable(object, ty)?;
            let addr = self.struct_addr(&entry)?;
            self.push(StackEntry::scalar(addr, IrType::ByRef).non_null());
            return Ok(());
        }
        let addr = self.b.inst(Op::Unbox(object, ty), IrType::ByRef);
        self.push(StackEntry::scalar(addr, IrType::ByRef).non_null());
        Ok(())
    }

    fn unboxed_nullable(&mut self, object: crate::ir::ValueId, ty: Ty) -> LoadResult<StackEntry> {
        let temp = self.b.temp(IrType::Struct(ty));
        let addr = self.b.addr_of(temp);
        let handle = self.b.symbol(Symbol::TypeHandle(ty));
        self.b.helper(HelperId::UnboxNullable, vec![addr, object, handle]);
        Ok(StackEntry::of_struct(Val::Temp(temp), ty))
    }

    pub(super) fn unbox_any(&mut self, ty: Ty) -> LoadResult<()> {
        if ty.is_reference_type() {
            return self.cast_class(ty);
        }
        let (object, value) = self.pop_reference()?;
        let is_exact = object.is_exact && object.is_non_null && object.ty == Some(ty);
        let object = value;
        self.has_calls = true;
        if ty.is_nullable() {
            let entry = self.unboxed_nullable(object, ty)?;
            self.push(entry);
            return Ok(());
        }
        let ty = if ty.is_pointer() { universe().library_type(LibraryType::IntPtr)? } else { ty };
        let entry = if is_exact {
            self.entry_at(object, OBJECT_HEADER_BYTES as i32, ty, plain(AliasClass::Field))?
        } else {
            let addr = self.b.inst(Op::Unbox(object, ty), IrType::ByRef);
            self.entry_at(addr, 0, ty, plain(AliasClass::Field))?
        };
        debug_assert!(plain(AliasClass::Field).null_check == NullCheck::None);
        self.push(entry);
        Ok(())
    }
}
