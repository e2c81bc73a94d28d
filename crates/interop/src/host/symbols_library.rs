//! A shared library in memory that gives the dynamic linker symbols of the program which it does not know.
//!
//! A program, and a library that was loaded for one user alone, export no functions to libraries that are loaded later.
//! The file made here has nothing but a symbol table, whose symbols are absolute (SHN_ABS): the addresses of functions
//! of this process. Opened for all (RTLD_GLOBAL), it serves libraries that name them. ELF-64, System V ABI chapters 4
//! and 5; the linker writes into the dynamic section, so that the segment is writable. Left out: symbols with versions.

use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};

const EHDR_BYTES: usize = 64;
const PHDR_BYTES: usize = 56;
const SYMBOL_BYTES: usize = 24;
const DYNAMIC_BYTES: usize = 16;
const SEGMENTS: usize = 3;
/// The largest page of a processor that Saki runs on.
const PAGE_BYTES: u64 = 1 << 16;

const ET_DYN: u16 = 3;
const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_GNU_STACK: u32 = 0x6474_e551;
const READ_WRITE: u32 = 4 | 2;
const DT_NULL: u64 = 0;
const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_STRSZ: u64 = 10;
const DT_SYMENT: u64 = 11;
/// `STB_GLOBAL << 4 | STT_FUNC`
const GLOBAL_FUNCTION: u8 = 1 << 4 | 2;
const SHN_ABS: u16 = 0xfff1;

#[cfg(target_arch = "x86_64")]
const MACHINE: u16 = 62;
#[cfg(target_arch = "aarch64")]
const MACHINE: u16 = 183;

/// The bytes of a file, by number.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn u16(&mut self, value: u16) {
        self.0.extend(value.to_ne_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_ne_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend(value.to_ne_bytes());
    }

    fn align(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
    }
}

/// The file for these names and addresses.
fn file_of(symbols: &[(&str, usize)]) -> Vec<u8> {
    let count = symbols.len() + 1;
    let symbols_at = EHDR_BYTES + SEGMENTS * PHDR_BYTES;
    let hash_at = symbols_at + count * SYMBOL_BYTES;
    // One bucket, and a chain of all symbols.
    let strings_at = hash_at + (3 + count) * size_of::<u32>();
    let mut strings = vec![0];
    let mut table = Bytes::default();
    table.0.resize(SYMBOL_BYTES, 0);
    for &(name, address) in symbols {
        table.u32(strings.len() as u32);
        table.0.extend([GLOBAL_FUNCTION, 0]);
        table.u16(SHN_ABS);
        table.u64(address as u64);
        table.u64(0);
        strings.extend(name.bytes());
        strings.push(0);
    }
    let dynamic_at = (strings_at + strings.len()).next_multiple_of(8);
    let entries = [
        (DT_HASH, hash_at as u64),
        (DT_STRTAB, strings_at as u64),
        (DT_SYMTAB, symbols_at as u64),
        (DT_STRSZ, strings.len() as u64),
        (DT_SYMENT, SYMBOL_BYTES as u64),
        (DT_NULL, 0),
    ];
    let size_bytes = (dynamic_at + entries.len() * DYNAMIC_BYTES) as u64;

    let mut file = Bytes::default();
    // 64 bits, little-endian, version 1.
    file.0.extend([0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    file.u16(ET_DYN);
    file.u16(MACHINE);
    file.u32(1);
    file.u64(0);
    file.u64(EHDR_BYTES as u64);
    file.u64(0);
    file.u32(0);
    for half in [EHDR_BYTES, PHDR_BYTES, SEGMENTS, 0, 0, 0] {
        file.u16(half as u16);
    }
    let dynamic_bytes = (entries.len() * DYNAMIC_BYTES) as u64;
    let segments = [
        (PT_LOAD, 0, size_bytes, PAGE_BYTES),
        (PT_DYNAMIC, dynamic_at as u64, dynamic_bytes, 8),
        (PT_GNU_STACK, 0, 0, 16),
    ];
    for (kind, at, length, alignment) in segments {
        file.u32(kind);
        file.u32(READ_WRITE);
        // In the file, in memory, and once more.
        for place in [at, at, at, length, length, alignment] {
            file.u64(place);
        }
    }
    file.0.extend(table.0);
    file.u32(1);
    file.u32(count as u32);
    // The bucket and symbol 0 lead to the first; each symbol to the next one, the last to none.
    file.u32(if count > 1 { 1 } else { 0 });
    file.u32(0);
    for index in 1..count {
        file.u32(if index + 1 < count { index as u32 + 1 } else { 0 });
    }
    file.0.extend(strings);
    file.align();
    for (tag, value) in entries {
        file.u64(tag);
        file.u64(value);
    }
    file.0
}

/// Whether libraries that are loaded from now on find the symbol.
fn is_known(name: &str) -> bool {
    let Ok(name) = CString::new(name) else { return false };
    // SAFETY: a null name asks for the handle of the program, in whose scope all libraries look.
    let program = unsafe { libc::dlopen(std::ptr::null(), libc::RTLD_LAZY) };
    // SAFETY: the program's handle, and a name that ends in NUL.
    !unsafe { libc::dlsym(program, name.as_ptr()) }.is_null()
}

/// Makes libraries that are loaded from now on find these functions by their names, where they do not. They live as
/// long as the process.
///
/// # Errors
/// The system has no file in memory, or the linker does not accept it.
pub fn make_known(functions: &[(&str, usize)]) -> Result<(), String> {
    let unknown: Vec<(&str, usize)> = functions.iter().copied().filter(|(name, _)| !is_known(name)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    // SAFETY: a name that ends in NUL.
    let descriptor = unsafe { libc::memfd_create(c"saki-symbols".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(saki_os::error::last_error().to_string());
    }
    // SAFETY: the descriptor was made above, and is nobody else's.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    file.write_all(&file_of(&unknown)).map_err(|error| error.to_string())?;
    // Nobody else opens it by this spelling: the linker gives a library that is open to whoever names it likewise.
    let path = CString::new(format!("/proc/self/./fd/{}", file.as_raw_fd())).unwrap_or_default();
    // SAFETY: a name that ends in NUL; the library has no initialisers. It stays open: it is mapped, so the descriptor
    // can go.
    if unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) }.is_null() {
        return Err(crate::library::last_error(std::path::Path::new("saki-symbols")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn answer() -> i32 {
        42
    }

    #[test]
    fn functions_of_a_program_that_exports_none_are_found_by_name() {
        let name = "saki_test_of_unknown_symbols";
        assert!(!is_known(name));
        make_known(&[("saki_test_of_another", 16), (name, answer as *const () as usize)]).expect("made");
        assert!(is_known(name) && is_known("saki_test_of_another") && !is_known("saki_test_of_a_third"));
        make_known(&[(name, 8)]).expect("it is known");
        let c_name = CString::new(name).expect("a name");
        // SAFETY: the handle of the program, and a name that ends in NUL.
        let found = unsafe { libc::dlsym(libc::dlopen(std::ptr::null(), libc::RTLD_LAZY), c_name.as_ptr()) };
        // SAFETY: the function above, of this type.
        let function = unsafe { std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> i32>(found) };
        assert_eq!(function(), 42);
    }
}
