//! The CIL instruction set and a decoder. ECMA-335 Partition III; encodings: §VI.C.2.
//!
//! Invariant: the table below is the only list of opcodes; the decoder yields instructions whose branch
//! targets lie in the code, and stops at the first malformed one. Left out: stack effects and whether
//! targets fall on instruction boundaries.

use crate::bytes::ByteCursor;
use crate::error::BadImage;
use crate::token::Token;

/// The kind of operand that follows the opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandKind {
    None,
    /// Number of an argument or local variable, 1 byte.
    ShortVar,
    /// Number of an argument or local variable, 2 bytes.
    Var,
    /// Signed byte.
    I8,
    /// Unsigned byte: alignment or check mask.
    U8,
    I32,
    I64,
    R32,
    R64,
    /// Signed byte, from the next instruction.
    ShortBranch,
    /// 4 bytes, from the next instruction.
    Branch,
    /// A count and that many 4-byte distances from the next instruction.
    Switch,
    Method,
    Field,
    Type,
    /// `ldtoken`: type, method or field.
    Token,
    /// User string.
    String,
    /// Stand-alone signature.
    Sig,
}

macro_rules! opcodes {
    ($($name:ident = $code:literal $text:literal $kind:ident,)*) => {
        /// A CIL opcode; two-byte opcodes are 0xfe00 + second byte.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum Opcode { $($name = $code,)* }

        impl Opcode {
            /// Every opcode, by number.
            pub const ALL: &'static [Opcode] = &[$(Self::$name,)*];

            /// The opcode of a code point (one byte, or 0xfe00 + second byte).
            #[inline]
            pub const fn from_code(code: u16) -> Option<Self> {
                match code {
                    $($code => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// The name in assembly language.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The kind of operand that follows the opcode.
            #[inline]
            pub const fn operand_kind(self) -> OperandKind {
                match self { $(Self::$name => OperandKind::$kind,)* }
            }
        }
    };
}

opcodes! {
    Nop = 0x00 "nop" None,
    Break = 0x01 "break" None,
    Ldarg0 = 0x02 "ldarg.0" None,
    Ldarg1 = 0x03 "ldarg.1" None,
    Ldarg2 = 0x04 "ldarg.2" None,
    Ldarg3 = 0x05 "ldarg.3" None,
    Ldloc0 = 0x06 "ldloc.0" None,
    Ldloc1 = 0x07 "ldloc.1" None,
    Ldloc2 = 0x08 "ldloc.2" None,
    Ldloc3 = 0x09 "ldloc.3" None,
    Stloc0 = 0x0a "stloc.0" None,
    Stloc1 = 0x0b "stloc.1" None,
    Stloc2 = 0x0c "stloc.2" None,
    Stloc3 = 0x0d "stloc.3" None,
    LdargS = 0x0e "ldarg.s" ShortVar,
    LdargaS = 0x0f "ldarga.s" ShortVar,
    StargS = 0x10 "starg.s" ShortVar,
    LdlocS = 0x11 "ldloc.s" ShortVar,
    LdlocaS = 0x12 "ldloca.s" ShortVar,
    StlocS = 0x13 "stloc.s" ShortVar,
    Ldnull = 0x14 "ldnull" None,
    LdcI4M1 = 0x15 "ldc.i4.m1" None,
    LdcI4_0 = 0x16 "ldc.i4.0" None,
    LdcI4_1 = 0x17 "ldc.i4.1" None,
    LdcI4_2 = 0x18 "ldc.i4.2" None,
    LdcI4_3 = 0x19 "ldc.i4.3" None,
    LdcI4_4 = 0x1a "ldc.i4.4" None,
    LdcI4_5 = 0x1b "ldc.i4.5" None,
    LdcI4_6 = 0x1c "ldc.i4.6" None,
    LdcI4_7 = 0x1d "ldc.i4.7" None,
    LdcI4_8 = 0x1e "ldc.i4.8" None,
    LdcI4S = 0x1f "ldc.i4.s" I8,
    LdcI4 = 0x20 "ldc.i4" I32,
    LdcI8 = 0x21 "ldc.i8" I64,
    LdcR4 = 0x22 "ldc.r4" R32,
    LdcR8 = 0x23 "ldc.r8" R64,
    Dup = 0x25 "dup" None,
    Pop = 0x26 "pop" None,
    Jmp = 0x27 "jmp" Method,
    Call = 0x28 "call" Method,
    Calli = 0x29 "calli" Sig,
    Ret = 0x2a "ret" None,
    BrS = 0x2b "br.s" ShortBranch,
    BrfalseS = 0x2c "brfalse.s" ShortBranch,
    BrtrueS = 0x2d "brtrue.s" ShortBranch,
    BeqS = 0x2e "beq.s" ShortBranch,
    BgeS = 0x2f "bge.s" ShortBranch,
    BgtS = 0x30 "bgt.s" ShortBranch,
    BleS = 0x31 "ble.s" ShortBranch,
    BltS = 0x32 "blt.s" ShortBranch,
    BneUnS = 0x33 "bne.un.s" ShortBranch,
    BgeUnS = 0x34 "bge.un.s" ShortBranch,
    BgtUnS = 0x35 "bgt.un.s" ShortBranch,
    BleUnS = 0x36 "ble.un.s" ShortBranch,
    BltUnS = 0x37 "blt.un.s" ShortBranch,
    Br = 0x38 "br" Branch,
    Brfalse = 0x39 "brfalse" Branch,
    Brtrue = 0x3a "brtrue" Branch,
    Beq = 0x3b "beq" Branch,
    Bge = 0x3c "bge" Branch,
    Bgt = 0x3d "bgt" Branch,
    Ble = 0x3e "ble" Branch,
    Blt = 0x3f "blt" Branch,
    BneUn = 0x40 "bne.un" Branch,
    BgeUn = 0x41 "bge.un" Branch,
    BgtUn = 0x42 "bgt.un" Branch,
    BleUn = 0x43 "ble.un" Branch,
    BltUn = 0x44 "blt.un" Branch,
    Switch = 0x45 "switch" Switch,
    LdindI1 = 0x46 "ldind.i1" None,
    LdindU1 = 0x47 "ldind.u1" None,
    LdindI2 = 0x48 "ldind.i2" None,
    LdindU2 = 0x49 "ldind.u2" None,
    LdindI4 = 0x4a "ldind.i4" None,
    LdindU4 = 0x4b "ldind.u4" None,
    LdindI8 = 0x4c "ldind.i8" None,
    LdindI = 0x4d "ldind.i" None,
    LdindR4 = 0x4e "ldind.r4" None,
    LdindR8 = 0x4f "ldind.r8" None,
    LdindRef = 0x50 "ldind.ref" None,
    StindRef = 0x51 "stind.ref" None,
    StindI1 = 0x52 "stind.i1" None,
    StindI2 = 0x53 "stind.i2" None,
    StindI4 = 0x54 "stind.i4" None,
    StindI8 = 0x55 "stind.i8" None,
    StindR4 = 0x56 "stind.r4" None,
    StindR8 = 0x57 "stind.r8" None,
    Add = 0x58 "add" None,
    Sub = 0x59 "sub" None,
    Mul = 0x5a "mul" None,
    Div = 0x5b "div" None,
    DivUn = 0x5c "div.un" None,
    Rem = 0x5d "rem" None,
    RemUn = 0x5e "rem.un" None,
    And = 0x5f "and" None,
    Or = 0x60 "or" None,
    Xor = 0x61 "xor" None,
    Shl = 0x62 "shl" None,
    Shr = 0x63 "shr" None,
    ShrUn = 0x64 "shr.un" None,
    Neg = 0x65 "neg" None,
    Not = 0x66 "not" None,
    ConvI1 = 0x67 "conv.i1" None,
    ConvI2 = 0x68 "conv.i2" None,
    ConvI4 = 0x69 "conv.i4" None,
    ConvI8 = 0x6a "conv.i8" None,
    ConvR4 = 0x6b "conv.r4" None,
    ConvR8 = 0x6c "conv.r8" None,
    ConvU4 = 0x6d "conv.u4" None,
    ConvU8 = 0x6e "conv.u8" None,
    Callvirt = 0x6f "callvirt" Method,
    Cpobj = 0x70 "cpobj" Type,
    Ldobj = 0x71 "ldobj" Type,
    Ldstr = 0x72 "ldstr" String,
    Newobj = 0x73 "newobj" Method,
    Castclass = 0x74 "castclass" Type,
    Isinst = 0x75 "isinst" Type,
    ConvRUn = 0x76 "conv.r.un" None,
    Unbox = 0x79 "unbox" Type,
    Throw = 0x7a "throw" None,
    Ldfld = 0x7b "ldfld" Field,
    Ldflda = 0x7c "ldflda" Field,
    Stfld = 0x7d "stfld" Field,
    Ldsfld = 0x7e "ldsfld" Field,
    Ldsflda = 0x7f "ldsflda" Field,
    Stsfld = 0x80 "stsfld" Field,
    Stobj = 0x81 "stobj" Type,
    ConvOvfI1Un = 0x82 "conv.ovf.i1.un" None,
    ConvOvfI2Un = 0x83 "conv.ovf.i2.un" None,
    ConvOvfI4Un = 0x84 "conv.ovf.i4.un" None,
    ConvOvfI8Un = 0x85 "conv.ovf.i8.un" None,
    ConvOvfU1Un = 0x86 "conv.ovf.u1.un" None,
    ConvOvfU2Un = 0x87 "conv.ovf.u2.un" None,
    ConvOvfU4Un = 0x88 "conv.ovf.u4.un" None,
    ConvOvfU8Un = 0x89 "conv.ovf.u8.un" None,
    ConvOvfIUn = 0x8a "conv.ovf.i.un" None,
    ConvOvfUUn = 0x8b "conv.ovf.u.un" None,
    Box = 0x8c "box" Type,
    Newarr = 0x8d "newarr" Type,
    Ldlen = 0x8e "ldlen" None,
    Ldelema = 0x8f "ldelema" Type,
    LdelemI1 = 0x90 "ldelem.i1" None,
    LdelemU1 = 0x91 "ldelem.u1" None,
    LdelemI2 = 0x92 "ldelem.i2" None,
    LdelemU2 = 0x93 "ldelem.u2" None,
    LdelemI4 = 0x94 "ldelem.i4" None,
    LdelemU4 = 0x95 "ldelem.u4" None,
    LdelemI8 = 0x96 "ldelem.i8" None,
    LdelemI = 0x97 "ldelem.i" None,
    LdelemR4 = 0x98 "ldelem.r4" None,
    LdelemR8 = 0x99 "ldelem.r8" None,
    LdelemRef = 0x9a "ldelem.ref" None,
    StelemI = 0x9b "stelem.i" None,
    StelemI1 = 0x9c "stelem.i1" None,
    StelemI2 = 0x9d "stelem.i2" None,
    StelemI4 = 0x9e "stelem.i4" None,
    StelemI8 = 0x9f "stelem.i8" None,
    StelemR4 = 0xa0 "stelem.r4" None,
    StelemR8 = 0xa1 "stelem.r8" None,
    StelemRef = 0xa2 "stelem.ref" None,
    Ldelem = 0xa3 "ldelem" Type,
    Stelem = 0xa4 "stelem" Type,
    UnboxAny = 0xa5 "unbox.any" Type,
    ConvOvfI1 = 0xb3 "conv.ovf.i1" None,
    ConvOvfU1 = 0xb4 "conv.ovf.u1" None,
    ConvOvfI2 = 0xb5 "conv.ovf.i2" None,
    ConvOvfU2 = 0xb6 "conv.ovf.u2" None,
    ConvOvfI4 = 0xb7 "conv.ovf.i4" None,
    ConvOvfU4 = 0xb8 "conv.ovf.u4" None,
    ConvOvfI8 = 0xb9 "conv.ovf.i8" None,
    ConvOvfU8 = 0xba "conv.ovf.u8" None,
    Refanyval = 0xc2 "refanyval" Type,
    Ckfinite = 0xc3 "ckfinite" None,
    Mkrefany = 0xc6 "mkrefany" Type,
    Ldtoken = 0xd0 "ldtoken" Token,
    ConvU2 = 0xd1 "conv.u2" None,
    ConvU1 = 0xd2 "conv.u1" None,
    ConvI = 0xd3 "conv.i" None,
    ConvOvfI = 0xd4 "conv.ovf.i" None,
    ConvOvfU = 0xd5 "conv.ovf.u" None,
    AddOvf = 0xd6 "add.ovf" None,
    AddOvfUn = 0xd7 "add.ovf.un" None,
    MulOvf = 0xd8 "mul.ovf" None,
    MulOvfUn = 0xd9 "mul.ovf.un" None,
    SubOvf = 0xda "sub.ovf" None,
    SubOvfUn = 0xdb "sub.ovf.un" None,
    Endfinally = 0xdc "endfinally" None,
    Leave = 0xdd "leave" Branch,
    LeaveS = 0xde "leave.s" ShortBranch,
    StindI = 0xdf "stind.i" None,
    ConvU = 0xe0 "conv.u" None,
    Arglist = 0xfe00 "arglist" None,
    Ceq = 0xfe01 "ceq" None,
    Cgt = 0xfe02 "cgt" None,
    CgtUn = 0xfe03 "cgt.un" None,
    Clt = 0xfe04 "clt" None,
    CltUn = 0xfe05 "clt.un" None,
    Ldftn = 0xfe06 "ldftn" Method,
    Ldvirtftn = 0xfe07 "ldvirtftn" Method,
    Ldarg = 0xfe09 "ldarg" Var,
    Ldarga = 0xfe0a "ldarga" Var,
    Starg = 0xfe0b "starg" Var,
    Ldloc = 0xfe0c "ldloc" Var,
    Ldloca = 0xfe0d "ldloca" Var,
    Stloc = 0xfe0e "stloc" Var,
    Localloc = 0xfe0f "localloc" None,
    Endfilter = 0xfe11 "endfilter" None,
    Unaligned = 0xfe12 "unaligned." U8,
    Volatile = 0xfe13 "volatile." None,
    Tail = 0xfe14 "tail." None,
    Initobj = 0xfe15 "initobj" Type,
    Constrained = 0xfe16 "constrained." Type,
    Cpblk = 0xfe17 "cpblk" None,
    Initblk = 0xfe18 "initblk" None,
    No = 0xfe19 "no." U8,
    Rethrow = 0xfe1a "rethrow" None,
    Sizeof = 0xfe1c "sizeof" Type,
    Refanytype = 0xfe1d "refanytype" None,
    Readonly = 0xfe1e "readonly." None,
}

impl Opcode {
    /// The code point: one byte, or 0xfe00 + second byte.
    #[inline]
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// True when the next instruction is never reached by falling through.
    pub const fn ends_flow(self) -> bool {
        matches!(
            self,
            Self::Br
                | Self::BrS
                | Self::Leave
                | Self::LeaveS
                | Self::Ret
                | Self::Throw
                | Self::Rethrow
                | Self::Jmp
                | Self::Endfinally
                | Self::Endfilter
        )
    }
}

/// A decoded operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand<'a> {
    None,
    /// Number of an argument or local variable.
    Var(u16),
    U8(u8),
    /// `ldc.i4` and, sign-extended, `ldc.i4.s`.
    I32(i32),
    I64(i64),
    R32(f32),
    R64(f64),
    /// Code offset of the target.
    Branch(u32),
    Switch(SwitchTargets<'a>),
    /// Metadata token or user string.
    Token(Token),
}

/// The targets of a `switch`, all inside the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchTargets<'a> {
    distances: &'a [[u8; 4]],
    /// Code offset of the instruction after the `switch`.
    next_offset: u32,
}

impl<'a> SwitchTargets<'a> {
    /// Number of targets.
    pub fn len(&self) -> usize {
        self.distances.len()
    }

    /// True for a `switch` that always falls through.
    pub fn is_empty(&self) -> bool {
        self.distances.is_empty()
    }

    /// Code offsets of the targets, in order of the switch value.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> + 'a {
        let next_offset = self.next_offset;
        self.distances.iter().map(move |distance| next_offset.wrapping_add_signed(i32::from_le_bytes(*distance)))
    }
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction<'a> {
    /// Code offset of its first byte.
    pub offset: u32,
    pub opcode: Opcode,
    pub operand: Operand<'a>,
    /// Code offset of the next instruction.
    pub next_offset: u32,
}

/// Iterator over the instructions of `code`; ends after the first error.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    code: &'a [u8],
    cursor: ByteCursor<'a>,
}

/// Decodes `code` from its start. Item errors: unknown opcode, cut-off operand, branch out of the code.
pub fn decode(code: &[u8]) -> Decoder<'_> {
    decode_at(code, 0)
}

/// Decodes `code` from `offset`.
pub fn decode_at(code: &[u8], offset: u32) -> Decoder<'_> {
    Decoder { code, cursor: ByteCursor::at(code, offset as usize) }
}

/// By the last byte of the opcode.
type OpcodeTable = [Option<(Opcode, OperandKind)>; 256];

const fn opcode_table(prefix: u16) -> OpcodeTable {
    let mut table = [None; 256];
    let mut last = 0;
    while last < 256 {
        if let Some(opcode) = Opcode::from_code(prefix | last) {
            table[last as usize] = Some((opcode, opcode.operand_kind()));
        }
        last += 1;
    }
    table
}

static ONE_BYTE: OpcodeTable = opcode_table(0);
static TWO_BYTES: OpcodeTable = opcode_table(0xfe00);

impl<'a> Decoder<'a> {
    /// Code offset of the next instruction.
    pub fn offset(&self) -> u32 {
        self.cursor.pos() as u32
    }

    fn target(&self, distance: i32) -> Result<u32, BadImage> {
        let target = self.cursor.pos() as i64 + i64::from(distance);
        match u32::try_from(target) {
            Ok(target) if (target as usize) < self.code.len() => Ok(target),
            _ => Err(BadImage::in_blob(self.cursor.pos(), format!("branch to {target:#x}, out of the code"))),
        }
    }

    fn next_instruction(&mut self) -> Result<Instruction<'a>, BadImage> {
        let start = self.cursor.pos();
        let short = || BadImage::in_blob(start, "instruction is cut short");
        let first = self.cursor.u8().ok_or_else(short)?;
        let (prefix, last, table) = match first {
            0xfe => (0xfe00, self.cursor.u8().ok_or_else(short)?, &TWO_BYTES),
            _ => (0, first, &ONE_BYTE),
        };
        let (opcode, kind) = table[usize::from(last)]
            .ok_or_else(|| BadImage::in_blob(start, format!("{:#x} is no opcode", prefix | u16::from(last))))?;
        let cursor = &mut self.cursor;
        let operand = match kind {
            OperandKind::None => Operand::None,
            OperandKind::ShortVar => Operand::Var(u16::from(cursor.u8().ok_or_else(short)?)),
            OperandKind::Var => Operand::Var(cursor.u16().ok_or_else(short)?),
            OperandKind::I8 => Operand::I32(i32::from(cursor.u8().ok_or_else(short)? as i8)),
            OperandKind::U8 => Operand::U8(cursor.u8().ok_or_else(short)?),
            OperandKind::I32 => Operand::I32(cursor.u32().ok_or_else(short)? as i32),
            OperandKind::I64 => Operand::I64(cursor.u64().ok_or_else(short)? as i64),
            OperandKind::R32 => Operand::R32(f32::from_bits(cursor.u32().ok_or_else(short)?)),
            OperandKind::R64 => Operand::R64(f64::from_bits(cursor.u64().ok_or_else(short)?)),
            OperandKind::ShortBranch => {
                let distance = i32::from(cursor.u8().ok_or_else(short)? as i8);
                Operand::Branch(self.target(distance)?)
            }
            OperandKind::Branch => {
                let distance = cursor.u32().ok_or_else(short)? as i32;
                Operand::Branch(self.target(distance)?)
            }
            OperandKind::Switch => {
                let count = cursor.u32().ok_or_else(short)? as usize;
                let bytes = count.checked_mul(4).and_then(|len| cursor.take(len)).ok_or_else(short)?;
                let distances = bytes.as_chunks().0;
                for distance in distances {
                    self.target(i32::from_le_bytes(*distance))?;
                }
                Operand::Switch(SwitchTargets { distances, next_offset: self.cursor.pos() as u32 })
            }
            OperandKind::Method
            | OperandKind::Field
            | OperandKind::Type
            | OperandKind::Token
            | OperandKind::String
            | OperandKind::Sig => Operand::Token(Token(cursor.u32().ok_or_else(short)?)),
        };
        Ok(Instruction { offset: start as u32, opcode, operand, next_offset: self.cursor.pos() as u32 })
    }
}

impl<'a> Iterator for Decoder<'a> {
    type Item = Result<Instruction<'a>, BadImage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.remaining() == 0 {
            return None;
        }
        let result = self.next_instruction();
        if result.is_err() {
            self.cursor = ByteCursor::at(self.code, self.code.len());
        }
        Some(result)
    }
}

impl std::iter::FusedIterator for Decoder<'_> {}

#[cfg(test)]
mod tests {
    use super::{Opcode, Operand, decode};
    use crate::token::Token;

    #[test]
    fn every_opcode_is_found_by_its_code() {
        assert_eq!(Opcode::ALL.len(), 219);
        for &opcode in Opcode::ALL {
            assert_eq!(Opcode::from_code(opcode.code()), Some(opcode));
        }
    }

    #[test]
    fn instructions_and_targets() {
        let code = [0x02, 0x2d, 0x02, 0x1f, 0xff, 0x45, 1, 0, 0, 0, 0xf6, 0xff, 0xff, 0xff];
        let code = [&code[..], &[0x28, 1, 0, 0, 0x0a, 0xfe, 0x01, 0x2a]].concat();
        let decoded: Vec<_> = decode(&code).map(|item| item.expect("valid")).collect();
        let opcodes: Vec<_> = decoded.iter().map(|item| item.opcode).collect();
        use Opcode as O;
        assert_eq!(opcodes, [O::Ldarg0, O::BrtrueS, O::LdcI4S, O::Switch, O::Call, O::Ceq, O::Ret]);
        assert_eq!(decoded[1].operand, Operand::Branch(5));
        assert_eq!(decoded[2].operand, Operand::I32(-1));
        let Operand::Switch(targets) = decoded[3].operand else { panic!("switch expected") };
        assert_eq!(targets.iter().collect::<Vec<_>>(), [4]);
        assert_eq!(decoded[4].operand, Operand::Token(Token(0x0a00_0001)));
    }

    #[test]
    fn malformed_code_gives_one_error() {
        for code in [&[0xfe][..], &[0x24], &[0x20, 1], &[0x2b, 0x7f], &[0x45, 0xff, 0xff, 0xff, 0xff]] {
            let items: Vec<_> = decode(code).collect();
            assert_eq!(items.len(), 1);
            assert!(items[0].is_err());
        }
    }
}
