//! `jit-PID.dump`: code, names, lines and frames in the order in which they came, for `perf inject --jit`.
//!
//! Format: Linux, tools/perf/Documentation/jitdump-specification.txt, version 1. Times are those of CLOCK_MONOTONIC
//! (`perf record -k mono`). perf finds the file because a page of it is mapped executable. Each record is written
//! immediately, so that a process that is killed leaves a readable file.

use crate::body::{DescribedCode, SourceLine};
use crate::frames::{self, FrameShape, Frames};
use crate::output_file::{create_new, give_up};
use saki_base::locks::{Mutex, rank};
use saki_code::DEBUGGER_FRAMES;
use saki_os::ExitStage;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

const MAGIC: u32 = 0x4A69_5444; // "JiTD"
const VERSION: u32 = 1;
const HEADER_BYTES: u32 = 40;

/// Record identifiers.
const CODE_LOAD: u32 = 0;
const CODE_DEBUG_INFO: u32 = 2;
const CODE_CLOSE: u32 = 3;
const CODE_UNWINDING_INFO: u32 = 4;

const PREFIX_BYTES: usize = 16;

/// The file, for all threads.
pub(crate) struct JitDump(Mutex<rank::JitDump, Option<Output>>);

struct Output {
    file: File,
    next_index: u64,
}

/// The file, to which an end record is written when the process exits.
static CLOSED_AT_EXIT: OnceLock<File> = OnceLock::new();

impl JitDump {
    /// A new file in the folder, with its header. Errors: the system's.
    pub fn create(directory: &Path) -> io::Result<JitDump> {
        let mut file = create_new(&directory.join(format!("jit-{}.dump", std::process::id())))?;
        let mut header = Vec::new();
        for word in [MAGIC, VERSION, HEADER_BYTES, DEBUGGER_FRAMES.elf_machine.into(), 0, std::process::id()] {
            header.extend(word.to_le_bytes());
        }
        header.extend(saki_os::clock::monotonic_ns().to_le_bytes());
        header.extend(0_u64.to_le_bytes()); // flags
        file.write_all(&header)?;
        saki_os::file_map::map_executable_page(&file)?;
        if CLOSED_AT_EXIT.set(file.try_clone()?).is_ok() {
            fn close() {
                if let Some(mut file) = CLOSED_AT_EXIT.get() {
                    // The file is good without it.
                    let _ = file.write_all(&Record::new(CODE_CLOSE).finish());
                }
            }
            saki_os::at_exit(ExitStage::JitDump, close);
        }
        Ok(JitDump(Mutex::new(Some(Output { file, next_index: 0 }))))
    }

    /// Appends the code, with its lines and how it is unwound.
    pub fn add(&self, body: &DescribedCode, lines: &[SourceLine]) {
        let mut guard = self.0.lock();
        let Some(output) = guard.as_mut() else { return };
        let mut records = Vec::new();
        // perf wants lines and frames before the code that they are for.
        if !lines.is_empty() {
            records.extend(debug_info(body, lines));
        }
        records.extend(unwinding_info(body));
        records.extend(code_load(body, output.next_index));
        output.next_index += 1;
        if let Err(error) = output.file.write_all(&records) {
            give_up("jitdump", &error);
            *guard = None;
        }
    }
}

/// A record whose size is filled in at the end.
struct Record(Vec<u8>);

impl Record {
    fn new(id: u32) -> Record {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend(id.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(saki_os::clock::monotonic_ns().to_le_bytes());
        debug_assert_eq!(bytes.len(), PREFIX_BYTES);
        Record(bytes)
    }

    fn u32(&mut self, value: u32) -> &mut Record {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u64(&mut self, value: u64) -> &mut Record {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Record {
        self.0.extend(bytes);
        self
    }

    fn text(&mut self, text: &str) -> &mut Record {
        self.bytes(text.as_bytes()).bytes(&[0])
    }

    fn finish(mut self) -> Vec<u8> {
        let len_bytes = self.0.len() as u32;
        self.0[4..8].copy_from_slice(&len_bytes.to_le_bytes());
        self.0
    }
}

fn code_load(body: &DescribedCode, index: u64) -> Vec<u8> {
    let mut record = Record::new(CODE_LOAD);
    record.u32(std::process::id()).u32(saki_os::thread::native_id());
    record.u64(body.start as u64).u64(body.start as u64).u64(body.len_bytes as u64).u64(index);
    record.text(body.name).bytes(body.bytes());
    record.finish()
}

fn debug_info(body: &DescribedCode, lines: &[SourceLine]) -> Vec<u8> {
    const NO_DISCRIMINATOR: u32 = 0;
    let mut record = Record::new(CODE_DEBUG_INFO);
    record.u64(body.start as u64).u64(lines.len() as u64);
    for line in lines {
        record.u64(body.start as u64 + u64::from(line.native_offset)).u32(line.position.line).u32(NO_DISCRIMINATOR);
        record.text(&line.position.file);
    }
    record.finish()
}

/// `.eh_frame` and `.eh_frame_hdr` as perf puts them behind the code, which it aligns to 8 bytes.
fn unwinding_info(body: &DescribedCode) -> Vec<u8> {
    let code_bytes = body.len_bytes.next_multiple_of(8);
    let mut frames = Frames::new(true);
    frames.add((code_bytes as u64).wrapping_neg(), body.len_bytes as u32, FrameShape::of(body));
    let mut section = frames.into_section();
    section.resize(section.len().next_multiple_of(8), 0);
    let frames_bytes = section.len() as i32;
    let header = frames::header(
        -frames_bytes,
        -(frames_bytes + code_bytes as i32),
        frames::first_entry(&section) - frames_bytes,
    );
    section.extend(header);
    let mut record = Record::new(CODE_UNWINDING_INFO);
    let (section_bytes, header_bytes) = (section.len() as u64, header.len() as u64);
    record.u64(section_bytes).u64(header_bytes).u64(section_bytes).bytes(&section);
    let padding = record.0.len().next_multiple_of(8) - record.0.len();
    record.bytes(&[0; 8][..padding]);
    record.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_begins_with_its_kind_and_whole_size() {
        let code = [0x55_u8, 0x48, 0x89, 0xe5, 0x5d, 0xc3];
        let body = DescribedCode { start: code.as_ptr() as usize, len_bytes: code.len(), name: "A:b", is_stubs: false };
        let record = code_load(&body, 7);
        let word = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
        assert_eq!((word(0), word(4) as usize), (CODE_LOAD, record.len()));
        assert_eq!(word(48), 7, "the code's index");
        assert_eq!(&record[56..], b"A:b\0\x55\x48\x89\xe5\x5d\xc3");
        let frames = unwinding_info(&body);
        assert_eq!(frames.len() % 8, 0);
    }
}
