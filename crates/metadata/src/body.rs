//! Method bodies: header, code bytes, exception clauses. ECMA-335 §II.25.4.
//!
//! Invariant: `code` lies in the image; clause ranges are not checked against the code.

use crate::bytes::ByteCursor;
use crate::error::BadImage;
use crate::image::Image;
use crate::token::Token;

/// Kind of an exception clause. §II.25.4.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EhKind {
    Catch,
    Filter,
    Finally,
    Fault,
}

/// An exception clause; offsets and lengths are in bytes of CIL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EhClause {
    pub kind: EhKind,
    pub try_offset: u32,
    pub try_len: u32,
    pub handler_offset: u32,
    pub handler_len: u32,
    /// Catch: the type token. Filter: the offset of the filter code. Otherwise meaningless.
    pub class_token_or_filter_offset: u32,
}

impl EhClause {
    /// The caught type of a `Catch` clause.
    pub fn catch_type(&self) -> Option<Token> {
        (self.kind == EhKind::Catch).then_some(Token(self.class_token_or_filter_offset))
    }

    /// The code offset of the filter of a `Filter` clause.
    pub fn filter_offset(&self) -> Option<u32> {
        (self.kind == EhKind::Filter).then_some(self.class_token_or_filter_offset)
    }
}

/// A decoded method body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodBody<'a> {
    /// Deepest evaluation stack, in items.
    pub max_stack: u16,
    pub code: &'a [u8],
    /// Local variables start as zero.
    pub init_locals: bool,
    /// StandAloneSig of the local variables; nil = none.
    pub local_var_sig: Token,
    pub eh_clauses: Vec<EhClause>,
}

const FORMAT_TINY: u8 = 0x2;
const FORMAT_FAT: u8 = 0x3;
const FAT_MORE_SECTIONS: u16 = 0x8;
const FAT_INIT_LOCALS: u16 = 0x10;
const SECTION_KIND_MASK: u8 = 0x3f;
const SECTION_EH: u8 = 0x1;
const SECTION_FAT: u8 = 0x40;
const SECTION_MORE: u8 = 0x80;

/// Stack size of a body with a tiny header. §II.25.4.2.
const TINY_MAX_STACK: u16 = 8;

/// Decodes the body at the start of `bytes`, an address divisible by 4. Errors: `BadImage` with offsets
/// from there.
pub fn parse_method_body(bytes: &[u8]) -> Result<MethodBody<'_>, BadImage> {
    parse_body_at(bytes, 0)
}

/// `misalignment_bytes`: address of `bytes` modulo 4; data sections are aligned by address.
fn parse_body_at(bytes: &[u8], misalignment_bytes: usize) -> Result<MethodBody<'_>, BadImage> {
    let mut cursor = ByteCursor::new(bytes);
    let short = |cursor: &ByteCursor<'_>| BadImage::in_blob(cursor.pos(), "method body is cut short");
    let first = cursor.peek_u8().ok_or_else(|| short(&cursor))?;
    if first & 0x3 == FORMAT_TINY {
        cursor.skip(1).ok_or_else(|| short(&cursor))?;
        let code = cursor.take(usize::from(first >> 2)).ok_or_else(|| short(&cursor))?;
        return Ok(MethodBody {
            max_stack: TINY_MAX_STACK,
            code,
            init_locals: false,
            local_var_sig: Token::NIL,
            eh_clauses: Vec::new(),
        });
    }
    if first & 0x3 != FORMAT_FAT {
        return Err(BadImage::in_blob(0, format!("{first:#04x} begins no method body")));
    }
    let flags_and_size = cursor.u16().ok_or_else(|| short(&cursor))?;
    let max_stack = cursor.u16().ok_or_else(|| short(&cursor))?;
    let code_size = cursor.u32().ok_or_else(|| short(&cursor))? as usize;
    let local_var_sig = Token(cursor.u32().ok_or_else(|| short(&cursor))?);
    let header_bytes = usize::from(flags_and_size >> 12) * 4;
    if header_bytes < cursor.pos() {
        return Err(BadImage::in_blob(0, format!("method header of {header_bytes} bytes")));
    }
    cursor.skip(header_bytes - cursor.pos()).ok_or_else(|| short(&cursor))?;
    let code = cursor.take(code_size).ok_or_else(|| short(&cursor))?;
    let mut eh_clauses = Vec::new();
    if flags_and_size & FAT_MORE_SECTIONS != 0 {
        parse_sections(&mut cursor, misalignment_bytes, &mut eh_clauses)?;
    }
    Ok(MethodBody { max_stack, code, init_locals: flags_and_size & FAT_INIT_LOCALS != 0, local_var_sig, eh_clauses })
}

/// Decodes a method's data sections that stand alone, for a body that is not in an assembly. §II.25.4.5.
///
/// # Errors
/// `BadImage`: a section is cut short, or a clause is of no known kind.
pub fn parse_eh_sections(bytes: &[u8]) -> Result<Vec<EhClause>, BadImage> {
    let mut clauses = Vec::new();
    parse_sections(&mut ByteCursor::new(bytes), 0, &mut clauses)?;
    Ok(clauses)
}

/// Reads the data sections after the code; they are aligned to 4 bytes. §II.25.4.5.
fn parse_sections(
    cursor: &mut ByteCursor<'_>,
    misalignment_bytes: usize,
    clauses: &mut Vec<EhClause>,
) -> Result<(), BadImage> {
    loop {
        let section_offset = cursor.pos();
        let short = || BadImage::in_blob(section_offset, "method data section is cut short");
        let padding_bytes = (section_offset + misalignment_bytes).wrapping_neg() & 3;
        cursor.skip(padding_bytes).ok_or_else(short)?;
        let kind = cursor.u8().ok_or_else(short)?;
        let is_fat = kind & SECTION_FAT != 0;
        let size_bytes = if is_fat {
            let [a, b, c] = cursor.array().ok_or_else(short)?;
            u32::from_le_bytes([a, b, c, 0]) as usize
        } else {
            let [size, _, _] = cursor.array().ok_or_else(short)?;
            usize::from(size)
        };
        let content_bytes = size_bytes.saturating_sub(4);
        if kind & SECTION_KIND_MASK == SECTION_EH {
            // Some compilers leave the 4 bytes of the header out of the size; the division hides it.
            let clause_bytes = if is_fat { 24 } else { 12 };
            let count = size_bytes / clause_bytes;
            if count * clause_bytes > cursor.remaining() {
                return Err(short());
            }
            clauses.reserve(count);
            for _ in 0..count {
                clauses.push(parse_clause(cursor, is_fat).ok_or_else(short)??);
            }
        } else {
            cursor.skip(content_bytes).ok_or_else(short)?;
        }
        if kind & SECTION_MORE == 0 {
            return Ok(());
        }
    }
}

fn parse_clause(cursor: &mut ByteCursor<'_>, is_fat: bool) -> Option<Result<EhClause, BadImage>> {
    let offset = cursor.pos();
    let (flags, try_offset, try_len, handler_offset, handler_len);
    if is_fat {
        flags = cursor.u32()?;
        try_offset = cursor.u32()?;
        try_len = cursor.u32()?;
        handler_offset = cursor.u32()?;
        handler_len = cursor.u32()?;
    } else {
        flags = u32::from(cursor.u16()?);
        try_offset = u32::from(cursor.u16()?);
        try_len = u32::from(cursor.u8()?);
        handler_offset = u32::from(cursor.u16()?);
        handler_len = u32::from(cursor.u8()?);
    }
    let class_token_or_filter_offset = cursor.u32()?;
    let kind = match flags & 0x7 {
        0 => EhKind::Catch,
        1 => EhKind::Filter,
        2 => EhKind::Finally,
        4 => EhKind::Fault,
        _ => return Some(Err(BadImage::in_blob(offset, format!("exception clause of kind {flags:#x}")))),
    };
    Some(Ok(EhClause { kind, try_offset, try_len, handler_offset, handler_len, class_token_or_filter_offset }))
}

impl Image {
    /// The method body at `rva`. Errors: no section holds `rva`; the body is malformed.
    pub fn method_body(&self, rva: u32) -> Result<MethodBody<'_>, BadImage> {
        let bytes = self.rva_to_tail(rva)?;
        parse_body_at(bytes, rva as usize & 3)
            .map_err(|error| self.rebase(error, self.rva_to_offset(rva).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::{EhKind, parse_method_body};
    use crate::token::Token;

    #[test]
    fn tiny_body() {
        let body = parse_method_body(&[0x0a, 0x00, 0x2a]).expect("valid");
        assert_eq!((body.code, body.max_stack), (&[0x00, 0x2a][..], 8));
        assert!(parse_method_body(&[0x0a, 0x00]).is_err());
    }

    #[test]
    fn fat_body_with_small_section() {
        let mut bytes = vec![0x1b, 0x30, 2, 0, 3, 0, 0, 0, 1, 0, 0, 0x11, 0x00, 0x00, 0x2a, 0];
        bytes.extend([0x01, 16, 0, 0, 2, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0]);
        let body = parse_method_body(&bytes).expect("valid");
        assert!(body.init_locals);
        assert_eq!(body.local_var_sig, Token(0x1100_0001));
        assert_eq!(body.eh_clauses.len(), 1);
        assert_eq!(body.eh_clauses[0].kind, EhKind::Finally);
        for len in 0..bytes.len() {
            assert!(parse_method_body(&bytes[..len]).is_err());
        }
    }
}
