//! Profilers of hosts in C: the events of a program, and what Mono 6.8 prints for them. Skipped without `cc`, `mcs` or
//! the headers.

mod common;

const PROGRAM: &str = include_str!("profiler.cs");

/// What the program refers to and does not find.
const MISSING: (&str, &str) =
    ("Nowhere", "namespace Nowhere { public class Parent { } public struct Unknown { public int Number; } }");

#[test]
fn a_profiler_is_told_of_a_program_as_under_mono() {
    if common::has_headers() {
        common::prints_without("profiler", PROGRAM, Some(MISSING), include_str!("profiler.txt"));
    }
}

#[test]
fn instrumented_methods_tell_of_calls_with_arguments_and_results_as_under_mono() {
    if common::has_headers() {
        common::prints_without("profiler_calls", PROGRAM, Some(MISSING), include_str!("profiler_calls.txt"));
    }
}

#[test]
fn covered_statements_are_counted_as_under_mono() {
    if common::has_headers() {
        common::prints_without("profiler_coverage", PROGRAM, Some(MISSING), include_str!("profiler_coverage.txt"));
    }
}

#[test]
fn samples_are_taken_of_a_thread_that_works() {
    if common::has_headers() {
        common::prints_without("profiler_samples", PROGRAM, Some(MISSING), include_str!("profiler_samples.txt"));
    }
}

/// Mono's domains share images, so that it tells of none here, and it tells of the contexts that domains begin with.
#[test]
fn domains_tell_of_their_assemblies_and_programs_of_their_contexts() {
    let expected = "image_loading some\nimage_loaded some\nassembly_loading some\nassembly_loaded some\n\
        domain_unloading\nassembly_unloading some\nimage_unloading some\nassembly_unloaded some\n\
        image_unloaded some\ndomain_unloaded\ncontext_loaded Context\n";
    if common::has_headers() {
        common::prints_without("profiler_domains", PROGRAM, Some(MISSING), expected);
    }
}

#[test]
fn a_library_with_a_profiler_is_loaded_and_initialised() {
    if common::has_headers() && common::has_profiler("profiler_load", "tiny") {
        common::prints(
            "profiler_load",
            "public class Nothing { }",
            "tiny: tiny:with,arguments\nstarted\nloaded\nended\n",
        );
    }
}
