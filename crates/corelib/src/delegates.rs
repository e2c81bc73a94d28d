//! System.Delegate. `runtime::object::delegates` fills delegates in.
//!
//! `GetInvokeMethod` gives the method `Invoke` of a delegate's type as a method handle, which `DynamicInvoke` takes it
//! for; `GetMulticastInvoke` gives the same word, which managed code only stores in `_methodPtr` of delegates with a
//! list, where Saki's `Invoke` does not read it.

use crate::arguments::{MethodArgument, ObjectPlace, TypeArgument};
use saki_abi::method_table::MethodTable;
use saki_il::synth::delegate::invoke_method;
use saki_runtime::ExceptionType;
use saki_runtime::object::{delegate_signatures, delegates, exceptions, member_handles, method_tables};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, ToManaged};
use saki_types::{Method, Ty};

/// `DelegateBindingFlags`.
mod binding {
    pub(super) const STATIC_ONLY: i32 = 1;
    pub(super) const INSTANCE_ONLY: i32 = 2;
    pub(super) const OPEN_ONLY: i32 = 4;
    pub(super) const CLOSED_ONLY: i32 = 8;
    pub(super) const NEVER_CLOSED_OVER_NULL: i32 = 0x10;
    pub(super) const IGNORE_CASE: i32 = 0x20;
}

fn alloc(t: CurrentThread, ty: TypeArgument, result: ObjectPlace) -> Managed<()> {
    result.set(t, Obj::new(t, ty.ty())?);
    Ok(())
}

fn alloc_like(t: CurrentThread, delegate: ObjectPlace) -> Managed<()> {
    let Some(original) = delegate.get() else { return Err(exceptions::throw_null_reference(t)) };
    delegate.set(t, original.new_of_same_type(t)?);
    Ok(())
}

fn construct<'t>(t: CurrentThread<'t>, this: Option<Obj<'t>>, target: Option<Obj<'t>>, code: isize) -> Managed<()> {
    delegates::delegate_init(t, this, target, code.cast_unsigned(), None)
}

fn construct_place(t: CurrentThread, this: ObjectPlace, target: ObjectPlace, code: isize) -> Managed<()> {
    construct(t, this.get(), target.get(), code)
}

fn invoke_of(t: CurrentThread, table: *const MethodTable) -> Managed<*const ()> {
    // SAFETY: managed code passes the table of a delegate's type.
    let ty = unsafe { method_tables::type_of_handle(table.addr()) };
    Ok(std::ptr::from_ref(invoke_method(ty).to_managed(t)?).cast())
}

/// Fills the delegate in, if the flags and the signatures allow it.
fn bind<'t>(
    t: CurrentThread<'t>,
    delegate: Obj<'t>,
    target: Option<Obj<'t>>,
    method: &'static Method,
    flags: i32,
) -> Managed<bool> {
    let forbidden = if method.is_static() { binding::INSTANCE_ONLY } else { binding::STATIC_ONLY };
    if flags & forbidden != 0 {
        return Ok(false);
    }
    let given = invoke_method(delegate.ty()).to_managed(t)?.sig().to_managed(t)?.params.len();
    let wanted = method.sig().to_managed(t)?.params.len() + usize::from(!method.is_static());
    let is_closed = match wanted.checked_sub(given) {
        Some(0) => false,
        Some(1) => true,
        _ => return Ok(false),
    };
    if flags & (if is_closed { binding::OPEN_ONLY } else { binding::CLOSED_ONLY }) != 0 {
        return Ok(false);
    }
    if is_closed && target.is_none() && flags & binding::NEVER_CLOSED_OVER_NULL != 0 {
        return Ok(false);
    }
    if !is_closed && target.is_some() {
        return Ok(false);
    }
    if !delegate_signatures::may_bind(t, delegate.ty(), target, method)? {
        return Ok(false);
    }
    delegates::init(t, delegate, target, method, None)?;
    Ok(true)
}

fn bind_to_method(
    t: CurrentThread,
    delegate: ObjectPlace,
    target: ObjectPlace,
    method: MethodArgument,
    _method_type: TypeArgument,
    flags: i32,
) -> Managed<i32> {
    let Some(this) = delegate.get() else { return Err(exceptions::throw_null_reference(t)) };
    crate::dynamic_method::define(t, method.method())?;
    if method.method().is_generic_definition() {
        let message = "Cannot bind to the target method because its signature is not compatible with that of the \
                       delegate type.";
        return Err(exceptions::throw(t, ExceptionType::Argument, message));
    }
    if method.method().is_open() {
        let message = "Could not execute the method because either the method itself or the containing type is not \
                       fully instantiated.";
        return Err(exceptions::throw(t, ExceptionType::InvalidOperation, message));
    }
    bind(t, this, target.get(), method.method(), flags).map(i32::from)
}

/// Binds to the first method of the name, in the type or its bases, that the delegate can call.
fn bind_to_name(
    t: CurrentThread,
    delegate: ObjectPlace,
    target: ObjectPlace,
    method_type: TypeArgument,
    name: *const std::ffi::c_char,
    flags: i32,
) -> Managed<i32> {
    let Some(this) = delegate.get() else { return Err(exceptions::throw_null_reference(t)) };
    // SAFETY: managed code passes a text that ends with a NUL, and pins it.
    let name = unsafe { std::ffi::CStr::from_ptr(name) }.to_string_lossy();
    let is_named = |method: &&'static Method| match flags & binding::IGNORE_CASE != 0 {
        true => method.name.eq_ignore_ascii_case(&name),
        false => method.name == name,
    };
    let mut class: Option<Ty> = method_type.find();
    while let Some(ty) = class {
        let methods: Vec<&'static Method> = ty.methods().to_managed(t)?.filter(is_named).collect();
        for method in methods.into_iter().filter(|method| !method.is_generic_definition()) {
            if bind(t, this, target.get(), method, flags)? {
                return Ok(1);
            }
        }
        class = ty.parent().to_managed(t)?;
    }
    Ok(0)
}

fn find_method_handle(t: CurrentThread, delegate: ObjectPlace, result: ObjectPlace) -> Managed<()> {
    match delegate.get().and_then(delegates::method_of) {
        Some(method) => result.set(t, member_handles::of_method(t, method)?),
        None => result.set(t, None::<Obj>),
    }
    Ok(())
}

fn are_same_methods(_t: CurrentThread, left: ObjectPlace, right: ObjectPlace) -> i32 {
    let method =
        |delegate: ObjectPlace| delegate.get().and_then(delegates::method_of).map(std::ptr::from_ref::<Method>);
    i32::from(method(left) == method(right))
}

/// The internal calls of `System.Delegate`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 QCall::Delegate_InternalAlloc", &alloc),
    InternalCall::new("@net9 QCall::Delegate_InternalAllocLike", &alloc_like),
    InternalCall::new("@net9 System.Delegate::DelegateConstruct", &construct),
    InternalCall::new("@net10 QCall::Delegate_Construct", &construct_place),
    InternalCall::new(
        "@net System.Delegate::GetMulticastInvoke(System.Runtime.CompilerServices.MethodTable*)",
        &invoke_of,
    ),
    InternalCall::new("@net QCall::Delegate_GetMulticastInvokeSlow", &invoke_of),
    InternalCall::new(
        "@net System.Delegate::GetInvokeMethod(System.Runtime.CompilerServices.MethodTable*)",
        &invoke_of,
    ),
    InternalCall::new("@net QCall::Delegate_FindMethodHandle", &find_method_handle),
    InternalCall::new("@net QCall::Delegate_BindToMethodName", &bind_to_name),
    InternalCall::new("@net QCall::Delegate_BindToMethodInfo", &bind_to_method),
    InternalCall::new("@net QCall::Delegate_InternalEqualMethodHandles", &are_same_methods),
];
