//! mkrefany, refanyval, refanytype. ECMA-335 §III.4.19, §III.4.22–4.23.
//!
//! `System.TypedReference` has the fields `type` (handle), `Value` (address) and `Type` (class).

use super::builder::plain;
use super::emitter::Emitter;
use super::operand_kinds::require_kind;
use super::stack::{StackEntry, Val};
use crate::ir::{AliasClass, CmpOp, IrType, MemType, Op, Symbol, Terminator};
use saki_types::{LibraryType, LoadError, LoadErrorKind, LoadResult, Ty, universe};

impl Emitter<'_> {
    fn typed_reference_field(&self, name: &str) -> LoadResult<i32> {
        let ty = universe().library_type(LibraryType::TypedReference)?;
        match ty.find_field(name)? {
            Some(field) => Ok(field.offset_bytes()? as i32),
            None => {
                Err(LoadError::new(LoadErrorKind::MissingField, format!("TypedReference has no field {name}"), name))
            }
        }
    }

    fn pop_typed_reference(&mut self) -> LoadResult<StackEntry> {
        let entry = self.pop()?;
        require_kind(&entry, IrType::Struct(universe().library_type(LibraryType::TypedReference)?))?;
        Ok(entry)
    }

    pub(super) fn make_typed_reference(&mut self, ty: Ty) -> LoadResult<()> {
        let pointer = self.pop_native()?;
        let reference = universe().library_type(LibraryType::TypedReference)?;
        let temp = self.b.temp(IrType::Struct(reference));
        let addr = self.b.addr_of(temp);
        let handle = self.b.symbol(Symbol::TypeHandle(ty));
        for (name, value) in [("type", handle), ("Value", pointer), ("Type", handle)] {
            let offset = self.typed_reference_field(name)?;
            self.b.store(addr, offset, value, MemType::I64, plain(AliasClass::Any));
        }
        self.push(StackEntry::of_struct(Val::Temp(temp), reference));
        Ok(())
    }

    pub(super) fn typed_reference_value(&mut self, ty: Ty) -> LoadResult<()> {
        let entry = self.pop_typed_reference()?;
        let addr = self.struct_addr(&entry)?;
        let (class, value) = (self.typed_reference_field("Type")?, self.typed_reference_field("Value")?);
        let found = self.b.load(addr, class, MemType::I64, plain(AliasClass::Any));
        let wanted = self.b.symbol(Symbol::TypeHandle(ty));
        let is_same = self.b.inst(Op::Cmp(CmpOp::Eq, found, wanted), IrType::I32);
        let region = self.b.region();
        let (good, bad) = (self.b.block(region), self.b.block(region));
        self.b.terminate(Terminator::Brif { cond: is_same, then: good, otherwise: bad });
        self.b.current = Some(bad);
        // The InvalidCastException is thrown by a cast that always fails.
        let object = self.b.inst(Op::NewObject(universe().object()), IrType::Ref);
        self.b.inst(Op::CastClass(object, universe().string()), IrType::Ref);
        self.b.unreachable();
        self.b.current = Some(good);
        let pointer = self.b.load(addr, value, MemType::ByRef, plain(AliasClass::Any));
        self.push(StackEntry::scalar(pointer, IrType::ByRef));
        Ok(())
    }

    pub(super) fn typed_reference_type(&mut self) -> LoadResult<()> {
        let entry = self.pop_typed_reference()?;
        let handle = universe().library_type(LibraryType::RuntimeTypeHandle)?;
        let offset = self.typed_reference_field("type")?;
        let part = self.part_of(&entry, offset, handle)?;
        let part = match part.val {
            Val::Scalar(_) => return Err(LoadError::invalid_program("RuntimeTypeHandle is not a struct")),
            _ => part,
        };
        self.push(part);
        Ok(())
    }
}
