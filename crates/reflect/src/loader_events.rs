//! What the loader asks of the program while it works: the AppDomain's events, raised where managed code may run.
//!
//! Invariant: no handler runs before the domain has its AppDomain object, nor while an exception is pending. What a
//! handler throws counts as "not found".

use crate::domain_events::{is_load_awaited, raise_assembly_load, raise_assembly_resolve, raise_type_builder_resolve};
use crate::emit::builder_of;
use saki_runtime::exec::thread_data;
use saki_runtime::object::host_events::{HostEvent, tell_if_wanted};
use saki_runtime::vm::domains::Domain;
use saki_runtime::vm::host_profiler;
use saki_runtime::{CurrentThread, vm};
use saki_types::binder::AssemblyName;
use saki_types::emitted::EmittedType;
use saki_types::{Assembly, Image, LoaderEvents, Ty};

/// Raises the AppDomain's events for the loader.
pub struct AppDomainEvents;

impl LoaderEvents for AppDomainEvents {
    fn resolve_assembly(&self, wanted: &AssemblyName, requesting: Option<&'static Image>) -> Option<&'static Assembly> {
        CurrentThread::with_attached(|t| resolve_assembly(t, wanted, requesting)).flatten()
    }

    fn assembly_loaded(&self, assembly: &'static Assembly) {
        // The core assembly is loaded before there is a domain, and is told of with that.
        if assembly.image.universe.runtime::<Domain>().is_some() {
            tell_if_wanted(HostEvent::AssemblyLoaded(assembly));
        }
        CurrentThread::with_attached(|t| assembly_loaded(t, assembly));
    }

    fn are_types_awaited(&self) -> bool {
        host_profiler::are_types_awaited()
    }

    fn type_made(&self, ty: Ty) {
        host_profiler::type_made(ty);
    }

    fn finish_type(&self, emitted: &'static EmittedType) {
        CurrentThread::with(|t| finish_type(t, emitted));
    }
}

fn resolve_assembly(
    t: CurrentThread,
    wanted: &AssemblyName,
    requesting: Option<&'static Image>,
) -> Option<&'static Assembly> {
    vm::domain_object(t)?;
    if thread_data::of(t).caller_raises_resolve().get() {
        return None;
    }
    if t.is_pending() {
        return None;
    }
    // An exception of a handler counts as "not found" here, as in Mono.
    match raise_assembly_resolve(t, &wanted.display(), requesting.map(|image| image.assembly())) {
        Ok(found) => found,
        Err(_) => {
            t.take_pending();
            None
        }
    }
}

fn assembly_loaded(t: CurrentThread, assembly: &'static Assembly) {
    if is_load_awaited(t) && !t.is_pending() && raise_assembly_load(t, assembly).is_err() {
        t.take_pending();
    }
}

/// Lets the program finish a type that code or a signature needs.
fn finish_type(t: CurrentThread, emitted: &'static EmittedType) {
    let Some(builder) = builder_of(t, emitted) else { return };
    if vm::domain_object(t).is_none() || t.is_pending() {
        return;
    }
    // An exception of a handler counts as "not finished".
    if raise_type_builder_resolve(t, builder).is_err() {
        t.take_pending();
    }
}
