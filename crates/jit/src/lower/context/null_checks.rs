//! Null checks.
//!
//! Outside try regions, an access with a small offset needs no test, since a null base faults at an address below
//! 64 KiB, which the signal handler turns into NullReferenceException. All other accesses test explicitly.

use super::super::clif_builder::MemoryKind;
use super::super::failure::Failure;
use super::Lowering;
use crate::null_area::faults_on_null;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use saki_il::ir::{AliasClass, MemFlags, NullCheck, ValueId};

fn memory_kind(alias: AliasClass) -> MemoryKind {
    match alias {
        AliasClass::Length => MemoryKind::Length,
        AliasClass::VTable => MemoryKind::VTableWord,
        // Words that the runtime's Rust code changes unseen by the code generator are reloaded after every call anyway.
        AliasClass::Any | AliasClass::Field | AliasClass::Element | AliasClass::Static | AliasClass::Runtime => {
            MemoryKind::Program
        }
    }
}

impl Lowering<'_, '_> {
    /// Does the null check that an access through `id` at `offset` needs; returns the flags for the access itself.
    pub(crate) fn access_flags(&mut self, id: ValueId, address: Value, offset: i32, flags: MemFlags) -> MemFlagsData {
        let kind = memory_kind(flags.alias);
        let mut result = self.trusted(kind);
        if flags.unaligned {
            result = MemFlagsData::new().with_notrap().with_alias_region(result.alias_region());
        }
        if flags.volatile {
            // Without a region a store orders against every other access.
            result = result.with_alias_region(None);
        }
        let deferred = self.facts.take_deferred_null_check(id);
        if (flags.null_check == NullCheck::Needed || deferred) && !self.facts.is_not_null(address) {
            if self.is_protected() || !faults_on_null(offset) {
                self.check_non_zero(address, Failure::NullReference);
            } else {
                result = result.with_trap_code(Some(Failure::NullReference.trap_code()));
            }
            self.facts.note_not_null(address);
        }
        result
    }

    /// An explicit null check, where the following code cannot do it.
    pub(crate) fn explicit_null_check(&mut self, id: ValueId, address: Value, flags: MemFlags) {
        let deferred = self.facts.take_deferred_null_check(id);
        if (flags.null_check == NullCheck::Needed || deferred) && !self.facts.is_not_null(address) {
            self.check_non_zero(address, Failure::NullReference);
            self.facts.note_not_null(address);
        }
    }

    /// Vtable of a receiver; throws when it is null.
    pub(crate) fn vtable_of(&mut self, id: Option<ValueId>, object: Value) -> Value {
        let deferred = id.is_some_and(|id| self.facts.take_deferred_null_check(id));
        let mut flags = self.trusted(MemoryKind::VTableWord);
        if deferred || !self.facts.is_not_null(object) {
            if self.is_protected() {
                self.check_non_zero(object, Failure::NullReference);
            } else {
                flags = self.faulting(MemoryKind::VTableWord);
            }
            self.facts.note_not_null(object);
        }
        self.b.ins().load(types::I64, flags, object, saki_abi::object::OBJECT_VTABLE_OFFSET)
    }
}
