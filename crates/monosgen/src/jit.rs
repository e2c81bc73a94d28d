//! `mono/jit/jit.h`: start and end of the machine, options.

use crate::call::{call, call_managed};
use crate::text::{given, path, text};
use crate::{config, domains, host_layers, machine, profiler_sampling, profilers, reference_queues};
use saki_runtime::vm::domains::{Domain, root_domain, set_name};
use saki_runtime::vm::profile_log::callspec::CallSpec;
use saki_types::assembly::Assembly;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

/// Starts the machine on the calling thread; null if it cannot start, with a line on standard error. The first domain
/// gets the file's name.
///
/// # Safety
/// `file` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_jit_init(file: *const c_char) -> Option<&'static Domain> {
    // SAFETY: not null, so the host's text, which ends in NUL.
    let file = (!file.is_null()).then(|| unsafe { path(file) });
    let name = file.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let started = || {
        if let Some(name) = &name {
            set_name(root_domain(), name);
        }
        profiler_sampling::begin();
        profilers::machine_started();
    };
    match machine::start(host_layers::all, profilers::begin, started) {
        Ok(()) => domains::mono_get_root_domain(),
        Err(text) => {
            saki_base::tell!("saki: mono_jit_init: {text}");
            None
        }
    }
}

/// [`mono_jit_init`]: there is one version of the class libraries.
///
/// # Safety
/// `name` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_jit_init_version(
    name: *const c_char,
    _version: *const c_char,
) -> Option<&'static Domain> {
    // SAFETY: null or the host's text.
    unsafe { mono_jit_init(name) }
}

/// [`mono_jit_init_version`].
///
/// # Safety
/// `name` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_jit_init_version_for_test_only(
    name: *const c_char,
    version: *const c_char,
) -> Option<&'static Domain> {
    // SAFETY: null or the host's text.
    unsafe { mono_jit_init_version(name, version) }
}

/// Runs `Main`; its exit code. `argv[0]` is the program.
///
/// # Safety
/// `argv` has `argc` texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_jit_exec(
    _domain: Option<&'static Domain>,
    assembly: &'static Assembly,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    let count = usize::try_from(argc).unwrap_or(0);
    // SAFETY: the host's array has `argc` texts.
    let arguments: Vec<String> = (1..count).map(|index| unsafe { text(argv.add(index).read()) }).collect();
    call("mono_jit_exec", |t| saki_runtime::vm::execute(t, assembly, &arguments))
}

/// Ends the machine. The process may go on, without managed code.
#[unsafe(no_mangle)]
pub extern "C" fn mono_jit_cleanup(_domain: *const c_void) {
    machine::shut_down(reference_queues::end);
}

/// A text about the build, for `mono_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_runtime_build_info() -> *mut c_char {
    given(concat!("6.8.0.105 (Saki ", env!("CARGO_PKG_VERSION"), ")").as_bytes())
}

/// Attaches the calling thread; the domain.
#[unsafe(no_mangle)]
pub extern "C" fn mono_jit_thread_attach(_domain: *const c_void) -> Option<&'static Domain> {
    call_managed("mono_jit_thread_attach", |_| Ok(Some(saki_runtime::vm::domains::current())))
}

/// Handlers of signals that were there before are always called for what is not the machine's.
#[unsafe(no_mangle)]
pub extern "C" fn mono_set_signal_chaining(_chain: c_int) {}

/// Does nothing, for the same reason as [`mono_set_signal_chaining`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_set_crash_chaining(_chain: c_int) {}

/// Code of Mono's own ahead-of-time compiler is not used.
#[unsafe(no_mangle)]
pub extern "C" fn mono_jit_set_aot_mode(_mode: c_int) {}

/// Does nothing, for the same reason as [`mono_jit_set_aot_mode`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_jit_set_aot_only(_is_on: c_int) {}

/// The machine is never started to compile ahead of time.
#[unsafe(no_mangle)]
pub extern "C" fn mono_jit_aot_compiling() -> c_int {
    0
}

/// There is one code generator.
#[unsafe(no_mangle)]
pub extern "C" fn mono_set_use_llvm(_is_on: c_int) {}

/// Code of Mono's own ahead-of-time compiler is not used: what is in the module is compiled from its CIL.
#[unsafe(no_mangle)]
pub extern "C" fn mono_aot_register_module(_info: *const c_void) {}

/// The CIL instruction `break` stops nothing here, so no policy is asked.
#[unsafe(no_mangle)]
pub extern "C" fn mono_set_break_policy(_policy: *const c_void) {}

/// Sets which calls are written, in the syntax of `mono --trace=`: 1. 0 for a text that cannot be read, and after the
/// machine has started.
///
/// # Safety
/// `options` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_jit_set_trace_options(options: *const c_char) -> c_int {
    // SAFETY: not null, so the host's text, which ends in NUL.
    let options = if options.is_null() { String::new() } else { unsafe { text(options) } };
    match CallSpec::parse(&options) {
        Ok(spec) if !machine::is_started() => {
            config::set_trace(spec);
            1
        }
        _ => 0,
    }
}

/// Mono asks the function only with the security of CoreCLR, which `mono_security_enable_core_clr` cannot switch on
/// here: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_security_set_core_clr_platform_callback(_callback: *const c_void) {}
