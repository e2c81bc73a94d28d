//! Thunks between managed code, Rust and C (the conventions are in `code`).

use crate::compiler::{CompileContext, Compiler};
use crate::error::CompileError;
use crate::isa;
use crate::output::CompiledCode;
use crate::signatures::{self, machine_type};
use crate::struct_classes::{classify, eightbyte_type};
use crate::symbols::{RelocTarget, SymbolTable};
use crate::type_facts::{ValueLayout, value_layout};
use crate::vector_memory;
use cranelift_codegen::ir::{
    self, AbiParam, ArgumentPurpose, InstBuilder, MemFlagsData, Signature, StackSlotData, StackSlotKind, TrapCode,
    Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use saki_abi::native::{ArgumentRegisters, NativeAbi, StructClass};
use saki_abi::thread::{THREAD_EXIT_FRAME_OFFSET, THREAD_PENDING_EXCEPTION_OFFSET};
use saki_abi::{HelperId, StubId};
use saki_il::ir::{CallSig, IrType};

/// Flags for memory that cannot fault and need not be aligned.
fn unaligned_flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// Builds one function without an IR.
struct ThunkBuilder<'a> {
    b: FunctionBuilder<'a>,
    symbols: &'a mut SymbolTable,
    params: Vec<Value>,
}

impl<'a> ThunkBuilder<'a> {
    fn new(context: &'a mut CompileContext, signature: Signature) -> ThunkBuilder<'a> {
        context.clear();
        let CompileContext { codegen, builder, symbols, .. } = context;
        codegen.func.signature = signature;
        let mut b = FunctionBuilder::new(&mut codegen.func, builder);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        b.seal_block(entry);
        let params = b.block_params(entry).to_vec();
        ThunkBuilder { b, symbols, params }
    }

    fn name(&mut self, target: RelocTarget) -> ir::ExternalName {
        let number = self.symbols.intern(target);
        ir::ExternalName::user(self.b.func.declare_imported_user_function(ir::UserExternalName::new(0, number)))
    }

    fn call(&mut self, target: RelocTarget, signature: Signature, args: &[Value]) -> Vec<Value> {
        let name = self.name(target);
        let signature = self.b.import_signature(signature);
        let colocated = target.is_near();
        let function = self.b.import_function(ir::ExtFuncData { name, signature, colocated, patchable: false });
        let inst = self.b.ins().call(function, args);
        self.b.inst_results(inst).to_vec()
    }

    fn address(&mut self, target: RelocTarget) -> Value {
        let name = self.name(target);
        let colocated = target.is_near();
        let global =
            self.b.create_global_value(ir::GlobalValueData::Symbol { name, offset: 0.into(), colocated, tls: false });
        self.b.ins().symbol_value(types::I64, global)
    }

    fn stack_area(&mut self, size_bytes: u32) -> Value {
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size_bytes.max(8).next_multiple_of(8), 4);
        let slot = self.b.create_sized_stack_slot(slot);
        self.b.ins().stack_addr(types::I64, slot, 0)
    }
}

/// Flags for aligned stack memory that only the thunk accesses.
fn slot_flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

impl Compiler {
    /// The Tail-convention thunk of a helper: exit frame, Rust call, pending exception.
    ///
    /// # Errors
    /// `Codegen`.
    pub fn compile_helper_thunk(&self, helper: HelperId) -> Result<CompiledCode, CompileError> {
        self.with_context(|context| {
            let mut thunk = ThunkBuilder::new(context, signatures::helper(helper, CallConv::Tail, false));
            let thread = thunk.b.ins().get_pinned_reg(types::I64);
            let frame = thunk.b.ins().get_frame_pointer(types::I64);
            thunk.b.ins().store(slot_flags(), frame, thread, THREAD_EXIT_FRAME_OFFSET);
            let mut args = vec![thread];
            args.extend_from_slice(&thunk.params);
            let signature = signatures::helper(helper, CallConv::SystemV, true);
            let results = thunk.call(RelocTarget::HelperFunction(helper), signature, &args);
            let thread = thunk.b.ins().get_pinned_reg(types::I64);
            let pending = thunk.b.ins().load(types::I64, slot_flags(), thread, THREAD_PENDING_EXCEPTION_OFFSET);
            let throw = thunk.b.create_block();
            let done = thunk.b.create_block();
            thunk.b.set_cold_block(throw);
            thunk.b.ins().brif(pending, throw, &[], done, &[]);
            thunk.b.switch_to_block(throw);
            thunk.call(RelocTarget::Stub(StubId::ThrowPending), Signature::new(CallConv::Tail), &[]);
            thunk.b.ins().trap(TrapCode::unwrap_user(saki_abi::stubs::trap::UNREACHABLE));
            thunk.b.switch_to_block(done);
            thunk.b.ins().return_(&results);
            thunk.b.seal_all_blocks();
            thunk.b.finalize(self.isa().frontend_config());
            self.finish(context, &format!("helper {}", helper.name()))
        })
    }

    /// Tail-convention `fn(code: i64, args: *const u64, ret: *mut u64)`: loads the arguments of a managed call from
    /// 8-byte slots (`this`, struct-result pointer, rest; struct arguments by pointer), calls `code`, stores a scalar
    /// result. In the slots, vectors are treated as structs.
    ///
    /// # Errors
    /// `Codegen`.
    pub fn compile_invoke_thunk(&self, sig: &CallSig) -> Result<CompiledCode, CompileError> {
        self.with_context(|context| {
            let mut own = Signature::new(CallConv::Tail);
            own.params.extend([AbiParam::new(types::I64); 3]);
            let callee = signatures::managed(sig, sig.has_this, CallConv::Tail);
            let mut thunk = ThunkBuilder::new(context, own);
            let [code, args, ret] = [thunk.params[0], thunk.params[1], thunk.params[2]];
            let returned_vector = sig.ret.and_then(IrType::vector);
            let result_at = signatures::struct_result_index(sig, sig.has_this);
            let mut words: Vec<IrType> = sig.params.clone();
            if let Some(IrType::Struct(_)) = sig.ret {
                words.insert(result_at, IrType::I64);
            }
            let mut values = Vec::with_capacity(words.len());
            let mut result_place = None;
            for (index, word) in words.into_iter().enumerate() {
                let Some(ty) = machine_type(word) else { continue };
                let value = thunk.b.ins().load(ty, slot_flags(), args, index as i32 * 8);
                if index == result_at && returned_vector.is_some() {
                    result_place = Some(value);
                } else if let Some(mem) = word.vector() {
                    values.push(vector_memory::load(&mut thunk.b, value, 0, mem, unaligned_flags()));
                } else {
                    values.push(value);
                }
            }
            let signature = thunk.b.import_signature(callee);
            let inst = thunk.b.ins().call_indirect(signature, code, &values);
            let result = thunk.b.inst_results(inst).first().copied();
            if let (Some(place), Some(mem), Some(result)) = (result_place, returned_vector, result) {
                vector_memory::store(&mut thunk.b, place, 0, result, mem, unaligned_flags());
            } else if let Some(result) = result {
                let result = match thunk.b.func.dfg.value_type(result) {
                    types::I32 => thunk.b.ins().sextend(types::I64, result),
                    _ => result,
                };
                thunk.b.ins().store(slot_flags(), result, ret, 0);
            }
            thunk.b.ins().return_(&[]);
            thunk.b.finalize(self.isa().frontend_config());
            self.finish(context, "invoke thunk")
        })
    }

    /// System V function that C calls for a delegate. It puts its arguments into 8-byte slots (structs: a pointer to a
    /// copy), calls [`RelocTarget::CallbackDispatcher`]`(cookie, slots, result)` and returns what that wrote to
    /// `result`. The dispatcher finds the thread, enters managed state and runs the delegate. `sig` has native types;
    /// place the code once per delegate, with its own [`RelocTarget::CallbackCookie`].
    ///
    /// # Errors
    /// `Load` for struct types; `NotSupported` for structs by value on aarch64.
    pub fn compile_native_to_managed_thunk(&self, sig: &CallSig) -> Result<CompiledCode, CompileError> {
        let native = NativeEntry::new(sig, isa::native_abi(&**self.isa()))?;
        self.with_context(|context| {
            let mut thunk = ThunkBuilder::new(context, native.signature.clone());
            let slots = thunk.stack_area(sig.params.len() as u32 * 8);
            let result = thunk.stack_area(native.result_bytes.max(16));
            let mut params = thunk.params.clone().into_iter();
            let result_place = native.result_in_memory.then(|| params.next()).flatten();
            for (index, param) in native.params.iter().enumerate() {
                let word = match param {
                    NativeParam::Scalar => params.next(),
                    NativeParam::Memory => params.next(),
                    NativeParam::Registers(count) => {
                        let copy = thunk.stack_area(16);
                        for part in 0..*count {
                            if let Some(value) = params.next() {
                                thunk.b.ins().store(slot_flags(), value, copy, part as i32 * 8);
                            }
                        }
                        Some(copy)
                    }
                };
                if let Some(word) = word {
                    thunk.b.ins().store(slot_flags(), word, slots, index as i32 * 8);
                }
            }
            let cookie = thunk.address(RelocTarget::CallbackCookie);
            let mut dispatcher = Signature::new(CallConv::SystemV);
            dispatcher.params.extend([AbiParam::new(types::I64); 3]);
            let place = result_place.unwrap_or(result);
            thunk.call(RelocTarget::CallbackDispatcher, dispatcher, &[cookie, slots, place]);
            let results: Vec<Value> = match result_place {
                Some(place) => vec![place],
                None => native
                    .signature
                    .returns
                    .iter()
                    .enumerate()
                    .map(|(index, param)| thunk.b.ins().load(param.value_type, slot_flags(), result, index as i32 * 8))
                    .collect(),
            };
            thunk.b.ins().return_(&results);
            thunk.b.finalize(self.isa().frontend_config());
            self.finish(context, "native callback")
        })
    }
}

enum NativeParam {
    Scalar,
    /// A struct in this many registers.
    Registers(usize),
    /// A struct on the stack: Cranelift gives its address.
    Memory,
}

/// A native signature seen from the callee.
struct NativeEntry {
    abi: &'static NativeAbi,
    signature: Signature,
    params: Vec<NativeParam>,
    result_in_memory: bool,
    result_bytes: u32,
}

impl NativeEntry {
    fn new(sig: &CallSig, abi: &'static NativeAbi) -> Result<NativeEntry, CompileError> {
        let mut entry = NativeEntry {
            abi,
            signature: Signature::new(CallConv::SystemV),
            params: Vec::new(),
            result_in_memory: false,
            result_bytes: 0,
        };
        let mut registers = abi.argument_registers();
        entry.declare_result(sig, &mut registers)?;
        for &param in &sig.params {
            entry.declare_param(param, &mut registers)?;
        }
        Ok(entry)
    }

    fn declare_result(&mut self, sig: &CallSig, registers: &mut ArgumentRegisters) -> Result<(), CompileError> {
        let Some(IrType::Struct(ty)) = sig.ret else {
            self.signature.returns.extend(sig.ret.and_then(machine_type).map(AbiParam::new));
            return Ok(());
        };
        self.result_bytes = value_layout(ty)?.size_bytes;
        match classify(self.abi, ty)? {
            StructClass::Registers(parts) => {
                self.signature.returns.extend(parts.iter().map(|&part| AbiParam::new(eightbyte_type(part))));
            }
            StructClass::Memory => {
                self.result_in_memory = true;
                registers.integer -= 1;
                self.signature.params.push(AbiParam::new(types::I64));
                self.signature.returns.push(AbiParam::new(types::I64));
            }
        }
        Ok(())
    }

    fn declare_param(&mut self, param: IrType, registers: &mut ArgumentRegisters) -> Result<(), CompileError> {
        if let IrType::Struct(ty) = param {
            let ValueLayout { size_bytes, .. } = value_layout(ty)?;
            match classify(self.abi, ty)? {
                StructClass::Registers(parts) if registers.take(&parts) => {
                    self.signature.params.extend(parts.iter().map(|&part| AbiParam::new(eightbyte_type(part))));
                    self.params.push(NativeParam::Registers(parts.len()));
                }
                _ => {
                    let purpose = ArgumentPurpose::StructArgument(size_bytes.next_multiple_of(8));
                    self.signature.params.push(AbiParam::special(types::I64, purpose));
                    self.params.push(NativeParam::Memory);
                }
            }
            return Ok(());
        }
        let Some(ty) = machine_type(param) else {
            return Err(CompileError::invalid_ir("a void parameter"));
        };
        let pool = if ty.is_float() { &mut registers.float } else { &mut registers.integer };
        *pool = pool.saturating_sub(1);
        self.signature.params.push(AbiParam::new(ty));
        self.params.push(NativeParam::Scalar);
        Ok(())
    }
}
