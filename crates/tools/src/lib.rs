//! Descriptions of compiled code for profilers and debuggers, on request: perf maps, jitdump files, gdb's JIT
//! interface.
//!
//! `install` makes an observer of the code heap (`saki_code::observe`); without it the heap pays one branch for each
//! body it places. The observer sees all code that is placed: compiled bodies, bodies from the code cache, thunks,
//! wrappers, chunks of entry stubs; and dynamic methods that end are taken out again.
//!
//! From the bottom up: `body` (what is described), `options`, `output_file`; `frames`, `perf_map`; `elf`, `jitdump`;
//! `gdb`; this file, which tells them all.
//!
//! Invariant: before a body can be called, each of the tools has its description. When a file cannot be written any
//! more, its tool ends with one line on standard error; the program goes on. Left out: line tables for gdb; where in a
//! frame callee-saved registers other than rbp lie, since walks need rbp only; the one instruction of an epilogue after
//! `pop rbp`.

mod body;
mod elf;
mod frames;
mod gdb;
mod jitdump;
mod options;
mod output_file;
mod perf_map;

pub use body::SourceLine;
pub use options::{BadRequest, ToolsRequest};

use body::DescribedCode;
use saki_code::{CodeInfo, CodeKind, CodeObserver};
use std::io;
use std::ops::Range;

/// Source lines of a body, sorted by offset; empty without symbols.
pub type FindLines = fn(&CodeInfo) -> Vec<SourceLine>;

/// The name of a body, without the mark of its kind.
pub type NameOf = fn(&CodeInfo) -> String;

struct Tools {
    perf_map: Option<perf_map::PerfMap>,
    jitdump: Option<jitdump::JitDump>,
    gdb: Option<gdb::GdbInterface>,
    find_lines: FindLines,
    name_of: NameOf,
}

/// Opens the requested outputs. To be called once per process, before the first code is placed.
///
/// # Errors
/// Files that cannot be made.
pub fn install(request: &ToolsRequest, find_lines: FindLines, name_of: NameOf) -> io::Result<()> {
    if request.is_empty() {
        return Ok(());
    }
    if request.gdb {
        // Where it is forbidden, gdb still shows frames and has hardware breakpoints.
        let _ = saki_code::allow_breakpoints();
    }
    let tools = Tools {
        perf_map: request.perf_map.then(perf_map::PerfMap::create).transpose()?,
        jitdump: request.jitdump.as_deref().map(jitdump::JitDump::create).transpose()?,
        gdb: request.gdb.then(gdb::GdbInterface::default),
        find_lines,
        name_of,
    };
    saki_code::observe(Box::leak(Box::new(tools)));
    Ok(())
}

/// The name of a body, without characters that end a line or a name.
fn display_name(info: &CodeInfo, name_of: NameOf) -> String {
    let suffix = match info.kind {
        CodeKind::Method | CodeKind::HelperThunk | CodeKind::EntryThunk | CodeKind::Stub => "",
        CodeKind::Filter => " [filter]",
        CodeKind::NativeThunk => " [native call]",
    };
    name_of(info).replace(['\n', '\0'], " ") + suffix
}

/// The name of a chunk of entry stubs, unboxing stubs and veneers.
const STUBS_NAME: &str = "saki entry stubs";

impl CodeObserver for Tools {
    fn placed(&self, info: &CodeInfo) {
        let name = display_name(info, self.name_of);
        let body =
            DescribedCode { start: info.start, len_bytes: info.len_bytes as usize, name: &name, is_stubs: false };
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
        let body = DescribedCode { start: range.start, len_bytes: range.len(), name: STUBS_NAME, is_stubs: true };
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
