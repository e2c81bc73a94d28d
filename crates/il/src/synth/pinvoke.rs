//! Wrappers that call native code: P/Invoke methods, and `Invoke` of delegates made from function pointers.
//!
//! Steps: class constructor check; find the address; convert the arguments; leave managed state, call, save errno,
//! return to managed state; convert the result and the out arguments; clean up. From the first conversion that
//! allocates on, a fault handler cleans up when an exception passes. Native words start as 0, and cleaning up 0 does
//! nothing, so the handler may run at any point.
//!
//! Invariant: objects that native code can reach stay in place and alive during the call: their address, or a reference
//! to them, is in a memory local of this frame. Left out: conversions that need memory (`saki-interop`).

use super::builder::{
    FunctionBuilder, call_sig, checked_flags, flags, ir_type, mem_type, not_supported, required, return_type,
};
use super::delegate::DelegateFields;
use super::marshal::{MarshalAction, MethodPlan, NativeType, ParamPlan, method_plan};
use super::native_registers::{self, StructResult, struct_result};
use super::native_value::{
    bool_from_native, bool_to_native, handle_offset, handle_ref_offset, narrow_scalar, native_scalar, required_method,
};
use crate::import::class_init::needs_check_at_entry;
use crate::ir::{
    AliasClass, CallSig, CallTarget, ClauseKind, CmpOp, ConvTarget, Function, IrType, LocalId, MemType, Op, Symbol,
    Terminator, Transition, UnOp, ValueId,
};
use saki_abi::HelperId;
use saki_abi::object::{ARRAY_DATA_OFFSET, OBJECT_HEADER_BYTES, STRING_CHARS_OFFSET};
use saki_types::{ElementType, LibraryType, LoadResult, Method, Ty, universe};

/// Bytes from the slot of a by-reference array to the length of the array that native code made.
pub const ARRAY_LENGTH_OFFSET: i32 = 8;

/// Body of a P/Invoke method.
///
/// # Errors
/// The errors of the signature and of the types' layouts. A type that cannot be marshalled is not an error: the body
/// throws.
pub fn pinvoke(method: &'static Method) -> LoadResult<Function> {
    let plan = method_plan(method)?;
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), call_sig(method)?);
    if !method.is_static() {
        return Err(not_supported(method, "an instance method cannot be a P/Invoke"));
    }
    if method.is_unmanaged_callers_only()? {
        return Err(super::callback::not_compatible(method));
    }
    if needs_check_at_entry(method) && method.owner.class_constructor()?.is_some() {
        b.emit(Op::ClassInit(method.owner), IrType::Void);
    }
    let address = native_address(&mut b, method)?;
    emit_native_call(&mut b, method, &plan, 0, address)?;
    Ok(b.finish())
}

/// The address of the method's native function, which the first call looks up.
pub(super) fn native_address(b: &mut FunctionBuilder, method: &'static Method) -> LoadResult<ValueId> {
    let cell = b.symbol(Symbol::NativeCell(method));
    let cached = b.load(cell, 0, MemType::I64, flags(AliasClass::Runtime));
    let address = b.local(IrType::I64);
    b.set(address, cached);
    let (resolve, call) = (b.new_cold_block(), b.new_block());
    b.branch_if(cached, call, resolve);

    b.switch_to(resolve);
    let handle = b.symbol(Symbol::MethodHandle(method));
    let resolved = required(b.call_helper(HelperId::ResolveNative, vec![handle]))?;
    b.set(address, resolved);
    b.jump(call);

    b.switch_to(call);
    Ok(b.get(address))
}

/// Body for delegates over a native function (kind `SelfPassing`): it has `Invoke`'s signature and reads the function's
/// address from the delegate's `extra_arg`.
///
/// # Errors
/// The errors of the signature and of the types' layouts. A type that cannot be marshalled is not an error: the body
/// throws.
pub fn native_delegate_invoke(invoke: &'static Method) -> LoadResult<Function> {
    delegate_over_native(invoke, "native", &method_plan(invoke)?, 1)
}

/// `Invoke` of a delegate over the native function at the address in its `extra_arg`. `first`: the local of the first
/// argument in `plan`, 0 for the delegate itself.
pub(super) fn delegate_over_native(
    invoke: &'static Method,
    kind: &str,
    plan: &MethodPlan,
    first: u32,
) -> LoadResult<Function> {
    let fields = DelegateFields::load()?;
    let mut b = FunctionBuilder::new(Some(invoke), format!("({kind}) {}", invoke.full_name()), call_sig(invoke)?);
    b.set_stub();
    let this = b.get(LocalId(0));
    let address = b.load(this, fields.extra_arg, MemType::I64, checked_flags(AliasClass::Field));
    emit_native_call(&mut b, invoke, plan, first, address)?;
    Ok(b.finish())
}

/// Body of a `types::native_call` method: its last argument is the function's address.
///
/// # Errors
/// The errors of the signature and of the types' layouts. A type that cannot be marshalled is not an error: the body
/// throws.
pub fn native_function_call(method: &'static Method) -> LoadResult<Function> {
    let mut plan = method_plan(method)?;
    plan.params.pop();
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), call_sig(method)?);
    b.set_stub();
    let address = b.get(LocalId(plan.params.len() as u32));
    emit_native_call(&mut b, method, &plan, 0, address)?;
    Ok(b.finish())
}

/// An argument under conversion.
struct Argument<'a> {
    plan: &'a ParamPlan,
    local: LocalId,
    info: Symbol,
    /// Native word or native copy, in memory and zero before the conversion.
    native: Option<LocalId>,
    /// `ICustomMarshaler`, or the new object of an `out` SafeHandle.
    object: Option<LocalId>,
    /// SafeHandle: whether its count was raised.
    referenced: Option<LocalId>,
}

/// Fills the current block and those after it, up to `Ret`. `first`: local of the first parameter.
pub(super) fn emit_native_call(
    b: &mut FunctionBuilder,
    method: &'static Method,
    plan: &MethodPlan,
    first: u32,
    address: ValueId,
) -> LoadResult<()> {
    if let Some(refused) = plan.refused_by_calls() {
        let info = b.symbol(Symbol::MarshalInfo(method, refused.index));
        b.call_helper(HelperId::ThrowMarshalDirective, vec![info]);
        b.terminate(Terminator::Unreachable);
        return Ok(());
    }
    let mut arguments: Vec<Argument> = plan
        .params
        .iter()
        .map(|param| Argument {
            plan: param,
            local: LocalId(first + param.index - 1),
            info: Symbol::MarshalInfo(method, param.index),
            native: None,
            object: None,
            referenced: None,
        })
        .collect();
    for argument in &mut arguments {
        argument.reserve(b);
    }
    let needs_cleanup = arguments.iter().any(Argument::needs_cleanup);
    let handler = needs_cleanup.then(|| b.enter_region(ClauseKind::Fault));
    if needs_cleanup {
        let protected = b.new_block();
        b.jump(protected);
        b.switch_to(protected);
    }

    let result_object = prepare_result(b, &plan.ret)?;
    let mut sig = CallSig { ret: native_return_type(&plan.ret)?, ..CallSig::default() };
    let mut words = Vec::with_capacity(arguments.len());
    for argument in &mut arguments {
        let mut word = argument.marshal_in(b)?;
        if matches!(argument.plan.action, MarshalAction::Same)
            && argument.plan.ty.underlying().element_type == ElementType::U4
        {
            // Signed integers are extended by the call.
            word = b.conv(word, ConvTarget::U8);
            sig.params.push(IrType::I64);
            words.push(word);
            continue;
        }
        sig.params.push(match argument.plan.action {
            MarshalAction::Same => ir_type(argument.plan.ty)?,
            _ => native_word(b.value_type(word)),
        });
        words.push(word);
    }
    let struct_result = struct_result(b, &plan.ret)?;
    if native_registers::is_needed(plan) {
        (sig, words) = native_registers::arrange(b, plan, &sig, &words, struct_result.as_ref())?;
    }
    let transition = plan.transition();
    let native_result = b.call(CallTarget::Native { code: address, transition }, sig, words);
    if plan.set_last_error && transition == Transition::None {
        b.call_helper(HelperId::SaveLastError, vec![]);
    }

    let native_result = match (struct_result, native_result) {
        (Some(result), Some(value)) => Some(struct_result_address(b, &result, value)),
        (_, value) => value,
    };
    let result = marshal_result(b, &plan.ret, Symbol::MarshalInfo(method, 0), native_result, result_object)?;
    for argument in &arguments {
        argument.pass_length(b, &arguments)?;
        argument.marshal_out(b)?;
    }
    if let Some((handler, clause)) = handler {
        b.leave_region();
        let done = b.new_block();
        b.jump(done);
        b.switch_to(done);
        for argument in &arguments {
            argument.clean_up(b)?;
        }
        let value = result.map(|local| b.operand(local));
        b.ret(value);
        b.switch_to(handler);
        for argument in &arguments {
            argument.clean_up(b)?;
        }
        b.terminate(Terminator::ResumeUnwind { clause });
    } else {
        let value = result.map(|local| b.operand(local));
        b.ret(value);
    }
    Ok(())
}

impl Argument<'_> {
    /// Makes the locals that `clean_up` reads.
    fn reserve(&mut self, b: &mut FunctionBuilder) {
        match self.plan.action {
            MarshalAction::StructPointer if self.plan.native.is_same() => b.expose(self.local),
            MarshalAction::Helper | MarshalAction::StructValue | MarshalAction::StructPointer => {
                self.native = Some(b.memory_local(IrType::I64));
                if !self.plan.by_ref {
                    b.expose(self.local);
                }
            }
            MarshalAction::Custom => {
                self.native = Some(b.memory_local(IrType::I64));
                self.object = Some(b.memory_local(IrType::Ref));
            }
            MarshalAction::SafeHandle => {
                self.referenced = Some(b.memory_local(IrType::I32));
                self.native = Some(b.memory_local(IrType::I64));
                if self.plan.by_ref {
                    self.object = Some(b.memory_local(IrType::Ref));
                } else {
                    b.expose(self.local);
                }
            }
            MarshalAction::CriticalHandle => b.expose(self.local),
            _ => {}
        }
    }

    fn needs_cleanup(&self) -> bool {
        match self.plan.action {
            MarshalAction::Custom | MarshalAction::SafeHandle | MarshalAction::StructValue => true,
            MarshalAction::StructPointer => !self.plan.native.is_same(),
            MarshalAction::Helper if self.plan.by_ref => true,
            MarshalAction::Helper => !matches!(self.plan.native, NativeType::Delegate(_) | NativeType::Date),
            _ => false,
        }
    }

    /// The native argument; addresses are also kept in a pinned local.
    fn marshal_in(&mut self, b: &mut FunctionBuilder) -> LoadResult<ValueId> {
        let plan = self.plan;
        let value = b.operand(self.local);
        Ok(match plan.action {
            MarshalAction::Same => value,
            MarshalAction::Address => pin(b, value),
            MarshalAction::Scalar => self.scalar_in(b, value)?,
            MarshalAction::ArrayData => data_or_null(b, value, ARRAY_DATA_OFFSET),
            MarshalAction::ObjectData => data_or_null(b, value, OBJECT_HEADER_BYTES as i32),
            MarshalAction::Utf16Chars => data_or_null(b, value, STRING_CHARS_OFFSET),
            MarshalAction::HandleRef => {
                b.load(value, handle_ref_offset(plan.ty)?, MemType::I64, flags(AliasClass::Any))
            }
            MarshalAction::CriticalHandle => {
                throw_if_null(b, value)?;
                b.load(value, handle_offset(plan.ty)?, MemType::I64, checked_flags(AliasClass::Field))
            }
            MarshalAction::SafeHandle => self.safe_handle_in(b, value)?,
            MarshalAction::Custom => self.custom_in(b, value)?,
            MarshalAction::StructPointer if plan.native.is_same() => b.address_of(self.local),
            MarshalAction::Helper | MarshalAction::StructValue | MarshalAction::StructPointer => {
                let slot = if plan.by_ref { value } else { b.address_of(self.local) };
                let info = b.symbol(self.info);
                let word = required(b.call_helper(HelperId::MarshalIn, vec![slot, info]))?;
                if let Some(native) = self.native {
                    b.set(native, word);
                }
                // A date is passed as a double.
                if plan.native == NativeType::Date && !plan.by_ref {
                    b.emit(Op::Un(UnOp::BitcastI64F64, word), IrType::F64)
                } else {
                    word
                }
            }
            MarshalAction::Refused | MarshalAction::UnsizedArray => value,
        })
    }

    fn scalar_in(&mut self, b: &mut FunctionBuilder, value: ValueId) -> LoadResult<ValueId> {
        if !self.plan.by_ref {
            return Ok(scalar_to_native(b, &self.plan.native, value));
        }
        let cell = b.memory_local(IrType::I32);
        self.native = Some(cell);
        let address = b.address_of(cell);
        if self.plan.is_in {
            let managed = b.load_value(value, self.plan.ty, checked_flags(AliasClass::Any))?;
            let native = scalar_to_native(b, &self.plan.native, managed);
            b.store(address, 0, native, native_scalar(&self.plan.native), flags(AliasClass::Any));
        }
        Ok(address)
    }

    fn safe_handle_in(&mut self, b: &mut FunctionBuilder, value: ValueId) -> LoadResult<ValueId> {
        let ty = self.plan.ty;
        let offset = handle_offset(ty)?;
        let (Some(native), Some(referenced)) = (self.native, self.referenced) else {
            return Ok(value);
        };
        let handle = if self.plan.by_ref {
            let fresh = new_handle(b, ty)?;
            if let Some(object) = self.object {
                b.set(object, fresh);
            }
            if !self.plan.is_in {
                return Ok(b.address_of(native));
            }
            b.load(value, 0, MemType::Ref, checked_flags(AliasClass::Any))
        } else {
            value
        };
        throw_if_null(b, handle)?;
        let flag = b.address_of(referenced);
        let add_ref = required_method(ty, "DangerousAddRef", 1)?;
        b.call_method(add_ref, vec![handle, flag])?;
        let word = b.load(handle, offset, MemType::I64, flags(AliasClass::Field));
        b.set(native, word);
        Ok(if self.plan.by_ref { b.address_of(native) } else { word })
    }

    fn custom_in(&mut self, b: &mut FunctionBuilder, value: ValueId) -> LoadResult<ValueId> {
        let (Some(native), Some(object)) = (self.native, self.object) else { return Ok(value) };
        let marshaler = load_marshaler(b, self.info)?;
        b.set(object, marshaler);
        if self.plan.is_in {
            let managed =
                if self.plan.by_ref { b.load(value, 0, MemType::Ref, checked_flags(AliasClass::Any)) } else { value };
            let (convert, done) = (b.new_block(), b.new_block());
            b.branch_if(managed, convert, done);
            b.switch_to(convert);
            let word = required(call_marshaler(b, marshaler, "MarshalManagedToNative", managed)?)?;
            b.set(native, word);
            b.jump(done);
            b.switch_to(done);
        }
        Ok(if self.plan.by_ref { b.address_of(native) } else { b.get(native) })
    }

    /// For an array that native code makes: stores its length, which another parameter holds, behind the slot's
    /// pointer, where the helpers read it.
    fn pass_length(&self, b: &mut FunctionBuilder, all: &[Argument]) -> LoadResult<()> {
        let NativeType::Array { count, .. } = &self.plan.native else { return Ok(()) };
        let (Some(native), Some(position)) = (self.native, count.param) else { return Ok(()) };
        let Some(length) = all.get(usize::from(position)).filter(|_| self.plan.by_ref && self.plan.is_out) else {
            return Ok(());
        };
        if !is_integer(length.plan.ty) {
            return Ok(());
        }
        let value = b.operand(length.local);
        let value = if length.plan.by_ref {
            b.load_value(value, length.plan.ty, checked_flags(AliasClass::Any))?
        } else {
            value
        };
        let wide = b.conv(value, ConvTarget::I8);
        let slot = b.get(native);
        b.store(slot, ARRAY_LENGTH_OFFSET, wide, MemType::I64, flags(AliasClass::Any));
        Ok(())
    }

    /// Copies the changes made by native code back.
    fn marshal_out(&self, b: &mut FunctionBuilder) -> LoadResult<()> {
        let plan = self.plan;
        if !plan.is_out {
            return Ok(());
        }
        let Some(native) = self.native else { return Ok(()) };
        let value = b.operand(self.local);
        match plan.action {
            MarshalAction::Scalar => {
                let address = b.address_of(native);
                let word = b.load(address, 0, native_scalar(&plan.native), flags(AliasClass::Any));
                let managed = scalar_from_native(b, &plan.native, word);
                b.store_value(value, managed, plan.ty, None, flags(AliasClass::Any))?;
            }
            MarshalAction::Helper => {
                let word = b.get(native);
                let slot = if plan.by_ref { value } else { b.address_of(self.local) };
                let info = b.symbol(self.info);
                b.call_helper(HelperId::MarshalOut, vec![word, slot, info]);
            }
            MarshalAction::SafeHandle if plan.by_ref => self.safe_handle_out(b, value, native)?,
            // The marshaler sees the native code's changes, but the caller keeps its object.
            MarshalAction::Custom if !plan.by_ref => {
                let Some(object) = self.object else { return Ok(()) };
                let (convert, done) = (b.new_block(), b.new_block());
                let word = b.get(native);
                b.branch_if(word, convert, done);
                b.switch_to(convert);
                let marshaler = b.get(object);
                call_marshaler(b, marshaler, "MarshalNativeToManaged", word)?;
                b.jump(done);
                b.switch_to(done);
            }
            MarshalAction::Custom => {
                let Some(object) = self.object else { return Ok(()) };
                let result = b.local(IrType::Ref);
                let null = b.null();
                b.set(result, null);
                let (convert, done) = (b.new_block(), b.new_block());
                let word = b.get(native);
                b.branch_if(word, convert, done);
                b.switch_to(convert);
                let marshaler = b.get(object);
                let managed = required(call_marshaler(b, marshaler, "MarshalNativeToManaged", word)?)?;
                b.set(result, managed);
                b.jump(done);
                b.switch_to(done);
                let managed = b.get(result);
                b.store_value(value, managed, plan.ty, None, flags(AliasClass::Any))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Stores a changed (or `out`) handle in the new object, which then replaces the old one.
    fn safe_handle_out(&self, b: &mut FunctionBuilder, value: ValueId, native: LocalId) -> LoadResult<()> {
        let Some(object) = self.object else { return Ok(()) };
        let offset = handle_offset(self.plan.ty)?;
        let (replace, done) = (b.new_block(), b.new_block());
        let word = b.get(native);
        if self.plan.is_in {
            let old = b.load(value, 0, MemType::Ref, flags(AliasClass::Any));
            let old_word = b.load(old, offset, MemType::I64, flags(AliasClass::Field));
            let same = b.cmp(CmpOp::Eq, old_word, word);
            b.branch_if(same, done, replace);
        } else {
            b.jump(replace);
        }
        b.switch_to(replace);
        let fresh = b.get(object);
        b.store(fresh, offset, word, MemType::I64, flags(AliasClass::Field));
        if !self.plan.is_in {
            b.store_value(value, fresh, self.plan.ty, None, flags(AliasClass::Any))?;
            b.jump(done);
        } else {
            // The old handle's count was raised for the call: lower it while it can still be found.
            let old = b.load(value, 0, MemType::Ref, flags(AliasClass::Any));
            release_if_referenced(b, self.plan.ty, old, self.referenced)?;
            b.store_value(value, fresh, self.plan.ty, None, flags(AliasClass::Any))?;
            b.jump(done);
        }
        b.switch_to(done);
        Ok(())
    }

    /// Frees the memory of the conversions; runs once on every path out of the wrapper.
    fn clean_up(&self, b: &mut FunctionBuilder) -> LoadResult<()> {
        if !self.needs_cleanup() {
            return Ok(());
        }
        let Some(native) = self.native else { return Ok(()) };
        match self.plan.action {
            MarshalAction::Helper | MarshalAction::StructValue | MarshalAction::StructPointer => {
                let word = b.get(native);
                let slot = if self.plan.by_ref { b.get(self.local) } else { b.address_of(self.local) };
                let info = b.symbol(self.info);
                b.call_helper(HelperId::MarshalFree, vec![word, slot, info]);
            }
            MarshalAction::SafeHandle => {
                let value = b.get(self.local);
                let handle =
                    if self.plan.by_ref { b.load(value, 0, MemType::Ref, flags(AliasClass::Any)) } else { value };
                release_if_referenced(b, self.plan.ty, handle, self.referenced)?;
            }
            MarshalAction::Custom => {
                let Some(object) = self.object else { return Ok(()) };
                let (free, done) = (b.new_block(), b.new_block());
                let word = b.get(native);
                b.branch_if(word, free, done);
                b.switch_to(free);
                let marshaler = b.get(object);
                call_marshaler(b, marshaler, "CleanUpNativeData", word)?;
                b.jump(done);
                b.switch_to(done);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Address of the native struct that a call returned.
fn struct_result_address(b: &mut FunctionBuilder, result: &StructResult, value: ValueId) -> ValueId {
    let mem = match result {
        StructResult::Memory(place) => return *place,
        // The operand of a struct is its address.
        StructResult::Struct(_) => return value,
        StructResult::Register(part) => native_registers::part_memory(*part),
    };
    let place = b.local(IrType::Block(8));
    let address = b.address_of(place);
    b.store(address, 0, value, mem, flags(AliasClass::Any));
    address
}

fn is_integer(ty: Ty) -> bool {
    use ElementType as E;
    matches!(ty.underlying().element_type, E::I1 | E::U1 | E::I2 | E::U2 | E::I4 | E::U4 | E::I8 | E::U8 | E::I | E::U)
}

/// Stores an address in a memory local for the rest of the frame and returns it.
fn pin(b: &mut FunctionBuilder, address: ValueId) -> ValueId {
    let pinned = b.pinned_local(IrType::ByRef);
    b.set(pinned, address);
    address
}

/// `object + offset`, pinned, or 0 for null.
fn data_or_null(b: &mut FunctionBuilder, object: ValueId, offset: i32) -> ValueId {
    let data = b.offset(object, offset);
    let zero = b.const_i64(0);
    let address = b.emit(Op::Select(object, data, zero), IrType::ByRef);
    pin(b, address)
}

/// ArgumentNullException for a null handle.
fn throw_if_null(b: &mut FunctionBuilder, object: ValueId) -> LoadResult<()> {
    let (throw, go_on) = (b.new_cold_block(), b.new_block());
    b.branch_if(object, go_on, throw);
    b.switch_to(throw);
    let class = universe().library_type(LibraryType::ArgumentNullException)?;
    let exception = b.emit(Op::NewObject(class), IrType::Ref);
    b.call_method(required_method(class, ".ctor", 0)?, vec![exception])?;
    b.terminate(Terminator::Throw(exception));
    b.switch_to(go_on);
    Ok(())
}

/// A handle object made by its parameterless constructor.
fn new_handle(b: &mut FunctionBuilder, ty: Ty) -> LoadResult<ValueId> {
    let object = b.emit(Op::NewObject(ty), IrType::Ref);
    b.call_method(required_method(ty, ".ctor", 0)?, vec![object])?;
    Ok(object)
}

fn release_if_referenced(
    b: &mut FunctionBuilder,
    ty: Ty,
    handle: ValueId,
    referenced: Option<LocalId>,
) -> LoadResult<()> {
    let Some(referenced) = referenced else { return Ok(()) };
    let (release, done) = (b.new_block(), b.new_block());
    let flag = b.address_of(referenced);
    let raised = b.load(flag, 0, MemType::U8, flags(AliasClass::Any));
    b.branch_if(raised, release, done);
    b.switch_to(release);
    // The flag is cleared first: an exception from the release must not lead to a second release.
    let zero = b.const_i32(0);
    b.set(referenced, zero);
    b.call_method(required_method(ty, "DangerousRelease", 0)?, vec![handle])?;
    b.jump(done);
    b.switch_to(done);
    Ok(())
}

pub(super) fn load_marshaler(b: &mut FunctionBuilder, info: Symbol) -> LoadResult<ValueId> {
    let info = b.symbol(info);
    required(b.call_helper(HelperId::CustomMarshaler, vec![info]))
}

/// Calls a one-argument method of `ICustomMarshaler`.
pub(super) fn call_marshaler(
    b: &mut FunctionBuilder,
    marshaler: ValueId,
    name: &str,
    argument: ValueId,
) -> LoadResult<Option<ValueId>> {
    let interface = universe().library_type(LibraryType::ICustomMarshaler)?;
    let method = required_method(interface, name, 1)?;
    let sig = call_sig(method)?;
    Ok(b.call(CallTarget::Interface { method }, sig, vec![marshaler, argument]))
}

pub(super) fn scalar_to_native(b: &mut FunctionBuilder, native: &NativeType, value: ValueId) -> ValueId {
    match native {
        NativeType::Bool(form) => bool_to_native(b, *form, value),
        NativeType::AnsiChar => {
            // One byte cannot hold a non-ASCII character.
            let limit = b.const_i32(0x80);
            let is_ascii = b.cmp(CmpOp::LtUn, value, limit);
            let question_mark = b.const_i32(i32::from(b'?'));
            b.emit(Op::Select(is_ascii, value, question_mark), IrType::I32)
        }
        _ => value,
    }
}

pub(super) fn scalar_from_native(b: &mut FunctionBuilder, native: &NativeType, word: ValueId) -> ValueId {
    match native {
        NativeType::Bool(form) => bool_from_native(b, *form, word),
        NativeType::AnsiChar => b.conv(word, ConvTarget::U1),
        _ => word,
    }
}

/// Addresses are plain words to native code.
fn native_word(ty: IrType) -> IrType {
    if ty == IrType::ByRef { IrType::I64 } else { ty }
}

/// The native function's return type; None = void.
fn native_return_type(plan: &ParamPlan) -> LoadResult<Option<IrType>> {
    Ok(match plan.action {
        _ if plan.native == NativeType::Void => None,
        MarshalAction::Same if plan.by_ref => Some(IrType::I64),
        MarshalAction::Same => return_type(plan.ty)?,
        MarshalAction::Scalar => Some(IrType::I32),
        _ => Some(IrType::I64),
    })
}

/// The object for the result, allocated before the call so that no allocation can fail after it.
fn prepare_result(b: &mut FunctionBuilder, plan: &ParamPlan) -> LoadResult<Option<ValueId>> {
    Ok(match plan.action {
        MarshalAction::SafeHandle => {
            let object = new_handle(b, plan.ty)?;
            let kept = b.memory_local(IrType::Ref);
            b.set(kept, object);
            Some(object)
        }
        _ => None,
    })
}

/// Converts the result into a local, which outlives the region.
fn marshal_result(
    b: &mut FunctionBuilder,
    plan: &ParamPlan,
    info: Symbol,
    native: Option<ValueId>,
    prepared: Option<ValueId>,
) -> LoadResult<Option<LocalId>> {
    let Some(native) = native else { return Ok(None) };
    let local = match plan.action {
        MarshalAction::Same if plan.by_ref => b.local(IrType::ByRef),
        MarshalAction::Same | MarshalAction::Scalar => b.local(ir_type(plan.ty)?),
        _ => b.memory_local(ir_type(plan.ty)?),
    };
    match plan.action {
        MarshalAction::Same => match b.local_type(local) {
            IrType::Struct(ty) => {
                let dst = b.address_of(local);
                let flags = flags(AliasClass::Any);
                b.emit(Op::CopyStruct { dst, src: native, ty, barrier: false, flags }, IrType::Void);
            }
            _ => {
                let value = if plan.by_ref { native } else { narrow_scalar(b, mem_type(plan.ty)?, native) };
                b.set(local, value);
            }
        },
        MarshalAction::Scalar => {
            let value = scalar_from_native(b, &plan.native, native);
            b.set(local, value);
        }
        MarshalAction::SafeHandle => {
            let object = required(prepared)?;
            b.store(object, handle_offset(plan.ty)?, native, MemType::I64, flags(AliasClass::Field));
            b.set(local, object);
        }
        MarshalAction::Custom => {
            let (convert, done) = (b.new_block(), b.new_block());
            b.branch_if(native, convert, done);
            b.switch_to(convert);
            let marshaler = load_marshaler(b, info)?;
            let managed = required(call_marshaler(b, marshaler, "MarshalNativeToManaged", native)?)?;
            let managed = b.emit(Op::CastClass(managed, plan.ty), IrType::Ref);
            b.set(local, managed);
            call_marshaler(b, marshaler, "CleanUpNativeData", native)?;
            b.jump(done);
            b.switch_to(done);
        }
        _ => {
            let slot = b.address_of(local);
            let info = b.symbol(info);
            b.call_helper(HelperId::MarshalOut, vec![native, slot, info]);
        }
    }
    Ok(Some(local))
}
