//! pprof's `profile.proto` (<https://github.com/google/pprof/blob/main/proto/profile.proto>), not compressed, which its readers take too.

use crate::model::{Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Unit};
use crate::protobuf::{Message, Value, fields};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Fields of `Profile`.
mod field {
    pub const SAMPLE_TYPE: u64 = 1;
    pub const SAMPLE: u64 = 2;
    pub const LOCATION: u64 = 4;
    pub const FUNCTION: u64 = 5;
    pub const STRING: u64 = 6;
    pub const TIME: u64 = 9;
    pub const DURATION: u64 = 10;
    pub const PERIOD_TYPE: u64 = 11;
    pub const PERIOD: u64 = 12;
    pub const COMMENT: u64 = 13;
    pub const DEFAULT_TYPE: u64 = 14;
}

#[derive(Default)]
struct Strings<'a> {
    list: Vec<&'a str>,
    known: FxHashMap<&'a str, u64>,
}

impl<'a> Strings<'a> {
    fn add(&mut self, text: &'a str) -> u64 {
        *self.known.entry(text).or_insert_with(|| {
            self.list.push(text);
            self.list.len() as u64 - 1
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

pub fn write(profile: &Profile) -> Vec<u8> {
    let mut strings = Strings::default();
    // The first one is empty.
    strings.add("");
    let mut out = Message::default();
    let value_type = |strings: &mut Strings<'_>, name: &'static str, unit: &'static str| {
        let (name, unit) = (strings.add(name), strings.add(unit));
        move |m: &mut Message| _ = m.number(1, name).number(2, unit)
    };
    let kind = strings.add(&profile.kind);
    let unit = strings.add(unit_name(profile.unit));
    out.message(field::SAMPLE_TYPE, value_type(&mut strings, "samples", "count"));
    out.message(field::SAMPLE_TYPE, |m| _ = m.number(1, kind).number(2, unit));
    let mut merged: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for sample in &profile.samples {
        let sum = merged.entry((sample.thread, sample.stack)).or_default();
        *sum = (sum.0 + sample.count, sum.1 + sample.value);
    }
    let thread_key = strings.add("thread");
    for ((thread, stack), (count, value)) in merged {
        let name = strings.add(&profile.threads[thread as usize].name);
        out.message(field::SAMPLE, |m| {
            let mut at = stack;
            // Numbers of locations begin at 1.
            let locations = std::iter::from_fn(|| {
                let node = profile.nodes.get(at as usize).filter(|_| at != 0)?;
                at = node.parent;
                Some(u64::from(node.frame) + 1)
            });
            m.packed(1, locations).packed(2, [count, value]);
            m.message(3, |m| _ = m.number(1, thread_key).number(2, name));
        });
    }
    for (index, frame) in profile.frames.iter().enumerate() {
        out.message(field::LOCATION, |m| {
            m.number(1, index as u64 + 1);
            m.message(4, |m| _ = m.number(1, u64::from(frame.function) + 1).number(2, frame.line.into()));
        });
    }
    for (index, function) in profile.functions.iter().enumerate() {
        let (name, file) = (strings.add(&function.name), strings.add(&function.file));
        out.message(field::FUNCTION, |m| {
            m.number(1, index as u64 + 1).number(2, name).number(3, name).number(4, file);
        });
    }
    out.number(field::TIME, profile.start_unix_ns).number(field::DURATION, profile.duration_ns);
    out.message(field::PERIOD_TYPE, |m| _ = m.number(1, kind).number(2, unit));
    out.number(field::PERIOD, profile.period);
    let title = strings.add(&profile.title);
    out.packed(field::COMMENT, [title]);
    out.number(field::DEFAULT_TYPE, kind);
    strings.list.iter().for_each(|text| _ = out.bytes(field::STRING, text.as_bytes()));
    out.0
}

/// Reads an uncompressed profile; of several values of a sample the last one.
///
/// # Errors
/// What is wrong with it.
pub fn read(bytes: &[u8]) -> Result<Profile, String> {
    let mut strings: Vec<String> = Vec::new();
    let mut tables: Tables = Tables::default();
    let mut samples: Vec<&[u8]> = Vec::new();
    let mut types: Vec<(u64, u64)> = Vec::new();
    let (mut profile, mut comment) = (Profile::default(), 0);
    let is_whole = fields(bytes, |number, value| match number {
        field::SAMPLE_TYPE => types.push(pair(value.bytes())),
        field::SAMPLE => samples.push(value.bytes()),
        field::LOCATION => tables.add_location(value.bytes()),
        field::FUNCTION => tables.add_function(value.bytes()),
        field::STRING => strings.push(String::from_utf8_lossy(value.bytes()).into_owned()),
        field::TIME => profile.start_unix_ns = value.number(),
        field::DURATION => profile.duration_ns = value.number(),
        field::PERIOD => profile.period = value.number(),
        field::COMMENT => comment = value.numbers().and_then(|n| n.first().copied()).unwrap_or(0),
        _ => {}
    });
    if !is_whole || strings.is_empty() || types.is_empty() {
        return Err("no pprof profile, or a damaged one".into());
    }
    let text = |index: u64| strings.get(index as usize).cloned().unwrap_or_default();
    let (kind, unit) = types[types.len() - 1];
    profile.kind = text(kind);
    profile.title = text(comment);
    profile.unit = match &*text(unit) {
        "nanoseconds" => Unit::Nanoseconds,
        "bytes" => Unit::Bytes,
        _ => Unit::Count,
    };
    let duration_ns = profile.duration_ns;
    let mut builder = ProfileBuilder::new(profile);
    for sample in samples {
        let (mut locations, mut values, mut name) = (Vec::new(), Vec::new(), 0);
        fields(sample, |number, value| match number {
            1 => locations.extend(value.numbers().unwrap_or_default()),
            2 => values.extend(value.numbers().unwrap_or_default()),
            3 => name = pair(value.bytes()).1,
            _ => {}
        });
        let mut stack = 0;
        for location in locations.iter().rev() {
            // The innermost of inlined lines comes first.
            for (function, line) in tables.locations.get(location).into_iter().flatten().rev() {
                let (name, file) = tables.functions.get(function).copied().unwrap_or_default();
                let function = Function { name: text(name), file: text(file), kind: FunctionKind::Managed };
                let function = builder.function(function);
                let frame = builder.frame(Frame { function, line: *line as u32 });
                stack = builder.stack(stack, frame);
            }
        }
        let thread = builder.thread(name, || ThreadInfo { id: name, name: text(name) });
        let value = values.last().copied().unwrap_or(0);
        let count = values.first().copied().unwrap_or(0);
        builder.add(Sample { stack, thread, time_ns: 0, count, value });
    }
    Ok(builder.finish(duration_ns))
}

#[derive(Default)]
struct Tables {
    /// Function and line, innermost first.
    locations: FxHashMap<u64, Vec<(u64, u64)>>,
    /// Name and file.
    functions: FxHashMap<u64, (u64, u64)>,
}

impl Tables {
    fn add_location(&mut self, bytes: &[u8]) {
        let (mut id, mut lines) = (0, Vec::new());
        fields(bytes, |number, value| match number {
            1 => id = value.number(),
            4 => lines.push(pair(value.bytes())),
            _ => {}
        });
        self.locations.insert(id, lines);
    }

    fn add_function(&mut self, bytes: &[u8]) {
        let (mut id, mut name, mut file) = (0, 0, 0);
        fields(bytes, |number, value| match number {
            1 => id = value.number(),
            2 => name = value.number(),
            4 => file = value.number(),
            _ => {}
        });
        self.functions.insert(id, (name, file));
    }
}

/// Fields 1 and 2.
fn pair(bytes: &[u8]) -> (u64, u64) {
    let mut pair = (0, 0);
    fields(bytes, |number, value: Value<'_>| match number {
        1 => pair.0 = value.number(),
        2 => pair.1 = value.number(),
        _ => {}
    });
    pair
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded;
    use crate::model::tests::sample_profile;

    #[test]
    fn what_is_written_is_read() {
        let profile = sample_profile(&[("main;a", 300), ("main;b;c", 1 << 40), ("main;a", 5)]);
        let read = read(&write(&profile)).unwrap();
        assert_eq!(folded::write(&read), folded::write(&profile));
        assert_eq!((read.period, read.duration_ns, &*read.kind), (1, 3, "cpu"));
        assert_eq!(read.threads[0].name, "Main");
    }

    #[test]
    fn damaged_files_are_refused() {
        let bytes = write(&sample_profile(&[("main;a", 300)]));
        assert!(read(&bytes[..bytes.len() - 1]).is_err());
        assert!(read(b"").is_err() && read(b"main;a 300\n").is_err());
    }
}
