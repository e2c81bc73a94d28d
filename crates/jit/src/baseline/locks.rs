//! `Monitor.Enter` and `Exit`: in line the two transitions of a thin lock that one thread at a time takes once
//! (`lower::monitors` has more of them); the runtime does the rest. All of them behave as calls.

use super::arguments::Argument;
use super::context::{Cold, Emitter};
use super::plan::Value;
use crate::symbols::RelocTarget;
use saki_abi::HelperId;
use saki_abi::object::OBJECT_SYNC_OFFSET;
use saki_abi::sync_word::OWNER_SHIFT;
use saki_abi::thread::THREAD_MANAGED_ID_OFFSET;
use saki_code::masm::{Address, MachineType, MacroAssembler, MemoryAccess, Reg, RegImm, Relation, ShiftOp};

const HALF: MemoryAccess = MemoryAccess::Whole(MachineType::I32);

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    pub(super) fn monitor_enter(&mut self, object: Value) {
        self.prepare_helper(&[Argument::Value(object)]);
        self.registers.vacate_all();
        let (slow, next) = (self.masm.label(), self.masm.label());
        let owned = self.owned_word(slow);
        self.masm.constant(M::EXPECTED, 0);
        self.exchange_lock(owned, slow);
        self.masm.bind(next);
        self.later(Cold::Helper { slow, next, helper: HelperId::MonitorEnter });
    }

    pub(super) fn monitor_try_enter(&mut self, result: Value, object: Value, milliseconds: Value) {
        self.prepare_helper(&[Argument::Value(object), Argument::Value(milliseconds)]);
        self.registers.vacate_all();
        let (slow, next) = (self.masm.label(), self.masm.label());
        let owned = self.owned_word(slow);
        self.masm.constant(M::EXPECTED, 0);
        self.exchange_lock(owned, slow);
        self.masm.constant(M::RESULT, 1);
        self.masm.bind(next);
        self.later(Cold::Helper { slow, next, helper: HelperId::MonitorTryEnter });
        self.define(result, M::RESULT);
    }

    pub(super) fn monitor_exit(&mut self, object: Value) {
        self.prepare_helper(&[Argument::Value(object)]);
        self.registers.vacate_all();
        let (slow, next) = (self.masm.label(), self.masm.label());
        let owned = self.owned_word(slow);
        self.move_register(M::EXPECTED, owned);
        self.masm.constant(owned, 0);
        self.exchange_lock(owned, slow);
        self.masm.bind(next);
        self.later(Cold::Helper { slow, next, helper: HelperId::MonitorExit });
    }

    /// The lower half of the sync word of a lock that this thread has entered once; jumps to `slow` if the object, the
    /// first argument, is null.
    fn owned_word(&mut self, slow: saki_code::masm::Label) -> Reg {
        let owned = M::CALLEE;
        self.masm.jump_if(Relation::Equal, MachineType::I64, M::ARGUMENTS[0], RegImm::Imm(0), slow, None);
        self.masm.load(HALF, owned, Self::thread_word(THREAD_MANAGED_ID_OFFSET));
        self.masm.shift(ShiftOp::Left, MachineType::I32, owned, OWNER_SHIFT as u8);
        owned
    }

    /// The lower half of the sync word becomes `new` if it is as expected; an inflated word never is.
    fn exchange_lock(&mut self, new: Reg, slow: saki_code::masm::Label) {
        let place = Address::new(M::ARGUMENTS[0], OBJECT_SYNC_OFFSET);
        self.masm.compare_exchange(HALF, place, new, Some(slow));
        if self.options.fence_after_atomics {
            self.masm.fence();
        }
    }
}
