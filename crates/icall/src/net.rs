//! System.Net (System.dll): sockets and name resolution.
//!
//! Left out: Socket.Duplicate_internal, the peer credentials of Unix sockets.

pub mod dns;
mod local_connect;
pub mod look_ups;
mod socket_addresses;
pub mod socket_calls;
pub mod socket_connections;
mod socket_errors;
pub mod socket_options;
pub mod socket_select;
mod socket_table;
pub mod socket_transfers;
mod socket_waits;
pub mod tls;

pub(crate) use socket_calls::CORRECTIONS;
