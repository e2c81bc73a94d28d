//! Application domains: programs apart from each other in one machine.

use crate::Thread;
use crate::thread::Scope;
use crate::values::Thrown;
use saki_reflect::{field_access, members};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::vm::{domain_unload, domains, threads};
use saki_runtime::{CurrentThread, Obj, Str};
use saki_types::{LibraryType, universe};
use std::fmt;
use std::path::Path;

/// An application domain. The record lives as long as the machine, also after the domain was unloaded.
///
/// Managed code can unload a domain, too (`AppDomain.Unload`). Assemblies, classes and members that a host has from it
/// are freed then, and nothing checks that: do not keep them beyond [`Domain::run`].
#[derive(Clone, Copy)]
pub struct Domain(&'static domains::Domain);

impl PartialEq for Domain {
    fn eq(&self, other: &Domain) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Domain {}

impl<'t> Thread<'t> {
    /// The domain that the thread is in.
    pub fn domain(self) -> Domain {
        Domain(domains::current())
    }

    /// A new domain, which looks for assemblies in the folder `base`.
    ///
    /// # Errors
    /// Errors of loading the class library; OutOfMemoryException.
    pub fn create_domain(self, name: &str, base: impl AsRef<Path>) -> Thrown<'t, Domain> {
        let t = self.inner();
        let base = base.as_ref().to_string_lossy();
        let create = || {
            let setup = Obj::new(t, universe().library_type(LibraryType::AppDomainSetup).to_managed(t)?)?;
            if let Some(field) = members::find_field(setup.ty(), "application_base").to_managed(t)? {
                field_access::set_value(t, field, Some(setup), Some(Str::new(t, &base)?.into()))?;
            }
            domains::create(t, name, setup)
        };
        self.caught(create()).map(Domain)
    }
}

impl Domain {
    /// `AppDomain.FriendlyName`.
    pub fn name(self) -> String {
        self.0.friendly_name().to_string()
    }

    /// Whether it is the one in which the machine started.
    pub fn is_root(self) -> bool {
        std::ptr::eq(self.0, domains::root_domain())
    }

    /// Runs `body` in the domain, with a scope of its own: assemblies that it loads, and classes that it finds, are the
    /// domain's. Objects of other domains do not fit its classes, other than those of the class library.
    ///
    /// # Errors
    /// AppDomainUnloadedException.
    pub fn run<'t, R>(self, t: Thread<'t>, body: impl for<'s> FnOnce(Thread<'s>) -> R) -> Thrown<'t, R> {
        t.caught(self.0.add_thread(t.inner()))?;
        let inside = Inside { t: t.inner(), domain: self.0, before: domains::switch(t.inner(), self.0) };
        let result = Scope::with(t.inner(), body);
        let is_unloaded = threads::end_abort_by_unload(t.inner(), self.0);
        drop(inside);
        if is_unloaded {
            return t.caught(Err(domains::throw_unloaded(t.inner())));
        }
        Ok(result)
    }

    /// Unloads the domain: its threads are aborted, its objects and code freed.
    ///
    /// # Safety
    /// No assembly, class or member of the domain is used afterwards, and none of its objects that outlived
    /// [`Domain::run`] ([`Rooted`](crate::Rooted), [`Unscoped`](crate::Unscoped)).
    ///
    /// # Errors
    /// CannotUnloadAppDomainException, also for the first domain; what a handler of DomainUnload throws.
    pub unsafe fn unload<'t>(self, t: Thread<'t>) -> Thrown<'t, ()> {
        t.caught(domain_unload::unload(t.inner(), self.0))
    }
}

/// The time that a thread is in a domain; it leaves also if the host's code panics.
struct Inside<'t> {
    t: CurrentThread<'t>,
    domain: &'static domains::Domain,
    before: &'static domains::Domain,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        domains::switch(self.t, self.before);
        self.domain.remove_thread(self.t);
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "domain {}", self.name())
    }
}
