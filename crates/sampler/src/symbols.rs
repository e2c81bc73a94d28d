//! Names of native code, from the symbol tables of the files that are loaded.
//!
//! Invariant: a symbol counts only where its size says that it covers the address; the nearest one before an address is often another
//! function's. Code without a symbol goes by its module. Left out: separate debug files, lines.

use crate::demangle::demangle;
use crate::modules::{self, Module};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, SymbolKind};
use rustc_hash::FxHashMap;
use std::path::Path;

/// The symbols of the modules that were asked for.
#[derive(Default)]
pub struct Symbols {
    /// By address of the module's record.
    tables: FxHashMap<usize, Table>,
}

/// A function: first address in the file, size in bytes, name.
type Symbol = (u64, u64, String);

struct Table {
    module_name: String,
    symbols: Vec<Symbol>,
}

/// A native function.
pub struct NativeName {
    pub name: String,
    pub module: String,
}

impl Symbols {
    /// What the function at `pc` is called.
    pub fn name(&mut self, pc: usize) -> NativeName {
        let Some(module) = modules::find(pc) else {
            return NativeName { name: "[unknown code]".into(), module: String::new() };
        };
        let key = std::ptr::from_ref(module).addr();
        let table = self.tables.entry(key).or_insert_with(|| Table::of(module));
        let address = pc.wrapping_sub(module.bias) as u64;
        let name = table.find(address).map_or_else(|| format!("[{}]", table.module_name), demangle);
        NativeName { name, module: table.module_name.clone() }
    }
}

impl Table {
    fn of(module: &Module) -> Table {
        let is_executable = module.path.as_os_str().is_empty();
        let path = if is_executable { Path::new("/proc/self/exe") } else { &module.path };
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let module_name = if is_executable { "saki".to_owned() } else { name };
        let mut symbols = std::fs::read(path).ok().and_then(|file| read_symbols(&file)).unwrap_or_default();
        symbols.sort_unstable();
        Table { module_name, symbols }
    }

    fn find(&self, address: u64) -> Option<&str> {
        let after = self.symbols.partition_point(|(start, _, _)| *start <= address);
        let (start, len, name) = self.symbols.get(after.checked_sub(1)?)?;
        (address - start < *len).then_some(name)
    }
}

/// The functions in `.symtab` and `.dynsym`.
fn read_symbols(file: &[u8]) -> Option<Vec<Symbol>> {
    let file = ElfFile64::<Endianness>::parse(file).ok()?;
    let functions = file.symbols().chain(file.dynamic_symbols()).filter(|symbol| symbol.kind() == SymbolKind::Text);
    let with_size = functions.filter(|symbol| symbol.size() > 0 && symbol.is_definition());
    Some(
        with_size
            .filter_map(|s| Some((s.address(), s.size(), String::from_utf8_lossy(s.name_bytes().ok()?).into_owned())))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn a_function_with_this_name() -> usize {
        std::hint::black_box(1)
    }

    #[test]
    fn own_functions_and_those_of_the_c_library_have_names() {
        modules::refresh();
        let mut symbols = Symbols::default();
        let own = symbols.name(a_function_with_this_name as fn() -> usize as usize + 1);
        assert!(own.name.ends_with("symbols::tests::a_function_with_this_name"), "{}", own.name);
        let theirs = symbols.name(libc::getpid as *const () as usize);
        assert!(theirs.name.contains("getpid") && theirs.module.contains("libc"), "{}", theirs.name);
        assert_eq!(symbols.name(16).name, "[unknown code]");
        assert_eq!(a_function_with_this_name(), 1);
    }
}
