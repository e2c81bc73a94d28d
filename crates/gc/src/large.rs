//! Index of large objects (above [`crate::LARGE_OBJECT_BYTES`]), for interior pointers.
//!
//! MMTk's own search walks back page by page, 36–117 µs for a word into the middle of a 256 MB object; the index
//! answers from a sorted map. Invariant: it holds every large object that is allocated and not yet swept. It stores
//! addresses, not references: it keeps nothing alive, and large objects never move. Left out: the memory itself.

use saki_abi::ObjRef;
use saki_base::locks::{Mutex, rank};
use std::collections::BTreeMap;

#[derive(Default)]
struct LargeObjects {
    /// Start address → bytes.
    by_start: BTreeMap<usize, usize>,
    /// Starts of those allocated since the last collection; a nursery collection can only free these.
    young: Vec<usize>,
}

/// Held for short look-ups and insertions only, never across a safepoint, so a stopped world leaves it free.
static LARGE_OBJECTS: Mutex<rank::LargeObjects, LargeObjects> =
    Mutex::new(LargeObjects { by_start: BTreeMap::new(), young: Vec::new() });

pub(crate) fn insert(start: usize, size_bytes: usize) {
    let mut objects = LARGE_OBJECTS.lock();
    objects.by_start.insert(start, size_bytes);
    objects.young.push(start);
}

/// The large object that `address` points into.
pub(crate) fn find(address: usize) -> Option<ObjRef> {
    let objects = LARGE_OBJECTS.lock();
    let (&start, &size_bytes) = objects.by_start.range(..=address).next_back()?;
    (address - start < size_bytes).then_some(ObjRef(start as *mut _))
}

/// Removes the objects that the ending collection frees.
pub(crate) fn remove_dead(full: bool, is_live: &dyn Fn(ObjRef) -> bool) {
    let mut objects = LARGE_OBJECTS.lock();
    let young = std::mem::take(&mut objects.young);
    if full {
        objects.by_start.retain(|&start, _| is_live(ObjRef(start as *mut _)));
    } else {
        for start in young {
            if !is_live(ObjRef(start as *mut _)) {
                objects.by_start.remove(&start);
            }
        }
    }
}

/// Calls `visit` with start and size of each large object, in address order.
pub(crate) fn for_each(visit: &mut dyn FnMut(usize, usize)) {
    for (&start, &size_bytes) in &LARGE_OBJECTS.lock().by_start {
        visit(start, size_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_interior_pointers_but_not_one_past_the_end() {
        insert(0x10000, 0x8000);
        insert(0x20000, 0x5000);
        let found = |address| find(address).map(ObjRef::address);
        assert_eq!(found(0x10000), Some(0x10000));
        assert_eq!(found(0x17fff), Some(0x10000));
        assert_eq!(found(0x18000), None);
        assert_eq!(found(0xffff), None);
        remove_dead(false, &|object| object.address() == 0x20000);
        assert_eq!(found(0x10000), None);
        assert_eq!(found(0x24fff), Some(0x20000));
        remove_dead(true, &|_| false);
        assert_eq!(found(0x24fff), None);
    }
}
