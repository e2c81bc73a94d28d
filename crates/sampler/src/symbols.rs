//! Names of native code, from the symbol tables of the files that are loaded.
//!
//! A file is mapped when code of it is first asked for, and only its headers, its symbol table and the names that are
//! found are read: an executable also has tens of megabytes of debug information.
//!
//! Invariant: a symbol counts only where its size says that it covers the address; the nearest one before an address is
//! often another function's. Code without a symbol gets the name of its module. Left out: separate debug files, lines.

use crate::demangle::demangle;
use crate::modules::{self, Module};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, ObjectSymbolTable, SymbolIndex, SymbolKind};
use rustc_hash::FxHashMap;
use saki_os::file_map::FileMap;
use std::fs::File;
use std::path::Path;

/// The symbols of the modules that were asked for.
#[derive(Default)]
pub struct Symbols {
    /// By address of the module's record.
    tables: FxHashMap<usize, Table>,
}

/// A function in `.symtab` or `.dynsym`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol {
    /// In the file.
    address: u64,
    size_bytes: u64,
    index: usize,
    is_dynamic: bool,
}

struct Table {
    module_name: String,
    /// None if it could not be read.
    file: Option<FileMap>,
    /// In the order of their addresses.
    symbols: Vec<Symbol>,
}

/// A native function.
pub struct NativeName {
    pub name: String,
    pub module: String,
}

/// Where in native code an instruction lies.
pub struct NativePlace {
    pub pc: usize,
    /// The file's name without its folder; empty for code of no module.
    pub module: String,
    /// The instruction's address in the module's file, as debuggers and `addr2line` take it.
    pub address_in_module: usize,
    /// The function, and the instruction's offset from its start in bytes.
    pub function: Option<(String, usize)>,
}

impl Symbols {
    /// Symbols of the modules that are loaded now.
    pub fn of_loaded() -> Symbols {
        modules::refresh();
        Symbols::default()
    }

    /// Where the instruction at `pc` lies.
    pub fn place(&mut self, pc: usize) -> NativePlace {
        let Some(module) = modules::find(pc) else {
            return NativePlace { pc, module: String::new(), address_in_module: 0, function: None };
        };
        let table = self.table(module);
        let address = pc.wrapping_sub(module.bias);
        let function = table.find(address as u64).map(|(name, offset)| (demangle(&name), offset as usize));
        NativePlace { pc, module: table.module_name.clone(), address_in_module: address, function }
    }

    fn table(&mut self, module: &'static Module) -> &Table {
        let key = std::ptr::from_ref(module).addr();
        self.tables.entry(key).or_insert_with(|| Table::of(module))
    }

    /// The name of the function at `pc`.
    pub fn name(&mut self, pc: usize) -> NativeName {
        let Some(module) = modules::find(pc) else {
            return NativeName { name: "[unknown code]".into(), module: String::new() };
        };
        let table = self.table(module);
        let address = pc.wrapping_sub(module.bias) as u64;
        let name = table.find(address).map_or_else(|| format!("[{}]", table.module_name), |(name, _)| demangle(&name));
        NativeName { name, module: table.module_name.clone() }
    }
}

impl Table {
    fn of(module: &Module) -> Table {
        let is_executable = module.path.as_os_str().is_empty();
        let path = if is_executable { Path::new("/proc/self/exe") } else { &module.path };
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let module_name = if is_executable { "saki".to_owned() } else { name };
        let file = File::open(path).and_then(|file| FileMap::new(&file)).ok();
        let mut symbols = file.as_ref().and_then(parse).map_or_else(Vec::new, |file| functions(&file));
        symbols.sort_unstable();
        Table { module_name, file, symbols }
    }

    /// The symbol, and the address's offset from its start.
    fn find(&self, address: u64) -> Option<(String, u64)> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = self.symbols.get(after.checked_sub(1)?).filter(|s| address - s.address < s.size_bytes)?;
        let file = parse(self.file.as_ref()?)?;
        let table = if symbol.is_dynamic { file.dynamic_symbol_table() } else { file.symbol_table() }?;
        let found = table.symbol_by_index(SymbolIndex(symbol.index)).ok()?;
        Some((String::from_utf8_lossy(found.name_bytes().ok()?).into_owned(), address - symbol.address))
    }
}

/// Reads the headers.
fn parse(file: &FileMap) -> Option<ElfFile64<'_, Endianness>> {
    ElfFile64::parse(file.bytes()).ok()
}

/// The functions in both tables.
fn functions(file: &ElfFile64<'_, Endianness>) -> Vec<Symbol> {
    let symbols = file.symbols().map(|symbol| (symbol, false));
    let functions = symbols
        .chain(file.dynamic_symbols().map(|symbol| (symbol, true)))
        .filter(|(symbol, _)| symbol.kind() == SymbolKind::Text && symbol.size() > 0 && symbol.is_definition());
    let functions = functions.map(|(symbol, is_dynamic)| Symbol {
        address: symbol.address(),
        size_bytes: symbol.size(),
        index: symbol.index().0,
        is_dynamic,
    });
    functions.collect()
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
        let place = symbols.place(libc::getpid as *const () as usize + 1);
        assert!(place.function.is_some_and(|(name, offset)| name.contains("getpid") && offset == 1));
        assert!(place.module.contains("libc") && place.address_in_module < libc::getpid as *const () as usize);
        assert_eq!(a_function_with_this_name(), 1);
    }

    /// In KiB, the size and the resident part of the file's mapping.
    fn mapped_kib(file_len_bytes: u64) -> Option<(u64, u64)> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let number = |line: &str, field: &str| -> Option<u64> {
            line.strip_prefix(field)?.split_whitespace().next()?.parse().ok()
        };
        let size_kib = file_len_bytes.next_multiple_of(4096) / 1024;
        let mut lines = maps.lines().skip_while(|line| number(line, "Size:") != Some(size_kib));
        Some((size_kib, lines.find_map(|line| number(line, "Rss:"))?))
    }

    #[test]
    fn debug_information_is_not_read() {
        modules::refresh();
        let mut symbols = Symbols::default();
        symbols.name(a_function_with_this_name as fn() -> usize as usize + 1);
        let len_bytes = std::fs::metadata("/proc/self/exe").unwrap().len();
        let (whole_kib, read_kib) = mapped_kib(len_bytes).expect("the executable's mapping");
        assert!(read_kib * 2 < whole_kib, "{read_kib} of {whole_kib} KiB");
    }
}
