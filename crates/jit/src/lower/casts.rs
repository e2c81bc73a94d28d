//! Type tests and unboxing.
//!
//! A class test compares the vtable (sealed classes) or looks the class up in the display of ancestors. For interfaces and
//! other types that these cannot decide, the vtable caches a few outcomes (`abi::vtable::Casts`). Other outcomes, and every
//! failure that must throw, are left to the runtime.

use super::{Lowered, Lowering, MemoryKind};
use crate::type_facts::{CastKind, cast_kind};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value, types};
use saki_abi::HelperId;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_abi::vtable::{
    VTABLE_CAST_HIT_OFFSETS, VTABLE_CAST_MISS_OFFSET, VTABLE_DEPTH_OFFSET, VTABLE_DISPLAY_OFFSET,
    VTABLE_ELEMENT_TYPE_OFFSET, VTABLE_TYPE_OFFSET,
};
use saki_il::ir::{Symbol, ValueId};
use saki_types::Ty;

impl Lowering<'_, '_> {
    pub(super) fn cast_class(&mut self, id: ValueId, ty: Ty) -> Lowered<Value> {
        let object = self.value_as(id, types::I64)?;
        let kind = cast_kind(ty)?;
        if kind == CastKind::Always {
            return Ok(object);
        }
        let test = self.new_block(false);
        let next = self.new_block(false);
        self.branch(object, test, next);
        self.continue_in(test);
        let slow = self.new_block(true);
        self.class_test(object, kind, ty, next, slow);
        self.continue_in(slow);
        self.call_cast_helper(HelperId::CastClass, object, ty);
        self.jump_clif(next, &[]);
        self.continue_in(next);
        Ok(object)
    }

    pub(super) fn is_instance(&mut self, id: ValueId, ty: Ty) -> Lowered<Value> {
        let object = self.value_as(id, types::I64)?;
        let kind = cast_kind(ty)?;
        if kind == CastKind::Always {
            return Ok(object);
        }
        let test = self.new_block(false);
        let done = self.new_block(false);
        let result = self.b.append_block_param(done, types::I64);
        self.b.ins().brif(object, test, &[], done, &[object.into()]);
        self.continue_in(test);
        let yes = self.new_block(false);
        let no = self.new_block(false);
        let vtable = self.class_test(object, kind, ty, yes, no);
        self.continue_in(yes);
        self.jump_clif(done, &[object]);
        self.continue_in(no);
        let other = match kind {
            CastKind::Runtime => {
                let slow = self.new_block(true);
                let wanted = self.symbol_address(Symbol::TypeHandle(ty));
                let missed = self.remembered(vtable, VTABLE_CAST_MISS_OFFSET, wanted);
                let null = self.i64_const(0);
                self.b.ins().brif(missed, done, &[null.into()], slow, &[]);
                self.continue_in(slow);
                self.call_cast_helper(HelperId::IsInst, object, ty)
            }
            CastKind::ExactOrRuntime(_) | CastKind::Display { or_runtime: true, .. } => {
                self.call_cast_helper(HelperId::IsInst, object, ty)
            }
            _ => self.i64_const(0),
        };
        self.jump_clif(done, &[other]);
        self.continue_in(done);
        Ok(result)
    }

    fn call_cast_helper(&mut self, helper: HelperId, object: Value, ty: Ty) -> Value {
        let ty = self.symbol_address(Symbol::TypeHandle(ty));
        self.call_helper(helper, &[object, ty]).expect("casts have a result")
    }

    /// Whether a word of the vtable's `Casts` holds the type `wanted`.
    fn remembered(&mut self, vtable: Value, offset: i32, wanted: Value) -> Value {
        // Any earlier value of the word is acceptable.
        let flags = self.trusted(MemoryKind::ClassData);
        let word = self.b.ins().load(types::I64, flags, vtable, offset);
        self.b.ins().icmp(IntCC::Equal, word, wanted)
    }

    /// Ends the block with a branch to `yes` if the object (not null) is of the type, else to `no`. Returns the object's vtable.
    fn class_test(&mut self, object: Value, kind: CastKind, ty: Ty, yes: ClifBlock, no: ClifBlock) -> Value {
        let flags = self.trusted(MemoryKind::VTableWord);
        let vtable = self.b.ins().load(types::I64, flags, object, saki_abi::object::OBJECT_VTABLE_OFFSET);
        match kind {
            CastKind::Exact(exact) | CastKind::ExactOrRuntime(exact) => {
                let wanted = self.symbol_address(Symbol::VTable(exact));
                let same = self.b.ins().icmp(IntCC::Equal, vtable, wanted);
                self.branch(same, yes, no);
            }
            CastKind::Display { index, .. } => {
                let flags = self.trusted(MemoryKind::ClassData);
                let depth = self.b.ins().load(types::I32, flags, vtable, VTABLE_DEPTH_OFFSET);
                let deep_enough = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, depth, i64::from(index));
                let look = self.new_block(false);
                self.branch(deep_enough, look, no);
                self.continue_in(look);
                let display = self.b.ins().load(types::I64, flags, vtable, VTABLE_DISPLAY_OFFSET);
                let ancestor = self.b.ins().load(types::I64, flags, display, (index * 8) as i32);
                let wanted = self.symbol_address(Symbol::TypeHandle(ty));
                let same = self.b.ins().icmp(IntCC::Equal, ancestor, wanted);
                self.branch(same, yes, no);
            }
            CastKind::Runtime => {
                let [first, second] = VTABLE_CAST_HIT_OFFSETS;
                let other = self.new_block(false);
                let wanted = self.symbol_address(Symbol::TypeHandle(ty));
                let same = self.remembered(vtable, first, wanted);
                self.branch(same, yes, other);
                self.continue_in(other);
                let same = self.remembered(vtable, second, wanted);
                self.branch(same, yes, no);
            }
            CastKind::Always => self.jump_clif(yes, &[]),
        }
        vtable
    }

    pub(super) fn unbox(&mut self, id: ValueId, ty: Ty) -> Lowered<Value> {
        let object = self.value_as(id, types::I64)?;
        let vtable = self.vtable_of(Some(id), object);
        let wanted = self.symbol_address(Symbol::VTable(ty));
        let same = self.b.ins().icmp(IntCC::Equal, vtable, wanted);
        let slow = self.new_block(true);
        let next = self.new_block(false);
        let result = self.b.append_block_param(next, types::I64);
        let inside = self.b.ins().iadd_imm_u(object, i64::from(OBJECT_HEADER_BYTES));
        self.b.ins().brif(same, next, &[inside.into()], slow, &[]);
        self.continue_in(slow);
        let address = self.call_cast_helper(HelperId::Unbox, object, ty);
        self.jump_clif(next, &[address]);
        self.continue_in(next);
        Ok(result)
    }

    /// The array store check. In line pass null, a value of exactly the element type, any value in an `object[]`, and values whose
    /// vtable remembers the element type.
    pub(super) fn check_array_store(&mut self, array: ValueId, value: ValueId) -> Lowered {
        if self.constant(value) == Some(0) {
            return Ok(());
        }
        let (array, value) = (self.value_as(array, types::I64)?, self.value_as(value, types::I64)?);
        let next = self.new_block(false);
        let test = self.new_block(false);
        self.branch(value, test, next);
        self.continue_in(test);
        let array_vtable = self.vtable_of(None, array);
        let flags = self.trusted(MemoryKind::ClassData);
        let wanted = self.b.ins().load(types::I64, flags, array_vtable, VTABLE_ELEMENT_TYPE_OFFSET);
        let word = self.trusted(MemoryKind::VTableWord);
        let vtable = self.b.ins().load(types::I64, word, value, saki_abi::object::OBJECT_VTABLE_OFFSET);
        let ty = self.b.ins().load(types::I64, flags, vtable, VTABLE_TYPE_OFFSET);
        let same = self.b.ins().icmp(IntCC::Equal, wanted, ty);
        let other = self.new_block(false);
        self.branch(same, next, other);
        self.continue_in(other);
        let object = self.symbol_address(Symbol::TypeHandle(saki_types::universe().object()));
        let any = self.b.ins().icmp(IntCC::Equal, wanted, object);
        let known = self.new_block(false);
        self.branch(any, next, known);
        self.continue_in(known);
        let same = self.remembered(vtable, VTABLE_CAST_HIT_OFFSETS[0], wanted);
        let slow = self.new_block(true);
        self.branch(same, next, slow);
        self.continue_in(slow);
        self.call_helper(HelperId::CheckArrayStore, &[array, value]);
        self.jump_clif(next, &[]);
        self.continue_in(next);
        Ok(())
    }
}
