//! The side table of reflection objects: a root cell for each (kind, handle, reflected type).

use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use saki_runtime::{Cell, Managed, ObjRef, dynamic_methods};
use saki_types::collectible;
use saki_types::dynamic_records;

/// What a cached object stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Method,
    Field,
    Property,
    Event,
    Assembly,
    Module,
    Parameters,
    MethodBody,
}

type Key = (Kind, usize, usize);

/// Never held while an object is allocated: allocation is a safepoint.
static CELLS: RwLock<Option<FxHashMap<Key, Cell>>> = RwLock::new(None);

/// Drops what stands for records of dead assemblies.
pub(crate) fn forget_dead() {
    if let Some(cells) = CELLS.write().as_mut() {
        cells.retain(|(_, handle, reflected), _| !collectible::is_dead(*handle) && !collectible::is_dead(*reflected));
    }
}

/// The object of `handle` as seen from `reflected` (0 when that makes no difference), made by `make` on first use. When two
/// threads make it at once, both get the first one stored.
///
/// # Errors
/// What `make` throws; nothing is cached then.
pub fn get_or_make(
    kind: Kind,
    handle: usize,
    reflected: usize,
    make: impl FnOnce() -> Managed<ObjRef>,
) -> Managed<ObjRef> {
    if let Some(method) = dynamic_records::find(handle) {
        // The handle may come to mean another method.
        if kind != Kind::Method {
            return make();
        }
        let known = dynamic_methods::info_of(method);
        return if known.is_null() { Ok(dynamic_methods::set_info(method, make()?)) } else { Ok(known) };
    }
    let key = (kind, handle, reflected);
    if let Some(cell) = CELLS.read().as_ref().and_then(|cells| cells.get(&key)) {
        return Ok(cell.get());
    }
    let object = make()?;
    let mut cells = CELLS.write();
    Ok(cells
        .get_or_insert_default()
        .entry(key)
        .or_insert_with(|| {
            let anchor = if collectible::of(reflected).is_some() { reflected } else { handle };
            Cell::beside(anchor, object)
        })
        .get())
}
