//! The processor time of OS threads that are not sampled, such as the collector's: their clocks are looked at from time
//! to time, so that a profile shows when they ran.
//!
//! Invariant: a thread's time counts once: what it used while it was a carrier is in its samples. Left out: stacks of
//! these threads.

use crate::reader::Reader;
use crate::reader_thread;
use rustc_hash::FxHashMap;

/// Between two looks for new threads: with thousands of threads the list takes milliseconds.
const LIST_EVERY_NS: u64 = 500_000_000;
/// A thread's time between two looks is spread over pieces of this length.
const PIECE_NS: u64 = 5_000_000;
/// Less processor time than this waits for the next look, and is not cut in pieces.
const LEAST_NS: u64 = 1_000_000;

/// See the module header.
pub struct Unsampled {
    /// By the kernel's id: the thread's processor time when it was looked at last. All threads that were there at the
    /// last listing.
    known: FxHashMap<u32, u64>,
    /// Processor time of the reader's own thread at the beginning.
    reader_before_ns: u64,
    /// CLOCK_MONOTONIC.
    looked_ns: u64,
    listed_ns: u64,
}

impl Unsampled {
    /// From now on.
    pub fn begin() -> Unsampled {
        let known = cpu_of_threads();
        let reader = reader_thread::native_id().and_then(|id| known.get(&id).copied());
        let now_ns = saki_os::clock::monotonic_ns();
        Unsampled { known, reader_before_ns: reader.unwrap_or(0), looked_ns: now_ns, listed_ns: now_ns }
    }

    /// Adds what the threads have used since the last look.
    pub fn look(&mut self, reader: &mut Reader) {
        self.look_for(reader, LEAST_NS);
    }

    fn look_for(&mut self, reader: &mut Reader, least_ns: u64) {
        let now_ns = saki_os::clock::monotonic_ns();
        let since_ns = std::mem::replace(&mut self.looked_ns, now_ns);
        if now_ns - self.listed_ns >= LIST_EVERY_NS {
            self.listed_ns = now_ns;
            let listed = cpu_of_threads();
            self.known.retain(|id, _| listed.contains_key(id));
            // All of a new thread's time is new.
            listed.into_keys().for_each(|id| _ = self.known.entry(id).or_insert(0));
        }
        let own = reader_thread::native_id();
        for (&id, before_ns) in self.known.iter_mut().filter(|(id, _)| Some(**id) != own) {
            let cpu_ns = saki_os::clock::cpu_ns_of_thread(id);
            let used_ns = cpu_ns.saturating_sub(*before_ns);
            if used_ns < least_ns {
                continue;
            }
            *before_ns = cpu_ns;
            if !is_carrier(id) {
                add(reader, id, used_ns, since_ns, now_ns);
            }
        }
    }

    /// The last look, where processor time is `counted`; returns what the reader's own thread has used.
    pub fn end(mut self, reader: &mut Reader, is_counted: bool) -> u64 {
        if is_counted {
            // With the threads that have come since the last listing.
            self.listed_ns = 0;
            self.look_for(reader, 1);
        }
        let own = reader_thread::native_id().map_or(0, saki_os::clock::cpu_ns_of_thread);
        own.saturating_sub(self.reader_before_ns)
    }
}

/// Adds a thread's time, evenly spread from `since_ns` to `now_ns`.
fn add(reader: &mut Reader, native_id: u32, used_ns: u64, since_ns: u64, now_ns: u64) {
    let name = name_of(native_id);
    let length_ns = now_ns.saturating_sub(since_ns);
    let pieces = (length_ns / PIECE_NS).min(used_ns / LEAST_NS).max(1);
    for piece in 0..pieces {
        let part_ns = used_ns / pieces + if piece == 0 { used_ns % pieces } else { 0 };
        reader.add_unsampled(native_id, &name, part_ns, since_ns + length_ns * (piece + 1) / pieces);
    }
}

/// Whether an OS thread that exists now is a carrier, which is sampled.
fn is_carrier(native_id: u32) -> bool {
    let mut is_carrier = false;
    saki_thread::for_each_carrier(|carrier| is_carrier |= carrier.native_id() == native_id);
    is_carrier
}

/// Processor time of the OS threads of the process, by the kernel's id.
fn cpu_of_threads() -> FxHashMap<u32, u64> {
    let folder = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let ids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.map(|id| (id, saki_os::clock::cpu_ns_of_thread(id))).collect()
}

/// The name of an OS thread.
fn name_of(native_id: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/self/task/{native_id}/comm"));
    name.map_or_else(|_| native_id.to_string(), |name| name.trim_end().to_owned())
}
