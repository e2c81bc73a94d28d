//! What lies above the machine: the crates of the class libraries, and the host's functions among them.

use crate::assembly_hooks::HostLoaderEvents;
use crate::{exceptions, native_libraries, profiler_events, reference_queues};
use saki_runtime::{HostEvents, UpperLayers};

/// For the machine's start.
pub(crate) fn all() -> UpperLayers {
    let mut layers = saki_icall::upper_layers();
    // A process has one machine.
    layers.loader_events = Box::leak(Box::new(HostLoaderEvents(layers.loader_events)));
    layers.interop.resolve_native = native_libraries::resolve_native;
    layers.host = HostEvents {
        report_unhandled: exceptions::report_unhandled,
        after_collection: reference_queues::after_collection,
        ..profiler_events::host_events()
    };
    layers
}
