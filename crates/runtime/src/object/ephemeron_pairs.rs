//! Pairs of a key and a value that lives only while the key does: the dependent handles of .NET's class libraries.
//!
//! A pair is an array of one ephemeron (`saki_gc`). Its vtable is that of an array of `KeyValuePair<object, object>`,
//! with the flag of ephemerons, and no method: managed code never sees such an array, only Rust code has it, by a GC
//! handle.

use crate::exceptions::{self, ToManaged};
use crate::references::{Array, Obj, Word};
use crate::thread::{CurrentThread, Managed};
use crate::vtables;
use saki_abi::ObjRef;
use saki_abi::object::ARRAY_DATA_OFFSET;
use saki_abi::vtable::{VTable, VTableFlags};
use saki_types::universe;
use std::sync::OnceLock;

const KEY_OFFSET: usize = ARRAY_DATA_OFFSET as usize;
const VALUE_OFFSET: usize = KEY_OFFSET + size_of::<ObjRef>();

fn vtable(t: CurrentThread) -> Managed<&'static VTable> {
    static VTABLE: OnceLock<&'static VTable> = OnceLock::new();
    if let Some(made) = VTABLE.get() {
        return Ok(made);
    }
    let pair = universe().corlib().find_type("System.Collections.Generic", "KeyValuePair`2").to_managed(t)?;
    let Some(pair) = pair else {
        return Err(exceptions::throw_not_implemented(t, "dependent handles without KeyValuePair"));
    };
    let object = universe().object();
    let element = universe().instantiate(pair, &[object, object]).to_managed(t)?;
    let of_arrays = vtables::vtable_of(universe().sz_array_of(element)).to_managed(t)?;
    let header = VTable {
        ty: of_arrays.ty,
        element_ref_map: of_arrays.element_ref_map,
        instance_size_bytes: of_arrays.instance_size_bytes,
        element_size_bytes: of_arrays.element_size_bytes,
        flags: VTableFlags(of_arrays.flags.0 | VTableFlags::EPHEMERONS),
        depth: of_arrays.depth,
        display: of_arrays.display,
        rank: of_arrays.rank,
        element_type: of_arrays.element_type,
        method_table: of_arrays.method_table,
        ..VTable::empty()
    };
    Ok(VTABLE.get_or_init(|| vtables::make(None, header)))
}

/// A new pair.
///
/// # Errors
/// OutOfMemoryException.
pub fn new<'t>(t: CurrentThread<'t>, key: Option<Obj>, value: Option<Obj>) -> Managed<Array<'t>> {
    let pair = crate::object::new_sz_array_of(t, vtable(t)?, 1)?;
    store(t, pair, KEY_OFFSET, key);
    store(t, pair, VALUE_OFFSET, value);
    Ok(pair)
}

fn store(t: CurrentThread, pair: Array, offset_bytes: usize, value: Option<Obj>) {
    // SAFETY: the key or the value of a pair, which lie in the array's only element.
    unsafe { saki_gc::barrier::store_ref(t.managed(), pair.word(), offset_bytes, value.word()) };
}

fn load(pair: Array<'_>, offset_bytes: usize) -> Option<Obj<'_>> {
    // SAFETY: the key or the value of a pair, which are references.
    unsafe { Obj::from_word(pair.field_address::<ObjRef>(offset_bytes).read()) }
}

/// The key; None when it has died.
pub fn key(pair: Array<'_>) -> Option<Obj<'_>> {
    load(pair, KEY_OFFSET).filter(|key| !saki_gc::is_ephemeron_tombstone(key.word()))
}

/// The value; None when the key has died.
pub fn value(pair: Array<'_>) -> Option<Obj<'_>> {
    load(pair, VALUE_OFFSET)
}

/// Replaces the value.
pub fn set_value(t: CurrentThread, pair: Array, value: Option<Obj>) {
    store(t, pair, VALUE_OFFSET, value);
}

/// Gives up key and value.
pub fn clear(t: CurrentThread, pair: Array) {
    store(t, pair, KEY_OFFSET, None);
    store(t, pair, VALUE_OFFSET, None);
}
