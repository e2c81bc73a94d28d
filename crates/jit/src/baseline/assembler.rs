//! x86-64 encodings (Intel SDM vol. 2) of the few instructions that the baseline compiler uses.
//!
//! Most integer operations differ only in one opcode byte, and their widths only in REX.W; the encoder takes both as values,
//! so that callers need no case per width. The unit tests compare with Cranelift's assembler.

/// A machine register: 0–15 general purpose, 16–31 SSE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reg(pub u8);

pub(super) const RAX: Reg = Reg(0);
pub(super) const RCX: Reg = Reg(1);
pub(super) const RDX: Reg = Reg(2);
pub(super) const RBP: Reg = Reg(5);
pub(super) const RSI: Reg = Reg(6);
pub(super) const RDI: Reg = Reg(7);
pub(super) const R8: Reg = Reg(8);
pub(super) const R9: Reg = Reg(9);
pub(super) const R10: Reg = Reg(10);
/// Never holds a value between operations.
pub(super) const SCRATCH: Reg = Reg(11);
/// The thread.
pub(super) const R15: Reg = Reg(15);
pub(super) const XMM0: Reg = Reg(16);
/// Never holds a value between operations.
pub(super) const SCRATCH_SSE: Reg = Reg(31);

impl Reg {
    pub(super) fn is_sse(self) -> bool {
        self.0 >= 16
    }

    fn low(self) -> u8 {
        self.0 & 7
    }

    fn high(self) -> u8 {
        (self.0 >> 3) & 1
    }
}

/// Operand width of integer operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    Long,
    Quad,
}

/// Two-operand operations `op r, r/m`, and their /digit with an immediate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Alu {
    Add,
    Or,
    And,
    Sub,
    Xor,
    Cmp,
}

impl Alu {
    fn digit(self) -> u8 {
        match self {
            Alu::Add => 0,
            Alu::Or => 1,
            Alu::And => 4,
            Alu::Sub => 5,
            Alu::Xor => 6,
            Alu::Cmp => 7,
        }
    }
}

/// `op r/m, imm8` shifts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shift {
    Left,
    RightUnsigned,
    Right,
}

/// Condition codes as in `jcc` and `setcc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Condition {
    Overflow = 0,
    Below = 2,
    AboveOrEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowOrEqual = 6,
    Above = 7,
    Parity = 10,
    NoParity = 11,
    Less = 12,
    GreaterOrEqual = 13,
    LessOrEqual = 14,
    Greater = 15,
}

/// Opcode of a load, store, move or conversion: mandatory prefix, whether 0F comes first, the byte, REX.W.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Opcode {
    prefix: u8,
    escape: bool,
    byte: u8,
    wide: bool,
}

const fn plain(byte: u8, wide: bool) -> Opcode {
    Opcode { prefix: 0, escape: false, byte, wide }
}

const fn escaped(prefix: u8, byte: u8, wide: bool) -> Opcode {
    Opcode { prefix, escape: true, byte, wide }
}

pub(super) const MOV_LOAD_LONG: Opcode = plain(0x8B, false);
pub(super) const MOV_LOAD_QUAD: Opcode = plain(0x8B, true);
pub(super) const MOV_STORE_BYTE: Opcode = plain(0x88, false);
pub(super) const MOV_STORE_WORD: Opcode = Opcode { prefix: 0x66, escape: false, byte: 0x89, wide: false };
pub(super) const MOV_STORE_LONG: Opcode = plain(0x89, false);
pub(super) const MOV_STORE_QUAD: Opcode = plain(0x89, true);
pub(super) const MOVSX_BYTE: Opcode = escaped(0, 0xBE, false);
pub(super) const MOVZX_BYTE: Opcode = escaped(0, 0xB6, false);
pub(super) const MOVSX_WORD: Opcode = escaped(0, 0xBF, false);
pub(super) const MOVZX_WORD: Opcode = escaped(0, 0xB7, false);
pub(super) const MOVSXD: Opcode = plain(0x63, true);
pub(super) const LEA_QUAD: Opcode = plain(0x8D, true);
pub(super) const IMUL_LONG: Opcode = escaped(0, 0xAF, false);
pub(super) const IMUL_QUAD: Opcode = escaped(0, 0xAF, true);
pub(super) const MOVSS_LOAD: Opcode = escaped(0xF3, 0x10, false);
pub(super) const MOVSD_LOAD: Opcode = escaped(0xF2, 0x10, false);
pub(super) const MOVSS_STORE: Opcode = escaped(0xF3, 0x11, false);
pub(super) const MOVSD_STORE: Opcode = escaped(0xF2, 0x11, false);
pub(super) const MOVAPS: Opcode = escaped(0, 0x28, false);
pub(super) const MOVQ_TO_SSE: Opcode = escaped(0x66, 0x6E, true);
pub(super) const UCOMISS: Opcode = escaped(0, 0x2E, false);
pub(super) const UCOMISD: Opcode = escaped(0x66, 0x2E, false);
pub(super) const XORPS: Opcode = escaped(0, 0x57, false);
pub(super) const CVTSS2SD: Opcode = escaped(0xF3, 0x5A, false);
pub(super) const CVTSD2SS: Opcode = escaped(0xF2, 0x5A, false);
/// `call r/m64`: /2.
const CALL_INDIRECT: Opcode = plain(0xFF, false);

/// `cvtsi2ss`/`cvtsi2sd`.
pub(super) const fn int_to_float(double: bool, source: Width) -> Opcode {
    escaped(if double { 0xF2 } else { 0xF3 }, 0x2A, matches!(source, Width::Quad))
}

/// `addss` and the like: the byte decides the operation.
pub(super) const fn float_arithmetic(byte: u8, double: bool) -> Opcode {
    escaped(if double { 0xF2 } else { 0xF3 }, byte, false)
}

/// A jump target; bound to a position once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(u32);

/// Encodes into `bytes`; jumps are patched when all labels are bound.
#[derive(Default)]
pub(super) struct Assembler {
    pub bytes: Vec<u8>,
    labels: Vec<u32>,
    /// Positions of rel32 fields and their labels.
    fixups: Vec<(u32, Label)>,
}

const UNBOUND: u32 = u32::MAX;

impl Assembler {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.labels.clear();
        self.fixups.clear();
    }

    pub(super) fn offset(&self) -> u32 {
        self.bytes.len() as u32
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(UNBOUND);
        Label(self.labels.len() as u32 - 1)
    }

    pub(super) fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.offset();
    }

    /// Patches all jumps. None when a label was never bound.
    pub(super) fn resolve_jumps(&mut self) -> Option<()> {
        for &(position, label) in &self.fixups {
            let target = self.labels[label.0 as usize];
            if target == UNBOUND {
                return None;
            }
            let distance = (target as i32) - (position as i32 + 4);
            self.bytes[position as usize..position as usize + 4].copy_from_slice(&distance.to_le_bytes());
        }
        Some(())
    }

    fn long(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Prefixes, REX and opcode. `byte_reg`: an 8-bit register operand, where 4–7 need a REX to mean spl–dil's low bytes.
    fn head(&mut self, opcode: Opcode, reg: u8, index: u8, base: u8, byte_reg: Option<Reg>) {
        if opcode.prefix != 0 {
            self.bytes.push(opcode.prefix);
        }
        let rex = 0x40 | u8::from(opcode.wide) << 3 | reg << 2 | index << 1 | base;
        if rex != 0x40 || byte_reg.is_some_and(|r| (4..8).contains(&r.0)) {
            self.bytes.push(rex);
        }
        if opcode.escape {
            self.bytes.push(0x0F);
        }
        self.bytes.push(opcode.byte);
    }

    /// `op reg, rm` between registers.
    pub(super) fn rr(&mut self, opcode: Opcode, reg: Reg, rm: Reg) {
        let is_byte = opcode.escape && matches!(opcode.byte, 0xB6 | 0xBE);
        self.head(opcode, reg.high(), 0, rm.high(), is_byte.then_some(rm));
        self.bytes.push(0xC0 | reg.low() << 3 | rm.low());
    }

    /// `op reg, [base + displacement]` (or the store that the opcode says).
    pub(super) fn rm(&mut self, opcode: Opcode, reg: Reg, base: Reg, displacement: i32) {
        let is_byte_store = opcode == MOV_STORE_BYTE;
        self.head(opcode, reg.high(), 0, base.high(), is_byte_store.then_some(reg));
        self.memory(reg.low(), base, displacement);
    }

    /// ModRM, SIB and displacement.
    fn memory(&mut self, reg: u8, base: Reg, displacement: i32) {
        let short = i8::try_from(displacement);
        // rbp and r13 as base always have a displacement.
        let mode = match short {
            Ok(0) if base.low() != 5 => 0,
            Ok(_) => 1,
            Err(_) => 2,
        };
        self.bytes.push(mode << 6 | reg << 3 | base.low());
        if base.low() == 4 {
            self.bytes.push(0x24);
        }
        match (mode, short) {
            (1, Ok(byte)) => self.bytes.push(byte as u8),
            (2, _) => self.long(displacement),
            _ => {}
        }
    }

    /// `op reg, [base + index * scale + displacement]`; scale is 1, 2, 4 or 8.
    pub(super) fn indexed(&mut self, opcode: Opcode, reg: Reg, base: Reg, index: Reg, scale: u32, displacement: i32) {
        self.head(opcode, reg.high(), index.high(), base.high(), None);
        self.bytes.push(0x84 | reg.low() << 3);
        self.bytes.push((scale.trailing_zeros() as u8) << 6 | index.low() << 3 | base.low());
        self.long(displacement);
    }

    /// `op reg, [rip + field]`; gives the position of the 32-bit field.
    pub(super) fn rip_relative(&mut self, opcode: Opcode, reg: Reg) -> u32 {
        self.head(opcode, reg.high(), 0, 0, None);
        self.bytes.push(reg.low() << 3 | 5);
        let position = self.offset();
        self.long(0);
        position
    }

    fn width(width: Width) -> bool {
        width == Width::Quad
    }

    pub(super) fn alu(&mut self, op: Alu, width: Width, reg: Reg, rm: Reg) {
        self.rr(plain(op.digit() << 3 | 3, Self::width(width)), reg, rm);
    }

    pub(super) fn alu_imm(&mut self, op: Alu, width: Width, rm: Reg, immediate: i32) {
        let short = i8::try_from(immediate);
        let byte = if short.is_ok() { 0x83 } else { 0x81 };
        self.head(plain(byte, Self::width(width)), 0, 0, rm.high(), None);
        self.bytes.push(0xC0 | op.digit() << 3 | rm.low());
        match short {
            Ok(byte) => self.bytes.push(byte as u8),
            Err(_) => self.long(immediate),
        }
    }

    /// `cmp dword [base + displacement], imm8`, or the byte or quad form.
    pub(super) fn cmp_memory(&mut self, size_bytes: u8, base: Reg, displacement: i32, immediate: i8) {
        let byte = if size_bytes == 1 { 0x80 } else { 0x83 };
        self.head(plain(byte, size_bytes == 8), 0, 0, base.high(), None);
        self.memory(Alu::Cmp.digit(), base, displacement);
        self.bytes.push(immediate as u8);
    }

    pub(super) fn test(&mut self, width: Width, a: Reg, b: Reg) {
        self.rr(plain(0x85, Self::width(width)), b, a);
    }

    /// `imul reg, rm, imm32`.
    pub(super) fn imul_imm(&mut self, width: Width, reg: Reg, rm: Reg, immediate: i32) {
        self.rr(plain(0x69, Self::width(width)), reg, rm);
        self.long(immediate);
    }

    pub(super) fn shift(&mut self, shift: Shift, width: Width, rm: Reg, count: u8) {
        let digit = match shift {
            Shift::Left => 4,
            Shift::RightUnsigned => 5,
            Shift::Right => 7,
        };
        self.head(plain(0xC1, Self::width(width)), 0, 0, rm.high(), None);
        self.bytes.push(0xC0 | digit << 3 | rm.low());
        self.bytes.push(count);
    }

    pub(super) fn neg(&mut self, width: Width, rm: Reg) {
        self.head(plain(0xF7, Self::width(width)), 0, 0, rm.high(), None);
        self.bytes.push(0xC0 | 3 << 3 | rm.low());
    }

    pub(super) fn not(&mut self, width: Width, rm: Reg) {
        self.head(plain(0xF7, Self::width(width)), 0, 0, rm.high(), None);
        self.bytes.push(0xC0 | 2 << 3 | rm.low());
    }

    /// The low byte of `rm` becomes 0 or 1.
    pub(super) fn set(&mut self, condition: Condition, rm: Reg) {
        self.head(escaped(0, 0x90 | condition as u8, false), 0, 0, rm.high(), Some(rm));
        self.bytes.push(0xC0 | rm.low());
    }

    /// A 64-bit constant in the shortest form; flags stay as they are.
    pub(super) fn constant(&mut self, reg: Reg, value: i64) {
        if let Ok(word) = u32::try_from(value) {
            self.head(plain(0xB8 | reg.low(), false), 0, 0, reg.high(), None);
            self.long(word as i32);
        } else if let Ok(word) = i32::try_from(value) {
            self.head(plain(0xC7, true), 0, 0, reg.high(), None);
            self.bytes.push(0xC0 | reg.low());
            self.long(word);
        } else {
            let position = self.wide_constant(reg) as usize;
            self.bytes[position..position + 8].copy_from_slice(&value.to_le_bytes());
        }
    }

    /// `movabs reg, 0`; gives the position of the 64-bit field.
    pub(super) fn wide_constant(&mut self, reg: Reg) -> u32 {
        self.head(plain(0xB8 | reg.low(), true), 0, 0, reg.high(), None);
        let position = self.offset();
        self.bytes.extend_from_slice(&[0; 8]);
        position
    }

    pub(super) fn jump(&mut self, label: Label) {
        self.bytes.push(0xE9);
        self.fixups.push((self.offset(), label));
        self.long(0);
    }

    pub(super) fn jump_if(&mut self, condition: Condition, label: Label) {
        self.bytes.extend_from_slice(&[0x0F, 0x80 | condition as u8]);
        self.fixups.push((self.offset(), label));
        self.long(0);
    }

    /// `call rel32`; gives the position of the field.
    pub(super) fn call(&mut self) -> u32 {
        self.bytes.push(0xE8);
        let position = self.offset();
        self.long(0);
        position
    }

    /// `jmp rel32` to code outside of the body; gives the position of the field.
    pub(super) fn jump_away(&mut self) -> u32 {
        self.bytes.push(0xE9);
        let position = self.offset();
        self.long(0);
        position
    }

    pub(super) fn call_register(&mut self, target: Reg) {
        self.head(CALL_INDIRECT, 0, 0, target.high(), None);
        self.bytes.push(0xC0 | 2 << 3 | target.low());
    }

    pub(super) fn call_memory(&mut self, base: Reg, displacement: i32) {
        self.head(CALL_INDIRECT, 0, 0, base.high(), None);
        self.memory(2, base, displacement);
    }

    pub(super) fn jump_register(&mut self, target: Reg) {
        self.head(CALL_INDIRECT, 0, 0, target.high(), None);
        self.bytes.push(0xC0 | 4 << 3 | target.low());
    }

    pub(super) fn leave(&mut self) {
        self.bytes.push(0xC9);
    }

    pub(super) fn ret(&mut self) {
        self.bytes.push(0xC3);
    }

    pub(super) fn undefined(&mut self) {
        self.bytes.extend_from_slice(&[0x0F, 0x0B]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_assembler_x64::{Amode, GprMem, Inst, Registers, inst};

    struct Machine;

    impl Registers for Machine {
        type ReadGpr = u8;
        type ReadWriteGpr = u8;
        type WriteGpr = u8;
        type ReadXmm = u8;
        type ReadWriteXmm = u8;
        type WriteXmm = u8;
    }

    fn theirs(inst: impl Into<Inst<Machine>>) -> Vec<u8> {
        let mut bytes = Vec::new();
        inst.into().encode(&mut bytes);
        bytes
    }

    fn ours(encode: impl FnOnce(&mut Assembler)) -> Vec<u8> {
        let mut assembler = Assembler::default();
        encode(&mut assembler);
        assembler.bytes
    }

    fn at(base: u8, displacement: i32) -> Amode<u8> {
        Amode::ImmReg {
            base,
            simm32: cranelift_assembler_x64::AmodeOffsetPlusKnownOffset { simm32: displacement.into(), offset: None },
            trap: None,
        }
    }

    /// All pairs of general purpose registers.
    fn pairs() -> impl Iterator<Item = (u8, u8)> {
        (0..16).flat_map(|a| (0..16).map(move |b| (a, b)))
    }

    #[test]
    fn operations_between_registers_are_encoded_as_cranelift_does() {
        for (a, b) in pairs() {
            let (x, y) = (Reg(a), Reg(b));
            assert_eq!(ours(|m| m.alu(Alu::Add, Width::Long, x, y)), theirs(inst::addl_rm::new(a, b)));
            assert_eq!(ours(|m| m.alu(Alu::Sub, Width::Quad, x, y)), theirs(inst::subq_rm::new(a, b)));
            assert_eq!(ours(|m| m.alu(Alu::Cmp, Width::Long, x, y)), theirs(inst::cmpl_rm::new(a, b)));
            assert_eq!(ours(|m| m.rr(MOV_LOAD_QUAD, x, y)), theirs(inst::movq_rm::new(a, b)));
            assert_eq!(ours(|m| m.rr(IMUL_LONG, x, y)), theirs(inst::imull_rm::new(a, b)));
            // For esp to edi as destination Cranelift adds a REX prefix that only byte operands need.
            if !(4..8).contains(&a) {
                assert_eq!(ours(|m| m.rr(MOVSX_BYTE, x, y)), theirs(inst::movsbl_rm::new(a, b)));
            }
            assert_eq!(ours(|m| m.rr(MOVZX_WORD, x, y)), theirs(inst::movzwl_rm::new(a, b)));
            assert_eq!(ours(|m| m.rr(MOVSXD, x, y)), theirs(inst::movslq_rm::new(a, b)));
            assert_eq!(ours(|m| m.test(Width::Quad, x, y)), theirs(inst::testq_mr::new(a, b)));
            assert_eq!(
                ours(|m| m.imul_imm(Width::Long, x, y, 100_000)),
                theirs(inst::imull_rmi::new(a, b, 100_000u32))
            );
            let (x, y) = (Reg(a + 16), Reg(b + 16));
            assert_eq!(ours(|m| m.rr(float_arithmetic(0x58, true), x, y)), theirs(inst::addsd_a::new(a, b)));
            assert_eq!(ours(|m| m.rr(UCOMISS, x, y)), theirs(inst::ucomiss_a::new(a, b)));
            assert_eq!(ours(|m| m.rr(MOVAPS, x, y)), theirs(inst::movaps_a::new(a, b)));
            assert_eq!(ours(|m| m.rr(CVTSS2SD, x, y)), theirs(inst::cvtss2sd_a::new(a, b)));
            assert_eq!(ours(|m| m.rr(MOVQ_TO_SSE, x, Reg(b))), theirs(inst::movq_a::new(a, b)));
            let convert = int_to_float(true, Width::Quad);
            assert_eq!(ours(|m| m.rr(convert, x, Reg(b))), theirs(inst::cvtsi2sdq_a::new(a, b)));
        }
    }

    #[test]
    fn memory_operands_are_encoded_as_cranelift_does() {
        for (a, b) in pairs() {
            for displacement in [0, 8, -8, 127, 128, -129, 70_000] {
                let (x, y) = (Reg(a), Reg(b));
                let place = || at(b, displacement);
                assert_eq!(ours(|m| m.rm(MOV_LOAD_LONG, x, y, displacement)), theirs(inst::movl_rm::new(a, place())));
                assert_eq!(ours(|m| m.rm(MOV_STORE_BYTE, x, y, displacement)), theirs(inst::movb_mr::new(place(), a)));
                assert_eq!(ours(|m| m.rm(MOV_STORE_WORD, x, y, displacement)), theirs(inst::movw_mr::new(place(), a)));
                assert_eq!(ours(|m| m.rm(MOV_STORE_QUAD, x, y, displacement)), theirs(inst::movq_mr::new(place(), a)));
                assert_eq!(ours(|m| m.rm(LEA_QUAD, x, y, displacement)), theirs(inst::leaq_rm::new(a, place())));
                let sse = Reg(a + 16);
                assert_eq!(ours(|m| m.rm(MOVSD_LOAD, sse, y, displacement)), theirs(inst::movsd_a_m::new(a, place())));
                assert_eq!(ours(|m| m.rm(MOVSS_STORE, sse, y, displacement)), theirs(inst::movss_c_m::new(place(), a)));
                assert_eq!(
                    ours(|m| m.cmp_memory(4, y, displacement, 0)),
                    theirs(inst::cmpl_mi_sxb::new(GprMem::from(place()), 0i8))
                );
            }
        }
    }

    #[test]
    fn immediates_and_one_operand_forms_are_encoded_as_cranelift_does() {
        for a in 0..16u8 {
            let x = Reg(a);
            assert_eq!(ours(|m| m.alu_imm(Alu::And, Width::Long, x, 300)), theirs(inst::andl_mi::new(a, 300u32)));
            assert_eq!(ours(|m| m.alu_imm(Alu::Cmp, Width::Quad, x, -3)), theirs(inst::cmpq_mi_sxb::new(a, -3i8)));
            assert_eq!(ours(|m| m.shift(Shift::Right, Width::Long, x, 5)), theirs(inst::sarl_mi::new(a, 5u8)));
            assert_eq!(ours(|m| m.shift(Shift::Left, Width::Quad, x, 5)), theirs(inst::shlq_mi::new(a, 5u8)));
            assert_eq!(ours(|m| m.neg(Width::Quad, x)), theirs(inst::negq_m::new(a)));
            assert_eq!(ours(|m| m.not(Width::Long, x)), theirs(inst::notl_m::new(a)));
            assert_eq!(ours(|m| m.set(Condition::Above, x)), theirs(inst::seta_m::new(a)));
            assert_eq!(ours(|m| m.constant(x, 7)), theirs(inst::movl_oi::new(a, 7u32)));
            assert_eq!(ours(|m| m.constant(x, -7)), theirs(inst::movq_mi_sxl::new(a, -7i32)));
            assert_eq!(ours(|m| m.constant(x, 1 << 40)), theirs(inst::movabsq_oi::new(a, 1u64 << 40)));
        }
    }
}
