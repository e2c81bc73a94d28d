//! The runtime functions behind `abi::HelperId`, one per id.
//!
//! Each gets the current thread first and leaves exceptions pending (see `abi::helpers`). Allocation, casts and throws are
//! here; the larger subjects live in their own modules.

use crate::exceptions::{self, ToManaged};
use crate::object::{self, type_of};
use crate::thread::{CurrentThread, Managed};
use crate::upcalls::upcalls;
use crate::upper_layers::{self, upper_layers};
use crate::{
    class_init, compile, delegates, local_alloc, monitors, pending, proxy_calls, strings, thread_statics, type_objects,
};
use saki_abi::object::ArrayBound;
use saki_abi::vtable::VTable;
use saki_abi::{HelperId, ObjRef};
use saki_types::{Field, Method, Ty, Type};

/// Address of the Rust function of a helper.
pub fn function_address(id: HelperId) -> usize {
    macro_rules! table {
        ($($name:ident => $function:path),* $(,)?) => {
            match id { $(HelperId::$name => $function as *const () as usize,)* }
        };
    }
    table! {
        NewObject => new_object,
        NewSzArray => new_sz_array,
        NewString => new_string,
        NewMultiDimArray => new_multi_dim_array,
        CastClass => cast_class,
        IsInst => is_inst,
        Unbox => unbox,
        CheckArrayStore => check_array_store,
        CheckElementAddress => check_element_address,
        ClassInit => class_init_helper,
        ThreadStaticAddress => thread_static_address,
        ResolveVirtual => resolve_virtual,
        Throw => throw,
        Rethrow => rethrow,
        ThrowNullReference => throw_null_reference,
        ThrowIndexOutOfRange => throw_index_out_of_range,
        ThrowStaleHandle => throw_stale_handle,
        ThrowDivideByZero => throw_divide_by_zero,
        ThrowOverflow => throw_overflow,
        ThrowDeferred => throw_deferred,
        StoreRefUnknown => store_ref_unknown,
        BarrierUnknown => barrier_unknown,
        BarrierSlow => barrier_slow,
        CopyStructBarrier => copy_struct_barrier,
        MemMove => mem_move,
        MemSet => mem_set,
        Poll => poll,
        FRem => frem,
        FRemSingle => frem_single,
        ConvR8ToU8 => conv_r8_to_u8,
        ConvR8Checked => conv_r8_checked,
        DelegateInit => delegates::delegate_init,
        DelegateResolveVirtual => delegates::delegate_resolve_virtual,
        ArgListInit => arg_list_init,
        BoxNullable => box_nullable,
        UnboxNullable => unbox_nullable,
        TypeObject => type_object,
        MonitorEnter => monitors::enter_helper,
        MonitorExit => monitors::exit_helper,
        MonitorWake => monitors::wake_helper,
        MonitorTryEnter => monitors::try_enter_helper,
        ProfileEnter => profile_enter,
        ProfileLeave => profile_leave,
        EnterNative => enter_native,
        LeaveNative => leave_native,
        ResolveNative => resolve_native,
        SaveLastError => save_last_error,
        MarshalIn => marshal_in,
        MarshalOut => marshal_out,
        MarshalFree => marshal_free,
        DelegateBeginInvoke => upper_layers::delegate_begin_invoke,
        DelegateEndInvoke => upper_layers::delegate_end_invoke,
        ProxyFieldAddress => proxy_calls::field_address_helper,
        NewContextBound => proxy_calls::new_context_bound_helper,
        NewMarshalByRef => proxy_calls::new_marshal_by_ref_helper,
        ProxyInvoke => proxy_calls::invoke_helper,
        ProxyGetField => proxy_calls::get_field_helper,
        ProxySetField => proxy_calls::set_field_helper,
        CustomMarshaler => upper_layers::custom_marshaler,
        ThrowMarshalDirective => upper_layers::throw_marshal_directive,
        CallbackDelegate => upper_layers::callback_delegate,
        CallbackIn => upper_layers::callback_in,
        CallbackOut => upper_layers::callback_out,
        MissingInternalCall => missing_internal_call,
        ThrowCompileError => throw_compile_error,
        LocAlloc => local_alloc::allocate,
        LocFree => local_alloc::free,
    }
}

fn ty(handle: *const Type) -> Ty {
    // SAFETY: compiled code passes `Symbol::TypeHandle`, the address of a `&'static Type`.
    unsafe { &*handle }
}

/// # Safety
/// `t` is the current thread; `vtable` is the address of a vtable (`Symbol::VTable`).
unsafe extern "C" fn new_object(t: CurrentThread, vtable: *const VTable) -> ObjRef {
    // SAFETY: `Symbol::VTable`; vtables are never freed.
    t.run(|| object::new_instance_of(t, unsafe { &*vtable }))
}

/// # Safety
/// `t` is the current thread; `vtable` is the address of the array type's vtable (`Symbol::VTable`).
unsafe extern "C" fn new_sz_array(t: CurrentThread, vtable: *const VTable, length: i64) -> ObjRef {
    t.run(|| {
        if length < 0 {
            return Err(exceptions::throw_default(t, "OverflowException"));
        }
        // SAFETY: as in `new_object`.
        object::new_sz_array_of(t, unsafe { &*vtable }, length as usize)
    })
}

/// # Safety
/// `t` is the current thread.
unsafe extern "C" fn new_string(t: CurrentThread, length: i32) -> ObjRef {
    t.run(|| strings::alloc_string(t, usize::try_from(length).unwrap_or(usize::MAX)))
}

/// # Safety
/// `t` is the current thread; `vtable` is the address of the array type's vtable, and `args` of `count` numbers: a length,
/// or a lower bound and a length, for each dimension.
unsafe extern "C" fn new_multi_dim_array(
    t: CurrentThread,
    vtable: *const VTable,
    args: *const i32,
    count: i32,
) -> ObjRef {
    t.run(|| {
        // SAFETY: as in `new_object`.
        let array_ty = crate::vtables::type_of_vtable(unsafe { &*vtable });
        // SAFETY: the caller's argument block holds `count` numbers.
        let args = unsafe { std::slice::from_raw_parts(args, count as usize) };
        let rank = array_ty.array_rank() as usize;
        if array_ty.is_sz_array() {
            return new_jagged(t, array_ty, args);
        }
        let mut bounds = Vec::with_capacity(rank);
        for dimension in 0..rank {
            let (lower, length) = match args.len() == rank {
                true => (0, args[dimension]),
                false => (args[2 * dimension], args[2 * dimension + 1]),
            };
            let Ok(length) = u32::try_from(length) else {
                return Err(exceptions::throw_default(t, "OverflowException"));
            };
            bounds.push(ArrayBound { length, lower_bound: lower });
        }
        object::new_multi_dim_array(t, array_ty, &bounds)
    })
}

/// `new T[a][b]…` in one constructor call.
fn new_jagged(t: CurrentThread, array_ty: Ty, lengths: &[i32]) -> Managed<ObjRef> {
    let Some((&length, rest)) = lengths.split_first() else { return Ok(ObjRef::NULL) };
    let Ok(length) = usize::try_from(length) else { return Err(exceptions::throw_default(t, "OverflowException")) };
    let array = object::new_sz_array(t, array_ty, length)?;
    if !rest.is_empty()
        && let Some(element) = array_ty.element()
    {
        for index in 0..length {
            let inner = new_jagged(t, element, rest)?;
            object::set_element_ref(t, array, index, inner);
        }
    }
    Ok(array)
}

/// # Safety
/// `t` is the current thread; `object` is null or a live object, `target` the address of a type's record
/// (`Symbol::TypeHandle`).
unsafe extern "C" fn cast_class(t: CurrentThread, object: ObjRef, target: *const Type) -> ObjRef {
    t.run(|| {
        if object.is_null() || object::is_instance(t, object, ty(target))? {
            return Ok(object);
        }
        Err(exceptions::throw_default(t, "InvalidCastException"))
    })
}

/// # Safety
/// `t` is the current thread; `object` is null or a live object, `target` the address of a type's record
/// (`Symbol::TypeHandle`).
unsafe extern "C" fn is_inst(t: CurrentThread, object: ObjRef, target: *const Type) -> ObjRef {
    t.run(|| Ok(if object.is_null() || !object::is_instance(t, object, ty(target))? { ObjRef::NULL } else { object }))
}

/// # Safety
/// `t` is the current thread; `object` is null or a live object, `target` the address of a type's record
/// (`Symbol::TypeHandle`).
unsafe extern "C" fn unbox(t: CurrentThread, object: ObjRef, target: *const Type) -> *mut u8 {
    t.run(|| {
        if object.is_null() {
            return Err(exceptions::throw_null_reference(t));
        }
        let (from, to) = (type_of(object), ty(target));
        // An enum and its integer type unbox to each other. ECMA-335 §III.4.32.
        if from == to || (from.is_value_type() && from.underlying() == to.underlying()) {
            return Ok(object::unboxed(object));
        }
        Err(exceptions::throw_default(t, "InvalidCastException"))
    })
}

/// # Safety
/// `t` is the current thread; `array` is null or a live array, `value` null or a live object.
unsafe extern "C" fn check_array_store(t: CurrentThread, array: ObjRef, value: ObjRef) {
    t.run(|| {
        if array.is_null() {
            return Err(exceptions::throw_null_reference(t));
        }
        if value.is_null() {
            return Ok(());
        }
        let element = type_of(array).element();
        if element.is_some_and(|e| e == type_of(value)) {
            return Ok(());
        }
        match element {
            Some(element) if object::is_instance(t, value, element)? => Ok(()),
            _ => Err(exceptions::throw_default(t, "ArrayTypeMismatchException")),
        }
    });
}

/// # Safety
/// `t` is the current thread; `array` is null or a live array, `element` the address of a type's record
/// (`Symbol::TypeHandle`).
unsafe extern "C" fn check_element_address(t: CurrentThread, array: ObjRef, element: *const Type) {
    t.run(|| {
        if array.is_null() {
            return Err(exceptions::throw_null_reference(t));
        }
        if type_of(array).element() == Some(ty(element)) || ty(element).is_value_type() {
            return Ok(());
        }
        Err(exceptions::throw_default(t, "ArrayTypeMismatchException"))
    });
}

/// # Safety
/// `t` is the current thread; `class` is the address of a type's record (`Symbol::TypeHandle`).
unsafe extern "C" fn class_init_helper(t: CurrentThread, class: *const Type) {
    t.run(|| class_init::ensure_outside(t, ty(class)));
}

/// # Safety
/// `t` is the current thread; `field` is the address of a thread-static field's record (`Symbol::FieldHandle`).
unsafe extern "C" fn thread_static_address(t: CurrentThread, field: *const Field) -> *mut u8 {
    // SAFETY: `Symbol::FieldHandle`.
    t.run(|| thread_statics::thread_static_address(t, unsafe { &*field }))
}

/// # Safety
/// `t` is the current thread; `receiver` is null or a live object, `method` the address of a method's record
/// (`Symbol::MethodHandle`).
unsafe extern "C" fn resolve_virtual(t: CurrentThread, receiver: ObjRef, method: *const Method) -> usize {
    t.run(|| {
        if receiver.is_null() {
            return Err(exceptions::throw_null_reference(t));
        }
        // The outcome is the vtable's, as with interface calls.
        let (vtable, key) = (std::ptr::from_ref(object::vtable(receiver)), method.cast());
        if let Some(known) = saki_code::imt_cached(vtable, key) {
            return Ok(known);
        }
        // SAFETY: `Symbol::MethodHandle`.
        let target = crate::proxies::virtual_target(t, receiver, unsafe { &*method })?;
        saki_code::imt_cache_insert(vtable, key, target);
        Ok(target)
    })
}

/// # Safety
/// `t` is the current thread; `exception` is null or a live object.
unsafe extern "C" fn throw(t: CurrentThread, exception: ObjRef) {
    if exception.is_null() {
        let _ = exceptions::throw_null_reference(t);
        return;
    }
    let exception = match exceptions::as_exception(t, exception) {
        Ok(exception) => exception,
        Err(_) => return,
    };
    exceptions::reset_trace(t, exception);
    let _ = t.throw(exception);
}

/// # Safety
/// `t` is the current thread; `exception` is a live object, which a catch clause has caught.
unsafe extern "C" fn rethrow(t: CurrentThread, exception: ObjRef) {
    let exception = match exceptions::as_exception(t, exception) {
        Ok(exception) => exception,
        Err(_) => return,
    };
    crate::exception_trace::forget_catching_frame(exception);
    let _ = t.throw(exception);
}

macro_rules! throwers {
    ($($function:ident = $name:literal;)*) => {
        $(unsafe extern "C" fn $function(t: CurrentThread) {
            let _ = exceptions::throw_default(t, $name);
        })*
    };
}

/// # Safety
/// `t` is the current thread.
unsafe extern "C" fn throw_null_reference(t: CurrentThread) {
    let _ = exceptions::throw_null_reference(t);
}

/// # Safety
/// `t` is the current thread.
unsafe extern "C" fn throw_stale_handle(t: CurrentThread) {
    let _ = exceptions::throw(
        t,
        "System",
        "InvalidOperationException",
        "Handle is not initialized: it has been freed, or is none.",
    );
}

throwers! {
    throw_index_out_of_range = "IndexOutOfRangeException";
    throw_divide_by_zero = "DivideByZeroException";
    throw_overflow = "OverflowException";
}

/// # Safety
/// `t` is the current thread; `method` is the address of a method's record (`Symbol::MethodHandle`) that has a deferred
/// error of number `index`.
unsafe extern "C" fn throw_deferred(t: CurrentThread, index: i32, method: *const Method) {
    // SAFETY: `Symbol::MethodHandle`.
    let error = compile::deferred_error(unsafe { &*method }, index as usize);
    let _ = exceptions::throw_load_error(t, &error);
}

/// # Safety
/// `t` is the current thread; `method` is the address of a method's record (`Symbol::MethodHandle`).
unsafe extern "C" fn throw_compile_error(t: CurrentThread, method: *const Method) {
    // SAFETY: `Symbol::MethodHandle`.
    let method = unsafe { &*method };
    if let Ok(_code) = compile::compile_method(t, method) {
        saki_base::bug!("{} compiles after all", method.full_name());
    }
}

/// # Safety
/// `t` is the current thread; `slot` is null or a valid address of a reference, `value` null or a live object.
unsafe extern "C" fn store_ref_unknown(t: CurrentThread, slot: *mut ObjRef, value: ObjRef) {
    if slot.is_null() {
        let _ = exceptions::throw_null_reference(t);
        return;
    }
    // SAFETY: a valid byref, the program's promise; `t` is current.
    unsafe { saki_gc::barrier::store_ref_unknown(t.managed(), slot, value) };
}

/// # Safety
/// `t` is the current thread; `slot` is the address of a reference that the thread has just stored.
unsafe extern "C" fn barrier_unknown(t: CurrentThread, slot: *mut ObjRef) {
    saki_gc::barrier::after_store_unknown(t.managed(), slot);
}

/// # Safety
/// `t` is the current thread; `object` is a live object into which the thread has just stored a reference.
unsafe extern "C" fn barrier_slow(t: CurrentThread, object: ObjRef) {
    saki_gc::barrier::object_reference_write_slow(t.managed(), object);
}

/// # Safety
/// `t` is the current thread; `dst` and `src` are null or addresses of values of the type, and `class` is the address of a
/// type's record (`Symbol::TypeHandle`).
unsafe extern "C" fn copy_struct_barrier(t: CurrentThread, dst: *mut u8, src: *const u8, class: *const Type) {
    if dst.is_null() || src.is_null() {
        let _ = exceptions::throw_null_reference(t);
        return;
    }
    // SAFETY: compiled code passes two addresses of values of the type.
    unsafe { object::copy_struct(t, dst, src, ty(class)) };
}

/// # Safety
/// `t` is the current thread; unless null, `src` can be read and `dst` written for `bytes` bytes.
unsafe extern "C" fn mem_move(t: CurrentThread, dst: *mut u8, src: *const u8, bytes: i64) {
    if bytes == 0 {
        return;
    }
    if dst.is_null() || src.is_null() {
        let _ = exceptions::throw_null_reference(t);
        return;
    }
    // SAFETY: the program's promise (cpblk).
    unsafe { std::ptr::copy(src, dst, bytes as usize) };
}

/// # Safety
/// `t` is the current thread; unless null, `dst` can be written for `bytes` bytes.
unsafe extern "C" fn mem_set(t: CurrentThread, dst: *mut u8, value: i32, bytes: i64) {
    if bytes == 0 {
        return;
    }
    if dst.is_null() {
        let _ = exceptions::throw_null_reference(t);
        return;
    }
    // SAFETY: the program's promise (initblk).
    unsafe { std::ptr::write_bytes(dst, value as u8, bytes as usize) };
}

/// # Safety
/// `t` is the current thread.
unsafe extern "C" fn poll(t: CurrentThread) {
    pending::safepoint(t);
}

/// # Safety
/// None: it is unsafe only for the type that helpers share.
unsafe extern "C" fn frem(_t: CurrentThread, a: f64, b: f64) -> f64 {
    a % b
}

/// # Safety
/// As `frem`.
unsafe extern "C" fn frem_single(_t: CurrentThread, a: f32, b: f32) -> f32 {
    a % b
}

/// # Safety
/// As `frem`.
unsafe extern "C" fn conv_r8_to_u8(_t: CurrentThread, value: f64) -> i64 {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if value < TWO_63 { cvttsd2si(value) } else { (cvttsd2si(value - TWO_63) as u64 ^ 0x8000_0000_0000_0000) as i64 }
}

/// Truncation as the x64 instruction does it: i64::MIN for what does not fit.
fn cvttsd2si(value: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value) { value as i64 } else { i64::MIN }
}

/// # Safety
/// `t` is the current thread.
unsafe extern "C" fn conv_r8_checked(t: CurrentThread, value: f64, target: i32) -> i64 {
    // Targets are numbered as `il::ir::ConvTarget`: I1 U1 I2 U2 I4 U4 I8 U8 I U.
    let (low, high): (f64, f64) = match target {
        0 => (-129.0, 128.0),
        1 => (-1.0, 256.0),
        2 => (-32_769.0, 32_768.0),
        3 => (-1.0, 65_536.0),
        4 => (-2_147_483_649.0, 2_147_483_648.0),
        5 => (-1.0, 4_294_967_296.0),
        6 | 8 => (f64::NEG_INFINITY, 9_223_372_036_854_775_808.0),
        _ => (-1.0, 18_446_744_073_709_551_616.0),
    };
    let signed_64 = matches!(target, 6 | 8);
    let in_range =
        if signed_64 { (-9_223_372_036_854_775_808.0..high).contains(&value) } else { value > low && value < high };
    t.run(|| match in_range {
        true if matches!(target, 7 | 9) => Ok(value as u64 as i64),
        true => Ok(value as i64),
        false => Err(exceptions::throw_default(t, "OverflowException")),
    })
}

/// # Safety
/// `iterator` is the address of a RuntimeArgumentHandle that may be written.
unsafe extern "C" fn arg_list_init(_t: CurrentThread, iterator: *mut usize, cookie: usize) {
    // SAFETY: the address of a RuntimeArgumentHandle, one word.
    unsafe { *iterator = cookie };
}

/// # Safety
/// `t` is the current thread; `class` is the address of a type's record (`Symbol::TypeHandle`), and `data` the address of
/// a value of that type.
unsafe extern "C" fn box_nullable(t: CurrentThread, class: *const Type, data: *const u8) -> ObjRef {
    t.run(|| object::box_value(t, ty(class), data))
}

/// # Safety
/// `t` is the current thread; `nullable` is the address of a Nullable instantiation's record, `dst` of a temporary of that
/// type on the stack; `boxed` is null or a live object.
unsafe extern "C" fn unbox_nullable(t: CurrentThread, dst: *mut u8, boxed: ObjRef, nullable: *const Type) {
    t.run(|| {
        let nullable = ty(nullable);
        let inner = nullable.args[0];
        let (has_value, value) = object::nullable_offsets(t, nullable)?;
        let size = nullable.value_size_bytes().to_managed(t)? as usize;
        // SAFETY: `dst` is a temporary of the Nullable type in the caller's frame: no barrier.
        unsafe { std::ptr::write_bytes(dst, 0, size) };
        if boxed.is_null() {
            return Ok(());
        }
        let from = type_of(boxed);
        // Unlike with `unbox`, an integer is no enum; an enum still is its integer.
        if from != inner && from.underlying() != inner {
            return Err(exceptions::throw_default(t, "InvalidCastException"));
        }
        let inner_size = inner.value_size_bytes().to_managed(t)? as usize;
        // SAFETY: as above; the box holds `inner_size` bytes.
        unsafe { std::ptr::copy_nonoverlapping(object::unboxed(boxed), dst.add(value), inner_size) };
        // SAFETY: as above.
        unsafe { *dst.add(has_value) = 1 };
        Ok(())
    });
}

/// # Safety
/// `t` is the current thread; `class` is the address of a type's record (`Symbol::TypeHandle`).
unsafe extern "C" fn type_object(t: CurrentThread, class: *const Type) -> ObjRef {
    t.run(|| type_objects::type_object(t, ty(class)))
}

/// # Safety
/// `t` is the current thread, RUNNING; references of its frames are on the stack above this call's frame.
unsafe extern "C" fn enter_native(t: CurrentThread) {
    // SAFETY: the current thread, RUNNING in a helper; references of its frames are on the stack above this frame.
    unsafe { saki_thread::enter_native(t.abi()) };
}

/// # Safety
/// `t` is the current thread, after `enter_native`.
unsafe extern "C" fn leave_native(t: CurrentThread) {
    // SAFETY: the current thread, after `enter_native`.
    unsafe { saki_thread::leave_native(t.abi()) };
    crate::callback_exceptions::throw_kept(t);
    pending::after_native(t);
}

/// # Safety
/// `t` is the current thread; `method` is the address of a method's record (`Symbol::MethodHandle`) of a P/Invoke.
unsafe extern "C" fn resolve_native(t: CurrentThread, method: *const Method) -> usize {
    // SAFETY: `Symbol::MethodHandle`.
    t.run(|| upper_layers::resolve_native(t, unsafe { &*method }))
}

/// # Safety
/// `t` is the current thread.
unsafe extern "C" fn save_last_error(t: CurrentThread) {
    let errno = saki_os::error::errno();
    // SAFETY: the current thread's own struct.
    unsafe { (*t.abi()).last_error = errno };
}

/// # Safety
/// `t` is the current thread; `descriptor` is a live marshalling descriptor, and `value` the address of a parameter's
/// value of its type.
unsafe extern "C" fn marshal_in(t: CurrentThread, value: usize, descriptor: usize) -> i64 {
    t.run(|| (upper_layers().interop.marshal_in)(t, value, descriptor))
}

/// # Safety
/// `t` is the current thread; as `marshal_in`, and `word` came from it or is the native result.
unsafe extern "C" fn marshal_out(t: CurrentThread, word: i64, value: usize, descriptor: usize) {
    t.run(|| (upper_layers().interop.marshal_out)(t, word, value, descriptor));
}

/// # Safety
/// `t` is the current thread; as `marshal_in`, and `word` came from it or is 0; called once.
unsafe extern "C" fn marshal_free(t: CurrentThread, word: i64, value: usize, descriptor: usize) {
    t.run(|| (upper_layers().interop.marshal_free)(t, word, value, descriptor));
}

/// # Safety
/// `t` is the current thread; `method` is the address of a method's record (`Symbol::MethodHandle`).
unsafe extern "C" fn missing_internal_call(t: CurrentThread, method: *const Method) {
    // SAFETY: `Symbol::MethodHandle`.
    let method = unsafe { &*method };
    let what = crate::class_library::disagreement(method).unwrap_or_else(|| crate::internal_calls::name_of(method));
    let _ = exceptions::throw_not_implemented(t, &what);
}

/// # Safety
/// `t` is the current thread; `tagged` is the argument of a probe (`Upcalls::probed`).
unsafe extern "C" fn profile_enter(t: CurrentThread, tagged: usize) {
    // SAFETY: as promised by the caller.
    unsafe { upcalls().probed(t, tagged, false) };
}

/// # Safety
/// As `profile_enter`.
unsafe extern "C" fn profile_leave(t: CurrentThread, tagged: usize) {
    // SAFETY: as promised by the caller.
    unsafe { upcalls().probed(t, tagged, true) };
}

/// The register-preserving class-init stub's hook: type in `stub_arg[0]`.
///
/// # Safety
/// Called by the stub with the current thread.
pub unsafe extern "C" fn class_init_hook(abi: *mut saki_abi::ThreadAbi) {
    // SAFETY: the stub passes the pinned register.
    let t = unsafe { CurrentThread::from_abi(abi) };
    // SAFETY: compiled code stored `Symbol::TypeHandle` there.
    let class = ty(unsafe { (*abi).stub_arg[0] } as *const Type);
    t.run(|| class_init::ensure_outside(t, class));
}

/// The register-preserving allocation stub's hook: vtable in `stub_arg[0]`, object to `stub_result`.
///
/// # Safety
/// As `class_init_hook`.
pub unsafe extern "C" fn alloc_slow_hook(abi: *mut saki_abi::ThreadAbi) {
    // SAFETY: the stub passes the pinned register.
    let t = unsafe { CurrentThread::from_abi(abi) };
    // SAFETY: compiled code stored `Symbol::VTable` there.
    let vtable = unsafe { &*((*abi).stub_arg[0] as *const VTable) };
    let object = t.run(|| object::new_instance_of(t, vtable));
    // SAFETY: the current thread's own struct.
    unsafe { (*abi).stub_result = object.address() as u64 };
}

/// The write barrier stub's hook: object in `stub_arg[0]`.
///
/// # Safety
/// As `class_init_hook`.
pub unsafe extern "C" fn barrier_slow_hook(abi: *mut saki_abi::ThreadAbi) {
    // SAFETY: the stub passes the pinned register.
    let t = unsafe { CurrentThread::from_abi(abi) };
    // SAFETY: compiled code stored the object there.
    let object = ObjRef(unsafe { (*abi).stub_arg[0] } as *mut saki_abi::Object);
    saki_gc::barrier::object_reference_write_slow(t.managed(), object);
}

/// The poll stub's hook.
///
/// # Safety
/// As `class_init_hook`.
pub unsafe extern "C" fn poll_hook(abi: *mut saki_abi::ThreadAbi) {
    // SAFETY: the stub passes the pinned register.
    pending::safepoint(unsafe { CurrentThread::from_abi(abi) });
}

/// The interface resolver's hook: 0 with an exception pending when the receiver does not implement the method.
///
/// # Safety
/// As `class_init_hook`; `method` is what compiled code stored in `imt_method`.
pub unsafe extern "C" fn resolve_interface_hook(
    abi: *mut saki_abi::ThreadAbi,
    receiver: ObjRef,
    method: *const (),
) -> usize {
    // SAFETY: the stub passes the pinned register.
    let t = unsafe { CurrentThread::from_abi(abi) };
    // SAFETY: as above.
    let _kept = unsafe { crate::tail_arguments::KeptTailArguments::new(abi) };
    t.run(|| {
        // SAFETY: `Symbol::MethodHandle`.
        let method = unsafe { &*(method as *const Method) };
        let target = crate::proxies::virtual_target(t, receiver, method)?;
        // The target is about to be called and cached, so its code is better than its stub.
        match saki_code::MethodEntry::of_stub(target) {
            Some(entry) => {
                // SAFETY: entries are made with a `&'static Method` as argument.
                let found = unsafe { &*(entry.argument() as *const Method) };
                if crate::entries::lives_with_domain(found) { compile::compile_method(t, found) } else { Ok(target) }
            }
            None => Ok(target),
        }
    })
}
