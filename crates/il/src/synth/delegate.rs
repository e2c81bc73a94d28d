//! Bodies of delegate members: `Invoke`, the constructor, `BeginInvoke`, `EndInvoke`.
//!
//! A delegate's `method_ptr` is the code address and `invoke_impl` its *kind*, which says how `Invoke` calls the code;
//! both are set by `DelegateInit` (a helper, or `jit` in line) and by reflection's CreateDelegate from
//! [`delegate_kind`]. Calls of unknown targets use raw signatures: struct arguments are the addresses of copies that
//! the caller of `Invoke` made, and a struct result goes through an ordinary pointer argument, whose position depends
//! on the kind (after `this`, else first). Vectors are values in registers, as in all managed calls.
//!
//! Invariant: in a multicast call every target gets struct arguments of its own.
//! Left out: making delegates, and what BeginInvoke and EndInvoke do once their arguments are boxed (runtime).

use super::boxed::{boxed_arguments, new_object_array, return_unboxed, store_element};
use super::builder::{FunctionBuilder, call_sig, checked_flags, flags, required};
pub use crate::delegate_layout::{DelegateFields, DelegateKind, delegate_kind, invoke_method, is_made_in_line};
use crate::ir::{
    AliasClass, BinOp, CallSig, CallTarget, CmpOp, Function, IrType, LocalId, MemType, Op, Terminator, ValueId,
};
use saki_abi::HelperId;
use saki_types::{Field, LoadError, LoadErrorKind, LoadResult, Method, Ty};

/// Position of the call of an open virtual delegate's target in the body of `Invoke`; other calls have position 0.
/// Stack traces distinguish the two by this position.
pub const VIRTUAL_CALL_POSITION: u32 = 1;

pub(crate) fn required_field(ty: Ty, name: &str) -> LoadResult<&'static Field> {
    ty.find_field(name)?.ok_or_else(|| {
        let subject = format!("{}.{name}", ty.full_name());
        LoadError::new(LoadErrorKind::MissingField, format!("Field not found: {subject}"), subject)
    })
}

/// Body of `Invoke` for an exact delegate type.
///
/// # Errors
/// The errors of the signature and of the core library's delegate classes.
pub fn delegate_invoke(method: &'static Method) -> LoadResult<Function> {
    let sig = call_sig(method)?;
    let fields = DelegateFields::load()?;
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), sig.clone());
    b.set_stub();
    let this = b.get(LocalId(0));
    let multicast = b.new_cold_block();
    let single = b.new_block();
    let (mark, mark_type) = fields.multicast_mark();
    let mark = b.load(this, mark, mark_type, checked_flags(AliasClass::Field));
    b.branch_if(mark, multicast, single);

    b.switch_to(single);
    let code = b.load(this, fields.method_ptr, MemType::I64, flags(AliasClass::Field));
    // The kind fits the low word of the IntPtr field.
    let kind = b.load(this, fields.invoke_impl, MemType::I32, flags(AliasClass::Field));
    let closed_instance = b.new_block();
    let other = b.new_block();
    b.branch_if(kind, other, closed_instance);

    let dispatch = DelegateDispatch { sig: &sig, fields, this, code };
    b.switch_to(closed_instance);
    dispatch.emit(&mut b, DelegateKind::ClosedInstance);

    b.switch_to(other);
    let mut targets = vec![b.new_cold_block()];
    b.switch_to(targets[0]);
    b.terminate(Terminator::Unreachable);
    for kind in [
        DelegateKind::OpenStatic,
        DelegateKind::OpenInstance,
        DelegateKind::OpenVirtual,
        DelegateKind::ClosedStatic,
        DelegateKind::SelfPassing,
    ] {
        let block = b.new_block();
        b.switch_to(block);
        dispatch.emit(&mut b, kind);
        targets.push(block);
    }
    let default = targets[0];
    b.switch_to(other);
    b.terminate(Terminator::Switch { value: kind, targets, default });

    b.switch_to(multicast);
    let delegates = b.load(this, fields.delegates, MemType::Ref, flags(AliasClass::Field));
    let count = match fields.count {
        Some(count) => b.load(this, count, MemType::I32, flags(AliasClass::Field)),
        None => b.emit(Op::ArrayLen(delegates), IrType::I32),
    };
    emit_multicast(&mut b, method, &sig, delegates, count);
    let mut function = b.finish();
    crate::opt::keep_vectors(&mut function);
    Ok(function)
}

/// Data shared by the single-target calls of one `Invoke`.
struct DelegateDispatch<'a> {
    sig: &'a CallSig,
    fields: DelegateFields,
    this: ValueId,
    code: ValueId,
}

impl DelegateDispatch<'_> {
    /// Ends the current block with the call of the target.
    fn emit(&self, b: &mut FunctionBuilder, kind: DelegateKind) {
        let mut code = self.code;
        let mut params = Vec::new();
        let mut args = Vec::new();
        // Position of a struct result's address among the arguments.
        let mut result_index = 0;
        match kind {
            DelegateKind::ClosedInstance | DelegateKind::ClosedStatic => {
                args.push(b.load(self.this, self.fields.target, MemType::Ref, flags(AliasClass::Field)));
                params.push(IrType::Ref);
                result_index = usize::from(kind == DelegateKind::ClosedInstance);
            }
            DelegateKind::SelfPassing => {
                args.push(self.this);
                params.push(IrType::Ref);
                result_index = 1;
            }
            DelegateKind::OpenStatic => {}
            DelegateKind::OpenInstance | DelegateKind::OpenVirtual => {
                let first = self.sig.params.get(1).copied();
                // Such a delegate cannot be made when the first argument is not a possible `this`.
                if !matches!(first, Some(IrType::Ref | IrType::ByRef))
                    || (kind == DelegateKind::OpenVirtual && first != Some(IrType::Ref))
                {
                    b.terminate(Terminator::Unreachable);
                    return;
                }
                // A non-virtual method may be called on null; for virtual ones the helper throws.
                if kind == DelegateKind::OpenVirtual {
                    let receiver = b.get(LocalId(1));
                    let resolved = b.call_helper(HelperId::DelegateResolveVirtual, vec![self.this, receiver]);
                    code = resolved.expect("the helper returns an address");
                }
                result_index = 1;
            }
        }
        for (index, ty) in self.sig.params.iter().enumerate().skip(1) {
            let local = LocalId(index as u32);
            args.push(b.operand(local));
            params.push(*ty);
        }
        let target = CallTarget::Indirect(code);
        // A frame of its own for an open virtual delegate, which traces show.
        if kind == DelegateKind::OpenVirtual {
            b.il_offset = VIRTUAL_CALL_POSITION;
        }
        let result_in_memory = self.sig.ret.filter(|ty| ty.vector().is_none());
        if let Some(IrType::Struct(ty)) = result_in_memory {
            let result = b.local(IrType::Struct(ty));
            let address = b.address_of(result);
            args.insert(result_index, address);
            params.insert(result_index, IrType::ByRef);
            b.call(target, CallSig { params, ret: None, ..CallSig::default() }, args);
            b.ret(Some(address));
        } else if kind == DelegateKind::OpenVirtual {
            let result = b.call(target, CallSig { params, ret: self.sig.ret, ..CallSig::default() }, args);
            b.ret(result);
        } else {
            let sig = Box::new(CallSig { params, ret: self.sig.ret, ..CallSig::default() });
            b.terminate(Terminator::TailCall { target, sig, args });
        }
        b.il_offset = 0;
    }
}

/// Calls the first `count` entries of `delegates` in order; the last result counts. ECMA-335 §I.8.9.3.
fn emit_multicast(b: &mut FunctionBuilder, method: &'static Method, sig: &CallSig, delegates: ValueId, count: ValueId) {
    let index = b.local(IrType::I32);
    let zero = b.const_i32(0);
    b.set(index, zero);
    let result = sig.ret.map(|ty| result_local(b, ty));
    let body = b.new_cold_block();
    let done = b.new_cold_block();
    b.jump(body);

    b.switch_to(body);
    b.emit(Op::Poll, IrType::Void);
    let current = b.get(index);
    let slot = b.emit(Op::ElementAddr { array: delegates, index: current, element_size_bytes: 8 }, IrType::ByRef);
    let entry = b.load(slot, 0, MemType::Ref, flags(AliasClass::Element));
    let mut args = vec![entry];
    for (position, ty) in sig.params.iter().enumerate().skip(1) {
        let value = b.operand(LocalId(position as u32));
        args.push(match ty {
            IrType::Struct(ty) => b.struct_copy(value, ty),
            _ => value,
        });
    }
    let value = b.call(CallTarget::Direct(method), sig.clone(), args);
    if let (Some(result), Some(value)) = (result, value) {
        match b.local_type(result) {
            IrType::Struct(ty) => {
                let dst = b.address_of(result);
                let flags = flags(AliasClass::Any);
                b.emit(Op::CopyStruct { dst, src: value, ty, barrier: false, flags }, IrType::Void);
            }
            _ => b.set(result, value),
        }
    }
    let one = b.const_i32(1);
    let next = b.bin(BinOp::Add, current, one);
    b.set(index, next);
    let more = b.cmp(CmpOp::Lt, next, count);
    b.branch_if(more, body, done);

    b.switch_to(done);
    let value = result.map(|local| b.operand(local));
    b.ret(value);
}

/// A zeroed local for a result that is assigned in a loop.
fn result_local(b: &mut FunctionBuilder, ty: IrType) -> LocalId {
    match ty {
        IrType::Struct(_) => b.memory_local(ty),
        _ => b.zeroed_local(ty),
    }
}

/// Body of a delegate constructor `(object, native int)` that was not called through the `ldftn; newobj` pattern: the
/// method is found from its code address.
///
/// # Errors
/// The errors of the signature.
pub fn delegate_ctor(method: &'static Method) -> LoadResult<Function> {
    let sig = call_sig(method)?;
    if !matches!(sig.params[..], [IrType::Ref, IrType::Ref, IrType::I64]) {
        return Err(LoadError::invalid_program(format!("{} is no delegate constructor", method.full_name())));
    }
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), sig);
    b.set_stub();
    let this = b.get(LocalId(0));
    let target = b.get(LocalId(1));
    let code = b.get(LocalId(2));
    let unknown = b.const_i64(0);
    b.call_helper(HelperId::DelegateInit, vec![this, target, code, unknown]);
    b.ret(None);
    Ok(b.finish())
}

/// Body of `BeginInvoke(args…, AsyncCallback, object)`: boxes everything (by-reference arguments by their current
/// value).
///
/// # Errors
/// The errors of the signature.
pub fn delegate_begin_invoke(method: &'static Method) -> LoadResult<Function> {
    let sig = method.sig()?;
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), call_sig(method)?);
    b.set_stub();
    let array = boxed_arguments(&mut b, sig)?;
    let this = b.get(LocalId(0));
    let result = required(b.call_helper(HelperId::DelegateBeginInvoke, vec![this, array]))?;
    b.ret(Some(result));
    Ok(b.finish())
}

/// Body of `EndInvoke(byrefs…, IAsyncResult)`: unboxes the result and copies by-reference results back.
///
/// # Errors
/// The errors of the signature.
pub fn delegate_end_invoke(method: &'static Method) -> LoadResult<Function> {
    let sig = method.sig()?;
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), call_sig(method)?);
    b.set_stub();
    let array = new_object_array(&mut b, sig.params.len())?;
    if let Some(last) = sig.params.len().checked_sub(1) {
        let async_result = b.get(LocalId(last as u32 + 1));
        store_element(&mut b, array, last, async_result);
    }
    let this = b.get(LocalId(0));
    let boxed = required(b.call_helper(HelperId::DelegateEndInvoke, vec![this, array]))?;
    return_unboxed(&mut b, sig, array, boxed)?;
    Ok(b.finish())
}
