//! Threads that serve the machine: they run no managed code and take no signals while they live. All of them are named
//! here, and counted.
//!
//! The machine's end: `note_end` tells the threads that nobody needs them any more. A body that waits between two rounds
//! does so by `pause`, or asks `is_ending` after each wait on a word of its own, and returns; so after the end no round
//! begins. A process that exits leaves it at that, since the kernel ends threads that sleep (`ExitStage::Services`). A
//! host that lives on wakes them by `wake_pausing`, and by the words on which they wait, and then waits until they have
//! ended (`wait_until_ended`; `runtime::vm::services` does all that). Threads that are in the kernel for somebody else
//! (`ProcessWatcher`, `ProfileClients`, `ProfileControl`, `LookUp`) cannot be asked; they find the end when the kernel
//! lets them go, and touch nothing of the machine.
//!
//! Invariant: a service thread is started by `Services`, which knows how many of each kind run; nothing else starts
//! one. A forked child has none: its counts begin at 0 (`fork`), and the parts start theirs again when the child comes
//! back to the machine. The end of the process waits for none of them. Left out: threads that have a managed identity
//! (`thread::spawn`) and carriers of green threads (`sched`).
//!
//! | word | from → to | who moves it | ordering |
//! |---|---|---|---|
//! | `running[kind]` | n → n + 1: a thread is about to be started | `start`, `start_once` (0 → 1) | Relaxed: a count |
//! | | n → n − 1: it could not be started, or its body has returned | `start`; the thread itself | Release: who finds 0 by Acquire sees what the threads did |
//! | | n → 0: the process is a forked child | the only thread of the child | Relaxed, likewise |
//! | `ends` | + 1: a body has returned, and its count was lowered | the thread | Release; Acquire in `wait_until_ended`, which then reads the counts |
//! | `ending` | 0 → 1: the machine ends | `note_end` | Release, read by Acquire: a thread that finds the end sees what came before it |
//! | | 1 → 0: the process is a forked child | the only thread of the child | Relaxed |

use crate::clock::Moment;
use crate::futex::{self, WaitEnd};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Bytes of a service thread's stack. Committed on touch.
const STACK_BYTES: usize = 2 << 20;

macro_rules! services {
    ($($(#[doc = $doc:literal])+ $kind:ident $name:literal,)+) => {
        /// A kind of service thread.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(usize)]
        pub enum Service {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl Service {
            /// All kinds, in the order of their names.
            pub const ALL: &[Service] = &[$(Service::$kind,)+];

            /// The thread's name in debuggers and `ps`, where it has no number of its own.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Service::$kind => $name,)+
                }
            }
        }
    };
}

services! {
    /// Takes note of ends of other processes; several where a process has no descriptor.
    ProcessWatcher "Process Watcher",
    /// Looks up counters that the checks of walks have left; `--check-walks`.
    CheckWalks "check-walks",
    /// Writes kept code after pauses.
    CodeCache "code-cache",
    /// Traces and moves objects; several, which are numbered. They end before a fork.
    Collector "gc",
    /// Accepts and serves clients of Mono's log.
    ProfileClients "profile-clients",
    /// Serves a client that asks for a profile.
    ProfileControl "profile-control",
    /// Ends a profile when its time is over.
    ProfileEnd "profile-end",
    /// Writes buffers of Mono's log once a second.
    ProfileLog "profile-log",
    /// Interrupts threads for samples by wall time.
    ProfileWall "profile-wall",
    /// Reads the sampled threads' rings.
    Profiler "profiler",
    /// Asks the C library for addresses of hosts; several.
    LookUp "saki-look-up",
    /// Waits for descriptors, where threads are native.
    Reactor "saki-reactor",
    /// Moves stacks of green threads that are not used.
    Stacks "saki-stacks",
    /// Looks whether carriers are stuck.
    Watcher "saki-watcher",
    /// Writes the stacks of all threads when SIGQUIT asks, and reports crashes.
    ThreadDump "thread-dump",
}

/// The service threads of a machine.
#[derive(Debug)]
pub struct Services {
    /// By kind; see the table.
    running: [AtomicU32; Service::ALL.len()],
    /// Counts ends of threads, for who waits for them.
    ends: AtomicU32,
    /// 1 once the machine ends; pausing threads sleep on it.
    ending: AtomicU32,
}

/// Those of the machine in this process.
pub fn machine() -> &'static Services {
    static MACHINE: Services = Services::NONE;
    &MACHINE
}

impl Services {
    #[expect(clippy::declare_interior_mutable_const, reason = "the value of a static, copied once")]
    const NONE: Services = Services {
        running: [const { AtomicU32::new(0) }; Service::ALL.len()],
        ends: AtomicU32::new(0),
        ending: AtomicU32::new(0),
    };

    /// Starts a thread.
    ///
    /// # Errors
    /// The system's, when it has no room for another thread.
    pub fn start(&'static self, service: Service, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        // Relaxed: see the table.
        self.of(service).fetch_add(1, Ordering::Relaxed);
        self.start_counted(service, service.name(), body)
    }

    /// Starts a thread of which there are several, which bears its number in its name.
    ///
    /// # Errors
    /// The system's, when it has no room for another thread.
    pub fn start_numbered(
        &'static self,
        service: Service,
        number: usize,
        body: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        // Relaxed: see the table.
        self.of(service).fetch_add(1, Ordering::Relaxed);
        self.start_counted(service, &format!("{}-{number}", service.name()), body)
    }

    /// Starts a thread unless one of its kind runs, or the machine ends.
    ///
    /// # Errors
    /// The system's, when it has no room for another thread; a later call tries again.
    pub fn start_once(&'static self, service: Service, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let running = self.of(service);
        // Relaxed: see the table. The load alone keeps the cache line shared where there is a thread.
        if running.load(Ordering::Relaxed) != 0
            || self.is_ending()
            || running.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return Ok(());
        }
        self.start_counted(service, service.name(), body)
    }

    fn start_counted(
        &'static self,
        service: Service,
        name: &str,
        body: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let running = self.of(service);
        let started = crate::thread::start(Some(name), STACK_BYTES, move |_| {
            body();
            // Release, both: see the table.
            running.fetch_sub(1, Ordering::Release);
            self.ends.fetch_add(1, Ordering::Release);
            futex::wake_all(&self.ends);
        });
        if started.is_err() {
            // Relaxed: see the table.
            running.fetch_sub(1, Ordering::Relaxed);
        }
        started
    }

    /// How many threads of the kind run, or are about to begin or end.
    pub fn running(&self, service: Service) -> u32 {
        // Relaxed: see the table.
        self.of(service).load(Ordering::Relaxed)
    }

    /// Whether the machine ends, so that a thread has no work any more.
    pub fn is_ending(&self) -> bool {
        // Acquire: see the table.
        self.ending.load(Ordering::Acquire) != 0
    }

    /// Waits between two rounds of a thread. False: the machine ends, and the thread is to return.
    pub fn pause(&self, length: Duration) -> bool {
        let end = Moment::now().checked_add(length);
        while !self.is_ending() {
            let rest = end.map(|end| end.saturating_duration_since(Moment::now()));
            if rest.is_some_and(|rest| rest.is_zero()) {
                return true;
            }
            if futex::wait(&self.ending, 0, rest) == WaitEnd::TimedOut {
                return !self.is_ending();
            }
        }
        false
    }

    /// The machine ends: each thread returns when it comes to itself. Wakes none.
    pub fn note_end(&self) {
        // Release: see the table.
        self.ending.store(1, Ordering::Release);
    }

    /// Wakes the threads in `pause`.
    pub fn wake_pausing(&self) {
        futex::wake_all(&self.ending);
    }

    /// Waits until no thread of these kinds runs, at most for `limit`. False: some still do.
    pub fn wait_until_ended(&self, kinds: &[Service], limit: Duration) -> bool {
        let deadline = Moment::now().checked_add(limit);
        loop {
            // Acquire, both: see the table. A thread that ends after this look changes the word.
            let ends = self.ends.load(Ordering::Acquire);
            if kinds.iter().all(|kind| self.of(*kind).load(Ordering::Acquire) == 0) {
                return true;
            }
            let rest = deadline.map(|deadline| deadline.saturating_duration_since(Moment::now()));
            let is_over = rest.is_some_and(|rest| rest.is_zero());
            if is_over || futex::wait(&self.ends, ends, rest) == WaitEnd::TimedOut {
                return false;
            }
        }
    }

    /// In a forked child, which has no thread but the one that forked.
    pub(crate) fn forget_all(&self) {
        // Relaxed: see the table.
        self.running.iter().for_each(|running| running.store(0, Ordering::Relaxed));
        self.ending.store(0, Ordering::Relaxed);
    }

    fn of(&self, service: Service) -> &AtomicU32 {
        &self.running[service as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Waits for the count, which changes after the thread's body has returned.
    fn wait_until_running(services: &Services, service: Service, count: u32) {
        while services.running(service) != count {
            std::thread::yield_now();
        }
    }

    #[test]
    fn threads_are_counted_while_they_run() {
        static SERVICES: Services = Services::NONE;
        let ((end, ended), (tell, told)) = (channel::<()>(), channel());
        let body = move || {
            tell.send(std::fs::read_to_string("/proc/thread-self/comm").unwrap()).unwrap();
            let _ = ended.recv();
        };
        SERVICES.start_numbered(Service::Collector, 7, body).unwrap();
        assert_eq!(told.recv().unwrap(), "gc-7\n");
        assert_eq!((SERVICES.running(Service::Collector), SERVICES.running(Service::Reactor)), (1, 0));
        drop(end);
        wait_until_running(&SERVICES, Service::Collector, 0);
    }

    #[test]
    fn a_service_that_runs_is_not_started_again_but_in_a_forked_child() {
        static SERVICES: Services = Services::NONE;
        let start = || {
            let ((end, ended), (tell, told)) = (channel::<()>(), channel());
            let body = move || {
                tell.send(()).unwrap();
                let _ = ended.recv();
            };
            SERVICES.start_once(Service::CodeCache, body).unwrap();
            // Without a thread the body is dropped, and the sender with it.
            (end, told.recv().is_ok())
        };
        let (first, has_begun) = start();
        assert!(has_begun && !start().1);
        SERVICES.forget_all();
        let (_second, has_begun_again) = start();
        assert!(has_begun_again);
        drop(first);
    }

    #[test]
    fn a_thread_that_pauses_ends_with_the_machine() {
        static SERVICES: Services = Services::NONE;
        let (tell, told) = channel();
        let body = move || {
            tell.send(SERVICES.pause(Duration::ZERO)).unwrap();
            // Longer than any test runs.
            tell.send(SERVICES.pause(Duration::from_secs(1 << 40))).unwrap();
        };
        SERVICES.start_once(Service::CodeCache, body).unwrap();
        assert!(told.recv().unwrap(), "the machine runs");
        assert!(!SERVICES.wait_until_ended(&[Service::CodeCache], Duration::ZERO));
        SERVICES.note_end();
        SERVICES.wake_pausing();
        assert!(SERVICES.wait_until_ended(&[Service::CodeCache], Duration::MAX), "it has ended");
        assert!(!told.recv().unwrap(), "the machine ends");
        SERVICES.start_once(Service::CodeCache, || unreachable!("nobody needs it")).unwrap();
        assert_eq!(SERVICES.running(Service::CodeCache), 0);
    }

    #[test]
    fn names_are_in_order_and_fit_the_kernel() {
        assert!(Service::ALL.is_sorted_by_key(|service| service.name()));
        assert!(Service::ALL.iter().enumerate().all(|(place, service)| *service as usize == place));
        for service in Service::ALL {
            assert!(service.name().len() <= 15, "{}", service.name());
        }
    }
}
