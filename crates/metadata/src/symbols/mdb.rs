//! Mono's symbol files (`app.exe.mdb`), version 50.
//!
//! All numbers are little-endian. Header: magic (8 bytes), major and minor version (4 each), MVID of the image (16),
//! then 20 words, of which the `*_WORD` constants name those used here. Then tables of fixed rows (methods: token, data
//! offset, line table offset; sources: index, data offset) and data of variable length, in which numbers are LEB128 and
//! strings UTF-8 with such a length. Lines are a program for a state machine like that of DWARF's `.debug_line`, then
//! one column per line.
//!
//! Invariant: nothing outside the file is read. Left out: locals, scopes, namespaces, end positions, checksums.

use super::SourcePosition;
use crate::bytes::ByteCursor;
use crate::error::BadImage;
use crate::token::{Rid, TableId, Token};

const MAGIC: u64 = 0x45e8_2623_fd7f_a614;
const MAJOR_VERSION: u32 = 50;

const HEADER_WORD_COUNT: usize = 20;
const SOURCE_COUNT_WORD: usize = 6;
const SOURCE_TABLE_WORD: usize = 7;
const METHOD_COUNT_WORD: usize = 9;
const METHOD_TABLE_WORD: usize = 10;
const LINE_BASE_WORD: usize = 16;
const LINE_RANGE_WORD: usize = 17;
const OPCODE_BASE_WORD: usize = 18;

const METHOD_ROW_BYTES: usize = 12;
const SOURCE_ROW_BYTES: usize = 8;

/// A method's flag: columns follow its lines.
const HAS_COLUMNS: u32 = 2;

/// Opcodes of the line program below the header's opcode base.
const OP_EXTENDED: u8 = 0;
const OP_COPY: u8 = 1;
const OP_ADVANCE_OFFSET: u8 = 2;
const OP_ADVANCE_LINE: u8 = 3;
const OP_SET_FILE: u8 = 4;
const OP_ADD_CONSTANT: u8 = 8;
const EXTENDED_END: u8 = 1;

/// A line number that stands for "no source".
const HIDDEN_LINE: i32 = 0xfe_efee;

pub(super) struct MdbFile {
    bytes: Vec<u8>,
    mvid: [u8; 16],
    words: [u32; HEADER_WORD_COUNT],
}

struct MethodRow {
    data_offset: u32,
    lines_offset: u32,
}

/// The entry of the line program for one IL offset.
struct LineEntry {
    il_offset: u32,
    line: i32,
    /// Row of the source table, from 1.
    source: u32,
}

/// A number of 7 bits per byte, lowest first; at most 5 bytes. Negative numbers are stored as their 32 bits.
fn leb128(cursor: &mut ByteCursor<'_>) -> Option<u32> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = cursor.u8()?;
        value |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// The LEB128 number after `skipped` others.
fn nth_number(mut cursor: ByteCursor<'_>, skipped: usize) -> Option<u32> {
    for _ in 0..skipped {
        leb128(&mut cursor)?;
    }
    leb128(&mut cursor)
}

impl MdbFile {
    /// Errors: no .mdb file, another version, or cut short.
    pub(super) fn parse(bytes: Vec<u8>) -> Result<Self, BadImage> {
        let short = || BadImage::in_blob(bytes.len(), "symbol file is cut short");
        let mut cursor = ByteCursor::new(&bytes);
        if cursor.u64() != Some(MAGIC) {
            return Err(BadImage::in_blob(0, "not a symbol file"));
        }
        let major = cursor.u32().ok_or_else(short)?;
        let minor = cursor.u32().ok_or_else(short)?;
        if major != MAJOR_VERSION {
            return Err(BadImage::in_blob(8, format!("symbol file version {major}.{minor}, not {MAJOR_VERSION}.0")));
        }
        let mvid = cursor.array().ok_or_else(short)?;
        let mut words = [0; HEADER_WORD_COUNT];
        for word in &mut words {
            *word = cursor.u32().ok_or_else(short)?;
        }
        // Both would divide by zero or leave no opcode.
        if !(1..=255).contains(&words[LINE_RANGE_WORD]) || !(1..=255).contains(&words[OPCODE_BASE_WORD]) {
            return Err(BadImage::in_blob(32, "symbol file has unusable line table constants"));
        }
        Ok(Self { bytes, mvid, words })
    }

    pub(super) fn image_mvid(&self) -> &[u8; 16] {
        &self.mvid
    }

    fn at(&self, offset: u32) -> ByteCursor<'_> {
        ByteCursor::at(&self.bytes, offset as usize)
    }

    pub(super) fn line(&self, method_rid: Rid, il_offset: u32) -> Option<SourcePosition> {
        let method = self.method(Token::new(TableId::MethodDef, method_rid))?;
        let mut cursor = self.at(method.lines_offset);
        let lines = self.read_lines(&mut cursor)?;
        let reached = lines.iter().take_while(|line| line.il_offset <= il_offset).count();
        let index = lines[..reached].iter().rposition(LineEntry::has_source)?;
        let line = &lines[index];
        // Each line has a column, in the same order; -1 = unknown.
        let column = if self.has_columns(&method) { nth_number(cursor, index).unwrap_or(0) } else { 0 };
        Some(SourcePosition {
            file: self.source_name(line.source)?,
            line: u32::try_from(line.line).ok()?,
            column: if i32::try_from(column).is_ok() { column } else { 0 },
        })
    }

    /// The row of a method. The table is sorted by token.
    fn method(&self, token: Token) -> Option<MethodRow> {
        let start = self.words[METHOD_TABLE_WORD] as usize;
        let len = (self.words[METHOD_COUNT_WORD] as usize).checked_mul(METHOD_ROW_BYTES)?;
        let rows = self.bytes.get(start..start.checked_add(len)?)?.as_chunks::<METHOD_ROW_BYTES>().0;
        let found = rows.binary_search_by_key(&token.0, |row| ByteCursor::new(row).u32().unwrap_or(0)).ok()?;
        let mut row = ByteCursor::at(&rows[found], 4);
        Some(MethodRow { data_offset: row.u32()?, lines_offset: row.u32()? })
    }

    fn has_columns(&self, method: &MethodRow) -> bool {
        // Compile unit, locals, namespace, code blocks, scopes, real name; then the flags.
        nth_number(self.at(method.data_offset), 6).is_some_and(|flags| flags & HAS_COLUMNS != 0)
    }

    /// Runs a line program; afterwards `cursor` is behind it.
    fn read_lines(&self, cursor: &mut ByteCursor<'_>) -> Option<Vec<LineEntry>> {
        let line_base = self.words[LINE_BASE_WORD] as i32;
        let line_range = self.words[LINE_RANGE_WORD] as u8;
        let opcode_base = self.words[OPCODE_BASE_WORD] as u8;
        let mut lines = Vec::new();
        let (mut il_offset, mut line, mut source) = (0_u32, 1_i32, 1_u32);
        loop {
            match cursor.u8()? {
                OP_EXTENDED => {
                    let len = usize::from(cursor.u8()?);
                    if cursor.take(len)?.first() == Some(&EXTENDED_END) {
                        return Some(lines);
                    }
                    // The other opcodes change only whether a line is a statement of its own, which is not kept here.
                }
                opcode if opcode >= opcode_base => {
                    let opcode = opcode - opcode_base;
                    il_offset = il_offset.wrapping_add(u32::from(opcode / line_range));
                    line = line.wrapping_add(line_base).wrapping_add(i32::from(opcode % line_range));
                    lines.push(LineEntry { il_offset, line, source });
                }
                OP_COPY => lines.push(LineEntry { il_offset, line, source }),
                OP_ADVANCE_OFFSET => il_offset = il_offset.wrapping_add(leb128(cursor)?),
                OP_ADVANCE_LINE => line = line.wrapping_add_unsigned(leb128(cursor)?),
                OP_SET_FILE => source = leb128(cursor)?,
                OP_ADD_CONSTANT => il_offset = il_offset.wrapping_add(u32::from((255 - opcode_base) / line_range)),
                _ => return None,
            }
        }
    }

    /// The name of a source file, from 1.
    fn source_name(&self, number: u32) -> Option<String> {
        let index = number.checked_sub(1).filter(|&i| i < self.words[SOURCE_COUNT_WORD])? as usize;
        let row = index.checked_mul(SOURCE_ROW_BYTES)?.checked_add(self.words[SOURCE_TABLE_WORD] as usize)?;
        let data = ByteCursor::at(&self.bytes, row.checked_add(4)?).u32()?;
        let mut cursor = self.at(data);
        let len = leb128(&mut cursor)?;
        Some(String::from_utf8_lossy(cursor.take(len as usize)?).into_owned())
    }
}

impl LineEntry {
    fn has_source(&self) -> bool {
        self.line > 0 && self.line != HIDDEN_LINE
    }
}
