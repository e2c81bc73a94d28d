//! Error numbers of libSystem.Native, which are the same on all systems (`Interop.Error` of the class library).

use super::original;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

pub(super) const SUCCESS: i32 = 0;
pub(super) const AGAIN: i32 = 0x1_0006;
pub(super) const IN_PROGRESS: i32 = 0x1_001A;
pub(super) const INTERRUPTED: i32 = 0x1_001B;

type Convert = extern "C" fn(i32) -> i32;

/// The library's number of a system error.
pub(super) fn of_errno(errno: i32) -> i32 {
    static CONVERT: OnceLock<Convert> = OnceLock::new();
    CONVERT.get_or_init(find_convert)(errno)
}

/// The library's conversion, which is not among the functions that compiled code has asked for.
fn find_convert() -> Convert {
    // Acquire: pairs with the Release of the resolver. Failing connects alone ask.
    let known = original::cell::connect.load(Ordering::Acquire) as *const c_void;
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address, and room for what is known of it.
    let found = unsafe { libc::dladdr(known, info.as_mut_ptr()) } != 0;
    // SAFETY: all-zero, or filled in.
    let file = unsafe { info.assume_init() }.dli_fname;
    let name = c"SystemNative_ConvertErrorPlatformToPal";
    let address = match found && !file.is_null() {
        // SAFETY: the name of a library's file, which is open already, and of a function; both NUL-terminated.
        true => unsafe { libc::dlsym(libc::dlopen(file, libc::RTLD_LAZY | libc::RTLD_NOLOAD), name.as_ptr()) },
        false => std::ptr::null_mut(),
    };
    if address.is_null() {
        saki_base::bug!("libSystem.Native does not convert error numbers");
    }
    // SAFETY: the library's function of this name, which has this signature.
    unsafe { std::mem::transmute::<*mut c_void, Convert>(address) }
}
