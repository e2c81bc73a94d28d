//! Descriptions of compiled code for profilers and debuggers, on request: perf maps, jitdump files, gdb's JIT interface.
//!
//! `install` makes an observer of the code heap (`saki_code::observe`); without it the heap pays one branch for each body it
//! places. The observer sees all code that is placed: compiled bodies, bodies from the code cache, thunks, wrappers, chunks of
//! entry stubs; and dynamic methods that end are taken out again.
//!
//! Invariant: before a body can be called, each of the tools has its description. When a file cannot be written any more, its tool
//! ends with one line on standard error; the program goes on. Left out: line tables for gdb; where in a frame callee-saved
//! registers other than rbp lie, since walks need rbp only; the one instruction of an epilogue after `pop rbp`.

mod elf;
mod frames;
mod gdb;
mod jitdump;
mod options;
mod perf_map;

pub use options::{BadRequest, Request};

use saki_code::{CodeInfo, CodeKind, CodeObserver};
use std::borrow::Cow;
use std::io;
use std::ops::Range;

/// The source position of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// In bytes from the start of the body; the line holds up to the next entry.
    pub native_offset: u32,
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// Source lines of a body, sorted by offset; empty without symbols.
pub type FindLines = fn(&CodeInfo) -> Vec<SourceLine>;

struct Tools {
    perf_map: Option<perf_map::PerfMap>,
    jitdump: Option<jitdump::JitDump>,
    gdb: Option<gdb::GdbInterface>,
    find_lines: FindLines,
}

/// Opens the requested outputs. To be called once per process, before the first code is placed.
///
/// # Errors
/// Files that cannot be made.
pub fn install(request: &Request, find_lines: FindLines) -> io::Result<()> {
    if request.is_empty() {
        return Ok(());
    }
    let tools = Tools {
        perf_map: request.perf_map.then(perf_map::PerfMap::create).transpose()?,
        jitdump: request.jitdump.as_deref().map(jitdump::JitDump::create).transpose()?,
        gdb: request.gdb.then(gdb::GdbInterface::default),
        find_lines,
    };
    saki_code::observe(Box::leak(Box::new(tools)));
    Ok(())
}

/// The name of a body, without characters that end a line or a name.
fn display_name(info: &CodeInfo) -> Cow<'_, str> {
    let suffix = match info.kind {
        CodeKind::Method | CodeKind::HelperThunk | CodeKind::EntryThunk | CodeKind::Stub => "",
        CodeKind::Filter => " [filter]",
        CodeKind::NativeThunk => " [native call]",
    };
    if suffix.is_empty() && !info.name.contains(['\n', '\0']) {
        return Cow::Borrowed(&info.name);
    }
    Cow::Owned(info.name.replace(['\n', '\0'], " ") + suffix)
}

/// The name of a chunk of entry stubs, unboxing stubs and veneers.
const STUBS_NAME: &str = "saki entry stubs";

impl CodeObserver for Tools {
    fn placed(&self, info: &CodeInfo) {
        let name = display_name(info);
        let body = Body { start: info.start, len_bytes: info.len_bytes as usize, name: &name, is_stubs: false };
        if let Some(map) = &self.perf_map {
            map.add(&body);
        }
        if let Some(dump) = &self.jitdump {
            dump.add(&body, &(self.find_lines)(info));
        }
        if let Some(gdb) = &self.gdb {
            gdb.add(&body);
        }
    }

    fn stubs_placed(&self, range: Range<usize>) {
        let body = Body { start: range.start, len_bytes: range.len(), name: STUBS_NAME, is_stubs: true };
        if let Some(map) = &self.perf_map {
            map.add(&body);
        }
        if let Some(dump) = &self.jitdump {
            dump.add(&body, &[]);
        }
        if let Some(gdb) = &self.gdb {
            gdb.add(&body);
        }
    }

    fn removed(&self, info: &CodeInfo) {
        // The map and the dump keep the body, for samples taken before, until its memory is reused.
        if let Some(gdb) = &self.gdb {
            gdb.remove(info.start);
        }
    }
}

/// Code as the tools see it.
struct Body<'a> {
    start: usize,
    len_bytes: usize,
    name: &'a str,
    /// No frames: the caller's return address is on top of the stack.
    is_stubs: bool,
}

impl Body<'_> {
    /// Entry stubs are written one by one after their chunk was announced; other code does not change.
    fn bytes(&self) -> &[u8] {
        // SAFETY: the heap announces bodies that it has written, in its readable view, which is never unmapped.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.len_bytes) }
    }
}

/// Reports once that a tool gets no more descriptions.
fn give_up(what: &str, error: &io::Error) {
    eprintln!("saki: {what}: {error}; nothing more is written to it");
}
