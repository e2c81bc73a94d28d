//! Calling methods with boxed arguments.
//!
//! Arguments come in an object[], as a rule converted by the binder. Variables that the callee may write lie where the
//! collector sees them: a by-reference value argument is a fresh box in the array (so the callee cannot change a box
//! that others share), by-reference object arguments, structs and struct results are words in this frame, which is
//! scanned conservatively.
//!
//! Invariant: target and arguments are read once, and what was read is checked, because messages of remoting come from
//! outside, a binder may be the program's own, and another thread may change the array meanwhile. Left out: vararg
//! arguments.

use crate::library_calls::call_for_object;
use crate::type_handle::is_byref_like;
use saki_abi::object::ArrayBound;
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::proxies;
use saki_runtime::object::typed_values;
use saki_runtime::object::vtables::vtable_of;
use saki_runtime::{Array, CurrentThread, Managed, Obj, ObjRef, Word};
use saki_types::{
    ArrayMethod, ElementType, LibraryType, LoadResult, Method, MethodKind, MethodSig, Ty, Type, universe,
};
use std::sync::atomic::Ordering;

/// Outcome of a reflected call: the result, or the exception that says why the call was not made.
pub type CallOutcome<'t> = Result<Option<Obj<'t>>, Obj<'t>>;

/// A method's call with its target and arguments.
#[derive(Clone, Copy)]
struct Call<'t> {
    method: &'static Method,
    sig: &'static MethodSig,
    /// None for static methods; boxed for value types.
    target: Option<Obj<'t>>,
    /// An object[], which methods without parameters need not have.
    arguments: Option<Array<'t>>,
}

impl<'t> Call<'t> {
    /// The argument for a parameter of type `ty`, or of a reference to a `ty`.
    ///
    /// # Errors
    /// ArgumentException if it is of another type.
    fn argument(&self, t: CurrentThread<'t>, index: usize, ty: Ty) -> Managed<Option<Obj<'t>>> {
        let given = self.arguments.and_then(|arguments| arguments.get(index));
        given.map(|given| typed_values::converted(t, given, ty)).transpose()
    }
}

/// Whether values of the type are passed by address.
pub(crate) fn is_struct(ty: Ty) -> bool {
    matches!(ty.underlying().element_type, ElementType::ValueType | ElementType::TypedByRef)
}

/// `MethodBase.Invoke` after binding: checks the target, calls virtually, constructs for constructors without target.
///
/// # Errors
/// What the callee threw, and load errors, are pending.
pub fn reflected_call<'t>(
    t: CurrentThread<'t>,
    method: &'static Method,
    target: Option<Obj<'t>>,
    arguments: Option<Array<'t>>,
) -> Managed<CallOutcome<'t>> {
    let mut method = method;
    let sig = method.sig().to_managed(t)?;
    let is_ctor = method.name == ".ctor";
    let refuse = |exception: ExceptionType, message: Option<&str>| -> Managed<CallOutcome<'t>> {
        Obj::exception(t, exception, message).map(Err)
    };
    if !method.is_static() {
        if let Some(target) = target {
            if !target.is_instance(t, method.owner)? {
                let (from, to) = (target.ty().full_name(), method.owner.full_name());
                let message = format!("Object of type '{from}' doesn't match target type '{to}'");
                return refuse(ExceptionType::Target, Some(&message));
            }
            if method.is_virtual() || method.owner.is_interface() {
                method = proxies::implementation_on(t, target, method)?;
            }
        } else if !is_ctor {
            return refuse(ExceptionType::Target, Some("Non-static method requires a target."));
        }
    }
    // Relaxed: see the field.
    let is_invocable = method.runtime.rare().is_invocable.load(Ordering::Relaxed);
    if !is_invocable && (is_byref_like(method.owner).to_managed(t)? || is_byref_like(sig.ret).to_managed(t)?) {
        let message = "Cannot invoke method with stack pointers via reflection";
        return refuse(ExceptionType::NotSupported, Some(message));
    }
    if sig.ret.is_byref() {
        let message = "Cannot invoke method returning ByRef type via reflection";
        return refuse(ExceptionType::NotSupported, Some(message));
    }
    if arguments.map_or(0, Array::length) != sig.params.len() {
        return refuse(ExceptionType::TargetParameterCount, None);
    }
    if is_ctor && target.is_none() && method.owner.is_abstract() {
        let message = "Cannot invoke constructor of an abstract class.";
        return refuse(ExceptionType::Target, Some(message));
    }
    if !is_invocable && method.image().assembly().reflection_only {
        let message = "It is illegal to invoke a method on a type loaded using the ReflectionOnly api.";
        return refuse(ExceptionType::InvalidOperation, Some(message));
    }
    // An error of the class is not an exception of its constructor: the program gets it without a
    // TargetInvocationException.
    if is_ctor
        && target.is_none()
        && method.rid().is_some()
        && !method.owner.is_nullable()
        && let Err(error) = vtable_of(method.owner)
    {
        return Obj::load_exception(t, &error).map(Err);
    }
    if !is_invocable {
        // Relaxed: see the field.
        method.runtime.rare().is_invocable.store(true, Ordering::Relaxed);
    }
    let method = target.map_or(method, |target| proxies::stub_for(target, method));
    invoke_boxed(t, method, target, arguments).map(Ok)
}

/// Calls `method` non-virtually with boxed arguments and gives the boxed result. A constructor without target makes the
/// object and returns it; with a target it returns null.
///
/// # Errors
/// TargetException, TargetParameterCountException and ArgumentException for an unfit target or argument; what the
/// callee threw, and load errors, are pending.
pub fn invoke_boxed<'t>(
    t: CurrentThread<'t>,
    method: &'static Method,
    target: Option<Obj<'t>>,
    arguments: Option<Array<'t>>,
) -> Managed<Option<Obj<'t>>> {
    let is_construction = method.name == ".ctor" && target.is_none();
    let sig = method.sig().to_managed(t)?;
    if arguments.map_or(0, Array::length) != sig.params.len() {
        return Err(exceptions::throw_default(t, ExceptionType::TargetParameterCount));
    }
    if is_construction {
        return construct(t, method, arguments).map(Some);
    }
    check_target(t, method, target)?;
    if method.owner.is_nullable() && !method.is_static() {
        // The box holds a T; the method wants a Nullable<T>.
        let holder = nullable_holder(t, method.owner, target)?;
        return call(t, Call { method, sig, target: Some(holder), arguments });
    }
    call(t, Call { method, sig, target, arguments })
}

/// # Errors
/// TargetException for an object that does not have the method, and for null.
fn check_target(t: CurrentThread, method: &'static Method, target: Option<Obj>) -> Managed<()> {
    let is_fit = match target {
        _ if method.is_static() => true,
        // An object that decides itself which interfaces it has may have named an interface that it is not castable to.
        Some(target) if method.owner.is_interface() && target.ty().dynamic_castable().to_managed(t)?.is_some() => true,
        Some(target) => typed_values::fits(t, target, method.owner)?,
        None => method.owner.is_nullable(),
    };
    match is_fit {
        true => Ok(()),
        false => Err(exceptions::throw(t, ExceptionType::Target, "Object does not match target type.")),
    }
}

fn construct<'t>(t: CurrentThread<'t>, ctor: &'static Method, arguments: Option<Array<'t>>) -> Managed<Obj<'t>> {
    let owner = ctor.owner;
    let sig = ctor.sig().to_managed(t)?;
    if owner == universe().string() {
        // A string constructor stands for the `CreateString` of the same parameters, which ignores its target.
        let create = owner.find_method_sig("CreateString", &sig.params).to_managed(t)?;
        let Some(create) = create else { return Err(exceptions::throw_default(t, ExceptionType::MissingMethod)) };
        let made = call(t, Call { method: create, sig: create.sig().to_managed(t)?, target: None, arguments })?;
        return Ok(made.unwrap_or_else(|| saki_base::bug!("String.CreateString gave null")));
    }
    if let MethodKind::Array(kind) = ctor.kind {
        return construct_array(t, owner, kind, arguments).map(Obj::from);
    }
    if owner.is_nullable() {
        // Boxing Nullable(value) gives the value's box. Null stands for the value's default, as for any parameter.
        return match arguments.and_then(|arguments| arguments.get(0)) {
            Some(value) => typed_values::converted(t, value, owner),
            None => Obj::new(t, owner.args[0]),
        };
    }
    if owner.is_marshal_by_ref() {
        let made = match owner.is_context_bound() {
            true => saki_runtime::exec::proxy_calls::new_context_bound(t, owner)?,
            false => saki_runtime::exec::proxy_calls::new_marshal_by_ref(t, owner)?,
        };
        let stub = proxies::stub_for(made, ctor);
        call(t, Call { method: stub, sig, target: Some(made), arguments })?;
        return Ok(made);
    }
    let made = Obj::new(t, owner)?;
    call(t, Call { method: ctor, sig, target: Some(made), arguments })?;
    Ok(made)
}

/// The constructors of array types: lengths, or pairs of lower bound and length.
fn construct_array<'t>(
    t: CurrentThread<'t>,
    array: Ty,
    kind: ArrayMethod,
    arguments: Option<Array<'t>>,
) -> Managed<Array<'t>> {
    // The binder made each argument a boxed Int32; null counts as 0.
    let number = |item: Option<Obj>| item.and_then(|item| item.unboxed::<i32>()).unwrap_or(0);
    let numbers: Vec<i32> = arguments.map_or_else(Vec::new, |arguments| arguments.iter().map(number).collect());
    array_of_lengths(t, array, kind, &numbers)
}

/// What a constructor of an array type makes of its arguments.
pub(crate) fn array_of_lengths<'t>(
    t: CurrentThread<'t>,
    array: Ty,
    kind: ArrayMethod,
    numbers: &[i32],
) -> Managed<Array<'t>> {
    let with_bounds = kind == ArrayMethod::CtorBounds;
    let is_length = |index: usize| !with_bounds || index % 2 == 1;
    if array.is_sz_array() {
        return nested_arrays(t, array, numbers);
    }
    if numbers.iter().enumerate().any(|(index, &n)| n < 0 && is_length(index)) {
        return Err(exceptions::throw_default(t, ExceptionType::Overflow));
    }
    let bounds: Vec<ArrayBound> = match with_bounds {
        true => numbers.chunks_exact(2).map(|p| ArrayBound { length: p[1] as u32, lower_bound: p[0] }).collect(),
        false => numbers.iter().map(|&n| ArrayBound { length: n as u32, lower_bound: 0 }).collect(),
    };
    Array::new_multi_dim(t, array, &bounds)
}

/// `new T[a][b]…`: arrays of arrays, each level filled. Lengths below an empty array are not checked.
fn nested_arrays<'t>(t: CurrentThread<'t>, array: Ty, lengths: &[i32]) -> Managed<Array<'t>> {
    let length = lengths.first().copied().unwrap_or(0);
    let Ok(length) = usize::try_from(length) else { return Err(exceptions::throw_default(t, ExceptionType::Overflow)) };
    let made = Array::of_array_type(t, array, length)?;
    if let (Some(element), true) = (array.element().filter(|e| e.is_sz_array()), lengths.len() > 1) {
        for index in 0..length {
            let inner = nested_arrays(t, element, &lengths[1..])?;
            made.set(t, index, Some(*inner));
        }
    }
    Ok(made)
}

/// A heap object with the layout of Nullable<T>, holding what `boxed` (T or null) holds.
///
/// # Errors
/// TypeLoadException, OutOfMemoryException.
pub fn nullable_holder<'t>(t: CurrentThread<'t>, ty: Ty, boxed: Option<Obj>) -> Managed<Obj<'t>> {
    let holder = Obj::new(t, ty)?;
    // SAFETY: the data of the new object is a zeroed Nullable<T>; `boxed` is null or a box of T, which `typed_values`
    // made.
    unsafe { fill_nullable(t, ty, holder.data(), boxed)? };
    Ok(holder)
}

/// Fills a Nullable<T> with what `boxed` holds.
///
/// # Safety
/// `data` is a zeroed `ty`, which is a Nullable<T>; `boxed` is null or a box of T.
unsafe fn fill_nullable(t: CurrentThread, ty: Ty, data: *mut u8, boxed: Option<Obj>) -> Managed<()> {
    let Some(boxed) = boxed else { return Ok(()) };
    let (has_value, value) = object::nullable_offsets(t, ty)?;
    // SAFETY: `data` is a zeroed Nullable<T> and `boxed` a box of T, so both offsets and `T`'s size lie in them.
    unsafe {
        *data.add(has_value) = 1;
        object::copy_struct(t, data.add(value), boxed.data(), ty.args[0]);
    }
    Ok(())
}

/// Whether the type is a reference to a variable that holds a reference to an object.
fn is_byref_to_object(ty: Ty) -> bool {
    ty.is_byref() && ty.element().is_some_and(Type::is_reference_type)
}

/// The number of words that structs, as arguments and result, and by-reference objects take in the frame.
pub(crate) fn struct_words(sig: &MethodSig) -> LoadResult<usize> {
    let mut words = 0;
    for &ty in sig.params.iter().chain([&sig.ret]) {
        if is_struct(ty) {
            words += ty.value_size_bytes()?.div_ceil(8) as usize;
        } else if is_byref_to_object(ty) {
            words += 1;
        }
    }
    Ok(words)
}

fn call<'t>(t: CurrentThread<'t>, call: Call<'t>) -> Managed<Option<Obj<'t>>> {
    let argument_words = call.sig.params.len() + 2;
    let struct_words = struct_words(call.sig).to_managed(t)?;
    match argument_words.max(struct_words) {
        0..=8 => call_in_frame::<8>(t, call),
        9..=16 => call_in_frame::<16>(t, call),
        17..=256 => call_in_frame::<256>(t, call),
        257..=4096 => call_in_frame::<4096>(t, call),
        _ => {
            Err(exceptions::throw(t, ExceptionType::NotSupported, "The arguments are too large for a reflected call."))
        }
    }
}

/// The arguments of a reflected call, in a local of the function that makes it, so that the collector finds them: `N`
/// words, and as many for structs. It does not move once places in it were handed out.
pub(crate) struct CallFrame<const N: usize> {
    words: [Slot; N],
    structs: [u64; N],
    used: usize,
    structs_used: usize,
}

impl<const N: usize> Default for CallFrame<N> {
    fn default() -> Self {
        CallFrame { words: [Slot(0); N], structs: [0; N], used: 0, structs_used: 0 }
    }
}

/// The word of `this` for a method that is called on an object: boxed, or null, for a value type's. None for static
/// methods.
pub(crate) fn this_word(method: &'static Method, target: Option<Obj>) -> Option<Slot> {
    (!method.is_static()).then(|| match target.filter(|_| method.owner.is_value_type()) {
        Some(target) => Slot::from_ptr(target.data()),
        None => Slot::from_ref(target),
    })
}

impl<const N: usize> CallFrame<N> {
    /// Adds an argument.
    pub(crate) fn push(&mut self, slot: Slot) {
        self.words[self.used] = slot;
        self.used += 1;
    }

    /// A zeroed place for so many bytes.
    pub(crate) fn reserve(&mut self, size_bytes: usize) -> *mut u8 {
        let at = (&raw mut self.structs as *mut u64).wrapping_add(self.structs_used);
        self.structs_used += size_bytes.div_ceil(8);
        at as *mut u8
    }

    /// Adds `this`, and the place for a result that is a struct, which is returned.
    pub(crate) fn begin(
        &mut self,
        t: CurrentThread,
        method: &'static Method,
        result: Ty,
        target: Option<Obj>,
    ) -> Managed<Option<*mut u8>> {
        self.begin_with(t, this_word(method, target), result)
    }

    /// [`CallFrame::begin`] with the word of `this`.
    pub(crate) fn begin_with(&mut self, t: CurrentThread, this: Option<Slot>, result: Ty) -> Managed<Option<*mut u8>> {
        if let Some(this) = this {
            self.push(this);
        }
        if !is_struct(result) {
            return Ok(None);
        }
        let at = self.reserve(result.value_size_bytes().to_managed(t)? as usize);
        self.push(Slot::from_ptr(at));
        Ok(Some(at))
    }

    /// The arguments.
    pub(crate) fn words(&self) -> &[Slot] {
        &self.words[..self.used]
    }
}

/// Makes the call: `N` words hold the arguments, and as many the structs. Not in
/// line: the frame of the least would be as large as that of the greatest.
#[inline(never)]
fn call_in_frame<'t, const N: usize>(t: CurrentThread<'t>, call: Call<'t>) -> Managed<Option<Obj<'t>>> {
    let Call { method, sig, target, arguments } = call;
    let mut frame = CallFrame::<N>::default();
    let struct_bytes = |ty: Ty| Ok(ty.value_size_bytes().to_managed(t)? as usize);
    let result_at = frame.begin(t, method, sig.ret, target)?;
    for (index, &ty) in sig.params.iter().enumerate() {
        let slot = if is_struct(ty) {
            let at = frame.reserve(struct_bytes(ty)?);
            let argument = call.argument(t, index, ty)?;
            // SAFETY: `at` is zeroed and has room for a `ty`; the argument is checked.
            unsafe { fill_struct(t, ty, at, argument)? };
            Slot::from_ptr(at)
        } else if let (true, Some(element)) = (ty.is_byref(), ty.element()) {
            let argument = call.argument(t, index, element)?;
            if element.is_reference_type() {
                let at = frame.reserve(size_of::<ObjRef>()).cast::<ObjRef>();
                // SAFETY: a word of this frame.
                unsafe { at.write(argument.word()) };
                Slot::from_ptr(at)
            } else {
                byref_argument(t, element, argument, required(arguments), index)?
            }
        } else {
            scalar_argument(ty, call.argument(t, index, ty)?)
        };
        frame.push(slot);
    }
    let first_param = frame.words().len() - sig.params.len();
    let result = invoke::invoke(t, method, frame.words())?;
    for (index, &ty) in sig.params.iter().enumerate() {
        let Some(element) = ty.element().filter(|_| ty.is_byref()) else { continue };
        let data = frame.words()[first_param + index].as_usize() as *const u8;
        if element.is_nullable() {
            // SAFETY: the argument was the address of a Nullable<T> in a holder, which the word still keeps.
            let boxed = unsafe { Obj::boxed(t, element, data)? };
            give_back(t, required(arguments), index, boxed)?;
        } else if element.is_reference_type() {
            // SAFETY: the argument was the address of a word of this frame that holds a reference.
            let object = unsafe { Obj::from_word(data.cast::<ObjRef>().read()) };
            give_back(t, required(arguments), index, object)?;
        }
    }
    match result_at {
        // SAFETY: the callee has written its result, a value of this type, there.
        Some(at) => unsafe { Obj::boxed(t, sig.ret, at) },
        None => boxed_result(t, sig.ret, result),
    }
}

/// Stores the value that a by-reference argument has now in the caller's array.
///
/// # Errors
/// ArrayTypeMismatchException: the array is not an object[], and its elements are of another type.
fn give_back(t: CurrentThread, arguments: Array, index: usize, value: Option<Obj>) -> Managed<()> {
    let element = arguments.ty().element();
    if let (Some(value), Some(element)) = (value, element)
        && !value.is_instance(t, element)?
    {
        return Err(exceptions::throw_default(t, ExceptionType::ArrayTypeMismatch));
    }
    arguments.set(t, index, value);
    Ok(())
}

/// The argument array, which a method with parameters always has.
fn required<'t>(arguments: Option<Array<'t>>) -> Array<'t> {
    arguments.unwrap_or_else(|| saki_base::bug!("a reflected call lacks arguments"))
}

/// Fills a struct in this thread's frame with what `boxed` holds; null leaves zeros.
///
/// # Safety
/// `data` is zeroed and has room for a `ty`; `boxed` is null or stands for a `ty` (`typed_values`).
unsafe fn fill_struct(t: CurrentThread, ty: Ty, data: *mut u8, boxed: Option<Obj>) -> Managed<()> {
    if ty.is_nullable() {
        // SAFETY: `data` is a zeroed `ty`, which is a Nullable<T>, and `boxed` a box of T, by the function's contract.
        return unsafe { fill_nullable(t, ty, data, boxed) };
    }
    if let Some(boxed) = boxed {
        let size = ty.value_size_bytes().to_managed(t)? as usize;
        // SAFETY: `typed_values` made `boxed` a box of a value of this size; stores into a frame need no barrier.
        unsafe { std::ptr::copy_nonoverlapping(boxed.data(), data, size) };
    }
    Ok(())
}

/// The word for a value that stands for a `ty` (`Call::argument`).
fn scalar_argument(ty: Ty, value: Option<Obj>) -> Slot {
    let Some(value) = value else { return Slot(0) };
    if ty.is_value_type() || ty.is_pointer() {
        // SAFETY: a box of this type, or an IntPtr for a pointer: the argument was checked.
        return unsafe { invoke::load_slot(ty, value.data()) };
    }
    Slot::from_ref(value)
}

/// The address of a new box for a by-reference value, which the array keeps; `given` stands for an `element`
/// (`Call::argument`).
fn byref_argument(t: CurrentThread, element: Ty, given: Option<Obj>, arguments: Array, index: usize) -> Managed<Slot> {
    if element.is_nullable() {
        return Ok(Slot::from_ptr(nullable_holder(t, element, given)?.data()));
    }
    let boxed_type = if element.is_pointer() { universe().intptr() } else { element };
    let copy = match given {
        // SAFETY: the argument, which was checked, is a box of such a value.
        Some(given) => unsafe { Obj::boxed(t, boxed_type, given.data())? },
        None => None,
    };
    let copy = match copy {
        Some(copy) => copy,
        None => Obj::new(t, boxed_type)?,
    };
    give_back(t, arguments, index, Some(copy))?;
    Ok(Slot::from_ptr(copy.data()))
}

/// Boxes a scalar result; pointers become System.Reflection.Pointer objects. None for void.
pub(crate) fn boxed_result<'t>(t: CurrentThread<'t>, ty: Ty, result: Slot) -> Managed<Option<Obj<'t>>> {
    if ty.is_pointer() {
        return pointer_object(t, ty, result.as_usize());
    }
    if ty.element_type == ElementType::Void {
        return Ok(None);
    }
    if ty.is_value_type() {
        // SAFETY: a result of a scalar type is in the first bytes of its word.
        return unsafe { Obj::boxed(t, ty, (&raw const result).cast()) };
    }
    // SAFETY: a result that is no pointer and of no value type is a reference.
    Ok(unsafe { result.as_obj() })
}

/// A System.Reflection.Pointer.
///
/// # Errors
/// OutOfMemoryException.
pub fn pointer_object<'t>(t: CurrentThread<'t>, ty: Ty, value: usize) -> Managed<Option<Obj<'t>>> {
    let class = universe().library_type(LibraryType::Pointer).to_managed(t)?;
    let Some(make) = class.find_method("Box", 2).to_managed(t)? else {
        return Err(exceptions::throw_default(t, ExceptionType::MissingMethod));
    };
    let ty = Obj::of_type(t, ty)?;
    call_for_object(t, make, &[Slot(value as u64), Slot::from_ref(ty)])
}
