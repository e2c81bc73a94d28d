//! Scopes: objects that are let go together.

use crate::kept;
use saki::{Thread, Unscoped};

/// The objects of a scope, which one thread at a time uses.
#[derive(Default)]
pub struct HostScope {
    kept: Vec<Unscoped>,
}

impl HostScope {
    /// The scope lets the object go.
    pub fn add(&mut self, kept: Unscoped) {
        self.kept.push(kept);
    }

    /// Lets the objects go, on a thread inside the machine.
    pub fn close(&mut self, t: Thread<'_>) {
        for kept in self.kept.drain(..) {
            kept::let_go(t, kept);
        }
    }
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_scope_open() -> Option<Box<HostScope>> {
    Some(Box::default())
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_scope_close(scope: Option<Box<HostScope>>) {
    if let Some(mut scope) = scope {
        kept::release(&mut scope.kept);
    }
}
