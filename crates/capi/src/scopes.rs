//! Scopes: objects that are let go together.

use crate::kept;
use saki::{Thread, Unscoped};

/// The objects of a scope, which one thread at a time uses.
#[derive(Default)]
pub struct HostScope {
    kept: Vec<Unscoped>,
    /// The host has opened it, and frees it by closing it. Others end with the call of a function of the host.
    is_boxed: bool,
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
    Some(Box::new(HostScope { is_boxed: true, ..HostScope::default() }))
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_scope_close(scope: Option<&mut HostScope>) {
    let Some(scope) = scope else { return };
    kept::release(&mut scope.kept);
    if scope.is_boxed {
        // SAFETY: the flag says that `saki_scope_open` has boxed it, and the host gives it back (saki.h).
        drop(unsafe { Box::from_raw(scope) });
    }
}
