//! Look-ups of host names. Where waits park, they run on threads of their own, and the thread that asks parks until the
//! answer is there.
//!
//! The C library's resolver blocks; but it knows the machine's configuration (files, search lists, plug-ins), which a
//! resolver of our own would have to learn. So up to `MAX_THREADS` OS threads call it, which are started when they are
//! needed and end after `IDLE_TIME` without work. Further look-ups wait in a queue, in the order in which they came. An
//! abort ends the wait; the look-up goes on, and its answer is dropped. Where waits block, the thread that asks makes
//! the call itself.
//!
//! Invariant: a job in the queue has a thread that will take it: one of the pool's, or the one that queued it, if the
//! system refuses threads.

use saki_base::locks::rank;
use saki_os::services::{self, Service};
use saki_runtime::exec::waits;
use saki_runtime::vm::profile_events::IoWait;
use saki_runtime::{CurrentThread, Managed};
use saki_sync::WaitWord;
use saki_sync::word_locks::{Mutex, MutexGuard};
use saki_thread::{ManagedThread, child_locks};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Look-ups at a time. If a distant name server answers in 100 ms, so many threads get more than 1,000 answers a
/// second. A waiting thread uses some 60 KiB.
const MAX_THREADS: usize = 128;
/// A thread without work for so long ends.
const IDLE_TIME: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

struct Pool {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

static POOL: Mutex<rank::LookUpPool, Pool> = Mutex::new(Pool { jobs: VecDeque::new(), threads: 0, idle: 0 });
/// Counts jobs; idle threads sleep on it. (A condition variable would keep a list of them, whose entries a forked child
/// lacks.)
static WORK: WaitWord = WaitWord::new(0);

/// Before a fork.
pub(crate) fn hold_for_fork() {
    child_locks::hold(&POOL);
}

/// In the parent.
pub(crate) fn release_after_fork() {
    child_locks::release(&POOL);
}

/// In a forked child, which has none of the threads, and nobody who asked.
pub(crate) fn begin_child() {
    child_locks::revive(&POOL);
    *POOL.lock() = Pool { jobs: VecDeque::new(), threads: 0, idle: 0 };
}

/// Runs jobs until there have been none for `IDLE_TIME`.
fn serve() {
    let mut pool = POOL.lock();
    loop {
        if let Some(job) = pool.jobs.pop_front() {
            drop(pool);
            job();
            pool = POOL.lock();
            continue;
        }
        pool.idle += 1;
        // Acquire: pairs with `submit`; a later job ends the wait.
        let seen = WORK.load(Ordering::Acquire);
        let has_timed_out = !MutexGuard::unlocked(&mut pool, || WORK.wait(seen, Some(IDLE_TIME)));
        pool.idle -= 1;
        if has_timed_out && pool.jobs.is_empty() {
            pool.threads -= 1;
            return;
        }
    }
}

/// Queues the job. False: there is no thread for it, so the caller must call `serve_here`.
fn submit(job: Job) -> bool {
    {
        let mut pool = POOL.lock();
        pool.jobs.push_back(job);
        if pool.idle >= pool.jobs.len() {
            // Release: pairs with `serve`.
            WORK.atomic().fetch_add(1, Ordering::Release);
            WORK.wake(1);
            return true;
        }
        if pool.threads >= MAX_THREADS {
            return true;
        }
        pool.threads += 1;
    }
    if services::machine().start(Service::LookUp, serve).is_ok() {
        return true;
    }
    let mut pool = POOL.lock();
    pool.threads -= 1;
    pool.threads > 0
}

/// Runs jobs until the queue is empty.
fn serve_here() {
    loop {
        let job = POOL.lock().jobs.pop_front();
        match job {
            Some(job) => job(),
            None => return,
        }
    }
}

/// A look-up: the thread that waits and the place for the answer.
struct LookUp<R> {
    thread: &'static ManagedThread,
    answer: Mutex<rank::LookUpAnswer, Option<R>>,
}

/// The result of `look_up`, which asks the resolver.
///
/// # Errors
/// ThreadAbortException.
pub fn run<R: Send + 'static>(t: CurrentThread, look_up: impl FnOnce() -> R + Send + 'static) -> Managed<R> {
    let _wait = IoWait::begin(t, "[name look-up]");
    if !saki_reactor::waits_park() {
        return Ok(t.managed().blocking(look_up));
    }
    let waiting = Arc::new(LookUp { thread: t.managed(), answer: Mutex::new(None) });
    let job = {
        let waiting = Arc::clone(&waiting);
        Box::new(move || {
            let answer = look_up();
            *waiting.answer.lock() = Some(answer);
            waiting.thread.unpark();
        })
    };
    if !submit(job) {
        t.managed().blocking(serve_here);
    }
    waits::wait_until_some(t, || waiting.answer.lock().take())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Condvar;
    use std::sync::mpsc::channel;

    #[test]
    fn more_jobs_than_threads_are_all_done_and_many_at_a_time() {
        const JOBS: usize = 3 * MAX_THREADS;
        let (done, results) = channel();
        let gate = Arc::new((std::sync::Mutex::new(0), Condvar::new()));
        for number in 0..JOBS {
            let (done, gate) = (done.clone(), Arc::clone(&gate));
            assert!(submit(Box::new(move || {
                // No job goes on before as many jobs have started as there are threads.
                let mut arrived = gate.0.lock().unwrap();
                *arrived += 1;
                gate.1.notify_all();
                while *arrived < MAX_THREADS {
                    arrived = gate.1.wait(arrived).unwrap();
                }
                drop(arrived);
                done.send(number).unwrap();
            })));
        }
        let mut numbers: Vec<usize> =
            (0..JOBS).map(|_| results.recv_timeout(Duration::from_secs(60)).unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..JOBS).collect::<Vec<_>>());
        assert!(POOL.lock().threads <= MAX_THREADS);
    }
}
