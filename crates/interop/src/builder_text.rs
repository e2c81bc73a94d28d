//! Reading and replacing the text of a `System.Text.StringBuilder`.
//!
//! A builder is a chain of chunks, the last one first; `m_ChunkOffset` counts the characters before a chunk.
//! Invariant: a builder written here is one that managed code could have made: one chunk, length within capacity.

use crate::slots::PlainElements;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::object::fields::ManagedField;
use saki_runtime::object::references::{Array, Obj};
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_types::{LibraryType, universe};

static CHARS: ManagedField = ManagedField::new(LibraryType::StringBuilder, "m_ChunkChars");
static PREVIOUS: ManagedField = ManagedField::new(LibraryType::StringBuilder, "m_ChunkPrevious");
static LENGTH: ManagedField = ManagedField::new(LibraryType::StringBuilder, "m_ChunkLength");
static MAX_CAPACITY: ManagedField = ManagedField::new(LibraryType::StringBuilder, "m_MaxCapacity");
static OFFSET: ManagedField = ManagedField::new(LibraryType::StringBuilder, "m_ChunkOffset");

/// The capacity of a new builder in characters, as in the class library.
const DEFAULT_CAPACITY: usize = 16;

/// The array of a chunk's characters, with room for more.
fn chars_of<'t>(chunk: Obj<'t>) -> Array<'t> {
    CHARS.array(chunk).unwrap_or_else(|| saki_base::bug!("a chunk of a StringBuilder without characters"))
}

/// The number of characters that a builder has room for.
fn capacity_of(builder: Obj) -> usize {
    chars_of(builder).length() + OFFSET.get::<i32>(builder) as usize
}

/// The text, and the number of characters that the builder has room for.
pub fn builder_units(builder: Obj) -> (Vec<u16>, usize) {
    let capacity = capacity_of(builder);
    let offset_of = |chunk| OFFSET.get::<i32>(chunk) as usize;
    let length_of = |chunk| (LENGTH.get::<i32>(chunk) as usize).min(chars_of(chunk).length());
    let mut units = vec![0; offset_of(builder) + length_of(builder)];
    // From the last chunk to the first, each to its place. A builder that another thread changes meanwhile may have
    // chunks that do not fit.
    for chunk in std::iter::successors(Some(builder), |chunk| PREVIOUS.obj(*chunk)) {
        let (offset, length) = (offset_of(chunk), length_of(chunk));
        if let Some(place) = units.get_mut(offset..offset.saturating_add(length)) {
            place.copy_from_slice(&chars_of(chunk).numbers_in::<u16>(0, length));
        }
    }
    (units, capacity)
}

/// A new builder with this text, in the state that its constructor would leave.
///
/// # Errors
/// OutOfMemoryException.
pub fn new_builder<'t>(t: CurrentThread<'t>, units: &[u16]) -> Managed<Obj<'t>> {
    let builder_ty = universe().library_type(LibraryType::StringBuilder).to_managed(t)?;
    let builder = Obj::new(t, builder_ty)?;
    let chars = Array::new(t, universe().char_(), units.len().max(DEFAULT_CAPACITY))?;
    CHARS.set_ref(t, builder, chars);
    MAX_CAPACITY.set(builder, i32::MAX);
    set_builder_units(t, builder, units)?;
    Ok(builder)
}

/// Replaces the text; the capacity does not shrink.
///
/// # Errors
/// OutOfMemoryException.
pub fn set_builder_units<'t>(t: CurrentThread<'t>, builder: Obj<'t>, units: &[u16]) -> Managed<()> {
    let capacity = capacity_of(builder);
    let mut chars = chars_of(builder);
    if PREVIOUS.obj(builder).is_some() || chars.length() < units.len() {
        chars = Array::new(t, universe().char_(), capacity.max(units.len()))?;
        CHARS.set_ref(t, builder, chars);
        PREVIOUS.set_ref(t, builder, None::<Obj>);
        OFFSET.set(builder, 0i32);
    }
    PlainElements::of(chars).set(units);
    LENGTH.set(builder, units.len() as i32);
    Ok(())
}
