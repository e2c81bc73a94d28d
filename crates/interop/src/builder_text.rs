//! Reading and replacing the text of a `System.Text.StringBuilder`.
//!
//! A builder is a chain of chunks, the last one first; `m_ChunkOffset` counts the characters before a chunk.
//! Invariant: a builder written here is one that managed code could have made: one chunk, length within capacity.

use saki_abi::ObjRef;
use saki_runtime::exceptions::ToManaged;
use saki_runtime::fields::ManagedField;
use saki_runtime::object;
use saki_runtime::thread::{CurrentThread, Managed};
use saki_types::universe;

static CHARS: ManagedField = ManagedField::corlib("System.Text", "StringBuilder", "m_ChunkChars");
static PREVIOUS: ManagedField = ManagedField::corlib("System.Text", "StringBuilder", "m_ChunkPrevious");
static LENGTH: ManagedField = ManagedField::corlib("System.Text", "StringBuilder", "m_ChunkLength");
static MAX_CAPACITY: ManagedField = ManagedField::corlib("System.Text", "StringBuilder", "m_MaxCapacity");
static OFFSET: ManagedField = ManagedField::corlib("System.Text", "StringBuilder", "m_ChunkOffset");

/// Characters, as the class library's.
const DEFAULT_CAPACITY: usize = 16;

/// The text, and how many characters the builder has room for.
pub fn builder_units(builder: ObjRef) -> (Vec<u16>, usize) {
    let capacity = object::array_length(CHARS.get_ref(builder)) + OFFSET.get::<i32>(builder) as usize;
    let mut chunks = Vec::new();
    let mut chunk = builder;
    while !chunk.is_null() {
        chunks.push(chunk);
        chunk = PREVIOUS.get_ref(chunk);
    }
    let mut units = Vec::with_capacity(capacity);
    for chunk in chunks.into_iter().rev() {
        let chars = CHARS.get_ref(chunk);
        let length = (LENGTH.get::<i32>(chunk) as usize).min(object::array_length(chars));
        // SAFETY: `length` is within the char array, which this frame keeps alive.
        units.extend_from_slice(unsafe {
            std::slice::from_raw_parts(object::element_address(chars, 0, 2).cast(), length)
        });
    }
    (units, capacity)
}

/// A builder with this text, as its constructor would leave it.
///
/// # Errors
/// OutOfMemoryException.
pub fn new_builder(t: CurrentThread, units: &[u16]) -> Managed<ObjRef> {
    let builder_ty = universe().corlib_type("System.Text", "StringBuilder").to_managed(t)?;
    let builder = object::new_instance(t, builder_ty)?;
    let chars = object::new_array(t, universe().char_(), units.len().max(DEFAULT_CAPACITY))?;
    CHARS.set_ref(t, builder, chars);
    MAX_CAPACITY.set(builder, i32::MAX);
    set_builder_units(t, builder, units)?;
    Ok(builder)
}

/// Replaces the text; the capacity does not shrink.
///
/// # Errors
/// OutOfMemoryException.
pub fn set_builder_units(t: CurrentThread, builder: ObjRef, units: &[u16]) -> Managed<()> {
    let capacity = object::array_length(CHARS.get_ref(builder)) + OFFSET.get::<i32>(builder) as usize;
    let mut chars = CHARS.get_ref(builder);
    if !PREVIOUS.get_ref(builder).is_null() || object::array_length(chars) < units.len() {
        chars = object::new_array(t, universe().char_(), capacity.max(units.len()))?;
        CHARS.set_ref(t, builder, chars);
        PREVIOUS.set_ref(t, builder, ObjRef::NULL);
        OFFSET.set(builder, 0i32);
    }
    // SAFETY: the array holds at least `units.len()` characters.
    unsafe { std::ptr::copy_nonoverlapping(units.as_ptr(), object::element_address(chars, 0, 2).cast(), units.len()) };
    LENGTH.set(builder, units.len() as i32);
    Ok(())
}
