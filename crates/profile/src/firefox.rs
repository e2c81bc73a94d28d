//! The Firefox Profiler's processed profile format (<https://profiler.firefox.com>), version 61, which it upgrades when
//! it loads the file.
//!
//! Documented in its `docs-developer/CHANGELOG-formats.md` and `src/types/profile.ts`. Times are in milliseconds. Each
//! kind of profile is shown as a process, so that its threads stand together. Samples by time have weights in samples,
//! other durations in milliseconds, allocations in bytes.

use crate::bundle::{Bundle, Part};
use crate::json;
use crate::model::{Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Unit};
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The first version in which threads share their tables has stacks and functions as they are written here.
const VERSION: u64 = 61;
const PRODUCT: &str = "saki ";

/// Indices of the categories in `META`.
const CATEGORY_MANAGED: u32 = 0;
const CATEGORY_NATIVE: u32 = 1;
const CATEGORY_OTHER: u32 = 2;

/// How the weights of a profile's samples are to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Samples,
    Milliseconds,
    Bytes,
}

impl Weight {
    /// `interval_ns`: what a sample stands for in the file, which names one such time for all its profiles.
    fn of(profile: &Profile, interval_ns: u64) -> Weight {
        match profile.unit {
            Unit::Nanoseconds if !profile.is_sampled_time() || profile.period != interval_ns => Weight::Milliseconds,
            Unit::Nanoseconds | Unit::Count => Weight::Samples,
            Unit::Bytes => Weight::Bytes,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Weight::Samples => "samples",
            Weight::Milliseconds => "tracing-ms",
            Weight::Bytes => "bytes",
        }
    }
}

/// The profiles in the Firefox Profiler's format, as JSON.
pub fn write(bundle: &Bundle<'_>) -> String {
    let timed = bundle.parts.iter().map(|part| part.profile).find(|profile| profile.is_sampled_time());
    let interval_ns = timed.map_or(1_000_000, |profile| profile.period);
    let interval_ms = interval_ns as f64 / 1e6;
    let mut out =
        format!("{{\"meta\":{{\"version\":31,\"preprocessedProfileVersion\":{VERSION},\"processType\":0,\"product\":");
    json::string(&mut out, &format!("{PRODUCT}{}", bundle.title()));
    let _ = write!(
        out,
        ",\"interval\":{interval_ms},\"startTime\":{:.3},\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,\
         \"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,\
         \"sampleUnits\":{{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"\u{b5}s\"}},\"markerSchema\":[],\"extensions\":\
         {{\"length\":0,\"id\":[],\"name\":[],\"baseURL\":[]}},\"categories\":[\
         {{\"name\":\"Managed\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}},\
         {{\"name\":\"Native\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}},\
         {{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}}]}},\"libs\":[],\"pages\":[],\
         \"profilerOverhead\":[],\"counters\":[],\"shared\":{{",
        bundle.start_unix_ns() as f64 / 1e6
    );
    write_tables(&mut out, bundle);
    out.push_str("},\"threads\":");
    let lanes = bundle.parts.iter().enumerate().flat_map(|(process, part)| {
        let mut by_thread: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
        part.samples.iter().for_each(|sample| by_thread.entry(sample.thread).or_default().push(sample));
        by_thread.into_iter().map(move |(thread, samples)| (process, part, thread, samples))
    });
    json::array(&mut out, lanes, |out, (process, part, thread, samples)| {
        write_thread(out, &bundle.threads[thread as usize], part, (process, thread), interval_ns, &samples);
    });
    out.push('}');
    out
}

fn write_thread(
    out: &mut String,
    info: &ThreadInfo,
    part: &Part<'_>,
    (process, thread): (usize, u32),
    interval_ns: u64,
    samples: &[&Sample],
) {
    out.push_str("{\"name\":");
    json::string(out, &info.name);
    out.push_str(",\"processType\":\"default\",\"processName\":");
    json::string(out, &part.profile.kind);
    let _ = write!(
        out,
        ",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,\
         \"isMainThread\":{},\"pausedRanges\":[],\"pid\":\"{}\",\"tid\":\"{}.{}\"",
        info.name == "Main",
        process + 1,
        process + 1,
        thread + 1
    );
    let weight = Weight::of(part.profile, interval_ns);
    let _ = write!(out, ",\"samples\":{{\"length\":{},\"weightType\":\"{}\",\"stack\":", samples.len(), weight.name());
    json::array(out, samples, |out, sample| {
        let _ = if sample.stack == 0 { write!(out, "null") } else { write!(out, "{}", sample.stack - 1) };
    });
    out.push_str(",\"time\":");
    json::array(out, samples, |out, sample| _ = write!(out, "{:.3}", sample.time_ns as f64 / 1e6));
    out.push_str(",\"weight\":");
    json::array(out, samples, |out, sample| {
        let _ = match weight {
            Weight::Samples => write!(out, "{}", sample.count),
            Weight::Milliseconds => write!(out, "{}", sample.value as f64 / 1e6),
            Weight::Bytes => write!(out, "{}", sample.value),
        };
    });
    out.push_str(
        "},\"markers\":{\"length\":0,\"category\":[],\"data\":[],\"endTime\":[],\"name\":[],\"phase\":[],\"startTime\":[]}}",
    );
}

/// The tables that threads share.
fn write_tables(out: &mut String, bundle: &Bundle<'_>) {
    let (functions, nodes) = (&bundle.functions, bundle.nodes.get(1..).unwrap_or_default());
    // Strings: the functions' names, and behind them the files'.
    let mut files: Vec<&str> = Vec::new();
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    for function in functions.iter().filter(|function| !function.file.is_empty()) {
        known.entry(&function.file).or_insert_with(|| {
            files.push(&function.file);
            files.len() - 1
        });
    }
    out.push_str("\"stringArray\":");
    json::strings(out, functions.iter().map(|function| &*function.name).chain(files.iter().copied()));
    let _ = write!(out, ",\"sources\":{{\"length\":{},\"filename\":", files.len());
    json::numbers(out, functions.len()..functions.len() + files.len());
    for (column, value) in [("id", "null"), ("startLine", "1"), ("startColumn", "1"), ("sourceMapURL", "null")] {
        repeat(out, column, value, files.len());
    }
    let _ = write!(out, "}},\"funcTable\":{{\"length\":{},\"name\":", functions.len());
    json::numbers(out, 0..functions.len());
    out.push_str(",\"source\":");
    json::array(out, functions.iter(), |out, function| {
        let _ = match known.get(&*function.file) {
            Some(file) => write!(out, "{file}"),
            None => write!(out, "null"),
        };
    });
    for (column, value) in [
        ("isJS", "false"),
        ("relevantForJS", "false"),
        ("resource", "-1"),
        ("lineNumber", "null"),
        ("columnNumber", "null"),
    ] {
        repeat(out, column, value, functions.len());
    }
    write_frames(out, bundle);
    let _ = write!(out, "}},\"stackTable\":{{\"length\":{},\"prefix\":", nodes.len());
    // The empty stack, number 0, is not in the table.
    json::array(out, nodes, |out, node| {
        let _ = if node.parent == 0 { write!(out, "null") } else { write!(out, "{}", node.parent - 1) };
    });
    out.push_str(",\"frame\":");
    json::numbers(out, nodes.iter().map(|node| node.frame));
    out.push_str(
        "},\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]},\
         \"nativeSymbols\":{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[]}",
    );
}

fn write_frames(out: &mut String, bundle: &Bundle<'_>) {
    let frames = &bundle.frames;
    let _ = write!(out, "}},\"frameTable\":{{\"length\":{},\"func\":", frames.len());
    json::numbers(out, frames.iter().map(|frame| frame.function));
    out.push_str(",\"category\":");
    json::numbers(out, frames.iter().map(|frame| category(bundle.function(*frame).kind)));
    out.push_str(",\"line\":");
    json::array(out, frames.iter(), |out, frame| {
        let _ = if frame.line == 0 { write!(out, "null") } else { write!(out, "{}", frame.line) };
    });
    for (column, value) in [
        ("address", "-1"),
        ("inlineDepth", "0"),
        ("subcategory", "0"),
        ("nativeSymbol", "null"),
        ("innerWindowID", "null"),
        ("column", "null"),
    ] {
        repeat(out, column, value, frames.len());
    }
}

fn category(kind: FunctionKind) -> u32 {
    match kind {
        FunctionKind::Managed => CATEGORY_MANAGED,
        FunctionKind::Native => CATEGORY_NATIVE,
        FunctionKind::Note => CATEGORY_OTHER,
    }
}

/// A column that has the same value in each row.
fn repeat(out: &mut String, column: &str, value: &str, count: usize) {
    let _ = write!(out, ",\"{column}\":");
    json::array(out, 0..count, |out, _| out.push_str(value));
}

/// Whether this is such a file, and not some other JSON file.
pub fn is_one(file: &Value) -> bool {
    file["meta"]["preprocessedProfileVersion"].is_number()
}

/// Reads a file that `write` wrote.
///
/// # Errors
/// What is wrong with it; files of other programs, and those that the Firefox Profiler has saved in another version,
/// are not read.
pub fn read(file: &Value) -> Result<Vec<Profile>, String> {
    let meta = &file["meta"];
    let product = meta["product"].as_str().unwrap_or_default();
    let title = product.strip_prefix(PRODUCT).ok_or("firefox: only files that saki wrote are read")?;
    if meta["preprocessedProfileVersion"] != VERSION {
        return Err(format!("firefox: version {} where {VERSION} is read", meta["preprocessedProfileVersion"]));
    }
    let period = (meta["interval"].as_f64().unwrap_or(0.0) * 1e6) as u64;
    // By the process's number; with the stacks that were read.
    let mut profiles: Vec<(&Value, ProfileBuilder, FxHashMap<u64, u32>)> = Vec::new();
    for thread in file["threads"].as_array().ok_or("firefox: no threads")? {
        let samples = &thread["samples"];
        let weight = [Weight::Samples, Weight::Milliseconds, Weight::Bytes]
            .into_iter()
            .find(|weight| samples["weightType"] == weight.name())
            .ok_or("firefox: samples of no known weight")?;
        let index = profiles.iter().position(|(pid, ..)| **pid == thread["pid"]).unwrap_or_else(|| {
            let kind = thread["processName"].as_str().unwrap_or_default();
            let unit = match weight {
                Weight::Bytes => Unit::Bytes,
                // Of the kinds that are counted, only exceptions are not samples of time.
                Weight::Samples if kind == "exceptions" => Unit::Count,
                Weight::Samples | Weight::Milliseconds => Unit::Nanoseconds,
            };
            let start_unix_ns = (meta["startTime"].as_f64().unwrap_or(0.0) * 1e6) as u64;
            let (kind, title) = (kind.to_owned(), title.to_owned());
            let profile = Profile { kind, unit, title, period, start_unix_ns, ..Profile::default() };
            profiles.push((&thread["pid"], ProfileBuilder::new(profile), FxHashMap::default()));
            profiles.len() - 1
        });
        let (_, builder, known) = &mut profiles[index];
        let key = thread["tid"].as_str().and_then(|tid| tid.rsplit('.').next()?.parse().ok()).unwrap_or(0);
        let name = thread["name"].as_str().unwrap_or_default();
        let number = builder.thread(key, || ThreadInfo { id: 0, name: name.to_owned() });
        let is_counted = thread["processName"] == "exceptions";
        for at in 0..samples["length"].as_u64().unwrap_or(0) as usize {
            let stack = match &samples["stack"][at] {
                Value::Null => 0,
                stack => match stack.as_u64().and_then(|stack| known.get(&stack)) {
                    Some(known) => *known,
                    None => {
                        let number = read_stack(builder, &file["shared"], stack)?;
                        known.extend(stack.as_u64().map(|stack| (stack, number)));
                        number
                    }
                },
            };
            let weighed = samples["weight"][at].as_f64().ok_or("firefox: a sample without weight")?;
            let (count, value) = match weight {
                Weight::Samples if is_counted => (weighed as u64, weighed as u64),
                Weight::Samples => (weighed as u64, weighed as u64 * period),
                Weight::Milliseconds => (0, (weighed * 1e6).round() as u64),
                Weight::Bytes => (0, weighed as u64),
            };
            let time_ns = (samples["time"][at].as_f64().unwrap_or(0.0) * 1e6) as u64;
            builder.add(Sample { stack, thread: number, time_ns, count, value, wait: 0 });
        }
    }
    Ok(profiles.into_iter().map(|(_, builder, _)| builder.finish(0)).collect())
}

fn read_stack(builder: &mut ProfileBuilder, shared: &Value, stack: &Value) -> Result<u32, String> {
    let (stacks, frames, functions) = (&shared["stackTable"], &shared["frameTable"], &shared["funcTable"]);
    let cell = |table: &Value, column: &str, index: &Value| -> Option<Value> {
        table[column].get(usize::try_from(index.as_u64()?).ok()?).cloned()
    };
    let text = |index: Option<Value>| -> Option<String> {
        Some(shared["stringArray"].get(index?.as_u64()? as usize)?.as_str()?.to_owned())
    };
    let mut path = Vec::new();
    let mut at = stack.clone();
    while !at.is_null() {
        let prefix = cell(stacks, "prefix", &at).ok_or_else(|| format!("firefox: there is no stack {at}"))?;
        // Callers come before their callees, so this ends.
        if prefix.as_u64() >= at.as_u64() {
            return Err(format!("firefox: stack {at} is called by {prefix}"));
        }
        path.push(cell(stacks, "frame", &at).ok_or("firefox: a stack without a frame")?);
        at = prefix;
    }
    let mut stack = 0;
    for frame in path.iter().rev() {
        let function = cell(frames, "func", frame).ok_or_else(|| format!("firefox: there is no frame {frame}"))?;
        let kind = match cell(frames, "category", frame).and_then(|category| category.as_u64()) {
            Some(category) if category == u64::from(CATEGORY_NATIVE) => FunctionKind::Native,
            Some(category) if category == u64::from(CATEGORY_OTHER) => FunctionKind::Note,
            _ => FunctionKind::Managed,
        };
        let file = cell(functions, "source", &function)
            .and_then(|source| text(cell(&shared["sources"], "filename", &source)))
            .unwrap_or_default();
        let name = text(cell(functions, "name", &function)).ok_or("firefox: a function without a name")?;
        let line = cell(frames, "line", frame).and_then(|line| line.as_u64()?.try_into().ok()).unwrap_or(0);
        let function = builder.function(Function { name, file, kind });
        let frame = builder.frame(Frame { function, line });
        stack = builder.stack(stack, frame);
    }
    Ok(stack)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded;
    use crate::model::tests::sample_profile;

    #[test]
    fn stacks_are_shared_and_samples_are_the_threads() {
        let text = write(&Bundle::of(&[sample_profile(&[("a;b", 3), ("a", 1)])]));
        assert!(text.contains(r#""stackTable":{"length":2,"prefix":[null,0],"frame":[0,1]}"#), "{text}");
        assert!(text.contains(r#""samples":{"length":2,"weightType":"tracing-ms","stack":[1,0],"#), "{text}");
    }

    #[test]
    fn kinds_with_other_rates_keep_their_sums() {
        let of = |kind: &str, period| Profile { kind: kind.into(), period, ..sample_profile(&[("a", 30_000_000)]) };
        let profiles = [of("cpu", 1_000_000), of("wall", 10_000_000)];
        let file = serde_json::from_str(&write(&Bundle::of(&profiles))).unwrap();
        let wall = &read(&file).unwrap()[1];
        assert_eq!((&*wall.kind, wall.total()), ("wall", 30_000_000));
    }

    #[test]
    fn what_is_written_is_read() {
        let alloc = Profile { kind: "alloc".into(), unit: Unit::Bytes, ..sample_profile(&[("a;c", 7)]) };
        let exceptions = Profile { kind: "exceptions".into(), unit: Unit::Count, ..sample_profile(&[("a", 1)]) };
        let profiles = [sample_profile(&[("a;b", 3), ("a", 1)]), alloc, exceptions];
        let file = serde_json::from_str(&write(&Bundle::of(&profiles))).unwrap();
        assert!(is_one(&file));
        let read = read(&file).unwrap();
        assert_eq!(folded::write(&read), folded::write(&profiles));
        assert_eq!((&*read[1].kind, read[1].unit, &*read[1].threads[0].name), ("alloc", Unit::Bytes, "Main"));
    }
}
