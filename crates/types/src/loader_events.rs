//! What managed code is asked, or told, while types are loaded.
//!
//! Invariant: called with the loader lock held by the calling thread, so an implementation may run managed code of that thread but waits for no other thread
//! that loads types.

use crate::assembly::{Assembly, Image};
use crate::binder::AssemblyName;
use crate::emitted::EmittedType;

/// The program's part in loading. A binder gets it when it is made (`Binder::with_events`).
pub trait LoaderEvents: Sync {
    /// `AppDomain.AssemblyResolve`: the search found no assembly of the name; `requesting` is the image that refers to it.
    fn resolve_assembly(&self, wanted: &AssemblyName, requesting: Option<&'static Image>) -> Option<&'static Assembly>;

    /// `AppDomain.AssemblyLoad`: an assembly was loaded.
    fn assembly_loaded(&self, assembly: &'static Assembly);

    /// `AppDomain.TypeResolve`: a type that is still being emitted is needed. The program may finish it.
    fn finish_type(&self, emitted: &'static EmittedType);
}

/// For tools and tests that load types without a program.
pub struct NoLoaderEvents;

impl LoaderEvents for NoLoaderEvents {
    fn resolve_assembly(&self, _: &AssemblyName, _: Option<&'static Image>) -> Option<&'static Assembly> {
        None
    }

    fn assembly_loaded(&self, _: &'static Assembly) {}

    fn finish_type(&self, _: &'static EmittedType) {}
}
