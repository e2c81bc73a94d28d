//! The remoting context that a thread is in, and the default context of each domain.

use crate::cells::RootCell;
use crate::domain::{self, Domain};
use crate::exceptions::ToManaged;
use crate::fields::ManagedField;
use crate::references::Obj;
use crate::thread::{CurrentThread, Managed};
use saki_thread::root;
use saki_types::{LibraryType, universe};

impl Domain {
    /// The remoting context that threads start in, made on first use without running a constructor. For the current domain.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn default_context<'t>(&self, t: CurrentThread<'t>) -> Managed<Obj<'t>> {
        static DOMAIN_ID: ManagedField = ManagedField::new(LibraryType::Context, "domain_id");
        if let Some(cell) = self.default_context.get() {
            return Ok(known(t, cell));
        }
        let ty = universe().library_type(LibraryType::Context).to_managed(t)?;
        let context = Obj::new(t, ty)?;
        DOMAIN_ID.set(context, self.id);
        // The first to publish wins; the other object is garbage.
        Ok(known(t, self.default_context.get_or_init(|| RootCell::of_domain(self.universe, context))))
    }
}

fn known<'t>(t: CurrentThread<'t>, cell: &RootCell) -> Obj<'t> {
    cell.obj(t).unwrap_or_else(|| saki_base::bug!("the default context of a domain that has ended"))
}

/// Whether the thread is in the default context of its domain.
pub fn is_in_default_context(t: CurrentThread) -> bool {
    t.root(root::CONTEXT)
        .is_none_or(|known| domain::current().default_context.get().is_some_and(|cell| cell.obj(t) == Some(known)))
}

/// The remoting context that the thread is in.
///
/// # Errors
/// OutOfMemoryException.
pub fn context<'t>(t: CurrentThread<'t>) -> Managed<Obj<'t>> {
    t.root(root::CONTEXT).map_or_else(|| domain::current().default_context(t), Ok)
}
