//! Call frame information (DWARF 5 §6.4) of Saki's frames, for `.eh_frame` sections.
//!
//! Each body begins with `push rbp; mov rbp, rsp` and keeps rbp until it returns, so three rows describe it. A stub has
//! no frame: one row.

use crate::body::DescribedCode;
use gimli::write::{
    Address, CallFrameInstruction, CieId, CommonInformationEntry, EhFrame, EndianVec, FrameDescriptionEntry, FrameTable,
};
use gimli::{Encoding, Format, LittleEndian, Register, X86_64, constants};

const RSP: Register = X86_64::RSP;
const RBP: Register = X86_64::RBP;
/// `push rbp`
const PUSH_LEN_BYTES: u32 = 1;
/// `push rbp; mov rbp, rsp`
const PROLOGUE: [u8; 4] = [0x55, 0x48, 0x89, 0xe5];
const ALIGNMENT_OF_CODE: u8 = 1;
const BYTES_OF_SLOT: i8 = -8;

/// Frames of several bodies.
pub(crate) struct Frames {
    table: FrameTable,
    cie: CieId,
}

/// How a body begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameShape {
    /// The usual prologue, then a frame by rbp.
    Prologue,
    /// A frame by rbp from the first instruction on, as far as known.
    Framed,
    /// Nothing but the return address.
    Stub,
}

impl FrameShape {
    /// The shape that the first instructions of the code show.
    pub fn of(body: &DescribedCode) -> FrameShape {
        if body.is_stubs {
            FrameShape::Stub
        } else if body.bytes().starts_with(&PROLOGUE) {
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
        let mut cie = CommonInformationEntry::new(encoding, ALIGNMENT_OF_CODE, BYTES_OF_SLOT, X86_64::RA);
        cie.fde_address_encoding = if is_relative {
            constants::DW_EH_PE_pcrel | constants::DW_EH_PE_sdata4
        } else {
            constants::DW_EH_PE_absptr
        };
        cie.add_instruction(CallFrameInstruction::Cfa(RSP, 8));
        cie.add_instruction(CallFrameInstruction::Offset(X86_64::RA, -8));
        let mut table = FrameTable::default();
        let cie = table.add_cie(cie);
        Frames { table, cie }
    }

    /// `address`: of the body, or, if relative, its distance from the start of the section.
    pub fn add(&mut self, address: u64, len_bytes: u32, shape: FrameShape) {
        let mut entry = FrameDescriptionEntry::new(Address::Constant(address), len_bytes);
        let saved_rbp = CallFrameInstruction::Offset(RBP, -16);
        match shape {
            FrameShape::Prologue => {
                entry.add_instruction(PUSH_LEN_BYTES, CallFrameInstruction::CfaOffset(16));
                entry.add_instruction(PUSH_LEN_BYTES, saved_rbp);
                entry.add_instruction(PROLOGUE.len() as u32, CallFrameInstruction::CfaRegister(RBP));
            }
            FrameShape::Framed => {
                entry.add_instruction(0, CallFrameInstruction::Cfa(RBP, 16));
                entry.add_instruction(0, saved_rbp);
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
        let check = |address, cfa: CfaRule<usize>, rbp: Option<RegisterRule<usize>>| {
            let mut context = UnwindContext::new();
            let row = section
                .unwind_info_for_address(
                    &BaseAddresses::default(),
                    &mut context,
                    address,
                    gimli::EhFrame::cie_from_offset,
                )
                .unwrap();
            assert_eq!((row.cfa(), row.register(RBP)), (&cfa, rbp), "at {address:#x}");
            assert_eq!(row.register(X86_64::RA), Some(RegisterRule::Offset(-8)));
        };
        check(0x5000, CfaRule::RegisterAndOffset { register: RSP, offset: 8 }, None);
        check(0x5001, CfaRule::RegisterAndOffset { register: RSP, offset: 16 }, Some(RegisterRule::Offset(-16)));
        check(0x5004, CfaRule::RegisterAndOffset { register: RBP, offset: 16 }, Some(RegisterRule::Offset(-16)));
        check(0x5063, CfaRule::RegisterAndOffset { register: RBP, offset: 16 }, Some(RegisterRule::Offset(-16)));
        check(0x6010, CfaRule::RegisterAndOffset { register: RSP, offset: 8 }, None);
    }
}
