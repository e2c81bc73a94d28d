//! System.Net.Sockets.Socket: Poll and Select, both on `poll`.

use super::socket_errors::{SocketError, SocketResult, report};
use super::socket_waits::{Operation, call};
use crate::arguments::non_null;
use crate::io::errors::errno;
use saki_reactor::{Interest, Lifetime, WaitEnd};
use saki_runtime::exceptions::ToManaged;
use saki_runtime::profile_events::IoWait;
use saki_runtime::{
    Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Place, RefPlace, suspension, thread_aborts,
    types_by_name,
};
use saki_thread::REQUEST_ABORT;
use std::time::{Duration, Instant};

static HANDLE_OBJECT: ManagedField = ManagedField::of("System", "System.Net.Sockets", "Socket", "m_Handle");
static HANDLE: ManagedField = ManagedField::corlib("System.Runtime.InteropServices", "SafeHandle", "handle");

/// The pause between two looks at descriptors that cannot be waited for.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

const FAILURES: i16 = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;

/// The events to wait for: mode 0 = reading, 1 = writing, else errors. Errors are always waited for.
fn events_of(mode: usize) -> i16 {
    match mode {
        0 => libc::POLLIN,
        1 => libc::POLLOUT,
        _ => FAILURES,
    }
}

/// Waits, and returns the number of descriptors that are ready.
fn poll(t: CurrentThread, descriptors: &mut [libc::pollfd], timeout_us: i32) -> SocketResult<usize> {
    let _wait = IoWait::begin(t, "[socket poll]");
    if saki_reactor::waits_park() && timeout_us != 0 {
        return poll_parking(t, descriptors, timeout_us);
    }
    let deadline = u64::try_from(timeout_us).ok().map(|us| Instant::now() + Duration::from_millis(us / 1000));
    let ready = call(t, || {
        let rest_ms = deadline.map_or(-1, |deadline| {
            let rest = deadline.saturating_duration_since(Instant::now());
            i32::try_from(rest.as_millis()).unwrap_or(i32::MAX)
        });
        // SAFETY: as many descriptors as the slice has.
        unsafe { libc::poll(descriptors.as_mut_ptr(), descriptors.len() as libc::nfds_t, rest_ms) as isize }
    });
    ready.map_err(SocketError::from_errno)
}

/// As `poll`, parked.
fn poll_parking(t: CurrentThread, descriptors: &mut [libc::pollfd], timeout_us: i32) -> SocketResult<usize> {
    let deadline = u64::try_from(timeout_us).ok().map(|us| Instant::now() + Duration::from_micros(us));
    // Errors are reported for both directions.
    let interest = |events: i16| if events & libc::POLLOUT != 0 { Interest::Write } else { Interest::Read };
    let wanted: Vec<_> = descriptors.iter().map(|entry| (entry.fd, interest(entry.events))).collect();
    let operation = Operation::begin(t);
    loop {
        if thread_aborts::throw_if_aborted(t).is_err() {
            return Err(SocketError::from_errno(libc::EINTR));
        }
        // SAFETY: as many descriptors as the slice has; does not wait.
        let ready = unsafe { libc::poll(descriptors.as_mut_ptr(), descriptors.len() as libc::nfds_t, 0) };
        let rest = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        match usize::try_from(ready) {
            Err(_) => return Err(SocketError::from_errno(errno())),
            Ok(0) if rest.is_none_or(|rest| !rest.is_zero()) => {}
            Ok(count) => return Ok(count),
        }
        if operation.is_cancelled() {
            return Err(SocketError::from_errno(libc::EINTR));
        }
        let look_again = rest.map_or(LOOK_INTERVAL, |rest| rest.min(LOOK_INTERVAL));
        if t.managed().pending_requests() & REQUEST_ABORT != 0 {
            // An abort has to wait for the end of a finally block; until then it would end each wait at once.
            t.managed().sleep(Some(look_again), false);
            continue;
        }
        let is_over = || operation.is_cancelled();
        let end = saki_reactor::wait_any(t.managed(), &wanted, Lifetime::Known, rest, is_over);
        suspension::stop_if_asked(t);
        if end == WaitEnd::CannotWait {
            // No descriptor can be waited for: look again after a pause.
            t.managed().sleep(Some(look_again), false);
        }
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

/// `*sockets` is an array: readers, null, writers, null, sockets to watch for errors, null. An array of the ready ones in the same
/// form replaces it, or null when none is ready.
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
    let ty = types_by_name::load_type("System", "System.Net.Sockets", "Socket").to_managed(t)?;
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

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Poll_internal", &poll_one),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Poll_icall", &poll_one),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Select_internal", &select),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Select_icall", &select),
];
