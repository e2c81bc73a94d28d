//! Where the parts of method bodies lie in a file. ECMA-335 §II.25.4.
//!
//! Left out: bodies that are malformed before they are mutated.

use saki_metadata::opcodes::{Opcode, OperandKind, decode};
use saki_metadata::{Image, TableId};

/// One instruction.
#[derive(Clone, Copy)]
pub struct InstructionPlace {
    pub opcode: Opcode,
    /// File offset of the opcode, and of what follows it.
    pub offset_bytes: usize,
    pub operand_bytes: usize,
    /// File offset of the next instruction.
    pub end_bytes: usize,
}

/// A method body.
pub struct BodyPlace {
    pub method_rid: u32,
    pub header_bytes: usize,
    pub is_fat: bool,
    pub code_bytes: usize,
    pub code_length_bytes: usize,
    pub instructions: Vec<InstructionPlace>,
    /// File offsets of the exception clauses, and whether they are of the small kind (12 bytes, else 24).
    pub clauses: Vec<(usize, bool)>,
}

/// The bodies of an image.
pub fn bodies(image: &Image) -> Vec<BodyPlace> {
    (1..=image.row_count(TableId::MethodDef))
        .filter_map(|rid| {
            let rva = image.method_def(rid).ok()?.rva;
            body_at(image, rid, image.rva_to_offset(rva).filter(|_| rva != 0)?)
        })
        .collect()
}

fn body_at(image: &Image, method_rid: u32, start: usize) -> Option<BodyPlace> {
    let bytes = image.bytes();
    let first = *bytes.get(start)?;
    let u16_at = |at: usize| bytes.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
    let u32_at = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let is_fat = first & 3 == 3;
    let (header_length, length) = if is_fat { (12, u32_at(start + 4)? as usize) } else { (1, usize::from(first >> 2)) };
    let code_bytes = start + header_length;
    let code = bytes.get(code_bytes..code_bytes + length)?;
    let mut instructions = Vec::new();
    for instruction in decode(code).flatten() {
        let opcode_length = if instruction.opcode as u16 > 0xff { 2 } else { 1 };
        let offset_bytes = code_bytes + instruction.offset as usize;
        instructions.push(InstructionPlace {
            opcode: instruction.opcode,
            offset_bytes,
            operand_bytes: offset_bytes + opcode_length,
            end_bytes: code_bytes + instruction.next_offset as usize,
        });
    }
    let mut clauses = Vec::new();
    if is_fat && u16_at(start)? & 8 != 0 {
        let section = (code_bytes + length).next_multiple_of(4);
        let kind = *bytes.get(section)?;
        let is_small = kind & 0x40 == 0;
        let section_length =
            if is_small { usize::from(*bytes.get(section + 1)?) } else { u32_at(section)? as usize >> 8 };
        let clause_length = if is_small { 12 } else { 24 };
        let count = section_length.saturating_sub(4) / clause_length;
        clauses.extend((0..count).map(|n| (section + 4 + n * clause_length, is_small)));
        clauses.retain(|(at, _)| at + clause_length <= bytes.len());
    }
    Some(BodyPlace {
        method_rid,
        header_bytes: start,
        is_fat,
        code_bytes,
        code_length_bytes: length,
        instructions,
        clauses,
    })
}

/// Bytes of an operand of this kind; None for switch tables.
pub fn operand_length(kind: OperandKind) -> Option<usize> {
    use OperandKind as K;
    Some(match kind {
        K::None => 0,
        K::ShortVar | K::I8 | K::U8 | K::ShortBranch => 1,
        K::Var => 2,
        K::I32 | K::R32 | K::Branch | K::Method | K::Field | K::Type | K::Token | K::String | K::Sig => 4,
        K::I64 | K::R64 => 8,
        K::Switch => return None,
    })
}
