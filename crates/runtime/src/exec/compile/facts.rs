//! The facts of the running machine, as compilations ask for them, and the record of what a body relies on.

use super::noted;
use crate::code_cache::Conditions;
use crate::exec::host_calls;
use crate::initialised;
use crate::internal_calls;
use crate::library_loops;
use crate::object::overrides;
use crate::statics;
use crate::upcalls::upcalls;
use saki_il::import::{Facts, LibraryLoop};
use saki_il::ir::Function;
use saki_types::{Assumption, Field, Method, Ty};
use std::cell::RefCell;
use std::sync::atomic::AtomicU32;

/// The facts for one compilation.
#[derive(Default)]
pub(crate) struct MachineFacts {
    /// The only classes with a static constructor that may be taken for initialised; None: all that are.
    may_be_initialised: Option<Vec<Ty>>,
    /// The only values that may be taken for constants; None: all that are.
    may_be_constant: Option<Vec<(&'static Field, u64)>>,
    /// None when nobody will ask what the body relies on.
    assumed: Option<RefCell<Vec<Assumption>>>,
}

impl MachineFacts {
    /// Facts whose assumptions are recorded, since the body may be kept. `refused`: what the body that an earlier run
    /// kept took for granted and what did not hold. The new one may take no more for granted, so that what is assumed
    /// becomes less from run to run.
    pub fn recording(refused: Option<Conditions>) -> MachineFacts {
        let (may_be_initialised, may_be_constant) = refused.map(|all| (all.initialised, all.constants)).unzip();
        MachineFacts { may_be_initialised, may_be_constant, assumed: Some(RefCell::default()) }
    }

    /// The same for a body that is compiled late, when most classes are initialised: only values that differ from run
    /// to run are left out.
    pub fn recording_late(refused: Option<Conditions>) -> MachineFacts {
        let may_be_constant = refused.map(|all| all.constants);
        MachineFacts { may_be_initialised: None, may_be_constant, assumed: Some(RefCell::default()) }
    }

    /// Facts as if no class constructor had run yet.
    pub fn of_the_start() -> MachineFacts {
        MachineFacts { may_be_initialised: Some(Vec::new()), may_be_constant: None, assumed: None }
    }

    /// What was assumed since the last call.
    pub fn take_assumed(&self) -> Vec<Assumption> {
        self.assumed.as_ref().map(RefCell::take).unwrap_or_default()
    }
}

impl Facts for MachineFacts {
    fn is_initialised(&self, ty: Ty) -> bool {
        let is_allowed = |allowed: &Vec<Ty>| allowed.contains(&ty) || matches!(ty.has_initializer(), Ok(false));
        initialised::is_initialised(ty) && self.may_be_initialised.as_ref().is_none_or(is_allowed)
    }

    fn constant(&self, field: &'static Field) -> Option<u64> {
        let bits = statics::number(field)?;
        let is_allowed = |allowed: &Vec<_>| allowed.contains(&(field, bits));
        self.may_be_constant.as_ref().is_none_or(is_allowed).then_some(bits)
    }

    fn library_loop(&self, method: &'static Method) -> Option<LibraryLoop> {
        library_loops::kind(method)
    }

    fn has_internal_call(&self, method: &'static Method) -> bool {
        internal_calls::find(method).is_some()
    }

    fn is_host_call(&self, method: &'static Method) -> bool {
        host_calls::is_there(method)
    }

    fn usual_classes(&self, method: &'static Method, il_offset: u32) -> [Option<Ty>; 2] {
        noted::usual_classes(method, il_offset)
    }

    fn usual_delegates(&self, method: &'static Method, il_offset: u32) -> [Option<&'static Method>; 2] {
        noted::usual_delegates(method, il_offset)
    }

    fn is_never_overridden(&self, method: &'static Method) -> bool {
        overrides::is_never_overridden(method)
    }

    fn block_counts(&self, method: &'static Method) -> &'static [AtomicU32] {
        noted::block_counts(method)
    }

    fn statements(&self, method: &'static Method) -> Vec<u32> {
        upcalls().statements(method)
    }

    fn are_clauses_told(&self) -> bool {
        upcalls().are_clauses_told()
    }

    fn add_probes(&self, method: &'static Method, function: &mut Function) {
        upcalls().add_probes(method, function);
    }

    fn assume(&self, assumption: Assumption) {
        if let Some(assumed) = &self.assumed {
            let mut assumed = assumed.borrow_mut();
            if assumed.last() != Some(&assumption) {
                assumed.push(assumption);
            }
        }
    }
}
