//! `perf-PID.map`: a line "START SIZE NAME" for each body, numbers in hexadecimal, which `perf report` and others read.
//!
//! The format has no times. When the memory of a body is reused, the line of the old body is therefore overwritten with
//! newlines: the file describes the code at the end of the run. Profiles of programs that make many short-lived methods
//! need the jitdump.

use crate::body::DescribedCode;
use crate::options::DEFAULT_DIRECTORY;
use crate::output_file::{create_new, give_up};
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The file, for all threads.
pub(crate) struct PerfMap(Mutex<rank::PerfMap, Option<Lines>>);

struct Lines {
    file: File,
    len_bytes: u64,
    /// By start address: where the line is in the file and how long.
    lines: FxHashMap<usize, (u64, usize)>,
}

impl PerfMap {
    /// A new map of this process where perf looks for it. Errors: the system's.
    pub fn create() -> io::Result<PerfMap> {
        let path = format!("{DEFAULT_DIRECTORY}/perf-{}.map", std::process::id());
        let file = create_new(path.as_ref())?;
        Ok(PerfMap(Mutex::new(Some(Lines { file, len_bytes: 0, lines: FxHashMap::default() }))))
    }

    /// Appends a line for the code.
    pub fn add(&self, body: &DescribedCode) {
        let mut guard = self.0.lock();
        let Some(lines) = guard.as_mut() else { return };
        if let Err(error) = lines.add(body) {
            give_up("perf map", &error);
            *guard = None;
        }
    }
}

impl Lines {
    fn add(&mut self, body: &DescribedCode) -> io::Result<()> {
        let line = format!("{:x} {:x} {}\n", body.start, body.len_bytes, body.name);
        if let Some((at, len_bytes)) = self.lines.insert(body.start, (self.len_bytes, line.len())) {
            self.file.write_all_at(&vec![b'\n'; len_bytes], at)?;
        }
        self.file.write_all_at(line.as_bytes(), self.len_bytes)?;
        self.len_bytes += line.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_in_used_room_takes_the_older_line_out() {
        let path = std::env::temp_dir().join(format!("perf-map-test-{}", std::process::id()));
        let mut lines = Lines { file: create_new(&path).unwrap(), len_bytes: 0, lines: FxHashMap::default() };
        for (start, name) in [(0x1000, "first"), (0x2000, "other"), (0x1000, "second")] {
            lines.add(&DescribedCode { start, len_bytes: 32, name, is_stubs: false }).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, ["2000 20 other", "1000 20 second"]);
    }
}
