//! Whether a class counts as initialised, so that accesses need no check. `class_init` runs constructors.

use saki_types::Ty;
use std::sync::atomic::Ordering;

/// Whether accesses need no check. Types without a constructor become initialised here.
pub fn is_initialised(ty: Ty) -> bool {
    // Acquire: what the constructor wrote is visible to the accesses that follow.
    if ty.runtime.init_done.load(Ordering::Acquire) == 1 {
        return true;
    }
    if let Ok(None) = ty.class_constructor()
        && is_module_initialised(ty)
    {
        // Release: pairs with the Acquire above; what the module's constructor wrote is passed on.
        ty.runtime.init_done.store(1, Ordering::Release);
        return true;
    }
    false
}

/// Whether the module of `ty` has no constructor that has failed or has not run yet.
fn is_module_initialised(ty: Ty) -> bool {
    let Some(def) = ty.def() else { return true };
    match def.image.module_type() {
        Some(module) if module != ty => is_initialised(module),
        _ => true,
    }
}
