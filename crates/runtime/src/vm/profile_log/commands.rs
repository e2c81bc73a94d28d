//! The command server: `port=`. A client that connects and sends the line "heapshot" causes all live objects to be
//! written to the log, as under Mono.
//!
//! Invariant: the server listens on the loopback address only, where Mono listens on all addresses: a client can stop
//! the program for the length of a collection, as often as it likes.

use saki_os::services::{self, Service};
use std::io::{self, BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// The maximum length of a line; longer lines are not commands.
const MAX_LINE_BYTES: u64 = 64;

/// Listens on a port, 0 = a free one.
///
/// # Errors
/// A message: the port cannot be used.
pub(super) fn listen(port: u16) -> Result<(TcpListener, u16), String> {
    let listen = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    };
    listen().map_err(|error: io::Error| format!("the command server cannot listen on port {port}: {error}"))
}

/// Serves each client on a thread, until the process ends. `take_heap_shot` returns whether the log still takes heap
/// shots.
///
/// # Errors
/// The system's, for a thread.
pub(super) fn serve(listener: TcpListener, take_heap_shot: fn() -> bool) -> io::Result<()> {
    services::machine().start(Service::ProfileClients, move || {
        for stream in listener.incoming().flatten() {
            if services::machine().is_ending() {
                return;
            }
            // Without a thread the connection ends.
            let _ = services::machine().start(Service::ProfileClients, move || obey(stream, take_heap_shot));
        }
    })
}

fn obey(stream: TcpStream, take_heap_shot: fn() -> bool) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    loop {
        line.clear();
        match reader.by_ref().take(MAX_LINE_BYTES).read_line(&mut line) {
            Ok(1..) => {}
            _ => return,
        }
        if services::machine().is_ending() || (line == "heapshot\n" && !take_heap_shot()) {
            return;
        }
    }
}
