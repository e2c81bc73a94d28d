//! The side table of reflection objects: a root cell for each (kind, handle, reflected type).

use crate::thread_cache::ThreadCache;
use rustc_hash::FxHashMap;
use saki_base::locks::{RwLock, rank};
use saki_runtime::vm::dynamic_methods;
use saki_runtime::{CurrentThread, Managed, Obj, RootCell};
use saki_types::collectible;
use saki_types::dynamic_records;

/// What a cached object stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ObjectKind {
    Method,
    Field,
    Property,
    Event,
    Assembly,
    Module,
    Parameters,
    MethodBody,
}

type Key = (ObjectKind, usize, usize);

/// Never held while an object is allocated: allocation is a safepoint.
static CELLS: RwLock<rank::ReflectionObjects, Option<FxHashMap<Key, RootCell>>> = RwLock::new(None);

thread_local! {
    /// Entries of `CELLS` that this thread used last, found without its lock.
    static RECENT: ThreadCache<Key, RootCell, 128> = const { ThreadCache::new() };
}

fn hash((kind, handle, reflected): Key) -> usize {
    handle ^ reflected.rotate_left(20) ^ kind as usize
}

#[inline(never)]
fn recent_cell(key: Key) -> Option<RootCell> {
    RECENT.with(|recent| recent.get(hash(key), &key))
}

#[inline(never)]
fn remember(key: Key, cell: RootCell) {
    RECENT.with(|recent| recent.put(hash(key), key, cell));
}

/// The object of a handle if this thread asked for it lately. Objects of dynamic methods are never found.
pub(crate) fn find_recent<'t>(
    t: CurrentThread<'t>,
    kind: ObjectKind,
    handle: usize,
    reflected: usize,
) -> Option<Obj<'t>> {
    recent_cell((kind, handle, reflected))?.obj(t)
}

/// Drops the entries of records of dead assemblies.
pub(crate) fn forget_dead() {
    if let Some(cells) = CELLS.write().as_mut() {
        cells.retain(|(_, handle, reflected), _| !collectible::is_dead(*handle) && !collectible::is_dead(*reflected));
    }
}

/// The object of `handle` as seen from `reflected` (0 when that makes no difference), made by `make` on first use. When
/// two threads make it at once, both get the first one stored.
///
/// # Errors
/// What `make` throws; nothing is cached then.
pub fn get_or_make<'t>(
    t: CurrentThread<'t>,
    kind: ObjectKind,
    handle: usize,
    reflected: usize,
    make: impl FnOnce() -> Managed<Obj<'t>>,
) -> Managed<Obj<'t>> {
    let key = (kind, handle, reflected);
    if let Some(known) = find_recent(t, kind, handle, reflected) {
        return Ok(known);
    }
    if let Some(method) = dynamic_records::find(handle) {
        // Only the method's own object is cached, because the handle may be used again for another method.
        if kind != ObjectKind::Method {
            return make();
        }
        return match dynamic_methods::info_of(t, method) {
            Some(known) => Ok(known),
            None => Ok(dynamic_methods::set_info(t, method, make()?)),
        };
    }
    let known = CELLS.read().as_ref().and_then(|cells| cells.get(&key)).copied();
    let cell = match known {
        Some(cell) => cell,
        None => {
            let object = make()?;
            *CELLS.write().get_or_insert_default().entry(key).or_insert_with(|| {
                let anchor = if collectible::of(reflected).is_some() { reflected } else { handle };
                RootCell::beside(anchor, object)
            })
        }
    };
    remember(key, cell);
    // A cell of the table is emptied only when its domain ends.
    Ok(cell.obj(t).unwrap_or_else(|| saki_base::bug!("a reflection object of a dead domain was asked for")))
}
