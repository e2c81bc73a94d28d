//! Calling methods whose arguments lie in memory, as .NET's class libraries pass them to the machine: they have made
//! boxes and variables of the parameters' types before. Left out: arguments in an object[] (`invocation`).

use crate::invocation::{
    CallFrame, array_of_lengths, boxed_result, is_struct, nullable_holder, struct_words, this_word,
};
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::proxies;
use saki_runtime::{CurrentThread, Managed, Obj, ObjRef};
use saki_types::{Method, MethodKind, MethodSig, Ty, universe};

/// A method's call.
#[derive(Clone, Copy)]
struct Call {
    method: &'static Method,
    sig: &'static MethodSig,
    /// None for static methods; the address of the value for value types. An object is held by the caller's frame.
    this: Option<Slot>,
    /// Invariant: one address for each parameter, of a variable of its type; for a by-reference parameter the reference
    /// itself.
    arguments: *const *mut u8,
}

impl Call {
    fn argument(&self, index: usize) -> *mut u8 {
        // SAFETY: the invariant: one address for each parameter.
        unsafe { self.arguments.add(index).read() }
    }
}

/// Calls `method`, virtually if it is virtual and `target` is there, and gives the boxed result. A constructor without
/// target makes the object and returns it.
///
/// # Errors
/// What the callee threw, and load errors; NullReferenceException for a null reference as result of a method that
/// returns by reference.
///
/// # Safety
/// `arguments` has an address for each parameter: of a variable of the parameter's type, or, for a by-reference
/// parameter, the reference itself. `target` is an object of the method's type.
pub unsafe fn invoke_by_addresses<'t>(
    t: CurrentThread<'t>,
    method: &'static Method,
    target: Option<Obj<'t>>,
    arguments: *const *mut u8,
) -> Managed<Option<Obj<'t>>> {
    let sig = method.sig().to_managed(t)?;
    let given = Call { method, sig, this: this_word(method, target), arguments };
    if method.name == ".ctor" && target.is_none() {
        return construct(t, given).map(Some);
    }
    let Some(object) = target.filter(|_| !method.is_static()) else { return call(t, given) };
    let method = match method.is_virtual() || method.owner.is_interface() {
        true => proxies::implementation_on(t, object, method)?,
        false => method,
    };
    if method.owner.is_nullable() {
        // The box holds a T; the method wants a Nullable<T>.
        let holder = nullable_holder(t, method.owner, target)?;
        return call(t, Call { this: this_word(method, Some(holder)), method, ..given });
    }
    call(t, Call { this: this_word(method, target), method, ..given })
}

/// Calls exactly this method, and gives the boxed result. `this`: the object, or the address of the value for a method
/// of a value type; None for static methods.
///
/// # Errors
/// What the callee threw, and load errors; NullReferenceException for a null reference as result of a method that
/// returns by reference.
///
/// # Safety
/// `arguments` is as for [`invoke_by_addresses`]; `this` is what the method wants, and the caller keeps it alive.
pub unsafe fn invoke_exactly<'t>(
    t: CurrentThread<'t>,
    method: &'static Method,
    this: Option<Slot>,
    arguments: *const *mut u8,
) -> Managed<Option<Obj<'t>>> {
    call(t, Call { method, sig: method.sig().to_managed(t)?, this, arguments })
}

fn construct<'t>(t: CurrentThread<'t>, given: Call) -> Managed<Obj<'t>> {
    let (owner, sig) = (given.method.owner, given.sig);
    if owner == universe().string() {
        // A string constructor stands for the `Ctor` of the same parameters, which ignores its target.
        let Some(make) = owner.find_method_sig("Ctor", &sig.params).to_managed(t)? else {
            return Err(exceptions::throw_default(t, ExceptionType::MissingMethod));
        };
        let made =
            call(t, Call { method: make, sig: make.sig().to_managed(t)?, this: this_word(make, None), ..given })?;
        return Ok(made.unwrap_or_else(|| saki_base::bug!("String.Ctor gave null")));
    }
    if let MethodKind::Array(kind) = given.method.kind {
        // SAFETY: the parameters are Int32.
        let number = |index: usize| unsafe { given.argument(index).cast::<i32>().read() };
        let numbers: Vec<i32> = (0..sig.params.len()).map(number).collect();
        return array_of_lengths(t, owner, kind, &numbers).map(Obj::from);
    }
    if owner.is_nullable() {
        // SAFETY: the parameter is a T.
        let made = unsafe { Obj::boxed(t, owner.args[0], given.argument(0))? };
        return Ok(made.unwrap_or_else(|| saki_base::bug!("a Nullable of a Nullable")));
    }
    let made = Obj::new(t, owner)?;
    call(t, Call { this: this_word(given.method, Some(made)), ..given })?;
    Ok(made)
}

fn call<'t>(t: CurrentThread<'t>, call: Call) -> Managed<Option<Obj<'t>>> {
    let words = (call.sig.params.len() + 2).max(struct_words(call.sig).to_managed(t)?);
    match words {
        0..=8 => call_in_frame::<8>(t, call),
        9..=32 => call_in_frame::<32>(t, call),
        33..=256 => call_in_frame::<256>(t, call),
        257..=4096 => call_in_frame::<4096>(t, call),
        _ => {
            Err(exceptions::throw(t, ExceptionType::NotSupported, "The arguments are too large for a reflected call."))
        }
    }
}

/// Makes the call: `N` words hold the arguments, and as many the structs; the collector scans this frame. Not in
/// line: the frame of the least would be as large as that of the greatest.
#[inline(never)]
fn call_in_frame<'t, const N: usize>(t: CurrentThread<'t>, call: Call) -> Managed<Option<Obj<'t>>> {
    let Call { method, sig, this, .. } = call;
    let mut frame = CallFrame::<N>::default();
    let struct_bytes = |ty: Ty| Ok(ty.value_size_bytes().to_managed(t)? as usize);
    let result_at = frame.begin_with(t, this, sig.ret)?;
    for (index, &ty) in sig.params.iter().enumerate() {
        let given = call.argument(index);
        let slot = if ty.is_byref() {
            Slot::from_ptr(given)
        } else if is_struct(ty) {
            let size_bytes = struct_bytes(ty)?;
            let copy = frame.reserve(size_bytes);
            // SAFETY: a variable of this type lies there, and the copy has room for it; stores into a frame need no
            // barrier.
            unsafe { std::ptr::copy_nonoverlapping(given, copy, size_bytes) };
            Slot::from_ptr(copy)
        } else {
            // SAFETY: a variable of this type lies there.
            unsafe { invoke::load_slot(ty, given) }
        };
        frame.push(slot);
    }
    let result = invoke::invoke(t, method, frame.words())?;
    if let (true, Some(element)) = (sig.ret.is_byref(), sig.ret.element()) {
        return referenced(t, element, result.as_usize() as *mut u8);
    }
    match result_at {
        // SAFETY: the callee has written its result, a value of this type, there.
        Some(at) => unsafe { Obj::boxed(t, sig.ret, at) },
        None => boxed_result(t, sig.ret, result),
    }
}

/// What the reference that a method returned leads to.
fn referenced<'t>(t: CurrentThread<'t>, ty: Ty, address: *mut u8) -> Managed<Option<Obj<'t>>> {
    if address.is_null() {
        let message = "The target method returned a null reference.";
        return Err(exceptions::throw(t, ExceptionType::NullReference, message));
    }
    if is_struct(ty) {
        // SAFETY: the callee's result refers to a variable of this type.
        return unsafe { Obj::boxed(t, ty, address) };
    }
    if ty.is_reference_type() {
        // SAFETY: the callee's result refers to a variable of a reference type.
        return Ok(unsafe { Obj::from_word(address.cast::<ObjRef>().read()) });
    }
    // SAFETY: the callee's result refers to a variable of this type.
    boxed_result(t, ty, unsafe { invoke::load_slot(ty, address) })
}
