//! Changes one thing (now and then up to three) in an assembly, knowing what it changes.
//!
//! Invariant: a mutant is a pure function of the program's bytes and of the random numbers, and has the program's
//! length. What is likely to get far into the virtual machine comes more often: indexes that exist, tokens of the right
//! table, element types for element types. Left out: what makes the file longer.

use super::bodies::{BodyPlace, InstructionPlace, bodies, operand_length};
use saki_metadata::opcodes::{Opcode, OperandKind};
use saki_metadata::places::{CellKind, CellPlace};
use saki_metadata::{CodedKind, Image, TableId};
use saki_mutation::Random;

/// Element types, and what else begins a type in a signature. §II.23.1.16.
const ELEMENT_TYPES: [u8; 36] = [
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13,
    0x14, 0x15, 0x16, 0x18, 0x19, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x41, 0x45, 0x50, 0x51, 0x00, 0x55,
];
/// Numbers at the edges of what is counted or encoded.
const EDGES: [u32; 16] =
    [0, 1, 2, 3, 4, 7, 8, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// An unmutated program, with what the mutator wants to know of it.
pub struct Original {
    pub name: String,
    image: Image,
    tables: Vec<TableId>,
    bodies: Vec<BodyPlace>,
    /// Instructions with a token, by body and position.
    tokens: Vec<(OperandKind, u32)>,
    headers: Vec<std::ops::Range<usize>>,
}

/// A changed program.
pub struct Mutant {
    pub bytes: Vec<u8>,
    /// What was changed, for people.
    pub changes: Vec<String>,
}

impl Original {
    /// Errors: the file is not an assembly.
    pub fn new(name: &str, bytes: Vec<u8>) -> Result<Original, String> {
        let image = Image::from_bytes(name.to_owned(), bytes).map_err(|e| format!("{name}: {e}"))?;
        let tables: Vec<TableId> = TableId::ALL.into_iter().filter(|&t| image.row_count(t) > 0).collect();
        let bodies = bodies(&image);
        let mut tokens = Vec::new();
        for instruction in bodies.iter().flat_map(|body| &body.instructions) {
            if is_token(instruction.opcode.operand_kind()) {
                let token = read(image.bytes(), instruction.operand_bytes, 4);
                tokens.push((instruction.opcode.operand_kind(), token));
            }
        }
        let metadata = image.metadata_offset();
        let first_cell = tables.first().and_then(|&t| image.cell_place(t, 1, 0)).map_or(metadata, |c| c.offset_bytes);
        let length = image.bytes().len();
        // PE headers; CLI header, which compilers put at the start of the first section; metadata root; table stream
        // header.
        let headers = vec![
            0x3c..0x40,
            0x80..0x200.min(length),
            0x200..0x258.min(length),
            metadata..(metadata + 0x70).min(length),
            first_cell.saturating_sub(24 + 4 * tables.len())..first_cell,
        ];
        Ok(Original { name: name.to_owned(), image, tables, bodies, tokens, headers })
    }

    /// A mutant of the program.
    pub fn mutate(&self, random: &mut Random) -> Mutant {
        let mut mutant = Mutant { bytes: self.image.bytes().to_vec(), changes: Vec::new() };
        let count = if random.one_in(5) { 2 + random.below(2) } else { 1 };
        for _ in 0..count {
            for _ in 0..20 {
                if let Some(change) = self.change(random, &mut mutant.bytes) {
                    mutant.changes.push(change);
                    break;
                }
            }
        }
        mutant
    }

    /// None: nothing has changed.
    fn change(&self, random: &mut Random, bytes: &mut [u8]) -> Option<String> {
        match random.below(100) {
            0..30 => self.change_cell(random, bytes),
            30..50 => self.change_blob(random, bytes),
            50..85 => self.change_instruction(random, bytes),
            85..91 => self.change_body_header(random, bytes),
            91..97 => self.change_clause(random, bytes),
            _ => self.change_header(random, bytes),
        }
    }

    fn any_cell(&self, random: &mut Random) -> Option<CellPlace> {
        let table = random.pick(&self.tables);
        let rid = 1 + random.below(self.image.row_count(table) as usize) as u32;
        let column = random.below(self.image.column_count(table));
        self.image.cell_place(table, rid, column)
    }

    fn change_cell(&self, random: &mut Random, bytes: &mut [u8]) -> Option<String> {
        let cell = self.any_cell(random)?;
        let old = read(bytes, cell.offset_bytes, cell.width_bytes);
        // Another row's value of this column is always of the right sort.
        let other = 1 + random.below(self.image.row_count(cell.table) as usize) as u32;
        let other = self.image.cell_place(cell.table, other, cell.column)?;
        let from_other_row = read(bytes, other.offset_bytes, other.width_bytes);
        let row = |random: &mut Random, table| 1 + random.below(self.image.row_count(table) as usize) as u32;
        let new = match (random.below(8), cell.kind) {
            (0..3, _) => from_other_row,
            (3, _) => old ^ 1 << random.below(8 * cell.width_bytes),
            (4, _) => random.pick(&EDGES),
            (_, CellKind::Row(table)) => match random.below(4) {
                0 => self.image.row_count(table) + 1,
                1 => old.wrapping_add(1),
                2 => old.wrapping_sub(1),
                _ => row(random, table),
            },
            (_, CellKind::Coded(kind)) => self.coded_index(random, kind),
            (_, CellKind::String | CellKind::Blob) => {
                let heaps = self.image.heap_places();
                let heap = if cell.kind == CellKind::Blob { heaps.blobs } else { heaps.strings };
                random.below(heap.len() + 2) as u32
            }
            (_, CellKind::Guid) => random.below(4) as u32,
            (_, CellKind::Number) => 1 << random.below(8 * cell.width_bytes),
        };
        let new = if cell.width_bytes == 2 { new & 0xffff } else { new };
        write(bytes, cell.offset_bytes, cell.width_bytes, new);
        (new != old).then(|| {
            format!(
                "row {} of {:?}, column {} ({:?}): {old:#x} -> {new:#x}",
                cell.rid, cell.table, cell.column, cell.kind
            )
        })
    }

    fn coded_index(&self, random: &mut Random, kind: CodedKind) -> u32 {
        let tables = kind.tables();
        let tag = random.below(1 << kind.tag_bits());
        let rows = tables.get(tag).map_or(3, |&table| self.image.row_count(table));
        ((1 + random.below(rows as usize + 1) as u32) << kind.tag_bits()) | tag as u32
    }

    // ---- blobs

    fn change_blob(&self, random: &mut Random, bytes: &mut [u8]) -> Option<String> {
        let cell = (0..20).find_map(|_| self.any_cell(random).filter(|c| c.kind == CellKind::Blob))?;
        let index = read(bytes, cell.offset_bytes, cell.width_bytes) as usize;
        let heap = self.image.heap_places().blobs;
        let start = heap.start + index;
        let (length, prefix) = compressed(bytes.get(start..heap.end)?)?;
        let length = length as usize;
        let place = format!("blob {index:#x} of row {} of {:?}", cell.rid, cell.table);
        if length == 0 || random.one_in(12) {
            let old = bytes[start];
            let new = random.pick(&[0, 1, old.wrapping_sub(1), old.wrapping_add(1), 0x7f, 0x80, 0xc0, 0xff]);
            bytes[start] = new;
            return (old != new).then(|| format!("{place}: its length {old:#x} -> {new:#x}"));
        }
        let at = start + prefix + random.below(length.min(bytes.len() - start - prefix));
        let old = *bytes.get(at)?;
        let new = match random.below(8) {
            0..4 => random.pick(&ELEMENT_TYPES),
            4 => old ^ 1 << random.below(8),
            5 => old.wrapping_add(1),
            6 => old.wrapping_sub(1),
            _ => random.pick(&[0, 0x7f, 0x80, 0xbf, 0xc0, 0xdf, 0xe0, 0xff]),
        };
        bytes[at] = new;
        (old != new).then(|| format!("{place}: byte {} of {length}: {old:#x} -> {new:#x}", at - start - prefix))
    }

    // ---- CIL

    fn any_body(&self, random: &mut Random) -> Option<&BodyPlace> {
        (!self.bodies.is_empty()).then(|| &self.bodies[random.below(self.bodies.len())])
    }

    fn change_instruction(&self, random: &mut Random, bytes: &mut [u8]) -> Option<String> {
        let body = self.any_body(random)?;
        let instruction = *body.instructions.get(random.below(body.instructions.len()))?;
        let place = format!(
            "method {:#x}, IL_{:04x} {}",
            body.method_rid,
            instruction.offset_bytes - body.code_bytes,
            instruction.opcode.name()
        );
        let kind = instruction.opcode.operand_kind();
        if kind == OperandKind::None || random.one_in(3) {
            return self.change_opcode(random, bytes, &instruction, &place);
        }
        let (at, width) = match kind {
            OperandKind::Switch => {
                let words = (instruction.end_bytes - instruction.operand_bytes) / 4;
                (instruction.operand_bytes + 4 * random.below(words), 4)
            }
            _ => (instruction.operand_bytes, operand_length(kind)?.min(4)),
        };
        let old = read(bytes, at, width);
        let new = match kind {
            _ if is_token(kind) => self.token(random, kind, old),
            OperandKind::ShortBranch | OperandKind::Branch | OperandKind::Switch => {
                let target = match random.below(4) {
                    // An instruction of the body, as a rule; else anywhere in it or behind it.
                    0..3 => body.instructions[random.below(body.instructions.len())].offset_bytes,
                    _ => body.code_bytes + random.below(body.code_length_bytes + 3),
                };
                (target as u32).wrapping_sub(instruction.end_bytes as u32)
            }
            OperandKind::ShortVar | OperandKind::Var => random.below(8) as u32,
            _ => match random.below(3) {
                0 => old ^ 1 << random.below(8 * width),
                1 => random.pick(&EDGES),
                _ => old.wrapping_add(1),
            },
        };
        write(bytes, at, width, new);
        (read(bytes, at, width) != old).then(|| format!("{place}: operand {old:#x} -> {new:#x}"))
    }

    fn token(&self, random: &mut Random, kind: OperandKind, old: u32) -> u32 {
        let similar: Vec<u32> = self.tokens.iter().filter(|(k, _)| *k == kind).map(|(_, token)| *token).collect();
        match random.below(6) {
            0..3 if !similar.is_empty() => random.pick(&similar),
            0..4 => {
                let tables: &[TableId] = match kind {
                    OperandKind::Method => &[TableId::MethodDef, TableId::MemberRef, TableId::MethodSpec],
                    OperandKind::Field => &[TableId::Field, TableId::MemberRef],
                    OperandKind::Type => &[TableId::TypeDef, TableId::TypeRef, TableId::TypeSpec],
                    OperandKind::Sig => &[TableId::StandAloneSig],
                    OperandKind::String => &[TableId::UserString],
                    _ => &[TableId::TypeDef, TableId::Field, TableId::MethodDef, TableId::MemberRef, TableId::TypeSpec],
                };
                let table = random.pick(tables);
                let rows = if table == TableId::UserString { 200 } else { self.image.row_count(table) };
                (table as u32) << 24 | (1 + random.below(rows as usize + 1) as u32)
            }
            4 => old.wrapping_add(1),
            _ => old ^ 1 << random.below(32),
        }
    }

    /// Another opcode with an operand of the same length, or none at all.
    fn change_opcode(
        &self,
        random: &mut Random,
        bytes: &mut [u8],
        instruction: &InstructionPlace,
        place: &str,
    ) -> Option<String> {
        let opcode_length = instruction.operand_bytes - instruction.offset_bytes;
        let old_kind = instruction.opcode.operand_kind();
        if random.one_in(6) {
            bytes[instruction.offset_bytes..instruction.end_bytes].fill(0);
            return (instruction.opcode != Opcode::Nop).then(|| format!("{place}: removed"));
        }
        let length = operand_length(old_kind)?;
        let candidates: Vec<Opcode> = Opcode::ALL
            .iter()
            .copied()
            .filter(|new| {
                let new_length = if *new as u16 > 0xff { 2 } else { 1 };
                new_length == opcode_length
                    && operand_length(new.operand_kind()) == Some(length)
                    // A token of the same sort is worth keeping.
                    && (!is_token(old_kind) || is_token(new.operand_kind()))
            })
            .collect();
        let new = random.pick(&candidates);
        bytes[instruction.operand_bytes - 1] = new as u16 as u8;
        (new != instruction.opcode).then(|| format!("{place}: -> {}", new.name()))
    }

    fn change_body_header(&self, random: &mut Random, bytes: &mut [u8]) -> Option<String> {
        let body = self.any_body(random)?;
        let place = format!("method {:#x}, body header", body.method_rid);
        if !body.is_fat {
            let old = bytes[body.header_bytes];
            let new = random.number() as u8;
            bytes[body.header_bytes] = new;
            return (old != new).then(|| format!("{place}: {old:#x} -> {new:#x}"));
        }
        // Flags, max-stack, code size, locals.
        let (offset, width) = random.pick(&[(0, 2), (2, 2), (4, 4), (8, 4), (8, 4), (8, 4)]);
        let at = body.header_bytes + offset;
        let old = read(bytes, at, width);
        let new = match (offset, random.below(3)) {
            (8, 0..2) => {
                let rows = self.image.row_count(TableId::StandAloneSig);
                (TableId::StandAloneSig as u32) << 24 | random.below(rows as usize + 2) as u32
            }
            (_, 0) => old ^ 1 << random.below(8 * width),
            (_, 1) => random.pick(&EDGES),
            _ => old.wrapping_add(random.below(9) as u32).wrapping_sub(4),
        };
        write(bytes, at, width, new);
        (read(bytes, at, width) != old).then(|| format!("{place} at {offset}: {old:#x} -> {new:#x}"))
    }

    fn change_clause(&self, random: &mut Random, bytes: &mut [u8]) -> Option<String> {
        let clauses: Vec<(u32, usize, bool)> =
            self.bodies.iter().flat_map(|b| b.clauses.iter().map(|&(at, small)| (b.method_rid, at, small))).collect();
        if clauses.is_empty() {
            return None;
        }
        let (rid, start, is_small) = random.pick(&clauses);
        // Flags, try offset and length, handler offset and length, class token or filter offset.
        let fields: [(usize, usize); 6] = match is_small {
            true => [(0, 2), (2, 2), (4, 1), (5, 2), (7, 1), (8, 4)],
            false => [(0, 4), (4, 4), (8, 4), (12, 4), (16, 4), (20, 4)],
        };
        let field = random.below(fields.len());
        let (offset, width) = fields[field];
        let at = start + offset;
        let old = read(bytes, at, width);
        let new = match (field, random.below(4)) {
            (0, _) => random.pick(&[0, 1, 2, 4, 3, 8]),
            (5, 0..3) => self.token(random, OperandKind::Type, old),
            (_, 0) => old.wrapping_add(1 + random.below(6) as u32),
            (_, 1) => old.wrapping_sub(1 + random.below(6) as u32),
            (_, 2) => random.below(64) as u32,
            _ => random.pick(&EDGES),
        };
        write(bytes, at, width, new);
        (read(bytes, at, width) != old)
            .then(|| format!("method {rid:#x}, exception clause, field {field}: {old:#x} -> {new:#x}"))
    }

    fn change_header(&self, random: &mut Random, bytes: &mut [u8]) -> Option<String> {
        let range = self.headers[random.below(self.headers.len())].clone();
        if range.is_empty() {
            return None;
        }
        let at = range.start + random.below(range.len());
        let old = *bytes.get(at)?;
        let new = match random.below(3) {
            0 => old ^ 1 << random.below(8),
            1 => old.wrapping_add(1),
            _ => random.pick(&[0, 1, 0x7f, 0x80, 0xff]),
        };
        bytes[at] = new;
        (old != new).then(|| format!("header byte {at:#x}: {old:#x} -> {new:#x}"))
    }
}

fn is_token(kind: OperandKind) -> bool {
    use OperandKind as K;
    matches!(kind, K::Method | K::Field | K::Type | K::Token | K::String | K::Sig)
}

/// A little-endian number; what lies outside the file is 0.
fn read(bytes: &[u8], at: usize, width: usize) -> u32 {
    (0..width).rev().fold(0, |sum, n| sum << 8 | u32::from(bytes.get(at + n).copied().unwrap_or(0)))
}

fn write(bytes: &mut [u8], at: usize, width: usize, value: u32) {
    for (n, byte) in value.to_le_bytes().into_iter().enumerate().take(width) {
        if let Some(place) = bytes.get_mut(at + n) {
            *place = byte;
        }
    }
}

/// A compressed unsigned integer and how many bytes it takes. §II.23.2.
fn compressed(bytes: &[u8]) -> Option<(u32, usize)> {
    let first = u32::from(*bytes.first()?);
    let byte = |n: usize| bytes.get(n).map(|&b| u32::from(b));
    Some(match first {
        0..0x80 => (first, 1),
        0x80..0xc0 => ((first & 0x3f) << 8 | byte(1)?, 2),
        _ => ((first & 0x1f) << 24 | byte(1)? << 16 | byte(2)? << 8 | byte(3)?, 4),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_are_reproducible_and_of_equal_length() {
        let seed = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/seed.exe");
        let original = Original::new("seed", std::fs::read(seed).expect("the seed is there")).expect("it opens");
        let mut changed = 0;
        for index in 0..300 {
            let make = || original.mutate(&mut Random::new(1, "seed", index));
            let (a, b) = (make(), make());
            assert_eq!(a.bytes, b.bytes);
            assert_eq!(a.changes, b.changes);
            assert_eq!(a.bytes.len(), original.image.bytes().len());
            changed += usize::from(a.bytes != original.image.bytes());
        }
        assert!(changed > 280, "{changed} of 300");
    }
}
