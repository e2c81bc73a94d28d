//! Accesses to memory with their null checks, copies of structs, reference stores with their barrier.

use super::arguments::Argument;
use super::context::{Cold, Emitter};
use super::exceptions::Failure;
use super::plan::{Value, barrier_object, is_in_frame, names_object};
use crate::destination::{self, Destination, store_destination};
use crate::null_area::faults_on_null;
use crate::symbols::RelocTarget;
use crate::type_facts::{ValueLayout, value_layout};
use saki_abi::heap::BitTable;
use saki_abi::thread::THREAD_STUB_ARG_OFFSET;
use saki_abi::{HelperId, StubId};
use saki_code::masm::{Address, Extension, IntegerOp, MachineType, MacroAssembler, MemoryAccess, Reg, RegImm, ShiftOp};
use saki_il::ir::{MemFlags, MemType, NullCheck, Op, Symbol, ValueId};
use saki_types::Ty;

const WORD: MemoryAccess = MemoryAccess::Whole(MachineType::I64);
/// Structs up to this size are copied in line where source and destination cannot overlap.
const INLINE_COPY_BYTES: u32 = 64;
/// Structs up to this size are copied in line through registers where they may.
const OVERLAPPING_COPY_BYTES: u32 = 32;
/// Structs up to this size are zeroed in line.
const INLINE_ZERO_BYTES: u32 = 128;

/// Words of memory and then smaller pieces: the offset of each, and how it is read and written.
fn pieces(size_bytes: u32) -> impl Iterator<Item = (i32, MemoryAccess)> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        let (access, bytes) = match size_bytes - offset {
            0 => return None,
            1 => (MemoryAccess::Narrow(Extension::Z8), 1),
            2..=3 => (MemoryAccess::Narrow(Extension::Z16), 2),
            4..=7 => (MemoryAccess::Whole(MachineType::I32), 4),
            _ => (WORD, 8),
        };
        offset += bytes;
        Some(((offset - bytes) as i32, access))
    })
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    /// The null check of an access through `base`, unless the access itself faults and its fault can serve.
    pub(super) fn check_access(&mut self, base: Reg, offset: i32, flags: MemFlags) {
        if flags.null_check == NullCheck::Needed && (self.is_protected() || !faults_on_null(offset)) {
            self.fail_if_zero(MachineType::I64, base, Failure::NullReference);
        }
    }

    /// An explicit null check, if one is needed.
    fn check_address(&mut self, value: Value, flags: MemFlags) {
        if flags.null_check == NullCheck::Needed {
            let register = self.use_register(value);
            self.fail_if_zero(MachineType::I64, register, Failure::NullReference);
            self.registers.unlock_all();
        }
    }

    /// Whether a plain store publishes an object by its reference, as stores to statics do, which need no barrier.
    pub(super) fn publishes(&self, op: &Op) -> bool {
        let Op::Store { addr, value, mem: MemType::Ref, .. } = *op else { return false };
        let func = self.func;
        store_destination(func, None, addr, value, |local| is_in_frame(func, local)) != Destination::Private
    }

    pub(super) fn store_reference(&mut self, op: &Op) -> Option<()> {
        let Op::StoreRef { object, addr, offset, value, flags } = *op else { return None };
        let func = self.func;
        let destination = store_destination(func, object, addr, value, |local| is_in_frame(func, local));
        let (addr, stored) = (self.value(addr), self.value(value));
        if destination == Destination::Unknown {
            self.check_address(addr, flags);
            let args = [Argument::Displaced(addr, offset), Argument::Value(stored)];
            self.call_helper(HelperId::StoreRefUnknown, &args, None);
            return Some(());
        }
        let base = self.use_register(addr);
        self.check_access(base, offset, flags);
        let register = self.use_register(stored);
        let to = Address::new(base, offset);
        // Who finds an object by the reference also finds what was written to it before.
        match destination {
            Destination::Private if !flags.volatile => self.masm.store(WORD, to, register),
            _ => self.masm.store_release(WORD, to, register),
        }
        self.registers.release(addr);
        self.registers.release(stored);
        self.registers.unlock_all();
        match (destination, object) {
            (Destination::Object(object), _) => self.barrier(self.value(object)),
            (_, Some(object)) => self.registers.release(self.value(object)),
            (_, None) => {}
        }
        Some(())
    }

    /// After a reference store: an object whose log bit is set must be remembered. Uses the object for the last time.
    pub(super) fn barrier(&mut self, object: Value) {
        self.claim(M::SHIFT_COUNT);
        let register = self.use_register(object);
        let byte = self.fresh(false);
        let (slow, next) = (self.masm.label(), self.masm.label());
        if self.options.stress_barrier {
            self.masm.jump(slow);
        } else {
            self.bit_of(self.options.heap.unlogged_bits, register, byte);
            self.masm.load(MemoryAccess::Narrow(Extension::Z8), byte, Address::new(byte, 0));
            self.masm.shift_by(ShiftOp::RightUnsigned, MachineType::I32, byte);
            self.masm.integer(IntegerOp::And, MachineType::I32, byte, RegImm::Imm(1), None);
            self.masm.jump_if_nonzero(MachineType::I32, byte, slow);
        }
        self.masm.bind(next);
        self.later(Cold::Barrier { slow, next, object: register });
        self.registers.release(object);
        self.registers.unlock_all();
    }

    pub(super) fn barrier_slow(&mut self, object: Reg) {
        self.masm.store(WORD, Self::thread_word(THREAD_STUB_ARG_OFFSET), object);
        self.masm.call(RelocTarget::Stub(StubId::BarrierSlow));
    }

    /// `byte` = the address of the byte of `table` that has the object's bit, and the shift count = the bit's number.
    pub(super) fn bit_of(&mut self, table: BitTable, object: Reg, byte: Reg) {
        let count = M::SHIFT_COUNT;
        self.move_register(count, object);
        self.masm.shift(ShiftOp::RightUnsigned, MachineType::I64, count, table.granule_shift as u8);
        self.masm.integer(IntegerOp::And, MachineType::I32, count, RegImm::Imm(7), None);
        self.move_register(M::SCRATCH, object);
        self.masm.shift(ShiftOp::RightUnsigned, MachineType::I64, M::SCRATCH, table.byte_shift() as u8);
        self.masm.load(WORD, byte, Self::thread_word(table.base_offset));
        self.masm.integer(IntegerOp::Add, MachineType::I64, byte, RegImm::Reg(M::SCRATCH), None);
    }

    // Structs.

    pub(super) fn copy_struct(&mut self, op: &Op) -> Option<()> {
        let Op::CopyStruct { dst, src, ty, barrier, flags } = *op else { return None };
        let func = self.func;
        let layout = value_layout(ty).ok()?;
        let (to, from) = (self.value(dst), self.value(src));
        self.check_address(from, flags);
        self.check_address(to, flags);
        if flags.volatile {
            self.masm.fence();
        }
        let is_known = is_local_address(self, dst) || is_local_address(self, src);
        let place = destination::of_address(func, dst, |local| is_in_frame(func, local));
        let destination = if barrier { place } else { Destination::Private };
        if !flags.volatile && destination::publishes(place, ty, barrier).ok()? {
            // The references in it publish objects, like those of `store_reference`.
            self.masm.publish();
        }
        if destination == Destination::Unknown {
            let ty = Argument::Symbol(Symbol::TypeHandle(ty));
            self.call_helper(HelperId::CopyStructBarrier, &[Argument::Value(to), Argument::Value(from), ty], None);
        } else {
            self.copy_memory(to, from, layout, is_known);
        }
        if let Some(object) = barrier_object(func, op).filter(|_| !names_object(op)) {
            self.barrier(self.value(object));
        }
        if flags.volatile {
            self.masm.fence();
        }
        Some(())
    }

    /// Copies a struct, and uses both addresses. `is_apart`: they do not overlap.
    fn copy_memory(&mut self, to: Value, from: Value, layout: ValueLayout, is_apart: bool) {
        let size_bytes = layout.size_bytes;
        if size_bytes > if is_apart { INLINE_COPY_BYTES } else { OVERLAPPING_COPY_BYTES } {
            let bytes = Argument::Constant(i64::from(size_bytes));
            self.call_helper(HelperId::MemMove, &[Argument::Value(to), Argument::Value(from), bytes], None);
            return;
        }
        let target = self.use_register(to);
        let source = self.use_register(from);
        if is_apart {
            self.copy_words(Address::new(target, 0), Address::new(source, 0), size_bytes, M::SCRATCH);
        } else {
            let words: Vec<(i32, MemoryAccess, Reg)> =
                pieces(size_bytes).map(|(offset, access)| (offset, access, self.piece_register())).collect();
            for &(offset, access, register) in &words {
                self.masm.load(access, register, Address::new(source, offset));
            }
            for &(offset, access, register) in &words {
                self.masm.store(access, Address::new(target, offset), register);
            }
        }
        self.registers.release(to);
        self.registers.release(from);
        self.registers.unlock_all();
    }

    fn piece_register(&mut self) -> Reg {
        self.fresh(false)
    }

    /// Copies memory that does not overlap, through the register `word`.
    pub(super) fn copy_words(&mut self, to: Address, from: Address, size_bytes: u32, word: Reg) {
        for (offset, access) in pieces(size_bytes) {
            self.masm.load(access, word, Address::new(from.base, from.offset_bytes + offset));
            self.masm.store(access, Address::new(to.base, to.offset_bytes + offset), word);
        }
    }

    /// Copies a struct to a place in the frame. The address stays in use.
    pub(super) fn copy_to_frame(&mut self, place: i32, from: Value, layout: ValueLayout) -> Option<()> {
        if layout.size_bytes > INLINE_COPY_BYTES {
            // The address is passed on, and is used by this call as well.
            self.registers.places[from as usize].uses_left += 1;
            let bytes = Argument::Constant(i64::from(layout.size_bytes));
            self.prepare_helper(&[Argument::Frame(place), Argument::Value(from), bytes]);
            self.call_prepared_helper(HelperId::MemMove);
            self.registers.vacate_all();
        } else {
            let source = self.use_register(from);
            self.copy_words(Address::new(M::FRAME, place), Address::new(source, 0), layout.size_bytes, M::SCRATCH);
        }
        self.registers.release(from);
        self.registers.unlock_all();
        Some(())
    }

    /// Copies a struct to where the caller wants the result, whose address is in a slot.
    pub(super) fn copy_struct_result(&mut self, from: Value, slot: i32, layout: ValueLayout) -> Option<()> {
        if layout.size_bytes > INLINE_COPY_BYTES {
            let bytes = Argument::Constant(i64::from(layout.size_bytes));
            self.call_helper(
                HelperId::MemMove,
                &[Argument::Slot(slot, MachineType::I64), Argument::Value(from), bytes],
                None,
            );
            return Some(());
        }
        let source = self.use_register(from);
        let target = self.fresh(false);
        self.load_slot(target, slot, MachineType::I64);
        self.copy_words(Address::new(target, 0), Address::new(source, 0), layout.size_bytes, M::SCRATCH);
        self.registers.release(from);
        Some(())
    }

    pub(super) fn init_struct(&mut self, address: Value, ty: Ty) -> Option<()> {
        let size_bytes = value_layout(ty).ok()?.size_bytes;
        if size_bytes > INLINE_ZERO_BYTES {
            let bytes = Argument::Constant(i64::from(size_bytes));
            let args = [Argument::Value(address), Argument::Constant(0), bytes];
            self.call_helper(HelperId::MemSet, &args, None);
            return Some(());
        }
        let base = self.use_register(address);
        if size_bytes % 8 != 0 {
            self.masm.constant(M::SCRATCH, 0);
        }
        for (offset, access) in pieces(size_bytes) {
            let to = Address::new(base, offset);
            if access == WORD { self.masm.store_zero(to) } else { self.masm.store(access, to, M::SCRATCH) }
        }
        self.registers.release(address);
        Some(())
    }

    /// cpblk and initblk, whose counts are unsigned.
    pub(super) fn memory_block(&mut self, helper: HelperId, first: ValueId, second: ValueId, bytes: ValueId) {
        let bytes = self.value(bytes);
        let bytes = match self.machine_of(bytes) {
            MachineType::I32 => Argument::Widened(bytes, false),
            _ => Argument::Value(bytes),
        };
        let args = [Argument::Value(self.value(first)), Argument::Value(self.value(second)), bytes];
        self.call_helper(helper, &args, None);
    }
}

/// Whether the address is that of a local in the frame, to which nothing else leads that a copy names.
fn is_local_address<M: MacroAssembler>(emitter: &Emitter<'_, M>, id: ValueId) -> bool {
    match emitter.func.insts[id.0 as usize].op {
        Op::LocalAddr(local) | Op::LocalGet(local) => {
            !emitter.func.locals[local.0 as usize].address_exposed && is_in_frame(emitter.func, local)
        }
        _ => false,
    }
}
