//! What weak processing needs from the collector that runs.

use saki_abi::ObjRef;

/// The collector during the weak phases of a collection. The world is stopped.
pub(crate) trait Tracer {
    /// Whether this is a full collection.
    fn is_full(&self) -> bool;

    /// Where `object` is now if it has been reached, `None` if not (yet).
    fn reached(&self, object: ObjRef) -> Option<ObjRef>;

    /// Keeps `object`, and later all that it refers to, alive; its new address.
    fn retain(&mut self, object: ObjRef) -> ObjRef;

    /// Calls `visit` with each buffer of objects that were registered for finalization since the last collection.
    fn for_each_new_finalizable(&self, visit: &mut dyn FnMut(&mut Vec<ObjRef>));
}
