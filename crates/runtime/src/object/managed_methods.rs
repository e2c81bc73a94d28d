//! Methods of the class libraries that the machine calls often: each is looked up once.
//!
//! A look-up by name walks over the names of the type's methods. Left out: methods that are called once or on the way
//! to an error, which `Type::find_method` finds.

use super::exceptions::{self, ToManaged};
use super::thread::{CurrentThread, Managed};
use saki_types::{LibraryType, Method, universe};
use std::sync::OnceLock;

/// A method of the class libraries that the machine calls.
///
/// ```ignore
/// static QUEUE: ManagedMethod = ManagedMethod::new(LibraryType::ThreadPool, "UnsafeQueueCustomWorkItem", 2);
/// invoke::invoke(t, QUEUE.method(t)?, &words)?;
/// ```
pub struct ManagedMethod {
    owner: LibraryType,
    name: &'static str,
    /// The number of parameters without `this`.
    params: usize,
    /// The method in the root domain.
    in_root: OnceLock<&'static Method>,
}

impl ManagedMethod {
    /// The method of this name with so many parameters.
    pub const fn new(owner: LibraryType, name: &'static str, params: usize) -> Self {
        ManagedMethod { owner, name, params, in_root: OnceLock::new() }
    }

    /// The method in the current domain.
    ///
    /// # Errors
    /// NotImplementedException when the class library lacks it; load errors.
    pub fn method(&self, t: CurrentThread) -> Managed<&'static Method> {
        if *universe() != *universe::root() {
            return self.look_up(t);
        }
        if let Some(known) = self.in_root.get() {
            return Ok(known);
        }
        let found = self.look_up(t)?;
        Ok(self.in_root.get_or_init(|| found))
    }

    #[cold]
    fn look_up(&self, t: CurrentThread) -> Managed<&'static Method> {
        let owner = universe().library_type(self.owner).to_managed(t)?;
        let found = owner.find_method(self.name, self.params).to_managed(t)?;
        found.ok_or_else(|| exceptions::throw_not_implemented(t, &format!("{}.{}", owner.full_name(), self.name)))
    }
}
