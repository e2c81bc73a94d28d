//! The remoting context that a thread is in, and the default context of each domain.

use crate::cells::RootCell;
use crate::domain::{self, Domain};
use crate::exceptions::ToManaged;
use crate::fields::ManagedField;
use crate::object;
use crate::thread::{CurrentThread, Managed};
use saki_abi::ObjRef;
use saki_thread::root;
use saki_types::universe;

impl Domain {
    /// The remoting context that threads start in, made on first use without running a constructor. For the current domain.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn default_context(&self, t: CurrentThread) -> Managed<ObjRef> {
        static DOMAIN_ID: ManagedField =
            ManagedField::corlib("System.Runtime.Remoting.Contexts", "Context", "domain_id");
        if let Some(cell) = self.default_context.get() {
            return Ok(cell.get());
        }
        let ty = universe().corlib_type("System.Runtime.Remoting.Contexts", "Context").to_managed(t)?;
        let context = object::new_instance(t, ty)?;
        DOMAIN_ID.set(context, self.id);
        // The first to publish wins; the other object is garbage.
        Ok(self.default_context.get_or_init(|| RootCell::of_domain(self.universe, context)).get())
    }
}

/// Whether the thread is in no context but its domain's own.
pub fn is_in_default_context(t: CurrentThread) -> bool {
    let known = t.managed().roots[root::CONTEXT].get();
    known.is_null() || domain::current().default_context.get().is_some_and(|cell| cell.get() == known)
}

/// The remoting context that the thread is in.
///
/// # Errors
/// OutOfMemoryException.
pub fn context(t: CurrentThread) -> Managed<ObjRef> {
    let known = t.managed().roots[root::CONTEXT].get();
    if known.is_null() { domain::current().default_context(t) } else { Ok(known) }
}
