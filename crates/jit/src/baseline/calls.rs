//! Calls: where arguments are, and how they get there.
//!
//! Before a call every value that is needed later and cannot be rematerialised is stored to its slot; then the
//! arguments in memory are stored at the stack pointer, and those in registers move there in one parallel move. After
//! the call all registers are free, and the result is in the register for results. A callee of the managed convention
//! gives back the room of arguments in memory, as Cranelift's convention for tail calls wants it.
//!
//! Callees may change struct arguments, so they get the addresses of copies in the caller's frame. Vectors are no such
//! structs: they are passed in registers.

use super::arguments::{Argument, Passing};
use super::context::{Cold, Emitter};
use super::exceptions::Failure;
use super::places::{Convention, Place, Places};
use super::plan::Value;
use super::types::{is_by_address, machine_type, result_type, returns_struct, slot_bytes};
use crate::signatures::{call_has_this, struct_result_index};
use crate::symbols::RelocTarget;
use crate::type_facts::value_layout;
use saki_abi::object::OBJECT_VTABLE_OFFSET;
use saki_abi::thread::{THREAD_EXIT_FRAME_OFFSET, THREAD_IMT_METHOD_OFFSET, THREAD_PENDING_EXCEPTION_OFFSET};
use saki_abi::vtable::{VTABLE_SLOTS_OFFSET, imt_slot_offset};
use saki_abi::{HelperId, handle};
use saki_code::masm::{Address, IntegerOp, MachineType, MacroAssembler, MemoryAccess, Reg, RegImm, Relation};
use saki_il::ir::{CallSig, CallTarget, IrType, LocalId, LocalKind, Op, Symbol, ValueId};
use saki_il::synth::internal_call::{is_handle_free, is_handle_target};
use saki_types::Method;

const ADDRESS: MemoryAccess = MemoryAccess::Whole(MachineType::I64);

/// Arguments that operations pass to helpers.
const MAX_HELPER_ARGUMENTS: usize = 4;
/// Registers of the arguments of one call, and that of the callee.
const MAX_MOVES: usize = 24;

/// Where the address of the callee's code is found, after the arguments are in place.
pub(super) enum Callee {
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
        if let CallTarget::InternalCall(method) = *target {
            return self.internal_call(result, method, sig, args, struct_result);
        }
        if let CallTarget::Native { code, transition } = *target {
            return self.native_call_in(transition, result, self.value(code), sig, args, struct_result);
        }
        let mut passed = self.arguments(sig, args, true)?;
        if returns_struct(sig) {
            let index = struct_result_index(sig, call_has_this(target, sig));
            passed.insert(index, (Argument::Value(self.value(struct_result?)), MachineType::I64));
        }
        self.managed_call(target, &passed)?;
        if let Some(mem) = sig.ret.and_then(IrType::vector)
            && let Some(place) = struct_result
        {
            self.finish_call(result, None);
            let place = self.value(place);
            let address = self.use_register(place);
            self.store_vector(Address::new(address, 0), M::FLOAT_RESULT, mem);
            self.registers.release(place);
            return Some(());
        }
        self.finish_call(result, result_type(sig));
        Some(())
    }

    /// Calls with these arguments; the result is in its register.
    pub(super) fn managed_call(&mut self, target: &CallTarget, passed: &[Passing]) -> Option<()> {
        let code = match *target {
            CallTarget::Indirect(code) => Some(self.value(code)),
            _ => None,
        };
        let stack_bytes = self.prepare(passed, code, Convention::Managed);
        match self.callee(target)? {
            Callee::Near(target) => self.masm.call(target),
            Callee::Register(register) => self.masm.call_register(register),
            Callee::Slot(slot) => self.masm.call_slot(slot),
        }
        self.note_call();
        if stack_bytes > 0 {
            self.masm.take_back_arguments(stack_bytes);
        }
        Some(())
    }

    /// The Rust function of an internal call, by the C convention: thread, then the managed order.
    fn internal_call(
        &mut self,
        result: Value,
        method: &'static Method,
        sig: &CallSig,
        args: &[ValueId],
        struct_result: Option<ValueId>,
    ) -> Option<()> {
        let mut passed = self.arguments(sig, args, false)?;
        if let Some(place) = struct_result {
            let index = struct_result_index(sig, call_has_this(&CallTarget::InternalCall(method), sig));
            passed.insert(index, (Argument::Value(self.value(place)), MachineType::I64));
        }
        passed.insert(0, (Argument::Thread, MachineType::I64));
        self.prepare(&passed, None, Convention::Native);
        // Those of handles neither throw nor walk the stack, and give a word that tells whether there is no such
        // handle.
        let stale = match args.len() {
            1 if is_handle_target(method) => Some((MachineType::I64, handle::STALE_TARGET as i32)),
            1 if is_handle_free(method) => Some((MachineType::I32, 0)),
            _ => None,
        };
        if stale.is_none() {
            self.masm.store(ADDRESS, Self::thread_word(THREAD_EXIT_FRAME_OFFSET), M::FRAME);
        }
        self.symbol_address(Symbol::InternalCall(method), M::CALLEE);
        self.masm.call_register(M::CALLEE);
        let failed = self.masm.label();
        match stale {
            Some((ty, word)) => {
                let given = M::NATIVE_RESULTS[0][0];
                self.masm.jump_if(Relation::Equal, ty, given, RegImm::Imm(word), failed, None);
                self.later(Cold::Throw(failed, HelperId::ThrowStaleHandle));
            }
            None => {
                let pending = Self::thread_word(THREAD_PENDING_EXCEPTION_OFFSET);
                self.masm.jump_if_word(MachineType::I64, pending, false, failed);
                self.later(Cold::Pending(failed));
            }
        }
        let is_struct = matches!(sig.ret, Some(IrType::Struct(_)));
        self.finish_native_call(result, if is_struct { None } else { result_type(sig) });
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
        let mut passed = [(Argument::Thread, MachineType::I64); MAX_HELPER_ARGUMENTS];
        for (passed, &arg) in passed.iter_mut().zip(args) {
            let ty = match arg {
                Argument::Value(value) => self.machine_of(value),
                Argument::Slot(_, ty) => ty,
                _ => MachineType::I64,
            };
            *passed = (arg, ty);
        }
        self.prepare(&passed[..args.len()], None, Convention::Managed);
    }

    /// Calls a helper whose arguments are in their registers.
    pub(super) fn call_prepared_helper(&mut self, helper: HelperId) {
        self.masm.call(RelocTarget::Symbol(Symbol::Helper(helper)));
        self.note_call();
    }

    pub(super) fn finish_call(&mut self, result: Value, ty: Option<MachineType>) {
        self.registers.release_copies();
        self.registers.vacate_all();
        self.registers.unlock_all();
        if let Some(ty) = ty {
            self.define(result, if ty.is_float() { M::FLOAT_RESULT } else { M::RESULT });
        }
    }

    /// After the call of a native function: the result is in its register.
    pub(super) fn finish_native_call(&mut self, result: Value, ty: Option<MachineType>) {
        self.finish_call(result, None);
        if let Some(ty) = ty {
            self.define(result, M::NATIVE_RESULTS[usize::from(ty.is_float())][0]);
        }
    }

    /// What is passed for the arguments of a signature: for structs, addresses of copies.
    pub(super) fn arguments(&mut self, sig: &CallSig, args: &[ValueId], is_managed: bool) -> Option<Vec<Passing>> {
        if args.len() != sig.params.len() {
            return None;
        }
        let mut passed = Vec::with_capacity(args.len() + 2);
        for (&arg, &param) in args.iter().zip(&sig.params) {
            passed.push(self.argument(arg, param, is_managed)?);
        }
        Some(passed)
    }

    fn argument(&mut self, arg: ValueId, param: IrType, is_managed: bool) -> Option<Passing> {
        let value = self.value(arg);
        let IrType::Struct(ty) = param else { return Some((Argument::Value(value), machine_type(param)?)) };
        if is_managed && let Some(mem) = param.vector() {
            return Some((self.vector_argument(arg, mem), MachineType::V128));
        }
        if self.is_copy(arg) {
            return Some((Argument::Value(value), MachineType::I64));
        }
        let layout = value_layout(ty).ok()?;
        let place = self.registers.copy_place(layout.size_bytes);
        self.copy_to_frame(place, value, layout)?;
        Some((Argument::Frame(place), MachineType::I64))
    }

    /// Whether a struct operand is already a copy for the callee.
    fn is_copy(&self, id: ValueId) -> bool {
        let op = &self.func.insts[id.0 as usize].op;
        matches!(op, Op::LocalAddr(local) if self.func.locals[local.0 as usize].kind == LocalKind::Argument)
    }

    /// Saves the values that are needed later, and puts the arguments of a call or of a helper in their places, the
    /// address in `code` in the callee's register. Gives the bytes of the arguments in memory.
    pub(super) fn prepare(&mut self, args: &[Passing], code: Option<Value>, convention: Convention) -> u32 {
        let mut places = Places::new(convention);
        let mut moves = std::mem::take(&mut self.moves);
        moves.clear();
        for &(argument, ty) in args {
            match places.next::<M>(ty) {
                Place::Register(register) => moves.push((register, argument)),
                Place::Stack(offset) => self.store_argument(Address::new(M::STACK, offset), argument, ty),
            }
        }
        let stack_bytes = places.stack_bytes();
        self.registers.reserve_arguments(stack_bytes);
        self.move_arguments(&mut moves, code, true);
        self.moves = moves;
        stack_bytes
    }

    /// Puts arguments in their registers, and the address in `code` in the callee's. `returns`: values that are needed
    /// later are stored before.
    pub(super) fn move_arguments(&mut self, moves: &mut Vec<(Reg, Argument)>, code: Option<Value>, returns: bool) {
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
        self.move_all(moves);
        for value in moves.iter().filter_map(|(_, argument)| argument.value()) {
            self.registers.free_slot_of_operand(value);
        }
    }

    /// Stores an argument that is passed in memory.
    pub(super) fn store_argument(&mut self, to: Address, argument: Argument, ty: MachineType) {
        let register = match argument {
            Argument::Value(value) => self.use_register(value),
            Argument::Displaced(value, offset) => {
                let register = self.use_register(value);
                self.masm.load_address(M::SCRATCH, Address::new(register, offset));
                M::SCRATCH
            }
            Argument::Widened(value, is_signed) => {
                let register = self.use_register(value);
                self.masm.widen(is_signed, M::SCRATCH, register);
                M::SCRATCH
            }
            _ => {
                let register = if ty.is_float() { M::FLOAT_SCRATCH } else { M::SCRATCH };
                self.make_argument(register, argument);
                register
            }
        };
        self.masm.store(MemoryAccess::Whole(ty), to, register);
        if let Some(value) = argument.value() {
            self.registers.release(value);
        }
        self.registers.unlock_all();
    }

    /// Puts an argument that is no value in a register.
    fn make_argument(&mut self, to: Reg, argument: Argument) {
        match argument {
            Argument::Frame(place) => self.masm.load_address(to, Address::new(M::FRAME, place)),
            Argument::Slot(slot, ty) => self.load_slot(to, slot, ty),
            Argument::Symbol(symbol) => self.symbol_address(symbol, to),
            Argument::Constant(value) => self.masm.constant(to, value),
            Argument::Thread => self.move_register(to, M::THREAD),
            Argument::ThreadPlace(offset) => self.masm.load_address(to, Address::new(M::THREAD, offset)),
            Argument::Value(_) | Argument::Displaced(..) | Argument::Widened(..) => {}
        }
    }

    /// The callee, when the arguments are in their places.
    pub(super) fn callee(&mut self, target: &CallTarget) -> Option<Callee> {
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
            CallTarget::InternalCall(_) | CallTarget::Native { .. } => return None,
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
        let mut pending = [(M::SCRATCH, M::SCRATCH); MAX_MOVES];
        let mut count = 0;
        for &(to, argument) in moves {
            if let Some(value) = argument.value()
                && let Some(from) = self.registers.place(value).register
                && from != to
            {
                pending[count] = (to, from);
                count += 1;
            }
        }
        while count > 0 {
            let moves = &mut pending[..count];
            let is_read = |register: Reg| moves.iter().any(|&(_, from)| from == register);
            if let Some(free) = moves.iter().position(|&(to, _)| !is_read(to)) {
                let (to, from) = moves[free];
                moves[free] = moves[count - 1];
                count -= 1;
                self.move_register(to, from);
            } else {
                // All targets are sources: a cycle. One value waits in the scratch register.
                let (_, from) = moves[0];
                let scratch = if from.is_float() { M::FLOAT_SCRATCH } else { M::SCRATCH };
                for entry in moves.iter_mut().filter(|entry| entry.1 == from) {
                    entry.1 = scratch;
                }
                self.move_register(scratch, from);
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
                _ => self.make_argument(to, argument),
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

    /// The address of a local in memory.
    pub(super) fn local_address(&mut self, result: Value, local: LocalId) -> Option<()> {
        let number = local.0 as usize;
        let register = self.fresh(false);
        match (self.func.locals[number].kind, self.func.locals[number].ty) {
            (LocalKind::ParentSlot(parent), _) => {
                let place = self.parent_place(parent)?;
                self.masm.load_address(register, place);
            }
            (LocalKind::Param(_), ty) if is_by_address(ty) => {
                let slot = self.registers.local_slot(number);
                self.load_slot(register, slot, MachineType::I64);
            }
            (_, ty) => {
                let size_bytes = match ty {
                    IrType::Struct(ty) => value_layout(ty).ok()?.size_bytes,
                    IrType::Block(bytes) => bytes,
                    ty => slot_bytes(machine_type(ty)?),
                };
                let place = self.registers.local_area(number, size_bytes);
                self.masm.load_address(register, Address::new(M::FRAME, place));
            }
        }
        self.define(result, register);
        Some(())
    }
}
