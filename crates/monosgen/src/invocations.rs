//! Calls of `mono/metadata/object.h` besides `mono_runtime_invoke`: arguments in an array, delegates, `Main`.

use crate::call::{call, call_catching, call_quietly, held, some};
use crate::invoke::invoke;
use crate::machine::end;
use crate::text::text;
use saki_abi::ObjRef;
use saki_reflect::invoke_boxed;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::vm::domains::Domain;
use saki_runtime::vm::{command_line, set_command_line};
use saki_runtime::{Array, CurrentThread, Managed, Obj, Str, Word};
use saki_types::{Method, universe};
use std::ffi::{c_char, c_int, c_void};

/// Calls exactly this method with boxed arguments; the boxed result. A constructor without object makes one and gives
/// it. What is thrown goes to `exc`.
///
/// # Safety
/// `object` is as for `mono_runtime_invoke`; `params` is null or an object[]; `exc` is null or has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_runtime_invoke_array(
    method: &'static Method,
    object: *mut u8,
    params: ObjRef,
    exc: *mut ObjRef,
) -> ObjRef {
    const FUNCTION: &str = "mono_runtime_invoke_array";
    let invoke = |t| -> Managed<ObjRef> {
        // SAFETY: null or the host's array.
        let params = unsafe { held(params) }.and_then(Obj::as_array);
        if method.is_static() || object.is_null() || !method.owner.is_value_type() {
            // SAFETY: null or the host's object.
            let target = unsafe { held(ObjRef(object.cast())) };
            return Ok(invoke_boxed(t, method, target, params)?.word());
        }
        // The method gets the host's value in a box, and what it has changed goes back.
        // SAFETY: a value of the method's class lies at the address.
        let target = unsafe { Obj::boxed(t, method.owner, object) }?;
        let result = invoke_boxed(t, method, target, params)?;
        if let Some(target) = target {
            // SAFETY: values of the class lie at both addresses.
            unsafe { saki_runtime::object::copy_struct(t, object, target.data(), method.owner) };
        }
        Ok(result.word())
    };
    // SAFETY: null or the host's room for an exception.
    unsafe { call_catching(FUNCTION, exc, invoke) }
}

/// Calls a delegate. What is thrown goes to `exc`.
///
/// # Safety
/// `delegate` is a delegate; `params` and `exc` are as for `mono_runtime_invoke`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_runtime_delegate_invoke(
    delegate: ObjRef,
    params: *mut *mut u8,
    exc: *mut ObjRef,
) -> ObjRef {
    const FUNCTION: &str = "mono_runtime_delegate_invoke";
    let call_delegate = |t| -> Managed<ObjRef> {
        // SAFETY: the host's object.
        let class = unsafe { some(FUNCTION, delegate) }.ty();
        let Some(method) = class.methods_named("Invoke").to_managed(t)?.first().copied() else {
            end(FUNCTION, "gets an object that is no delegate")
        };
        // SAFETY: the host's delegate and arguments.
        unsafe { invoke(t, method, delegate.0.cast(), params) }
    };
    // SAFETY: null or the host's room for an exception.
    unsafe { call_catching(FUNCTION, exc, call_delegate) }
}

/// The texts of an argument vector.
///
/// # Safety
/// `argv` has `argc` texts.
unsafe fn arguments(argc: c_int, argv: *const *const c_char) -> Vec<String> {
    // SAFETY: the host's array has `argc` texts.
    (0..usize::try_from(argc).unwrap_or(0)).map(|index| unsafe { text(argv.add(index).read()) }).collect()
}

/// Sets what `Environment.GetCommandLineArgs` gives, if it was not set: 0.
///
/// # Safety
/// `argv` has `argc` texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_runtime_set_main_args(argc: c_int, argv: *const *const c_char) -> c_int {
    // SAFETY: the host's array has `argc` texts.
    set_command_line(unsafe { arguments(argc, argv) });
    0
}

/// What `Environment.GetCommandLineArgs` gives, as a string[].
#[unsafe(no_mangle)]
pub extern "C" fn mono_runtime_get_main_args() -> ObjRef {
    call_quietly("mono_runtime_get_main_args", |t| Ok(strings(t, command_line())?.word()))
}

fn strings<'t>(t: CurrentThread<'t>, texts: &[String]) -> Managed<Array<'t>> {
    let made = Array::new(t, universe().string(), texts.len())?;
    for (index, text) in texts.iter().enumerate() {
        let item = Str::new(t, text)?;
        made.set(t, index, Some(item.into()));
    }
    Ok(made)
}

/// Runs a `Main` with a string[]; its exit code. What it throws goes to `exc`.
///
/// # Safety
/// `args` is null or a string[]; `exc` is null or has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_runtime_exec_main(method: &'static Method, args: ObjRef, exc: *mut ObjRef) -> c_int {
    const FUNCTION: &str = "mono_runtime_exec_main";
    // SAFETY: null or the host's room; null or its array.
    unsafe { call_catching(FUNCTION, exc, |t| run_main(t, method, held(args))) }
}

fn run_main(t: CurrentThread, method: &'static Method, args: Option<Obj>) -> Managed<c_int> {
    let sig = method.sig().to_managed(t)?;
    saki_runtime::vm::make_program(t, method.image().assembly())?;
    let mut params = [args.word().0.cast::<u8>()];
    // SAFETY: a static method, whose only parameter, if it has one, is an object.
    let result = unsafe { invoke(t, method, std::ptr::null_mut(), params.as_mut_ptr()) }?;
    // SAFETY: the box of the result, or null, which this frame holds.
    let result = unsafe { held(result) };
    let code = if sig.ret == universe().void() { None } else { result.and_then(|result| result.unboxed::<i32>()) };
    if let Some(code) = code {
        saki_runtime::vm::set_exit_code(code);
    }
    Ok(code.unwrap_or_else(saki_runtime::vm::exit_code))
}

/// Runs a `Main`; `argv[0]` is the program, which `Main` does not get.
///
/// # Safety
/// `argv` has `argc` texts; `exc` is null or has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_runtime_run_main(
    method: &'static Method,
    argc: c_int,
    argv: *const *const c_char,
    exc: *mut ObjRef,
) -> c_int {
    const FUNCTION: &str = "mono_runtime_run_main";
    // SAFETY: the host's array has `argc` texts.
    let all = unsafe { arguments(argc, argv) };
    set_command_line(all.clone());
    let run = |t| -> Managed<c_int> {
        let args = strings(t, all.get(1..).unwrap_or_default())?;
        run_main(t, method, Some(args.into()))
    };
    // SAFETY: null or the host's room for an exception.
    unsafe { call_catching(FUNCTION, exc, run) }
}

/// Calls the host's function on the calling thread.
///
/// # Safety
/// The function may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_runtime_exec_managed_code(
    _domain: Option<&'static Domain>,
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) {
    // The thread becomes managed, as the function expects.
    call("mono_runtime_exec_managed_code", |_| ());
    // SAFETY: the host's function and its data.
    unsafe { function(data) };
}

/// The exit code that the program asks for.
#[unsafe(no_mangle)]
pub extern "C" fn mono_environment_exitcode_get() -> i32 {
    saki_runtime::vm::exit_code()
}

/// Sets the exit code that the program asks for.
#[unsafe(no_mangle)]
pub extern "C" fn mono_environment_exitcode_set(code: i32) {
    saki_runtime::vm::set_exit_code(code);
}
