//! Wrappers through which native code calls a delegate or a static method.
//!
//! The wrapper is a function of the managed convention over native words: the first parameter is the callback context
//! (which native entry was called), then come the C parameters, structs as addresses of copies. It converts them, calls
//! the delegate's `Invoke` and converts the result. The C entry that calls the wrapper enters managed state, sets the
//! pinned register and passes the words; it belongs to `code`.
//!
//! Structs by value whose native layout is not the managed one arrive in words, from which the wrapper puts them
//! together (`native_registers`).
//!
//! Invariant: native code keeps ownership of the arguments that it passes: none of their memory is freed here.
//! Left out: exceptions that reach the C entry.

use super::builder::{FunctionBuilder, call_sig, flags, ir_type, mem_type, required, return_type};
use super::marshal::{MarshalAction, NativeType, ParamPlan, method_plan, struct_class};
use super::native_registers::{self, Incoming, IncomingResult, incoming_result_type, part_memory};
use super::native_value::{handle_offset, narrow_scalar, native_scalar};
use super::pinvoke::{call_marshaler, load_marshaler, scalar_from_native, scalar_to_native};
use crate::ir::{
    AliasClass, BinOp, CallSig, CallTarget, ConvTarget, Function, IrType, LocalId, MemType, Op, Symbol, Terminator,
    UnOp, ValueId,
};
use saki_abi::HelperId;
use saki_abi::native::NativeAbi;
use saki_abi::object::ARRAY_DATA_OFFSET;
use saki_types::{LoadError, LoadErrorKind, LoadResult, Method};

/// The wrapper for delegates of one exact type, by its `Invoke` method; see the module header. The function's `sig`
/// lists the words that the C entry passes: `params[0]` is the context, the rest are the C parameters in order.
///
/// # Errors
/// The errors of the signature and of the types' layouts. A type that cannot be marshalled is not an error: the body
/// throws.
pub fn callback(invoke: &'static Method) -> LoadResult<Function> {
    wrapper(invoke, true)
}

/// The wrapper through which native code calls a static method by the rules for callbacks. Its `sig` is as in
/// `callback`; the context is not used.
///
/// # Errors
/// Those of `callback`.
pub fn of_static(method: &'static Method) -> LoadResult<Function> {
    wrapper(method, false)
}

fn wrapper(invoke: &'static Method, is_of_delegate: bool) -> LoadResult<Function> {
    let plan = method_plan(invoke)?;
    let refused = plan.refused().or_else(|| plan.params.iter().find(|p| !accepted(p, &plan.params)));
    let mut types = Vec::with_capacity(plan.params.len());
    for param in &plan.params {
        types.push(match param.action {
            MarshalAction::Same => ir_type(param.ty)?,
            MarshalAction::Scalar if !param.by_ref => IrType::I32,
            _ if param.native == NativeType::Date && !param.by_ref => IrType::F64,
            _ => IrType::I64,
        });
    }
    let mut sig = CallSig { params: vec![IrType::I64], ret: callback_result(&plan.ret)?, ..CallSig::default() };
    let incoming = match refused {
        None if native_registers::is_needed(&plan) => Some(Incoming::new(&plan, types.clone(), 1)?),
        _ => None,
    };
    sig.params.extend(incoming.as_ref().map_or(types, Incoming::words));
    let name = format!("(callback) {}", invoke.full_name());
    let mut b = FunctionBuilder::new(None, name, sig);
    b.set_stub();
    if let Some(refused) = refused {
        let info = b.symbol(Symbol::MarshalInfo(invoke, refused.index));
        b.call_helper(HelperId::ThrowMarshalDirective, vec![info]);
        b.terminate(Terminator::Unreachable);
        return Ok(b.finish());
    }
    let mut args = Vec::with_capacity(plan.params.len() + 1);
    if is_of_delegate {
        let context = b.get(LocalId(0));
        args.push(required(b.call_helper(HelperId::CallbackDelegate, vec![context]))?);
    }
    let mut words = Vec::with_capacity(plan.params.len());
    for param in &plan.params {
        words.push(match &incoming {
            Some(incoming) => incoming.gather(&mut b, param)?,
            None => LocalId(param.index),
        });
    }
    let mut arguments = Vec::with_capacity(plan.params.len());
    for (param, word) in plan.params.iter().zip(&words) {
        let mut argument = CallbackArgument {
            plan: param,
            word: *word,
            info: Symbol::MarshalInfo(invoke, param.index),
            length: ArrayLength::of(param, &plan.params, &words)?,
            managed: None,
            made: None,
        };
        args.push(argument.operand(&mut b)?);
        arguments.push(argument);
    }
    let result = b.call(CallTarget::Direct(invoke), call_sig(invoke)?, args);
    for argument in &arguments {
        argument.write_back(&mut b)?;
    }
    let info = Symbol::MarshalInfo(invoke, 0);
    let value = match (result, incoming.and_then(|incoming| incoming.result)) {
        (Some(value), Some(place)) => Some(struct_to_native(&mut b, &place, info, value)?),
        (Some(value), None) => Some(result_to_native(&mut b, &plan.ret, info, value)?),
        (None, _) => None,
    };
    b.ret(value);
    Ok(b.finish())
}

/// Why native code cannot call the method, although it has UnmanagedCallersOnlyAttribute: kind and message of the
/// exception.
///
/// # Errors
/// The errors of the signature and of the types' layouts.
pub fn refused_by_callers(method: &'static Method) -> LoadResult<Option<LoadError>> {
    let invalid = |message: &str| Some(LoadError::new(LoadErrorKind::InvalidProgram, message, method.full_name()));
    if method.is_pinvoke() {
        return Ok(Some(not_compatible(method)));
    }
    if !method.is_static() {
        return Ok(invalid("Non-static methods with UnmanagedCallersOnlyAttribute are invalid."));
    }
    if !method.owner.args.is_empty() || !method.generic_args().is_empty() {
        return Ok(invalid("Generic methods with UnmanagedCallersOnlyAttribute are invalid."));
    }
    let plan = method_plan(method)?;
    let is_plain = |param: &ParamPlan| param.action == MarshalAction::Same && !param.by_ref;
    if !is_plain(&plan.ret) || !plan.params.iter().all(is_plain) {
        return Ok(invalid("Non-blittable parameter types are invalid for UnmanagedCallersOnly methods."));
    }
    Ok(None)
}

/// The error of a P/Invoke method with UnmanagedCallersOnlyAttribute.
pub(super) fn not_compatible(method: &'static Method) -> LoadError {
    let message = "Method's type signature is not PInvoke compatible.";
    LoadError::new(LoadErrorKind::NotSupported, message, method.full_name())
}

/// The wrapper through which native code calls a method with UnmanagedCallersOnlyAttribute that `refused_by_callers`
/// does not refuse. Its `sig` is as in `callback`; the context is not used.
///
/// # Errors
/// The errors of the signature and of the types' layouts.
pub fn callers_only(method: &'static Method) -> LoadResult<Function> {
    let plan = method_plan(method)?;
    let mut sig = CallSig { params: vec![IrType::I64], ret: return_type(plan.ret.ty)?, ..CallSig::default() };
    for param in &plan.params {
        sig.params.push(ir_type(param.ty)?);
    }
    let mut b = FunctionBuilder::new(None, format!("(callback) {}", method.full_name()), sig);
    b.set_stub();
    let mut args = Vec::with_capacity(plan.params.len());
    for param in &plan.params {
        let word = b.operand(LocalId(param.index));
        args.push(narrow_scalar(&mut b, mem_type(param.ty)?, word));
    }
    let result = b.call(CallTarget::Direct(method), call_sig(method)?, args);
    b.ret(result);
    Ok(b.finish())
}

/// Size of a struct result that a callback writes to the address in its first word, which its managed signature does
/// not show.
///
/// # Errors
/// The errors of the signature and of the types' layouts.
pub fn result_in_memory_bytes(invoke: &'static Method) -> LoadResult<Option<u32>> {
    let ret = method_plan(invoke)?.ret;
    let is_argument = NativeAbi::HOST.passes_result_address_as_argument();
    if ret.action != MarshalAction::StructValue
        || !is_argument
        || struct_class(&ret.native, ret.ty)?.registers().is_some()
    {
        return Ok(None);
    }
    ret.native.size_bytes().map(Some)
}

/// Whether native code can pass this parameter.
fn accepted(param: &ParamPlan, params: &[ParamPlan]) -> bool {
    match &param.native {
        _ if param.action == MarshalAction::StructPointer => false,
        NativeType::AnyObject(_) => false,
        NativeType::SafeHandle(_) | NativeType::CriticalHandle(_) | NativeType::HandleRef(_) => false,
        NativeType::Array { count, .. } => {
            count.constant.is_some() || matches!(count_position(param, params), Ok(Some(_)))
        }
        _ => true,
    }
}

fn callback_result(plan: &ParamPlan) -> LoadResult<Option<IrType>> {
    Ok(match plan.action {
        _ if plan.native == NativeType::Void => None,
        MarshalAction::Same if plan.by_ref => Some(IrType::I64),
        MarshalAction::Same => return_type(plan.ty)?,
        MarshalAction::Scalar => Some(IrType::I32),
        MarshalAction::StructValue => Some(incoming_result_type(plan)?),
        _ => Some(IrType::I64),
    })
}

struct CallbackArgument<'a> {
    plan: &'a ParamPlan,
    /// Local of the native word.
    word: LocalId,
    info: Symbol,
    /// Length of an array passed by value.
    length: Option<ArrayLength>,
    /// The converted value, when it lives in a local of its own.
    managed: Option<LocalId>,
    /// The object that a custom marshaler made from the argument, to be cleaned up after the call.
    made: Option<LocalId>,
}

/// Number of elements that native code passes: the sum of the `SizeParamIndex` argument and `SizeConst`.
struct ArrayLength {
    /// Local of the native argument with the count.
    count: Option<LocalId>,
    constant: i32,
    /// Element size, if the elements have the same bits on both sides.
    element_size_bytes: Option<u32>,
}

/// Position of the parameter with the length of an array by value.
fn count_position(param: &ParamPlan, params: &[ParamPlan]) -> LoadResult<Option<usize>> {
    let NativeType::Array { count, .. } = &param.native else { return Ok(None) };
    let Some(position) = count.param.map(usize::from).filter(|_| !param.by_ref) else { return Ok(None) };
    let Some(source) = params.get(position).filter(|p| p.action == MarshalAction::Same && !p.by_ref) else {
        return Ok(None);
    };
    Ok(matches!(ir_type(source.ty)?, IrType::I32 | IrType::I64).then_some(position))
}

impl CallbackArgument<'_> {
    /// The operand for `Invoke`.
    fn operand(&mut self, b: &mut FunctionBuilder) -> LoadResult<ValueId> {
        let plan = self.plan;
        let word = b.operand(self.word);
        Ok(match plan.action {
            MarshalAction::Same => narrow_scalar(b, mem_type(plan.ty)?, word),
            // The address is native; managed code sees it as a managed pointer.
            MarshalAction::Address => word,
            MarshalAction::Scalar if !plan.by_ref => scalar_from_native(b, &plan.native, word),
            MarshalAction::Scalar => {
                let local = b.memory_local(ir_type(plan.ty)?);
                self.managed = Some(local);
                let address = b.address_of(local);
                if plan.is_in {
                    let native = b.load(word, 0, native_scalar(&plan.native), flags(AliasClass::Any));
                    let value = scalar_from_native(b, &plan.native, native);
                    b.store_value(address, value, plan.ty, None, flags(AliasClass::Any))?;
                }
                address
            }
            MarshalAction::Custom => {
                let local = b.memory_local(IrType::Ref);
                if plan.by_ref {
                    self.managed = Some(local);
                    if !plan.is_in {
                        return Ok(b.address_of(local));
                    }
                }
                let word = if plan.by_ref { b.load(word, 0, MemType::I64, flags(AliasClass::Any)) } else { word };
                let (convert, done) = (b.new_block(), b.new_block());
                b.branch_if(word, convert, done);
                b.switch_to(convert);
                let marshaler = load_marshaler(b, self.info)?;
                let managed = required(call_marshaler(b, marshaler, "MarshalNativeToManaged", word)?)?;
                let managed = b.emit(Op::CastClass(managed, plan.ty), IrType::Ref);
                b.set(local, managed);
                b.jump(done);
                b.switch_to(done);
                if plan.by_ref {
                    b.address_of(local)
                } else {
                    self.made = Some(local);
                    b.get(local)
                }
            }
            _ if self.length.is_some() => self.array(b, word),
            MarshalAction::StructValue => {
                // Native code keeps its copy of the struct.
                let local = b.memory_local(ir_type(plan.ty)?);
                let slot = b.address_of(local);
                let info = b.symbol(self.info);
                b.call_helper(HelperId::CallbackIn, vec![word, slot, info]);
                slot
            }
            _ => {
                let local = b.memory_local(ir_type(plan.ty)?);
                self.managed = Some(local);
                let slot = b.address_of(local);
                let info = b.symbol(self.info);
                // A date is passed as a double.
                let word = match b.value_type(word) {
                    IrType::F64 => b.emit(Op::Un(UnOp::BitcastF64I64, word), IrType::I64),
                    _ => word,
                };
                if plan.is_in {
                    b.call_helper(HelperId::CallbackIn, vec![word, slot, info]);
                }
                if plan.by_ref { slot } else { b.operand(local) }
            }
        })
    }

    /// A managed copy of a native array, null for null.
    fn array(&mut self, b: &mut FunctionBuilder, word: ValueId) -> ValueId {
        let local = b.memory_local(IrType::Ref);
        self.managed = Some(local);
        if let Some(length) = &self.length {
            let (copy, done) = (b.new_block(), b.new_block());
            b.branch_if(word, copy, done);
            b.switch_to(copy);
            let mut count = b.const_i32(length.constant);
            if let Some(argument) = length.count {
                let argument = b.get(argument);
                let argument = b.conv(argument, ConvTarget::I4);
                count = b.bin(BinOp::Add, argument, count);
            }
            let array = b.emit(Op::NewArray(self.plan.ty, count), IrType::Ref);
            b.set(local, array);
            match length.bytes(b, array) {
                _ if !self.plan.is_in => {}
                Some(bytes) => {
                    let data = b.offset(array, ARRAY_DATA_OFFSET);
                    b.emit(Op::CopyBlock { dst: data, src: word, bytes }, IrType::Void);
                }
                None => {
                    let slot = b.address_of(local);
                    let info = b.symbol(self.info);
                    b.call_helper(HelperId::CallbackIn, vec![word, slot, info]);
                }
            }
            b.jump(done);
            b.switch_to(done);
        }
        b.get(local)
    }

    /// Copies the delegate's changes back to native memory.
    fn write_back(&self, b: &mut FunctionBuilder) -> LoadResult<()> {
        let plan = self.plan;
        if let Some(made) = self.made {
            let (clean, done) = (b.new_block(), b.new_block());
            let object = b.get(made);
            b.branch_if(object, clean, done);
            b.switch_to(clean);
            let marshaler = load_marshaler(b, self.info)?;
            call_marshaler(b, marshaler, "CleanUpManagedData", object)?;
            b.jump(done);
            b.switch_to(done);
        }
        let Some(local) = self.managed.filter(|_| plan.is_out) else { return Ok(()) };
        let word = b.get(self.word);
        if let Some(length) = &self.length {
            let (copy, done) = (b.new_block(), b.new_block());
            b.branch_if(word, copy, done);
            b.switch_to(copy);
            let array = b.get(local);
            match length.bytes(b, array) {
                Some(bytes) => {
                    let data = b.offset(array, ARRAY_DATA_OFFSET);
                    b.emit(Op::CopyBlock { dst: word, src: data, bytes }, IrType::Void);
                }
                None => {
                    let slot = b.address_of(local);
                    let info = b.symbol(self.info);
                    b.call_helper(HelperId::CallbackOut, vec![slot, word, info]);
                }
            }
            b.jump(done);
            b.switch_to(done);
            return Ok(());
        }
        if plan.action == MarshalAction::Custom {
            let zero = b.const_i64(0);
            b.store(word, 0, zero, MemType::I64, flags(AliasClass::Any));
            let (convert, done) = (b.new_block(), b.new_block());
            let object = b.get(local);
            b.branch_if(object, convert, done);
            b.switch_to(convert);
            let marshaler = load_marshaler(b, self.info)?;
            let native = required(call_marshaler(b, marshaler, "MarshalManagedToNative", object)?)?;
            b.store(word, 0, native, MemType::I64, flags(AliasClass::Any));
            b.jump(done);
            b.switch_to(done);
            return Ok(());
        }
        let slot = b.address_of(local);
        if plan.action == MarshalAction::Scalar {
            let managed = b.load_value(slot, plan.ty, flags(AliasClass::Any))?;
            let native = scalar_to_native(b, &plan.native, managed);
            b.store(word, 0, native, native_scalar(&plan.native), flags(AliasClass::Any));
        } else {
            let info = b.symbol(self.info);
            b.call_helper(HelperId::CallbackOut, vec![slot, word, info]);
        }
        Ok(())
    }
}

impl ArrayLength {
    /// The length of an array by value. `words`: locals of the native arguments.
    fn of(param: &ParamPlan, params: &[ParamPlan], words: &[LocalId]) -> LoadResult<Option<ArrayLength>> {
        let NativeType::Array { element, count, .. } = &param.native else { return Ok(None) };
        if param.by_ref {
            return Ok(None);
        }
        Ok(Some(ArrayLength {
            count: count_position(param, params)?.map(|position| words[position]),
            constant: count.constant.unwrap_or(0) as i32,
            element_size_bytes: if element.is_same() { Some(element.size_bytes()?) } else { None },
        }))
    }

    /// Bytes of the elements of `array` (not null), as I32; None when they must be converted one by one.
    fn bytes(&self, b: &mut FunctionBuilder, array: ValueId) -> Option<ValueId> {
        let size_bytes = self.element_size_bytes?;
        let count = b.emit(Op::ArrayLen(array), IrType::I32);
        let size = b.const_i32(size_bytes as i32);
        Some(b.bin(BinOp::Mul, count, size))
    }
}

/// The wrapper's return value for a struct result whose native layout differs from the managed one.
fn struct_to_native(
    b: &mut FunctionBuilder,
    place: &IncomingResult,
    info: Symbol,
    value: ValueId,
) -> LoadResult<ValueId> {
    let address = match place {
        IncomingResult::Memory(address) => b.get(*address),
        IncomingResult::Register(_) => {
            let block = b.local(IrType::Block(16));
            b.address_of(block)
        }
        IncomingResult::Struct(size_bytes) => {
            let block = b.local(IrType::Block(*size_bytes));
            b.address_of(block)
        }
    };
    let info = b.symbol(info);
    b.call_helper(HelperId::CallbackOut, vec![value, address, info]);
    Ok(match place {
        IncomingResult::Memory(_) | IncomingResult::Struct(_) => address,
        IncomingResult::Register(part) => b.load(address, 0, part_memory(*part), flags(AliasClass::Any)),
    })
}

fn result_to_native(b: &mut FunctionBuilder, plan: &ParamPlan, info: Symbol, value: ValueId) -> LoadResult<ValueId> {
    Ok(match plan.action {
        MarshalAction::Same => value,
        MarshalAction::Scalar => scalar_to_native(b, &plan.native, value),
        MarshalAction::SafeHandle => {
            let handle = handle_offset(plan.ty)?;
            let word = b.local(IrType::I64);
            let zero = b.const_i64(0);
            b.set(word, zero);
            let (read, done) = (b.new_block(), b.new_block());
            b.branch_if(value, read, done);
            b.switch_to(read);
            let loaded = b.load(value, handle, MemType::I64, flags(AliasClass::Field));
            b.set(word, loaded);
            b.jump(done);
            b.switch_to(done);
            b.get(word)
        }
        MarshalAction::Custom => {
            let word = b.local(IrType::I64);
            let zero = b.const_i64(0);
            b.set(word, zero);
            let (convert, done) = (b.new_block(), b.new_block());
            b.branch_if(value, convert, done);
            b.switch_to(convert);
            let marshaler = load_marshaler(b, info)?;
            let native = required(call_marshaler(b, marshaler, "MarshalManagedToNative", value)?)?;
            b.set(word, native);
            call_marshaler(b, marshaler, "CleanUpManagedData", value)?;
            b.jump(done);
            b.switch_to(done);
            b.get(word)
        }
        _ => {
            let local = b.memory_local(ir_type(plan.ty)?);
            b.set(local, value);
            let slot = b.address_of(local);
            let zero = b.const_i64(0);
            let info = b.symbol(info);
            required(b.call_helper(HelperId::CallbackOut, vec![slot, zero, info]))?
        }
    })
}
