//! Copying out of a mapped file that another process may shorten.
//!
//! The kernel answers a read of a page that the file no longer has with SIGBUS. The copy here is one instruction
//! sequence with a known address, so the handler of that signal can send it to its error exit (`recover`): the same
//! technique as the kernel's own exception table for copies from user memory.
//!
//! Invariant: only SIGBUS is recovered, so a wrong address is still a crash. Left out: everything that reads a
//! mapping through a slice; such a read ends the process with the file's name (`unwind::fault`).

use crate::FaultContext;

// Each of the two files defines the three symbols below.
#[cfg(target_arch = "aarch64")]
#[path = "mapped_copy/aarch64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "mapped_copy/x86_64.rs"]
mod arch;

unsafe extern "C" {
    /// 0, or 1 from the error exit.
    fn saki_mapped_copy(into: *mut u8, source: *const u8, len: usize) -> u32;
    /// The only instruction that reads the source.
    #[link_name = "saki_mapped_copy_copying"]
    static COPYING: u8;
    /// The error exit. The stack is as at the entry.
    #[link_name = "saki_mapped_copy_failure"]
    static FAILURE: u8;
}

/// Copies `into.len()` bytes from `source`, memory of a file's mapping. `false`: the file has become shorter
/// meanwhile, and the contents of `into` are unspecified. The process's SIGBUS handler has to call [`recover`].
///
/// # Safety
/// `source` is the start of `into.len()` bytes of a readable mapping, which stays mapped during the call.
#[must_use]
pub unsafe fn copy(source: *const u8, into: &mut [u8]) -> bool {
    // SAFETY: the mapping is readable (or answered with SIGBUS) and stays; `into` is writable and, as a borrow,
    // apart from the mapping.
    unsafe { saki_mapped_copy(into.as_mut_ptr(), source, into.len()) == 0 }
}

/// Called by the handler of SIGBUS: if the fault is the one of [`copy`], the thread goes on at its error exit.
pub fn recover(context: &mut FaultContext) -> bool {
    let is_copying = context.signal() == libc::SIGBUS && context.pc() == (&raw const COPYING).addr();
    if is_copying {
        context.set_pc((&raw const FAILURE).addr());
    }
    is_copying
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{self, Disposition};
    use std::io::Write;

    fn handle(context: &mut FaultContext) -> Disposition {
        if recover(context) { Disposition::Handled } else { Disposition::PassOn }
    }

    #[test]
    fn a_file_that_was_shortened_is_an_error() {
        signal::install(libc::SIGBUS, handle).expect("installs the handler");
        let path = std::env::temp_dir().join(format!("saki-mapped-copy-{}", std::process::id()));
        let mut file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.as_mut().expect("a temporary file");
        let _ = std::fs::remove_file(&path);
        file.write_all(&[7; 10_000]).expect("writes the file");
        let bytes = crate::file_map::map_for_ever(file).expect("maps the file");
        let mut copied = [0; 10_000];
        // SAFETY: mapped for ever.
        assert!(unsafe { copy(bytes.as_ptr(), &mut copied) });
        assert_eq!(copied, [7; 10_000]);
        file.set_len(4096).expect("shortens the file");
        // SAFETY: mapped for ever; its first page is in the file.
        assert!(unsafe { copy(bytes.as_ptr(), &mut copied[..4096]) }, "the first page is left");
        // SAFETY: mapped for ever; SIGBUS for the second page is answered by `recover`.
        assert!(!unsafe { copy(bytes.as_ptr(), &mut copied) }, "the second page is gone");
        // SAFETY: no byte is read.
        assert!(unsafe { copy(bytes.as_ptr(), &mut []) });
    }
}
