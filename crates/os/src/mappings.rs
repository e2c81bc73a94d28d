//! What is mapped at an address, for reports of signals.
//!
//! Invariant: `file_at` is async-signal-safe: system calls and the caller's buffer alone. Left out: every other use of
//! `/proc/self/maps`, which `std::fs` serves.

use std::ffi::CStr;
use std::ops::Range;

const MAPS: &CStr = c"/proc/self/maps";
/// A path and what stands before it.
const MAX_LINE_BYTES: usize = libc::PATH_MAX as usize + 256;

/// The path of the file that is mapped at `address`, as the kernel writes it (proc(5)), in `buffer`. `None`: no file,
/// a longer path than the buffer holds, or no `/proc`.
pub fn file_at(address: usize, buffer: &mut [u8]) -> Option<&[u8]> {
    let len = with_maps(|file| find_line(file, address, buffer))?;
    let line = &buffer[..len];
    // "start-end permissions offset device inode   path"
    let path_at = line.iter().position(|&byte| byte == b'/')?;
    Some(&line[path_at..])
}

/// The addresses of the mapping that `address` lies in. `None`: there is none, or no `/proc`. Not for signal handlers.
pub fn range_at(address: usize) -> Option<Range<usize>> {
    let mut buffer = vec![0; MAX_LINE_BYTES];
    let len = with_maps(|file| find_line(file, address, &mut buffer))?;
    range_of(&buffer[..len])
}

/// Opens the list for `read`.
fn with_maps<R>(read: impl FnOnce(i32) -> Option<R>) -> Option<R> {
    // SAFETY: a path that ends with a zero byte.
    let file = unsafe { libc::open(MAPS.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return None;
    }
    let found = read(file);
    // SAFETY: opened above, used by nobody else.
    unsafe { libc::close(file) };
    found
}

/// Reads line by line into `buffer`; the length of the line whose range holds `address`.
fn find_line(file: i32, address: usize, buffer: &mut [u8]) -> Option<usize> {
    let mut chunk = [0_u8; 512];
    let mut len = 0;
    loop {
        // SAFETY: the buffer is valid for its length.
        let count = unsafe { libc::read(file, chunk.as_mut_ptr().cast(), chunk.len()) };
        let read = chunk.get(..usize::try_from(count).ok()?)?;
        if read.is_empty() {
            return None;
        }
        for &byte in read {
            if byte != b'\n' {
                // What does not fit is dropped; the range stands at the start of the line.
                if let Some(place) = buffer.get_mut(len) {
                    *place = byte;
                }
                len += 1;
                continue;
            }
            if buffer.get(..len).is_some_and(|line| range_of(line).is_some_and(|range| range.contains(&address))) {
                return Some(len);
            }
            len = 0;
        }
    }
}

/// The range of addresses at the start of a line.
fn range_of(line: &[u8]) -> Option<Range<usize>> {
    let text = std::str::from_utf8(line.get(..line.iter().position(|&byte| byte == b' ')?)?).ok()?;
    let (start, end) = text.split_once('-')?;
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::file_at;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn code_lies_in_the_executable_and_the_stack_in_no_file() {
        let mut buffer = [0; 4096];
        let own = std::env::current_exe().expect("has a path");
        assert_eq!(file_at(super::find_line as *const () as usize, &mut buffer), Some(own.as_os_str().as_bytes()));
        let local = 0_u8;
        assert_eq!(file_at((&raw const local).addr(), &mut buffer), None);
        assert_eq!(file_at(0, &mut buffer), None);
    }

    #[test]
    fn the_mapping_of_a_local_is_the_stack() {
        let local = 0_u8;
        let range = super::range_at((&raw const local).addr()).expect("mapped");
        assert!(range.contains(&(&raw const local).addr()) && range.start.is_multiple_of(4096));
        assert_eq!(super::range_at(0), None);
    }

    #[test]
    fn a_path_that_does_not_fit_is_left_out() {
        assert_eq!(file_at(super::find_line as *const () as usize, &mut [0; 40]), None);
    }
}
