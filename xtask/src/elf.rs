//! Symbols of a 64-bit little-endian ELF file: what it defines for others and takes from them, and its functions.
//!
//! Invariant: damaged files give errors, no panics. Left out: versions of symbols, everything else in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Names, by where they are defined.
#[derive(Default)]
pub struct DynamicSymbols {
    pub defined: BTreeSet<String>,
    pub undefined: BTreeSet<String>,
}

/// All symbols of a section's table, and those that the dynamic linker sees.
const SHT_SYMTAB: u32 = 2;
const SHT_DYNSYM: u32 = 11;
/// The type of symbols that are functions, in the low bits of `st_info`.
const STT_FUNC: u64 = 2;
const SECTION_HEADER_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;

fn number<const N: usize>(bytes: &[u8], offset: usize) -> Option<u64> {
    let bytes: [u8; N] = bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// Offset and length in bytes of a section's contents.
fn contents(file: &[u8], header: usize) -> Option<&[u8]> {
    let offset = number::<8>(file, header + 0x18)? as usize;
    file.get(offset..offset.checked_add(number::<8>(file, header + 0x20)? as usize)?)
}

/// Calls `visit` with the entry and the name of each symbol in the tables of this type.
fn for_each_symbol(file: &[u8], table_type: u32, mut visit: impl FnMut(&[u8], String) -> Option<()>) -> Option<()> {
    if file.get(..6)? != [0x7f, b'E', b'L', b'F', 2, 1] {
        return None;
    }
    let table = number::<8>(file, 0x28)? as usize;
    let count = number::<2>(file, 0x3c)? as usize;
    let header = |index: usize| table.checked_add(index.checked_mul(SECTION_HEADER_BYTES)?);
    for index in 0..count {
        let section = header(index)?;
        if number::<4>(file, section + 4)? != u64::from(table_type) {
            continue;
        }
        let names = contents(file, header(number::<4>(file, section + 0x28)? as usize)?)?;
        for symbol in contents(file, section)?.chunks_exact(SYMBOL_BYTES) {
            let name = names.get(number::<4>(symbol, 0)? as usize..)?;
            visit(symbol, String::from_utf8_lossy(name.split(|byte| *byte == 0).next()?).into_owned())?;
        }
    }
    Some(())
}

fn read(file: &[u8]) -> Option<DynamicSymbols> {
    let mut found = DynamicSymbols::default();
    for_each_symbol(file, SHT_DYNSYM, |symbol, name| {
        let is_defined = number::<2>(symbol, 6)? != 0;
        if is_defined {
            found.defined.insert(name)
        } else {
            found.undefined.insert(name)
        };
        Some(())
    })?;
    Some(found)
}

/// The functions that a file defines, by address; of several names of one the first. Errors: the file cannot be read,
/// is not such an ELF file, or has no symbols.
pub fn functions(path: &Path) -> Result<BTreeMap<u64, String>, String> {
    let file = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut found = BTreeMap::new();
    for_each_symbol(&file, SHT_SYMTAB, |symbol, name| {
        let is_function = number::<1>(symbol, 4)? & 0xf == STT_FUNC && number::<2>(symbol, 6)? != 0;
        if is_function {
            found.entry(number::<8>(symbol, 8)?).or_insert(name);
        }
        Some(())
    })
    .filter(|()| !found.is_empty())
    .ok_or_else(|| format!("{}: not a 64-bit ELF file with symbols, or a damaged one", path.display()))?;
    Ok(found)
}

/// The dynamic symbols of a file. Errors: it cannot be read, or is not such an ELF file.
pub fn dynamic_symbols(path: &Path) -> Result<DynamicSymbols, String> {
    let file = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    read(&file).ok_or_else(|| format!("{}: not a 64-bit ELF file, or a damaged one", path.display()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_program_takes_symbols_of_the_c_library() {
        let own = std::env::current_exe().expect("a path");
        let symbols = super::dynamic_symbols(&own).expect("an ELF file");
        assert!(symbols.undefined.iter().any(|name| name == "malloc"), "{:?}", symbols.undefined);
        assert!(super::read(&std::fs::read(own).expect("a file")[..4096]).is_none());
    }
}
