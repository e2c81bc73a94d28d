//! Source positions of managed code: the debug symbols of each image, read when the first position in it is asked for.
//!
//! Invariant: an image's symbols are looked for once, and their absence is remembered. They are never freed, as images
//! are not. An embedding host may hand them over. Left out: symbols that a program passes along with an assembly in
//! memory.

use crate::exception_trace::NO_IL_OFFSET;
use rustc_hash::FxHashMap;
use saki_abi::position;
use saki_base::locks::{RwLock, rank};
use saki_code::CodeInfo;
pub use saki_metadata::SourcePosition;
use saki_metadata::{Rid, SymbolFile};
use saki_tools::SourceLine;
use saki_types::{Image, Method, MethodKind, collectible};
use std::sync::OnceLock;

/// Filled by the first thread that needs the symbols; other threads wait for it.
type Symbols = OnceLock<Option<SymbolFile>>;

/// The symbols by address of the image.
static SYMBOLS: RwLock<rank::SourceSymbols, Option<FxHashMap<usize, &'static Symbols>>> = RwLock::new(None);

fn place_of(image: &'static Image) -> &'static Symbols {
    let key = std::ptr::from_ref(image).addr();
    let known = SYMBOLS.read().as_ref().and_then(|table| table.get(&key).copied());
    known.unwrap_or_else(|| {
        let mut table = SYMBOLS.write();
        table.get_or_insert_default().entry(key).or_insert_with(|| collectible::keep_beside(image, Symbols::new()))
    })
}

fn symbols_of(image: &'static Image) -> Option<&'static SymbolFile> {
    // The table's lock is not held, because reading a file takes long.
    place_of(image).get_or_init(|| SymbolFile::find_for(image.meta)).as_ref()
}

/// Whether the image has symbols.
pub fn has_symbols(image: &'static Image) -> bool {
    symbols_of(image).is_some()
}

/// Gives an image the content of a symbol file, unless its symbols have been looked for; whether it did. False for
/// symbols of another build, and for what is none.
pub fn set_symbols(image: &'static Image, content: Vec<u8>) -> bool {
    SymbolFile::from_bytes(image.meta, content).is_ok_and(|symbols| place_of(image).set(Some(symbols)).is_ok())
}

/// Drops the symbols of dead assemblies and domains.
pub(crate) fn forget_dead() {
    if let Some(table) = SYMBOLS.write().as_mut() {
        table.retain(|image, _| !collectible::is_dead(*image));
    }
}

/// The source position of the instruction at `il_offset` (bytes) of `method`. `None` without symbols for it,
/// and for `NO_IL_OFFSET`.
pub fn source_position(method: &'static Method, il_offset: u32) -> Option<SourcePosition> {
    if il_offset == NO_IL_OFFSET {
        return None;
    }
    let MethodKind::Def { image, rid } = method.kind else { return None };
    position_in(image, rid, il_offset)
}

/// The source position of the instruction at `il_offset` (bytes) of the method in row `rid`; None without symbols for
/// it.
pub(crate) fn position_in(image: &'static Image, rid: Rid, il_offset: u32) -> Option<SourcePosition> {
    symbols_of(image)?.line(rid, il_offset)
}

/// The lines of a compiled body, with an entry for each change; inlined bodies have their own lines.
pub fn lines_of(info: &CodeInfo) -> Vec<SourceLine> {
    let mut lines: Vec<SourceLine> = Vec::new();
    if info.method.is_null() {
        return lines;
    }
    for (native_offset, at) in info.positions() {
        let method = info.inline_site(at).map_or(info.method, |site| site.method);
        // SAFETY: code with a method, and inline sites, are placed with their `&'static Method`.
        let method = unsafe { &*(method as *const Method) };
        let Some(found) = source_position(method, position::unpack(at).1) else { continue };
        if lines.last().is_none_or(|last| last.position.line != found.line || last.position.file != found.file) {
            lines.push(SourceLine { native_offset, position: found });
        }
    }
    lines
}
