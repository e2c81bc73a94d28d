//! Bodies of `types::RemotingStub`s: calls and field accesses on objects that may be transparent proxies.
//!
//! A flag of its vtable tells that an object is a proxy. Then the arguments are boxed into an object[] and passed to
//! the runtime, which passes them to the RealProxy; by-reference results come back in the array.

use super::boxed::{boxed_arguments, return_unboxed};
use super::builder::{FunctionBuilder, call_sig, checked_flags, flags, required};
use crate::ir::{AliasClass, BinOp, BlockId, CallTarget, Function, LocalId, MemType, Symbol, ValueId};
use saki_abi::HelperId;
use saki_abi::object::OBJECT_VTABLE_OFFSET;
use saki_abi::vtable::{VTABLE_FLAGS_OFFSET, VTableFlags};
use saki_types::{Field, LoadResult, Method, RemotingStub};

/// The body of a stub; `method` is the method made for `stub`.
///
/// # Errors
/// The errors of the signature and of the field's layout.
pub fn remoting_stub(method: &'static Method, stub: RemotingStub) -> LoadResult<Function> {
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), call_sig(method)?);
    b.set_stub();
    match stub {
        RemotingStub::Invoke(target) => invoke(&mut b, target)?,
        RemotingStub::Call(target) => {
            let (proxy, local) = test_for_proxy(&mut b);
            for (block, callee) in [(proxy, RemotingStub::Invoke(target).method()), (local, target)] {
                b.switch_to(block);
                forward(&mut b, callee)?;
            }
        }
        RemotingStub::GetField(field) => get_field(&mut b, field)?,
        RemotingStub::SetField(field) => set_field(&mut b, field)?,
        RemotingStub::FieldAddress(field) => field_address(&mut b, field)?,
    }
    Ok(b.finish())
}

/// Ends the block with a branch: to the first of the returned blocks if `this` is a proxy, else to the second.
fn test_for_proxy(b: &mut FunctionBuilder) -> (BlockId, BlockId) {
    let (proxy, local) = (b.new_cold_block(), b.new_block());
    let this = b.get(LocalId(0));
    let vtable = b.load(this, OBJECT_VTABLE_OFFSET, MemType::I64, checked_flags(AliasClass::Runtime));
    let found = b.load(vtable, VTABLE_FLAGS_OFFSET, MemType::I32, flags(AliasClass::Runtime));
    let bit = b.const_i32(VTableFlags::PROXY as i32);
    let is_proxy = b.bin(BinOp::And, found, bit);
    b.branch_if(is_proxy, proxy, local);
    (proxy, local)
}

/// Calls a method of the same signature. Not a tail call, since traces show the stub's frame, as in Mono.
fn forward(b: &mut FunctionBuilder, callee: &'static Method) -> LoadResult<()> {
    let sig = call_sig(callee)?;
    let args = (0..sig.params.len()).map(|index| b.operand(LocalId(index as u32))).collect();
    let result = b.call(CallTarget::Direct(callee), sig, args);
    b.ret(result);
    Ok(())
}

fn invoke(b: &mut FunctionBuilder, target: &'static Method) -> LoadResult<()> {
    let sig = target.sig()?;
    let array = boxed_arguments(b, sig)?;
    let this = b.get(LocalId(0));
    let handle = b.symbol(Symbol::MethodHandle(target));
    let boxed = required(b.call_helper(HelperId::ProxyInvoke, vec![this, handle, array]))?;
    return_unboxed(b, sig, array, boxed)
}

fn remote_value(b: &mut FunctionBuilder, field: &'static Field) -> LoadResult<ValueId> {
    let this = b.get(LocalId(0));
    let handle = b.symbol(Symbol::FieldHandle(field));
    required(b.call_helper(HelperId::ProxyGetField, vec![this, handle]))
}

fn local_address(b: &mut FunctionBuilder, field: &'static Field) -> LoadResult<ValueId> {
    let this = b.get(LocalId(0));
    let offset = field.offset_bytes()? as i32;
    Ok(b.offset(this, offset))
}

fn get_field(b: &mut FunctionBuilder, field: &'static Field) -> LoadResult<()> {
    let ty = field.ty()?;
    let (proxy, local) = test_for_proxy(b);
    b.switch_to(local);
    let address = local_address(b, field)?;
    let value = b.load_value(address, ty, flags(AliasClass::Field))?;
    b.ret(Some(value));
    b.switch_to(proxy);
    let boxed = remote_value(b, field)?;
    let value = b.unbox_value(boxed, ty)?;
    b.ret(Some(value));
    Ok(())
}

fn set_field(b: &mut FunctionBuilder, field: &'static Field) -> LoadResult<()> {
    let ty = field.ty()?;
    let (proxy, local) = test_for_proxy(b);
    b.switch_to(local);
    let address = local_address(b, field)?;
    let this = b.get(LocalId(0));
    let value = b.operand(LocalId(1));
    b.store_value(address, value, ty, Some(this), flags(AliasClass::Field))?;
    b.ret(None);
    b.switch_to(proxy);
    let value = b.operand(LocalId(1));
    let boxed = b.box_value(value, ty)?;
    let this = b.get(LocalId(0));
    let handle = b.symbol(Symbol::FieldHandle(field));
    b.call_helper(HelperId::ProxySetField, vec![this, handle, boxed]);
    b.ret(None);
    Ok(())
}

fn field_address(b: &mut FunctionBuilder, field: &'static Field) -> LoadResult<()> {
    let (proxy, local) = test_for_proxy(b);
    b.switch_to(local);
    let address = local_address(b, field)?;
    b.ret(Some(address));
    b.switch_to(proxy);
    let this = b.get(LocalId(0));
    let handle = b.symbol(Symbol::FieldHandle(field));
    let address = required(b.call_helper(HelperId::ProxyFieldAddress, vec![this, handle]))?;
    let address = b.offset(address, 0);
    b.ret(Some(address));
    Ok(())
}
