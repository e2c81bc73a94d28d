//! `mono_main`: the command line of `mono`, for hosts that are programs with their assemblies inside (`mkbundle`), or
//! that start one as the command does. Mono's library exports it without a public header.

use crate::assemblies::mono_domain_assembly_open;
use crate::config::mono_config_parse;
use crate::jit::{
    mono_get_runtime_build_info, mono_jit_cleanup, mono_jit_exec, mono_jit_init, mono_jit_set_trace_options,
};
use crate::profiler_load::mono_profiler_load;
use crate::strings::mono_free;
use crate::text::{text, write_line};
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

/// Exit codes of `mono`.
const BAD_OPTION: c_int = 1;
const NO_ASSEMBLY: c_int = 2;
const NO_MACHINE: c_int = 3;

/// Options that change nothing here: of Mono's compiler and of debugging information, which is always used.
fn is_without_effect(option: &str) -> bool {
    const NAMES: &[&str] = &[
        "--debug",
        "--desktop",
        "--server",
        "--verbose",
        "-v",
        "--llvm",
        "--nollvm",
        "--gc=sgen",
        "--jitmap",
        "--ffast-math",
    ];
    const BEGINNINGS: &[&str] = &["--debug=", "--optimize=", "-O=", "--runtime=", "--wapi=", "--assembly-loader="];
    NAMES.contains(&option) || BEGINNINGS.iter().any(|beginning| option.starts_with(beginning))
}

/// Takes the option at `index`; how many words it was, or the code with which the command ends.
///
/// # Safety
/// `words` are texts of C.
unsafe fn take(words: &[*const c_char], index: usize) -> Result<usize, c_int> {
    let c_text = |value: &str| CString::new(value).unwrap_or_default();
    // SAFETY: a text that ends in NUL.
    let option = unsafe { text(words[index]) };
    match option.split_once('=').map_or((&*option, None), |(name, value)| (name, Some(value))) {
        ("--config", None) => {
            let Some(&file) = words.get(index + 1) else {
                saki_base::tell!("error: --config requires a filename argument");
                return Err(BAD_OPTION);
            };
            // SAFETY: a text that ends in NUL.
            unsafe { mono_config_parse(file) };
            return Ok(2);
        }
        // SAFETY: a text that ends in NUL.
        ("--trace", value) => drop(unsafe { mono_jit_set_trace_options(c_text(value.unwrap_or_default()).as_ptr()) }),
        ("--profile", value) => {
            let value = value.map(c_text);
            // SAFETY: null or a text that ends in NUL; the command names the library.
            unsafe { mono_profiler_load(value.as_deref().map_or(ptr::null(), CStr::as_ptr)) };
        }
        ("--version" | "-V", _) => {
            let build = mono_get_runtime_build_info();
            // SAFETY: a text that ends in NUL, which is freed below.
            write_line(&format!("Mono JIT compiler version {}", unsafe { text(build) }));
            // SAFETY: given for this.
            unsafe { mono_free(build.cast()) };
            return Err(0);
        }
        ("--help" | "-h", None) => {
            write_line("Usage is: mono [options] program [program-options]");
            return Err(0);
        }
        _ if is_without_effect(&option) => {}
        _ => {
            saki_base::tell!("Unknown command line option: '{option}'");
            return Err(BAD_OPTION);
        }
    }
    Ok(1)
}

/// Runs the command `mono` with these arguments, of which the first is the command's name: options, a program, and its
/// arguments. The exit code, after the machine has ended. Options of Mono's compiler have no effect; one that is
/// neither Mono's nor known here is an error.
///
/// # Safety
/// `argv` has `argc` texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_main(argc: c_int, argv: *const *const c_char) -> c_int {
    let count = usize::try_from(argc).unwrap_or(0);
    // SAFETY: the host's array has `argc` texts.
    let words: Vec<*const c_char> = (0..count).map(|index| unsafe { argv.add(index).read() }).collect();
    let mut index = 1;
    // SAFETY: a text that ends in NUL.
    while index < count && unsafe { *words[index] } as u8 == b'-' {
        // SAFETY: the host's texts.
        match unsafe { take(&words, index) } {
            Ok(taken) => index += taken,
            Err(code) => return code,
        }
    }
    let Some(&program) = words.get(index) else {
        write_line("Usage is: mono [options] program [program-options]");
        return BAD_OPTION;
    };
    // SAFETY: the host's text.
    let Some(domain) = (unsafe { mono_jit_init(program) }) else { return NO_MACHINE };
    // SAFETY: the same.
    let Some(assembly) = (unsafe { mono_domain_assembly_open(Some(domain), program) }) else {
        // SAFETY: the same.
        let name = unsafe { text(program) };
        let why = if std::path::Path::new(&*name).exists() {
            "File does not contain a valid CIL image"
        } else {
            "No such file or directory"
        };
        saki_base::tell!("Cannot open assembly '{name}': {why}.");
        mono_jit_cleanup(ptr::from_ref(domain).cast());
        return NO_ASSEMBLY;
    };
    // SAFETY: the rest of the host's texts.
    let code = unsafe { mono_jit_exec(Some(domain), assembly, (count - index) as c_int, words[index..].as_ptr()) };
    mono_jit_cleanup(ptr::from_ref(domain).cast());
    code
}
