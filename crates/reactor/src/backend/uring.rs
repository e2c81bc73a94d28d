//! `io_uring` (io_uring(7)): transfers, and readiness as completions of poll requests, which stay armed for descriptors
//! that are watched always.
//!
//! Requests are put into the ring's submission queue, and go to the kernel with the next `wait`, or at once while
//! somebody waits. A request's number (`Name`) holds the descriptor and how often its watch has been ended
//! (`generations`), so that late completions are recognised.
//!
//! Invariant: a descriptor's requests are withdrawn before `unwatch` returns, since each holds the open file. The
//! submission queue is written under `submissions`; the completion queue is read by `wait` only, of which there is one
//! at a time. The kernel completes a request on the OS thread that submitted it, when that enters the kernel next, and
//! ends the requests of an OS thread that ends: transfers and watches are then begun anew. Left out: a ring for each
//! carrier, which would take no lock.

use super::{Backend, Event, check, is_always_ready};
use crate::record::Readiness;
use crate::transfer_request::{Direction, Transfer};
use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode, squeue};
use saki_base::locks::{Mutex, rank};
use std::io;
use std::time::Duration;

/// Requests between two submissions; more are submitted early.
const SUBMISSIONS: u32 = 256;
/// If more completions come at once, the kernel keeps the surplus and ends watches, which then begin anew.
const COMPLETIONS: u32 = 8192;

const EVENTS_OF_READING: i16 = libc::POLLIN | libc::POLLRDHUP | libc::POLLPRI;
const FAILURES: i16 = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;

/// The kind of request that a completion belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A request for which no thread waits: a withdrawal, an interruption.
    Other,
    Once,
    Always,
    /// The present state of a descriptor, found before.
    Present,
}

/// A request's number: 32 bits for the descriptor, 16 for the generation, 14 for events, 2 for the kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Name {
    kind: Kind,
    fd: i32,
    generation: u16,
    events: i16,
}

/// Marks the number of a transfer, below which is its address: the events of a name of `Kind::Other`, which has none.
const TRANSFER: u64 = 1 << 48;

/// The number of a transfer's request. Addresses of programs have 47 bits.
fn transfer_number(transfer: &Transfer) -> u64 {
    let address = std::ptr::from_ref(transfer).expose_provenance() as u64;
    debug_assert!(address < TRANSFER);
    TRANSFER | address
}

/// The transfer that a number stands for.
fn transfer_of(number: u64) -> Option<*const Transfer> {
    let address = number ^ TRANSFER;
    (address < TRANSFER && address != 0).then(|| std::ptr::with_exposed_provenance(address as usize))
}

impl Name {
    const OTHER: Name = Name { kind: Kind::Other, fd: 0, generation: 0, events: 0 };

    fn number(self) -> u64 {
        let events = self.events as u64 & 0x3fff;
        u64::from(self.fd as u32) | u64::from(self.generation) << 32 | events << 48 | (self.kind as u64) << 62
    }

    fn of(number: u64) -> Name {
        let kind = [Kind::Other, Kind::Once, Kind::Always, Kind::Present][(number >> 62) as usize];
        let events = (number >> 48 & 0x3fff) as i16;
        Name { kind, fd: number as u32 as i32, generation: (number >> 32) as u16, events }
    }
}

#[derive(Default)]
struct Submissions {
    /// By descriptor: how often its watch was ended.
    generations: Vec<u16>,
    /// A thread waits in the kernel: new requests are submitted at once.
    is_waited_for: bool,
}

impl Submissions {
    fn generation(&self, fd: i32) -> u16 {
        usize::try_from(fd).ok().and_then(|fd| self.generations.get(fd)).copied().unwrap_or(0)
    }

    fn end_generation(&mut self, fd: i32) {
        let Ok(place) = usize::try_from(fd) else { return };
        if self.generations.len() <= place {
            self.generations.resize(place + 1, 0);
        }
        self.generations[place] = self.generations[place].wrapping_add(1);
    }
}

/// See the module header.
pub(crate) struct Uring {
    ring: IoUring,
    submissions: Mutex<rank::UringSubmissions, Submissions>,
    /// Held by the waiting thread.
    completions: Mutex<rank::UringCompletions, ()>,
}

impl Uring {
    /// # Errors
    /// The system has no io_uring, forbids it, or has one from before Linux 5.19.
    pub(crate) fn open() -> io::Result<Uring> {
        let mut builder = IoUring::builder();
        builder.setup_clamp().setup_cqsize(COMPLETIONS).setup_coop_taskrun().setup_taskrun_flag();
        let ring = builder.build(SUBMISSIONS)?;
        let parameters = ring.params();
        if !parameters.is_feature_ext_arg() || !parameters.is_feature_nodrop() {
            return Err(io::Error::from_raw_os_error(libc::ENOSYS));
        }
        Ok(Uring { ring, submissions: Mutex::default(), completions: Mutex::new(()) })
    }

    fn push(&self, submissions: &mut Submissions, entry: &squeue::Entry, is_urgent: bool) -> io::Result<()> {
        loop {
            // SAFETY: written under `submissions`, whose contents the caller holds.
            let mut queue = unsafe { self.ring.submission_shared() };
            // SAFETY: the memory that a request refers to stays valid as long as the request (`begin_transfer`).
            let is_pushed = unsafe { queue.push(entry) }.is_ok();
            drop(queue);
            if is_pushed && !is_urgent && !submissions.is_waited_for {
                return Ok(());
            }
            match self.ring.submitter().submit() {
                // The kernel has no room for completions, or was interrupted: the next wait submits. Once in the queue
                // an entry cannot be taken back.
                Err(_) if is_pushed => return Ok(()),
                Err(error) if is_passing(&error) => std::thread::yield_now(),
                Err(error) => return Err(error),
                Ok(_) if is_pushed => return Ok(()),
                Ok(_) => {}
            }
        }
    }

    fn watch(&self, kind: Kind, fd: i32, events: i16) -> io::Result<()> {
        if is_always_ready(fd)? {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        let mut submissions = self.submissions.lock();
        let name = Name { kind, fd, generation: submissions.generation(fd), events: 0 };
        let request = opcode::PollAdd::new(Fd(fd), u32::from(events as u16)).multi(kind == Kind::Always);
        self.push(&mut submissions, &request.build().user_data(name.number()), false)
    }

    /// Makes the poller report the present readiness of the descriptor.
    fn tell_present(&self, fd: i32) -> io::Result<()> {
        let mut entry = libc::pollfd { fd, events: EVENTS_OF_READING | libc::POLLOUT, revents: 0 };
        // SAFETY: one descriptor; does not wait.
        if check(unsafe { libc::poll(&mut entry, 1, 0) })? == 0 {
            return Ok(());
        }
        let mut submissions = self.submissions.lock();
        let name = Name { kind: Kind::Present, fd, generation: submissions.generation(fd), events: entry.revents };
        self.push(&mut submissions, &opcode::Nop::new().build().user_data(name.number()), false)
    }

    /// Submits what is queued; waits for a completion if there is none.
    fn enter(&self, timeout: Option<Duration>) -> io::Result<()> {
        let submitter = self.ring.submitter();
        let mut submissions = self.submissions.lock();
        // SAFETY: read under `submissions`; `wait` reads the other queue alone.
        let (submitted, completed) = unsafe { (self.ring.submission_shared(), self.ring.completion_shared()) };
        let is_idle = submitted.is_empty() && !submitted.taskrun() && !submitted.cq_overflow();
        let has_completions = !completed.is_empty();
        drop((submitted, completed));
        if has_completions || timeout.is_some_and(|timeout| timeout.is_zero()) {
            if is_idle {
                return Ok(());
            }
            // SAFETY: no argument.
            let entered = unsafe {
                let count = self.ring.submission_shared().len() as u32;
                submitter.enter::<libc::sigset_t>(count, 0, EnterFlags::GETEVENTS.bits(), None)
            };
            return entered.map(|_| ());
        }
        submissions.is_waited_for = true;
        drop(submissions);
        let result = match timeout {
            None => submitter.submit_and_wait(1),
            Some(timeout) => {
                let timeout = Timespec::from(timeout);
                submitter.submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
            }
        };
        self.submissions.lock().is_waited_for = false;
        result.map(|_| ())
    }

    fn readiness_of(name: Name, completion: &cqueue::Entry) -> Readiness {
        let events = if name.kind == Kind::Present { name.events } else { completion.result() as i16 };
        let has_failed = completion.result() < 0 || events & FAILURES != 0;
        Readiness {
            read: has_failed || events & EVENTS_OF_READING != 0,
            write: has_failed || events & libc::POLLOUT != 0,
            // The kernel reports possible urgent data with each arrival, so a short transfer does not prove that no
            // data is left.
            has_ended: has_failed || events & (libc::POLLRDHUP | libc::POLLPRI) != 0,
            is_watch_over: name.kind == Kind::Always && !cqueue::more(completion.flags()),
        }
    }
}

/// Errors of a submission after which the next one may work, and of a wait that ends without an event.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY | libc::ETIME | libc::ENOMEM))
}

impl Backend for Uring {
    fn watch_once(&self, fd: i32, wanted: Readiness) -> io::Result<()> {
        let read = if wanted.read { libc::POLLIN | libc::POLLRDHUP } else { 0 };
        let write = if wanted.write { libc::POLLOUT } else { 0 };
        // The new request replaces earlier ones.
        self.unwatch(fd);
        self.watch(Kind::Once, fd, read | write)
    }

    fn watch_always(&self, fd: i32, is_watched: bool) -> io::Result<bool> {
        if is_watched {
            self.tell_present(fd)?;
        } else {
            self.watch(Kind::Always, fd, EVENTS_OF_READING | libc::POLLOUT)?;
        }
        Ok(true)
    }

    fn unwatch(&self, fd: i32) {
        let mut submissions = self.submissions.lock();
        submissions.end_generation(fd);
        let withdrawal = opcode::AsyncCancel2::new(CancelBuilder::fd(Fd(fd)).all()).build();
        // Without room in the kernel nothing can be done; the watch then ends with its next event.
        let _ = self.push(&mut submissions, &withdrawal.user_data(Name::OTHER.number()), true);
    }

    fn wait(&self, timeout: Option<Duration>, tell: &mut dyn FnMut(Event)) -> io::Result<()> {
        let _completions = self.completions.lock();
        match self.enter(timeout) {
            Err(error) if !is_passing(&error) => return Err(error),
            _ => {}
        }
        // SAFETY: read under `completions`.
        for completion in unsafe { self.ring.completion_shared() } {
            if let Some(transfer) = transfer_of(completion.user_data()) {
                // SAFETY: it was submitted with its address, and has no other completion.
                tell(Event::Moved(unsafe { Transfer::complete(transfer, completion.result()) }));
                continue;
            }
            let name = Name::of(completion.user_data());
            let is_current = || self.submissions.lock().generation(name.fd) == name.generation;
            if name.kind != Kind::Other && is_current() {
                tell(Event::Ready(name.fd, Uring::readiness_of(name, &completion)));
            }
        }
        Ok(())
    }

    unsafe fn begin_transfer(&self, transfer: &Transfer) -> io::Result<()> {
        let (fd, len) = (Fd(transfer.fd), transfer.len as u32);
        let request = match transfer.direction {
            Direction::Receive => opcode::Recv::new(fd, transfer.buffer, len).flags(transfer.flags).build(),
            Direction::Send => opcode::Send::new(fd, transfer.buffer, len).flags(transfer.flags).build(),
        };
        self.push(&mut self.submissions.lock(), &request.user_data(transfer_number(transfer)), true)
    }

    fn end_transfer(&self, transfer: &Transfer) {
        let withdrawal = opcode::AsyncCancel::new(transfer_number(transfer)).build();
        let mut submissions = self.submissions.lock();
        while self.push(&mut submissions, &withdrawal.clone().user_data(Name::OTHER.number()), true).is_err() {
            // The transfer must end: its thread waits for that.
            std::thread::yield_now();
        }
    }

    fn interrupt(&self) {
        let nothing = opcode::Nop::new().build().user_data(Name::OTHER.number());
        let _ = self.push(&mut self.submissions.lock(), &nothing, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn names_are_read_as_they_are_written() {
        for (kind, fd) in [(Kind::Once, 0), (Kind::Always, i32::MAX), (Kind::Present, 77), (Kind::Other, -1)] {
            let name = Name { kind, fd, generation: 0xfffe, events: EVENTS_OF_READING | libc::POLLOUT | FAILURES };
            assert_eq!(Name::of(name.number()), name);
        }
    }

    fn waited(uring: &Uring) -> Vec<(i32, bool, bool)> {
        let mut seen = Vec::new();
        let mut tell = |event| {
            if let Event::Ready(fd, ready) = event {
                seen.push((fd, ready.read, ready.write));
            }
        };
        uring.wait(Some(Duration::ZERO), &mut tell).unwrap();
        seen
    }

    #[test]
    fn a_watch_tells_of_each_change_until_it_is_ended() {
        let Ok(uring) = Uring::open() else {
            eprintln!("skipped: no io_uring here");
            return;
        };
        let (near, mut far) = UnixStream::pair().unwrap();
        let fd = near.as_raw_fd();
        assert!(uring.watch_always(fd, false).unwrap());
        assert_eq!(waited(&uring), [(fd, false, true)]);
        assert_eq!(waited(&uring), []);
        far.write_all(b"x").unwrap();
        // At a change the kernel reports which direction has changed.
        assert_eq!(waited(&uring), [(fd, true, false)]);
        assert_eq!(waited(&uring), []);
        assert!(uring.watch_always(fd, true).unwrap());
        assert_eq!(waited(&uring), [(fd, true, true)], "the present state");
        uring.unwatch(fd);
        far.write_all(b"x").unwrap();
        assert_eq!(waited(&uring), []);
        uring.watch_once(fd, Readiness { read: true, ..Readiness::default() }).unwrap();
        assert_eq!(waited(&uring), [(fd, true, false)]);
        far.write_all(b"x").unwrap();
        assert_eq!(waited(&uring), []);
    }

    #[test]
    fn a_wait_is_interrupted_by_what_is_asked_meanwhile() {
        let Ok(uring) = Uring::open() else {
            eprintln!("skipped: no io_uring here");
            return;
        };
        let (near, mut far) = UnixStream::pair().unwrap();
        far.write_all(b"x").unwrap();
        let fd = near.as_raw_fd();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !uring.submissions.lock().is_waited_for {
                    std::thread::yield_now();
                }
                uring.watch_once(fd, Readiness { read: true, ..Readiness::default() }).unwrap();
            });
            let mut is_seen = false;
            while !is_seen {
                uring
                    .wait(None, &mut |event| is_seen = matches!(event, Event::Ready(ready, _) if ready == fd))
                    .unwrap();
            }
            scope.spawn(|| uring.interrupt());
            uring.wait(None, &mut |_| panic!("nothing is ready")).unwrap();
        });
        let error = uring.watch_once(std::fs::File::open("/proc/self/exe").unwrap().as_raw_fd(), Readiness::default());
        assert_eq!(error.unwrap_err().raw_os_error(), Some(libc::EPERM));
    }

    #[test]
    fn a_transfer_ends_with_its_bytes_or_when_it_is_asked_to() {
        let Ok(uring) = Uring::open() else {
            eprintln!("skipped: no io_uring here");
            return;
        };
        let thread = saki_thread::attach_current(saki_thread::ThreadKind::Background);
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut buffer = [0; 8];
        let receive =
            |buffer: &mut [u8]| Box::new(Transfer::new(thread, near.as_raw_fd(), Direction::Receive, 0, buffer));
        let ended = |transfer: &Transfer| {
            let mut woken = 0;
            while woken == 0 {
                uring.wait(None, &mut |event| woken += usize::from(matches!(event, Event::Moved(_)))).unwrap();
            }
            transfer.result()
        };

        let first = receive(&mut buffer);
        // SAFETY: the transfer and the buffer stay until it has ended.
        unsafe { uring.begin_transfer(&first) }.unwrap();
        uring.wait(Some(Duration::ZERO), &mut |_| panic!("nothing has come")).unwrap();
        assert_eq!(first.result(), None);
        far.write_all(b"abc").unwrap();
        assert_eq!(ended(&first), Some(3));
        assert_eq!(&buffer[..3], b"abc");

        let second = receive(&mut buffer);
        // SAFETY: as above.
        unsafe { uring.begin_transfer(&second) }.unwrap();
        uring.end_transfer(&second);
        assert_eq!(ended(&second), Some(-libc::ECANCELED));
        saki_thread::detach_current();
    }
}
