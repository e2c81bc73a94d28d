//! Bodies of methods with UnsafeAccessorAttribute: a call of the member, its address, or a new object.
//!
//! Invariant: the member is reached as by its own class, whatever its visibility. Left out: which member it is
//! (`types::accessors`).

use super::builder::{FunctionBuilder, call_sig, ir_type, not_supported, required};
use crate::ir::{CallTarget, Function, IrType, LocalId, Op, Symbol, ValueId};
use saki_abi::HelperId;
use saki_types::accessors::{AccessedMember, accessed_member, named_parameters};
use saki_types::interop_attributes::Accessor;
use saki_types::{ArrayMethod, Field, LoadResult, Method, MethodKind, RemotingStub, universe};

/// The body of an accessor.
///
/// # Errors
/// Those of finding the member; `NotSupported` for constructors of arrays with several dimensions.
pub fn accessor(method: &'static Method, accessor: &Accessor) -> LoadResult<Function> {
    let member = accessed_member(method, accessor)?;
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), call_sig(method)?);
    let count = method.sig()?.params.len() as u32;
    let all: Vec<LocalId> = (0..count).map(LocalId).collect();
    let is_static = matches!(member, AccessedMember::StaticMethod(_) | AccessedMember::StaticField(_));
    for (number, class) in named_parameters(method)? {
        // That which only tells the class is not used.
        if number > 0 || !is_static {
            let object = b.get(all[number]);
            let cast = b.unbox_value(object, class)?;
            b.set(all[number], cast);
        }
    }
    let result = match member {
        AccessedMember::Constructor(constructor) => Some(new_object(&mut b, constructor, &all)?),
        AccessedMember::Method(target) => {
            let args = operands(&mut b, &all);
            call_on_object(&mut b, target, args)?
        }
        AccessedMember::StaticMethod(target) => {
            let args = operands(&mut b, &all[1..]);
            b.call(CallTarget::Direct(target), call_sig(target)?, args)
        }
        AccessedMember::Field(field) => Some(field_address(&mut b, field)?),
        AccessedMember::StaticField(field) => Some(static_address(&mut b, field)?),
    };
    b.ret(result);
    Ok(b.finish())
}

fn operands(b: &mut FunctionBuilder, locals: &[LocalId]) -> Vec<ValueId> {
    locals.iter().map(|local| b.operand(*local)).collect()
}

/// A call as by `callvirt`. ECMA-335 §III.4.2.
fn call_on_object(b: &mut FunctionBuilder, target: &'static Method, args: Vec<ValueId>) -> LoadResult<Option<ValueId>> {
    let owner = target.owner;
    let sig = call_sig(target)?;
    if owner.is_value_type() {
        return Ok(b.call(CallTarget::Direct(target), sig, args));
    }
    b.emit(Op::NullCheck(args[0]), IrType::Void);
    let slot = if target.is_virtual() && !owner.is_interface() { target.vtable_slot()? } else { None };
    let call = match slot {
        _ if owner.is_marshal_by_ref() => CallTarget::Direct(RemotingStub::Call(target).method()),
        _ if !target.is_virtual() => CallTarget::Direct(target),
        _ if !target.generic_args().is_empty() => {
            let handle = b.symbol(Symbol::MethodHandle(target));
            CallTarget::Indirect(required(b.call_helper(HelperId::ResolveVirtual, vec![args[0], handle]))?)
        }
        Some(slot) => CallTarget::Virtual { method: target, slot },
        None if owner.is_interface() => CallTarget::Interface { method: target },
        None => CallTarget::Direct(target),
    };
    Ok(b.call(call, sig, args))
}

/// An object as by `newobj`. ECMA-335 §III.4.21.
fn new_object(b: &mut FunctionBuilder, constructor: &'static Method, locals: &[LocalId]) -> LoadResult<ValueId> {
    let owner = constructor.owner;
    if owner == universe().string() {
        return new_string(b, constructor, locals);
    }
    if let MethodKind::Array(kind) = constructor.kind {
        return match kind {
            ArrayMethod::Ctor if owner.is_sz_array() => {
                let length = b.operand(locals[0]);
                Ok(b.emit(Op::NewArray(owner, length), IrType::Ref))
            }
            _ => Err(not_supported(constructor, "UnsafeAccessorAttribute for the constructor of this array")),
        };
    }
    if owner.is_abstract() {
        return Err(crate::import::new_objects::abstract_class(owner));
    }
    if owner.is_value_type() {
        let local = b.memory_local(ir_type(owner)?);
        let mut args = vec![b.address_of(local)];
        args.extend(operands(b, locals));
        b.call(CallTarget::Direct(constructor), call_sig(constructor)?, args);
        return Ok(b.operand(local));
    }
    let activated = |b: &mut FunctionBuilder, helper| {
        let handle = b.symbol(Symbol::TypeHandle(owner));
        required(b.call_helper(helper, vec![handle]))
    };
    let object = match () {
        () if owner.is_context_bound() => activated(b, HelperId::NewContextBound)?,
        () if owner.may_be_redirected() => activated(b, HelperId::NewMarshalByRef)?,
        () => b.emit(Op::NewObject(owner), IrType::Ref),
    };
    let mut args = vec![object];
    args.extend(operands(b, locals));
    let target = if owner.is_marshal_by_ref() { RemotingStub::Call(constructor).method() } else { constructor };
    b.call(CallTarget::Direct(target), call_sig(constructor)?, args);
    Ok(object)
}

/// Strings have no constructors to run: the factory (`LibraryProfile::string_factory`) with the same parameters makes
/// the object.
fn new_string(b: &mut FunctionBuilder, constructor: &'static Method, locals: &[LocalId]) -> LoadResult<ValueId> {
    let Some(create) =
        universe().string().find_method_sig(universe().profile().string_factory, &constructor.sig()?.params)?
    else {
        return Err(not_supported(constructor, "the class library makes no string of it"));
    };
    let mut args = Vec::new();
    if !create.is_static() {
        args.push(b.null());
    }
    args.extend(operands(b, locals));
    required(b.call(CallTarget::Direct(create), call_sig(create)?, args))
}

fn field_address(b: &mut FunctionBuilder, field: &'static Field) -> LoadResult<ValueId> {
    let base = b.get(LocalId(0));
    if field.owner.is_value_type() {
        return Ok(b.offset(base, field.offset_bytes()? as i32));
    }
    b.emit(Op::NullCheck(base), IrType::Void);
    if field.owner.is_marshal_by_ref() {
        let stub = RemotingStub::FieldAddress(field).method();
        return required(b.call(CallTarget::Direct(stub), call_sig(stub)?, vec![base]));
    }
    Ok(b.offset(base, field.offset_bytes()? as i32))
}

fn static_address(b: &mut FunctionBuilder, field: &'static Field) -> LoadResult<ValueId> {
    if !field.has_rva() && field.owner.has_initializer()? {
        b.emit(Op::ClassInit(field.owner), IrType::Void);
    }
    let address = if !field.is_thread_static {
        b.symbol(Symbol::StaticField(field))
    } else if field.is_context_static {
        let handle = b.symbol(Symbol::FieldHandle(field));
        required(b.call_helper(HelperId::ThreadStaticAddress, vec![handle]))?
    } else {
        b.emit(Op::ThreadStaticAddr(field), IrType::I64)
    };
    Ok(b.offset(address, 0))
}
