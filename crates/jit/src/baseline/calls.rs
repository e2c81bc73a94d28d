//! Calls: where arguments are, and how they get there.
//!
//! Before a call every value that is needed later and cannot be rematerialised is stored to its slot; then the
//! arguments in memory are stored at the stack pointer, and those in registers move there in one parallel move. After
//! the call all registers are free, and the result is in the register for results. A callee of the managed convention
//! gives back the room of arguments in memory, as Cranelift's convention for tail calls wants it.
//!
//! Callees may change struct arguments, so they get the addresses of copies in the caller's frame.

use super::context::{Cold, Emitter};
use super::exceptions::Failure;
use super::places::{Place, Places};
use super::plan::Value;
use super::types::{machine_type, result_type};
use crate::signatures::{call_has_this, struct_result_index};
use crate::symbols::RelocTarget;
use crate::type_facts::value_layout;
use saki_abi::HelperId;
use saki_abi::object::OBJECT_VTABLE_OFFSET;
use saki_abi::thread::{
    TAIL_ARGS_BYTES, THREAD_EXIT_FRAME_OFFSET, THREAD_IMT_METHOD_OFFSET, THREAD_PENDING_EXCEPTION_OFFSET,
    THREAD_TAIL_ARGS_OFFSET,
};
use saki_abi::vtable::{VTABLE_SLOTS_OFFSET, imt_slot_offset};
use saki_code::masm::{Address, IntegerOp, MachineType, MacroAssembler, MemoryAccess, Reg, RegImm, Relation};
use saki_il::ir::{CallSig, CallTarget, IrType, LocalId, LocalKind, Op, Symbol, ValueId};

const ADDRESS: MemoryAccess = MemoryAccess::Whole(MachineType::I64);

/// What is passed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    Value(Value),
    /// The sum of a value and a constant.
    Displaced(Value, i32),
    /// An I32 as I64, extended by its sign or by zeros.
    Widened(Value, bool),
    /// The address of a place in the frame.
    Frame(i32),
    /// The word in a slot of the frame.
    Slot(i32),
    Symbol(Symbol),
    Constant(i64),
    Thread,
}

impl Argument {
    fn value(self) -> Option<Value> {
        match self {
            Argument::Value(value) | Argument::Displaced(value, _) | Argument::Widened(value, _) => Some(value),
            _ => None,
        }
    }
}

/// Where the address of the callee's code is found, after the arguments are in place.
enum Callee {
    Near(RelocTarget),
    Register(Reg),
    /// In the vtable whose address is in a register, at an offset.
    Slot(Address),
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    pub(super) fn call(
        &mut self,
        result: Value,
        target: &CallTarget,
        sig: &CallSig,
        args: &[ValueId],
        struct_result: Option<ValueId>,
    ) -> Option<()> {
        let mut passed = self.arguments(sig, args)?;
        if let Some(place) = struct_result {
            let index = struct_result_index(sig, call_has_this(target, sig));
            passed.insert(index, (Argument::Value(self.value(place)), false));
        }
        if let CallTarget::InternalCall(method) = *target {
            passed.insert(0, (Argument::Thread, false));
            self.prepare(&passed, None, true);
            self.masm.store(ADDRESS, Self::thread_word(THREAD_EXIT_FRAME_OFFSET), M::FRAME);
            self.symbol_address(Symbol::InternalCall(method), M::CALLEE);
            self.masm.call_register(M::CALLEE);
            let pending = self.masm.label();
            self.masm.jump_if_word(
                MachineType::I64,
                Self::thread_word(THREAD_PENDING_EXCEPTION_OFFSET),
                false,
                pending,
            );
            self.later(Cold::Pending(pending));
        } else {
            let code = match *target {
                CallTarget::Indirect(code) => Some(self.value(code)),
                _ => None,
            };
            let stack_bytes = self.prepare(&passed, code, true);
            match self.callee(target)? {
                Callee::Near(target) => self.masm.call(target),
                Callee::Register(register) => self.masm.call_register(register),
                Callee::Slot(slot) => self.masm.call_slot(slot),
            }
            self.note_call();
            self.called(stack_bytes);
        }
        self.finish_call(result, result_type(sig));
        Some(())
    }

    /// Calls a helper's thunk, which may throw; `result`: the value that it defines.
    pub(super) fn call_helper(&mut self, helper: HelperId, args: &[Argument], result: Option<(Value, MachineType)>) {
        self.prepare_helper(args);
        self.call_prepared_helper(helper);
        match result {
            Some((value, ty)) => self.finish_call(value, Some(ty)),
            None => self.finish_call(0, None),
        }
    }

    /// Moves the arguments of a helper to their registers; values needed later are in memory afterwards.
    pub(super) fn prepare_helper(&mut self, args: &[Argument]) {
        let args: Vec<(Argument, bool)> =
            args.iter().map(|&arg| (arg, arg.value().is_some_and(|value| self.machine_of(value).is_float()))).collect();
        self.prepare(&args, None, true);
    }

    /// Calls a helper whose arguments are in their registers.
    pub(super) fn call_prepared_helper(&mut self, helper: HelperId) {
        self.masm.call(RelocTarget::Symbol(Symbol::Helper(helper)));
        self.note_call();
    }

    fn called(&mut self, stack_bytes: u32) {
        if stack_bytes > 0 {
            self.masm.take_back_arguments(stack_bytes);
        }
    }

    fn finish_call(&mut self, result: Value, ty: Option<MachineType>) {
        self.registers.release_copies();
        self.registers.vacate_all();
        self.registers.unlock_all();
        if let Some(ty) = ty {
            self.define(result, if ty.is_float() { M::FLOAT_RESULT } else { M::RESULT });
        }
    }

    /// What is passed for the arguments of a signature: for structs, addresses of copies. And whether it is a float.
    fn arguments(&mut self, sig: &CallSig, args: &[ValueId]) -> Option<Vec<(Argument, bool)>> {
        let mut passed = Vec::with_capacity(args.len() + 2);
        for (&arg, &param) in args.iter().zip(&sig.params) {
            let value = self.value(arg);
            let argument = match param {
                IrType::Struct(_) if self.is_copy(arg) => Argument::Value(value),
                IrType::Struct(ty) => {
                    let layout = value_layout(ty).ok()?;
                    let place = self.registers.copy_place(layout.size_bytes);
                    self.copy_to_frame(place, value, layout)?;
                    Argument::Frame(place)
                }
                _ => Argument::Value(value),
            };
            passed.push((argument, matches!(param, IrType::F32 | IrType::F64)));
        }
        Some(passed)
    }

    /// Whether a struct operand is already a copy for the callee.
    fn is_copy(&self, id: ValueId) -> bool {
        let op = &self.func.insts[id.0 as usize].op;
        matches!(op, Op::LocalAddr(local) if self.func.locals[local.0 as usize].kind == LocalKind::Argument)
    }

    pub(super) fn tail_call(&mut self, target: &CallTarget, sig: &CallSig, args: &[ValueId]) -> Option<()> {
        let passed = self.arguments(sig, args)?;
        let code = match *target {
            CallTarget::Indirect(code) => Some(self.value(code)),
            _ => None,
        };
        self.prepare(&passed, code, false);
        let callee = self.callee(target)?;
        if let Callee::Slot(slot) = callee {
            self.masm.load(ADDRESS, slot.base, slot);
        }
        match callee {
            Callee::Near(target) => self.masm.tail_jump(target),
            Callee::Register(register) | Callee::Slot(Address { base: register, .. }) => {
                self.masm.tail_jump_register(register);
            }
        }
        Some(())
    }

    /// Saves the values that are needed later (if `returns`), and puts the arguments in their places, the address in
    /// `code` in the callee's register. Gives the bytes of the arguments in memory.
    fn prepare(&mut self, args: &[(Argument, bool)], code: Option<Value>, returns: bool) -> u32 {
        let mut places = Places::default();
        let mut moves: Vec<(Reg, Argument)> = Vec::with_capacity(args.len() + 1);
        for &(argument, is_float) in args {
            match places.next::<M>(is_float) {
                Place::Register(register) => moves.push((register, argument)),
                Place::Stack(offset) => self.store_argument(offset, argument),
            }
        }
        let stack_bytes = places.stack_bytes();
        self.registers.reserve_arguments(stack_bytes);
        if let Some(code) = code {
            moves.push((M::CALLEE, Argument::Value(code)));
        }
        for value in moves.iter().filter_map(|(_, argument)| argument.value()) {
            let place = &mut self.registers.places[value as usize];
            place.uses_left = place.uses_left.saturating_sub(1);
        }
        if returns {
            self.spill_all();
        }
        self.move_all(&moves);
        stack_bytes
    }

    /// Stores an argument that is passed in memory.
    fn store_argument(&mut self, offset: i32, argument: Argument) {
        let to = Address::new(M::STACK, offset);
        match argument {
            Argument::Value(value) => {
                let register = self.use_register(value);
                self.masm.store(MemoryAccess::Whole(self.machine_of(value)), to, register);
                self.registers.release(value);
                self.registers.unlock_all();
            }
            Argument::Frame(place) => {
                self.masm.load_address(M::SCRATCH, Address::new(M::FRAME, place));
                self.masm.store(ADDRESS, to, M::SCRATCH);
            }
            _ => saki_base::bug!("{argument:?} is passed in memory"),
        }
    }

    /// The callee, when the arguments are in their places.
    fn callee(&mut self, target: &CallTarget) -> Option<Callee> {
        Some(match *target {
            CallTarget::Direct(method) => Callee::Near(RelocTarget::Symbol(Symbol::MethodEntry(method))),
            CallTarget::Helper(helper) => Callee::Near(RelocTarget::Symbol(Symbol::Helper(helper))),
            CallTarget::Indirect(_) => Callee::Register(M::CALLEE),
            CallTarget::Virtual { slot, .. } => {
                self.load_vtable();
                Callee::Slot(Address::new(M::CALLEE_VTABLE, VTABLE_SLOTS_OFFSET + slot as i32 * 8))
            }
            CallTarget::Interface { method } => {
                self.load_vtable();
                self.symbol_address(Symbol::MethodHandle(method), M::SCRATCH);
                self.masm.store(ADDRESS, Self::thread_word(THREAD_IMT_METHOD_OFFSET), M::SCRATCH);
                let slot = saki_types::vtable::imt_slot_index(method);
                Callee::Slot(Address::new(M::CALLEE_VTABLE, imt_slot_offset(slot)))
            }
            CallTarget::InternalCall(_) | CallTarget::Native(_) => return None,
        })
    }

    /// Loads the vtable of the receiver, the first argument. A null receiver fails here.
    fn load_vtable(&mut self) {
        if self.is_protected() {
            self.fail_if_zero(MachineType::I64, M::ARGUMENTS[0], Failure::NullReference);
        }
        self.masm.load(ADDRESS, M::CALLEE_VTABLE, Address::new(M::ARGUMENTS[0], OBJECT_VTABLE_OFFSET));
    }

    /// A parallel move: each register gets its value, and none is overwritten before it is read.
    fn move_all(&mut self, moves: &[(Reg, Argument)]) {
        let mut pending: Vec<(Reg, Reg)> = Vec::with_capacity(moves.len());
        for &(to, argument) in moves {
            if let Some(value) = argument.value()
                && let Some(from) = self.registers.place(value).register
                && from != to
            {
                pending.push((to, from));
            }
        }
        while !pending.is_empty() {
            let is_read = |register: Reg| pending.iter().any(|&(_, from)| from == register);
            if let Some(free) = pending.iter().position(|&(to, _)| !is_read(to)) {
                let (to, from) = pending.swap_remove(free);
                self.move_register(to, from);
            } else {
                // All targets are sources: a cycle. One value waits in the scratch register.
                let (_, from) = pending[0];
                let scratch = if from.is_float() { M::FLOAT_SCRATCH } else { M::SCRATCH };
                self.move_register(scratch, from);
                for entry in pending.iter_mut().filter(|entry| entry.1 == from) {
                    entry.1 = scratch;
                }
            }
        }
        // The old contents are not needed any more.
        for &(to, argument) in moves {
            match argument {
                Argument::Value(value) | Argument::Displaced(value, _) | Argument::Widened(value, _) => {
                    if self.registers.place(value).register.is_none() {
                        self.load_value(value, to);
                    }
                }
                Argument::Frame(place) => self.masm.load_address(to, Address::new(M::FRAME, place)),
                Argument::Slot(slot) => self.load_slot(to, slot, MachineType::I64),
                Argument::Symbol(symbol) => self.symbol_address(symbol, to),
                Argument::Constant(value) => self.masm.constant(to, value),
                Argument::Thread => self.move_register(to, M::THREAD),
            }
            match argument {
                Argument::Displaced(_, offset) if offset != 0 => {
                    self.masm.integer(IntegerOp::Add, MachineType::I64, to, RegImm::Imm(offset), None);
                }
                Argument::Widened(_, is_signed) => self.masm.widen(is_signed, to, to),
                _ => {}
            }
        }
    }

    // Struct parameters of tail calls.

    /// At the function's entry: whether struct parameters are in the thread's buffer for tail calls; if so they move to
    /// the frame.
    pub(super) fn receive_tail_arguments(&mut self) {
        let func = self.func;
        let is_struct = |local: &saki_il::ir::Local| {
            matches!(local.kind, LocalKind::Param(_)) && matches!(local.ty, IrType::Struct(_))
        };
        // The first in the order of the parameters: either all are in the buffer, or none.
        let first = func.locals.iter().position(is_struct);
        let Some(first) = first else { return };
        let (from, word) = (self.fresh(false), self.fresh(false));
        let slot = self.registers.local_slot(first);
        self.load_slot(from, slot, MachineType::I64);
        self.masm.load_address(word, Self::thread_word(THREAD_TAIL_ARGS_OFFSET));
        self.masm.integer(IntegerOp::Subtract, MachineType::I64, from, RegImm::Reg(word), None);
        let (slow, next) = (self.masm.label(), self.masm.label());
        let size = RegImm::Imm(TAIL_ARGS_BYTES as i32);
        self.masm.jump_if(Relation::LessUnsigned, MachineType::I64, from, size, slow, None);
        self.masm.bind(next);
        self.later(Cold::TailArguments { slow, next, from, word });
        self.registers.unlock_all();
    }

    /// Moves all struct parameters to the frame.
    pub(super) fn move_tail_arguments(&mut self, from: Reg, word: Reg) -> Option<()> {
        let func = self.func;
        for (number, local) in func.locals.iter().enumerate() {
            let (LocalKind::Param(_), IrType::Struct(ty)) = (local.kind, local.ty) else { continue };
            let layout = value_layout(ty).ok()?;
            let slot = self.registers.local_slot(number);
            let place = self.registers.new_area(layout.size_bytes);
            self.load_slot(from, slot, MachineType::I64);
            self.copy_words(Address::new(M::FRAME, place), Address::new(from, 0), layout.size_bytes, word);
            self.masm.load_address(from, Address::new(M::FRAME, place));
            self.store_slot(from, slot, MachineType::I64);
        }
        Some(())
    }

    /// The address of a local in memory.
    pub(super) fn local_address(&mut self, result: Value, local: LocalId) -> Option<()> {
        let number = local.0 as usize;
        let register = self.fresh(false);
        match (self.func.locals[number].kind, self.func.locals[number].ty) {
            (LocalKind::Param(_), IrType::Struct(_)) => {
                let slot = self.registers.local_slot(number);
                self.load_slot(register, slot, MachineType::I64);
            }
            (_, ty) => {
                let size_bytes = match ty {
                    IrType::Struct(ty) => value_layout(ty).ok()?.size_bytes,
                    IrType::Block(bytes) => bytes,
                    ty => machine_type(ty).map(|_| 8)?,
                };
                let place = self.registers.local_area(number, size_bytes);
                self.masm.load_address(register, Address::new(M::FRAME, place));
            }
        }
        self.define(result, register);
        Some(())
    }
}
