//! castclass, isinst, ldtoken. ECMA-335 §III.4.3, §III.4.6, §III.4.17.

use super::builder::plain;
use super::emitter::Emitter;
use super::operand_kinds::require_reference;
use super::stack::{Note, StackEntry, Val};
use crate::ir::{AliasClass, IrType, MemType, Op, Symbol};
use saki_metadata::TableId;
use saki_metadata::opcodes::Instruction;
use saki_types::dynamic::DynamicRef;
use saki_types::{LibraryType, LoadError, LoadResult, Ty, universe};

impl Emitter<'_> {
    /// The result of `entry is target` for a non-null object, if static types decide it.
    fn known_instance(&self, entry: &StackEntry, target: Ty) -> LoadResult<Option<bool>> {
        if target == universe().object() {
            return Ok(Some(true));
        }
        let Some(ty) = entry.ty.filter(|_| entry.ir == IrType::Ref) else { return Ok(None) };
        if ty.is_assignable_to(target)? {
            return Ok(Some(true));
        }
        // Arrays convert to arrays with equivalent elements, and some objects decide themselves which interfaces they
        // have, so only a positive answer is certain.
        let may_decide = ty.is_array() || (target.is_interface() && ty.dynamic_castable()?.is_some());
        let is_certain = entry.is_exact && !may_decide && !ty.mentions_stand_in() && !target.mentions_stand_in();
        Ok(is_certain.then_some(false))
    }

    fn is_null(&self, entry: &StackEntry) -> bool {
        matches!(entry.val, Val::Scalar(v) if matches!(self.b.op(v), Op::Null))
    }

    pub(super) fn cast_class(&mut self, ty: Ty) -> LoadResult<()> {
        let mut entry = self.pop()?;
        require_reference(&entry)?;
        if self.is_null(&entry) || self.known_instance(&entry, ty)? == Some(true) {
            if !entry.is_exact && entry.ty.is_none() {
                entry.ty = Some(ty);
            }
            self.push(entry);
            return Ok(());
        }
        let value = self.value(&entry)?;
        let target = if ty.is_nullable() { ty.args[0] } else { ty };
        let result = self.b.inst(Op::CastClass(value, target), IrType::Ref);
        self.has_calls = true;
        let mut cast = StackEntry::scalar(result, IrType::Ref).with_type(ty);
        cast.is_exact = super::kinds::is_exact_class(ty);
        cast.is_non_null = entry.is_non_null;
        self.push(cast);
        Ok(())
    }

    pub(super) fn is_instance(&mut self, ty: Ty) -> LoadResult<()> {
        let entry = self.pop()?;
        require_reference(&entry)?;
        let target = if ty.is_nullable() { ty.args[0] } else { ty };
        match self.known_instance(&entry, target)? {
            Some(true) => {
                self.push(entry);
                return Ok(());
            }
            Some(false) => {
                let null = self.b.inst(Op::Null, IrType::Ref);
                self.push_scalar(null, IrType::Ref);
                return Ok(());
            }
            None if self.is_null(&entry) => {
                self.push(entry);
                return Ok(());
            }
            None => {}
        }
        let value = self.value(&entry)?;
        let result = self.b.inst(Op::IsInst(value, target), IrType::Ref);
        self.has_calls = true;
        let mut tested = StackEntry::scalar(result, IrType::Ref).with_type(target);
        tested.is_exact = super::kinds::is_exact_class(target);
        self.push(tested);
        Ok(())
    }

    pub(super) fn load_token(&mut self, instruction: &Instruction<'static>) -> LoadResult<()> {
        let token = self.operand_token(instruction)?;
        let (facts, image, context) = (self.facts, self.s.image, self.s.context);
        let is_field_ref = || -> LoadResult<bool> {
            let row = image.meta.member_ref(token.rid())?;
            Ok(saki_metadata::is_field_sig(image.meta.blob(row.signature)?))
        };
        if let Some(named) = image.dynamic_reference(token)? {
            return self.load_dynamic_token(named);
        }
        let (symbol, handle) = match token.table() {
            TableId::TypeDef | TableId::TypeRef | TableId::TypeSpec => {
                let ty = facts.resolve_type(image, token, &context)?;
                ty.require_enum_base()?;
                if ty.generic_definition().is_some() && !ty.is_open {
                    ty.interfaces()?;
                    if ty.has_variant_parameters() {
                        ty.vtable_layout()?;
                    }
                }
                (Symbol::TypeHandle(ty), LibraryType::RuntimeTypeHandle)
            }
            TableId::Field => {
                (Symbol::FieldHandle(facts.resolve_field(image, token, &context)?), LibraryType::RuntimeFieldHandle)
            }
            TableId::MemberRef if is_field_ref()? => {
                (Symbol::FieldHandle(facts.resolve_field(image, token, &context)?), LibraryType::RuntimeFieldHandle)
            }
            _ => {
                (Symbol::MethodHandle(facts.resolve_method(image, token, &context)?), LibraryType::RuntimeMethodHandle)
            }
        };
        self.push_handle(symbol, handle)
    }

    fn load_dynamic_token(&mut self, named: DynamicRef) -> LoadResult<()> {
        match named {
            DynamicRef::Type(ty) => self.push_handle(Symbol::TypeHandle(ty), LibraryType::RuntimeTypeHandle),
            DynamicRef::Method(method) => {
                self.push_handle(Symbol::MethodHandle(method), LibraryType::RuntimeMethodHandle)
            }
            DynamicRef::Field(field) => self.push_handle(Symbol::FieldHandle(field), LibraryType::RuntimeFieldHandle),
            DynamicRef::Text | DynamicRef::Signature(_) => {
                Err(LoadError::invalid_program("ldtoken of neither type, method nor field"))
            }
        }
    }

    fn push_handle(&mut self, symbol: Symbol, handle: LibraryType) -> LoadResult<()> {
        let ty = universe().library_type(handle)?;
        self.push(StackEntry::of_struct(Val::Handle(symbol), ty));
        Ok(())
    }

    /// The System.Type object of a type known at compile time.
    pub(super) fn type_object(&mut self, ty: Ty) -> StackEntry {
        let cell = self.b.symbol(Symbol::TypeObject(ty));
        let value = self.b.load(cell, 0, MemType::Ref, plain(AliasClass::Runtime));
        let mut entry = StackEntry::scalar(value, IrType::Ref).non_null();
        entry.note = Note::TypeObject(ty);
        entry.ty = saki_types::universe().library_type(LibraryType::RuntimeType).ok();
        entry
    }
}
