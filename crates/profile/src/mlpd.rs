//! Mono's log profiler format (`.mlpd`), version 3.0 data 17, which `mprof-report` and `Mono.Profiler.Log.dll` read.
//!
//! A function is written as a method with an invented identity and range of addresses, since readers look samples up by
//! address, addresses of real code are reused, and each function must appear once in the report. Native functions are
//! unmanaged symbols with such ranges. The format has no weights: a sample that counts for n is written n times.
//!
//! `reader` reads such files, also those that Mono wrote.
//!
//! Samples of exceptions are written as throws with their stacks. Left out: events that profiles do not hold (handles,
//! moves, counters). `log` writes such files while the program runs, with all kinds of events of the format.

mod buffer;
pub mod event;
pub mod log;
pub mod output;
mod reader;

pub use reader::{is_one, read};

pub use buffer::{Allocation, Buffer, EncodedStack, Header};

use crate::model::{FunctionKind, Profile, Sample, Unit};
use buffer::BUFFER_BYTES;
use event::metadata;

/// The size of a function's range of addresses.
const RANGE_BYTES: u64 = 16;
/// Where ranges begin: below any address that a program has.
const FIRST_ADDRESS: u64 = 0x1000_0000;
/// Where identities of methods begin.
const FIRST_METHOD: u64 = 0x2000_0000;
const DOMAIN: u64 = 1;
const IMAGE: u64 = 2;
/// Where the invented identities of vtables begin; the identity of a vtable's class is one more.
const FIRST_VTABLE: u64 = 0x4000_0000;

/// The profile as a log of Mono's profiler: names, then samples.
pub fn write(profile: &Profile) -> Vec<u8> {
    let mut out = Vec::new();
    write_header(&mut out, profile);
    let start_ns = profile.start_unix_ns;
    let mut first = Buffer::new(start_ns, thread_key(profile, 0));
    write_metadata(&mut out, &mut first, profile);
    first.take(&mut out);
    let mut by_thread = vec![Vec::new(); profile.threads.len()];
    profile.samples.iter().for_each(|sample| by_thread[sample.thread as usize].push(sample));
    for (thread, samples) in by_thread.into_iter().enumerate() {
        let mut buffer = Buffer::new(start_ns, thread_key(profile, thread));
        for sample in samples {
            // The most times that one sample is written. A sample with a larger weight, as of a thread without its own
            // samples, is written no more often than this.
            const MAX_REPEATED: u64 = 100_000;
            for _ in 0..sample.count.min(MAX_REPEATED) {
                buffer.write_sample(profile, sample, start_ns + sample.time_ns);
                if buffer.payload.len() >= BUFFER_BYTES {
                    buffer.take(&mut out);
                }
            }
        }
        buffer.take(&mut out);
    }
    let mut last = Buffer::new(start_ns + profile.duration_ns, thread_key(profile, 0));
    last.event(event::SYNC_POINT, start_ns + profile.duration_ns).byte(event::sync_point::PERIODIC);
    last.take(&mut out);
    out
}

/// The number that stands for a thread's address; not 0.
fn thread_key(profile: &Profile, thread: usize) -> u64 {
    profile.threads.get(thread).map_or(1, |info| if info.id == 0 { 0x1_0000 + thread as u64 } else { info.id })
}

fn address_of(function: u32) -> u64 {
    FIRST_ADDRESS + u64::from(function) * RANGE_BYTES
}

fn method_of(function: u32) -> u64 {
    FIRST_METHOD + u64::from(function) * RANGE_BYTES
}

fn vtable_of(function: u32) -> u64 {
    FIRST_VTABLE + u64::from(function) * RANGE_BYTES
}

fn write_header(out: &mut Vec<u8>, profile: &Profile) {
    let mut arguments = format!("log:{}", profile.kind);
    if profile.is_sampled_time() {
        // So that a reader knows what a sample stands for.
        arguments += &format!(",period={}", profile.period);
    }
    let start_ns = profile.start_unix_ns;
    Header { arguments: &arguments, port: 0, start_unix_ns: start_ns, start_ns }.write(out);
}

impl Buffer {
    fn write_sample(&mut self, profile: &Profile, sample: &Sample, time_ns: u64) {
        // The innermost first.
        let functions: Vec<u32> = profile.frames_of(sample.stack).map(|frame| frame.function).collect();
        let is_method = |function: &&u32| profile.functions[**function as usize].kind != FunctionKind::Native;
        let methods: Vec<u32> = functions.iter().filter(is_method).copied().collect();
        if profile.unit != Unit::Nanoseconds {
            // The innermost one is not a method, but the class of the object.
            let (class, callers) = methods.split_first().unwrap_or((&0, &[]));
            let object = address_of(*class);
            if profile.unit == Unit::Bytes {
                self.event(event::ALLOCATION_WITH_STACK, time_ns);
                self.pointer(vtable_of(*class));
                self.object(object);
                self.number((sample.value / sample.count.max(1)).next_multiple_of(8));
            } else {
                self.event(event::THROW_WITH_STACK, time_ns);
                self.object(object);
            }
            self.stack(callers.iter().rev().map(|function| method_of(*function)));
            return;
        }
        self.event(event::SAMPLE, time_ns);
        self.pointer(thread_key(profile, sample.thread as usize));
        self.number(1);
        self.pointer(functions.first().map_or(0, |function| address_of(*function)));
        self.stack(methods.iter().map(|function| method_of(*function)));
    }
}

/// Domain, threads, methods and symbols.
fn write_metadata(out: &mut Vec<u8>, buffer: &mut Buffer, profile: &Profile) {
    let time_ns = profile.start_unix_ns;
    let load = |buffer: &mut Buffer, kind: u8, id: u64, name: &str| {
        buffer.event(event::METADATA_LOAD, time_ns).byte(kind);
        buffer.pointer(id);
        buffer.event(event::METADATA_NAME, time_ns).byte(kind);
        buffer.pointer(id);
        buffer.text(name);
    };
    let domain = profile.title.split(' ').next().unwrap_or_default();
    load(buffer, metadata::DOMAIN, DOMAIN, domain);
    for (thread, info) in profile.threads.iter().enumerate() {
        load(buffer, metadata::THREAD, thread_key(profile, thread), &info.name);
    }
    if profile.unit == Unit::Bytes {
        write_classes(buffer, profile);
    }
    for (index, function) in profile.functions.iter().enumerate() {
        let index = index as u32;
        if function.kind == FunctionKind::Native {
            buffer.event(event::UNMANAGED_SYMBOL, time_ns);
            buffer.pointer(address_of(index));
            buffer.number(RANGE_BYTES);
        } else {
            buffer.event(event::JIT, time_ns);
            buffer.method(method_of(index));
            buffer.pointer(address_of(index));
            buffer.number(RANGE_BYTES);
        }
        buffer.text(&function.name);
        if buffer.payload.len() >= BUFFER_BYTES {
            buffer.take(out);
        }
    }
}

/// Writes the classes of allocated objects, which are the functions without code.
fn write_classes(buffer: &mut Buffer, profile: &Profile) {
    let time_ns = profile.start_unix_ns;
    buffer.event(event::METADATA_LOAD, time_ns).byte(metadata::IMAGE);
    buffer.pointer(IMAGE);
    buffer.text("types");
    // Without an identity of the module.
    buffer.text("");
    for (index, class) in profile.functions.iter().enumerate().filter(|(_, f)| f.kind == FunctionKind::Note) {
        let vtable = vtable_of(index as u32);
        buffer.event(event::METADATA_LOAD, time_ns).byte(metadata::CLASS);
        buffer.pointer(vtable + 1);
        buffer.pointer(IMAGE);
        buffer.text(&class.name);
        buffer.event(event::METADATA_LOAD, time_ns).byte(metadata::VTABLE);
        buffer.pointer(vtable);
        buffer.pointer(DOMAIN);
        buffer.pointer(vtable + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::buffer::BUFFER_ID;
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn buffers_have_the_length_that_they_say() {
        let bytes = write(&sample_profile(&[("main;a", 3), ("main;b", 1)]));
        assert_eq!(bytes[..8], [0x01, 0x5A, 0x50, 0x4D, 3, 0, 17, 8]);
        let mut at = 38 + "log:cpu\0x86-64\0linux\0".len() + 12;
        assert_eq!(&bytes[at - 6..at], b"linux\0");
        let mut buffers = 0;
        while at < bytes.len() {
            assert_eq!(bytes[at..at + 4], BUFFER_ID.to_le_bytes());
            at += 48 + u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
            buffers += 1;
        }
        assert_eq!((at, buffers), (bytes.len(), 3));
    }
}
