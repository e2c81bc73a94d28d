//! Reads Mono's log profiler format: files of Saki and of Mono, version 3.0 data 17.
//!
//! A log is a stream of events, of which these become profiles: samples, allocations, exceptions that were thrown,
//! waits for locks, collections. The file is read twice, because a method's name may follow the first event that refers
//! to the method.
//!
//! Invariant: the reader trusts nothing in the file. Of a file that ends within a buffer, as a killed program leaves
//! one, the whole buffers are read. Left out: calls, heap shots, counters, handles, and other versions, whose events
//! have other fields.

use super::buffer::{BUFFER_ID, DATA_VERSION, HEADER_ID, POINTER_BYTES};
use super::event::{self, collection, metadata, monitor};
use crate::model::{Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Unit};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

const BUFFER_HEADER_BYTES: usize = 48;
/// What Mono samples at, unless asked otherwise.
const DEFAULT_HZ: u64 = 100;
/// A stack longer than this is a damaged file.
const MAX_STACK: u64 = 1 << 16;
/// Mono's kinds of metadata that Saki does not write.
const METADATA_CONTEXT: u8 = 6;
/// Events that Saki does not write: a helper's code (with a name, if it is one of these), and the identity of AOT code.
const CODE_HELPER: u8 = 0x18;
const NAMED_HELPER: u8 = 5;
const AOT_ID: u8 = 0x1A;
/// Types of counters, by the encoding of their values.
const COUNTER_DOUBLE: u64 = 5;
const COUNTER_TEXT: u64 = 6;
/// The section of counters that has a name of its own.
const COUNTER_USER_SECTION: u64 = 1 << 15;

/// Whether this may be the beginning of such a file.
pub fn is_one(contents: &[u8]) -> bool {
    contents.starts_with(&HEADER_ID.to_le_bytes())
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or("mlpd: an event ends early")?;
        self.rest = rest;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.bytes(1)?[0])
    }

    fn fixed(&mut self, count: usize) -> Result<u64, String> {
        Ok(self.bytes(count)?.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn number(&mut self) -> Result<u64, String> {
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("mlpd: a number is too long".into())
    }

    fn signed(&mut self) -> Result<i64, String> {
        let mut value = 0_i64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= i64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                let sign = shift + 7;
                return Ok(if byte & 0x40 != 0 && sign < 64 { value | -1_i64 << sign } else { value });
            }
        }
        Err("mlpd: a number is too long".into())
    }

    fn text(&mut self) -> Result<&'a str, String> {
        let end = self.rest.iter().position(|byte| *byte == 0).ok_or("mlpd: a name does not end")?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        // Names of other writers may be in any encoding, and are shown as far as they can be read.
        Ok(std::str::from_utf8(text).unwrap_or("(not UTF-8)"))
    }
}

/// An event that is used here. Stacks are methods, the innermost first.
enum Event<'a> {
    Method { method: u64, code: u64, size_bytes: u64, name: &'a str },
    Symbol { address: u64, size_bytes: u64, name: &'a str },
    Class { class: u64, name: &'a str },
    VTable { vtable: u64, class: u64 },
    ThreadName { thread: u64, name: &'a str },
    Sample { thread: u64, address: u64, stack: &'a [u64] },
    Allocation { vtable: u64, object: u64, size_bytes: u64, stack: &'a [u64] },
    Throw { object: u64, stack: &'a [u64] },
    Monitor { step: u8, stack: &'a [u64] },
    Collection { step: u8, generation: u8 },
}

/// When and where an event was.
#[derive(Clone, Copy)]
struct At {
    /// By the clock of the events.
    time_ns: u64,
    thread: u64,
}

struct Header<'a> {
    arguments: &'a str,
    start_unix_ns: u64,
    /// By the clock of the events.
    start_ns: u64,
    buffers: Cursor<'a>,
}

impl<'a> Header<'a> {
    fn read(contents: &'a [u8]) -> Result<Header<'a>, String> {
        let mut from = Cursor { rest: contents };
        let [_, version, data_version, pointer_bytes] =
            [from.fixed(4)?, from.fixed(2)?, from.fixed(1)?, from.fixed(1)?];
        if version & 0xff != 3 || data_version != u64::from(DATA_VERSION) || pointer_bytes != u64::from(POINTER_BYTES) {
            return Err(format!(
                "mlpd: version {} data {data_version}, of which 3 data {DATA_VERSION} is read",
                version & 0xff
            ));
        }
        let (start_ms, start_ns) = (from.fixed(8)?, from.fixed(8)?);
        // Overhead of the timer, flags, process, port.
        from.bytes(4 + 4 + 4 + 2)?;
        let mut texts = [""; 3];
        for text in &mut texts {
            let len = from.fixed(4)? as usize;
            let bytes = from.bytes(len)?;
            *text = std::str::from_utf8(bytes).unwrap_or_default().trim_end_matches('\0');
        }
        let start_unix_ns = start_ms.saturating_mul(1_000_000);
        Ok(Header { arguments: texts[0], start_unix_ns, start_ns, buffers: from })
    }

    /// The kind of the samples, and the time that each stands for; 0 if the file does not say so.
    fn samples(&self) -> (&'a str, u64) {
        let words = self.arguments.strip_prefix("log:").unwrap_or(self.arguments);
        let (mut kind, mut period_ns) = (words.split(',').next().unwrap_or_default(), 0);
        for word in words.split(',') {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let rate = value.rsplit('/').next().and_then(|hz| hz.parse::<u64>().ok()).unwrap_or(DEFAULT_HZ);
            match name {
                "sample" => (kind, period_ns) = ("cpu", 1_000_000_000 / rate.max(1)),
                "sample-real" => (kind, period_ns) = ("wall", 1_000_000_000 / rate.max(1)),
                "period" => period_ns = value.parse().unwrap_or(0),
                _ => {}
            }
        }
        (if kind.is_empty() || kind.contains('=') { "samples" } else { kind }, period_ns)
    }

    /// Calls `visit` with each event that is used here, in the order of the file.
    fn visit(&self, mut visit: impl FnMut(At, Event<'_>)) -> Result<(), String> {
        let mut rest = self.buffers.rest;
        while rest.len() >= BUFFER_HEADER_BYTES {
            let mut header = Cursor { rest };
            let (id, len) = (header.fixed(4)?, header.fixed(4)? as usize);
            if id != u64::from(BUFFER_ID) {
                return Err("mlpd: no buffer where one should begin".into());
            }
            let [time_ns, pointers, objects, thread, method] =
                [header.fixed(8)?, header.fixed(8)?, header.fixed(8)?, header.fixed(8)?, header.fixed(8)?];
            let Some((payload, after)) = header.rest.split_at_checked(len) else { break };
            let at = At { time_ns, thread };
            let mut events =
                Events { from: Cursor { rest: payload }, at, pointers, objects, method, stack: Vec::new() };
            while !events.from.rest.is_empty() {
                events.next(&mut visit)?;
            }
            rest = after;
        }
        Ok(())
    }
}

/// The events of a buffer.
struct Events<'a> {
    from: Cursor<'a>,
    at: At,
    pointers: u64,
    objects: u64,
    /// The method named last.
    method: u64,
    /// Scratch.
    stack: Vec<u64>,
}

impl Events<'_> {
    fn pointer(&mut self) -> Result<u64, String> {
        Ok(self.pointers.wrapping_add(self.from.signed()?.cast_unsigned()))
    }

    fn object(&mut self) -> Result<u64, String> {
        Ok(self.objects.wrapping_add(self.from.signed()?.cast_unsigned()) << 3)
    }

    fn next_method(&mut self) -> Result<u64, String> {
        self.method = self.method.wrapping_add(self.from.signed()?.cast_unsigned());
        Ok(self.method)
    }

    /// Reads a stack into `stack`, in the file's order.
    fn read_stack(&mut self) -> Result<(), String> {
        self.stack.clear();
        let len = self.from.number()?;
        if len > MAX_STACK {
            return Err(format!("mlpd: a stack of {len} methods"));
        }
        for _ in 0..len {
            let method = self.next_method()?;
            self.stack.push(method);
        }
        Ok(())
    }

    /// Reads the stack of an event that is no sample into `stack`, innermost method first: in the file the outermost
    /// one comes first. `is_there`: whether the event has a stack; else `stack` is empty.
    fn read_callers(&mut self, is_there: bool) -> Result<(), String> {
        self.stack.clear();
        if is_there {
            self.read_stack()?;
            self.stack.reverse();
        }
        Ok(())
    }

    fn next(&mut self, visit: &mut impl FnMut(At, Event<'_>)) -> Result<(), String> {
        let kind = self.from.byte()?;
        self.at.time_ns = self.at.time_ns.wrapping_add(self.from.number()?);
        let at = self.at;
        match kind {
            event::ALLOCATION | event::ALLOCATION_WITH_STACK => {
                let (vtable, object, size_bytes) = (self.pointer()?, self.object()?, self.from.number()?);
                self.read_callers(kind == event::ALLOCATION_WITH_STACK)?;
                visit(at, Event::Allocation { vtable, object, size_bytes, stack: &self.stack });
            }
            event::THROW | event::THROW_WITH_STACK => {
                let object = self.object()?;
                self.read_callers(kind == event::THROW_WITH_STACK)?;
                visit(at, Event::Throw { object, stack: &self.stack });
            }
            event::MONITOR | event::MONITOR_WITH_STACK => {
                let step = self.from.byte()?;
                self.object()?;
                self.read_callers(kind == event::MONITOR_WITH_STACK)?;
                visit(at, Event::Monitor { step, stack: &self.stack });
            }
            event::SAMPLE => {
                let thread = self.pointer()?;
                let (count, mut address) = (self.from.number()?, 0);
                for index in 0..count {
                    let next = self.pointer()?;
                    address = if index == 0 { next } else { address };
                }
                self.read_stack()?;
                visit(at, Event::Sample { thread, address, stack: &self.stack });
            }
            event::COLLECTION => {
                let (step, generation) = (self.from.byte()?, self.from.byte()?);
                visit(at, Event::Collection { step, generation });
            }
            event::JIT => {
                let (method, code, size_bytes) = (self.next_method()?, self.pointer()?, self.from.number()?);
                visit(at, Event::Method { method, code, size_bytes, name: self.from.text()? });
            }
            event::UNMANAGED_SYMBOL => {
                let (address, size_bytes) = (self.pointer()?, self.from.number()?);
                visit(at, Event::Symbol { address, size_bytes, name: self.from.text()? });
            }
            event::METADATA_LOAD | event::METADATA_UNLOAD | event::METADATA_NAME => self.metadata(kind, visit)?,
            kind => self.skip(kind)?,
        }
        Ok(())
    }

    fn metadata(&mut self, kind: u8, visit: &mut impl FnMut(At, Event<'_>)) -> Result<(), String> {
        let (what, id, at) = (self.from.byte()?, self.pointer()?, self.at);
        match what {
            metadata::CLASS => {
                self.pointer()?;
                visit(at, Event::Class { class: id, name: self.from.text()? });
            }
            metadata::IMAGE => {
                self.from.text()?;
                // With the module's identity.
                if kind == event::METADATA_LOAD {
                    self.from.text()?;
                }
            }
            metadata::ASSEMBLY => {
                self.pointer()?;
                self.from.text()?;
            }
            metadata::DOMAIN if kind == event::METADATA_NAME => _ = self.from.text()?,
            metadata::THREAD if kind == event::METADATA_NAME => {
                visit(at, Event::ThreadName { thread: id, name: self.from.text()? });
            }
            metadata::DOMAIN | metadata::THREAD => {}
            METADATA_CONTEXT => _ = self.pointer()?,
            metadata::VTABLE => {
                self.pointer()?;
                let class = self.pointer()?;
                visit(at, Event::VTable { vtable: id, class });
            }
            what => return Err(format!("mlpd: metadata of the unknown kind {what}")),
        }
        Ok(())
    }

    /// Passes over the fields of an event that is not used here.
    fn skip(&mut self, kind: u8) -> Result<(), String> {
        match kind {
            event::FINALIZERS_START | event::FINALIZERS_END | event::HEAPSHOT_START | event::HEAPSHOT_END => {}
            event::FINALIZER_START | event::FINALIZER_END => _ = self.object()?,
            event::HEAP_RESIZE => _ = self.from.number()?,
            event::MOVES => {
                for _ in 0..self.from.number()? {
                    self.object()?;
                }
            }
            event::HANDLE_CREATED | event::HANDLE_CREATED_WITH_STACK => {
                self.from.number()?;
                self.from.number()?;
                self.object()?;
                self.read_callers(kind == event::HANDLE_CREATED_WITH_STACK)?;
            }
            event::HANDLE_DESTROYED | event::HANDLE_DESTROYED_WITH_STACK => {
                self.from.number()?;
                self.from.number()?;
                self.read_callers(kind == event::HANDLE_DESTROYED_WITH_STACK)?;
            }
            event::ENTER | event::LEAVE | event::LEAVE_BY_EXCEPTION => _ = self.next_method()?,
            event::CLAUSE => {
                self.from.byte()?;
                self.from.number()?;
                self.next_method()?;
                self.object()?;
            }
            event::HEAP_OBJECT => {
                self.object()?;
                self.pointer()?;
                self.from.number()?;
                self.from.byte()?;
                for _ in 0..self.from.number()? {
                    self.from.number()?;
                    self.object()?;
                }
            }
            event::HEAP_ROOTS => {
                for _ in 0..self.from.number()? {
                    self.pointer()?;
                    self.object()?;
                }
            }
            event::ROOT_REGISTER => {
                self.pointer()?;
                self.from.number()?;
                self.from.byte()?;
                self.pointer()?;
                self.from.text()?;
            }
            event::ROOT_UNREGISTER => _ = self.pointer()?,
            event::COUNTER_DESCRIPTIONS => {
                for _ in 0..self.from.number()? {
                    if self.from.number()? == COUNTER_USER_SECTION {
                        self.from.text()?;
                    }
                    self.from.text()?;
                    for _ in 0..4 {
                        self.from.number()?;
                    }
                }
            }
            event::COUNTER_VALUES => {
                while self.from.number()? != 0 {
                    match self.from.number()? {
                        COUNTER_DOUBLE => _ = self.from.bytes(8)?,
                        COUNTER_TEXT if self.from.byte()? != 0 => _ = self.from.text()?,
                        COUNTER_TEXT => {}
                        // Signed and unsigned numbers have the same length.
                        _ => _ = self.from.number()?,
                    }
                }
            }
            CODE_HELPER => {
                let what = self.from.byte()?;
                self.pointer()?;
                self.from.number()?;
                if what == NAMED_HELPER {
                    self.from.text()?;
                }
            }
            event::SYNC_POINT => _ = self.from.byte()?,
            AOT_ID => _ = self.from.text()?,
            kind => return Err(format!("mlpd: an event of the unknown kind {kind:#04x}")),
        }
        Ok(())
    }
}

/// What the events of the first pass say of methods, types and threads.
#[derive(Default)]
struct Names {
    methods: FxHashMap<u64, String>,
    /// By address: the size, the name, and whether it is a method's code.
    code: BTreeMap<u64, (u64, String, bool)>,
    classes: FxHashMap<u64, String>,
    vtables: FxHashMap<u64, u64>,
    threads: FxHashMap<u64, String>,
    /// Threads in the order in which they appear, and the last event.
    last_ns: u64,
}

impl Names {
    fn note(&mut self, at: At, event: Event<'_>) {
        self.last_ns = self.last_ns.max(at.time_ns);
        match event {
            Event::Method { method, code, size_bytes, name } => {
                self.methods.insert(method, name.to_owned());
                self.code.insert(code, (size_bytes, name.to_owned(), true));
            }
            Event::Symbol { address, size_bytes, name } => {
                self.code.insert(address, (size_bytes, name.to_owned(), false));
            }
            Event::Class { class, name } => _ = self.classes.insert(class, name.to_owned()),
            Event::VTable { vtable, class } => _ = self.vtables.insert(vtable, class),
            Event::ThreadName { thread, name } => _ = self.threads.insert(thread, name.to_owned()),
            _ => {}
        }
    }

    /// The code at an address: its name, and whether it is a method's.
    fn code_at(&self, address: u64) -> Option<(&str, bool)> {
        let (start, (size_bytes, name, is_method)) = self.code.range(..=address).next_back()?;
        // Of native symbols the size may not be known.
        (address - start < *size_bytes || *size_bytes == 0).then_some((name, *is_method))
    }

    fn class_of(&self, vtable: u64) -> Option<&str> {
        self.classes.get(self.vtables.get(&vtable)?).map(String::as_str)
    }
}

/// The profile that is made of one kind of event.
struct Making<'a> {
    names: &'a Names,
    start_ns: u64,
    builder: ProfileBuilder,
}

impl Making<'_> {
    /// Adds an event with what it is about, if anything, and its stack.
    fn add(&mut self, at: At, about: Option<(&str, FunctionKind)>, stack: &[u64], value: u64) {
        let builder = &mut self.builder;
        let frame = |builder: &mut ProfileBuilder, name: &str, kind| {
            let function = builder.function(Function { name: name.to_owned(), file: String::new(), kind });
            builder.frame(Frame { function, line: 0 })
        };
        let mut node = 0;
        for method in stack.iter().rev() {
            let name = self.names.methods.get(method).map_or("(a method without a name)", String::as_str);
            let frame = frame(builder, name, FunctionKind::Managed);
            node = builder.stack(node, frame);
        }
        if let Some((name, kind)) = about {
            let frame = frame(builder, name, kind);
            node = builder.stack(node, frame);
        }
        let thread = builder.thread(at.thread, || {
            let name = self.names.threads.get(&at.thread).filter(|name| !name.is_empty()).cloned();
            ThreadInfo { id: at.thread, name: name.unwrap_or_else(|| format!("Thread {:x}", at.thread)) }
        });
        let time_ns = at.time_ns.saturating_sub(self.start_ns);
        builder.add(Sample { stack: node, thread, time_ns, count: 1, value, wait: 0 });
    }
}

/// Reads a file's profiles: those of its kinds of events that occur.
///
/// # Errors
/// What is wrong with it.
pub fn read(contents: &[u8]) -> Result<Vec<Profile>, String> {
    let header = Header::read(contents)?;
    let mut names = Names::default();
    header.visit(|at, event| names.note(at, event))?;
    let (sample_kind, period) = header.samples();
    let making = |kind: &str, unit, period| {
        let start = Profile {
            kind: kind.into(),
            unit,
            period,
            title: header.arguments.to_owned(),
            start_unix_ns: header.start_unix_ns,
            ..Profile::default()
        };
        Making { names: &names, start_ns: header.start_ns, builder: ProfileBuilder::new(start) }
    };
    let sample_unit = if period > 0 { Unit::Nanoseconds } else { Unit::Count };
    let mut samples = making(sample_kind, sample_unit, period.max(1));
    let mut allocations = making("alloc", Unit::Bytes, 0);
    let mut exceptions = making("exceptions", Unit::Count, 1);
    let mut locks = making("lock", Unit::Nanoseconds, 1);
    let mut collections = making("gc", Unit::Nanoseconds, 1);
    // By object: its vtable. By thread: when it began to wait, and where; by thread and generation, when a collection
    // began.
    let mut vtables: FxHashMap<u64, u64> = FxHashMap::default();
    let mut waits: FxHashMap<u64, (u64, Vec<u64>)> = FxHashMap::default();
    let mut begun: FxHashMap<(u64, u8), u64> = FxHashMap::default();
    header.visit(|at, event| match event {
        Event::Sample { thread, address, stack } => {
            let innermost = stack.first().and_then(|method| names.methods.get(method));
            // Native code below the methods.
            let native = names
                .code_at(address)
                .filter(|(name, is_method)| !is_method && innermost.is_none_or(|known| known != name));
            let about = native.map(|(name, _)| (name, FunctionKind::Native));
            samples.add(At { thread, ..at }, about, stack, period.max(1));
        }
        Event::Allocation { vtable, object, size_bytes, stack } => {
            vtables.insert(object, vtable);
            let class = names.class_of(vtable).unwrap_or("(a type without a name)");
            allocations.add(at, Some((class, FunctionKind::Note)), stack, size_bytes);
        }
        Event::Throw { object, stack } => {
            let class = vtables.get(&object).and_then(|vtable| names.class_of(*vtable));
            let class = class.or_else(|| names.code_at(object).map(|(name, _)| name));
            exceptions.add(at, Some((class.unwrap_or("(an exception)"), FunctionKind::Note)), stack, 1);
        }
        Event::Monitor { step: monitor::CONTENTION, stack } => {
            waits.insert(at.thread, (at.time_ns, stack.to_vec()));
        }
        Event::Monitor { .. } => {
            if let Some((begun_ns, stack)) = waits.remove(&at.thread) {
                locks.add(at, Some(("(a lock)", FunctionKind::Note)), &stack, at.time_ns.saturating_sub(begun_ns));
            }
        }
        Event::Collection { step: collection::START, generation } => {
            begun.insert((at.thread, generation), at.time_ns);
        }
        Event::Collection { step: collection::END, generation } => {
            if let Some(begun_ns) = begun.remove(&(at.thread, generation)) {
                let name = format!("[collection of generation {generation}]");
                collections.add(at, Some((&name, FunctionKind::Note)), &[], at.time_ns.saturating_sub(begun_ns));
            }
        }
        _ => {}
    })?;
    let duration_ns = names.last_ns.saturating_sub(header.start_ns);
    let mut profiles: Vec<Profile> = [samples, allocations, exceptions, locks, collections]
        .into_iter()
        .filter(|making| !making.builder.is_empty())
        .map(|making| making.builder.finish(duration_ns))
        .collect();
    if profiles.is_empty() {
        profiles.push(making(sample_kind, sample_unit, period.max(1)).builder.finish(duration_ns));
    }
    Ok(profiles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;
    use crate::{folded, mlpd, table};
    use proptest::prelude::*;

    fn log() -> Vec<u8> {
        mlpd::write(&Profile { period: 1_000_000, ..sample_profile(&[("main;a", 2_000_000), ("main;b", 1_000_000)]) })
    }

    #[test]
    fn logs_can_be_viewed_again() {
        let profiles = read(&log()).unwrap();
        assert_eq!((&*profiles[0].kind, &*profiles[0].threads[0].name), ("cpu", "Main"));
        // A sample is written once for each that was taken.
        assert_eq!(folded::write(&profiles), "main;a 1000000\nmain;b 1000000\n");
        assert!(table::top(&profiles[0], 1).starts_with("cpu profile: 2.0 ms in 2 samples\n"));
    }

    #[test]
    fn allocations_have_types_and_exceptions_names() {
        let mut profile = sample_profile(&[("main;System.String", 24), ("main;System.Object", 48)]);
        profile.functions.iter_mut().skip(1).for_each(|function| function.kind = FunctionKind::Note);
        let of = |kind: &str, unit| Profile { kind: kind.into(), unit, ..profile.clone() };
        let alloc = read(&mlpd::write(&of("alloc", Unit::Bytes))).unwrap();
        assert_eq!(folded::write(&alloc), "main;System.Object 48\nmain;System.String 24\n");
        assert_eq!((&*alloc[0].kind, alloc[0].unit), ("alloc", Unit::Bytes));
        let thrown = read(&mlpd::write(&of("exceptions", Unit::Count))).unwrap();
        assert_eq!(folded::write(&thrown), "main;System.Object 1\nmain;System.String 1\n");
    }

    #[test]
    fn the_rate_is_in_the_arguments() {
        let of =
            |arguments| Header { arguments, start_unix_ns: 0, start_ns: 0, buffers: Cursor { rest: &[] } }.samples();
        assert_eq!(of("log:sample,output=x.mlpd"), ("cpu", 10_000_000));
        assert_eq!(of("log:nodefaults,sample-real=1000"), ("wall", 1_000_000));
        assert_eq!(of("sample=cycles/500"), ("cpu", 2_000_000));
        assert_eq!(of("log:lock"), ("lock", 0));
        assert_eq!(of("output=x"), ("samples", 0));
    }

    proptest! {
        #[test]
        fn damaged_logs_do_no_harm(at: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
            let mut file = log();
            let at = at.index(file.len());
            file[at] = byte;
            file.truncate(file.len() - cut.index(file.len() / 4));
            for profile in read(&file).unwrap_or_default() {
                folded::write(&[profile]);
            }
        }
    }
}
