//! Calls of C functions, by the system's convention; `lower::native` says what is passed how.

use super::arguments::Argument;
use super::context::{Cold, Emitter};
use super::places::{Convention, Place, Places};
use super::plan::Value;
use super::types::{machine_type, result_type};
use crate::struct_classes::{NativeDoor, classify, native_door};
use crate::symbols::RelocTarget;
use crate::type_facts::{ValueLayout, value_layout};
use saki_abi::HelperId;
use saki_abi::native::{ArgumentRegisters, NativeAbi, RegisterPart, StructClass};
use saki_abi::thread::{THREAD_EXIT_FRAME_OFFSET, THREAD_PENDING_EXCEPTION_OFFSET, THREAD_STUB_ARG_OFFSET};
use saki_code::masm::{Address, MachineType, MacroAssembler, MemoryAccess, Reg};
use saki_il::ir::{CallSig, IrType, Transition, ValueId};
use saki_types::Ty;

/// Arguments that have found their registers, and what is left.
struct Native {
    places: Places,
    registers: ArgumentRegisters,
    moves: Vec<(Reg, Argument)>,
}

fn part_type(part: RegisterPart) -> MachineType {
    match part {
        RegisterPart::Integer => MachineType::I64,
        RegisterPart::Float64 => MachineType::F64,
        RegisterPart::Float32 => MachineType::F32,
    }
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    /// Calls a C function, after the thread has left managed state where that is asked for: by a stub, or by helpers
    /// where there are too many arguments in memory for that.
    pub(super) fn native_call_in(
        &mut self,
        transition: Transition,
        result: Value,
        code: Value,
        sig: &CallSig,
        args: &[ValueId],
        struct_result: Option<ValueId>,
    ) -> Option<()> {
        let door = native_door(&NativeAbi::HOST, transition, sig).ok()?;
        if door != NativeDoor::Helpers {
            return self.native_call(result, code, door, sig, args, struct_result);
        }
        self.call_helper(HelperId::EnterNative, &[], None);
        self.native_call(result, code, NativeDoor::None, sig, args, struct_result)?;
        if transition == Transition::LeaveSavingError {
            self.call_helper(HelperId::SaveLastError, &[], None);
        }
        self.call_helper(HelperId::LeaveNative, &[], None);
        Some(())
    }

    /// `door`: the stub through which the function is called, if not directly.
    fn native_call(
        &mut self,
        result: Value,
        code: Value,
        door: NativeDoor,
        sig: &CallSig,
        args: &[ValueId],
        struct_result: Option<ValueId>,
    ) -> Option<()> {
        if args.len() != sig.params.len() {
            return None;
        }
        let abi = &NativeAbi::HOST;
        let registers = abi.argument_registers();
        let places = Places::new(Convention::Native);
        let mut native = Native { places, registers, moves: Vec::with_capacity(args.len() + 3) };
        let result_class = match sig.ret {
            Some(IrType::Struct(ty)) => Some(classify(abi, ty).ok()?),
            _ => None,
        };
        if matches!(result_class, Some(StructClass::Memory | StructClass::Reference)) {
            let place = Argument::Value(self.value(struct_result?));
            match M::NATIVE_RESULT_ADDRESS {
                Some(register) => native.moves.push((register, place)),
                None => {
                    native.registers.integer -= 1;
                    self.native_argument(&mut native, place, MachineType::I64);
                }
            }
        }
        for (&arg, &param) in args.iter().zip(&sig.params) {
            let value = self.value(arg);
            if let IrType::Struct(ty) = param {
                self.native_struct(&mut native, value, ty)?;
                continue;
            }
            let ty = machine_type(param)?;
            let pool = if ty.is_float() { &mut native.registers.float } else { &mut native.registers.integer };
            *pool = pool.saturating_sub(1);
            match ty {
                // C functions with parameters of type long get ints, too.
                MachineType::I32 => {
                    self.native_argument(&mut native, Argument::Widened(value, true), MachineType::I64);
                }
                ty => self.native_argument(&mut native, Argument::Value(value), ty),
            }
        }
        self.registers.reserve_arguments(native.places.stack_bytes());
        self.move_arguments(&mut native.moves, Some(code), true);
        let word = MemoryAccess::Whole(MachineType::I64);
        match door {
            NativeDoor::Stub { stub, memory_bytes } => {
                self.masm.store(word, Self::thread_word(THREAD_STUB_ARG_OFFSET), M::CALLEE);
                if memory_bytes != 0 {
                    self.masm.constant(M::CALLEE, i64::from(memory_bytes));
                    self.masm.store(word, Self::thread_word(THREAD_STUB_ARG_OFFSET + 8), M::CALLEE);
                }
                self.masm.call(RelocTarget::Stub(stub));
                let failed = self.masm.label();
                let pending = Self::thread_word(THREAD_PENDING_EXCEPTION_OFFSET);
                self.masm.jump_if_word(MachineType::I64, pending, false, failed);
                self.later(Cold::Pending(failed));
            }
            NativeDoor::None | NativeDoor::Helpers => {
                self.masm.store(word, Self::thread_word(THREAD_EXIT_FRAME_OFFSET), M::FRAME);
                // No unwinding through C: exceptions of callbacks stop before it.
                self.masm.call_register(M::CALLEE);
            }
        }
        match (result_class, sig.ret) {
            (Some(StructClass::Registers(parts)), Some(IrType::Struct(ty))) => {
                self.finish_call(result, None);
                self.native_struct_result(&parts, self.value(struct_result?), value_layout(ty).ok()?);
            }
            (Some(_), _) => self.finish_call(result, None),
            (None, _) => self.finish_native_call(result, result_type(sig)),
        }
        Some(())
    }

    /// Puts an argument in the next place for its type.
    fn native_argument(&mut self, native: &mut Native, argument: Argument, ty: MachineType) {
        match native.places.next::<M>(ty) {
            Place::Register(register) => native.moves.push((register, argument)),
            Place::Stack(offset) => self.store_argument(Address::new(M::STACK, offset), argument, ty),
        }
    }

    fn native_struct(&mut self, native: &mut Native, value: Value, ty: Ty) -> Option<()> {
        let layout = value_layout(ty).ok()?;
        // A copy whose size is a multiple of 8 can be read in whole eightbytes.
        let padded_bytes = layout.size_bytes.next_multiple_of(8);
        match classify(&NativeAbi::HOST, ty).ok()? {
            StructClass::Registers(parts) if native.registers.take(&parts) => {
                let place = self.registers.copy_place(padded_bytes);
                self.copy_to_frame(place, value, layout)?;
                for (index, &part) in parts.iter().enumerate() {
                    let (ty, offset) = (part_type(part), index as i32 * part.size_bytes() as i32);
                    self.native_argument(native, Argument::Slot(place + offset, ty), ty);
                }
                return Some(());
            }
            StructClass::Reference => {
                let place = self.registers.copy_place(padded_bytes);
                self.copy_to_frame(place, value, layout)?;
                native.registers.take(&[RegisterPart::Integer]);
                self.native_argument(native, Argument::Frame(place), MachineType::I64);
                return Some(());
            }
            StructClass::Registers(_) => native.places.leave::<M>(&native.registers),
            StructClass::Memory => {}
        }
        let offset = native.places.stack(padded_bytes as i32, 8);
        let source = self.use_register(value);
        self.copy_words(Address::new(M::STACK, offset), Address::new(source, 0), layout.size_bytes, M::SCRATCH);
        self.registers.release(value);
        self.registers.unlock_all();
        Some(())
    }

    /// Stores a struct that is in the registers of a result.
    fn native_struct_result(&mut self, parts: &[RegisterPart], place: Value, layout: ValueLayout) {
        let bytes: u32 = parts.iter().map(|part| part.size_bytes()).sum();
        let whole = self.registers.new_area(bytes.next_multiple_of(16));
        let mut used = [0; 2];
        for (index, &part) in parts.iter().enumerate() {
            let (ty, offset) = (part_type(part), index as i32 * part.size_bytes() as i32);
            let class = usize::from(ty.is_float());
            self.store_slot(M::NATIVE_RESULTS[class][used[class]], whole + offset, ty);
            used[class] += 1;
        }
        let to = self.use_register(place);
        self.copy_words(Address::new(to, 0), Address::new(M::FRAME, whole), layout.size_bytes, M::SCRATCH);
        self.registers.release(place);
        self.registers.unlock_all();
    }
}
