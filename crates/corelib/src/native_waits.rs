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
//! The files from the bottom up: `structures`, `original`, `errors`, `descriptors`, `waiting`; `files`, `sockets`,
//! `connections`, `polls` and `names` have the functions.

mod connections;
mod descriptors;
mod errors;
mod files;
mod names;
mod original;
mod polls;
mod sockets;
mod structures;
mod waiting;

use saki_runtime::OwnFunction;

/// Defines the table. A function of another signature than the library's does not compile.
macro_rules! table {
    ($($name:ident by $own:path,)*) => {
        $(const _: original::signature::$name = $own;)*

        /// See the module header.
        pub static OWN_FUNCTIONS: &[OwnFunction] = &[
            $(OwnFunction {
                library: "libSystem.Native",
                name: original::entry::$name,
                address: $own as *const (),
                original: Some(&original::cell::$name),
            },)*
        ];
    };
}

table! {
    accept by connections::accept,
    close by descriptors::close,
    connect by connections::connect,
    dup by descriptors::dup,
    get_is_non_blocking by descriptors::get_is_non_blocking,
    set_is_non_blocking by descriptors::set_is_non_blocking,
    get_host_entry_for_name by names::get_host_entry_for_name,
    get_name_info by names::get_name_info,
    poll by polls::poll,
    read by files::read,
    read_stdin by files::read_stdin,
    receive by sockets::receive,
    receive_message by sockets::receive_message,
    send by sockets::send,
    send_file by sockets::send_file,
    send_message by sockets::send_message,
    socket by descriptors::socket,
    wait_for_socket_events by polls::wait_for_socket_events,
    write by files::write,
}
