//! Mono's log format itself: header, buffers, encodings of numbers.
//!
//! The bases of pointers and methods are 0, so that these are written as they are. Objects are written as distances
//! from the buffer's first object: neighbours take half as many bytes so.

use super::event;

pub(super) const HEADER_ID: u32 = 0x4D50_5A01;
pub(super) const BUFFER_ID: u32 = 0x4D50_4C01;
const MAJOR: u8 = 3;
const MINOR: u8 = 0;
pub(super) const DATA_VERSION: u8 = 17;
pub(super) const POINTER_BYTES: u8 = 8;

/// Bytes after which a buffer ends.
pub(super) const BUFFER_BYTES: usize = 64 << 10;

/// The file's header, which describes the process.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// As on the command line: "log:sample".
    pub arguments: &'a str,
    /// The port of the command server; 0 = none.
    pub port: u16,
    pub start_unix_ns: u64,
    /// By the clock of the events.
    pub start_ns: u64,
}

impl Header<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(HEADER_ID.to_le_bytes());
        out.extend([MAJOR, MINOR, DATA_VERSION, POINTER_BYTES]);
        out.extend((self.start_unix_ns / 1_000_000).to_le_bytes());
        out.extend(self.start_ns.to_le_bytes());
        // Overhead of the timer and flags.
        out.extend(0_u32.to_le_bytes());
        out.extend(0_u32.to_le_bytes());
        out.extend(std::process::id().to_le_bytes());
        out.extend(self.port.to_le_bytes());
        for text in [self.arguments, "x86-64", "linux"] {
            out.extend((text.len() as i32 + 1).to_le_bytes());
            push_text(out, text);
        }
    }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    // The length in the header counts every byte; a zero would end the text.
    out.extend(text.bytes().map(|byte| if byte == 0 { b' ' } else { byte }));
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

/// One thread's events in the order of their times.
#[derive(Debug)]
pub struct Buffer {
    pub(super) payload: Vec<u8>,
    pub(super) thread: u64,
    base_ns: u64,
    time_ns: u64,
    /// The method named last.
    method: u64,
    /// The first object's address / 8.
    first_object: Option<u64>,
}

/// A stack as allocations have it: all but the distance from the method named before it to its outermost one.
#[derive(Debug)]
pub struct EncodedStack {
    len: u64,
    outermost: u64,
    innermost: u64,
    /// The distances to the other methods.
    rest: Vec<u8>,
}

impl EncodedStack {
    /// The outermost method first.
    pub fn new(methods: &[u64]) -> EncodedStack {
        let mut rest = Vec::new();
        for pair in methods.windows(2) {
            push_sleb(&mut rest, pair[1].wrapping_sub(pair[0]) as i64);
        }
        let end = |method: Option<&u64>| method.copied().unwrap_or(0);
        EncodedStack {
            len: methods.len() as u64,
            outermost: end(methods.first()),
            innermost: end(methods.last()),
            rest,
        }
    }
}

/// An allocated object.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    pub vtable: u64,
    /// A multiple of 8.
    pub address: u64,
    pub size_bytes: u64,
}

/// Bytes of an allocation without the methods behind the outermost one: five numbers of 10 bytes each, and two bytes.
const MAX_ALLOCATION_BYTES: usize = 64;

/// A few numbers on their way to a buffer: copying a fixed length costs a few instructions, appending byte by byte some
/// nanoseconds.
struct Numbers {
    bytes: [u8; MAX_ALLOCATION_BYTES],
    len: usize,
}

impl Numbers {
    #[inline]
    fn byte(&mut self, value: u8) {
        self.bytes[self.len] = value;
        self.len += 1;
    }

    #[inline]
    fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte(value as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    #[inline]
    fn signed(&mut self, mut value: i64) {
        loop {
            let byte = value as u8 & 0x7f;
            value >>= 7;
            if value == 0 && byte & 0x40 == 0 || value == -1 && byte & 0x40 != 0 {
                return self.byte(byte);
            }
            self.byte(byte | 0x80);
        }
    }
}

impl Buffer {
    pub(super) fn new(time_ns: u64, thread: u64) -> Buffer {
        Buffer { payload: Vec::new(), base_ns: time_ns, time_ns, thread, method: 0, first_object: None }
    }

    /// Begins an event of this type and extension (`super::event`); its fields follow in the order of the format.
    pub fn event(&mut self, kind: u8, time_ns: u64) -> &mut Buffer {
        if self.payload.is_empty() {
            (self.base_ns, self.time_ns) = (time_ns, time_ns);
        }
        self.payload.push(kind);
        push_uleb(&mut self.payload, time_ns.saturating_sub(self.time_ns));
        self.time_ns = self.time_ns.max(time_ns);
        self
    }

    /// Appends a byte.
    pub fn byte(&mut self, value: u8) -> &mut Buffer {
        self.payload.push(value);
        self
    }

    /// Appends an unsigned number in LEB128.
    pub fn number(&mut self, value: u64) -> &mut Buffer {
        push_uleb(&mut self.payload, value);
        self
    }

    /// Appends a signed number in LEB128.
    pub fn signed(&mut self, value: i64) -> &mut Buffer {
        push_sleb(&mut self.payload, value);
        self
    }

    /// Appends bytes as they are.
    pub fn bytes(&mut self, value: &[u8]) -> &mut Buffer {
        self.payload.extend(value);
        self
    }

    /// Appends an address or an identity, as a signed number.
    pub fn pointer(&mut self, value: u64) -> &mut Buffer {
        self.signed(value as i64)
    }

    /// `address`: a multiple of 8.
    pub fn object(&mut self, address: u64) -> &mut Buffer {
        let distance = self.object_distance(address);
        self.signed(distance)
    }

    #[inline]
    fn object_distance(&mut self, address: u64) -> i64 {
        (address >> 3).wrapping_sub(*self.first_object.get_or_insert(address >> 3)) as i64
    }

    /// Appends allocations, which get the same time.
    pub fn allocations<'a>(
        &mut self,
        time_ns: u64,
        allocations: impl Iterator<Item = (Allocation, Option<&'a EncodedStack>)>,
    ) {
        if self.payload.is_empty() {
            (self.base_ns, self.time_ns) = (time_ns, time_ns);
        }
        for (Allocation { vtable, address, size_bytes }, stack) in allocations {
            let mut numbers = Numbers { bytes: [0; MAX_ALLOCATION_BYTES], len: 0 };
            numbers.byte(if stack.is_some() { event::ALLOCATION_WITH_STACK } else { event::ALLOCATION });
            numbers.unsigned(time_ns.saturating_sub(self.time_ns));
            self.time_ns = self.time_ns.max(time_ns);
            numbers.signed(vtable as i64);
            numbers.signed(self.object_distance(address));
            numbers.unsigned(size_bytes);
            if let Some(stack) = stack {
                numbers.unsigned(stack.len);
                if stack.len > 0 {
                    numbers.signed(stack.outermost.wrapping_sub(self.method) as i64);
                    self.method = stack.innermost;
                }
            }
            let end = self.payload.len() + numbers.len;
            self.payload.extend_from_slice(&numbers.bytes);
            self.payload.truncate(end);
            if let Some(stack) = stack {
                self.payload.extend_from_slice(&stack.rest);
            }
        }
    }

    /// Appends a method's identity, as the distance from the method before.
    pub fn method(&mut self, method: u64) -> &mut Buffer {
        push_sleb(&mut self.payload, method.wrapping_sub(self.method) as i64);
        self.method = method;
        self
    }

    /// Appends a text that ends with NUL.
    pub fn text(&mut self, text: &str) -> &mut Buffer {
        push_text(&mut self.payload, text);
        self
    }

    /// The outermost method first.
    pub fn stack(&mut self, methods: impl ExactSizeIterator<Item = u64>) -> &mut Buffer {
        self.number(methods.len() as u64);
        for method in methods {
            self.method(method);
        }
        self
    }

    /// Appends the events to `out` as a buffer of the file, or nothing if there are none. Empty afterwards.
    pub(super) fn take(&mut self, out: &mut Vec<u8>) {
        if self.payload.is_empty() {
            return;
        }
        out.extend(BUFFER_ID.to_le_bytes());
        out.extend((self.payload.len() as u32).to_le_bytes());
        out.extend(self.base_ns.to_le_bytes());
        // Bases of pointers and objects.
        out.extend(0_u64.to_le_bytes());
        out.extend(self.first_object.take().unwrap_or(0).to_le_bytes());
        out.extend(self.thread.to_le_bytes());
        // Base of methods.
        out.extend(0_u64.to_le_bytes());
        out.append(&mut self.payload);
        self.method = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_written_as_single_numbers_are() {
        let objects = [(48, 0x2000_0040, 24), (16 << 20, 0x2000_0058, 1 << 20), (48, 0x1000, 16)];
        let stacks: [&[u64]; 3] = [&[16, 4096, 32], &[], &[1 << 40]];
        let (mut single, mut all) = (Buffer::new(0, 1), Buffer::new(0, 1));
        for has_stack in [true, false] {
            for ((vtable, address, size_bytes), stack) in objects.iter().zip(stacks) {
                let kind = if has_stack { event::ALLOCATION_WITH_STACK } else { event::ALLOCATION };
                single.event(kind, 700).pointer(*vtable).object(*address).number(*size_bytes);
                if has_stack {
                    single.stack(stack.iter().copied());
                }
            }
            let encoded: Vec<EncodedStack> = stacks.iter().map(|stack| EncodedStack::new(stack)).collect();
            let told = objects.iter().zip(&encoded).map(|(&(vtable, address, size_bytes), stack)| {
                (Allocation { vtable, address, size_bytes }, has_stack.then_some(stack))
            });
            all.allocations(700, told);
        }
        let [mut expect, mut found] = [Vec::new(), Vec::new()];
        single.take(&mut expect);
        all.take(&mut found);
        assert_eq!(found, expect);
        assert_eq!(found[24..32], (0x2000_0040_u64 >> 3).to_le_bytes());
    }

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
}
