//! `poll` (poll(2)): the list of all descriptors goes to the kernel each time, with an event counter (eventfd(2)) that says when it has changed.

use super::{Backend, Readiness, check};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// See the module header.
pub(crate) struct Poll {
    watched: Mutex<HashMap<i32, Readiness>>,
    /// Readable when the list has changed.
    changes: OwnedFd,
}

impl Poll {
    pub(crate) fn open() -> io::Result<Poll> {
        // SAFETY: makes a descriptor.
        let fd = check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
        // SAFETY: just made, and nobody else's.
        Ok(Poll { watched: Mutex::default(), changes: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    fn tell_change(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes. A counter that is full is readable already.
        unsafe { libc::write(self.changes.as_raw_fd(), (&raw const one).cast(), size_of::<u64>()) };
    }

    fn take_changes(&self) {
        let mut count = 0_u64;
        // SAFETY: room for eight bytes; there may be none to read.
        unsafe { libc::read(self.changes.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
    }
}

/// Whether `poll` would always say that it is ready, as `epoll` finds by itself.
fn is_always_ready(fd: i32) -> io::Result<bool> {
    // SAFETY: all-zero is a valid `stat`.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: room for the answer.
    check(unsafe { libc::fstat(fd, &mut status) })?;
    Ok(matches!(status.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR))
}

impl Backend for Poll {
    fn watch_once(&self, fd: i32, wanted: Readiness) -> io::Result<()> {
        if is_always_ready(fd)? {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        self.watched.lock().insert(fd, wanted);
        self.tell_change();
        Ok(())
    }

    fn watch_always(&self, _fd: i32) -> io::Result<bool> {
        Ok(false)
    }

    fn unwatch(&self, fd: i32) {
        if self.watched.lock().remove(&fd).is_some() {
            self.tell_change();
        }
    }

    fn wait(&self, report: &mut dyn FnMut(i32, Readiness)) -> io::Result<()> {
        let own = libc::pollfd { fd: self.changes.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut list = vec![own];
        list.extend(self.watched.lock().iter().map(|(&fd, wanted)| {
            let read = if wanted.read { libc::POLLIN | libc::POLLRDHUP } else { 0 };
            let write = if wanted.write { libc::POLLOUT } else { 0 };
            libc::pollfd { fd, events: read | write, revents: 0 }
        }));
        // SAFETY: as many descriptors as the list has.
        match check(unsafe { libc::poll(list.as_mut_ptr(), list.len() as libc::nfds_t, -1) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            result => result?,
        };
        if list[0].revents != 0 {
            self.take_changes();
        }
        for entry in list[1..].iter().filter(|entry| entry.revents != 0) {
            let has_failed = entry.revents & (libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) != 0;
            let ready = Readiness {
                read: has_failed || entry.revents & (libc::POLLIN | libc::POLLRDHUP) != 0,
                write: has_failed || entry.revents & libc::POLLOUT != 0,
            };
            // Whoever has asked for more meanwhile keeps what is left.
            let mut watched = self.watched.lock();
            if let Some(wanted) = watched.get_mut(&entry.fd) {
                wanted.read &= !ready.read;
                wanted.write &= !ready.write;
                if wanted.is_none() {
                    watched.remove(&entry.fd);
                }
            }
            drop(watched);
            report(entry.fd, ready);
        }
        Ok(())
    }
}
