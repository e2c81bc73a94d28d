//! The functions that stand in for those of libSystem.Native in which a thread may wait: the thread parks.
//!
//! Each calls the library's own function for the attempt, so that conversions of addresses, flags and error numbers are
//! the library's. Compiled code calls them as native code, in which the first attempt is made; a thread that has to
//! wait returns to managed state, parks, and makes the further attempts there. Pointers may lead to the thread's own
//! stack, which only the thread itself touches.
//!
//! Where waits block (`saki_reactor::waits_park`), each calls the library's function and does nothing else. Invariant:
//! a result is one that the library's function gives. Left out: functions that do not wait (docs/design/io.md lists
//! them).
//!
//! The files from the bottom up: `original` (in this file), `errors`, `descriptors`, `waiting`; `files`, `sockets`,
//! `connections`, `polls` and `names` have the functions.

mod connections;
mod descriptors;
mod errors;
mod files;
mod names;
mod polls;
mod sockets;
mod waiting;

use connections::MessageHeader;
use names::HostEntry;
use polls::{PollEvent, SocketEvent};
use saki_runtime::OwnFunction;

/// Defines the table, and in `original` the library's functions. A function of another signature than its row's does
/// not compile.
macro_rules! replaced {
    ($($name:ident = $entry:literal ($($param:ident: $ty:ty),*) -> $ret:ty, by $own:path;)*) => {
        /// The functions of the library for which those of the table stand in.
        mod original {
            use super::connections::MessageHeader;
            use super::names::HostEntry;
            use super::polls::{PollEvent, SocketEvent};
            use std::sync::atomic::{AtomicUsize, Ordering};

            /// Stored before compiled code gets the address of the function that stands in.
            fn address(cell: &AtomicUsize, entry: &str) -> usize {
                // Acquire: pairs with the Release of the resolver.
                match cell.load(Ordering::Acquire) {
                    0 => saki_base::bug!("a call of {entry} without the library's function"),
                    address => address,
                }
            }

            /// The addresses, each 0 until the resolver stores it.
            #[expect(non_upper_case_globals, reason = "named after the functions")]
            pub(super) mod cell {
                $(pub(in super::super) static $name: super::AtomicUsize = super::AtomicUsize::new(0);)*
            }

            $(
                #[doc = concat!("`", $entry, "`.\n\n# Safety\nThe arguments are those of a call of that function.")]
                pub(super) unsafe fn $name($($param: $ty),*) -> $ret {
                    type Function = unsafe extern "C" fn($($ty),*) -> $ret;
                    // SAFETY: the library's function of this name, which has this signature.
                    let function: Function = unsafe { std::mem::transmute(address(&cell::$name, $entry)) };
                    // SAFETY: the arguments are those of a call of this function.
                    unsafe { function($($param),*) }
                }
            )*
        }

        $(const _: unsafe extern "C" fn($($ty),*) -> $ret = $own;)*

        /// See the module header.
        pub static OWN_FUNCTIONS: &[OwnFunction] = &[
            $(OwnFunction {
                library: "libSystem.Native",
                name: $entry,
                address: $own as *const (),
                original: Some(&original::cell::$name),
            },)*
        ];
    };
}

replaced! {
    accept = "SystemNative_Accept"(socket: isize, address: *mut u8, address_len: *mut i32, accepted: *mut isize) -> i32,
        by connections::accept;
    close = "SystemNative_Close"(fd: isize) -> i32, by descriptors::close;
    connect = "SystemNative_Connect"(socket: isize, address: *mut u8, address_len: i32) -> i32,
        by connections::connect;
    dup = "SystemNative_Dup"(fd: isize) -> isize, by descriptors::dup;
    get_is_non_blocking = "SystemNative_FcntlGetIsNonBlocking"(fd: isize, is_non_blocking: *mut i32) -> i32,
        by descriptors::get_is_non_blocking;
    set_is_non_blocking = "SystemNative_FcntlSetIsNonBlocking"(fd: isize, is_non_blocking: i32) -> i32,
        by descriptors::set_is_non_blocking;
    get_host_entry_for_name = "SystemNative_GetHostEntryForName"(
        name: *const u8, family: i32, entry: *mut HostEntry
    ) -> i32, by names::get_host_entry_for_name;
    get_name_info = "SystemNative_GetNameInfo"(
        address: *const u8, address_len: i32, is_ipv6: i8, host: *mut u8, host_len: i32, service: *mut u8,
        service_len: i32, flags: i32
    ) -> i32, by names::get_name_info;
    poll = "SystemNative_Poll"(events: *mut PollEvent, count: u32, timeout_ms: i32, triggered: *mut u32) -> i32,
        by polls::poll;
    read = "SystemNative_Read"(fd: isize, buffer: *mut u8, len: i32) -> i32, by files::read;
    read_stdin = "SystemNative_ReadStdin"(buffer: *mut u8, len: i32) -> i32, by files::read_stdin;
    receive = "SystemNative_Receive"(socket: isize, buffer: *mut u8, len: i32, flags: i32, received: *mut i32) -> i32,
        by sockets::receive;
    receive_message = "SystemNative_ReceiveMessage"(
        socket: isize, header: *mut MessageHeader, flags: i32, received: *mut i64
    ) -> i32, by sockets::receive_message;
    send = "SystemNative_Send"(socket: isize, buffer: *mut u8, len: i32, flags: i32, sent: *mut i32) -> i32,
        by sockets::send;
    send_file = "SystemNative_SendFile"(socket: isize, file: isize, offset: i64, count: i64, sent: *mut i64) -> i32,
        by sockets::send_file;
    send_message = "SystemNative_SendMessage"(
        socket: isize, header: *mut MessageHeader, flags: i32, sent: *mut i64
    ) -> i32, by sockets::send_message;
    socket = "SystemNative_Socket"(family: i32, kind: i32, protocol: i32, created: *mut isize) -> i32,
        by descriptors::socket;
    wait_for_socket_events = "SystemNative_WaitForSocketEvents"(
        port: isize, events: *mut SocketEvent, count: *mut i32
    ) -> i32, by polls::wait_for_socket_events;
    write = "SystemNative_Write"(fd: isize, buffer: *const u8, len: i32) -> i32, by files::write;
}
