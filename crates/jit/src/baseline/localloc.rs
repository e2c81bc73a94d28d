//! `localloc`: in the frame where the size is small and the code runs once for each call, else memory outside of it,
//! which returns free. A word of the frame tells whether there is some.

use super::arguments::Argument;
use super::context::{Cold, Emitter};
use super::coverage::goes_back;
use super::plan::Value;
use crate::symbols::RelocTarget;
use saki_abi::HelperId;
use saki_code::masm::{Address, MachineType, MacroAssembler, RegImm, Relation};

/// `localloc`s of a constant size up to this are part of the frame.
const MAX_CONSTANT_BYTES: i64 = 4096;
/// Room in the frame for each other `localloc`, used if it suffices.
const SMALL_BYTES: u32 = 128;
/// Memory up to this size is zeroed in line.
const INLINE_ZERO_BYTES: u32 = 128;

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    pub(super) fn localloc(&mut self, result: Value, bytes: Value, zero: bool) -> Option<()> {
        let in_loop = self.may_run_again();
        if let Some(size_bytes) = self.constant(bytes).filter(|n| (0..=MAX_CONSTANT_BYTES).contains(n))
            && !in_loop
        {
            let place = self.registers.new_aligned_area(size_bytes as u32);
            self.registers.release(bytes);
            if zero {
                self.zero_frame(place, size_bytes as u32);
            }
            let register = self.fresh(false);
            self.masm.load_address(register, Address::new(M::FRAME, place));
            self.define(result, register);
            return Some(());
        }
        let bytes = match self.machine_of(bytes) {
            MachineType::I32 => Argument::Widened(bytes, false),
            _ => Argument::Value(bytes),
        };
        self.prepare_helper(&[bytes, Argument::Frame(0)]);
        self.registers.vacate_all();
        let outside = self.masm.label();
        let done = self.masm.label();
        let address = Self::RESULT_BESIDE_ARGUMENT;
        if in_loop {
            self.masm.jump(outside);
        } else {
            let size = M::ARGUMENTS[0];
            let limit = RegImm::Imm(SMALL_BYTES as i32);
            self.masm.jump_if(Relation::GreaterUnsigned, MachineType::I64, size, limit, outside, None);
            let place = self.registers.new_aligned_area(SMALL_BYTES);
            if zero {
                self.zero_frame(place, SMALL_BYTES);
            }
            self.masm.load_address(address, Address::new(M::FRAME, place));
            self.masm.jump_if(Relation::NotEqual, MachineType::I64, size, RegImm::Imm(0), done, None);
            self.masm.constant(address, 0);
        }
        self.masm.bind(done);
        self.later(Cold::LocalMemory { outside, done });
        self.define(result, address);
        Some(())
    }

    /// Takes memory outside the frame.
    pub(super) fn localloc_outside(&mut self) -> Option<()> {
        self.masm.constant(M::SCRATCH, 1);
        self.store_slot(M::SCRATCH, self.localloc_flag?, MachineType::I64);
        self.call_prepared_helper(HelperId::LocAlloc);
        self.move_register(Self::RESULT_BESIDE_ARGUMENT, M::RESULT);
        Some(())
    }

    /// Before a return: frees the memory outside the frame.
    pub(super) fn free_localloc(&mut self) {
        let Some(flag) = self.localloc_flag else { return };
        self.prepare_helper(&[Argument::Frame(0)]);
        self.registers.vacate_all();
        let next = self.masm.label();
        self.masm.jump_if_word(MachineType::I64, Address::new(M::FRAME, flag), true, next);
        self.call_prepared_helper(HelperId::LocFree);
        self.masm.bind(next);
    }

    /// Zeroes memory of the frame, whose size is rounded up to words.
    pub(super) fn zero_frame(&mut self, place: i32, size_bytes: u32) {
        if size_bytes > INLINE_ZERO_BYTES {
            let bytes = Argument::Constant(i64::from(size_bytes.next_multiple_of(8)));
            self.call_helper(HelperId::MemSet, &[Argument::Frame(place), Argument::Constant(0), bytes], None);
            return;
        }
        for word in 0..size_bytes.div_ceil(8) as i32 {
            self.masm.store_zero(Address::new(M::FRAME, place + word * 8));
        }
    }

    /// Whether the block being emitted may run more than once in a call, as far as the order of blocks shows: in a
    /// cycle through it some edge leads from it or a later block to it or an earlier one.
    fn may_run_again(&self) -> bool {
        let block = self.block_number;
        self.func.blocks.iter().enumerate().skip(block).any(|(number, from)| {
            let enters_handler = |region: &saki_il::ir::RegionId| {
                let clauses = &self.plan.handlers[region.0 as usize];
                clauses.iter().any(|&clause| self.func.clauses[clause as usize].handler.0 as usize <= block)
            };
            goes_back(&from.terminator, number, block) || from.region.as_ref().is_some_and(enters_handler)
        })
    }
}
