//! mkrefany, refanyval, refanytype. ECMA-335 §III.4.19, §III.4.22–4.23.
//!
//! `System.TypedReference` has the fields `type` (a handle) and `Value` (an address). In Mono's class libraries the
//! handle is the address of the type's record, and a third field, `Type`, has it once more; in .NET's it is
//! `RuntimeType.m_handle`.

use super::builder::plain;
use super::emitter::Emitter;
use super::operand_kinds::require_kind;
use super::stack::{StackEntry, Val};
use crate::ir::{AliasClass, CmpOp, IrType, MemType, Op, Symbol, Terminator, ValueId};
use saki_abi::helpers::HelperId;
use saki_types::{LibraryType, LoadError, LoadErrorKind, LoadResult, Ty, universe};

impl Emitter<'_> {
    /// Bytes from the start of a TypedReference to a field; None: the class library has no such field.
    fn find_typed_reference_field(name: &'static str) -> LoadResult<Option<i32>> {
        let offset_bytes = universe().find_field_offset_bytes(LibraryType::TypedReference, name)?;
        Ok(offset_bytes.map(|bytes| bytes as i32))
    }

    fn typed_reference_field(name: &'static str) -> LoadResult<i32> {
        let missing =
            || LoadError::new(LoadErrorKind::MissingField, format!("TypedReference has no field {name}"), name);
        Self::find_typed_reference_field(name)?.ok_or_else(missing)
    }

    /// Whether the handle in a TypedReference is that of a RuntimeType, and not the address of the type's record.
    fn has_handles_of_runtime_types() -> bool {
        universe().profile().reads_method_tables
    }

    /// The handle that a TypedReference to a variable of the type has.
    fn handle_in_typed_reference(&mut self, ty: Ty) -> LoadResult<ValueId> {
        if !Self::has_handles_of_runtime_types() {
            return Ok(self.b.symbol(Symbol::TypeHandle(ty)));
        }
        let Some(offset_bytes) = universe().find_field_offset_bytes(LibraryType::Type, "_impl")? else {
            return Err(LoadError::new(
                LoadErrorKind::MissingField,
                "RuntimeType has no handle".to_owned(),
                "m_handle",
            ));
        };
        let cell = self.b.symbol(Symbol::TypeObject(ty));
        let object = self.b.load(cell, 0, MemType::Ref, plain(AliasClass::Runtime));
        Ok(self.b.load(object, offset_bytes as i32, MemType::I64, plain(AliasClass::Any)))
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
        let handle = self.handle_in_typed_reference(ty)?;
        for (name, value) in [("type", handle), ("Value", pointer)] {
            let offset = Self::typed_reference_field(name)?;
            self.b.store(addr, offset, value, MemType::I64, plain(AliasClass::Any));
        }
        if let Some(offset) = Self::find_typed_reference_field("Type")? {
            self.b.store(addr, offset, handle, MemType::I64, plain(AliasClass::Any));
        }
        self.push(StackEntry::of_struct(Val::Temp(temp), reference));
        Ok(())
    }

    pub(super) fn typed_reference_value(&mut self, ty: Ty) -> LoadResult<()> {
        let entry = self.pop_typed_reference()?;
        let addr = self.struct_addr(&entry)?;
        let (handle, value) = (Self::typed_reference_field("type")?, Self::typed_reference_field("Value")?);
        let found = self.b.load(addr, handle, MemType::I64, plain(AliasClass::Any));
        let wanted = self.handle_in_typed_reference(ty)?;
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
        let offset = Self::typed_reference_field("type")?;
        if Self::has_handles_of_runtime_types() {
            let addr = self.struct_addr(&entry)?;
            let word = self.b.load(addr, offset, MemType::I64, plain(AliasClass::Any));
            self.has_calls = true;
            let object = self.b.helper(HelperId::TypeHandleObject, vec![word]);
            let temp = self.b.temp(IrType::Struct(handle));
            let addr = self.b.addr_of(temp);
            self.b.store(addr, 0, object, MemType::Ref, plain(AliasClass::Any));
            self.push(StackEntry::of_struct(Val::Temp(temp), handle));
            return Ok(());
        }
        let part = self.part_of(&entry, offset, handle)?;
        let part = match part.val {
            Val::Scalar(_) => return Err(LoadError::invalid_program("RuntimeTypeHandle is not a struct")),
            _ => part,
        };
        self.push(part);
        Ok(())
    }
}
