//! MMTk's tracer as the weak phases see it.

use super::active_plan::for_each_finalizable_buffer;
use super::addresses::{from_reference, to_reference};
use super::object_model::reached;
use crate::tracer::Tracer;
use mmtk::vm::ObjectTracer;
use saki_abi::ObjRef;

pub(super) struct WeakTracer<'a, T: ObjectTracer> {
    pub(super) tracer: &'a mut T,
    pub(super) full: bool,
}

impl<T: ObjectTracer> Tracer for WeakTracer<'_, T> {
    fn is_full(&self) -> bool {
        self.full
    }

    fn reached(&self, object: ObjRef) -> Option<ObjRef> {
        // SAFETY: the weak tables hold objects that were alive at the last collection, and were not yet swept since.
        unsafe { reached(object, self.full) }
    }

    fn retain(&mut self, object: ObjRef) -> ObjRef {
        // SAFETY: callers pass live, non-null objects.
        from_reference(self.tracer.trace_object(unsafe { to_reference(object) }))
    }
    fn for_each_new_finalizable(&self, visit: &mut dyn FnMut(&mut Vec<ObjRef>)) {
        for_each_finalizable_buffer(visit);
    }
}
