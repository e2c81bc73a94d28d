//! The functions of Mono's public headers that are not implemented: each ends the process with a message that names it.
//! Some cannot be: there is no verifier of CIL and no bridge to another collector; generic contexts and parameters as
//! Mono has them exist nowhere, and neither do records that hosts fill field by field.
//!
//! A function that gets a body elsewhere leaves this list; `tests/exports.rs` compares the library with the headers.

use crate::machine::end;

macro_rules! missing {
    ($($function:ident)*) => { $(
        #[doc = concat!("Ends the process: `", stringify!($function), "` is not implemented.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $function() {
            end(stringify!($function), "is not implemented")
        }
    )* };
}

// appdomain.h: no security of CoreCLR is there to be switched on.
missing! {
    mono_security_enable_core_clr
}

// class.h: takes a record of Mono's for a generic parameter, which no function gives.
missing! {
    mono_class_from_generic_parameter
}

// debug-helpers.h: takes a generic context, which no function gives.
missing! {
    mono_context_get_desc
}

// debug-mono-symfile.h: gives a record of local variables, which no header lays out.
missing! {
    mono_debug_symfile_lookup_locals
}

// image.h: the first is for Windows, and asserts under Mono as well; types are never added to an image's names.
missing! {
    mono_image_fixup_vtable mono_image_add_to_name_cache
}

// metadata.h: records of instantiations, and signatures to be filled, are not the machine's.
missing! {
    mono_metadata_generic_class_is_valuetype mono_metadata_signature_alloc
}

// mono-debug.h: code of other compilers, such records again, breakpoints; the third asserts under Mono as well.
missing! {
    mono_debug_add_method mono_debug_lookup_locals mono_debug_lookup_method_addresses mono_debugger_insert_breakpoint
}

// profiler.h
missing! {
    mono_profiler_call_context_get_local mono_profiler_set_gc_root_register_callback
    mono_profiler_set_gc_root_unregister_callback mono_profiler_set_gc_roots_callback
    mono_profiler_set_image_failed_callback mono_profiler_set_jit_chunk_created_callback
    mono_profiler_set_jit_chunk_destroyed_callback
}

// reflection.h: parsed names are records that the host has to make room for, and whose size no header tells.
missing! {
    mono_reflection_free_type_info mono_reflection_get_custom_attrs_blob mono_reflection_get_type
    mono_reflection_parse_type
}

// sgen-bridge.h: the collector finds no strongly connected parts of the heap.
missing! {
    mono_gc_register_bridge_callbacks
}

// threads.h: threads begin under a lock, where no host's function may run.
missing! {
    mono_thread_init
}

// verify.h: there is no verifier of CIL.
missing! {
    mono_free_verify_list mono_method_verify
}
