//! Reads the profiles in a page that `html` wrote, from the data in its script element.
//!
//! Invariant: the reader trusts nothing in the file: numbers are checked before they are used, and the page's scripts
//! are not looked at. Times are as fine as the page's columns, and waits for locks are without their owners.

use crate::model::{Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Unit};
use serde_json::Value;

/// Before the data, and behind it.
const BEGIN: &str = "<script type=\"application/json\" id=\"data\">";
const END: &str = "</script>";

/// Whether this is a page of ours, of profiles or of a heap.
pub fn is_one(text: &str) -> bool {
    text.trim_start().starts_with("<!DOCTYPE html>") && text.contains(BEGIN)
}

fn list<'a>(value: &'a Value, what: &str) -> Result<&'a [Value], String> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("the page's data has no {what}"))
}

/// Numbers below `end`, as indices.
fn indices(value: &Value, end: usize, what: &str) -> Result<Vec<usize>, String> {
    let index = |value: &Value| match value.as_u64() {
        Some(index) if index < end as u64 => Ok(index as usize),
        _ => Err(format!("the page's data names {what} {value} of {end}")),
    };
    list(value, what)?.iter().map(index).collect()
}

fn numbers(value: &Value, what: &str) -> Result<Vec<u64>, String> {
    let number = |value: &Value| value.as_u64().ok_or_else(|| format!("the page's data has {value} among its {what}"));
    list(value, what)?.iter().map(number).collect()
}

/// The tables that the page's profiles have in common.
struct Tables {
    functions: Vec<Function>,
    frames: Vec<Frame>,
    /// Caller and frame of each stack but the empty one.
    nodes: Vec<(usize, usize)>,
    threads: Vec<ThreadInfo>,
}

impl Tables {
    fn of(data: &Value) -> Result<Tables, String> {
        let files = list(&data["files"], "files")?;
        let function = |value: &Value| {
            let file = value[1].as_u64().and_then(|index| files.get(index as usize)).and_then(Value::as_str);
            let kind = match value[2].as_u64() {
                Some(1) => FunctionKind::Native,
                Some(2) => FunctionKind::Note,
                _ => FunctionKind::Managed,
            };
            let name = value[0].as_str().unwrap_or_default().to_owned();
            Function { name, file: file.unwrap_or_default().to_owned(), kind }
        };
        let functions: Vec<Function> = list(&data["functions"], "functions")?.iter().map(function).collect();
        let of_frames = indices(&data["frameFunctions"], functions.len(), "function")?;
        let lines = numbers(&data["frameLines"], "lines")?;
        let frame = |(function, line): (usize, u64)| Frame { function: function as u32, line: line as u32 };
        let frames: Vec<Frame> = of_frames.into_iter().zip(lines).map(frame).collect();
        let parents = list(&data["parents"], "stacks")?;
        let mut nodes = Vec::new();
        for (node, (parent, frame)) in parents.iter().zip(list(&data["nodeFrames"], "stacks")?).enumerate().skip(1) {
            let parent = parent.as_u64().filter(|&parent| parent < node as u64);
            let frame = frame.as_u64().filter(|&frame| frame < frames.len() as u64);
            let (parent, frame) =
                parent.zip(frame).ok_or_else(|| format!("stack {node} of the page's data is none"))?;
            nodes.push((parent as usize, frame as usize));
        }
        let name =
            |(number, value): (u64, &Value)| ThreadInfo { id: number, name: value.as_str().unwrap_or_default().into() };
        let threads = (1..).zip(list(&data["threads"], "threads")?).map(name).collect();
        Ok(Tables { functions, frames, nodes, threads })
    }

    /// The stacks' numbers in a builder that has nothing yet.
    fn stacks_in(&self, builder: &mut ProfileBuilder) -> Vec<u32> {
        let functions: Vec<u32> = self.functions.iter().map(|function| builder.function(function.clone())).collect();
        let frame = |frame: &Frame| Frame { function: functions[frame.function as usize], line: frame.line };
        let frames: Vec<u32> = self.frames.iter().map(frame).map(|frame| builder.frame(frame)).collect();
        let mut stacks = vec![0];
        for &(parent, frame) in &self.nodes {
            stacks.push(builder.stack(stacks[parent], frames[frame]));
        }
        stacks
    }
}

/// Reads a page.
///
/// # Errors
/// What is wrong with it.
pub fn read(text: &str) -> Result<Vec<Profile>, String> {
    let data = text.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map(|(data, _)| data);
    let data: Value = serde_json::from_str(data.ok_or("the page has no data")?)
        .map_err(|error| format!("the page's data is damaged: {error}"))?;
    if !data["objects"].is_null() {
        return Err("this is the page of a heap snapshot, which has no more than it shows: view the .heap file".into());
    }
    let tables = Tables::of(&data)?;
    let profile = |part| read_part(&data, &tables, part);
    list(&data["profiles"], "profiles")?.iter().map(profile).collect()
}

fn read_part(data: &Value, tables: &Tables, part: &Value) -> Result<Profile, String> {
    let (unit, number) = (&part["unit"], |key: &str| part[key].as_u64().unwrap_or(0));
    let mut builder = ProfileBuilder::new(Profile {
        kind: part["kind"].as_str().unwrap_or_default().to_owned(),
        unit: match unit.as_str() {
            Some("ns") => Unit::Nanoseconds,
            Some("bytes") => Unit::Bytes,
            _ => Unit::Count,
        },
        period: number("period"),
        title: data["title"].as_str().unwrap_or_default().to_owned(),
        start_unix_ns: data["startMs"].as_u64().unwrap_or(0).saturating_mul(1_000_000),
        lost: number("lost"),
        without_callers: number("withoutCallers"),
        ..Profile::default()
    });
    let stacks = tables.stacks_in(&mut builder);
    let (times, values) = (numbers(&part["times"], "times")?, numbers(&part["values"], "values")?);
    let threads = indices(&part["threads"], tables.threads.len(), "thread")?;
    let of_samples = indices(&part["stacks"], stacks.len(), "stack")?;
    // Left out where values determine them.
    let counts = if part["counts"].is_null() { Vec::new() } else { numbers(&part["counts"], "counts")? };
    let period = number("period").max(1);
    for (index, ((&time, &value), (&thread, &stack))) in
        times.iter().zip(&values).zip(threads.iter().zip(&of_samples)).enumerate()
    {
        let thread = builder.thread(thread as u64, || tables.threads[thread].clone());
        let time_ns = time.saturating_mul(number("stepNs"));
        let count = counts.get(index).copied().unwrap_or(value / period);
        builder.add(Sample { stack: stacks[stack], thread, time_ns, count, value, wait: 0 });
    }
    Ok(builder.finish(number("durationNs")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::Bundle;
    use crate::model::tests::sample_profile;
    use crate::{folded, html, table};
    use proptest::prelude::*;

    fn page() -> String {
        let alloc = Profile { kind: "alloc".into(), unit: Unit::Bytes, ..sample_profile(&[("a;</script>", 7)]) };
        let cpu = Profile { period: 1_000_000, ..sample_profile(&[("a;b", 3_000_000), ("a", 1_000_000)]) };
        html::write(&Bundle::of(&[cpu, alloc]))
    }

    #[test]
    fn pages_can_be_viewed_again() {
        let profiles = read(&page()).unwrap();
        assert!(
            table::top(&profiles[0], 5).starts_with("cpu profile: 4.0 ms in 4 samples\n"),
            "{}",
            table::top(&profiles[0], 5)
        );
        assert_eq!(folded::write(&profiles), "[cpu];a 1000000\n[cpu];a;b 3000000\n[alloc];a;</script> 7\n");
        assert_eq!((profiles[1].unit, &*profiles[1].threads[0].name), (Unit::Bytes, "Main"));
        assert!(is_one(&page()) && !is_one("<!DOCTYPE html><p>another") && !is_one("a;b 1"));
    }

    proptest! {
        #[test]
        fn damaged_pages_do_no_harm(at: prop::sample::Index, byte in " -~") {
            let mut text = page();
            let start = text.find(BEGIN).unwrap();
            let places: Vec<usize> = (start..text.rfind(END).unwrap()).filter(|&at| text.is_char_boundary(at) && text.is_char_boundary(at + 1)).collect();
            let at = places[at.index(places.len())];
            text.replace_range(at..=at, &byte);
            for profile in read(&text).unwrap_or_default() {
                folded::write(&[profile]);
            }
        }
    }
}
