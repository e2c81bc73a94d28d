//! Random bytes from the kernel.
//!
//! Invariant: `fill` fills the whole buffer or returns an error. Left out: generators.

use std::io::{self, Read};

/// Fills the buffer with random bytes fit for keys.
pub fn fill(buffer: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        let rest = &mut buffer[filled..];
        // SAFETY: `rest` is writable for its length.
        let n = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        if n >= 0 {
            filled += n as usize;
            continue;
        }
        match crate::error::errno() {
            libc::EINTR => {}
            // A filter of system calls forbids it.
            libc::ENOSYS | libc::EPERM => return std::fs::File::open("/dev/urandom")?.read_exact(rest),
            _ => return Err(crate::error::last_error()),
        }
    }
    Ok(())
}

/// One random word.
pub fn word() -> io::Result<u64> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_words_differ() {
        assert_ne!(super::word().unwrap(), super::word().unwrap());
    }
}
