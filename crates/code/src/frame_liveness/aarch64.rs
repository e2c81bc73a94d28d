//! Frame liveness on aarch64: the effects of instructions on the frame. Encodings: Arm ARM (DDI 0487), §C4.1.
//!
//! Invariant: an access whose base is SP or FP is either one of those with an immediate offset that are decoded here,
//! or makes the body's words live; so does a computation with one of them, other than the prologue's and the
//! epilogue's. Left out: callee-saved registers (`registers`).

use super::dataflow::{Access, DecodedStep, FrameWords, Next, Read, WordEffect};
use registers::{bits, registers};
use saki_abi::CALLEE_SAVED;

#[path = "aarch64/registers.rs"]
mod registers;

const INSTRUCTION_BYTES: u32 = 4;
const FP: u32 = 29;
const SP: u32 = 31;
/// `ldp x29, x30, [sp], #16`
const POP_FRAME_RECORD: u32 = 0xa8c1_7bfd;
/// Preceding instructions that are kept: a tail call has few between the end of the epilogue and its jump.
const LOOK_BACK: usize = 5;

pub(super) struct Reader<'a> {
    code: &'a [u8],
    /// The instructions before the current one, the last one first.
    before: [u32; LOOK_BACK],
}

/// The same, as a signed number.
fn signed(word: u32, low: u32, count: u32) -> i64 {
    i64::from((bits(word, low, count) << (32 - count)).cast_signed() >> (32 - count))
}

impl<'a> Reader<'a> {
    pub fn new(code: &'a [u8]) -> Reader<'a> {
        Reader { code, before: [0; LOOK_BACK] }
    }

    /// Offset of the jump table if `br` at `at` ends the code generator's sequence for one, which the table follows:
    /// `adr base, table; ldrsw distance, [base, index, uxtw #2]; add base, base, distance; br base`.
    fn table_of_jump(&self, at: u32, br: u32) -> Option<u32> {
        let [add, load, adr, ..] = self.before;
        let base = bits(br, 5, 5);
        let table = at + INSTRUCTION_BYTES;
        let adr_place = at - 3 * INSTRUCTION_BYTES;
        let distance = signed(adr, 5, 19) << 2 | i64::from(bits(adr, 29, 2));
        let is_sequence = add & 0xffe0_fc00 == 0x8b00_0000
            && [bits(add, 0, 5), bits(add, 5, 5)] == [base; 2]
            && load & 0xffe0_fc00 == 0xb8a0_5800
            && bits(load, 5, 5) == base
            && bits(load, 0, 5) == bits(add, 16, 5)
            && adr & 0x9f00_0000 == 0x1000_0000
            && bits(adr, 0, 5) == base
            && i64::from(adr_place) + distance == i64::from(table);
        is_sequence.then_some(table)
    }

    fn next(&self, at: u32, word: u32, frame: &FrameWords) -> Option<Next> {
        let target = |count: u32, low: u32| {
            let target = i64::from(at) + signed(word, low, count) * i64::from(INSTRUCTION_BYTES);
            u64::try_from(target).ok().and_then(|target| frame.inside(target))
        };
        Some(match word >> 24 {
            // b; one out of the body is a tail call. bl.
            0x14..=0x17 => target(26, 0).map_or(Next::Nowhere, Next::Jump),
            0x94..=0x97 => Next::Call,
            // b.cond, cbz and cbnz.
            0x54 | 0x34 | 0x35 | 0xb4 | 0xb5 => Next::Branch(target(19, 5)?),
            // tbz and tbnz.
            0x36 | 0x37 | 0xb6 | 0xb7 => Next::Branch(target(14, 5)?),
            // brk; others raise exceptions that return.
            0xd4 if word & 0xffe0_001f == 0xd420_0000 => Next::Nowhere,
            0xd4 => return None,
            // ret, blr, br.
            0xd6 if word & 0xffff_fc1f == 0xd65f_0000 => Next::Nowhere,
            0xd6 if word & 0xffff_fc1f == 0xd63f_0000 => Next::Call,
            0xd6 if word & 0xffff_fc1f == 0xd61f_0000 => match self.table_of_jump(at, word) {
                Some(table) => Next::Table(table),
                None if self.before.contains(&POP_FRAME_RECORD) => Next::Nowhere,
                None => return None,
            },
            0xd6 | 0xd7 => return None,
            // udf
            0 if word >> 16 == 0 => Next::Nowhere,
            _ => Next::Through,
        })
    }
}

impl Read for Reader<'_> {
    fn restart(&mut self) {
        self.before = [0; LOOK_BACK];
    }

    fn step(&mut self, at: u32, frame: &FrameWords) -> Option<DecodedStep> {
        let place = at as usize;
        let bytes = self.code.get(place..place + INSTRUCTION_BYTES as usize)?;
        let word = u32::from_le_bytes(bytes.try_into().ok()?);
        let next = self.next(at, word, frame)?;
        let mut effects = register_effects(word, frame)?;
        // Loads and stores have 1 in bit 27 and 0 in bit 25; literals, which have no base, are told apart by 011 from
        // bit 27 on.
        if word & 0x0a00_0000 == 0x0800_0000 && word & 0x3b00_0000 != 0x1800_0000 {
            if let Some(base) = frame_base(bits(word, 5, 5)) {
                let memory = memory(word)?;
                // The prologue saves registers below what is watched, and the epilogue loads them, by a stack pointer
                // that is not yet, or no more, that of the body.
                if let Some(memory) = memory {
                    let start = from_fp(base, memory.displacement, frame);
                    let access = if memory.is_load { Access::Read } else { Access::Write };
                    frame.access(start, memory.size_bytes, false, access, &mut effects)?;
                }
            }
        } else {
            check_address(word, frame)?;
        }
        self.before.rotate_right(1);
        self.before[0] = word;
        Some(DecodedStep { end: at + INSTRUCTION_BYTES, effects, next })
    }
}

/// Effects on callee-saved registers. None: it is not known which registers the instruction reads.
fn register_effects(word: u32, frame: &FrameWords) -> Option<Vec<WordEffect>> {
    let registers = registers(word)?;
    let mut effects = Vec::new();
    for (index, &number) in CALLEE_SAVED.iter().enumerate() {
        if registers.read >> number & 1 != 0 {
            effects.push(WordEffect::Use(frame.register_bit(index)));
        } else if registers.written >> number & 1 != 0 {
            effects.push(WordEffect::Define(frame.register_bit(index)));
        }
    }
    Some(effects)
}

#[derive(Clone, Copy)]
enum Base {
    Stack,
    Frame,
}

fn frame_base(register: u32) -> Option<Base> {
    match register {
        SP => Some(Base::Stack),
        FP => Some(Base::Frame),
        _ => None,
    }
}

fn from_fp(base: Base, displacement: i64, frame: &FrameWords) -> i64 {
    match base {
        Base::Stack => frame.stack_distance(displacement),
        Base::Frame => displacement,
    }
}

struct Memory {
    displacement: i64,
    size_bytes: i64,
    is_load: bool,
}

/// The operand of a load or store whose base is SP or FP. Some(None): it moves the base, as prologues and epilogues do.
/// None: another kind of access than by an immediate offset.
fn memory(word: u32) -> Option<Option<Memory>> {
    let is_vector = word & 1 << 26 != 0;
    match bits(word, 27, 3) {
        // ldp, stp and their like: offset, and before or after a move of the base.
        0b101 => {
            let (kind, mode) = (bits(word, 30, 2), bits(word, 23, 2));
            if mode & 1 != 0 {
                return Some(None);
            }
            let register_bytes = match (is_vector, kind) {
                (true, 0..=2) => 4 << kind,
                (false, 0 | 1) => 4,
                (false, 2) => 8,
                _ => return None,
            };
            Some(Some(Memory {
                displacement: signed(word, 15, 7) * register_bytes,
                size_bytes: 2 * register_bytes,
                is_load: word & 1 << 22 != 0,
            }))
        }
        // One register.
        0b111 => {
            let (size, opcode) = (bits(word, 30, 2), bits(word, 22, 2));
            let (log2_bytes, is_load) = if is_vector {
                if opcode & 2 != 0 && size != 0 {
                    return None;
                }
                (size | (opcode & 2) << 1, opcode & 1 != 0)
            } else {
                // Signed loads have opcodes 2 and 3; a prefetch (size 3, opcode 2) counts as one.
                (size, opcode != 0)
            };
            let size_bytes = 1 << log2_bytes;
            if word & 1 << 24 != 0 {
                let displacement = i64::from(bits(word, 10, 12)) * size_bytes;
                return Some(Some(Memory { displacement, size_bytes, is_load }));
            }
            if word & 1 << 21 != 0 {
                return None;
            }
            match bits(word, 10, 2) {
                0 => Some(Some(Memory { displacement: signed(word, 12, 9), size_bytes, is_load })),
                1 | 3 => Some(None),
                _ => None,
            }
        }
        _ => None,
    }
}

/// `None` if the instruction computes an address from SP or FP that may be a spill slot's.
fn check_address(word: u32, frame: &FrameWords) -> Option<()> {
    let (to, from) = (bits(word, 0, 5), bits(word, 5, 5));
    let is_subtraction = word & 1 << 30 != 0;
    // add and sub, immediate: without flags they may read SP and write it.
    if word & 0x1f80_0000 == 0x1100_0000 {
        let Some(base) = frame_base(from) else { return Some(()) };
        let has_flags = word & 1 << 29 != 0;
        // Prologues and epilogues move the stack pointer, and set the frame pointer.
        if !has_flags && (to == SP || to == FP) {
            return Some(());
        }
        let immediate = i64::from(bits(word, 10, 12)) << (12 * bits(word, 22, 1));
        return frame.take_address(from_fp(base, if is_subtraction { -immediate } else { immediate }, frame));
    }
    // add and sub of an extended register (bit 21), where 31 is SP, and of a shifted one.
    if word & 0x1f00_0000 == 0x0b00_0000 {
        let is_extended = word & 1 << 21 != 0;
        let other = bits(word, 16, 5);
        let reads = is_extended && from == SP || from == FP || other == FP;
        let moves_stack_pointer = is_extended && to == SP && word & 1 << 29 == 0;
        return (!reads || moves_stack_pointer).then_some(());
    }
    Some(())
}
