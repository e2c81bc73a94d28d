//! `epoll` (epoll(7)): edge-triggered for descriptors that are watched always, one-shot for the others.

use super::{Backend, Readiness, check};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const EVENTS_AT_ONCE: usize = 256;

/// See the module header.
pub(crate) struct Epoll {
    epoll: OwnedFd,
}

impl Epoll {
    pub(crate) fn open() -> io::Result<Epoll> {
        // SAFETY: makes a descriptor.
        let fd = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: just made, and nobody else's.
        Ok(Epoll { epoll: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    fn control(&self, operation: i32, fd: i32, events: i32) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: fd as u64 };
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

    fn watch_always(&self, fd: i32) -> io::Result<bool> {
        self.set(fd, libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET)?;
        Ok(true)
    }

    fn unwatch(&self, fd: i32) {
        // It may be closed already, which ended the watch.
        let _ = self.control(libc::EPOLL_CTL_DEL, fd, 0);
    }

    fn wait(&self, report: &mut dyn FnMut(i32, Readiness)) -> io::Result<()> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS_AT_ONCE];
        // SAFETY: room for so many events.
        let count =
            check(unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), events.as_mut_ptr(), EVENTS_AT_ONCE as i32, -1) });
        let count = match count {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            count => count?,
        };
        for event in &events[..count as usize] {
            let bits = event.events as i32;
            let has_failed = bits & (libc::EPOLLERR | libc::EPOLLHUP) != 0;
            let ready = Readiness {
                read: has_failed || bits & (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLPRI) != 0,
                write: has_failed || bits & libc::EPOLLOUT != 0,
            };
            report(event.u64 as i32, ready);
        }
        Ok(())
    }
}
