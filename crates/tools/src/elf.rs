//! The ELF object that describes the code of one chunk to a debugger: `.text` (only its address; the code itself is not
//! copied), symbols and `.eh_frame`.
//!
//! Each method has two symbols: its name ("Ns.Type:Method"), and the name with a dot in place of the colon, since gdb's
//! `break` takes "A:B" for a file and a function.

use crate::frames::{FrameShape, Frames};
use object::elf;
use object::write::elf::{FileHeader, SectionHeader, Sym, Writer};
use object::{Endianness, write::Error};
use saki_code::DEBUGGER_FRAMES;
use std::ops::Range;

/// A function in the object.
pub(crate) struct ElfFunction {
    pub range: Range<usize>,
    pub name: Box<str>,
    pub shape: FrameShape,
}

const ALIGNMENT_OF_FRAMES: usize = 8;
/// The null symbol, the only local one.
const LOCAL_SYMBOLS: u32 = 1;

/// The object for these functions, sorted by address; at least one.
pub(crate) fn object_of(functions: &[&ElfFunction]) -> Vec<u8> {
    match write(functions) {
        Ok(bytes) => bytes,
        Err(error) => saki_base::bug!("an object in memory cannot be written: {error}"),
    }
}

fn write(functions: &[&ElfFunction]) -> Result<Vec<u8>, Error> {
    let mut frames = Frames::new(false);
    for function in functions {
        frames.add(function.range.start as u64, function.range.len() as u32, function.shape);
    }
    let frames = frames.into_section();
    let first = functions.first().map_or(0, |function| function.range.start) as u64;
    let end = functions.last().map_or(0, |function| function.range.end) as u64;

    let mut bytes = Vec::new();
    let mut writer = Writer::new(Endianness::Little, true, &mut bytes);
    writer.reserve_file_header();
    writer.reserve_null_section_index();
    let text_name = writer.add_section_name(b".text");
    let text = writer.reserve_section_index();
    let frames_name = writer.add_section_name(b".eh_frame");
    writer.reserve_section_index();
    writer.reserve_symtab_section_index();
    writer.reserve_strtab_section_index();
    writer.reserve_shstrtab_section_index();
    writer.reserve_null_symbol_index();
    let aliases: Vec<Option<String>> = functions.iter().map(|function| alias(&function.name)).collect();
    let mut symbols = Vec::with_capacity(2 * functions.len());
    for (function, alias) in functions.iter().zip(&aliases) {
        for name in alias.iter().map(String::as_str).chain([&*function.name]) {
            symbols.push((writer.add_string(name.as_bytes()), &function.range));
            writer.reserve_symbol_index(Some(text));
        }
    }
    let frames_at = writer.reserve(frames.len(), ALIGNMENT_OF_FRAMES);
    writer.reserve_symtab();
    writer.reserve_strtab();
    writer.reserve_shstrtab();
    writer.reserve_section_headers();

    writer.write_file_header(&FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_EXEC,
        e_machine: DEBUGGER_FRAMES.elf_machine,
        e_entry: 0,
        e_flags: 0,
    })?;
    writer.write_align(ALIGNMENT_OF_FRAMES);
    writer.write(&frames);
    writer.write_null_symbol();
    for (name, range) in symbols {
        writer.write_symbol(&Sym {
            name: Some(name),
            section: Some(text),
            st_info: (elf::STB_GLOBAL << 4) + elf::STT_FUNC,
            st_other: elf::STV_DEFAULT,
            st_shndx: 0,
            st_value: range.start as u64,
            st_size: range.len() as u64,
        });
    }
    writer.write_strtab();
    writer.write_shstrtab();
    writer.write_null_section_header();
    let section = |name, sh_type, sh_flags, sh_addr, sh_offset, sh_size, sh_addralign| SectionHeader {
        name: Some(name),
        sh_type,
        sh_flags: u64::from(sh_flags),
        sh_addr,
        sh_offset,
        sh_size,
        sh_link: 0,
        sh_info: 0,
        sh_addralign,
        sh_entsize: 0,
    };
    let code_flags = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
    writer.write_section_header(&section(text_name, elf::SHT_NOBITS, code_flags, first, 0, end - first, 16));
    let (frames_at, frames_len) = (frames_at as u64, frames.len() as u64);
    writer.write_section_header(&section(
        frames_name,
        elf::SHT_PROGBITS,
        elf::SHF_ALLOC,
        0,
        frames_at,
        frames_len,
        ALIGNMENT_OF_FRAMES as u64,
    ));
    writer.write_symtab_section_header(LOCAL_SYMBOLS);
    writer.write_strtab_section_header();
    writer.write_shstrtab_section_header();
    Ok(bytes)
}

/// The name that gdb's `break` can read, if it is another one.
fn alias(name: &str) -> Option<String> {
    let (owner, method) = name.split_once(':')?;
    Some(format!("{owner}.{method}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::read::elf::{ElfFile64, FileHeader as _};
    use object::{Object, ObjectSection, ObjectSymbol};

    #[test]
    fn symbols_have_absolute_addresses() {
        let function = |start: usize, name: &str| ElfFunction {
            range: start..start + 0x40,
            name: name.into(),
            shape: FrameShape::Prologue,
        };
        let (first, second) = (function(0x10020, "A:First"), function(0x10080, "A:Second (int)"));
        let bytes = object_of(&[&first, &second]);
        elf::FileHeader64::<Endianness>::parse(&*bytes).unwrap();
        let file = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
        let found: Vec<_> = file.symbols().map(|s| (s.name().unwrap(), s.address(), s.size())).collect();
        let expected = [
            ("A.First", 0x10020, 0x40),
            ("A:First", 0x10020, 0x40),
            ("A.Second (int)", 0x10080, 0x40),
            ("A:Second (int)", 0x10080, 0x40),
        ];
        assert_eq!(found, expected);
        let text = file.section_by_name(".text").unwrap();
        assert_eq!((text.address(), text.size()), (0x10020, 0xa0));
        assert!(file.section_by_name(".eh_frame").unwrap().data().unwrap().len() > 32);
    }
}
