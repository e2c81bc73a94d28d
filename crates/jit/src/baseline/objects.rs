//! Allocation, type tests, class initialisation, thread statics.
//!
//! Small objects are allocated in line, as `abi::heap` says. Type tests behave like calls: values needed later are in
//! memory around them, since the runtime decides what the test in line cannot.

use super::arguments::Argument;
use super::context::{Cold, Emitter};
use super::exceptions::Failure;
use super::plan::Value;
use crate::symbols::RelocTarget;
use crate::type_facts::{CastKind, cast_kind};
use saki_abi::object::{OBJECT_HEADER_BYTES, OBJECT_VTABLE_OFFSET};
use saki_abi::thread::{THREAD_STUB_ARG_OFFSET, THREAD_STUB_RESULT_OFFSET};
use saki_abi::vtable::{
    VTABLE_CAST_HIT_OFFSETS, VTABLE_CAST_MISS_OFFSETS, VTABLE_DEPTH_OFFSET, VTABLE_DISPLAY_OFFSET,
    VTABLE_ELEMENT_TYPE_OFFSET, VTABLE_TYPE_OFFSET,
};
use saki_abi::{HelperId, StubId};
use saki_code::masm::{
    Address, Extension, IntegerOp, Label, MachineType, MacroAssembler, MemoryAccess, Reg, RegImm, Relation, ShiftOp,
};
use saki_il::ir::{Symbol, ValueId};
use saki_types::{Field, Ty};

const WORD: MemoryAccess = MemoryAccess::Whole(MachineType::I64);

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    pub(super) fn new_object(&mut self, result: Value, ty: Ty) -> Option<()> {
        let size_bytes = i32::try_from(ty.instance_size_bytes().ok()?.next_multiple_of(8)).ok()?;
        let heap = &self.options.heap;
        if size_bytes as u32 > heap.max_inline_bytes || ty.finalizer().ok()?.is_some() {
            let vtable = Argument::Symbol(Symbol::VTable(ty));
            self.call_helper(HelperId::NewObject, &[vtable], Some((result, MachineType::I64)));
            return Some(());
        }
        self.claim(M::SHIFT_COUNT);
        let (object, end, vtable) = (self.fresh(false), self.fresh(false), self.fresh(false));
        self.symbol_address(Symbol::VTable(ty), vtable);
        let (slow, next) = (self.masm.label(), self.masm.label());
        if self.options.stress_allocation {
            self.masm.jump(slow);
        } else {
            let (cursor, limit) = (heap.alloc_cursor_offset, heap.alloc_limit_offset);
            self.masm.load(WORD, object, Self::thread_word(cursor));
            self.masm.load_address(end, Address::new(object, size_bytes));
            self.masm.load(WORD, M::SCRATCH, Self::thread_word(limit));
            let full = Relation::GreaterUnsigned;
            self.masm.jump_if(full, MachineType::I64, end, RegImm::Reg(M::SCRATCH), slow, None);
            self.masm.store(WORD, Self::thread_word(cursor), end);
            self.masm.store(WORD, Address::new(object, OBJECT_VTABLE_OFFSET), vtable);
            self.bit_of(heap.valid_object_bits, object, end);
            self.masm.constant(vtable, 1);
            self.masm.shift_by(ShiftOp::Left, MachineType::I32, vtable);
            let byte = MemoryAccess::Narrow(Extension::Z8);
            self.masm.load(byte, M::SCRATCH, Address::new(end, 0));
            self.masm.integer(IntegerOp::Or, MachineType::I32, vtable, RegImm::Reg(M::SCRATCH), None);
            self.masm.store(byte, Address::new(end, 0), vtable);
        }
        self.masm.bind(next);
        self.later(Cold::Allocation { slow, next, vtable, object });
        self.define(result, object);
        Some(())
    }

    /// Allocates by the stub, which keeps all other registers.
    pub(super) fn allocate_slow(&mut self, vtable: Reg, object: Reg, next: Label) {
        self.masm.store(WORD, Self::thread_word(THREAD_STUB_ARG_OFFSET), vtable);
        self.masm.call(RelocTarget::Stub(StubId::AllocSlow));
        self.masm.load(WORD, object, Self::thread_word(THREAD_STUB_RESULT_OFFSET));
        self.throw_if_pending(next);
    }

    pub(super) fn new_array(&mut self, result: Value, ty: Ty, length: ValueId) {
        let length = self.value(length);
        let length = match self.machine_of(length) {
            MachineType::I32 => Argument::Widened(length, true),
            _ => Argument::Value(length),
        };
        let vtable = Argument::Symbol(Symbol::VTable(ty));
        self.call_helper(HelperId::NewSzArray, &[vtable, length], Some((result, MachineType::I64)));
    }

    pub(super) fn thread_static_address(&mut self, result: Value, field: &'static Field) {
        let field = Argument::Symbol(Symbol::FieldHandle(field));
        self.call_helper(HelperId::ThreadStaticAddress, &[field], Some((result, MachineType::I64)));
    }

    pub(super) fn class_init(&mut self, ty: Ty) {
        let flag = M::SCRATCH;
        self.symbol_address(Symbol::ClassInitFlag(ty), flag);
        // What the initializer wrote before it set the flag is seen behind it.
        self.masm.load_acquire(MemoryAccess::Narrow(Extension::Z8), flag, Address::new(flag, 0));
        let (slow, next) = (self.masm.label(), self.masm.label());
        self.masm.jump_if(Relation::Equal, MachineType::I32, flag, RegImm::Imm(0), slow, None);
        self.masm.bind(next);
        self.later(Cold::ClassInit(slow, next, ty));
    }

    /// See `lower::calls::class_init_seen`.
    pub(super) fn class_init_seen(&mut self, ty: Ty) {
        if M::LOADS_IN_ORDER {
            return;
        }
        let flag = M::SCRATCH;
        self.symbol_address(Symbol::ClassInitFlag(ty), flag);
        self.masm.load_acquire(MemoryAccess::Narrow(Extension::Z8), flag, Address::new(flag, 0));
        let next = self.masm.label();
        self.masm.jump_if_nonzero(MachineType::I32, flag, next);
        self.masm.fence();
        self.masm.bind(next);
    }

    pub(super) fn class_init_slow(&mut self, ty: Ty, next: Label) {
        self.symbol_address(Symbol::TypeHandle(ty), M::SCRATCH);
        self.masm.store(WORD, Self::thread_word(THREAD_STUB_ARG_OFFSET), M::SCRATCH);
        self.masm.call(RelocTarget::Stub(StubId::ClassInit));
        self.throw_if_pending(next);
    }

    // Type tests. The object is in the first argument register, and in the result register as well, if that is another
    // one.

    /// castclass if `throws`, else isinst.
    pub(super) fn cast(&mut self, result: Value, object: Value, ty: Ty, throws: bool) -> Option<()> {
        let kind = cast_kind(ty).ok()?;
        if kind == CastKind::Always {
            let register = self.consume(object);
            self.define(result, register);
            return Some(());
        }
        let subject = M::ARGUMENTS[0];
        self.prepare_helper(&[Argument::Value(object)]);
        self.registers.vacate_all();
        let (done, no) = (self.masm.label(), self.masm.label());
        self.move_register(M::RESULT, subject);
        self.masm.jump_if(Relation::Equal, MachineType::I64, subject, RegImm::Imm(0), done, None);
        let vtable = M::CALLEE;
        self.masm.load(WORD, vtable, Address::new(subject, OBJECT_VTABLE_OFFSET));
        self.class_test(kind, ty, vtable, done, no);
        self.masm.bind(no);
        let may_ask = match kind {
            CastKind::Exact(_) | CastKind::Display { or_runtime: false, .. } => throws,
            _ => true,
        };
        if may_ask {
            self.symbol_address(Symbol::TypeHandle(ty), M::ARGUMENTS[1]);
            if !throws && kind == CastKind::Runtime {
                // What tests of this vtable that failed were for.
                let [ask, failed] = [(); 2].map(|()| self.masm.label());
                let wanted = RegImm::Reg(M::ARGUMENTS[1]);
                let [others @ .., last] = VTABLE_CAST_MISS_OFFSETS;
                for offset in others {
                    self.masm.load(WORD, M::SCRATCH, Address::new(vtable, offset));
                    self.masm.jump_if(Relation::Equal, MachineType::I64, M::SCRATCH, wanted, failed, None);
                }
                self.masm.load(WORD, M::SCRATCH, Address::new(vtable, last));
                self.masm.jump_if(Relation::NotEqual, MachineType::I64, M::SCRATCH, wanted, ask, None);
                self.masm.bind(failed);
                self.masm.constant(M::RESULT, 0);
                self.masm.jump(done);
                self.masm.bind(ask);
            }
            self.call_prepared_helper(if throws { HelperId::CastClass } else { HelperId::IsInst });
        } else {
            self.masm.constant(M::RESULT, 0);
        }
        self.masm.bind(done);
        self.define(result, M::RESULT);
        Some(())
    }

    /// Jumps to `yes` if the vtable is that of an object of the type; else to `no`, or goes on.
    fn class_test(&mut self, kind: CastKind, ty: Ty, vtable: Reg, yes: Label, no: Label) {
        let (wanted, word) = (M::ARGUMENTS[1], M::SCRATCH);
        let same = |this: &mut Self, left: Reg| {
            this.masm.jump_if(Relation::Equal, MachineType::I64, left, RegImm::Reg(wanted), yes, None);
        };
        match kind {
            CastKind::Exact(exact) | CastKind::ExactOrRuntime(exact) => {
                self.symbol_address(Symbol::VTable(exact), wanted);
                same(self, vtable);
            }
            CastKind::Display { index, .. } => {
                self.masm.load(MemoryAccess::Whole(MachineType::I32), word, Address::new(vtable, VTABLE_DEPTH_OFFSET));
                let depth = RegImm::Imm(index as i32);
                self.masm.jump_if(Relation::LessOrEqualUnsigned, MachineType::I32, word, depth, no, None);
                self.symbol_address(Symbol::TypeHandle(ty), wanted);
                self.masm.load(WORD, word, Address::new(vtable, VTABLE_DISPLAY_OFFSET));
                self.masm.load(WORD, word, Address::new(word, (index * 8) as i32));
                same(self, word);
            }
            CastKind::Runtime => {
                self.symbol_address(Symbol::TypeHandle(ty), wanted);
                for offset in VTABLE_CAST_HIT_OFFSETS {
                    self.masm.load(WORD, word, Address::new(vtable, offset));
                    same(self, word);
                }
            }
            CastKind::Always => self.masm.jump(yes),
        }
    }

    pub(super) fn unbox(&mut self, result: Value, object: Value, ty: Ty) {
        let (subject, wanted, vtable) = (M::ARGUMENTS[0], M::ARGUMENTS[1], M::CALLEE);
        self.prepare_helper(&[Argument::Value(object)]);
        self.registers.vacate_all();
        if self.is_protected() {
            self.fail_if_zero(MachineType::I64, subject, Failure::NullReference);
        }
        self.masm.load(WORD, vtable, Address::new(subject, OBJECT_VTABLE_OFFSET));
        self.symbol_address(Symbol::VTable(ty), wanted);
        let done = self.masm.label();
        let address = Self::RESULT_BESIDE_ARGUMENT;
        self.masm.load_address(address, Address::new(subject, OBJECT_HEADER_BYTES as i32));
        self.masm.jump_if(Relation::Equal, MachineType::I64, vtable, RegImm::Reg(wanted), done, None);
        self.symbol_address(Symbol::TypeHandle(ty), wanted);
        self.call_prepared_helper(HelperId::Unbox);
        self.move_register(address, M::RESULT);
        self.masm.bind(done);
        self.define(result, address);
    }

    /// The array store check. In line pass null, and a value of exactly the element type.
    pub(super) fn check_array_store(&mut self, array: Value, value: Value) {
        if self.constant(value) == Some(0) {
            self.registers.release(array);
            self.registers.release(value);
            return;
        }
        self.prepare_helper(&[Argument::Value(array), Argument::Value(value)]);
        self.registers.vacate_all();
        let [array, value] = [M::ARGUMENTS[0], M::ARGUMENTS[1]];
        let (wanted, word) = (M::CALLEE, M::SCRATCH);
        let done = self.masm.label();
        self.masm.jump_if(Relation::Equal, MachineType::I64, value, RegImm::Imm(0), done, None);
        if self.is_protected() {
            self.fail_if_zero(MachineType::I64, array, Failure::NullReference);
        }
        self.masm.load(WORD, wanted, Address::new(array, OBJECT_VTABLE_OFFSET));
        self.masm.load(WORD, wanted, Address::new(wanted, VTABLE_ELEMENT_TYPE_OFFSET));
        self.masm.load(WORD, word, Address::new(value, OBJECT_VTABLE_OFFSET));
        self.masm.load(WORD, word, Address::new(word, VTABLE_TYPE_OFFSET));
        self.masm.jump_if(Relation::Equal, MachineType::I64, word, RegImm::Reg(wanted), done, None);
        self.call_prepared_helper(HelperId::CheckArrayStore);
        self.masm.bind(done);
    }
}
