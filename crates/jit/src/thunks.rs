//! Thunks between managed code, Rust and C (the conventions are in `code`).

use crate::compiler::{CompileContext, Compiler};
use crate::error::CompileError;
use crate::isa;
use crate::native_signature::{NativeParam, NativeResult, NativeSignature};
use crate::output::CompiledCode;
use crate::signatures::{self, machine_type};
use crate::symbols::{RelocTarget, SymbolTable};
use crate::type_facts::value_layout;
use crate::vector_memory;
use cranelift_codegen::ir::{
    self, AbiParam, InstBuilder, MemFlagsData, Signature, StackSlotData, StackSlotKind, TrapCode, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
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
    /// `Load` for struct types.
    pub fn compile_native_to_managed_thunk(&self, sig: &CallSig) -> Result<CompiledCode, CompileError> {
        let abi = isa::native_abi(&**self.isa());
        let NativeSignature { mut machine, params, result } = NativeSignature::new(abi, sig)?;
        if matches!(result, NativeResult::Memory { .. }) && abi.passes_result_address_as_argument() {
            machine.returns.push(AbiParam::new(types::I64));
        }
        self.with_context(|context| {
            let mut thunk = ThunkBuilder::new(context, machine.clone());
            let slots = thunk.stack_area(sig.params.len() as u32 * 8);
            let result_bytes = match sig.ret {
                Some(IrType::Struct(ty)) => value_layout(ty)?.size_bytes,
                _ => 0,
            };
            let place = match result {
                NativeResult::Memory { position } => thunk.params[position],
                _ => thunk.stack_area(result_bytes.next_multiple_of(8).max(16)),
            };
            for (index, param) in params.iter().enumerate() {
                let word = match param {
                    NativeParam::Scalar { position, .. } | NativeParam::Address { position } => thunk.params[*position],
                    NativeParam::Parts(parts) => {
                        let end = parts.last().map_or(0, |part| part.offset as u32 + part.ty.bytes());
                        let copy = thunk.stack_area(end.next_multiple_of(16));
                        for part in parts {
                            let value = thunk.params[part.position];
                            thunk.b.ins().store(slot_flags(), value, copy, part.offset);
                        }
                        copy
                    }
                };
                thunk.b.ins().store(slot_flags(), word, slots, index as i32 * 8);
            }
            let cookie = thunk.address(RelocTarget::CallbackCookie);
            let mut dispatcher = Signature::new(CallConv::SystemV);
            dispatcher.params.extend([AbiParam::new(types::I64); 3]);
            thunk.call(RelocTarget::CallbackDispatcher, dispatcher, &[cookie, slots, place]);
            let mut load = |ty, offset| thunk.b.ins().load(ty, slot_flags(), place, offset);
            let results: Vec<Value> = match &result {
                NativeResult::Parts(parts) => parts.iter().map(|part| load(part.ty, part.offset)).collect(),
                NativeResult::Scalar => machine.returns.iter().map(|param| load(param.value_type, 0)).collect(),
                NativeResult::Memory { .. } => machine.returns.iter().map(|_| place).collect(),
            };
            thunk.b.ins().return_(&results);
            thunk.b.finalize(self.isa().frontend_config());
            self.finish(context, "native callback")
        })
    }
}
