//! The library's own allocator, which is not the host's: a collection holds threads of the host that may have a lock of
//! its allocator (`thread::hold`), and takes memory meanwhile. What the host frees comes from `malloc`.

use mimalloc::MiMalloc;
use std::ffi::{c_int, c_long};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// `mi_option_arena_eager_commit` of mimalloc.h: whether its first GiB of address space is committed at once, and gets
/// huge pages, of which little is used.
const ARENA_EAGER_COMMIT: c_int = 4;

unsafe extern "C" {
    fn mi_option_set_default(option: c_int, value: c_long);
}

extern "C" fn prepare() {
    // SAFETY: may be called at any time. A value of the environment comes before this one.
    unsafe { mi_option_set_default(ARENA_EAGER_COMMIT, 0) };
}

/// Before the first piece of memory is asked for.
#[used]
#[unsafe(link_section = ".init_array")]
static PREPARE: extern "C" fn() = prepare;
