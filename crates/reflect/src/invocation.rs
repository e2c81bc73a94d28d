//! Calling methods with boxed arguments.
//!
//! Arguments come in an object[], already converted by the binder. What the callee may write through goes where the
//! collector sees it: a by-reference value argument is a fresh box in the array (so the callee cannot change a box that
//! others share), a by-reference object argument is the array's element itself, structs and struct results are words in
//! this frame, which is scanned conservatively. Left out: vararg arguments.

use crate::type_handle::is_byref_like;
use saki_abi::object::ArrayBound;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::invoke::{self, Slot};
use saki_runtime::object::{self, type_of, unboxed};
use saki_runtime::proxies;
use saki_runtime::type_objects::type_object;
use saki_runtime::vtables::vtable_of;
use saki_runtime::{CurrentThread, Managed, ObjRef};
use saki_types::{ArrayMethod, ElementType, LoadResult, Method, MethodKind, MethodSig, Ty, universe};

/// Outcome of a reflected call: the result, or the exception that says why the call was not made.
pub type CallOutcome = Result<ObjRef, ObjRef>;

/// A method's call with its target and arguments.
#[derive(Clone, Copy)]
struct Call {
    method: &'static Method,
    sig: &'static MethodSig,
    /// Null for static methods; boxed for value types.
    target: ObjRef,
    /// object[] or null.
    arguments: ObjRef,
}

/// Whether values are passed by address.
fn is_struct(ty: Ty) -> bool {
    matches!(ty.underlying().element_type, ElementType::ValueType | ElementType::TypedByRef)
}

/// `MethodBase.Invoke` after binding: checks the target, calls virtually, constructs for constructors without target.
///
/// # Errors
/// What the callee threw, and load errors, are pending.
pub fn reflected_call(
    t: CurrentThread,
    method: &'static Method,
    target: ObjRef,
    arguments: ObjRef,
) -> Managed<CallOutcome> {
    let mut method = method;
    let sig = method.sig().to_managed(t)?;
    let is_ctor = method.name == ".ctor";
    let refuse = |namespace: &str, name: &str, message: Option<&str>| -> Managed<CallOutcome> {
        exceptions::new_exception(t, namespace, name, message).map(Err)
    };
    if !method.is_static() {
        if target.is_null() {
            if !is_ctor {
                return refuse("System.Reflection", "TargetException", Some("Non-static method requires a target."));
            }
        } else {
            if !object::is_instance(t, target, method.owner)? {
                let (from, to) = (type_of(target).full_name(), method.owner.full_name());
                let message = format!("Object of type '{from}' doesn't match target type '{to}'");
                return refuse("System.Reflection", "TargetException", Some(&message));
            }
            if method.is_virtual() || method.owner.is_interface() {
                method = proxies::resolve_on(target, method).to_managed(t)?;
            }
        }
    }
    if is_byref_like(method.owner).to_managed(t)? || is_byref_like(sig.ret).to_managed(t)? {
        let message = "Cannot invoke method with stack pointers via reflection";
        return refuse("System", "NotSupportedException", Some(message));
    }
    if sig.ret.is_byref() {
        let message = "Cannot invoke method returning ByRef type via reflection";
        return refuse("System", "NotSupportedException", Some(message));
    }
    let count = if arguments.is_null() { 0 } else { object::array_length(arguments) };
    if count != sig.params.len() {
        return refuse("System.Reflection", "TargetParameterCountException", None);
    }
    if is_ctor && target.is_null() && method.owner.is_abstract() {
        let message = "Cannot invoke constructor of an abstract class.";
        return refuse("System.Reflection", "TargetException", Some(message));
    }
    if method.image().assembly().reflection_only {
        let message = "It is illegal to invoke a method on a type loaded using the ReflectionOnly api.";
        return refuse("System", "InvalidOperationException", Some(message));
    }
    // A class of which no instance can be made is no exception of the constructor's.
    if is_ctor
        && target.is_null()
        && method.rid().is_some()
        && !method.owner.is_nullable()
        && let Err(error) = vtable_of(method.owner)
    {
        return exceptions::load_exception(t, &error).map(Err);
    }
    let method = if target.is_null() { method } else { proxies::stub_for(target, method) };
    invoke_boxed(t, method, target, arguments).map(Ok)
}

/// Calls `method` non-virtually with boxed arguments and gives the boxed result. A constructor without target makes the
/// object and returns it; with a target it returns null.
///
/// # Errors
/// What the callee threw, and load errors, are pending.
pub fn invoke_boxed(t: CurrentThread, method: &'static Method, target: ObjRef, arguments: ObjRef) -> Managed<ObjRef> {
    let is_construction = method.name == ".ctor" && target.is_null();
    if is_construction {
        return construct(t, method, arguments);
    }
    let sig = method.sig().to_managed(t)?;
    if method.owner.is_nullable() && !method.is_static() {
        // The box holds a T; the method wants a Nullable<T>.
        let holder = nullable_holder(t, method.owner, target)?;
        return call(t, Call { method, sig, target: holder, arguments });
    }
    call(t, Call { method, sig, target, arguments })
}

fn construct(t: CurrentThread, ctor: &'static Method, arguments: ObjRef) -> Managed<ObjRef> {
    let owner = ctor.owner;
    let sig = ctor.sig().to_managed(t)?;
    if owner == universe().string() {
        // Strings are made by the method of the same parameters that ignores its target.
        let create = owner.find_method_sig("CreateString", &sig.params).to_managed(t)?;
        let Some(create) = create else { return Err(exceptions::throw_default(t, "MissingMethodException")) };
        return call(t, Call { method: create, sig: create.sig().to_managed(t)?, target: ObjRef::NULL, arguments });
    }
    if let MethodKind::Array(kind) = ctor.kind {
        return construct_array(t, owner, kind, arguments);
    }
    if owner.is_nullable() {
        // Boxing Nullable(value) gives the value's box. Null stands for the value's default, as for any parameter.
        let value = object::get_element_ref(arguments, 0);
        return if value.is_null() { object::new_instance(t, owner.args[0]) } else { Ok(value) };
    }
    if owner.is_marshal_by_ref() {
        let made = match owner.is_context_bound() {
            true => saki_runtime::proxy_calls::new_context_bound(t, owner)?,
            false => saki_runtime::proxy_calls::new_marshal_by_ref(t, owner)?,
        };
        call(t, Call { method: proxies::stub_for(made, ctor), sig, target: made, arguments })?;
        return Ok(made);
    }
    let made = object::new_instance(t, owner)?;
    call(t, Call { method: ctor, sig, target: made, arguments })?;
    Ok(made)
}

/// The constructors of array types: lengths, or pairs of lower bound and length.
fn construct_array(t: CurrentThread, array: Ty, kind: ArrayMethod, arguments: ObjRef) -> Managed<ObjRef> {
    let mut numbers = Vec::new();
    for index in 0..object::array_length(arguments) {
        let item = object::get_element_ref(arguments, index);
        // SAFETY: the binder made each argument a boxed Int32; null counts as 0.
        numbers.push(if item.is_null() { 0 } else { unsafe { *(unboxed(item) as *const i32) } });
    }
    let with_bounds = kind == ArrayMethod::CtorBounds;
    let is_length = |index: usize| !with_bounds || index % 2 == 1;
    if array.is_sz_array() {
        return nested_arrays(t, array, &numbers);
    }
    if numbers.iter().enumerate().any(|(index, &n)| n < 0 && is_length(index)) {
        return Err(exceptions::throw_default(t, "OverflowException"));
    }
    let bounds: Vec<ArrayBound> = match with_bounds {
        true => numbers.chunks_exact(2).map(|p| ArrayBound { length: p[1] as u32, lower_bound: p[0] }).collect(),
        false => numbers.iter().map(|&n| ArrayBound { length: n as u32, lower_bound: 0 }).collect(),
    };
    object::new_multi_dim_array(t, array, &bounds)
}

/// `new T[a][b]…`: arrays of arrays, each level filled. Lengths of levels that no array has are not looked at.
fn nested_arrays(t: CurrentThread, array: Ty, lengths: &[i32]) -> Managed<ObjRef> {
    let length = lengths.first().copied().unwrap_or(0);
    let Ok(length) = usize::try_from(length) else { return Err(exceptions::throw_default(t, "OverflowException")) };
    let made = object::new_sz_array(t, array, length)?;
    if let (Some(element), true) = (array.element().filter(|e| e.is_sz_array()), lengths.len() > 1) {
        for index in 0..length {
            let inner = nested_arrays(t, element, &lengths[1..])?;
            object::set_element_ref(t, made, index, inner);
        }
    }
    Ok(made)
}

/// A heap object with the layout of Nullable<T>, holding what `boxed` (T or null) holds.
fn nullable_holder(t: CurrentThread, ty: Ty, boxed: ObjRef) -> Managed<ObjRef> {
    let holder = object::new_instance(t, ty)?;
    fill_nullable(t, ty, unboxed(holder), boxed)?;
    Ok(holder)
}

fn fill_nullable(t: CurrentThread, ty: Ty, data: *mut u8, boxed: ObjRef) -> Managed<()> {
    if boxed.is_null() {
        return Ok(());
    }
    let (has_value, value) = object::nullable_offsets(t, ty)?;
    // SAFETY: `data` is a zeroed Nullable<T>, `boxed` a T.
    unsafe {
        *data.add(has_value) = 1;
        object::copy_struct(t, data.add(value), unboxed(boxed), ty.args[0]);
    }
    Ok(())
}

/// Words of this frame that structs and the result need.
fn struct_words(sig: &MethodSig) -> LoadResult<usize> {
    let mut words = 0;
    for &ty in sig.params.iter().chain([&sig.ret]) {
        if is_struct(ty) {
            words += ty.value_size_bytes()?.div_ceil(8) as usize;
        }
    }
    Ok(words)
}

fn call(t: CurrentThread, call: Call) -> Managed<ObjRef> {
    let argument_words = call.sig.params.len() + 2;
    let struct_words = struct_words(call.sig).to_managed(t)?;
    match argument_words.max(struct_words) {
        0..=8 => call_in_frame::<8>(t, call),
        9..=16 => call_in_frame::<16>(t, call),
        17..=256 => call_in_frame::<256>(t, call),
        257..=4096 => call_in_frame::<4096>(t, call),
        _ => Err(exceptions::throw(
            t,
            "System",
            "NotSupportedException",
            "The arguments are too large for a reflected call.",
        )),
    }
}

/// The call itself; `N` words hold the arguments and as many the structs.
fn call_in_frame<const N: usize>(t: CurrentThread, call: Call) -> Managed<ObjRef> {
    let Call { method, sig, target, arguments } = call;
    let mut words = [Slot(0); N];
    let mut structs = [0u64; N];
    let mut used = 0;
    let mut structs_used = 0;
    let mut push = |slot: Slot| {
        words[used] = slot;
        used += 1;
    };
    let mut reserve = |ty: Ty| -> Managed<*mut u8> {
        let at = (&raw mut structs as *mut u64).wrapping_add(structs_used);
        structs_used += ty.value_size_bytes().to_managed(t)?.div_ceil(8) as usize;
        Ok(at as *mut u8)
    };
    if !method.is_static() {
        push(if method.owner.is_value_type() { Slot::from_ptr(unboxed(target)) } else { Slot::from_ref(target) });
    }
    let result_at = if is_struct(sig.ret) { Some(reserve(sig.ret)?) } else { None };
    if let Some(at) = result_at {
        push(Slot::from_ptr(at));
    }
    for (index, &ty) in sig.params.iter().enumerate() {
        let slot = if is_struct(ty) {
            let at = reserve(ty)?;
            fill_struct(t, ty, at, object::get_element_ref(arguments, index))?;
            Slot::from_ptr(at)
        } else if let (true, Some(element)) = (ty.is_byref(), ty.element()) {
            byref_argument(t, element, arguments, index)?
        } else {
            scalar_argument(ty, object::get_element_ref(arguments, index))
        };
        push(slot);
    }
    let first_param = used - sig.params.len();
    let result = invoke::invoke(t, method, &words[..used])?;
    for (index, &ty) in sig.params.iter().enumerate() {
        if let Some(element) = ty.element().filter(|e| ty.is_byref() && e.is_nullable()) {
            let data = words[first_param + index].as_usize() as *const u8;
            let boxed = object::box_value(t, element, data)?;
            object::set_element_ref(t, arguments, index, boxed);
        }
    }
    match result_at {
        Some(at) => object::box_value(t, sig.ret, at),
        None => boxed_result(t, sig.ret, result),
    }
}

fn fill_struct(t: CurrentThread, ty: Ty, data: *mut u8, boxed: ObjRef) -> Managed<()> {
    if ty.is_nullable() {
        return fill_nullable(t, ty, data, boxed);
    }
    if !boxed.is_null() {
        let size = ty.value_size_bytes().to_managed(t)? as usize;
        // SAFETY: `data` has room for the struct that `boxed` holds; it is in this thread's frame: no barrier.
        unsafe { std::ptr::copy_nonoverlapping(unboxed(boxed), data, size) };
    }
    Ok(())
}

fn scalar_argument(ty: Ty, value: ObjRef) -> Slot {
    if value.is_null() {
        return Slot(0);
    }
    if ty.is_value_type() || ty.is_pointer() {
        // SAFETY: the binder made the argument a box of this type; pointers come as IntPtr.
        return unsafe { invoke::load_slot(ty, unboxed(value)) };
    }
    Slot::from_ref(value)
}

fn byref_argument(t: CurrentThread, element: Ty, arguments: ObjRef, index: usize) -> Managed<Slot> {
    if element.is_reference_type() {
        return Ok(Slot::from_ptr(object::element_address(arguments, index, 8)));
    }
    let given = object::get_element_ref(arguments, index);
    if element.is_nullable() {
        return Ok(Slot::from_ptr(unboxed(nullable_holder(t, element, given)?)));
    }
    let boxed_type = if element.is_pointer() { universe().intptr() } else { element };
    let copy = match given.is_null() {
        true => object::new_instance(t, boxed_type)?,
        false => object::box_value(t, boxed_type, unboxed(given))?,
    };
    object::set_element_ref(t, arguments, index, copy);
    Ok(Slot::from_ptr(unboxed(copy)))
}

/// Boxes a scalar result; pointers become System.Reflection.Pointer objects.
fn boxed_result(t: CurrentThread, ty: Ty, result: Slot) -> Managed<ObjRef> {
    if ty.is_pointer() {
        return pointer_object(t, ty, result.as_usize());
    }
    invoke::box_slot(t, ty, result)
}

/// A System.Reflection.Pointer.
///
/// # Errors
/// OutOfMemoryException.
pub fn pointer_object(t: CurrentThread, ty: Ty, value: usize) -> Managed<ObjRef> {
    let class = universe().corlib_type("System.Reflection", "Pointer").to_managed(t)?;
    let Some(make) = class.find_method("Box", 2).to_managed(t)? else {
        return Err(exceptions::throw_default(t, "MissingMethodException"));
    };
    let ty = type_object(t, ty)?;
    Ok(invoke::invoke(t, make, &[Slot(value as u64), Slot::from_ref(ty)])?.as_ref())
}
