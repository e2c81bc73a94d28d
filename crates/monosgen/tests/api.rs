//! Hosts in C, compiled with Debian's headers of Mono, and what they print under Mono 6.8. Skipped without `cc`, `mcs`
//! or the headers.

mod common;

/// The library of most hosts, and that of those which need more.
const LIBRARY: &str = include_str!("api.cs");
const ARGUMENTS: &str = include_str!("arguments.cs");
const INNER: &str = include_str!("inner.cs");
const LARGER: &str = concat!(include_str!("api.cs"), include_str!("more.cs"));

/// Compares what a host prints with what it prints under Mono (`tests/NAME.txt`).
macro_rules! as_under_mono {
    ($test:ident, $host:literal) => {
        as_under_mono!($test, $host, LIBRARY);
    };
    ($test:ident, $host:literal, $library:ident) => {
        #[test]
        fn $test() {
            if common::has_headers() {
                common::prints($host, $library, include_str!(concat!($host, ".txt")));
            }
        }
    };
}

as_under_mono!(classes_and_their_members_are_described_as_under_mono, "classes");
as_under_mono!(objects_are_made_and_asked_as_under_mono, "objects");
as_under_mono!(images_and_their_tables_are_read_as_under_mono, "images");
as_under_mono!(domains_threads_and_the_collector_are_asked_as_under_mono, "machine");
as_under_mono!(reflection_objects_and_attributes_are_made_as_under_mono, "reflection");
as_under_mono!(exceptions_leave_internal_calls_with_arguments_in_memory, "arguments", ARGUMENTS);
as_under_mono!(functions_that_no_header_has_do_as_under_mono, "inner", INNER);
as_under_mono!(the_command_mono_runs_a_program_as_under_mono, "command", INNER);
as_under_mono!(hooks_of_a_host_are_called_as_under_mono, "hooks", LARGER);
as_under_mono!(counters_queues_libraries_and_threads_work_as_under_mono, "services", LARGER);
as_under_mono!(metadata_is_read_and_stacks_are_walked_as_under_mono, "metadata", LARGER);

#[test]
fn a_thread_that_sleeps_is_aborted_by_the_host() {
    if common::has_headers() {
        common::prints("stop", LARGER, "stopped: aborted\n");
    }
}

/// Mono itself hangs here now and then: what it does is not compared.
#[test]
fn a_collection_does_not_hold_threads_with_the_lock_of_the_allocator() {
    if common::has_headers() {
        common::prints("arena", LIBRARY, "kept: 16\n");
    }
}
