//! Calls in both directions: of managed methods, and of functions of Rust by managed code.

use crate::checks;
use crate::runs::InFunction;
use crate::thread::Scope;
use crate::values::{Place, StructBytes, Thrown};
use crate::{Exception, Object, Thread, Value};
use saki_interop::host_functions::{self, Argument, HostFunction};
use saki_reflect::invocation::nullable_holder;
use saki_reflect::invocation_by_address::invoke_by_addresses;
use saki_runtime::exec::host_calls::MakeFunction;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{CurrentThread, Managed, Obj, ObjRef, Str, Word};
use saki_types::{ElementType, LoadResult, Method, Ty, universe};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The most parameters of a method that is called from Rust.
const MAX_ARGUMENTS: usize = 32;

/// `this`, checked: None for a static member.
pub(crate) fn target<'t>(
    t: Thread<'t>,
    owner: Ty,
    is_static: bool,
    object: Option<Object<'_>>,
) -> Thrown<'t, Option<Obj<'t>>> {
    if is_static {
        return Ok(None);
    }
    let Some(object) = object.map(|object| object.obj(t)) else {
        return t.throw("System.NullReferenceException", "An instance member needs an object.");
    };
    if !t.caught(object.is_instance(t.inner(), owner))? {
        let message = format!("An object of {} is no {}.", object.ty().full_name(), owner.full_name());
        return t.throw("System.ArgumentException", &message);
    }
    Ok(Some(object))
}

/// See `Method::invoke`. A constructor without `this` makes the object.
pub(crate) fn invoke<'t>(
    t: Thread<'t>,
    method: &'static Method,
    this: Option<Object<'_>>,
    arguments: &[Value<'_>],
) -> Thrown<'t, Value<'t>> {
    let refused = |index: usize| {
        let message =
            format!("{}: parameter {index} is a reference, which a call by reference takes.", method.full_name());
        t.throw("System.NotSupportedException", &message)
    };
    call_method(t, method, this, arguments, refused, |_, _| ())
}

/// See `Method::invoke_by_ref`.
pub(crate) fn invoke_by_ref<'t>(
    t: Thread<'t>,
    method: &'static Method,
    this: Option<Object<'_>>,
    arguments: &mut [Value<'t>],
) -> Thrown<'t, Value<'t>> {
    let given = arguments.to_vec();
    call_method(t, method, this, &given, |_| Ok(()), |index, value| arguments[index] = value)
}

/// Calls the method; `by_reference` is asked about each parameter that is a reference, and `changed` gets its
/// variable's value after the call.
fn call_method<'t>(
    t: Thread<'t>,
    method: &'static Method,
    this: Option<Object<'_>>,
    arguments: &[Value<'_>],
    by_reference: impl Fn(usize) -> Thrown<'t, ()>,
    mut changed: impl FnMut(usize, Value<'t>),
) -> Thrown<'t, Value<'t>> {
    let sig = t.caught(method.sig().to_managed(t.inner()))?;
    if sig.params.len() != arguments.len() || arguments.len() > MAX_ARGUMENTS {
        let message = format!("{} gets {} arguments.", method.full_name(), arguments.len());
        return t.throw("System.Reflection.TargetParameterCountException", &message);
    }
    let makes = method.is_constructor() && this.is_none();
    possible(t, checks::no_call(method, method.is_static()), || method.full_name())?;
    if makes {
        possible(t, checks::no_object(method.owner), || method.owner.full_name())?;
    }
    let target = target(t, method.owner, method.is_static() || makes, this)?;
    // In this frame, so that the collector sees and leaves in place what is in them.
    let mut words = [0u64; MAX_ARGUMENTS];
    let mut places = [std::ptr::null_mut::<u8>(); MAX_ARGUMENTS];
    for (index, (&ty, &argument)) in sig.params.iter().zip(arguments).enumerate() {
        if ty.is_pointer() {
            let message = format!("{}: parameter {index} is a pointer.", method.full_name());
            return t.throw("System.NotSupportedException", &message);
        }
        let referent = ty.element().filter(|_| ty.is_byref());
        if referent.is_some() {
            by_reference(index)?;
        }
        let ty = referent.unwrap_or(ty);
        possible(t, checks::no_value(ty), || format!("{}, parameter {index}", method.full_name()))?;
        if let Some((element, bits)) = number(argument)
            && ty.is_value_type()
            && holds(ty, element)
        {
            words[index] = bits;
            places[index] = (&raw mut words[index]).cast();
            continue;
        }
        let boxed = match argument {
            // What `out` gives has no value before.
            Value::Unit if referent.is_some() && ty.is_value_type() => Some(t.caught(Obj::new(t.inner(), ty))?),
            _ => in_holder(t, ty, boxed(t, ty, argument)?)?,
        };
        words[index] = boxed.word().address() as u64;
        places[index] = match boxed {
            Some(boxed) if ty.is_value_type() => boxed.data(),
            _ => (&raw mut words[index]).cast(),
        };
    }
    // SAFETY: each place holds a value of its parameter's type, which `boxed` has checked; `target` has checked `this`.
    let result = unsafe { invoke_by_addresses(t.inner(), method, target, places.as_ptr()) };
    black_box((&words, &places));
    let result = t.caught(result)?;
    for (index, &ty) in sig.params.iter().enumerate() {
        if let Some(referent) = ty.element().filter(|_| ty.is_byref()) {
            // SAFETY: the variable, in this frame or in a box that this frame holds, has a value of its type.
            changed(index, unsafe { loaded(t, referent, places[index])? });
        }
    }
    black_box((&words, &places));
    if makes {
        return Ok(result.map(|made| t.keep(made)).into());
    }
    if sig.ret.element_type == ElementType::Void {
        return Ok(Value::Unit);
    }
    Ok(unboxed(t, sig.ret, result))
}

/// Goes on unless there is a reason why not.
pub(crate) fn possible<'t>(
    t: Thread<'t>,
    why_not: LoadResult<Option<&'static str>>,
    what: impl FnOnce() -> String,
) -> Thrown<'t, ()> {
    match t.caught(why_not.to_managed(t.inner()))? {
        Some(why) => t.throw("System.NotSupportedException", &format!("{}: {why}.", what())),
        None => Ok(()),
    }
}

/// The type of a number, character or `bool`, and its bits.
fn number(value: Value<'_>) -> Option<(ElementType, u64)> {
    use ElementType as E;
    Some(match value {
        Value::Unit | Value::Null | Value::Object(_) | Value::Text(_) => return None,
        Value::Struct(_) | Value::Place(_) => return None,
        Value::Bool(value) => (E::Boolean, u64::from(value)),
        Value::Char(value) => (E::Char, u64::from(value)),
        Value::I8(value) => (E::I1, value as u64),
        Value::U8(value) => (E::U1, u64::from(value)),
        Value::I16(value) => (E::I2, value as u64),
        Value::U16(value) => (E::U2, u64::from(value)),
        Value::I32(value) => (E::I4, value as u64),
        Value::U32(value) => (E::U4, u64::from(value)),
        Value::I64(value) => (E::I8, value as u64),
        Value::U64(value) => (E::U8, value),
        Value::F32(value) => (E::R4, u64::from(value.to_bits())),
        Value::F64(value) => (E::R8, value.to_bits()),
    })
}

/// Whether the value type is the number's, an enum of it, or `nint` for `long`.
fn holds(ty: Ty, element: ElementType) -> bool {
    use ElementType as E;
    let underlying = ty.underlying().element_type;
    underlying == element || matches!((underlying, element), (E::I, E::I8) | (E::U, E::U8))
}

/// A value as an object of the type: boxed, or null. A box of a nullable type is null, or one of its value's type.
pub(crate) fn boxed<'t>(t: Thread<'t>, ty: Ty, value: Value<'_>) -> Thrown<'t, Option<Obj<'t>>> {
    if ty.is_nullable() && !matches!(value, Value::Unit | Value::Null) {
        return boxed(t, ty.args[0], value);
    }
    if let Some((element, bits)) = number(value) {
        // A number for an object is boxed as its own type.
        let made_type = if ty.is_value_type() { ty } else { universe().primitive(element) };
        if !holds(made_type, element) {
            return unfit(t, ty, value);
        }
        let made = t.caught(Obj::of_bits(t.inner(), made_type, bits))?;
        return fitting(t, ty, made).map(Some);
    }
    match value {
        Value::Unit | Value::Null if !ty.is_value_type() || ty.is_nullable() => Ok(None),
        Value::Text(text) if !ty.is_value_type() => {
            let made = t.caught(Str::new(t.inner(), text))?;
            fitting(t, ty, made.into()).map(Some)
        }
        Value::Object(object) => fitting(t, ty, object.obj(t)).map(Some),
        Value::Struct(bytes) => match boxed_struct(t, ty, bytes)? {
            Some(made) => Ok(Some(made)),
            None => unfit(t, ty, value),
        },
        _ => unfit(t, ty, value),
    }
}

/// A box of the type with these bytes; None if they are not the type's.
fn boxed_struct<'t>(t: Thread<'t>, ty: Ty, value: StructBytes<'_>) -> Thrown<'t, Option<Obj<'t>>> {
    // Loads the layout, or tells why there is none.
    t.caught(ty.value_size_bytes().to_managed(t.inner()))?;
    if !is_struct(ty, value.name, value.bytes.len()) {
        return Ok(None);
    }
    // SAFETY: a value of the type's layout, which `ManagedStruct` demands.
    t.caught(unsafe { Obj::boxed(t.inner(), ty, value.bytes.as_ptr().cast()) })
}

/// Whether values of the type are those of the struct of Rust, so many bytes without references.
pub(crate) fn is_struct(ty: Ty, name: &str, size_bytes: usize) -> bool {
    ty.is_value_type()
        && ty.value_shape().is_ok_and(|(size, references)| size as usize == size_bytes && references.is_empty())
        && ty.full_name() == name
}

/// What holds a value of the type: the box itself, or for a nullable type an object with the type's layout.
pub(crate) fn in_holder<'t>(t: Thread<'t>, ty: Ty, boxed: Option<Obj<'t>>) -> Thrown<'t, Option<Obj<'t>>> {
    if !ty.is_nullable() {
        return Ok(boxed);
    }
    t.caught(nullable_holder(t.inner(), ty, boxed)).map(Some)
}

fn fitting<'t>(t: Thread<'t>, ty: Ty, object: Obj<'t>) -> Thrown<'t, Obj<'t>> {
    if t.caught(object.is_instance(t.inner(), ty))? {
        return Ok(object);
    }
    let message = format!("An object of {} does not fit {}.", object.ty().full_name(), ty.full_name());
    t.throw("System.ArgumentException", &message)
}

fn unfit<'t, T>(t: Thread<'t>, ty: Ty, value: Value<'_>) -> Thrown<'t, T> {
    t.throw("System.ArgumentException", &format!("{value:?} does not fit {}.", ty.full_name()))
}

/// An object of the type as a value: numbers come out of their boxes.
pub(crate) fn unboxed<'t>(t: Thread<'t>, ty: Ty, object: Option<Obj<'_>>) -> Value<'t> {
    let Some(object) = object else { return Value::Null };
    if ty.is_value_type() {
        // SAFETY: a value of the object's type lies in the box.
        let number = unsafe { number_at(object.ty(), object.data()) };
        if let Some(number) = number {
            return number;
        }
    }
    Value::Object(t.keep(object))
}

/// The number, character or `bool` at the address; None if the type is another.
///
/// # Safety
/// A value of the type lies there.
unsafe fn number_at(ty: Ty, address: *const u8) -> Option<Value<'static>> {
    use ElementType as E;
    macro_rules! read {
        ($number:ty) => {
            // SAFETY: a value of the type lies there, which has the layout of this number.
            unsafe { address.cast::<$number>().read_unaligned() }
        };
    }
    Some(match ty.underlying().element_type {
        E::Boolean => Value::Bool(read!(u8) != 0),
        E::Char => Value::Char(read!(u16)),
        E::I1 => Value::I8(read!(i8)),
        E::U1 => Value::U8(read!(u8)),
        E::I2 => Value::I16(read!(i16)),
        E::U2 => Value::U16(read!(u16)),
        E::I4 => Value::I32(read!(i32)),
        E::U4 => Value::U32(read!(u32)),
        E::I8 | E::I => Value::I64(read!(i64)),
        E::U8 | E::U => Value::U64(read!(u64)),
        E::R4 => Value::F32(f32::from_bits(read!(u32))),
        E::R8 => Value::F64(f64::from_bits(read!(u64))),
        _ => return None,
    })
}

/// The value at the address.
///
/// # Safety
/// A value of the type lies there.
pub(crate) unsafe fn loaded<'t>(t: Thread<'t>, ty: Ty, address: *const u8) -> Thrown<'t, Value<'t>> {
    if !ty.is_value_type() {
        // SAFETY: a reference lies there.
        let object = unsafe { Obj::from_word(address.cast::<ObjRef>().read()) };
        return Ok(unboxed(t, ty, object));
    }
    // SAFETY: a value of the type lies there.
    if let Some(number) = unsafe { number_at(ty, address) } {
        return Ok(number);
    }
    // SAFETY: a value of the type lies there.
    let boxed = t.caught(unsafe { Obj::boxed(t.inner(), ty, address) })?;
    Ok(unboxed(t, ty, boxed))
}

/// A function that managed code calls.
pub(crate) type Closure = dyn for<'t> Fn(Thread<'t>, &[Value<'t>]) -> Result<Value<'t>, Exception<'t>> + Send + Sync;

/// What makes the C function for an internal call's method.
pub(crate) fn maker(closure: Arc<Closure>) -> Arc<MakeFunction> {
    Arc::new(move |method| {
        let body = body(Arc::clone(&closure), method.sig()?.ret);
        host_functions::entry(method, !method.is_static(), body)
    })
}

/// The function in the form that `interop` calls. A panic becomes an exception.
pub(crate) fn body(closure: Arc<Closure>, ret: Ty) -> Box<HostFunction> {
    Box::new(move |t, arguments| {
        let _inside = InFunction::new();
        Scope::with(t, |inner| {
            let called = catch_unwind(AssertUnwindSafe(|| call(inner, &*closure, arguments, ret)));
            let result = called.unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                inner.throw("System.InvalidOperationException", &format!("A function of the host panicked: {text}"))
            });
            given_back(t, result.map_err(|exception| exception.object().obj(inner)))
        })
    })
}

fn call<'t>(
    t: Thread<'t>,
    closure: &Closure,
    arguments: &[Argument],
    ret: Ty,
) -> Result<Option<Obj<'t>>, Exception<'t>> {
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let referent = argument.ty.element().filter(|_| argument.ty.is_byref());
        if let Some(referent) = referent {
            // SAFETY: the argument is the address of a variable, which stays in place while the function runs, since
            // the calling frame has it.
            values.push(Value::Place(unsafe { Place::new(referent, argument.address.cast::<*mut u8>().read()) }));
            continue;
        }
        // SAFETY: a value of the type lies there while the function runs.
        values.push(unsafe { loaded(t, argument.ty, argument.address)? });
    }
    let result = closure(t, &values)?;
    if ret.element_type == saki_types::ElementType::Void {
        return Ok(None);
    }
    in_holder(t, ret, boxed(t, ret, result)?)
}

/// The result for the caller, in whose time the object lives: its frame holds it.
fn given_back<'t>(t: CurrentThread<'t>, result: Result<Option<Obj<'_>>, Obj<'_>>) -> Managed<Option<Obj<'t>>> {
    match result {
        // SAFETY: an object that is alive, since this function's argument refers to it.
        Ok(object) => Ok(object.and_then(|object| unsafe { Obj::from_word(saki_runtime::Word::word(object)) })),
        Err(exception) => Err::<_, exceptions::Thrown>(t.throw(exception)),
    }
}
