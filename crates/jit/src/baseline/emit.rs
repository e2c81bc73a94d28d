//! The second pass: blocks in order, values into registers, prologue and tables at the end.

use super::branches::Branches;
use super::context::{Cold, ColdCode, Emitter};
use super::counters;
use super::landings::Landings;
use super::parent_frame::ParentFrame;
use super::places::{Passed, Place};
use super::plan::Plan;
use super::registers::Registers;
use super::types::{is_by_address, machine_type, slot_bytes};
use crate::options::CompilerOptions;
use crate::output::{CompiledBy, CompiledCode};
use crate::symbols::RelocTarget;
use crate::type_facts::value_layout;
use saki_abi::SpillArea;
use saki_abi::stubs::trap;
use saki_code::masm::{Address, CodeOptions, FinishedCode, MachineType, MacroAssembler, MemoryAccess, Reg};
use saki_il::ir::{Function, IrType, Local, LocalId, LocalKind, Symbol};

const ALIGNMENT_BYTES: u32 = 32;
/// Offsets from the frame pointer have 32 bits.
const MAX_FRAME_BYTES: u32 = 1 << 30;
/// The code of larger functions may need branches that reach more than 1 MiB: it has some 20 bytes for an instruction,
/// and a few hundred for an operation on vectors lane by lane.
const MAX_NEAR_INSTRUCTIONS: usize = 4096;
/// Locals up to this size are zeroed in line.
const INLINE_CLEAR_BYTES: u32 = 256;

pub(super) fn emit<M: MacroAssembler<Target = RelocTarget>>(
    plan: &Plan,
    registers: &mut Registers,
    masm: &mut M,
    func: &Function,
    options: &CompilerOptions,
    parent: Option<&ParentFrame>,
) -> Option<CompiledCode> {
    registers.reset(M::ALLOCATABLE, &plan.uses, &plan.crosses);
    masm.begin(CodeOptions {
        is_large: func.insts.len() > MAX_NEAR_INSTRUCTIONS,
        has_single_atomics: options.host_features && crate::isa::atomics_are_fences(),
    });
    let blocks = func.blocks.iter().map(|_| masm.label()).collect();
    let mut code = CompiledCode {
        name: func.name.clone(),
        alignment_bytes: ALIGNMENT_BYTES,
        compiled_by: CompiledBy::Baseline,
        ..CompiledCode::default()
    };
    code.tables.inline_sites = func.inline_sites.as_slice().into();
    let mut emitter = Emitter {
        func,
        plan,
        registers,
        masm: Branches::new(masm),
        options,
        code,
        il_map: Vec::new(),
        traps: Vec::new(),
        cold: Vec::new(),
        blocks,
        il_offset: u32::MAX,
        block_number: 0,
        region: None,
        landings: Landings::new(func.clauses.len()),
        struct_result: None,
        incoming_bytes: 0,
        has_frame_map: counters::has_frame_map(func, plan),
        continued: Vec::new(),
        parent,
        parent_slot: None,
        localloc_flag: None,
        moves: Vec::new(),
        vector_place: None,
    };
    emitter.entry()?;
    if plan.enters_again {
        emitter.end_entry();
    }
    for number in 0..func.blocks.len() {
        emitter.block(number)?;
    }
    emitter.cold_code()?;
    emitter.landing_pads();
    emitter.finish()
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    /// Defines the parameters, and stores those that must be in memory.
    fn entry(&mut self) -> Option<()> {
        let func = self.func;
        let is_member = !func.is_filter && func.method.is_some_and(|method| !method.is_static());
        let passed = Passed::new::<M>(&func.sig, func.sig.has_this || is_member)?;
        self.incoming_bytes = passed.stack_bytes;
        if let Some(place) = passed.struct_result {
            let register = match place {
                Place::Register(register) => register,
                Place::Stack(offset) => {
                    self.load_incoming(M::SCRATCH, offset, MachineType::I64);
                    M::SCRATCH
                }
            };
            let slot = self.registers.new_slot();
            self.store_slot(register, slot, MachineType::I64);
            self.struct_result = Some(slot);
        }
        // Those that arrive in registers first, since the others need registers of their own.
        for from_stack in [false, true] {
            for (number, local) in func.locals.iter().enumerate() {
                let LocalKind::Param(index) = local.kind else { continue };
                let vector = local.ty.vector();
                let machine = if vector.is_some() { MachineType::V128 } else { machine_type(local.ty)? };
                let register = match passed.params[index as usize] {
                    Place::Register(register) if !from_stack => register,
                    Place::Stack(offset) if from_stack => {
                        let register = self.fresh(machine.is_float());
                        self.load_incoming(register, offset, machine);
                        register
                    }
                    _ => continue,
                };
                if let Some(mem) = vector {
                    let place = self.registers.local_area(number, mem.bytes());
                    self.store_vector(Address::new(M::FRAME, place), register, mem);
                    self.registers.unlock_all();
                    continue;
                }
                if self.plan.in_memory[number] || is_by_address(local.ty) {
                    let slot = self.registers.local_area(number, slot_bytes(machine));
                    self.store_slot(register, slot, machine);
                }
                self.define(Plan::entry_value(func, LocalId(number as u32)), register);
                self.registers.unlock_all();
            }
        }
        if func.is_filter {
            let slot = self.registers.new_slot();
            self.store_slot(M::ARGUMENTS[0], slot, MachineType::I64);
            self.parent_slot = Some(slot);
        }
        self.receive_tail_arguments()?;
        self.prepare_landings();
        if self.plan.has_localloc {
            let flag = self.registers.new_slot();
            self.masm.store_zero(Address::new(M::FRAME, flag));
            self.localloc_flag = Some(flag);
        }
        for (number, local) in func.locals.iter().enumerate() {
            if matches!(local.kind, LocalKind::Normal | LocalKind::Argument) {
                self.clear_local(number, local)?;
            }
        }
        Some(())
    }

    /// Values that are needed later are in memory, since the first block may be entered from others.
    fn end_entry(&mut self) {
        self.spill_all();
        self.registers.vacate_all();
    }

    fn load_incoming(&mut self, register: Reg, offset: i32, ty: MachineType) {
        let lowered = self.plan.lowered_bytes as i32;
        let address = Address::new(M::FRAME, M::INCOMING_ARGUMENTS_OFFSET + lowered + offset);
        self.masm.load(MemoryAccess::Whole(ty), register, address);
    }

    /// Gives a local that is no parameter its first value, if it is in memory.
    fn clear_local(&mut self, number: usize, local: &Local) -> Option<()> {
        let size_bytes = match local.ty {
            IrType::Struct(ty) => value_layout(ty).ok()?.size_bytes,
            IrType::Block(bytes) => bytes,
            IrType::Void => return Some(()),
            ty if self.plan.in_memory[number] => slot_bytes(machine_type(ty)?),
            _ => return Some(()),
        };
        let offset = self.registers.local_area(number, size_bytes);
        if size_bytes > INLINE_CLEAR_BYTES && local.zero_init {
            self.zero_frame(offset, size_bytes);
        } else if local.zero_init || machine_type(local.ty).is_some_and(|_| !matches!(local.ty, IrType::Struct(_))) {
            for word in 0..size_bytes.div_ceil(8) as i32 {
                self.masm.store_zero(Address::new(M::FRAME, offset + word * 8));
            }
        }
        Some(())
    }

    fn block(&mut self, number: usize) -> Option<()> {
        let block = &self.func.blocks[number];
        self.masm.bind(self.blocks[number]);
        self.region = block.region;
        self.block_number = number;
        if number > 0 {
            self.registers.vacate_all();
        }
        for &id in &block.insts {
            self.position(self.func.insts[id.0 as usize].il_offset);
            self.instruction(id)?;
            self.registers.unlock_all();
        }
        self.position(block.terminator_il_offset);
        self.terminator(number, &block.terminator)?;
        self.registers.unlock_all();
        Some(())
    }

    fn cold_code(&mut self) -> Option<()> {
        for ColdCode { code, il_offset, region } in std::mem::take(&mut self.cold) {
            self.region = region;
            self.position(il_offset);
            match code {
                Cold::Trap(label, code) => {
                    self.masm.bind_out_of_line(label);
                    self.trap_here(code);
                }
                Cold::Throw(label, helper) => {
                    self.masm.bind_out_of_line(label);
                    self.masm.call(RelocTarget::Symbol(Symbol::Helper(helper)));
                    self.note_call();
                    self.trap_here(trap::UNREACHABLE);
                }
                Cold::Pending(label) => {
                    self.masm.bind_out_of_line(label);
                    self.throw_pending();
                }
                Cold::Poll(label, stub, next) => {
                    self.masm.bind_out_of_line(label);
                    self.poll_slow(stub, next);
                }
                Cold::Hot { slow, next, round_of } => {
                    self.masm.bind_out_of_line(slow);
                    self.hot(round_of, next);
                }
                Cold::Note { slow, next, cell, word, noted } => {
                    self.masm.bind_out_of_line(slow);
                    self.note_change(cell, word, noted, next);
                }
                Cold::ClassInit(label, next, ty) => {
                    self.masm.bind_out_of_line(label);
                    self.class_init_slow(ty, next);
                }
                Cold::Barrier { slow, next, object } => {
                    self.masm.bind_out_of_line(slow);
                    self.barrier_slow(object);
                    self.masm.jump(next);
                }
                Cold::Allocation { slow, next, vtable, object } => {
                    self.masm.bind_out_of_line(slow);
                    self.allocate_slow(vtable, object, next);
                }
                Cold::Helper { slow, next, helper } => {
                    self.masm.bind_out_of_line(slow);
                    self.call_prepared_helper(helper);
                    self.masm.jump(next);
                }
                Cold::LocalMemory { outside, done } => {
                    self.masm.bind_out_of_line(outside);
                    self.localloc_outside()?;
                    self.masm.jump(done);
                }
                Cold::TailArguments { slow, next, from, word } => {
                    self.masm.bind_out_of_line(slow);
                    self.move_tail_arguments(from, word)?;
                    self.masm.jump(next);
                }
            }
        }
        Some(())
    }

    /// Puts the prologue in front, whose length is known only now, and moves all offsets.
    fn finish(mut self) -> Option<CompiledCode> {
        let frame_size_bytes = self.registers.frame_size_bytes();
        if frame_size_bytes > MAX_FRAME_BYTES {
            return None;
        }
        let FinishedCode { bytes, prologue_bytes, relocs } =
            self.masm.finish(frame_size_bytes, self.plan.lowered_bytes)?;
        self.code.tables.frame_map = self.frame_map(prologue_bytes);
        let func = self.func;
        let is_own = |number: usize| {
            let local = &func.locals[number];
            let is_word = machine_type(local.ty).is_some_and(|ty| slot_bytes(ty) == 8);
            is_word && !matches!(local.ty, IrType::Struct(_)) && !local.address_exposed && !local.kind.is_elsewhere()
        };
        self.code.tables.own_words = self.registers.own_words(is_own);
        if !self.code.tables.own_words.is_empty() {
            let low_bytes = self.registers.slot_bytes();
            self.code.tables.spill_area = Some(SpillArea { low_bytes, high_bytes: 0, saved_registers: 0 });
        }
        let mut code = self.code;
        code.tables.clauses = self.func.clauses.iter().map(|clause| clause.kind).collect();
        let tables = self.landings.tables::<M>(self.plan, &self.masm, frame_size_bytes, prologue_bytes);
        (code.tables.protected_calls, code.tables.handlers) = tables;
        code.bytes = bytes;
        code.relocs = relocs;
        code.tables.frame_size_bytes = frame_size_bytes;
        code.tables.traps = self.traps.into();
        code.tables.traps.iter_mut().for_each(|trap| trap.offset += prologue_bytes);
        code.tables.il_map = self.il_map.into();
        code.tables.il_map.iter_mut().for_each(|entry| entry.native_offset += prologue_bytes);
        Some(code)
    }
}
