//! Figures of a running machine: processor time, memory, collections, locks, the thread pool.
//!
//! Most are the machine's own counters; those of .NET's thread pool and timers come from the class library's
//! properties, which are managed code. Left out: how they are shown (the command), and instruments of the program.

use crate::compile::STATISTICS;
use crate::exceptions::ToManaged;
use crate::invoke;
use crate::monitors;
use crate::slot::Slot;
use crate::thread::CurrentThread;
use crate::vm::{first_chance, options};
use saki_os::clock;
use saki_thread::ThreadKind;
use saki_types::universe;
use std::io;
use std::sync::atomic::Ordering;

/// How a figure grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CounterKind {
    /// It goes up and down.
    Level,
    /// It only grows.
    Total,
}

/// What a figure counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CounterUnit {
    Items,
    Bytes,
    Nanoseconds,
}

/// A figure at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CounterValue {
    /// As .NET's tools call it, where they have it.
    pub name: &'static str,
    pub kind: CounterKind,
    pub unit: CounterUnit,
    pub value: u64,
}

/// Properties of the class library: type, property, name of the figure, how it grows.
const PROPERTIES: [(&str, &str, &str, CounterKind); 4] = [
    ("ThreadPool", "get_ThreadCount", "threadpool-thread-count", CounterKind::Level),
    ("ThreadPool", "get_PendingWorkItemCount", "threadpool-queue-length", CounterKind::Level),
    ("ThreadPool", "get_CompletedWorkItemCount", "threadpool-completed-items-count", CounterKind::Total),
    ("Timer", "get_ActiveCount", "active-timer-count", CounterKind::Level),
];

/// The figures now, in the order in which they are shown.
pub fn read(t: CurrentThread) -> Vec<CounterValue> {
    use CounterKind::{Level, Total};
    use CounterUnit::{Bytes, Items, Nanoseconds};
    let of = |name, kind, unit, value| CounterValue { name, kind, unit, value };
    let heap = saki_gc::statistics();
    // Relaxed: counters.
    let methods = STATISTICS.methods.load(Ordering::Relaxed);
    let mut values = vec![
        of("cpu-usage", Total, Nanoseconds, clock::process_cpu_ns()),
        of("working-set", Level, Bytes, resident_bytes()),
        of("gc-heap-size", Level, Bytes, saki_gc::heap_bytes_used() as u64),
        of("gen-0-gc-count", Total, Items, saki_gc::collection_count(0)),
        of("gen-2-gc-count", Total, Items, heap.full_collections),
        of("time-in-gc", Total, Nanoseconds, heap.pause_total.as_nanos() as u64),
        of("alloc-rate", Total, Bytes, saki_gc::bytes_allocated(t.managed())),
        of("thread-count", Level, Items, saki_thread::thread_count() as u64),
    ];
    for (class, property, name, kind) in PROPERTIES {
        values.extend(property_of(t, class, property).map(|value| of(name, kind, Items, value)));
    }
    // .NET's own locks are counted by the class library, together with the machine's.
    let contentions = property_of(t, "Monitor", "get_LockContentionCount").unwrap_or_else(monitors::contention_count);
    values.push(of("monitor-lock-contention-count", Total, Items, contentions));
    values.push(of("exception-count", Total, Items, u64::from(first_chance::count())));
    values.push(of("methods-jitted-count", Total, Items, methods));
    values
}

/// The value of a static property with a number in `System.Threading`; None where the class library lacks it. Mono's
/// are left out: its pool is the machine's.
fn property_of(t: CurrentThread, class: &str, getter: &str) -> Option<u64> {
    options::options().net.as_ref()?;
    let ty = universe().corlib().find_type("System.Threading", class).ok().flatten()?;
    let method = ty.find_method(getter, 0).to_managed(t).ok().flatten()?;
    match invoke::invoke(t, method, &[]) {
        Ok(value) if method.sig().is_ok_and(|sig| sig.ret.full_name() == "System.Int32") => {
            Some(value.as_i32().max(0) as u64)
        }
        Ok(value) => Some(Slot::as_i64(value).max(0) as u64),
        Err(_) => {
            t.take_pending();
            None
        }
    }
}

/// The process's memory that is in RAM.
fn resident_bytes() -> u64 {
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = sizes.split_ascii_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    pages * saki_os::memory::page_size_bytes() as u64
}

/// Runs `body` on a managed thread of its own, which may read figures.
///
/// # Errors
/// The system's, when no thread can be made.
pub fn on_own_thread(body: impl FnOnce(CurrentThread) + Send + 'static) -> io::Result<()> {
    saki_thread::spawn(ThreadKind::Internal, Some("Counters"), 0, move |thread| {
        // SAFETY: the thread just attached.
        body(unsafe { CurrentThread::from_abi(thread.abi()) });
    })
    .map(|_| ())
}
