//! Call frame information (DWARF 5 §6.4) of Saki's frames, for `.eh_frame` sections.
//!
//! Each body begins with the instructions that make its frame (x86-64: `push rbp; mov rbp, rsp`) and keeps the frame
//! pointer until it returns, so three rows describe it. A stub has no frame: one row.

use crate::body::DescribedCode;
use gimli::write::{
    Address, CallFrameInstruction, CieId, CommonInformationEntry, EhFrame, EndianVec, FrameDescriptionEntry, FrameTable,
};
use gimli::{Encoding, Format, LittleEndian, Register, constants};
use saki_code::DEBUGGER_FRAMES;

const STACK_POINTER: Register = Register(DEBUGGER_FRAMES.stack_pointer);
const FRAME_POINTER: Register = Register(DEBUGGER_FRAMES.frame_pointer);
const RETURN_ADDRESS: Register = Register(DEBUGGER_FRAMES.return_address);
const PUSHED_BY_CALL_BYTES: i32 = DEBUGGER_FRAMES.pushed_by_call_bytes as i32;
const RETURN_ADDRESS_OFFSET: i32 = -8;
const FRAME_POINTER_OFFSET: i32 = -16;
const FRAME_RECORD_BYTES: i32 = 16;
const BYTES_OF_SLOT: i8 = -8;

/// Frames of several bodies.
pub(crate) struct Frames {
    table: FrameTable,
    cie: CieId,
}

/// How a body begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameShape {
    /// The usual prologue, then a frame by the frame pointer.
    Prologue,
    /// A frame by the frame pointer from the first instruction on, as far as known.
    Framed,
    /// Nothing but the return address.
    Stub,
}

impl FrameShape {
    /// The shape that the first instructions of the code show.
    pub fn of(body: &DescribedCode) -> FrameShape {
        if body.is_stubs {
            FrameShape::Stub
        } else if body.bytes().starts_with(DEBUGGER_FRAMES.prologue) {
            FrameShape::Prologue
        } else {
            FrameShape::Framed
        }
    }
}

impl Frames {
    /// `is_relative`: addresses are written as distances, for sections that move with the code.
    pub fn new(is_relative: bool) -> Frames {
        let encoding = Encoding { format: Format::Dwarf32, version: 1, address_size: 8 };
        let mut cie =
            CommonInformationEntry::new(encoding, DEBUGGER_FRAMES.code_alignment_bytes, BYTES_OF_SLOT, RETURN_ADDRESS);
        cie.fde_address_encoding = if is_relative {
            constants::DW_EH_PE_pcrel | constants::DW_EH_PE_sdata4
        } else {
            constants::DW_EH_PE_absptr
        };
        cie.add_instruction(CallFrameInstruction::Cfa(STACK_POINTER, PUSHED_BY_CALL_BYTES));
        if PUSHED_BY_CALL_BYTES != 0 {
            cie.add_instruction(CallFrameInstruction::Offset(RETURN_ADDRESS, RETURN_ADDRESS_OFFSET));
        }
        let mut table = FrameTable::default();
        let cie = table.add_cie(cie);
        Frames { table, cie }
    }

    /// `address`: of the body, or, if relative, its distance from the start of the section.
    pub fn add(&mut self, address: u64, len_bytes: u32, shape: FrameShape) {
        let mut entry = FrameDescriptionEntry::new(Address::Constant(address), len_bytes);
        let saved = [
            CallFrameInstruction::Offset(FRAME_POINTER, FRAME_POINTER_OFFSET),
            CallFrameInstruction::Offset(RETURN_ADDRESS, RETURN_ADDRESS_OFFSET),
        ];
        let mut add = |at, instruction| entry.add_instruction(at, instruction);
        match shape {
            FrameShape::Prologue => {
                let pushed = DEBUGGER_FRAMES.push_len_bytes;
                add(pushed, CallFrameInstruction::CfaOffset(FRAME_RECORD_BYTES));
                saved.into_iter().for_each(|instruction| add(pushed, instruction));
                add(DEBUGGER_FRAMES.prologue.len() as u32, CallFrameInstruction::CfaRegister(FRAME_POINTER));
            }
            FrameShape::Framed => {
                add(0, CallFrameInstruction::Cfa(FRAME_POINTER, FRAME_RECORD_BYTES));
                saved.into_iter().for_each(|instruction| add(0, instruction));
            }
            FrameShape::Stub => {}
        }
        self.table.add_fde(self.cie, entry);
    }

    /// The section, ended by an empty entry.
    pub fn into_section(self) -> Vec<u8> {
        let mut section = EhFrame(EndianVec::new(LittleEndian));
        if let Err(error) = self.table.write_eh_frame(&mut section) {
            saki_base::bug!("call frame information of a body cannot be written: {error}");
        }
        let mut bytes = section.0.into_vec();
        bytes.extend([0; 4]);
        bytes
    }
}

/// An `.eh_frame_hdr` (Linux Standard Base 10.6.2) for a section with one body. `frames_at` and `code_at`: distances in
/// bytes from the header's start; `entry_at`: that of the body's entry.
pub(crate) fn header(frames_at: i32, code_at: i32, entry_at: i32) -> [u8; 20] {
    const VERSION: u8 = 1;
    let relative = (constants::DW_EH_PE_pcrel | constants::DW_EH_PE_sdata4).0;
    let table = (constants::DW_EH_PE_datarel | constants::DW_EH_PE_sdata4).0;
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(&[VERSION, relative, constants::DW_EH_PE_udata4.0, table]);
    // Relative to the field itself, which lies behind the four bytes.
    for (at, value) in [(4, frames_at - 4), (8, 1), (12, code_at), (16, entry_at)] {
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// Offset of the first body's entry in a section: behind the common entry.
pub(crate) fn first_entry(section: &[u8]) -> i32 {
    let len_bytes = section.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    len_bytes as i32 + 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use gimli::{BaseAddresses, CfaRule, RegisterRule, UnwindContext, UnwindSection};

    #[test]
    fn rows_follow_the_prologue() {
        let mut frames = Frames::new(false);
        frames.add(0x5000, 100, FrameShape::Prologue);
        frames.add(0x6000, 64, FrameShape::Stub);
        let bytes = frames.into_section();
        let section = gimli::EhFrame::new(&bytes, LittleEndian);
        let check = |address, cfa: (Register, i64), is_saved: bool| {
            let mut context = UnwindContext::new();
            let row = section
                .unwind_info_for_address(
                    &BaseAddresses::default(),
                    &mut context,
                    address,
                    gimli::EhFrame::cie_from_offset,
                )
                .unwrap();
            let cfa: CfaRule<usize> = CfaRule::RegisterAndOffset { register: cfa.0, offset: cfa.1 };
            let frame_pointer = is_saved.then_some(RegisterRule::Offset(-16));
            assert_eq!((row.cfa(), row.register(FRAME_POINTER)), (&cfa, frame_pointer), "at {address:#x}");
            let return_address = (is_saved || PUSHED_BY_CALL_BYTES != 0).then_some(RegisterRule::Offset(-8));
            assert_eq!(row.register(RETURN_ADDRESS), return_address, "at {address:#x}");
        };
        let at_entry = (STACK_POINTER, i64::from(PUSHED_BY_CALL_BYTES));
        let pushed = 0x5000 + u64::from(DEBUGGER_FRAMES.push_len_bytes);
        check(0x5000, at_entry, false);
        check(pushed, (STACK_POINTER, 16), true);
        check(0x5000 + DEBUGGER_FRAMES.prologue.len() as u64, (FRAME_POINTER, 16), true);
        check(0x5063, (FRAME_POINTER, 16), true);
        check(0x6010, at_entry, false);
    }
}
