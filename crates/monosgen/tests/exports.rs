//! The library exports what Mono's public headers declare, and nothing else. Skipped without the headers or `nm`.

mod common;

use common::{HEADERS, built, has_headers};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Types of the headers that functions give back, and whose names are like those of functions.
const TYPES: &[&str] = &["mono_bool", "mono_byte", "mono_unichar2", "mono_unichar4"];

/// Exported although no public header has them, as by Mono's library: hosts declare them, and `libmono-native.so` and the
/// class library take some by name.
const NOT_IN_HEADERS: &[&str] = &[
    "mono_add_internal_call_internal",
    "mono_add_internal_call_with_flags",
    "mono_assembly_addref",
    "mono_assembly_get_image_internal",
    "mono_assembly_get_name_internal",
    "mono_class_from_mono_type_internal",
    "mono_class_get_checked",
    "mono_class_is_valid_enum",
    "mono_jit_set_domain",
    "mono_main",
    "mono_marshal_set_last_error",
    "mono_method_get_full_name",
    "mono_object_describe",
    "mono_object_get_size_internal",
    "mono_object_get_vtable_internal",
    "mono_parse_default_optimizations",
    "mono_pmip",
    "mono_print_method_from_ip",
    "mono_profiler_install",
    "mono_profiler_install_allocation",
    "mono_profiler_install_enter_leave",
    "mono_profiler_install_exception",
    "mono_profiler_install_gc",
    "mono_profiler_install_jit_end",
    "mono_profiler_install_thread",
    "mono_profiler_set_events",
    "mono_runtime_try_invoke",
    "mono_security_core_clr_get_options",
    "mono_security_core_clr_set_options",
    "mono_set_defaults",
    "mono_signature_full_name",
    "mono_string_new_checked",
    "mono_thread_get_coop_aware",
    "mono_thread_set_coop_aware",
    "mono_threads_assert_gc_safe_region",
    "mono_threads_assert_gc_unsafe_region",
    "mono_threads_attach_coop",
    "mono_threads_detach_coop",
    "mono_threads_enter_gc_safe_region",
    "mono_threads_enter_gc_safe_region_internal",
    "mono_threads_enter_gc_safe_region_unbalanced",
    "mono_threads_enter_gc_unsafe_region",
    "mono_threads_enter_gc_unsafe_region_unbalanced",
    "mono_threads_exit_gc_safe_region",
    "mono_threads_exit_gc_safe_region_internal",
    "mono_threads_exit_gc_safe_region_unbalanced",
    "mono_threads_exit_gc_unsafe_region",
    "mono_threads_exit_gc_unsafe_region_unbalanced",
    "mono_trace_init",
    "mono_type_is_primitive",
    "mono_vtable_class_internal",
    "mono_vtable_domain_internal",
    "mono_win32_compat_CopyMemory",
    "mono_win32_compat_FillMemory",
    "mono_win32_compat_MoveMemory",
    "mono_win32_compat_ZeroMemory",
];

/// The text without comments and lines of the preprocessor.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        code.push_str(&rest[..start]);
        code.push(' ');
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    code.push_str(rest);
    let lines = code.replace("\\\n", " ");
    let is_code = |line: &&str| !line.trim_start().starts_with('#');
    lines.lines().filter(is_code).map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// What a header declares after `MONO_API` and the like: names that begin with `mono_`.
fn add_declared(text: &str, names: &mut BTreeSet<String>) {
    let code = code_of(text);
    for declaration in code.split(';') {
        let Some(start) = ["MONO_API", "MONO_DEPRECATED"].iter().filter_map(|mark| declaration.find(mark)).min() else {
            continue;
        };
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = |word: &&str| word.starts_with("mono_") && !TYPES.contains(word);
        names.extend(declaration[start..].split(|c| !is_part(c)).find(is_name).map(str::to_owned));
    }
    // The functions that the profiler's events make: MONO_PROFILER_EVENT_2(gc_event, …).
    for event in code.split("MONO_PROFILER_EVENT_").skip(1) {
        if let Some((name, _)) =
            event.split_once('(').and_then(|(_, after)| after.split_once(',').or(after.split_once(')')))
        {
            names.insert(format!("mono_profiler_set_{}_callback", name.trim()));
        }
    }
}

fn add_headers(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            add_headers(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "h") {
            add_declared(&String::from_utf8_lossy(&std::fs::read(&path).expect("a header")), names);
        }
    }
}

#[test]
fn the_library_exports_what_the_public_headers_declare_and_nothing_else() {
    if !has_headers() {
        return;
    }
    let Ok(output) = Command::new("nm").args(["-D", "--defined-only"]).arg(built()).output() else {
        return eprintln!("skipped: no nm");
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let symbol =
        |line: &str| line.split_whitespace().nth(2).map(|name| name.split('@').next().unwrap_or(name).to_owned());
    let exported: BTreeSet<String> = text.lines().filter_map(symbol).collect();
    let mut declared = BTreeSet::new();
    add_headers(&Path::new(HEADERS).join("mono"), &mut declared);
    assert!(declared.len() > 700, "{} declarations", declared.len());
    let missing: Vec<_> = declared.difference(&exported).collect();
    assert!(missing.is_empty(), "not exported: {missing:?}");
    declared.extend(NOT_IN_HEADERS.iter().map(|name| (*name).to_owned()));
    let surplus: Vec<_> = exported.difference(&declared).collect();
    assert!(surplus.is_empty(), "exported, but in no header: {surplus:?}");
}
