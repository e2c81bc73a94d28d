//! Waiting for one of several descriptors: poll(2), and the events of asynchronous sockets.

use super::structures::{PollEvent, SocketEvent};
use super::waiting::{End, Watched, after_attempt};
use super::{descriptors, errors, original};
use saki_icall::io::native_streams::outside_native_code;
use saki_reactor::{Interest, Lifetime};
use saki_runtime::exec::waits::{self, Attempt, Limit, Parked, Source, Stay, end_of};
use saki_thread::ManagedThread;

/// `PollEvents` of the class library.
const POLL_OUT: i16 = 4;
const POLL_READS: i16 = 1 | 2;

/// One of several descriptors.
struct AnyOf {
    thread: &'static ManagedThread,
    wanted: Vec<(i32, Interest)>,
    lifetime: Lifetime,
}

impl<T> Source<T> for AnyOf {
    fn park(&mut self, stay: Stay<'_>) -> Parked<T> {
        if !stay.heeds_aborts {
            // The reactor's waits end when an abort is requested; a blocking call goes on.
            return Parked::CannotPark;
        }
        end_of(saki_reactor::wait_any(self.thread, &self.wanted, self.lifetime, stay.rest, stay.is_over))
    }
}

/// The directions of descriptors to wait for, and how they are closed. None: some cannot be waited for together.
fn wanted(events: &[PollEvent]) -> Option<(Vec<(i32, Interest)>, Lifetime)> {
    let mut wanted = Vec::with_capacity(events.len());
    let mut sockets = 0;
    for event in events {
        if event.fd < 0 {
            return None;
        }
        sockets += usize::from(descriptors::kind_of(event.fd).is_socket());
        let writes = event.events & POLL_OUT != 0;
        if writes {
            wanted.push((event.fd, Interest::Write));
        }
        // Without a direction an error is waited for, which makes both ready.
        if !writes || event.events & POLL_READS != 0 {
            wanted.push((event.fd, Interest::Read));
        }
    }
    match sockets {
        0 => Some((wanted, Lifetime::Unknown)),
        _ if sockets == events.len() => Some((wanted, Lifetime::Known)),
        _ => None,
    }
}

/// # Safety
/// Compiled code calls it as the library's function.
pub(super) unsafe extern "C" fn poll(events: *mut PollEvent, count: u32, timeout_ms: i32, triggered: *mut u32) -> i32 {
    // SAFETY: compiled code's arguments for the library's function.
    let call = |timeout_ms| unsafe { original::poll(events, count, timeout_ms, triggered) };
    if timeout_ms == 0 || events.is_null() || triggered.is_null() || !saki_reactor::waits_park() {
        return call(timeout_ms);
    }
    let try_once = || {
        let code = call(0);
        // SAFETY: not null; the library's function has stored the number there.
        let is_none = code == errors::SUCCESS && unsafe { *triggered } == 0;
        if is_none { Attempt::WouldBlock } else { Attempt::Done(code) }
    };
    if let Attempt::Done(code) = try_once() {
        return code;
    }
    // SAFETY: not null; so many entries.
    let Some((wanted, lifetime)) = wanted(unsafe { std::slice::from_raw_parts(events, count as usize) }) else {
        return call(timeout_ms);
    };
    let end = outside_native_code(|t| {
        let source = AnyOf { thread: t.managed(), wanted, lifetime };
        after_attempt(t, source, Limit::in_time(waits::timeout(timeout_ms)), "[poll]", try_once)
    });
    end.code(errors::SUCCESS).unwrap_or_else(|| call(timeout_ms))
}

/// Pairs of an epoll event and the library's. EPOLLHUP counts as both directions, in which the class library then finds
/// the end.
const EVENTS: [(i32, i32); 5] = [
    (libc::EPOLLIN | libc::EPOLLHUP, 1),
    (libc::EPOLLOUT | libc::EPOLLHUP, 2),
    (libc::EPOLLRDHUP, 4),
    (libc::EPOLLERR, 16),
    (0, 0),
];

fn library_events(epoll: i32) -> i32 {
    EVENTS.iter().filter(|(bits, _)| epoll & bits != 0).fold(0, |all, (_, event)| all | event)
}

/// Waits for events of the sockets that the class library has put into the epoll descriptor `port`. They are
/// edge-triggered, and so is the reactor's watch of `port`: after fewer events than there is room for, there is none
/// before the next report.
///
/// # Safety
/// Compiled code calls it as the library's function; there is room for `count` events, of either form.
pub(super) unsafe extern "C" fn wait_for_socket_events(port: isize, events: *mut SocketEvent, count: *mut i32) -> i32 {
    // SAFETY: compiled code's arguments for the library's function.
    let block = || unsafe { original::wait_for_socket_events(port, events, count) };
    let fd = descriptors::waited(port).filter(|_| !events.is_null() && !count.is_null());
    let Some(fd) = fd else { return block() };
    // SAFETY: not null.
    let room = unsafe { *count };
    let epoll = events.cast::<libc::epoll_event>();
    let what = "[socket events]";
    let watched = Watched { fd, interest: Interest::Read, what, is_short: |&found: &usize| found < room as usize };
    // SAFETY: room for so many events; the library's form is the larger one.
    let end = watched.wait(&|| None, || match Attempt::of(unsafe { libc::epoll_wait(fd, epoll, room, 0) }) {
        Attempt::Done(0) => Attempt::WouldBlock,
        end => end,
    });
    let End::Done(found) = end else { return block() };
    // Backwards: the library's form is the larger one, so an event is read before its bytes are written.
    for index in (0..found).rev() {
        // SAFETY: `index < found`, and so many events lie there, packed.
        let event = unsafe { epoll.add(index).read_unaligned() };
        let event = SocketEvent { data: event.u64 as usize, events: library_events(event.events as i32), padding: 0 };
        // SAFETY: `index < found <= room`.
        unsafe { events.add(index).write(event) };
    }
    // SAFETY: not null.
    unsafe { *count = found as i32 };
    errors::SUCCESS
}
