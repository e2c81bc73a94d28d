//! speedscope's file format (<https://www.speedscope.app/file-format-schema.json>): a sampled profile for each thread
//! and kind, called `KIND: THREAD`.

use crate::bundle::Bundle;
use crate::json;
use crate::model::{Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Unit};
use serde_json::Value;
use std::fmt::Write;

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// The profiles in speedscope's format, as JSON.
pub fn write(bundle: &Bundle<'_>) -> String {
    let mut out = format!("{{\"$schema\":\"{SCHEMA}\",\"exporter\":\"saki\",\"name\":");
    json::string(&mut out, bundle.title());
    out.push_str(",\"shared\":{\"frames\":");
    json::array(&mut out, bundle.frames.iter(), |out, frame| {
        let function = bundle.function(*frame);
        out.push_str("{\"name\":");
        json::string(out, &function.name);
        if !function.file.is_empty() {
            out.push_str(",\"file\":");
            json::string(out, &function.file);
        }
        if frame.line > 0 {
            let _ = write!(out, ",\"line\":{}", frame.line);
        }
        out.push('}');
    });
    out.push_str("},\"profiles\":");
    let lanes = bundle.parts.iter().flat_map(|part| {
        let mut by_thread = vec![Vec::new(); bundle.threads.len()];
        part.samples.iter().for_each(|sample| by_thread[sample.thread as usize].push(*sample));
        let lanes = by_thread.into_iter().enumerate().filter(|(_, samples)| !samples.is_empty());
        lanes.map(|(thread, samples)| (part.profile, thread, samples))
    });
    json::array(&mut out, lanes, |out, (profile, thread, samples)| {
        out.push_str("{\"type\":\"sampled\",\"name\":");
        json::string(out, &format!("{}: {}", profile.kind, bundle.threads[thread].name));
        let total = samples.iter().fold(0_u64, |sum, sample| sum.saturating_add(sample.value));
        let unit = match profile.unit {
            Unit::Nanoseconds => "nanoseconds",
            Unit::Bytes => "bytes",
            Unit::Count => "none",
        };
        let _ = write!(out, ",\"unit\":\"{unit}\",\"startValue\":0,\"endValue\":{total},\"samples\":");
        json::array(out, &samples, |out, sample| {
            let mut stack: Vec<u32> = bundle.frames_of(sample.stack).collect();
            stack.reverse();
            json::numbers(out, stack);
        });
        out.push_str(",\"weights\":");
        json::numbers(out, samples.iter().map(|sample| sample.value));
        out.push('}');
    });
    out.push('}');
    out
}

/// Whether this is such a file, and not some other JSON file.
pub fn is_one(file: &Value) -> bool {
    file["$schema"].as_str().is_some_and(|schema| schema == SCHEMA)
}

fn list<'a>(value: &'a Value, what: &str) -> Result<&'a [Value], String> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("speedscope: no {what}"))
}

/// Reads a file that `write` or another program wrote: a profile for each kind, that is for each `KIND: ` and unit.
///
/// # Errors
/// What is wrong with it; profiles of events rather than samples are not read.
pub fn read(file: &Value) -> Result<Vec<Profile>, String> {
    let frames = list(&file["shared"]["frames"], "frames")?;
    let is_ours = file["exporter"] == "saki";
    let mut builders: Vec<(String, Unit, ProfileBuilder)> = Vec::new();
    for (number, lane) in list(&file["profiles"], "profiles")?.iter().enumerate() {
        if lane["type"] != "sampled" {
            return Err("speedscope: a profile of events, of which only sampled ones are read".into());
        }
        let name = lane["name"].as_str().unwrap_or_default();
        let (kind, thread) = name.split_once(": ").filter(|_| is_ours).unwrap_or(("speedscope", name));
        let (unit, scale) = match lane["unit"].as_str() {
            Some("nanoseconds") => (Unit::Nanoseconds, 1.0),
            Some("microseconds") => (Unit::Nanoseconds, 1e3),
            Some("milliseconds") => (Unit::Nanoseconds, 1e6),
            Some("seconds") => (Unit::Nanoseconds, 1e9),
            Some("bytes") => (Unit::Bytes, 1.0),
            _ => (Unit::Count, 1.0),
        };
        let index = builders.iter().position(|(k, u, _)| (&**k, *u) == (kind, unit)).unwrap_or_else(|| {
            let title = file["name"].as_str().unwrap_or_default().to_owned();
            let profile = Profile { kind: kind.into(), unit, title, ..Profile::default() };
            builders.push((kind.into(), unit, ProfileBuilder::new(profile)));
            builders.len() - 1
        });
        let builder = &mut builders[index].2;
        let thread = builder.thread(number as u64, || ThreadInfo { id: 0, name: thread.into() });
        let (samples, weights) = (list(&lane["samples"], "samples")?, list(&lane["weights"], "weights")?);
        if samples.len() != weights.len() {
            return Err(format!("speedscope: '{name}' has {} samples and {} weights", samples.len(), weights.len()));
        }
        for (sample, weight) in samples.iter().zip(weights) {
            let mut stack = 0;
            for index in list(sample, "stack")? {
                let frame = index.as_u64().and_then(|index| frames.get(index as usize));
                let frame = frame.ok_or_else(|| format!("speedscope: there is no frame {index}"))?;
                let text = |key: &str| frame[key].as_str().unwrap_or_default().to_owned();
                let function = Function { name: text("name"), file: text("file"), kind: FunctionKind::Managed };
                let function = builder.function(function);
                let line = frame["line"].as_u64().and_then(|line| line.try_into().ok()).unwrap_or(0);
                let frame = builder.frame(Frame { function, line });
                stack = builder.stack(stack, frame);
            }
            let weight = weight.as_f64().unwrap_or(0.0);
            builder.add(Sample { stack, thread, time_ns: 0, count: 0, value: (weight * scale) as u64, wait: 0 });
        }
    }
    Ok(builders.into_iter().map(|(_, _, builder)| builder.finish(0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded;
    use crate::model::tests::sample_profile;

    #[test]
    fn samples_have_their_frames_outermost_first() {
        let profiles = [sample_profile(&[("a;b", 3), ("a", 1)])];
        let text = write(&Bundle::of(&profiles));
        assert!(text.contains(r#""shared":{"frames":[{"name":"a"},{"name":"b"}]}"#), "{text}");
        assert!(text.contains(r#""endValue":4,"samples":[[0,1],[0]],"weights":[3,1]}]}"#), "{text}");
    }

    #[test]
    fn what_is_written_is_read() {
        let alloc = Profile { kind: "alloc".into(), unit: Unit::Bytes, ..sample_profile(&[("a;c", 7)]) };
        let profiles = [sample_profile(&[("a;b", 3), ("a", 1)]), alloc];
        let file = serde_json::from_str(&write(&Bundle::of(&profiles))).unwrap();
        assert!(is_one(&file));
        let read = read(&file).unwrap();
        assert_eq!(folded::write(&read), folded::write(&profiles));
        assert_eq!((&*read[1].kind, read[1].unit, &*read[1].threads[0].name), ("alloc", Unit::Bytes, "Main"));
    }
}
