//! The functions of libSystem.Native for which ours stand in, by the addresses that the resolver stores before compiled
//! code gets those of ours.

use super::structures::{HostEntry, MessageHeader, PollEvent, SocketEvent};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

fn address(cell: &AtomicUsize, entry: &str) -> usize {
    // Acquire: pairs with the Release of the resolver.
    match cell.load(Ordering::Acquire) {
        0 => saki_base::bug!("a call of {entry} without the library's function"),
        address => address,
    }
}

/// Defines for each function one that calls it, its signature, its name and the cell of its address.
macro_rules! originals {
    ($($name:ident = $entry:literal ($($param:ident: $ty:ty),*) -> $ret:ty;)*) => {
        $(
            #[doc = concat!("`", $entry, "`.\n\n# Safety\nThe arguments are those of a call of that function.")]
            pub(super) unsafe fn $name($($param: $ty),*) -> $ret {
                // SAFETY: the library's function of this name, which has this signature.
                let function: signature::$name = unsafe { std::mem::transmute(address(&cell::$name, $entry)) };
                // SAFETY: the arguments are those of a call of this function.
                unsafe { function($($param),*) }
            }
        )*

        /// The types of the functions.
        #[expect(non_camel_case_types, reason = "named after the functions")]
        pub(super) mod signature {
            use super::{HostEntry, MessageHeader, PollEvent, SocketEvent};
            $(pub(in super::super) type $name = unsafe extern "C" fn($($ty),*) -> $ret;)*
        }

        /// The names of the functions.
        #[expect(non_upper_case_globals, reason = "named after the functions")]
        pub(super) mod entry {
            $(pub(in super::super) const $name: &str = $entry;)*
        }

        /// The addresses, each 0 until the resolver stores it.
        #[expect(non_upper_case_globals, reason = "named after the functions")]
        pub(super) mod cell {
            use super::AtomicUsize;
            $(pub(in super::super) static $name: AtomicUsize = AtomicUsize::new(0);)*
        }
    };
}

originals! {
    accept = "SystemNative_Accept"(socket: isize, address: *mut u8, address_len: *mut i32, accepted: *mut isize) -> i32;
    close = "SystemNative_Close"(fd: isize) -> i32;
    connect = "SystemNative_Connect"(socket: isize, address: *mut u8, address_len: i32) -> i32;
    dup = "SystemNative_Dup"(fd: isize) -> isize;
    get_is_non_blocking = "SystemNative_FcntlGetIsNonBlocking"(fd: isize, is_non_blocking: *mut i32) -> i32;
    set_is_non_blocking = "SystemNative_FcntlSetIsNonBlocking"(fd: isize, is_non_blocking: i32) -> i32;
    get_host_entry_for_name = "SystemNative_GetHostEntryForName"(
        name: *const u8, family: i32, entry: *mut HostEntry
    ) -> i32;
    get_name_info = "SystemNative_GetNameInfo"(
        address: *const u8, address_len: i32, is_ipv6: i8, host: *mut u8, host_len: i32, service: *mut u8,
        service_len: i32, flags: i32
    ) -> i32;
    poll = "SystemNative_Poll"(events: *mut PollEvent, count: u32, timeout_ms: i32, triggered: *mut u32) -> i32;
    read = "SystemNative_Read"(fd: isize, buffer: *mut u8, len: i32) -> i32;
    read_stdin = "SystemNative_ReadStdin"(buffer: *mut u8, len: i32) -> i32;
    receive = "SystemNative_Receive"(socket: isize, buffer: *mut u8, len: i32, flags: i32, received: *mut i32) -> i32;
    receive_message = "SystemNative_ReceiveMessage"(
        socket: isize, header: *mut MessageHeader, flags: i32, received: *mut i64
    ) -> i32;
    send = "SystemNative_Send"(socket: isize, buffer: *mut u8, len: i32, flags: i32, sent: *mut i32) -> i32;
    send_file = "SystemNative_SendFile"(socket: isize, file: isize, offset: i64, count: i64, sent: *mut i64) -> i32;
    send_message = "SystemNative_SendMessage"(
        socket: isize, header: *mut MessageHeader, flags: i32, sent: *mut i64
    ) -> i32;
    socket = "SystemNative_Socket"(family: i32, kind: i32, protocol: i32, created: *mut isize) -> i32;
    wait_for_socket_events = "SystemNative_WaitForSocketEvents"(
        port: isize, events: *mut SocketEvent, count: *mut i32
    ) -> i32;
    write = "SystemNative_Write"(fd: isize, buffer: *const u8, len: i32) -> i32;
}

/// The library's conversion of error numbers, which is not among the functions that compiled code has asked for; 0
/// until it is first used. Release, read with Acquire.
static CONVERT: AtomicUsize = AtomicUsize::new(0);

/// The library's number of a system error.
pub(super) fn of_errno(errno: i32) -> i32 {
    // Acquire: pairs with the Release below.
    let known = CONVERT.load(Ordering::Acquire);
    let address = if known == 0 { find_conversion() } else { known };
    // Release: pairs with the Acquire above.
    CONVERT.store(address, Ordering::Release);
    // SAFETY: the library's function of this name, which has this signature.
    let convert: extern "C" fn(i32) -> i32 = unsafe { std::mem::transmute(address) };
    convert(errno)
}

fn find_conversion() -> usize {
    // Any function of the library leads to its file. Acquire: pairs with the Release of the resolver.
    let loaded = [&cell::connect, &cell::receive, &cell::send, &cell::poll, &cell::accept];
    let known = loaded.iter().map(|cell| cell.load(Ordering::Acquire)).find(|&address| address != 0).unwrap_or(0);
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address, and room for what is known of it.
    let found = unsafe { libc::dladdr(known as *const c_void, info.as_mut_ptr()) } != 0;
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
    address.addr()
}
