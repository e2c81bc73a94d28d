//! Counters of the process, under Mono's names: the log has their descriptions once, then the
//! changes every second.

use saki_profile::mlpd::Buffer;
use saki_profile::mlpd::event;
use std::sync::atomic::Ordering;

const JIT: u64 = 1 << 8;
const GC: u64 = 1 << 9;
const RUNTIME: u64 = 1 << 13;
const SYSTEM: u64 = 1 << 14;

const RAW: u64 = 0 << 24;
const BYTES: u64 = 1 << 24;
const TIME: u64 = 2 << 24;
const COUNT: u64 = 3 << 24;

const MONOTONIC: u64 = 1 << 28;
const VARIABLE: u64 = 1 << 30;

/// Types of counters: signed 64 bits, and microseconds.
const LONG: u64 = 3;
const INTERVAL: u64 = 7;

/// Section, name, type, unit, variance, and how it is read.
struct Counter(u64, &'static str, u64, u64, u64, fn(&System) -> i64);

static COUNTERS: [Counter; 15] = [
    Counter(SYSTEM, "User Time", INTERVAL, TIME, MONOTONIC, |system| system.user_us),
    Counter(SYSTEM, "System Time", INTERVAL, TIME, MONOTONIC, |system| system.system_us),
    Counter(SYSTEM, "Total Time", INTERVAL, TIME, MONOTONIC, |system| system.user_us + system.system_us),
    Counter(SYSTEM, "Working Set", LONG, BYTES, VARIABLE, |system| system.resident_bytes),
    Counter(SYSTEM, "Virtual Bytes", LONG, BYTES, VARIABLE, |system| system.virtual_bytes),
    Counter(SYSTEM, "Page File Bytes", LONG, BYTES, VARIABLE, |system| system.data_bytes),
    Counter(SYSTEM, "Page Faults", LONG, COUNT, MONOTONIC, |system| system.page_faults),
    Counter(JIT, "Methods JITted using mono JIT", LONG, RAW, MONOTONIC, |_| compiled().0),
    Counter(JIT, "Total time spent JITting", INTERVAL, TIME, MONOTONIC, |_| compiled().1),
    Counter(JIT, "Compiled CIL code size", LONG, BYTES, MONOTONIC, |_| compiled().2),
    Counter(GC, "Minor GC collections", LONG, COUNT, MONOTONIC, |_| collections().0),
    Counter(GC, "Major GC collections", LONG, COUNT, MONOTONIC, |_| collections().1),
    Counter(GC, "Total GC pause", INTERVAL, TIME, MONOTONIC, |_| collections().2),
    Counter(GC, "Heap size", LONG, BYTES, VARIABLE, |_| saki_gc::heap_bytes_used() as i64),
    Counter(RUNTIME, "Threads", LONG, COUNT, VARIABLE, |_| saki_thread::thread_count() as i64),
];

/// Number, compile time in µs and code size of the compiled methods.
fn compiled() -> (i64, i64, i64) {
    let statistics = &crate::compile::STATISTICS;
    // Relaxed: counters.
    let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed) as i64;
    let times = [&statistics.import_nanoseconds, &statistics.codegen_nanoseconds, &statistics.place_nanoseconds];
    (read(&statistics.methods), times.into_iter().map(read).sum::<i64>() / 1000, read(&statistics.code_bytes))
}

/// Nursery and full collections, and microseconds in both.
fn collections() -> (i64, i64, i64) {
    let statistics = saki_gc::statistics();
    let pause_us = statistics.pause_total.as_micros() as i64;
    (statistics.nursery_collections as i64, statistics.full_collections as i64, pause_us)
}

/// The kernel's numbers about the process.
#[derive(Default)]
struct System {
    user_us: i64,
    system_us: i64,
    page_faults: i64,
    virtual_bytes: i64,
    resident_bytes: i64,
    data_bytes: i64,
}

impl System {
    fn read() -> System {
        // SAFETY: all-zero bytes are a valid rusage; the call fills it in.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is valid.
        unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
        let micros = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
        let sizes = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        // SAFETY: a number that does not change.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let mut pages = sizes.split_ascii_whitespace().map(|word| word.parse::<i64>().unwrap_or(0) * page_bytes);
        System {
            user_us: micros(usage.ru_utime),
            system_us: micros(usage.ru_stime),
            page_faults: usage.ru_minflt + usage.ru_majflt,
            virtual_bytes: pages.next().unwrap_or(0),
            resident_bytes: pages.next().unwrap_or(0),
            data_bytes: pages.nth(3).unwrap_or(0),
        }
    }
}

/// The values of the counters that the log has so far.
#[derive(Default)]
pub(super) struct Counters {
    /// None: the log does not have their descriptions either.
    last: Option<[i64; COUNTERS.len()]>,
}

/// The counters' values now.
pub(super) fn read() -> [i64; COUNTERS.len()] {
    let system = System::read();
    COUNTERS.each_ref().map(|Counter(.., read)| read(&system))
}

impl Counters {
    pub fn add_to(&mut self, values: &[i64; COUNTERS.len()], buffer: &mut Buffer, time_ns: u64) {
        let last = self.last.get_or_insert_with(|| {
            buffer.event(event::COUNTER_DESCRIPTIONS, time_ns).number(COUNTERS.len() as u64);
            for (index, Counter(section, name, ty, unit, variance, _)) in (1..).zip(&COUNTERS) {
                buffer.number(*section).text(name);
                buffer.number(*ty).number(*unit).number(*variance).number(index);
            }
            [0; COUNTERS.len()]
        });
        buffer.event(event::COUNTER_VALUES, time_ns);
        for (((index, Counter(_, _, ty, ..)), last), &value) in (1..).zip(&COUNTERS).zip(last).zip(values) {
            if value != *last {
                buffer.number(index).number(*ty).signed(value - *last);
                *last = value;
            }
        }
        buffer.number(0);
    }
}
