//! `poll` (poll(2)): the list of all descriptors goes to the kernel each time, with a bell that says when it has
//! changed.

use super::{Backend, Bell, Event, check, is_always_ready, timespec};
use crate::record::Readiness;
use saki_base::locks::{Mutex, rank};
use std::collections::HashMap;
use std::io;
use std::time::Duration;

/// See the module header.
pub(crate) struct Poll {
    watched: Mutex<rank::PollSet, HashMap<i32, Readiness>>,
    /// Rings when the list has changed.
    bell: Bell,
}

impl Poll {
    pub(crate) fn open() -> io::Result<Poll> {
        Ok(Poll { watched: Mutex::default(), bell: Bell::new()? })
    }
}

impl Backend for Poll {
    fn watch_once(&self, fd: i32, wanted: Readiness) -> io::Result<()> {
        if is_always_ready(fd)? {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        self.watched.lock().insert(fd, wanted);
        self.bell.ring();
        Ok(())
    }

    fn watch_always(&self, _fd: i32, _is_watched: bool) -> io::Result<bool> {
        Ok(false)
    }

    fn unwatch(&self, fd: i32) {
        if self.watched.lock().remove(&fd).is_some() {
            self.bell.ring();
        }
    }

    fn wait(&self, timeout: Option<Duration>, tell: &mut dyn FnMut(Event)) -> io::Result<()> {
        let own = libc::pollfd { fd: self.bell.fd(), events: libc::POLLIN, revents: 0 };
        let mut list = vec![own];
        list.extend(self.watched.lock().iter().map(|(&fd, wanted)| {
            let read = if wanted.read { libc::POLLIN | libc::POLLRDHUP } else { 0 };
            let write = if wanted.write { libc::POLLOUT } else { 0 };
            libc::pollfd { fd, events: read | write, revents: 0 }
        }));
        let timeout = timeout.map(timespec);
        let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `list` is writable for the number of descriptors that is passed, and `timeout` is null or a local
        // that outlives the call.
        match check(unsafe { libc::ppoll(list.as_mut_ptr(), list.len() as libc::nfds_t, timeout, std::ptr::null()) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            result => result?,
        };
        if list[0].revents != 0 {
            self.bell.silence();
        }
        for entry in list[1..].iter().filter(|entry| entry.revents != 0) {
            let has_failed = entry.revents & (libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) != 0;
            let ready = Readiness {
                read: has_failed || entry.revents & (libc::POLLIN | libc::POLLRDHUP) != 0,
                write: has_failed || entry.revents & libc::POLLOUT != 0,
                has_ended: has_failed,
                is_watch_over: false,
            };
            // Directions that are not ready, or were requested meanwhile, stay in the list.
            let mut watched = self.watched.lock();
            if let Some(wanted) = watched.get_mut(&entry.fd) {
                wanted.read &= !ready.read;
                wanted.write &= !ready.write;
                if wanted.is_none() {
                    watched.remove(&entry.fd);
                }
            }
            drop(watched);
            tell(Event::Ready(entry.fd, ready));
        }
        Ok(())
    }

    fn interrupt(&self) {
        self.bell.ring();
    }
}
