//! Models of register, ready and cancel: a thread that looks, tries and waits, a system that reports changes, and other
//! threads that close the descriptor or share it.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | data wakes the threads that wait for it | a report since the look is overlooked by the waiter; a report that is taken back; a report that wakes nobody |
//! | two waiters share the data that arrives | a report wakes one of them only |
//! | a wait meets a close | a close that wakes nobody |
//! | an end is not taken for an empty stream | a short transfer counts for more than the end |

use super::*;
use saki_sync::facade::atomic::{AtomicBool, Ordering};
use saki_sync::facade::{Arc, thread};
use saki_sync::model::explore;
use saki_sync::{Parker, WaitWord};

/// The kernel's data of a stream.
#[derive(Clone, Copy, Default)]
struct Content {
    bytes: usize,
    has_ended: bool,
}

/// A stream in the kernel, as an edge-triggered backend watches it: a change of what is there is told once, from `tell`
/// on.
struct Stream {
    content: Mutex<rank::DescriptorRecord, Content>,
    is_watched: AtomicBool,
    /// The last change that the poller is to hear of, and that it has heard of.
    changes: WaitWord,
    record: DescriptorRecord<usize>,
    threads: [Parker; 2],
}

impl Watch for &Stream {
    type Error = ();

    fn once(&self, _wanted: Readiness) -> Result<(), ()> {
        Err(())
    }

    fn always(&self, _is_watched: bool) -> Result<bool, ()> {
        self.is_watched.store(true, Ordering::SeqCst);
        // The present state is told.
        self.tell();
        Ok(true)
    }
}

impl Stream {
    fn new() -> Arc<Stream> {
        Arc::new(Stream {
            content: Mutex::new(Content::default()),
            is_watched: AtomicBool::new(false),
            changes: WaitWord::new(0),
            record: DescriptorRecord::new(),
            threads: [Parker::new(), Parker::new()],
        })
    }

    fn tell(&self) {
        self.changes.atomic().fetch_add(1, Ordering::AcqRel);
        self.changes.wake(1);
    }

    /// The peer sends, or ends, or this side is closed.
    fn change(&self, change: impl FnOnce(&mut Content)) {
        change(&mut lock(&self.content));
        if self.is_watched.load(Ordering::SeqCst) {
            self.tell();
        }
    }

    /// The result of a read of so many bytes; None: it would block.
    fn read(&self, wanted: usize) -> Option<usize> {
        let mut content = lock(&self.content);
        let taken = content.bytes.min(wanted);
        content.bytes -= taken;
        (taken > 0 || content.has_ended).then_some(taken)
    }

    /// The poller: reports each change that it hears of, so many at most.
    fn poll(&self, changes: u32) {
        let mut heard = 0;
        while heard < changes {
            let now = self.changes.load(Ordering::Acquire);
            if now == heard {
                self.changes.wait(heard, None);
                continue;
            }
            heard = now;
            let Content { bytes, has_ended } = *lock(&self.content);
            let ready = Readiness { read: has_ended || bytes > 0, write: true, has_ended, is_watch_over: false };
            self.wake(self.record.report(ready, &self));
        }
    }

    fn wake(&self, woken: [Woken<usize>; 2]) {
        woken.into_iter().for_each(|woken| woken.for_each(&mut |number| self.threads[number].unpark()));
    }

    /// As socket calls do it: reads up to two bytes, waiting.
    fn receive(&self, number: usize) -> usize {
        loop {
            let seen = self.record.look(Interest::Read);
            if seen.may_work {
                match self.read(2) {
                    Some(count) => {
                        if count == 1 {
                            self.record.note_nothing_left(Interest::Read, seen, true);
                        }
                        return count;
                    }
                    None => self.record.note_nothing_left(Interest::Read, seen, false),
                }
            }
            let Ok(Some(reports)) = self.record.join(number, Interest::Read, Lifetime::Known, Some(seen), &self) else {
                continue;
            };
            while !self.record.is_reported(Interest::Read, reports) {
                self.threads[number].park(None);
            }
            self.record.leave(number, Interest::Read, reports);
        }
    }
}

fn receiver(stream: &Arc<Stream>, number: usize, calls: usize) -> thread::JoinHandle<usize> {
    let stream = stream.clone();
    thread::spawn(move || (0..calls).map(|_| stream.receive(number)).sum())
}

#[test]
fn model_data_wakes_whoever_waits_for_it() {
    // The watch and two arrivals are three changes at most; the poller stays for those that come.
    explore(Some(2), || {
        let stream = Stream::new();
        stream.is_watched.store(true, Ordering::SeqCst);
        let receiver = {
            let stream = stream.clone();
            thread::spawn(move || {
                // Watched from an earlier wait on.
                let _ = stream.record.join(1, Interest::Write, Lifetime::Known, None, &&*stream);
                let mut count = 0;
                while count < 2 {
                    count += stream.receive(0);
                }
                count
            })
        };
        let other = stream.clone();
        let peer = thread::spawn(move || {
            other.change(|content| content.bytes += 1);
            other.change(|content| content.bytes += 1);
        });
        stream.poll(3);
        peer.join().unwrap();
        assert_eq!(receiver.join().unwrap(), 2);
    });
}

#[test]
fn model_two_who_wait_share_what_comes() {
    explore(Some(2), || {
        let stream = Stream::new();
        let receivers = [receiver(&stream, 0, 1), receiver(&stream, 1, 1)];
        let other = stream.clone();
        let poller = thread::spawn(move || {
            // The end of the stream wakes both at the latest.
            other.is_watched.store(true, Ordering::SeqCst);
            other.change(|content| *content = Content { bytes: 2, has_ended: true });
            other.poll(1);
        });
        let total: usize = receivers.into_iter().map(|receiver| receiver.join().unwrap()).sum();
        assert_eq!(total, 2);
        poller.join().unwrap();
    });
}

#[test]
fn model_a_wait_meets_a_close() {
    explore(None, || {
        let stream = Stream::new();
        let receiver = receiver(&stream, 0, 1);
        stream.change(|content| content.has_ended = true);
        stream.wake(stream.record.forget(|| {}));
        assert_eq!(receiver.join().unwrap(), 0);
    });
}

#[test]
fn model_an_end_is_not_taken_for_an_empty_stream() {
    explore(Some(2), || {
        let stream = Stream::new();
        stream.is_watched.store(true, Ordering::SeqCst);
        let _ = stream.record.join(1, Interest::Write, Lifetime::Known, None, &&*stream);
        // One change tells of the data and of the end; the reader gets the one and then the other.
        let receiver = receiver(&stream, 0, 2);
        let other = stream.clone();
        let peer = thread::spawn(move || {
            other.change(|content| *content = Content { bytes: 1, has_ended: true });
        });
        stream.poll(2);
        assert_eq!(receiver.join().unwrap(), 1);
        peer.join().unwrap();
    });
}
