//! Whether an interrupted thread may have a lock of its C library: its allocator's above all.
//!
//! A thread may have one while it executes the library's code or the allocator's. A thread that waits in a system call
//! for something to happen has none that the runtime wants: under its lock the allocator makes no system calls but
//! those that ask for memory.
//!
//! Left out: locks of the C library that code outside of it holds (`flockfile`), allocators in the host's own file, and
//! a handler of another signal that has interrupted the allocator.

use crate::fault_context::FaultContext;
use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// Where a file's code lies: first address and the one behind.
type Range = (usize, usize);

/// The code of the C library, and of the library that `malloc` is in: twice the same range if that is one library.
static CODE: OnceLock<[Range; 2]> = OnceLock::new();

/// Finds where the code lies. Not async-signal-safe; before this, [`may_hold_lock`] says no.
pub fn find_code() {
    CODE.get_or_init(|| [c"getpid", c"malloc"].map(code_around));
}

/// The code of the file that has the function; empty if it is unknown.
fn code_around(function: &CStr) -> Range {
    // SAFETY: a name that ends in NUL.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, function.as_ptr()) };
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: room for the answer.
    if unsafe { libc::dladdr(address, info.as_mut_ptr()) } == 0 {
        return (0, 0);
    }
    // SAFETY: filled, as the result says.
    let info = unsafe { info.assume_init() };
    let mut found = Found { base: info.dli_fbase.addr(), code: (0, 0) };
    // SAFETY: `visit` takes what is given.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found.code
}

struct Found {
    base: usize,
    code: Range,
}

/// Keeps the executable segment of the file whose base is looked for.
///
/// # Safety
/// Called by `dl_iterate_phdr` with a `Found`.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
    // SAFETY: the list's entry, and the value that was given with the function.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Found>()) };
    if info.dlpi_addr as usize != found.base {
        return 0;
    }
    // SAFETY: so many headers of a file that is loaded.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) };
    for header in headers {
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
            let start = found.base + header.p_vaddr as usize;
            found.code = (start, start + header.p_memsz as usize);
        }
    }
    1
}

/// Whether the thread that a signal interrupted may have a lock of the C library. Async-signal-safe.
pub fn may_hold_lock(context: &FaultContext) -> bool {
    let is_inside = |&(start, end): &Range| (start..end).contains(&context.pc());
    CODE.get().is_some_and(|code| code.iter().any(is_inside)) && !context.waits_in_system_call()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_librarys_code_is_found() {
        find_code();
        let [library, allocator] = *CODE.get().expect("found");
        // SAFETY: a name that ends in NUL.
        let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"qsort".as_ptr()) }.addr();
        assert!((library.0..library.1).contains(&function));
        assert!(!(library.0..library.1).contains(&(find_code as *const ()).addr()));
        assert_ne!(allocator, (0, 0));
    }
}
