//! castclass, isinst, ldtoken. ECMA-335 §III.4.3, §III.4.6, §III.4.17.
//!
//! Tests for interfaces, arrays and types with variance note the class of the object in the first tier. The second tier
//! compares with the classes, one or two, that it nearly always was, whose outcome is known, before it asks.

use super::builder::plain;
use super::emitter::Emitter;
use super::kinds::is_exact_class;
use super::operand_kinds::require_reference;
use super::stack::{Note, StackEntry, Val};
use crate::ir::{AliasClass, BlockId, CmpOp, IrType, LocalId, MemType, Op, Symbol, Terminator, ValueId};
use saki_abi::object::OBJECT_VTABLE_OFFSET;
use saki_metadata::TableId;
use saki_metadata::opcodes::Instruction;
use saki_types::dynamic::DynamicRef;
use saki_types::{Assumption, LibraryType, LoadError, LoadResult, Ty, universe};

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
        self.has_calls = true;
        self.note_class(value, target);
        let mut guesses = self.guess_classes(&entry, target)?;
        // A cast that nearly always fails is not worth a comparison.
        guesses.retain(|(_, is_instance)| *is_instance);
        let result = if guesses.is_empty() {
            self.b.inst(Op::CastClass(value, target), IrType::Ref)
        } else {
            let next = self.compare_classes(value, &guesses, None);
            self.b.inst(Op::CastClass(value, target), IrType::Ref);
            self.b.terminate(Terminator::Jump(next));
            self.b.current = Some(next);
            self.known.forget_block();
            value
        };
        let mut cast = StackEntry::scalar(result, IrType::Ref).with_type(ty);
        cast.is_exact = is_exact_class(ty);
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
        self.has_calls = true;
        self.note_class(value, target);
        let guesses = self.guess_classes(&entry, target)?;
        let result = if guesses.is_empty() {
            self.b.inst(Op::IsInst(value, target), IrType::Ref)
        } else {
            let result = self.b.temp(IrType::Ref);
            let next = self.compare_classes(value, &guesses, Some(result));
            let tested = self.b.inst(Op::IsInst(value, target), IrType::Ref);
            self.b.set(result, tested);
            self.b.terminate(Terminator::Jump(next));
            self.b.current = Some(next);
            self.known.forget_block();
            self.b.get(result)
        };
        let mut tested = StackEntry::scalar(result, IrType::Ref).with_type(target);
        tested.is_exact = is_exact_class(target);
        self.push(tested);
        Ok(())
    }

    /// Whether a test for the type is dear: the display of ancestors decides about other classes.
    fn is_worth_noting(target: Ty) -> bool {
        target.is_interface() || target.is_array() || target.has_variant_arguments()
    }

    /// In the first tier, notes the class of an object that is tested.
    fn note_class(&mut self, object: ValueId, target: Ty) {
        if self.options.count && Self::is_worth_noting(target) {
            let cell = self.b.symbol(Symbol::Noted(self.s.method, self.s.offset));
            self.b.effect(Op::NoteClass { cell, object });
        }
    }

    /// The classes that the object nearly always has, and whether they are the wanted one.
    fn guess_classes(&self, entry: &StackEntry, target: Ty) -> LoadResult<Vec<(Ty, bool)>> {
        let mut guesses = Vec::new();
        if !self.may_guess() || self.b.is_cold || !Self::is_worth_noting(target) {
            return Ok(guesses);
        }
        for ty in self.facts.0.usual_classes(self.s.method, self.s.offset).into_iter().flatten() {
            let exact = StackEntry { ty: Some(ty), is_exact: true, ..*entry };
            // A proxy is of the class of the object that it stands for.
            if !ty.is(LibraryType::TransparentProxy)
                && let Some(is_instance) = self.known_instance(&exact, target)?
            {
                guesses.push((ty, is_instance));
            }
        }
        Ok(guesses)
    }

    /// Compares an object's class with guesses; the current block is then the one for other classes, and the one behind
    /// is returned. `result`: set to the object, or to null if it is not of the wanted class; None: the object itself
    /// goes on, and all guesses are of the wanted class.
    fn compare_classes(&mut self, object: ValueId, guesses: &[(Ty, bool)], result: Option<LocalId>) -> BlockId {
        let target_of = |is_instance: bool| if is_instance { "it is" } else { "it is not" };
        self.decide(|| {
            let guesses = guesses.iter().map(|(ty, is)| format!("a {}, which {}", ty.full_name(), target_of(*is)));
            format!("class guessed: nearly always {}", guesses.collect::<Vec<_>>().join(" or "))
        });
        let region = self.b.region();
        let [test, next] = [(); 2].map(|()| self.b.block(region));
        if let Some(result) = result {
            let null = self.b.inst(Op::Null, IrType::Ref);
            self.b.set(result, null);
        }
        self.b.terminate(Terminator::Brif { cond: object, then: test, otherwise: next });
        self.b.current = Some(test);
        let vtable = self.b.load(object, OBJECT_VTABLE_OFFSET, MemType::I64, plain(AliasClass::VTable));
        for &(ty, is_instance) in guesses {
            self.b.f.guards += 1;
            self.facts.0.assume(Assumption::Type(ty));
            let wanted = self.b.symbol(Symbol::VTable(ty));
            let is_same = self.b.inst(Op::Cmp(CmpOp::Eq, vtable, wanted), IrType::I32);
            let other = self.b.block(region);
            match result.filter(|_| is_instance) {
                Some(result) => {
                    let hit = self.b.block(region);
                    self.b.terminate(Terminator::Brif { cond: is_same, then: hit, otherwise: other });
                    self.b.current = Some(hit);
                    self.b.set(result, object);
                    self.b.terminate(Terminator::Jump(next));
                }
                None => self.b.terminate(Terminator::Brif { cond: is_same, then: next, otherwise: other }),
            }
            self.b.current = Some(other);
        }
        self.b.mark_cold();
        next
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
