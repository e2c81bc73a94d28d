//! `mono/utils/mono-counters.h`: what the host counts, the process and the machine; limits of resources.
//!
//! The process's counters have Mono's names; the machine's have those of Mono's that count the same. Left out: Mono's
//! counters of the insides of its compiler and collector.

use crate::host_functions::{self, CounterSource, Counters, MonoCounter, ResourceCallback};
use crate::machine;
use crate::text::{kept, text};
use saki_base::locks::{Mutex, rank};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Write as _;
use std::{fs, ptr};

const INT: c_int = 0;
const UINT: c_int = 1;
const WORD: c_int = 2;
const LONG: c_int = 3;
const ULONG: c_int = 4;
const DOUBLE: c_int = 5;
const STRING: c_int = 6;
const TIME_INTERVAL: c_int = 7;

const TYPE_MASK: c_int = 0xf;
const IS_FUNCTION: c_int = 128;
const SECTION_MASK: c_int = 0x00ff_ff00;
const UNIT_MASK: c_int = 0x0f00_0000;
const VARIANCE_MASK: c_int = 0xf000_0000_u32 as c_int;

const JIT: c_int = 1 << 8;
const GC: c_int = 1 << 9;
const SYSTEM: c_int = 1 << 14;

const BYTES: c_int = 1 << 24;
/// Units of 100 ns.
const TIME: c_int = 2 << 24;
const COUNT: c_int = 3 << 24;
const PERCENTAGE: c_int = 4 << 24;

const MONOTONIC: c_int = 1 << 28;
const VARIABLE: c_int = 1 << 30;

/// The words of the sections in dumps, from that of the lowest bit.
const SECTION_NAMES: [&str; 10] =
    ["JIT", "GC", "Metadata", "Generics", "Security", "Runtime", "System", "", "Profiler", "Interp"];

/// A line of /proc/self/status, in bytes.
fn status_bytes(name: &str) -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib: i64 = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    kib << 10
}

fn usage() -> libc::rusage {
    // SAFETY: a struct of plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a variable of ours.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    usage
}

/// In units of 100 ns.
fn units_of(time: libc::timeval) -> i64 {
    (time.tv_sec * 1_000_000 + time.tv_usec) * 10
}

/// The load of the last minute, five minutes or quarter of an hour.
fn load_average(index: usize) -> f64 {
    let loads = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    loads.split(' ').nth(index).and_then(|load| load.parse().ok()).unwrap_or(0.0)
}

macro_rules! functions {
    ($ty:ty: $($name:ident => $value:expr;)*) => {
        $(extern "C" fn $name() -> $ty { $value })*
    };
}

functions! { i64:
    user_time => units_of(usage().ru_utime);
    system_time => units_of(usage().ru_stime);
    total_time => units_of(usage().ru_utime) + units_of(usage().ru_stime);
    working_set => status_bytes("VmRSS");
    private_bytes => status_bytes("VmData");
    virtual_bytes => status_bytes("VmSize");
    paged_bytes => status_bytes("VmSwap");
    page_faults => usage().ru_minflt + usage().ru_majflt;
    minor_collections => (saki_gc::collection_count(0) - saki_gc::collection_count(1)) as i64;
    major_collections => saki_gc::collection_count(1) as i64;
    collection_time => saki_gc::statistics().pause_total.as_nanos() as i64 / 100;
    longest_pause => saki_gc::statistics().pause_max.as_nanos() as i64 / 100;
    heap_bytes => if machine::is_started() { saki_gc::heap_bytes_used() as i64 } else { 0 };
}

functions! { f64:
    load_of_1_minute => load_average(0);
    load_of_5_minutes => load_average(1);
    load_of_15_minutes => load_average(2);
}

fn own(name: &CStr, kind: c_int, source: CounterSource) -> &'static MonoCounter {
    let name = kept(&name.to_string_lossy());
    Box::leak(Box::new(MonoCounter { name, kind: kind | IS_FUNCTION, source, size_bytes: 8 }))
}

/// The counters of the process and of the machine, in Mono's order.
fn own_counters() -> Vec<&'static MonoCounter> {
    const TIME_SPENT: c_int = LONG | TIME | MONOTONIC;
    const NUMBER: c_int = LONG | COUNT | MONOTONIC;
    const SIZE: c_int = LONG | BYTES | VARIABLE;
    const LOAD: c_int = SYSTEM | DOUBLE | PERCENTAGE | VARIABLE;
    type Long = unsafe extern "C" fn() -> i64;
    let longs: [(&CStr, c_int, Long); 13] = [
        (c"User Time", SYSTEM | TIME_SPENT, user_time),
        (c"System Time", SYSTEM | TIME_SPENT, system_time),
        (c"Total Time", SYSTEM | TIME_SPENT, total_time),
        (c"Working Set", SYSTEM | SIZE, working_set),
        (c"Private Bytes", SYSTEM | SIZE, private_bytes),
        (c"Virtual Bytes", SYSTEM | SIZE, virtual_bytes),
        (c"Page File Bytes", SYSTEM | SIZE, paged_bytes),
        (c"Page Faults", SYSTEM | NUMBER, page_faults),
        (c"Minor GC collections", GC | NUMBER, minor_collections),
        (c"Major GC collections", GC | NUMBER, major_collections),
        (c"World stop", GC | TIME_SPENT, collection_time),
        (c"Collection max time", GC | TIME_SPENT, longest_pause),
        (c"Memgov alloc", GC | SIZE, heap_bytes),
    ];
    type Double = unsafe extern "C" fn() -> f64;
    let doubles: [(&CStr, Double); 3] = [
        (c"CPU Load Average - 1min", load_of_1_minute),
        (c"CPU Load Average - 5min", load_of_5_minutes),
        (c"CPU Load Average - 15min", load_of_15_minutes),
    ];
    let long = |(name, kind, function)| own(name, kind, CounterSource { long: function });
    let mut all: Vec<&'static MonoCounter> = longs.into_iter().map(long).collect();
    let loads = doubles.map(|(name, function)| own(name, LOAD, CounterSource { double: function }));
    // Behind those of the process.
    all.splice(8..8, loads);
    all
}

/// Begins to count: before it is called, or the machine has started, no counter can be registered.
#[unsafe(no_mangle)]
pub extern "C" fn mono_counters_init() {
    if host_functions::with(|functions| functions.counters.are_on) {
        return;
    }
    // The lock is not held: names are kept under another one. The first list wins.
    let all = own_counters();
    host_functions::with(|functions| {
        let counters = &mut functions.counters;
        if !counters.are_on {
            counters.are_on = true;
            counters.all = all;
        }
    });
}

/// Runs `body` with the counters, if they are on.
fn counters<R>(body: impl FnOnce(&mut Counters) -> R) -> Option<R> {
    if machine::is_started() {
        mono_counters_init();
    }
    host_functions::with(|functions| functions.counters.are_on.then(|| body(&mut functions.counters)))
}

/// Sets the sections that [`mono_counters_dump`] may show.
#[unsafe(no_mangle)]
pub extern "C" fn mono_counters_enable(sections: c_int) {
    host_functions::with(|functions| functions.counters.sections = sections & SECTION_MASK);
}

/// Forgets all counters; those that the host holds stay valid.
#[unsafe(no_mangle)]
pub extern "C" fn mono_counters_cleanup() {
    counters(|counters| counters.all.clear());
}

/// Adds a counter: the address of a number, or of a function that gives it.
///
/// # Safety
/// `name` ends in NUL; the source is valid as long as the counter is asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_counters_register(name: *const c_char, kind: c_int, source: CounterSource) {
    let size = match kind & TYPE_MASK {
        INT | UINT => 4,
        STRING => 0,
        WORD | LONG | ULONG | DOUBLE | TIME_INTERVAL => 8,
        _ => machine::end("mono_counters_register", "gets an unknown type of counters"),
    };
    // SAFETY: the host's text and source.
    unsafe { mono_counters_register_with_size(name, kind, source, size) };
}

/// [`mono_counters_register`] of a counter of so many bytes: a text.
///
/// # Safety
/// That of [`mono_counters_register`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_counters_register_with_size(
    name: *const c_char,
    kind: c_int,
    source: CounterSource,
    size: c_int,
) {
    // SAFETY: the host's text, which ends in NUL.
    let name = kept(&unsafe { text(name) });
    let kind = if kind & VARIANCE_MASK == 0 { kind | MONOTONIC } else { kind };
    // SAFETY: all variants are an address.
    let address = |source: &CounterSource| unsafe { source.address };
    let added = counters(|counters| {
        if counters.all.iter().any(|known| address(&known.source) == address(&source)) {
            return None;
        }
        let size_bytes = usize::try_from(size).unwrap_or(0);
        let counter: &'static MonoCounter = Box::leak(Box::new(MonoCounter { name, kind, source, size_bytes }));
        counters.all.push(counter);
        Some((counter, counters.on_register.clone()))
    });
    if let Some(Some((counter, callbacks))) = added {
        // SAFETY: the host's functions.
        callbacks.iter().for_each(|callback| unsafe { callback(counter) });
    }
}

/// Has the host's function called with each counter that is registered from now on.
///
/// # Safety
/// The function may be called on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_counters_on_register(callback: unsafe extern "C" fn(&'static MonoCounter)) {
    counters(|counters| counters.on_register.push(callback));
}

/// Shows each counter to the host's function, until that gives 0.
///
/// # Safety
/// The function may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_counters_foreach(
    function: unsafe extern "C" fn(&'static MonoCounter, *mut c_void) -> c_int,
    data: *mut c_void,
) {
    for counter in counters(|counters| counters.all.clone()).unwrap_or_default() {
        // SAFETY: the host's function and its data.
        if unsafe { function(counter, data) } == 0 {
            return;
        }
    }
}

/// The counter's number, as the bytes of its type; None for a text that is not there.
fn bytes_of(counter: &MonoCounter) -> Option<Vec<u8>> {
    let (source, size_bytes) = (counter.source, counter.size_bytes);
    let is_function = counter.kind & IS_FUNCTION != 0;
    let number = |size_bytes: usize| {
        // SAFETY: without the flag, the host's number of this size.
        unsafe { std::slice::from_raw_parts(source.address, size_bytes) }.to_vec()
    };
    Some(match (counter.kind & TYPE_MASK, is_function) {
        (INT | UINT, false) => number(4),
        // SAFETY: with the flag, a function that gives such a number.
        (INT | UINT, true) => unsafe { (source.int)() }.to_ne_bytes().to_vec(),
        (STRING, _) => {
            // SAFETY: with the flag, a function that gives a text; else the text itself.
            let start = unsafe { if is_function { (source.text)() } else { source.address.cast() } };
            if start.is_null() || size_bytes == 0 {
                return None;
            }
            // SAFETY: not null, so a text that ends in NUL.
            let text = unsafe { CStr::from_ptr(start) }.to_bytes();
            let mut bytes = text[..text.len().min(size_bytes - 1)].to_vec();
            bytes.resize(size_bytes, 0);
            bytes
        }
        (_, false) => number(8),
        // SAFETY: with the flag, a function that gives such a number.
        (DOUBLE, true) => unsafe { (source.double)() }.to_ne_bytes().to_vec(),
        // SAFETY: with the flag, a function that gives such a number.
        (_, true) => unsafe { (source.long)() }.to_ne_bytes().to_vec(),
    })
}

/// Copies a counter's number; how many bytes it has, or -1 without room.
///
/// # Safety
/// `buffer` has room for `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_counters_sample(counter: &MonoCounter, buffer: *mut u8, room: c_int) -> c_int {
    if usize::try_from(room).unwrap_or(0) < counter.size_bytes || counters(|_| ()).is_none() {
        return -1;
    }
    let Some(bytes) = bytes_of(counter) else { return 0 };
    // SAFETY: the host's room, which is no smaller.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), buffer, bytes.len()) };
    bytes.len() as c_int
}

/// A line of a dump.
fn line_of(counter: &MonoCounter) -> String {
    let bytes = bytes_of(counter);
    let long = bytes.as_ref().and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| i64::from_ne_bytes(*bytes));
    let int = bytes.as_ref().and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| i32::from_ne_bytes(*bytes));
    let is_time = counter.kind & UNIT_MASK == TIME;
    let value = match counter.kind & TYPE_MASK {
        INT => int.to_string(),
        UINT => (int as u32).to_string(),
        LONG if is_time => format!("{:.2} ms", long as f64 / 1e4),
        ULONG if is_time => format!("{:.2} ms", long as u64 as f64 / 1e4),
        ULONG => (long as u64).to_string(),
        DOUBLE => format!("{:.4}", f64::from_bits(long as u64)),
        TIME_INTERVAL => format!("{:.2} ms", long as f64 / 1e3),
        STRING => match bytes {
            Some(bytes) => String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or(&[])).into_owned(),
            None => "(null)".to_owned(),
        },
        _ => long.to_string(),
    };
    // SAFETY: the name lives as long as the process.
    let name = unsafe { text(counter.name) };
    format!("{name:<36}: {value}\n")
}

/// Writes the counters of these sections, and of these variances if there are any, to a C stream. Only sections that
/// [`mono_counters_enable`] has named are shown.
///
/// # Safety
/// `file` is an open stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_counters_dump(mask: c_int, file: *mut libc::FILE) {
    // As under Mono, where the mask of enabled sections takes the variances away.
    let known = counters(|counters| (counters.all.clone(), mask & counters.sections));
    let Some((all, sections)) = known else { return };
    let mut dump = String::new();
    for (index, name) in SECTION_NAMES.iter().enumerate() {
        let section = JIT << index;
        let of_section: Vec<_> = all.iter().filter(|counter| counter.kind & section != 0).collect();
        if sections & section != 0 && !of_section.is_empty() {
            // A String takes all that is written.
            let _ = write!(dump, "\n{name} statistics\n");
            of_section.iter().for_each(|counter| dump.push_str(&line_of(counter)));
        }
    }
    let dump = CString::new(dump.replace('\0', "")).unwrap_or_default();
    // SAFETY: a text that ends in NUL, and the host's stream.
    unsafe { libc::fputs(dump.as_ptr(), file) };
    // SAFETY: the host's stream.
    unsafe { libc::fflush(file) };
}

/// The counter's name; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_counter_get_name(counter: &MonoCounter) -> *const c_char {
    counter.name
}

/// `MONO_COUNTER_INT` and so on.
#[unsafe(no_mangle)]
pub extern "C" fn mono_counter_get_type(counter: &MonoCounter) -> c_int {
    counter.kind & TYPE_MASK
}

/// `MONO_COUNTER_JIT` and so on.
#[unsafe(no_mangle)]
pub extern "C" fn mono_counter_get_section(counter: &MonoCounter) -> c_int {
    counter.kind & SECTION_MASK
}

/// `MONO_COUNTER_BYTES` and so on.
#[unsafe(no_mangle)]
pub extern "C" fn mono_counter_get_unit(counter: &MonoCounter) -> c_int {
    counter.kind & UNIT_MASK
}

/// `MONO_COUNTER_MONOTONIC` and so on.
#[unsafe(no_mangle)]
pub extern "C" fn mono_counter_get_variance(counter: &MonoCounter) -> c_int {
    counter.kind & VARIANCE_MASK
}

/// Bytes of the counter's number.
#[unsafe(no_mangle)]
pub extern "C" fn mono_counter_get_size(counter: &MonoCounter) -> usize {
    counter.size_bytes
}

/// `MONO_RESOURCE_GC_HEAP`, and the number of resources.
const GC_HEAP: usize = 2;
const RESOURCES: usize = 3;

/// The lower and the upper limit of each resource.
static LIMITS: Mutex<rank::HostLimits, [(usize, usize); RESOURCES]> = Mutex::new([(0, 0); RESOURCES]);

/// Sets the lower and the upper limit of a resource: 1, or 0 for what is none. The machine looks at the bytes of its
/// heap after each collection; nothing else is looked at, but what the host tells
/// [`mono_runtime_resource_check_limit`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_runtime_resource_limit(resource: c_int, soft: usize, hard: usize) -> c_int {
    match usize::try_from(resource) {
        Ok(resource) if resource < RESOURCES && soft <= hard => {
            LIMITS.lock()[resource] = (soft, hard);
            1
        }
        _ => 0,
    }
}

/// Has the host's function called when a resource is above a limit: on the finalizer's thread, or by
/// [`mono_runtime_resource_check_limit`].
///
/// # Safety
/// The function may be called on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_runtime_resource_set_callback(callback: Option<ResourceCallback>) {
    host_functions::with(|functions| functions.resource_limit_reached = callback);
    if callback.is_some() {
        saki_runtime::vm::finalizer::follow_collections();
    }
}

/// Calls the host's function if the value is above a limit of the resource.
#[unsafe(no_mangle)]
pub extern "C" fn mono_runtime_resource_check_limit(resource: c_int, value: usize) {
    let Some(callback) = host_functions::with(|functions| functions.resource_limit_reached) else { return };
    let Some(&(soft, hard)) =
        usize::try_from(resource).ok().and_then(|index| LIMITS.lock().get(index).copied()).as_ref()
    else {
        return;
    };
    if value > soft {
        // SAFETY: the host's function.
        unsafe { callback(resource, value, c_int::from(value <= hard)) };
    }
}

/// A collection is over: whether the heap is above a limit that the host has set.
pub(crate) fn check_heap() {
    let (soft, hard) = LIMITS.lock()[GC_HEAP];
    if (soft, hard) != (0, 0) {
        mono_runtime_resource_check_limit(GC_HEAP as c_int, saki_gc::heap_bytes_used());
    }
}
