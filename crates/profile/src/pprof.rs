//! pprof's `profile.proto` (<https://github.com/google/pprof/blob/main/proto/profile.proto>), compressed with gzip as
//! Go writes it.
//!
//! A file holds one profile or several of one run. Each has two values of a sample: how many were taken, and their sum;
//! of several profiles the first is called `KIND_samples`. Samples of different profiles are different samples, with
//! zeros for the other profiles' values.

use crate::bundle::Bundle;
use crate::model::{Frame, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Unit, Wait};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use prost::Message;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io::{Read, Write};

/// The messages of `profile.proto`, with the fields that are written or read here.
mod proto {
    /// The whole file.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Profile {
        #[prost(message, repeated, tag = "1")]
        pub sample_type: Vec<ValueType>,
        #[prost(message, repeated, tag = "2")]
        pub sample: Vec<Sample>,
        #[prost(message, repeated, tag = "4")]
        pub location: Vec<Location>,
        #[prost(message, repeated, tag = "5")]
        pub function: Vec<Function>,
        #[prost(string, repeated, tag = "6")]
        pub string_table: Vec<String>,
        #[prost(int64, tag = "9")]
        pub time_nanos: i64,
        #[prost(int64, tag = "10")]
        pub duration_nanos: i64,
        #[prost(message, optional, tag = "11")]
        pub period_type: Option<ValueType>,
        #[prost(int64, tag = "12")]
        pub period: i64,
        #[prost(int64, repeated, tag = "13")]
        pub comment: Vec<i64>,
        #[prost(int64, tag = "14")]
        pub default_sample_type: i64,
    }

    /// What a value is, and in which unit: indices of the string table.
    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub struct ValueType {
        #[prost(int64, tag = "1")]
        pub r#type: i64,
        #[prost(int64, tag = "2")]
        pub unit: i64,
    }

    /// A stack, innermost location first, with a value for each `ValueType`.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Sample {
        #[prost(uint64, repeated, tag = "1")]
        pub location_id: Vec<u64>,
        #[prost(int64, repeated, tag = "2")]
        pub value: Vec<i64>,
        #[prost(message, repeated, tag = "3")]
        pub label: Vec<SampleLabel>,
    }

    /// Something about a sample: a key with a text or a number; indices of the string table but for `num`.
    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub struct SampleLabel {
        #[prost(int64, tag = "1")]
        pub key: i64,
        #[prost(int64, tag = "2")]
        pub str: i64,
        #[prost(int64, tag = "3")]
        pub num: i64,
    }

    /// A place in code, with the functions that stand there when calls are inlined.
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Location {
        #[prost(uint64, tag = "1")]
        pub id: u64,
        #[prost(message, repeated, tag = "4")]
        pub line: Vec<Line>,
    }

    /// A function, and a line in its file; 0: not known.
    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub struct Line {
        #[prost(uint64, tag = "1")]
        pub function_id: u64,
        #[prost(int64, tag = "2")]
        pub line: i64,
    }

    /// A function's name and file: indices of the string table.
    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub struct Function {
        #[prost(uint64, tag = "1")]
        pub id: u64,
        #[prost(int64, tag = "2")]
        pub name: i64,
        #[prost(int64, tag = "4")]
        pub filename: i64,
    }
}

/// The first bytes of gzip's output.
pub const GZIP: [u8; 2] = [0x1f, 0x8b];
/// More than that unpacked is not a profile: a file of some megabytes may claim to hold terabytes.
const MAX_UNPACKED_BYTES: u64 = 4 << 30;

/// Keys of labels: the sample's thread, and for waits for locks the lock's owner and how many threads waited.
const THREAD: &str = "thread";
const OWNER: &str = "owner";
const WAITERS: &str = "waiters";

/// The string table while it grows; its first entry is empty.
struct Strings<'a> {
    list: Vec<String>,
    known: FxHashMap<std::borrow::Cow<'a, str>, i64>,
}

impl<'a> Strings<'a> {
    fn new() -> Strings<'a> {
        let mut strings = Strings { list: Vec::new(), known: FxHashMap::default() };
        strings.add("");
        strings
    }

    fn add(&mut self, text: impl Into<std::borrow::Cow<'a, str>>) -> i64 {
        let list = &mut self.list;
        *self.known.entry(text.into()).or_insert_with_key(|text| {
            list.push(text.to_string());
            list.len() as i64 - 1
        })
    }
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
    }
}

/// A number of the format, which has signs where there are none.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// The profiles as one pprof file: `profile.proto`, packed by gzip.
pub fn write(bundle: &Bundle<'_>) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing into memory does not fail.
    let _ = gzip.write_all(&message(bundle).encode_to_vec());
    gzip.finish().unwrap_or_default()
}

fn message(bundle: &Bundle<'_>) -> proto::Profile {
    let mut strings = Strings::new();
    let mut out = proto::Profile::default();
    let is_single = bundle.parts.len() == 1;
    for part in &bundle.parts {
        let kind = &part.profile.kind;
        let counts = if is_single { "samples".to_owned() } else { format!("{kind}_samples") };
        out.sample_type.push(proto::ValueType { r#type: strings.add(counts), unit: strings.add("count") });
        let unit = strings.add(unit_name(part.profile.unit));
        out.sample_type.push(proto::ValueType { r#type: strings.add(&*part.profile.kind), unit });
    }
    let keys = [THREAD, OWNER, WAITERS].map(|key| strings.add(key));
    for (index, part) in bundle.parts.iter().enumerate() {
        let mut merged: BTreeMap<(u32, u32, u32), (u64, u64)> = BTreeMap::new();
        for sample in part.samples.iter() {
            let sum = merged.entry((sample.thread, sample.stack, sample.wait)).or_default();
            *sum = (sum.0.saturating_add(sample.count), sum.1.saturating_add(sample.value));
        }
        for ((thread, stack, wait), (count, value)) in merged {
            let mut values = vec![0; out.sample_type.len()];
            values[2 * index..2 * index + 2].copy_from_slice(&[signed(count), signed(value)]);
            let mut name = |thread: u32| strings.add(&*bundle.threads[thread as usize].name);
            let mut label = vec![proto::SampleLabel { key: keys[0], str: name(thread), num: 0 }];
            if let Some(wait) = (wait as usize).checked_sub(1).and_then(|wait| part.waits.get(wait)) {
                label.extend(wait.owner.map(|owner| proto::SampleLabel { key: keys[1], str: name(owner), num: 0 }));
                label.push(proto::SampleLabel { key: keys[2], str: 0, num: wait.waiters.into() });
            }
            out.sample.push(proto::Sample {
                // Numbers of locations begin at 1.
                location_id: bundle.frames_of(stack).map(|frame| u64::from(frame) + 1).collect(),
                value: values,
                label,
            });
        }
    }
    out.location = (1..)
        .zip(bundle.frames.iter())
        .map(|(id, frame)| {
            let line = proto::Line { function_id: u64::from(frame.function) + 1, line: frame.line.into() };
            proto::Location { id, line: vec![line] }
        })
        .collect();
    out.function = (1..)
        .zip(bundle.functions.iter())
        .map(|(id, function)| {
            let (name, filename) = (strings.add(&*function.name), strings.add(&*function.file));
            // Without a system name: if both names are equal, pprof takes angle brackets for C++ templates and leaves
            // out their contents.
            proto::Function { id, name, filename }
        })
        .collect();
    if let Some(first) = bundle.parts.first().map(|part| part.profile) {
        out.time_nanos = signed(first.start_unix_ns);
        out.duration_nanos = signed(first.duration_ns);
        out.period_type = out.sample_type.get(1).copied();
        out.period = signed(first.period);
        out.default_sample_type = strings.add(&*first.kind);
        out.comment = vec![strings.add(&*first.title)];
    }
    out.string_table = strings.list;
    out
}

/// The contents of a file that is compressed by gzip.
///
/// # Errors
/// What is wrong with it.
pub fn decompress(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    let unpack = MultiGzDecoder::new(bytes).take(MAX_UNPACKED_BYTES).read_to_end(&mut unpacked);
    unpack.map_err(|error| format!("gzip: {error}"))?;
    Ok(unpacked)
}

/// Reads a file that `write` or another program wrote, compressed or not: a profile for each kind of value, except
/// counts that accompany another kind.
///
/// # Errors
/// What is wrong with it.
pub fn read(bytes: &[u8]) -> Result<Vec<Profile>, String> {
    let unpacked = if bytes.starts_with(&GZIP) { Some(decompress(bytes)?) } else { None };
    let bytes = unpacked.as_deref().unwrap_or(bytes);
    let file = proto::Profile::decode(bytes).map_err(|error| format!("pprof: {error}"))?;
    if file.string_table.is_empty() || file.sample_type.is_empty() {
        return Err("pprof: no strings or no types of values".into());
    }
    let types = &file.sample_type;
    let text = |index: i64| usize::try_from(index).ok().and_then(|index| file.string_table.get(index)).map(|s| &**s);
    let text = |index: i64| text(index).unwrap_or_default();
    // A type that only counts the next one's samples is that one's count.
    let is_count_of_next = |index: usize| {
        index + 1 < types.len() && text(types[index].unit) == "count" && {
            let (name, next) = (text(types[index].r#type), text(types[index + 1].r#type));
            name == "samples" || name.strip_suffix("_samples") == Some(next)
        }
    };
    let reader = Reader::new(&file, &text);
    let mut profiles = Vec::new();
    for index in (0..types.len()).filter(|index| !is_count_of_next(*index)) {
        let count = index.checked_sub(1).filter(|count| is_count_of_next(*count));
        profiles.push(reader.profile(index, count));
    }
    Ok(profiles)
}

struct Reader<'a, T: Fn(i64) -> &'a str> {
    file: &'a proto::Profile,
    text: &'a T,
    locations: FxHashMap<u64, &'a proto::Location>,
    functions: FxHashMap<u64, &'a proto::Function>,
}

impl<'a, T: Fn(i64) -> &'a str> Reader<'a, T> {
    fn new(file: &'a proto::Profile, text: &'a T) -> Self {
        let locations = file.location.iter().map(|location| (location.id, location)).collect();
        let functions = file.function.iter().map(|function| (function.id, function)).collect();
        Reader { file, text, locations, functions }
    }

    /// The profile of the value at `index` of each sample.
    fn profile(&self, index: usize, count_at: Option<usize>) -> Profile {
        let (file, text) = (self.file, self.text);
        let value_type = file.sample_type[index];
        let duration_ns = unsigned(file.duration_nanos);
        let mut builder = ProfileBuilder::new(Profile {
            kind: text(value_type.r#type).to_owned(),
            unit: match text(value_type.unit) {
                "nanoseconds" => Unit::Nanoseconds,
                "bytes" => Unit::Bytes,
                _ => Unit::Count,
            },
            // The period belongs to one of the types.
            period: if file.period_type.is_none_or(|t| t == value_type) { unsigned(file.period) } else { 0 },
            title: file.comment.first().map_or_else(String::new, |comment| text(*comment).to_owned()),
            start_unix_ns: unsigned(file.time_nanos),
            ..Profile::default()
        });
        for sample in &file.sample {
            let at = |index: usize| sample.value.get(index).copied().map_or(0, unsigned);
            let value = at(index);
            let count = count_at.map_or(1, at);
            if value == 0 && (count_at.is_none() || count == 0) {
                continue;
            }
            let stack = self.stack(&mut builder, &sample.location_id);
            let label = |key: &str| sample.label.iter().find(|label| text(label.key) == key);
            let mut named =
                |name: i64| builder.thread(name.cast_unsigned(), || ThreadInfo { id: 0, name: text(name).to_owned() });
            let thread = named(label(THREAD).map_or(0, |label| label.str));
            let owner = label(OWNER).map(|label| named(label.str));
            let waiters = label(WAITERS).map(|label| u32::try_from(label.num).unwrap_or(0));
            let wait = waiters.map_or(0, |waiters| builder.wait(Wait { owner, waiters }));
            builder.add(Sample { stack, thread, time_ns: 0, count, value, wait });
        }
        builder.finish(duration_ns)
    }

    fn stack(&self, builder: &mut ProfileBuilder, locations: &[u64]) -> u32 {
        let mut stack = 0;
        for location in locations.iter().rev().filter_map(|id| self.locations.get(id)) {
            // The innermost of inlined lines comes first.
            for line in location.line.iter().rev() {
                let function = self.functions.get(&line.function_id).copied().copied().unwrap_or_default();
                let (name, file) = ((self.text)(function.name).to_owned(), (self.text)(function.filename).to_owned());
                let function = builder.function(crate::Function { name, file, kind: FunctionKind::Managed });
                let frame = builder.frame(Frame { function, line: u32::try_from(line.line).unwrap_or(0) });
                stack = builder.stack(stack, frame);
            }
        }
        stack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded;
    use crate::model::tests::sample_profile;

    fn round_trip(profiles: &[Profile]) -> Vec<Profile> {
        read(&write(&Bundle::of(profiles))).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let profile = sample_profile(&[("main;a", 300), ("main;b;c", 1 << 40), ("main;a", 5)]);
        let [read] = &round_trip(std::slice::from_ref(&profile))[..] else { panic!("one profile") };
        assert_eq!(folded::stacks(read), folded::stacks(&profile));
        assert_eq!((read.period, read.duration_ns, &*read.kind), (1, 3, "cpu"));
        assert_eq!(read.threads[0].name, "Main");
    }

    #[test]
    fn owners_of_locks_come_back() {
        let mut profile = sample_profile(&[("main;[lock]", 300), ("main;[lock]", 20)]);
        profile.threads.push(ThreadInfo { id: 7, name: "Holder".into() });
        profile.waits = vec![Wait { owner: Some(1), waiters: 3 }];
        profile.samples[1].wait = 1;
        let cpu = sample_profile(&[("main;a", 1)]);
        let [_, read] = &round_trip(&[cpu, profile])[..] else { panic!("two profiles") };
        let found = read.samples.iter().find_map(|sample| Some((sample.value, read.wait_of(sample)?)));
        let (value, Wait { owner, waiters }) = found.expect("a wait");
        assert_eq!((value, waiters, &*read.threads[owner.expect("known") as usize].name), (20, 3, "Holder"));
    }

    #[test]
    fn profiles_of_several_kinds_come_back_apart() {
        let alloc = Profile { kind: "alloc".into(), unit: Unit::Bytes, ..sample_profile(&[("main;b", 7)]) };
        let read = round_trip(&[sample_profile(&[("main;a", 300)]), alloc]);
        let shown: Vec<_> = read.iter().map(|p| (&*p.kind, p.unit, folded::stacks(p))).collect();
        let one = |stack: &str, value| std::collections::BTreeMap::from([(stack.to_owned(), value)]);
        assert_eq!(shown, [("cpu", Unit::Nanoseconds, one("main;a", 300)), ("alloc", Unit::Bytes, one("main;b", 7))]);
        assert_eq!(read[1].samples[0].count, 1);
    }

    #[test]
    fn damaged_files_are_refused() {
        let bytes = write(&Bundle::of(&[sample_profile(&[("main;a", 300)])]));
        assert!(bytes.starts_with(&GZIP) && read(&bytes[..bytes.len() - 1]).is_err());
        let plain = message(&Bundle::of(&[sample_profile(&[("main;a", 300)])])).encode_to_vec();
        assert!(read(&plain).is_ok() && read(&plain[..plain.len() - 1]).is_err());
        assert!(read(b"").is_err() && read(b"main;a 300\n").is_err());
    }
}
