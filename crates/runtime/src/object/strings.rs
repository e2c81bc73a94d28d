//! Strings: allocation, conversion, the intern table, literal cells.

use crate::cells::RootCell;
use crate::exception_types::ExceptionType;
use crate::host_events::{HostEvent, tell_if_wanted};
use crate::references::{Obj, Str};
use crate::thread::{CurrentThread, Managed};
use crate::vtables::vtable_of;
use crate::{class_library, domain, exceptions};
use rustc_hash::FxHashMap;
use saki_abi::vtable::VTable;
use saki_base::locks::{Mutex, rank};
use saki_contract::Version;
use saki_metadata::Token;
use saki_types::{Image, universe};

fn string_vtable() -> &'static VTable {
    match vtable_of(universe().string()) {
        Ok(vtable) => vtable,
        Err(error) => saki_base::bug!("System.String does not load: {error}"),
    }
}

/// A zeroed string of `length` UTF-16 units.
///
/// # Errors
/// OutOfMemoryException.
pub fn alloc_string<'t>(t: CurrentThread<'t>, length: usize) -> Managed<Str<'t>> {
    const MAX_LENGTH: i32 = 0x3fff_ffff;
    let Some(length) = i32::try_from(length).ok().filter(|&length| length <= MAX_LENGTH) else {
        return Err(match class_library::version() {
            // Managed code throws it there, with the text of the class library.
            Some(Version::Net10) => exceptions::throw_default(t, ExceptionType::OutOfMemory),
            _ => exceptions::out_of_memory(t),
        });
    };
    // SAFETY: System.String's vtable, and `t` is current; the allocation gives a string or null.
    unsafe { saki_gc::alloc_string(t.managed(), string_vtable(), length).and_then(|word| Obj::from_word(word)) }
        .inspect(|string| tell_if_wanted(HostEvent::Allocated(*string)))
        .map(Str)
        .ok_or_else(|| exceptions::out_of_memory(t))
}

/// # Errors
/// OutOfMemoryException.
pub fn new_string_utf16<'t>(t: CurrentThread<'t>, units: &[u16]) -> Managed<Str<'t>> {
    Str::filled(t, units.len(), |made| made.copy_from_slice(units))
}

/// # Errors
/// OutOfMemoryException.
pub fn new_string<'t>(t: CurrentThread<'t>, text: &str) -> Managed<Str<'t>> {
    if text.is_ascii() {
        let widen = |made: &mut [u16]| made.iter_mut().zip(text.bytes()).for_each(|(unit, byte)| *unit = byte.into());
        return Str::filled(t, text.len(), widen);
    }
    new_string_utf16(t, &text.encode_utf16().collect::<Vec<_>>())
}

/// A string from bytes that should be UTF-8; invalid sequences become U+FFFD.
///
/// # Errors
/// OutOfMemoryException.
pub fn new_string_utf8<'t>(t: CurrentThread<'t>, bytes: &[u8]) -> Managed<Str<'t>> {
    new_string(t, &String::from_utf8_lossy(bytes))
}

/// The text of UTF-16 units; lone surrogates become U+FFFD.
pub fn text_of(units: &[u16]) -> String {
    if units.iter().all(|&unit| unit < 0x80) {
        return String::from_utf8(units.iter().map(|&unit| unit as u8).collect()).expect("ASCII");
    }
    String::from_utf16_lossy(units)
}

/// The interned string with these units.
///
/// # Errors
/// OutOfMemoryException.
pub fn intern<'t>(t: CurrentThread<'t>, text: &[u16]) -> Managed<Str<'t>> {
    intern_cell(t, text, None).map(|cell| interned_in(t, cell))
}

/// The interned string with `string`'s text: itself when it is the first.
///
/// # Errors
/// OutOfMemoryException.
pub fn intern_object<'t>(t: CurrentThread<'t>, string: Str) -> Managed<Str<'t>> {
    intern_cell(t, string.units(), Some(string)).map(|cell| interned_in(t, cell))
}

/// The interned string with these units; None if there is none.
pub fn interned<'t>(t: CurrentThread<'t>, text: &[u16]) -> Option<Str<'t>> {
    domain::current().interned.lock().get(text).map(|&cell| interned_in(t, cell))
}

/// The string in a cell of the intern table.
fn interned_in<'t>(t: CurrentThread<'t>, cell: RootCell) -> Str<'t> {
    cell.obj(t).and_then(Obj::as_str).unwrap_or_else(|| saki_base::bug!("a cell of the intern table holds no string"))
}

fn intern_cell(t: CurrentThread, text: &[u16], existing: Option<Str>) -> Managed<RootCell> {
    let domain = domain::current();
    if let Some(&cell) = domain.interned.lock().get(text) {
        return Ok(cell);
    }
    // Allocate outside the lock: allocation is a safepoint.
    let string = match existing {
        Some(string) => string,
        None => Str::from_units(t, text)?,
    };
    let mut table = domain.interned.lock();
    Ok(*table.entry(text.into()).or_insert_with(|| RootCell::of_domain(domain.universe, string)))
}

/// By image and token.
type Literals = FxHashMap<(usize, u32), RootCell>;

/// The literals of compiled code.
static LITERALS: Mutex<rank::Literals, Option<Literals>> = Mutex::new(None);

/// The cell of an `ldstr` literal, made when code that loads it is placed.
///
/// # Errors
/// OutOfMemoryException; BadImageFormatException for a bad token.
pub fn literal_cell(t: CurrentThread, image: &'static Image, token: u32) -> Managed<RootCell> {
    let key = (image as *const Image as usize, token);
    if let Some(&cell) = LITERALS.lock().as_ref().and_then(|table| table.get(&key)) {
        return Ok(cell);
    }
    let units = image.meta.user_string(Token(token)).map_err(|e| exceptions::throw_load_error(t, &e.into()))?;
    let cell = intern_cell(t, &units, None)?;
    LITERALS.lock().get_or_insert_default().insert(key, cell);
    Ok(cell)
}

/// Sets a literal of a dynamic method, which is not interned.
pub fn set_literal(image: &'static Image, token: u32, string: Str) {
    let key = (image as *const Image as usize, token);
    LITERALS.lock().get_or_insert_default().insert(key, RootCell::new(string));
}

/// Drops the literals of code of dead assemblies; the strings stay interned.
pub(crate) fn forget_dead_literals() {
    if let Some(table) = LITERALS.lock().as_mut() {
        table.retain(|(image, _), _| !saki_types::collectible::is_dead(*image));
    }
}

/// Drops a literal of a dynamic method whose code is gone.
pub fn forget_literal(image: &'static Image, token: u32) {
    let key = (image as *const Image as usize, token);
    let cell = LITERALS.lock().as_mut().and_then(|table| table.remove(&key));
    if let Some(cell) = cell {
        // SAFETY: `set_literal` made it, and only the method's code loaded from it.
        unsafe { cell.free() };
    }
}
