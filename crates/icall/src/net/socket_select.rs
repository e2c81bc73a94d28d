//! System.Net.Sockets.Socket: Poll and Select, both on `poll`.

use super::socket_errors::{SocketError, SocketResult, report};
use super::socket_waits::{Operation, call};
use crate::arguments::non_null;
use saki_reactor::Interest;
use saki_runtime::exec::waits::{self, AnyReady, Attempt, Limit, Unfinished, Wait, Waited};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::vm::profile_events::IoWait;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Place, RefPlace};
use saki_types::{LibraryType, universe};
use std::time::Duration;

static HANDLE_OBJECT: ManagedField = ManagedField::new(LibraryType::Socket, "m_Handle");
static HANDLE: ManagedField = ManagedField::new(LibraryType::SafeHandle, "handle");

const FAILURES: i16 = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;

/// The events to wait for: mode 0 = reading, 1 = writing, else errors. Errors are always waited for.
fn events_of(mode: usize) -> i16 {
    match mode {
        0 => libc::POLLIN,
        1 => libc::POLLOUT,
        _ => FAILURES,
    }
}

/// poll(2), for a time in milliseconds; negative: for ever.
fn poll_for(descriptors: &mut [libc::pollfd], rest_ms: i32) -> Attempt<usize> {
    // SAFETY: as many descriptors as the slice has.
    Attempt::of(unsafe { libc::poll(descriptors.as_mut_ptr(), descriptors.len() as libc::nfds_t, rest_ms) })
}

/// Waits, and returns the number of descriptors that are ready.
fn poll(t: CurrentThread, descriptors: &mut [libc::pollfd], timeout_us: i32) -> SocketResult<usize> {
    let _wait = IoWait::begin(t, "[socket poll]");
    let waited = if saki_reactor::waits_park() && timeout_us != 0 {
        poll_parking(t, descriptors, timeout_us)
    } else {
        // Whole milliseconds, as poll(2) has them.
        let timeout = u64::try_from(timeout_us).ok().map(|us| Duration::from_millis(us / 1000));
        call(t, Limit::in_time(timeout), |turn| {
            let rest_ms = turn.rest().map_or(-1, |rest| i32::try_from(rest.as_millis()).unwrap_or(i32::MAX));
            poll_for(descriptors, rest_ms)
        })
    };
    waited.map_err(|end| SocketError::from_errno(end.errno()))
}

/// Waits, parked, and returns the number of descriptors that are ready.
fn poll_parking(t: CurrentThread, descriptors: &mut [libc::pollfd], timeout_us: i32) -> Waited<usize> {
    // Errors are reported for both directions.
    let interest = |events: i16| if events & libc::POLLOUT != 0 { Interest::Write } else { Interest::Read };
    let wanted: Vec<_> = descriptors.iter().map(|entry| (entry.fd, interest(entry.events))).collect();
    let operation = Operation::begin(t);
    let is_over = || operation.is_cancelled();
    let timeout = u64::try_from(timeout_us).ok().map(Duration::from_micros);
    let wait = Wait::new(AnyReady::new(t, &wanted)).within(Limit::in_time(timeout)).unless(&is_over);
    let waited = waits::wait_for(t, wait, |_| match poll_for(descriptors, 0) {
        Attempt::Done(0) => Attempt::WouldBlock,
        end => end,
    });
    match waited {
        Err(Unfinished::TimedOut) => Ok(0),
        waited => waited,
    }
}

fn poll_one(t: CurrentThread, socket: usize, mode: i32, timeout_us: i32, error: Place<i32>) -> bool {
    let events = events_of(usize::try_from(mode).unwrap_or(usize::MAX));
    let mut descriptors = [libc::pollfd { fd: socket as i32, events, revents: 0 }];
    let ready = poll(t, &mut descriptors, timeout_us);
    report(ready.map(|count| count > 0), error, false)
}

fn descriptor_of(socket: Obj) -> i32 {
    HANDLE_OBJECT.obj(socket).map_or(-1, |handle| HANDLE.get::<usize>(handle) as i32)
}

/// `*sockets` is an array: readers, null, writers, null, sockets to watch for errors, null. An array of the ready ones
/// in the same form replaces it, or null when none is ready.
fn select(t: CurrentThread, sockets: RefPlace, timeout_us: i32, error: Place<i32>) -> Managed<()> {
    let array = non_null(t, sockets.get().and_then(Obj::as_array), "sockets")?;
    let mut mode = 0;
    let mut descriptors = Vec::new();
    for socket in array.iter() {
        match socket {
            None => mode += 1,
            Some(socket) => {
                descriptors.push(libc::pollfd { fd: descriptor_of(socket), events: events_of(mode), revents: 0 });
            }
        }
    }
    if mode != 3 {
        report(Err(SocketError::FAULT), error, ());
        return Ok(());
    }
    let ready = match poll(t, &mut descriptors, timeout_us) {
        Ok(ready) => report(Ok(ready), error, 0),
        Err(code) => {
            report(Err(code), error, ());
            return Ok(());
        }
    };
    if ready == 0 {
        sockets.set(t, None::<Obj>);
        return Ok(());
    }
    let ty = universe().library_type(LibraryType::Socket).to_managed(t)?;
    let result = Array::new(t, ty, ready + 3)?;
    let (mut mode, mut next) = (0, 0);
    for (index, socket) in array.iter().enumerate() {
        let Some(socket) = socket else {
            mode += 1;
            next += 1;
            continue;
        };
        if descriptors[index - mode].revents & (events_of(mode) | FAILURES) != 0 {
            result.set(t, next, Some(socket));
            next += 1;
        }
    }
    sockets.set(t, result);
    Ok(())
}

/// The internal calls of `System.Net.Sockets.Socket`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Poll_internal", &poll_one),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Poll_icall", &poll_one),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Select_internal", &select),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Select_icall", &select),
];
