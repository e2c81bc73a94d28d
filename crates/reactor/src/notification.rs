//! Notifications of readiness without a thread that waits: for asynchronous operations.
//!
//! There is one *observer*, a function that is called for the descriptors that it asked about, once for each request.
//! The poller calls it with the descriptor's number and the direction; it notes them and returns the thread that
//! handles such notes. Invariant: a request either learns that the descriptor is ready now, or the observer is called
//! for readiness that comes later. Calls may be spurious, or the number may have been reused for another descriptor;
//! the observer must check. Use it only for descriptors whose lifetime is known.

use crate::descriptor::{Descriptor, Waiter, record};
use crate::poller::backend;
use crate::record::{Interest, Lifetime};
use std::io;

/// Requests a call of the observer when the descriptor is ready. False: it is ready now, and the observer is not
/// called. Must not be called again for a direction until the observer was called.
///
/// # Errors
/// The descriptor cannot be watched, as files cannot, or is closed.
pub fn observe(fd: i32, interest: Interest) -> io::Result<bool> {
    let closed = || io::Error::from_raw_os_error(libc::EBADF);
    let place = record(fd).ok_or_else(closed)?;
    let descriptor = Descriptor { backend: backend()?, fd };
    loop {
        let seen = place.look(interest);
        if seen.may_work && is_ready(fd, interest)? {
            return Ok(false);
        }
        if place.join(Waiter::Observer, interest, Lifetime::Known, Some(seen), &descriptor)?.is_some() {
            return Ok(true);
        }
    }
}

/// Which of the descriptors are ready now, in their order: asked in one call of the system. One that is closed counts
/// as ready.
///
/// # Errors
/// The system has no memory for the question.
pub fn are_ready(asked: &[(i32, Interest)]) -> io::Result<impl Iterator<Item = bool> + use<>> {
    let mut entries: Vec<libc::pollfd> = asked.iter().map(|&(fd, interest)| question(fd, interest)).collect();
    poll_now(&mut entries)?;
    Ok(entries.into_iter().map(|entry| entry.revents != 0))
}

fn is_ready(fd: i32, interest: Interest) -> io::Result<bool> {
    let mut entry = [question(fd, interest)];
    poll_now(&mut entry)?;
    Ok(entry[0].revents != 0)
}

fn question(fd: i32, interest: Interest) -> libc::pollfd {
    let events = match interest {
        Interest::Read => libc::POLLIN | libc::POLLRDHUP,
        Interest::Write => libc::POLLOUT,
    };
    libc::pollfd { fd, events, revents: 0 }
}

/// Fills in which descriptors are ready, without waiting.
fn poll_now(entries: &mut [libc::pollfd]) -> io::Result<()> {
    loop {
        // SAFETY: as many entries as the slice has, which the call may write to; it does not wait.
        let count = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, 0) };
        if count >= 0 {
            return Ok(());
        }
        let error = saki_os::error::last_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::set_observer;
    use saki_thread::ManagedThread;
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::sync::Mutex;
    use std::time::{Duration, Instant};

    static TOLD: Mutex<Vec<(i32, Interest)>> = Mutex::new(Vec::new());

    fn note(fd: i32, interest: Interest) -> Option<&'static ManagedThread> {
        TOLD.lock().unwrap().push((fd, interest));
        None
    }

    fn times_told(fd: i32, interest: Interest) -> usize {
        TOLD.lock().unwrap().iter().filter(|told| **told == (fd, interest)).count()
    }

    fn wait_until_told(fd: i32, interest: Interest, times: usize) {
        let end = Instant::now() + Duration::from_secs(20);
        while times_told(fd, interest) < times {
            assert!(Instant::now() < end, "told {} of {times} times", times_told(fd, interest));
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn the_observer_is_told_once_for_each_time_that_it_asked() {
        set_observer(note);
        let (mut one, mut other) = UnixStream::pair().unwrap();
        let fd = one.as_raw_fd();
        for round in 1..=3 {
            assert!(observe(fd, Interest::Read).unwrap(), "there is nothing to read");
            other.write_all(&[1, 2]).unwrap();
            wait_until_told(fd, Interest::Read, round);
            assert!(!observe(fd, Interest::Read).unwrap(), "it is ready, whether new data come or not");
            one.read_exact(&mut [0]).unwrap();
            assert!(!observe(fd, Interest::Read).unwrap(), "a byte is left");
            one.read_exact(&mut [0]).unwrap();
            assert_eq!(times_told(fd, Interest::Read), round);
        }
        assert!(!observe(fd, Interest::Write).unwrap());
        assert!(observe(fd, Interest::Read).unwrap());
        crate::forget(fd);
        assert_eq!(times_told(fd, Interest::Read), 4, "who closes a descriptor tells, too");
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        assert!(!observe(file.as_raw_fd(), Interest::Read).unwrap_or(false), "a file is always ready");
    }
    #[test]
    fn many_descriptors_are_asked_about_at_once() {
        let (empty, mut peer_of_empty) = UnixStream::pair().unwrap();
        let (full, mut peer) = UnixStream::pair().unwrap();
        peer.write_all(&[1]).unwrap();
        let (empty_fd, full_fd) = (empty.as_raw_fd(), full.as_raw_fd());
        let asked = [
            (empty_fd, Interest::Read),
            (full_fd, Interest::Read),
            (empty_fd, Interest::Write),
            (empty_fd, Interest::Read),
        ];
        let answers = || are_ready(&asked).unwrap().collect::<Vec<bool>>();
        assert_eq!(answers(), [false, true, true, false]);
        peer_of_empty.write_all(&[1]).unwrap();
        assert_eq!(answers(), [true; 4]);
        assert_eq!(are_ready(&[]).unwrap().count(), 0);
    }
}
