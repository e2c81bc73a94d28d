//! `epoll` (epoll(7)): edge-triggered for descriptors that are watched always, one-shot for the others.

use super::{Backend, Bell, Event, check, timespec};
use crate::record::Readiness;
use saki_base::locks::{Mutex, rank};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const EVENTS_AT_ONCE: usize = 256;
/// In place of a descriptor.
const BELL: u64 = u64::MAX;

type Events = [libc::epoll_event; EVENTS_AT_ONCE];

/// See the module header.
pub(crate) struct Epoll {
    epoll: OwnedFd,
    /// Edge-triggered, so that it need not be reset.
    bell: Bell,
    /// Not on the stack: any of thousands of threads may be the one that waits. Locked by the waiting
    /// thread.
    events: Mutex<rank::EpollEvents, Box<Events>>,
    /// Relaxed: whether the kernel lacks epoll_pwait2(2) (5.11), found by trying.
    has_only_milliseconds: AtomicBool,
}

impl Epoll {
    pub(crate) fn open() -> io::Result<Epoll> {
        // SAFETY: makes a descriptor.
        let fd = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        let epoll = Epoll {
            // SAFETY: the descriptor was just made and has no other owner.
            epoll: unsafe { OwnedFd::from_raw_fd(fd) },
            bell: Bell::new()?,
            events: Mutex::new(Box::new([libc::epoll_event { events: 0, u64: 0 }; EVENTS_AT_ONCE])),
            has_only_milliseconds: AtomicBool::new(false),
        };
        epoll.control_as(BELL, libc::EPOLL_CTL_ADD, epoll.bell.fd(), libc::EPOLLIN | libc::EPOLLET)?;
        Ok(epoll)
    }

    /// The result of the system call.
    fn wait_for_events(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<i32> {
        let (epoll, room) = (self.epoll.as_raw_fd(), EVENTS_AT_ONCE as i32);
        // A timeout that milliseconds express needs no newer call.
        let has_milliseconds = timeout.is_none_or(|timeout| timeout.is_zero());
        if !has_milliseconds && !self.has_only_milliseconds.load(Ordering::Relaxed) {
            let timeout = timespec(timeout.unwrap_or_default());
            let no_mask = std::ptr::null::<libc::sigset_t>();
            // SAFETY: room for so many events, and a time.
            let result = check(unsafe {
                libc::syscall(libc::SYS_epoll_pwait2, epoll, events.as_mut_ptr(), room, &raw const timeout, no_mask, 0)
                    as i32
            });
            match result {
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
                    self.has_only_milliseconds.store(true, Ordering::Relaxed);
                }
                result => return result,
            }
        }
        let milliseconds =
            timeout.map_or(-1, |timeout| i32::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX));
        // SAFETY: room for so many events.
        check(unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), room, milliseconds) })
    }

    fn control(&self, operation: i32, fd: i32, events: i32) -> io::Result<()> {
        self.control_as(fd as u64, operation, fd, events)
    }

    fn control_as(&self, name: u64, operation: i32, fd: i32, events: i32) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: name };
        // SAFETY: an open epoll descriptor and an event to copy from.
        check(unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &mut event) }).map(|_| ())
    }

    fn set(&self, fd: i32, events: i32) -> io::Result<()> {
        match self.control(libc::EPOLL_CTL_ADD, fd, events) {
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => self.control(libc::EPOLL_CTL_MOD, fd, events),
            result => result,
        }
    }
}

impl Backend for Epoll {
    fn watch_once(&self, fd: i32, wanted: Readiness) -> io::Result<()> {
        let read = if wanted.read { libc::EPOLLIN | libc::EPOLLRDHUP } else { 0 };
        let write = if wanted.write { libc::EPOLLOUT } else { 0 };
        self.set(fd, read | write | libc::EPOLLONESHOT)
    }

    fn watch_always(&self, fd: i32, is_watched: bool) -> io::Result<bool> {
        let events = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLPRI | libc::EPOLLET;
        // Changing it has the kernel look at the present state, too.
        if !is_watched || self.control(libc::EPOLL_CTL_MOD, fd, events).is_err() {
            self.set(fd, events)?;
        }
        Ok(true)
    }

    fn unwatch(&self, fd: i32) {
        // The descriptor may be closed already, which has ended the watch.
        let _ = self.control(libc::EPOLL_CTL_DEL, fd, 0);
    }

    fn wait(&self, timeout: Option<Duration>, tell: &mut dyn FnMut(Event)) -> io::Result<()> {
        let mut events = self.events.lock();
        let count = match self.wait_for_events(&mut events, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            count => count?,
        };
        for event in events[..count as usize].iter().filter(|event| event.u64 != BELL) {
            let bits = event.events as i32;
            let has_failed = bits & (libc::EPOLLERR | libc::EPOLLHUP) != 0;
            let ready = Readiness {
                read: has_failed || bits & (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLPRI) != 0,
                write: has_failed || bits & libc::EPOLLOUT != 0,
                // Urgent data splits the stream.
                has_ended: has_failed || bits & (libc::EPOLLRDHUP | libc::EPOLLPRI) != 0,
                is_watch_over: false,
            };
            tell(Event::Ready(event.u64 as i32, ready));
        }
        Ok(())
    }

    fn interrupt(&self) {
        self.bell.ring();
    }
}
