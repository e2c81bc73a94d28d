//! The thread that reads what the handlers and the events have recorded, again and again while a session runs.

use crate::carriers::{self, Rates};
use crate::reader::Reader;
use crate::unsampled::Unsampled;
use crate::wake::WAKE;
use saki_base::locks::{Mutex, rank};
use saki_os::services::{self, Service};
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The most that the reader waits between two looks, and the number of samples of a thread that it aims at in between:
/// at 10 kHz a ring holds as many with 600 frames each. With half as many samples per look, the looks took 23 instead
/// of 17 ms of each second at that rate.
const MAX_ROUND: Duration = Duration::from_millis(50);
const MIN_ROUND: Duration = Duration::from_millis(2);
const SAMPLES_A_ROUND: u32 = 100;

/// The reader, between `start` and `stop`.
pub static READER: Mutex<rank::SampleReader, Option<Running>> = Mutex::new(None);

pub struct Running {
    pub reader: Reader,
    /// The OS threads that are not sampled.
    pub unsampled: Unsampled,
    pub not_sampled_before: u64,
}

/// The kernel's id of the reader's thread.
static READER_THREAD: Mutex<rank::SampleReaderThread, Option<u32>> = Mutex::new(None);

/// How long the reader may wait.
fn round() -> Option<Duration> {
    let Rates { timers, wall_hz, events } = carriers::rates()?;
    let hz = timers.map(|(_, hz)| hz).max(wall_hz).unwrap_or(1).max(1);
    // Events come in bursts.
    let hz = if events.is_empty() { hz } else { u32::MAX };
    Some((Duration::from_secs(1) * SAMPLES_A_ROUND / hz).clamp(MIN_ROUND, MAX_ROUND))
}

/// Starts the thread, once in a process.
///
/// # Errors
/// The system's.
pub fn ensure() -> io::Result<()> {
    let mut thread = READER_THREAD.lock();
    if thread.is_none() {
        services::machine().start(Service::Profiler, || {
            *READER_THREAD.lock() = Some(saki_os::thread::native_id());
            loop {
                // Acquire: pairs with `wake_reader`: who woke the reader because the machine ends has said so before.
                let before = WAKE.atomic().load(Ordering::Acquire);
                if services::machine().is_ending() {
                    return;
                }
                if let Some(running) = READER.lock().as_mut() {
                    running.reader.read();
                    if carriers::rates().is_some_and(|rates| rates.counts_cpu()) {
                        running.unsampled.look(&mut running.reader);
                    }
                }
                WAKE.wait(before, round());
            }
        })?;
        *thread = Some(0);
    }
    Ok(())
}

/// The kernel's id of the thread; 0 before it runs.
pub fn native_id() -> Option<u32> {
    *READER_THREAD.lock()
}
