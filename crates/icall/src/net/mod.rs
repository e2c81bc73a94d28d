//! System.Net (System.dll): sockets and name resolution.
//!
//! Left out: Socket.Duplicate_internal, the peer credentials of Unix sockets.

pub mod dns;
mod local_connect;
pub(crate) mod look_ups;
pub mod socket;
mod socket_addresses;
mod socket_errors;
pub mod socket_options;
pub mod socket_select;
pub mod socket_transfer;
mod sockets;
pub mod tls;

pub(crate) use socket::CORRECTIONS;
