//! Options of `mono` that a host passes in its own way: `mono_jit_parse_options`.

use crate::jit::mono_jit_set_trace_options;
use crate::text::text;
use std::ffi::{CString, c_char, c_int};

/// What an option does here.
enum Effect {
    /// Calls are written, of what the text names.
    Trace(String),
    /// Concerns the insides of Mono's compiler: nothing to do.
    None,
    /// Has an effect under Mono, and none here.
    Missing,
    /// Mono does not know it either.
    Unknown,
}

fn effect_of(option: &str) -> Effect {
    let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    match (name, value) {
        ("--trace", value) => Effect::Trace(value.unwrap_or_default().to_owned()),
        ("--optimize" | "-O", Some(_)) | ("--verbose" | "-v" | "--llvm", None) => Effect::None,
        ("--debugger-agent" | "--gc-params" | "--gc-debug", Some(_))
        | ("--soft-breakpoints" | "--breakonex" | "--stats", None) => Effect::Missing,
        _ => Effect::Unknown,
    }
}

/// Takes options of `mono` up to the first word that is none, before the machine starts. `--trace` and `--trace=WHAT`
/// count; options of Mono's compiler mean nothing here; one line on standard error names each that Mono follows and
/// Saki does not. An option that Mono does not know ends the process with exit code 1, as under Mono.
///
/// # Safety
/// `argv` has `argc` texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_jit_parse_options(argc: c_int, argv: *mut *mut c_char) {
    for index in 0..usize::try_from(argc).unwrap_or(0) {
        // SAFETY: the host's array has `argc` texts.
        let option = unsafe { text(argv.add(index).read()) };
        if !option.starts_with('-') {
            return;
        }
        match effect_of(&option) {
            Effect::Trace(what) => {
                let what = CString::new(what).unwrap_or_default();
                // SAFETY: a text that ends in NUL.
                if unsafe { mono_jit_set_trace_options(what.as_ptr()) } == 0 {
                    saki_base::tell!("saki: mono_jit_parse_options: {option} is no trace, or comes too late");
                }
            }
            Effect::None => {}
            Effect::Missing => saki_base::tell!("saki: mono_jit_parse_options: {option} has no effect"),
            Effect::Unknown => {
                saki_base::tell!("Unsupported command line option: '{option}'");
                saki_thread::end_process(1)
            }
        }
    }
}
