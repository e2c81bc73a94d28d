//! Mono's log profiler format (`.mlpd`), version 3.0 data 17, which `mprof-report` and `Mono.Profiler.Log.dll` read.
//!
//! A function is a method with an identity and a range of addresses of our own making, since readers look samples up by address, addresses of real code are used
//! again, and each function has one place in the report. Native functions are unmanaged symbols with such ranges. The format has no weights: a
//! sample that counts for n is written n times.
//!
//! Samples of exceptions are written as throws with their stacks. Left out: what profiles do not hold (handles, moves, counters).

use crate::model::{FunctionKind, Profile, Sample, Unit};

const HEADER_ID: u32 = 0x4D50_5A01;
const BUFFER_ID: u32 = 0x4D50_4C01;
const MAJOR: u8 = 3;
const MINOR: u8 = 0;
const DATA_VERSION: u8 = 17;
const POINTER_BYTES: u8 = 8;

/// Bytes after which a buffer ends.
const BUFFER_BYTES: usize = 64 << 10;
/// Of a function's range of addresses.
const RANGE_BYTES: u64 = 16;
/// Where ranges begin: below any address that a program has.
const FIRST_ADDRESS: u64 = 0x1000_0000;
/// Where identities of methods begin.
const FIRST_METHOD: u64 = 0x2000_0000;
const DOMAIN: u64 = 1;
const IMAGE: u64 = 2;
/// Where identities of vtables begin; those of their classes are one more.
const FIRST_VTABLE: u64 = 0x4000_0000;

/// Events: type and extension.
mod event {
    pub const METADATA_LOAD: u8 = 0x22;
    pub const METADATA_NAME: u8 = 0x02;
    pub const JIT: u8 = 0x43;
    pub const SAMPLE: u8 = 0x07;
    pub const UNMANAGED_SYMBOL: u8 = 0x17;
    pub const THROW_WITH_STACK: u8 = 0x84;
    pub const SYNC_POINT: u8 = 0x0A;
    pub const ALLOCATION_WITH_STACK: u8 = 0x10;
}

/// Kinds of metadata.
const METADATA_CLASS: u8 = 1;
const METADATA_IMAGE: u8 = 2;
const METADATA_DOMAIN: u8 = 4;
const METADATA_THREAD: u8 = 5;
const METADATA_VTABLE: u8 = 7;

pub fn write(profile: &Profile) -> Vec<u8> {
    let mut out = Vec::new();
    write_header(&mut out, profile);
    let start_ns = profile.start_unix_ns;
    let mut first = Buffer::new(start_ns, thread_key(profile, 0));
    write_metadata(&mut out, &mut first, profile);
    first.finish(&mut out);
    let mut by_thread = vec![Vec::new(); profile.threads.len()];
    profile.samples.iter().for_each(|sample| by_thread[sample.thread as usize].push(sample));
    for (thread, samples) in by_thread.into_iter().enumerate() {
        let mut buffer = Buffer::new(start_ns, thread_key(profile, thread));
        for sample in samples {
            // One that counts for many, as a thread that has no samples of its own, need not be written as often.
            const MAX_REPEATED: u64 = 100_000;
            for _ in 0..sample.count.min(MAX_REPEATED) {
                buffer.write_sample(profile, sample, start_ns + sample.time_ns);
                if buffer.payload.len() >= BUFFER_BYTES {
                    let next = Buffer::new(start_ns + sample.time_ns, buffer.thread);
                    std::mem::replace(&mut buffer, next).finish(&mut out);
                }
            }
        }
        buffer.finish(&mut out);
    }
    let mut last = Buffer::new(start_ns + profile.duration_ns, thread_key(profile, 0));
    last.event(event::SYNC_POINT, start_ns + profile.duration_ns).push(0);
    last.finish(&mut out);
    out
}

/// What stands for a thread's address; not 0.
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
    out.extend(HEADER_ID.to_le_bytes());
    out.extend([MAJOR, MINOR, DATA_VERSION, POINTER_BYTES]);
    out.extend((profile.start_unix_ns / 1_000_000).to_le_bytes());
    out.extend(profile.start_unix_ns.to_le_bytes());
    // Overhead of the timer and flags.
    out.extend(0_u32.to_le_bytes());
    out.extend(0_u32.to_le_bytes());
    out.extend(std::process::id().to_le_bytes());
    // No command server.
    out.extend(0_u16.to_le_bytes());
    for text in [&*format!("log:{}", profile.kind), "x86-64", "linux"] {
        out.extend((text.len() as i32 + 1).to_le_bytes());
        push_text(out, text);
    }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().filter(|byte| *byte != 0));
    out.push(0);
}

fn push_uleb(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn push_sleb(out: &mut Vec<u8>, mut value: i64) {
    loop {
        let byte = value as u8 & 0x7f;
        value >>= 7;
        if value == 0 && byte & 0x40 == 0 || value == -1 && byte & 0x40 != 0 {
            return out.push(byte);
        }
        out.push(byte | 0x80);
    }
}

/// One thread's events in the order of their times; all bases are 0 but that of times.
struct Buffer {
    payload: Vec<u8>,
    base_ns: u64,
    time_ns: u64,
    thread: u64,
    /// The method named last.
    method: u64,
}

impl Buffer {
    fn new(time_ns: u64, thread: u64) -> Buffer {
        Buffer { payload: Vec::new(), base_ns: time_ns, time_ns, thread, method: 0 }
    }

    fn event(&mut self, kind: u8, time_ns: u64) -> &mut Vec<u8> {
        self.payload.push(kind);
        push_uleb(&mut self.payload, time_ns.saturating_sub(self.time_ns));
        self.time_ns = self.time_ns.max(time_ns);
        &mut self.payload
    }

    fn pointer(&mut self, value: u64) {
        push_sleb(&mut self.payload, value as i64);
    }

    fn method(&mut self, method: u64) {
        push_sleb(&mut self.payload, method.wrapping_sub(self.method) as i64);
        self.method = method;
    }

    fn write_sample(&mut self, profile: &Profile, sample: &Sample, time_ns: u64) {
        // The innermost first.
        let functions: Vec<u32> = profile.frames_of(sample.stack).map(|frame| frame.function).collect();
        let is_method = |function: &&u32| profile.functions[**function as usize].kind != FunctionKind::Native;
        let methods: Vec<u32> = functions.iter().filter(is_method).copied().collect();
        if profile.unit != Unit::Nanoseconds {
            // The innermost one is no method, but the class of the object.
            let (class, callers) = methods.split_first().unwrap_or((&0, &[]));
            let object = (address_of(*class) >> 3) as i64;
            if profile.unit == Unit::Bytes {
                self.event(event::ALLOCATION_WITH_STACK, time_ns);
                self.pointer(vtable_of(*class));
                push_sleb(&mut self.payload, object);
                push_uleb(&mut self.payload, (sample.value / sample.count.max(1)).next_multiple_of(8));
            } else {
                self.event(event::THROW_WITH_STACK, time_ns);
                push_sleb(&mut self.payload, object);
            }
            push_uleb(&mut self.payload, callers.len() as u64);
            callers.iter().rev().for_each(|function| self.method(method_of(*function)));
            return;
        }
        self.event(event::SAMPLE, time_ns);
        self.pointer(thread_key(profile, sample.thread as usize));
        push_uleb(&mut self.payload, 1);
        self.pointer(functions.first().map_or(0, |function| address_of(*function)));
        push_uleb(&mut self.payload, methods.len() as u64);
        methods.iter().for_each(|function| self.method(method_of(*function)));
    }

    fn finish(self, out: &mut Vec<u8>) {
        if self.payload.is_empty() {
            return;
        }
        out.extend(BUFFER_ID.to_le_bytes());
        out.extend((self.payload.len() as u32).to_le_bytes());
        out.extend(self.base_ns.to_le_bytes());
        // Bases of pointers and objects.
        out.extend(0_u64.to_le_bytes());
        out.extend(0_u64.to_le_bytes());
        out.extend(self.thread.to_le_bytes());
        // Base of methods.
        out.extend(0_u64.to_le_bytes());
        out.extend(self.payload);
    }
}

/// Domain, threads, methods and symbols.
fn write_metadata(out: &mut Vec<u8>, buffer: &mut Buffer, profile: &Profile) {
    let time_ns = profile.start_unix_ns;
    let load = |buffer: &mut Buffer, kind: u8, id: u64, name: &str| {
        buffer.event(event::METADATA_LOAD, time_ns).push(kind);
        buffer.pointer(id);
        buffer.event(event::METADATA_NAME, time_ns).push(kind);
        buffer.pointer(id);
        push_text(&mut buffer.payload, name);
    };
    let domain = profile.title.split(' ').next().unwrap_or_default();
    load(buffer, METADATA_DOMAIN, DOMAIN, domain);
    for (thread, info) in profile.threads.iter().enumerate() {
        load(buffer, METADATA_THREAD, thread_key(profile, thread), &info.name);
    }
    if profile.unit == Unit::Bytes {
        write_classes(buffer, profile);
    }
    for (index, function) in profile.functions.iter().enumerate() {
        let index = index as u32;
        if function.kind == FunctionKind::Native {
            buffer.event(event::UNMANAGED_SYMBOL, time_ns);
            buffer.pointer(address_of(index));
            push_uleb(&mut buffer.payload, RANGE_BYTES);
        } else {
            buffer.event(event::JIT, time_ns);
            buffer.method(method_of(index));
            buffer.pointer(address_of(index));
            push_uleb(&mut buffer.payload, RANGE_BYTES);
        }
        push_text(&mut buffer.payload, &function.name);
        if buffer.payload.len() >= BUFFER_BYTES {
            let next = Buffer::new(time_ns, buffer.thread);
            std::mem::replace(buffer, next).finish(out);
        }
    }
}

/// Of what was allocated: the functions that are no code.
fn write_classes(buffer: &mut Buffer, profile: &Profile) {
    let time_ns = profile.start_unix_ns;
    buffer.event(event::METADATA_LOAD, time_ns).push(METADATA_IMAGE);
    buffer.pointer(IMAGE);
    push_text(&mut buffer.payload, "types");
    // Without an identity of the module.
    push_text(&mut buffer.payload, "");
    for (index, class) in profile.functions.iter().enumerate().filter(|(_, f)| f.kind == FunctionKind::Note) {
        let vtable = vtable_of(index as u32);
        buffer.event(event::METADATA_LOAD, time_ns).push(METADATA_CLASS);
        buffer.pointer(vtable + 1);
        buffer.pointer(IMAGE);
        push_text(&mut buffer.payload, &class.name);
        buffer.event(event::METADATA_LOAD, time_ns).push(METADATA_VTABLE);
        buffer.pointer(vtable);
        buffer.pointer(DOMAIN);
        buffer.pointer(vtable + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn numbers_are_leb128() {
        let check = |value: i64, expect: &[u8]| {
            let mut out = Vec::new();
            push_sleb(&mut out, value);
            assert_eq!(out, expect, "{value}");
        };
        check(2, &[2]);
        check(-2, &[0x7e]);
        check(127, &[0xff, 0]);
        check(-129, &[0xff, 0x7e]);
        let mut out = Vec::new();
        push_uleb(&mut out, 624_485);
        assert_eq!(out, [0xe5, 0x8e, 0x26]);
    }

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
