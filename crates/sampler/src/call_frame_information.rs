//! One step up from a frame of native code by its call frame information (`.eh_frame`, DWARF 5 §6.4).
//!
//! Invariant: async-signal-safe: reads only copies of the sections that were made before and, through `ReadWord`, words
//! of the stack; takes no lock and allocates nothing; the work for one step is bounded by the length of one entry.
//! Unsupported instructions and rules (expressions other than those of procedure linkage tables) give `None`, never a
//! guess.
//!
//! Rejected: `gimli`, which can do the same without allocation (`UnwindContextStorage` on the stack). A step takes 1.4
//! µs with it and 0.2 µs here, at full optimisation over all entries of this executable and the C library; in a dev
//! build a program sampled at 10 kHz made no progress with it, since handlers took all the time.

use crate::machine::{PRESERVED, RETURN_ADDRESS, SP, Values, Which, interrupted_register, link, plain_address};
use std::ops::Range;

/// A caller's registers: those that callees preserve, the stack pointer and the return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    pub pc: usize,
    pub sp: usize,
    /// By DWARF's number; values of registers that callees may change are meaningless.
    pub values: Values,
    /// Whether `pc` is behind a call, rather than at an instruction that was interrupted.
    pub is_return_address: bool,
}

impl Registers {
    /// An address inside the instruction that is being executed.
    pub fn instruction(&self) -> usize {
        self.pc - usize::from(self.is_return_address && self.pc != 0)
    }
}

/// Reads an aligned word of the stack, if that is known to be one.
pub trait ReadWord {
    fn read(&self, address: usize) -> Option<usize>;
}

/// One module's sections, or copies of them, and where the originals lie.
pub struct Sections {
    pub header_address: usize,
    pub header: &'static [u8],
    pub frames_address: usize,
    pub frames: &'static [u8],
}

/// Where a value of the caller's is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    Same,
    Undefined,
    /// At the canonical frame address + this.
    Offset(i64),
    /// The canonical frame address + this.
    ValueOffset(i64),
    NotUnderstood,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FrameAddress {
    Register(usize, i64),
    /// The rule of a procedure linkage table of x86-64: sp + 8, and 8 more after the push, which is at byte 11 of 16.
    LinkageTable,
    NotUnderstood,
}

#[derive(Clone, Copy)]
struct Row {
    frame_address: FrameAddress,
    rules: [Rule; RETURN_ADDRESS + 1],
}

/// A cursor; every read returns None at the end.
#[derive(Clone, Copy)]
struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Bytes<'a> {
    fn new(bytes: &'a [u8], range: Range<usize>) -> Option<Bytes<'a>> {
        (range.start <= range.end && range.end <= bytes.len()).then_some(Bytes {
            bytes,
            at: range.start,
            end: range.end,
        })
    }

    fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        let end = self.at.checked_add(N).filter(|end| *end <= self.end)?;
        let value = self.bytes.get(self.at..end)?.try_into().ok()?;
        self.at = end;
        Some(value)
    }

    fn u8(&mut self) -> Option<u8> {
        self.fixed::<1>().map(|b| b[0])
    }

    fn u32(&mut self) -> Option<u32> {
        self.fixed().map(u32::from_le_bytes)
    }

    fn uleb(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            shift += 7;
        }
    }

    fn sleb(&mut self) -> Option<i64> {
        let (mut value, mut shift) = (0_i64, 0_u32);
        loop {
            let byte = self.u8()?;
            value |= i64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                let is_negative = byte & 0x40 != 0 && shift < 64;
                return Some(if is_negative { value | (-1 << shift) } else { value });
            }
        }
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.at = self.at.checked_add(usize::try_from(count).ok()?).filter(|end| *end <= self.end)?;
        Some(())
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..self.end).unwrap_or(&[])
    }

    /// A pointer in the format of `encoding` (DW_EH_PE_*), whose first byte lies at `address`; without the application
    /// if `is_length`.
    fn pointer(&mut self, encoding: u8, address: usize, is_length: bool) -> Option<usize> {
        const FORMAT: u8 = 0x0f;
        const APPLICATION: u8 = 0x70;
        let value = match encoding & FORMAT {
            0x00 | 0x04 | 0x0c => u64::from_le_bytes(self.fixed()?) as usize,
            0x03 => self.u32()? as usize,
            0x0b if is_length => self.u32()? as usize,
            0x0b => i32::from_le_bytes(self.fixed()?) as isize as usize,
            _ => return None,
        };
        match encoding & APPLICATION {
            0x00 => Some(value),
            _ if is_length => Some(value),
            0x10 => Some(value.wrapping_add(address)),
            _ => None,
        }
    }
}

/// The data common to the entries of a unit.
struct Common<'a> {
    code_alignment: u64,
    data_alignment: i64,
    pointer_encoding: u8,
    has_augmentation_data: bool,
    is_signal_frame: bool,
    instructions: Bytes<'a>,
}

/// The entry of one function.
struct Entry<'a> {
    common: Common<'a>,
    /// The function's first address.
    begin: usize,
    instructions: Bytes<'a>,
}

impl Sections {
    /// The caller's registers, for the frame that `registers` are of.
    pub fn step(&self, registers: &Registers, stack: &impl ReadWord) -> Option<Registers> {
        let pc = registers.instruction();
        let Entry { common, begin, instructions } = self.lookup(pc)?;
        if common.is_signal_frame {
            return interrupted(registers.sp, stack);
        }
        let mut row = Row { frame_address: FrameAddress::NotUnderstood, rules: [Rule::Same; RETURN_ADDRESS + 1] };
        run(common.instructions, &common, &mut row, None, 0)?;
        let initial = row;
        run(instructions, &common, &mut row, Some(&initial), pc - begin)?;
        row.apply(registers, stack)
    }

    /// Whether the frames of the code at `pc` are described.
    pub fn covers(&self, pc: usize) -> bool {
        self.lookup(pc).is_some()
    }

    fn lookup(&self, pc: usize) -> Option<Entry<'_>> {
        let mut entry = self.find(pc)?;
        let at = entry.at;
        let back = entry.u32()? as usize;
        let common = self.common(at.checked_sub(back)?)?;
        let begin_at = self.frames_address.wrapping_add(entry.at);
        let begin = entry.pointer(common.pointer_encoding, begin_at, false)?;
        let len = entry.pointer(common.pointer_encoding, 0, true)?;
        if pc.wrapping_sub(begin) >= len {
            return None;
        }
        if common.has_augmentation_data {
            let len = entry.uleb()?;
            entry.skip(len)?;
        }
        Some(Entry { common, begin, instructions: entry })
    }

    /// Behind the length of the entry that may cover `pc`.
    fn find(&self, pc: usize) -> Option<Bytes<'_>> {
        /// Version 1; the pointer to the frames relative to itself, the count plain, the table relative to the header,
        /// all of 4 bytes.
        const USUAL: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
        const TABLE: usize = 12;
        const ROW: usize = 8;
        let header = self.header;
        if header.get(..4)? != USUAL {
            return None;
        }
        let count = u32::from_le_bytes(header.get(8..TABLE)?.try_into().ok()?) as usize;
        let row = |index: usize| -> Option<(usize, usize)> {
            let at = TABLE + index * ROW;
            let word = |at: usize| Some(i32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?) as isize);
            let absolute = |offset: isize| self.header_address.wrapping_add_signed(offset);
            Some((absolute(word(at)?), absolute(word(at + 4)?)))
        };
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if row(middle)?.0 <= pc { low = middle + 1 } else { high = middle }
        }
        let (_, entry) = row(low.checked_sub(1)?)?;
        self.entry(entry.checked_sub(self.frames_address)?)
    }

    /// Contents of the entry at this offset.
    fn entry(&self, at: usize) -> Option<Bytes<'_>> {
        let mut bytes = Bytes::new(self.frames, at..self.frames.len())?;
        let len = bytes.u32()? as usize;
        if len == 0 || len == u32::MAX as usize {
            return None;
        }
        Bytes::new(self.frames, bytes.at..bytes.at.checked_add(len)?)
    }

    fn common(&self, at: usize) -> Option<Common<'_>> {
        let mut bytes = self.entry(at)?;
        if bytes.u32()? != 0 {
            return None;
        }
        let version = bytes.u8()?;
        let text = bytes.rest();
        let len = text.iter().position(|b| *b == 0)?;
        let augmentation = &text[..len];
        bytes.skip(len as u64 + 1)?;
        let (code_alignment, data_alignment) = (bytes.uleb()?, bytes.sleb()?);
        let register = if version == 1 { u64::from(bytes.u8()?) } else { bytes.uleb()? };
        let has_augmentation_data = augmentation.first() == Some(&b'z');
        let (mut pointer_encoding, mut is_signal_frame) = (0, false);
        if register != RETURN_ADDRESS as u64 || !(has_augmentation_data || augmentation.is_empty()) {
            return None;
        }
        if has_augmentation_data {
            let len = bytes.uleb()?;
            let instructions = bytes.at.checked_add(usize::try_from(len).ok()?)?;
            for letter in &augmentation[1..] {
                match letter {
                    b'R' => pointer_encoding = bytes.u8()?,
                    b'L' => _ = bytes.u8()?,
                    b'P' => {
                        let encoding = bytes.u8()?;
                        bytes.pointer(encoding & 0x0f, 0, true)?;
                    }
                    b'S' => is_signal_frame = true,
                    b'B' => {}
                    _ => return None,
                }
            }
            bytes.at = instructions;
        }
        let instructions = bytes;
        Some(Common {
            code_alignment,
            data_alignment,
            pointer_encoding,
            has_augmentation_data,
            is_signal_frame,
            instructions,
        })
    }
}

/// States that DW_CFA_remember_state may nest.
const MAX_REMEMBERED: usize = 4;

/// Runs instructions up to the row for `target` bytes behind the function's first.
fn run(mut code: Bytes, common: &Common, row: &mut Row, initial: Option<&Row>, target: usize) -> Option<()> {
    let mut remembered = [*row; MAX_REMEMBERED];
    let mut depth = 0;
    let mut location = 0_u64;
    let scaled = |value: u64| -> Option<i64> { i64::try_from(value).ok()?.checked_mul(common.data_alignment) };
    while code.at < code.end {
        let operation = code.u8()?;
        let low = u64::from(operation & 0x3f);
        let mut advance = None;
        match operation >> 6 {
            1 => advance = Some(low),
            2 => row.set(low, Rule::Offset(scaled(code.uleb()?)?)),
            3 => row.restore(low, initial),
            _ => match operation {
                0x00 => {}
                0x02 => advance = Some(u64::from(code.u8()?)),
                0x03 => advance = Some(u64::from(u16::from_le_bytes(code.fixed()?))),
                0x04 => advance = Some(u64::from(code.u32()?)),
                0x05 => row.set(code.uleb()?, Rule::Offset(scaled(code.uleb()?)?)),
                0x06 => row.restore(code.uleb()?, initial),
                0x07 => row.set(code.uleb()?, Rule::Undefined),
                0x08 => row.set(code.uleb()?, Rule::Same),
                0x0a => {
                    *remembered.get_mut(depth)? = *row;
                    depth += 1;
                }
                0x0b => {
                    depth = depth.checked_sub(1)?;
                    *row = remembered[depth];
                }
                0x0c => row.frame_address = FrameAddress::Register(code.uleb()? as usize, code.uleb()? as i64),
                0x0d => row.change_register(code.uleb()? as usize),
                0x0e => row.change_offset(code.uleb()? as i64),
                0x0f => {
                    /// DW_OP_breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus.
                    const LINKAGE_TABLE: [u8; 11] = [0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];
                    let len = code.uleb()?;
                    let is_known = code.rest().starts_with(&LINKAGE_TABLE) && len == LINKAGE_TABLE.len() as u64;
                    row.frame_address = if is_known { FrameAddress::LinkageTable } else { FrameAddress::NotUnderstood };
                    code.skip(len)?;
                }
                0x10 | 0x16 => {
                    row.set(code.uleb()?, Rule::NotUnderstood);
                    let len = code.uleb()?;
                    code.skip(len)?;
                }
                0x11 => row.set(code.uleb()?, Rule::Offset(code.sleb()?.checked_mul(common.data_alignment)?)),
                0x12 => {
                    let register = code.uleb()? as usize;
                    row.frame_address =
                        FrameAddress::Register(register, code.sleb()?.checked_mul(common.data_alignment)?);
                }
                0x13 => row.change_offset(code.sleb()?.checked_mul(common.data_alignment)?),
                0x14 => row.set(code.uleb()?, Rule::ValueOffset(scaled(code.uleb()?)?)),
                // DW_CFA_AARCH64_negate_ra_state: whether the return address is signed.
                0x2d => {}
                // DW_CFA_GNU_args_size
                0x2e => _ = code.uleb()?,
                _ => return None,
            },
        }
        if let Some(units) = advance {
            location = location.checked_add(units.checked_mul(common.code_alignment)?)?;
            if location > target as u64 {
                return Some(());
            }
        }
    }
    Some(())
}

impl Row {
    fn set(&mut self, register: u64, rule: Rule) {
        if let Some(place) = usize::try_from(register).ok().and_then(|index| self.rules.get_mut(index)) {
            *place = rule;
        }
    }

    fn restore(&mut self, register: u64, initial: Option<&Row>) {
        let rule = initial.and_then(|row| row.rules.get(register as usize)).copied();
        self.set(register, rule.unwrap_or(Rule::Same));
    }

    fn change_register(&mut self, register: usize) {
        if let FrameAddress::Register(_, offset) = self.frame_address {
            self.frame_address = FrameAddress::Register(register, offset);
        }
    }

    fn change_offset(&mut self, offset: i64) {
        if let FrameAddress::Register(register, _) = self.frame_address {
            self.frame_address = FrameAddress::Register(register, offset);
        }
    }

    fn apply(&self, registers: &Registers, stack: &impl ReadWord) -> Option<Registers> {
        let frame_address = match self.frame_address {
            FrameAddress::Register(SP, offset) => registers.sp.wrapping_add_signed(offset as isize),
            FrameAddress::Register(register, offset) => {
                registers.values.get(register)?.wrapping_add_signed(offset as isize)
            }
            FrameAddress::LinkageTable => registers.sp.wrapping_add(if registers.pc & 15 >= 11 { 16 } else { 8 }),
            FrameAddress::NotUnderstood => return None,
        };
        // The innermost function alone may have no frame of its own.
        let link = link(&registers.values).filter(|_| !registers.is_return_address);
        if frame_address < registers.sp || frame_address == registers.sp && link.is_none() {
            return None;
        }
        let mut caller = Registers { sp: frame_address, is_return_address: true, ..*registers };
        let value = |rule: Rule, same: usize| match rule {
            Rule::Same => Some(same),
            Rule::Undefined => Some(0),
            Rule::Offset(offset) => {
                let address = frame_address.wrapping_add_signed(offset as isize);
                // Epilogues are not described: when one has restored a register already, its slot is below the stack
                // pointer.
                if address < registers.sp { Some(same) } else { stack.read(address) }
            }
            Rule::ValueOffset(offset) => Some(frame_address.wrapping_add_signed(offset as isize)),
            Rule::NotUnderstood => None,
        };
        for register in PRESERVED {
            caller.values[register] = value(self.rules[register], registers.values[register])?;
        }
        caller.pc = match self.rules[RETURN_ADDRESS] {
            Rule::Same => plain_address(link?),
            rule => plain_address(value(rule, 0)?),
        };
        Some(caller)
    }
}

/// The registers that a signal interrupted: the kernel's frame begins where the handler returns to the C library's or
/// the kernel's trampoline.
fn interrupted(sp: usize, stack: &impl ReadWord) -> Option<Registers> {
    let register = |which: Which| stack.read(sp.wrapping_add(interrupted_register(which)));
    let mut values: Values = Default::default();
    for number in PRESERVED {
        values[number] = register(Which::Preserved(number))?;
    }
    Some(Registers { pc: register(Which::Pc)?, sp: register(Which::Sp)?, values, is_return_address: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules;

    struct AnyWord;

    impl ReadWord for AnyWord {
        fn read(&self, _address: usize) -> Option<usize> {
            Some(0x1234)
        }
    }

    /// Every entry of this executable and the C library, at each of its first bytes and its last.
    #[test]
    fn every_entry_is_understood() {
        modules::refresh();
        let own = every_entry_is_understood as fn() as usize;
        for address in [own, libc::getpid as *const () as usize] {
            let sections = modules::find(address).and_then(|module| module.frames.as_ref()).expect("described frames");
            let count = u32::from_le_bytes(sections.header[8..12].try_into().unwrap()) as usize;
            let (mut steps, mut failed) = (0, Vec::new());
            for index in 0..count {
                let at = 12 + index * 8;
                let start = i32::from_le_bytes(sections.header[at..at + 4].try_into().unwrap());
                let start = sections.header_address.wrapping_add_signed(start as isize);
                for offset in [0, 1, 2, 4, 9, 14, 20, 40, 100, 300] {
                    let registers = Registers {
                        pc: start + offset,
                        sp: 0x7000_0000,
                        values: [0x7000_0100; crate::machine::REGISTERS],
                        is_return_address: false,
                    };
                    if !sections.covers(start + offset) {
                        continue;
                    }
                    steps += 1;
                    if sections.step(&registers, &AnyWord).is_none() {
                        failed.push((start.wrapping_sub(sections.header_address), offset));
                    }
                }
            }
            assert!(steps > 1000);
            // Some of the C library's own assembly is described by expressions.
            assert!(failed.len() * 1000 < steps, "{} of {steps} not understood: {failed:x?}", failed.len());
        }
    }
}
