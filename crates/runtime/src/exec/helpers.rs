//! The runtime functions behind `abi::HelperId`, one per id.
//!
//! Each gets the current thread first and leaves exceptions pending (see `abi::helpers`). Allocation, casts and throws are
//! here; the larger subjects live in their own modules.

use crate::crossings::Callable;
use crate::exception_types::ExceptionType;
use crate::exceptions::{self, ToManaged};
use crate::object;
use crate::object::member_handles;
use crate::object::method_tables;
use crate::object::type_objects;
use crate::object::versions;
use crate::references::{Array, Obj, Str, Word};
use crate::thread::{CurrentThread, Managed};
use crate::upcalls::upcalls;
use crate::upper_layers;
use crate::{class_init, compile, delegates, local_alloc, monitors, proxy_calls, thread_aborts, thread_statics};
use saki_abi::object::ArrayBound;
use saki_abi::vtable::VTable;
use saki_abi::{ConvTarget, HelperId, ObjRef};
use saki_types::{Method, Ty, Type, universe};

/// The entry of a helper's function. Does not compile if the function is not what the list says.
const fn entry_of<Parts, F: Callable<Parts>>(id: HelperId, _function: &F) -> *const () {
    let (params, result) = id.signature();
    assert!(
        params.len() == F::SIGNATURE.params.len(),
        "a helper's function has other parameters than abi::helpers says"
    );
    let mut index = 0;
    while index < params.len() {
        assert!(F::SIGNATURE.params[index].is(params[index]), "a helper's parameter is not what abi::helpers says");
        index += 1;
    }
    assert!(F::SIGNATURE.result.is(result), "a helper's result is not what abi::helpers says");
    F::ENTRY
}

/// Address of the function that a helper's thunk calls.
pub fn function_address(id: HelperId) -> usize {
    macro_rules! table {
        ($($name:ident => $function:path),* $(,)?) => {
            match id { $(HelperId::$name => (const { entry_of(HelperId::$name, &$function) }).addr(),)* }
        };
    }
    table! {
        NewObject => new_object,
        NewSzArray => new_sz_array,
        NewString => new_string,
        NewMultiDimArray => new_multi_dim_array,
        CastClass => cast_class,
        IsInst => is_inst,
        MethodHandleObject => member_handles::of_method,
        TypeHandleObject => type_handle_object,
        FieldHandleObject => member_handles::of_field,
        Unbox => unbox,
        CheckArrayStore => check_array_store,
        CheckElementAddress => check_element_address,
        ClassInit => class_init_helper,
        ThreadStaticAddress => thread_statics::thread_static_address,
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
        MonitorExit => monitors::exit,
        MonitorWake => monitors::wake_helper,
        MonitorTryEnter => monitors::try_enter_helper,
        ProfileEnter => profile_enter,
        ProfileLeave => profile_leave,
        TraceEnter => trace_enter,
        TraceLeave => trace_leave,
        CoverStatement => cover_statement,
        EnterNative => enter_native,
        LeaveNative => leave_native,
        ResolveNative => upper_layers::resolve_native,
        SaveLastError => save_last_error,
        MarshalIn => upper_layers::marshal_in,
        MarshalOut => upper_layers::marshal_out,
        MarshalFree => upper_layers::marshal_free,
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

fn new_object<'t>(t: CurrentThread<'t>, vtable: &'static VTable) -> Managed<Option<Obj<'t>>> {
    object::new_instance_of(t, vtable).map(Some)
}

fn new_sz_array<'t>(t: CurrentThread<'t>, vtable: &'static VTable, length: i64) -> Managed<Option<Array<'t>>> {
    if length < 0 {
        return Err(exceptions::throw_default(t, ExceptionType::Overflow));
    }
    object::new_sz_array_of(t, vtable, length as usize).map(Some)
}

fn new_string<'t>(t: CurrentThread<'t>, length: i32) -> Managed<Option<Str<'t>>> {
    Str::filled(t, usize::try_from(length).unwrap_or(usize::MAX), |_| ()).map(Some)
}

fn new_multi_dim_array<'t>(
    t: CurrentThread<'t>,
    vtable: &'static VTable,
    args: *const i32,
    count: i32,
) -> Managed<Option<Array<'t>>> {
    let array_ty = crate::vtables::type_of_vtable(vtable);
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
            return Err(exceptions::throw_default(t, ExceptionType::Overflow));
        };
        bounds.push(ArrayBound { length, lower_bound: lower });
    }
    Array::new_multi_dim(t, array_ty, &bounds).map(Some)
}

/// `new T[a][b]…` in one constructor call.
fn new_jagged<'t>(t: CurrentThread<'t>, array_ty: Ty, lengths: &[i32]) -> Managed<Option<Array<'t>>> {
    let Some((&length, rest)) = lengths.split_first() else { return Ok(None) };
    let Ok(length) = usize::try_from(length) else { return Err(exceptions::throw_default(t, ExceptionType::Overflow)) };
    let array = Array::of_array_type(t, array_ty, length)?;
    if !rest.is_empty()
        && let Some(element) = array_ty.element()
    {
        for index in 0..length {
            let inner = new_jagged(t, element, rest)?;
            array.set(t, index, inner.map(Obj::from));
        }
    }
    Ok(Some(array))
}

/// InvalidCastException, in .NET's words where the class library is .NET's.
fn throw_invalid_cast(t: CurrentThread, from: Ty, to: Ty) -> exceptions::Thrown {
    if saki_types::universe().profile().null_reference_text.is_some() {
        return exceptions::throw_default(t, ExceptionType::InvalidCast);
    }
    let message = format!("Unable to cast object of type '{}' to type '{}'.", from.message_name(), to.message_name());
    exceptions::throw(t, ExceptionType::InvalidCast, &message)
}

fn type_handle_object<'t>(t: CurrentThread<'t>, handle: usize) -> Managed<Obj<'t>> {
    // SAFETY: compiled code passes the handle in a TypedReference, which is not null where one was made.
    type_objects::type_object(t, unsafe { method_tables::type_of_handle(handle) })
}

fn cast_class<'t>(t: CurrentThread<'t>, object: Option<Obj<'t>>, target: Ty) -> Managed<Option<Obj<'t>>> {
    match object {
        Some(object) if !object.is_instance_or_throws(t, target)? => Err(throw_invalid_cast(t, object.ty(), target)),
        _ => Ok(object),
    }
}

fn is_inst<'t>(t: CurrentThread<'t>, object: Option<Obj<'t>>, target: Ty) -> Managed<Option<Obj<'t>>> {
    match object {
        Some(object) if !object.is_instance(t, target)? => Ok(None),
        _ => Ok(object),
    }
}

fn unbox(t: CurrentThread, object: Option<Obj>, target: Ty) -> Managed<*mut u8> {
    let Some(object) = object else { return Err(exceptions::throw_null_reference(t)) };
    let (from, to) = (object.ty(), target);
    // An enum and its integer type unbox to each other. ECMA-335 §III.4.32.
    if from == to || (from.is_value_type() && from.underlying() == to.underlying()) {
        return Ok(object.data());
    }
    Err(throw_invalid_cast(t, from, to))
}

fn check_array_store(t: CurrentThread, array: Option<Array>, value: Option<Obj>) -> Managed<()> {
    let Some(array) = array else { return Err(exceptions::throw_null_reference(t)) };
    let Some(value) = value else { return Ok(()) };
    let element = array.ty().element();
    if element.is_some_and(|e| e == value.ty()) {
        return Ok(());
    }
    match element {
        Some(element) if value.is_instance(t, element)? => Ok(()),
        _ => Err(exceptions::throw_default(t, ExceptionType::ArrayTypeMismatch)),
    }
}

fn check_element_address(t: CurrentThread, array: Option<Array>, element: Ty) -> Managed<()> {
    let Some(array) = array else { return Err(exceptions::throw_null_reference(t)) };
    if array.ty().element() == Some(element) || element.is_value_type() {
        return Ok(());
    }
    Err(exceptions::throw_default(t, ExceptionType::ArrayTypeMismatch))
}

fn class_init_helper(t: CurrentThread, class: Ty) -> Managed<()> {
    class_init::ensure_outside(t, class)
}

fn resolve_virtual(t: CurrentThread, receiver: Option<Obj>, method: &'static Method) -> Managed<usize> {
    let Some(receiver) = receiver else { return Err(exceptions::throw_null_reference(t)) };
    // The result depends on the vtable only, as with interface calls.
    let (vtable, key) = (std::ptr::from_ref(receiver.vtable()), std::ptr::from_ref(method).cast());
    if let Some(known) = saki_code::imt_cached(vtable, key) {
        // The program may keep it (`ldvirtftn`).
        return Ok(versions::lasting_address(known));
    }
    let target = crate::proxies::virtual_target(t, receiver, method)?;
    saki_code::imt_cache_insert(vtable, key, target);
    Ok(target)
}

fn throw<'t>(t: CurrentThread<'t>, exception: Option<Obj<'t>>) -> Managed<()> {
    let Some(exception) = exception else { return Err(exceptions::throw_null_reference(t)) };
    let exception = exceptions::as_exception(t, exception)?;
    crate::exception_trace::begin(t, exception);
    Err(t.throw(exception))
}

fn rethrow<'t>(t: CurrentThread<'t>, exception: Option<Obj<'t>>) -> Managed<()> {
    let Some(exception) = exception else { return Err(exceptions::throw_null_reference(t)) };
    let exception = exceptions::as_exception(t, exception)?;
    crate::exception_trace::forget_catching_frame(exception);
    Err(t.throw(exception))
}

macro_rules! throwers {
    ($($function:ident = $exception:ident;)*) => {
        $(fn $function(t: CurrentThread) {
            let _ = exceptions::throw_default(t, ExceptionType::$exception);
        })*
    };
}

fn throw_null_reference(t: CurrentThread) {
    let _ = exceptions::throw_null_reference(t);
}

fn throw_stale_handle(t: CurrentThread) {
    let _ = exceptions::throw(
        t,
        ExceptionType::InvalidOperation,
        "Handle is not initialized: it has been freed, or is none.",
    );
}

throwers! {
    throw_index_out_of_range = IndexOutOfRange;
    throw_divide_by_zero = DivideByZero;
    throw_overflow = Overflow;
}

fn throw_deferred(t: CurrentThread, index: i32) {
    let error = compile::deferred_error(t, index as usize);
    let _ = exceptions::throw_load_error(t, &error);
}

fn throw_compile_error(t: CurrentThread, method: &'static Method) {
    if let Ok(_code) = compile::compile_method(t, method) {
        saki_base::bug!("{} compiles after all", method.full_name());
    }
}

fn store_ref_unknown(t: CurrentThread, slot: *mut ObjRef, value: Option<Obj>) {
    if slot.is_null() {
        let _ = exceptions::throw_null_reference(t);
        return;
    }
    // SAFETY: a valid byref, the program's promise; `t` is current.
    unsafe { saki_gc::barrier::store_ref_unknown(t.managed(), slot, value.word()) };
}

fn barrier_unknown(t: CurrentThread, slot: *mut ObjRef) {
    saki_gc::barrier::after_store_unknown(t.managed(), slot);
}

fn barrier_slow(t: CurrentThread, object: Option<Obj>) {
    // SAFETY: compiled code passes the object that it stored into.
    unsafe { saki_gc::barrier::object_reference_write_slow(t.managed(), object.word()) };
}

fn copy_struct_barrier(t: CurrentThread, dst: *mut u8, src: *const u8, class: Ty) {
    if dst.is_null() || src.is_null() {
        let _ = exceptions::throw_null_reference(t);
        return;
    }
    // SAFETY: compiled code passes two addresses of values of the type.
    unsafe { object::copy_struct(t, dst, src, class) };
}

fn mem_move(t: CurrentThread, dst: *mut u8, src: *const u8, bytes: i64) {
    if bytes == 0 {
        return;
    }
    if dst.is_null() || src.is_null() {
        let _ = exceptions::throw_null_reference(t);
        return;
    }
    // Whole words, since it may be a struct with references, or one that other threads read.
    // SAFETY: the program's promise (cpblk).
    unsafe { saki_os::memory::copy_whole_words(src, dst, bytes as usize) };
}

fn mem_set(t: CurrentThread, dst: *mut u8, value: i32, bytes: i64) {
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

fn poll(t: CurrentThread) {
    thread_aborts::safepoint(t);
}

fn frem(_t: CurrentThread, a: f64, b: f64) -> f64 {
    a % b
}

fn frem_single(_t: CurrentThread, a: f32, b: f32) -> f32 {
    a % b
}

fn conv_r8_to_u8(_t: CurrentThread, value: f64) -> i64 {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if value < TWO_63 { cvttsd2si(value) } else { (cvttsd2si(value - TWO_63) as u64 ^ 0x8000_0000_0000_0000) as i64 }
}

/// Truncation as the x64 instruction does it: i64::MIN for what does not fit.
fn cvttsd2si(value: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value) { value as i64 } else { i64::MIN }
}

fn conv_r8_checked(t: CurrentThread, value: f64, target: i32) -> Managed<i64> {
    use ConvTarget as C;
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    let between = |low: f64, high: f64| (value > low && value < high).then_some(value as i64);
    let result = match ConvTarget::from_number(target) {
        Some(C::I1) => between(-129.0, 128.0),
        Some(C::U1) => between(-1.0, 256.0),
        Some(C::I2) => between(-32_769.0, 32_768.0),
        Some(C::U2) => between(-1.0, 65_536.0),
        Some(C::I4) => between(-2_147_483_649.0, 2_147_483_648.0),
        Some(C::U4) => between(-1.0, 4_294_967_296.0),
        // The number below the least one is not a float: no float lies between the two.
        Some(C::I8 | C::I) => (-TWO_63..TWO_63).contains(&value).then_some(value as i64),
        Some(C::U8 | C::U) => (value > -1.0 && value < 2.0 * TWO_63).then_some(value as u64 as i64),
        Some(C::R4 | C::R8 | C::RUn) | None => saki_base::bug!("a checked conversion to target {target}"),
    };
    result.ok_or_else(|| exceptions::throw_default(t, ExceptionType::Overflow))
}

fn arg_list_init(_t: CurrentThread, iterator: *mut usize, cookie: usize) {
    // SAFETY: the address of a RuntimeArgumentHandle, one word.
    unsafe { *iterator = cookie };
}

fn box_nullable<'t>(t: CurrentThread<'t>, class: Ty, data: *const u8) -> Managed<Option<Obj<'t>>> {
    // SAFETY: compiled code passes the address of a value of the class.
    unsafe { object::box_value(t, class, data) }
}

fn unbox_nullable(t: CurrentThread, dst: *mut u8, boxed: Option<Obj>, nullable: Ty) -> Managed<()> {
    let inner = nullable.args[0];
    let (has_value, value) = object::nullable_offsets(t, nullable)?;
    let size = nullable.value_size_bytes().to_managed(t)? as usize;
    // SAFETY: `dst` is a temporary of the Nullable type in the caller's frame: no barrier.
    unsafe { std::ptr::write_bytes(dst, 0, size) };
    let Some(boxed) = boxed else { return Ok(()) };
    let from = boxed.ty();
    // Unlike with `unbox`, a boxed integer does not unbox to an enum; in Mono a boxed enum does unbox to its integer
    // type.
    if from != inner && !(universe().profile().casts_as_mono && from.underlying() == inner) {
        return Err(throw_invalid_cast(t, from, nullable));
    }
    let inner_size = inner.value_size_bytes().to_managed(t)? as usize;
    // SAFETY: as above; the box holds `inner_size` bytes.
    unsafe { std::ptr::copy_nonoverlapping(boxed.data(), dst.add(value), inner_size) };
    // SAFETY: as above.
    unsafe { *dst.add(has_value) = 1 };
    Ok(())
}

fn type_object<'t>(t: CurrentThread<'t>, class: Ty) -> Managed<Option<Obj<'t>>> {
    Obj::of_type(t, class).map(Some)
}

fn enter_native(t: CurrentThread) {
    // SAFETY: the current thread, RUNNING in a helper; references of its frames are on the stack above this frame.
    unsafe { saki_thread::enter_native(t.abi()) };
}

fn leave_native(t: CurrentThread) {
    // SAFETY: the current thread, after `enter_native`.
    unsafe { saki_thread::leave_native(t.abi()) };
    crate::callback_exceptions::throw_kept(t);
    thread_aborts::after_native(t);
}

fn save_last_error(t: CurrentThread) {
    let errno = saki_os::error::errno();
    // SAFETY: the current thread's own struct.
    unsafe { (*t.abi()).last_error = errno };
}

/// .NET's refusal of an internal call that an assembly of the program declares.
fn refuse_internal_call(t: CurrentThread) -> Managed<()> {
    let class = saki_types::universe().corlib().find_type("System.Security", "SecurityException").to_managed(t)?;
    let Some(class) = class else { return Ok(()) };
    let message = "ECall methods must be packaged into a system module.";
    Err(exceptions::throw_made(t, exceptions::new_exception_of(t, class, Some(message))))
}

fn missing_internal_call(t: CurrentThread, method: &'static Method) {
    let is_of_library = std::ptr::eq(method.image().assembly(), saki_types::universe().corlib().assembly());
    if !saki_types::load_texts::are_mono() && !is_of_library && refuse_internal_call(t).is_err() {
        return;
    }
    let what = crate::class_library::disagreement(method).unwrap_or_else(|| crate::internal_calls::name_of(method));
    let _ = exceptions::throw_not_implemented(t, &what);
}

fn profile_enter(t: CurrentThread, tagged: usize) {
    // SAFETY: code with probes passes the address of a method, with a part in its low bits.
    unsafe { upcalls().probed(t, tagged, false) };
}

fn profile_leave(t: CurrentThread, tagged: usize) {
    // SAFETY: code with probes passes the address of a method, with a part in its low bits.
    unsafe { upcalls().probed(t, tagged, true) };
}

fn trace_enter(t: CurrentThread, tagged: usize, words: usize) {
    // SAFETY: code that is traced passes the address of a method, with a part in its low bits, and that of its arguments.
    unsafe { upcalls().traced(t, tagged, words, false) };
}

fn trace_leave(t: CurrentThread, tagged: usize, words: usize) {
    // SAFETY: code that is traced passes the address of a method, with a part in its low bits, and that of its result, if it has one.
    unsafe { upcalls().traced(t, tagged, words, true) };
}

fn cover_statement(_: CurrentThread, method: usize, offset: i32) {
    // SAFETY: code whose coverage is recorded passes the address of its method.
    let method = unsafe { &*(method as *const Method) };
    if offset < 0 {
        upcalls().finally_entered(method, !offset as u32);
    } else {
        upcalls().statement_covered(method, offset as u32);
    }
}

/// The register-preserving class-init stub's hook: type in `stub_arg[0]`.
///
/// # Safety
/// Called by the stub with the current thread.
pub unsafe extern "C" fn class_init_hook(abi: *mut saki_abi::ThreadAbi) {
    // SAFETY: the stub passes the pinned register.
    let t = unsafe { CurrentThread::from_abi(abi) };
    // SAFETY: compiled code stored `Symbol::TypeHandle` there.
    let class: Ty = unsafe { &*((*abi).stub_arg[0] as *const Type) };
    t.run(|| class_init::ensure_outside(t, class));
}

/// The register-preserving allocation stub's hook: vtable in `stub_arg[0]`, object to `stub_result`.
///
/// # Safety
/// Called by the stub with the current thread; compiled code has stored `Symbol::VTable` in `stub_arg[0]`.
pub unsafe extern "C" fn alloc_slow_hook(abi: *mut saki_abi::ThreadAbi) {
    // SAFETY: the stub passes the pinned register.
    let t = unsafe { CurrentThread::from_abi(abi) };
    // SAFETY: compiled code stored `Symbol::VTable` there.
    let vtable = unsafe { &*((*abi).stub_arg[0] as *const VTable) };
    let object = t.run(|| object::new_instance_of(t, vtable).map(Some));
    // SAFETY: the current thread's own struct.
    unsafe { (*abi).stub_result = object.word().address() as u64 };
}

/// The write barrier stub's hook: object in `stub_arg[0]`.
///
/// # Safety
/// Called by the stub with the current thread; compiled code has stored an object that lives in `stub_arg[0]`.
pub unsafe extern "C" fn barrier_slow_hook(abi: *mut saki_abi::ThreadAbi) {
    // SAFETY: the stub passes the pinned register.
    let t = unsafe { CurrentThread::from_abi(abi) };
    // SAFETY: compiled code stored the object there.
    let object = ObjRef(unsafe { (*abi).stub_arg[0] } as *mut saki_abi::Object);
    // SAFETY: an object that lives, see above.
    unsafe { saki_gc::barrier::object_reference_write_slow(t.managed(), object) };
}

/// The poll stub's hook.
///
/// # Safety
/// Called by the stub with the current thread.
pub unsafe extern "C" fn poll_hook(abi: *mut saki_abi::ThreadAbi) {
    // SAFETY: the stub passes the pinned register.
    thread_aborts::safepoint(unsafe { CurrentThread::from_abi(abi) });
}

/// The hook of the stub for polls at the entries of methods: as `poll_hook`, and lets the stack grow.
///
/// # Safety
/// Called by the stub with the current thread and its callee-saved registers.
pub unsafe extern "C" fn poll_entry_hook(
    abi: *mut saki_abi::ThreadAbi,
    rbx: usize,
    r12: usize,
    r13: usize,
    r14: usize,
) -> usize {
    // SAFETY: the stub passes the pinned register.
    let t = unsafe { CurrentThread::from_abi(abi) };
    thread_aborts::safepoint(t);
    if t.is_pending() || !t.managed().is_to_grow() {
        return 0;
    }
    match t.managed().take_inner_stack() {
        // SAFETY: this is the stub's hook, the stack is in one part, and the inner part is the thread's.
        Some(inner) => unsafe { saki_code::grow(abi, [rbx, r12, r13, r14], inner) },
        None => 0,
    }
}

/// The stub's hook for native code that has returned while the poll word is not 0.
///
/// # Safety
/// Called by the stub with the current thread, which has stored that it is RUNNING.
pub unsafe extern "C" fn native_returned_hook(abi: *mut saki_abi::ThreadAbi) {
    // SAFETY: the stub passes the pinned register.
    leave_native(unsafe { CurrentThread::from_abi(abi) });
}

/// The interface resolver's hook: 0 with an exception pending when the receiver does not implement the method.
///
/// # Safety
/// Called by the stub with the current thread; `method` is what compiled code stored in `imt_method`.
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
        // SAFETY: the stub passes the receiver of the call, which it has checked.
        let Some(receiver) = (unsafe { Obj::from_word(receiver) }) else {
            return Err(exceptions::throw_null_reference(t));
        };
        let target = crate::proxies::virtual_target(t, receiver, method)
            .map_err(|thrown| crate::exception_trace::begin_in_callee(t, thrown, method))?;
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
