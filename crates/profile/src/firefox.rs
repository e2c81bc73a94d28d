//! The Firefox Profiler's processed profile format (<https://profiler.firefox.com>), version 44, which it upgrades when it loads the file.
//!
//! Times are in milliseconds. A sample of n periods has the weight n.

use crate::json;
use crate::model::{FunctionKind, Profile, Sample, Unit};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Of the categories in `META`.
const CATEGORY_MANAGED: u32 = 0;
const CATEGORY_NATIVE: u32 = 1;
const CATEGORY_OTHER: u32 = 2;

pub fn write(profile: &Profile) -> String {
    let interval_ms = if profile.unit == Unit::Nanoseconds { profile.period as f64 / 1e6 } else { 1.0 };
    let mut out =
        String::from("{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":44,\"processType\":0,\"product\":");
    json::string(&mut out, &format!("saki {}", profile.title));
    let _ = write!(
        out,
        ",\"interval\":{interval_ms},\"startTime\":{:.3},\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,\
         \"sampleUnits\":{{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"\u{b5}s\"}},\"markerSchema\":[],\"extensions\":\
         {{\"length\":0,\"id\":[],\"name\":[],\"baseURL\":[]}},\"categories\":[\
         {{\"name\":\"Managed\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}},\
         {{\"name\":\"Native\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}},\
         {{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}}]}},\"libs\":[],\"threads\":",
        profile.start_unix_ns as f64 / 1e6
    );
    let mut by_thread: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    profile.samples.iter().for_each(|sample| by_thread.entry(sample.thread).or_default().push(sample));
    json::array(&mut out, by_thread, |out, (thread, samples)| write_thread(out, profile, thread, &samples));
    out.push_str(",\"pages\":[],\"profilerOverhead\":[],\"counters\":[]}");
    out
}

fn write_thread(out: &mut String, profile: &Profile, thread: u32, samples: &[&Sample]) {
    let info = &profile.threads[thread as usize];
    out.push_str("{\"name\":");
    json::string(out, &info.name);
    let _ = write!(
        out,
        ",\"processType\":\"default\",\"processName\":\"saki\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,\
         \"unregisterTime\":null,\"isMainThread\":{},\"pausedRanges\":[],\"pid\":\"1\",\"tid\":{}",
        info.name == "Main",
        thread + 1
    );
    out.push_str(",\"stringArray\":");
    json::strings(out, profile.functions.iter().flat_map(|function| [&*function.name, &*function.file]));
    let functions = &profile.functions;
    let _ = write!(out, ",\"funcTable\":{{\"length\":{},\"name\":", functions.len());
    json::numbers(out, (0..functions.len()).map(|index| 2 * index));
    out.push_str(",\"isJS\":");
    repeat(out, "false", functions.len());
    out.push_str(",\"relevantForJS\":");
    repeat(out, "false", functions.len());
    out.push_str(",\"resource\":");
    repeat(out, "-1", functions.len());
    out.push_str(",\"fileName\":");
    json::array(out, functions.iter().enumerate(), |out, (index, function)| {
        let _ = if function.file.is_empty() { write!(out, "null") } else { write!(out, "{}", 2 * index + 1) };
    });
    for column in ["lineNumber", "columnNumber"] {
        let _ = write!(out, ",\"{column}\":");
        repeat(out, "null", functions.len());
    }
    write_frames(out, profile);
    let nodes = &profile.nodes[1..];
    let _ = write!(out, "}},\"stackTable\":{{\"length\":{},\"prefix\":", nodes.len());
    // The empty stack, number 0, is not in the table.
    json::array(out, nodes, |out, node| {
        let _ = if node.parent == 0 { write!(out, "null") } else { write!(out, "{}", node.parent - 1) };
    });
    out.push_str(",\"frame\":");
    json::numbers(out, nodes.iter().map(|node| node.frame));
    out.push_str(",\"category\":");
    json::numbers(out, nodes.iter().map(|node| category(profile, node.frame)));
    out.push_str(",\"subcategory\":");
    repeat(out, "0", nodes.len());
    let _ = write!(out, "}},\"samples\":{{\"length\":{},\"weightType\":\"samples\",\"stack\":", samples.len());
    json::array(out, samples, |out, sample| {
        let _ = if sample.stack == 0 { write!(out, "null") } else { write!(out, "{}", sample.stack - 1) };
    });
    out.push_str(",\"time\":");
    json::array(out, samples, |out, sample| _ = write!(out, "{:.3}", sample.time_ns as f64 / 1e6));
    out.push_str(",\"weight\":");
    json::numbers(out, samples.iter().map(|sample| sample.count));
    out.push_str(
        "},\"markers\":{\"length\":0,\"category\":[],\"data\":[],\"endTime\":[],\"name\":[],\"phase\":[],\"startTime\":[]},\
         \"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]},\
         \"nativeSymbols\":{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[]}}",
    );
}

fn write_frames(out: &mut String, profile: &Profile) {
    let frames = &profile.frames;
    let _ = write!(out, "}},\"frameTable\":{{\"length\":{},\"func\":", frames.len());
    json::numbers(out, frames.iter().map(|frame| frame.function));
    out.push_str(",\"category\":");
    json::numbers(out, (0..frames.len() as u32).map(|frame| category(profile, frame)));
    out.push_str(",\"line\":");
    json::array(out, frames, |out, frame| {
        let _ = if frame.line == 0 { write!(out, "null") } else { write!(out, "{}", frame.line) };
    });
    for (column, value) in [
        ("address", "-1"),
        ("inlineDepth", "0"),
        ("subcategory", "0"),
        ("nativeSymbol", "null"),
        ("innerWindowID", "null"),
        ("implementation", "null"),
        ("column", "null"),
        ("optimizations", "null"),
    ] {
        let _ = write!(out, ",\"{column}\":");
        repeat(out, value, frames.len());
    }
}

fn category(profile: &Profile, frame: u32) -> u32 {
    match profile.function(profile.frames[frame as usize]).kind {
        FunctionKind::Managed => CATEGORY_MANAGED,
        FunctionKind::Native => CATEGORY_NATIVE,
        FunctionKind::Note => CATEGORY_OTHER,
    }
}

fn repeat(out: &mut String, text: &str, count: usize) {
    json::array(out, 0..count, |out, _| out.push_str(text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn columns_are_as_long_as_their_tables() {
        let text = write(&sample_profile(&[("a;b", 3), ("a", 1)]));
        assert!(
            text.contains(r#""stackTable":{"length":2,"prefix":[null,0],"frame":[0,1],"category":[0,0]"#),
            "{text}"
        );
        assert!(text.contains(r#""samples":{"length":2,"weightType":"samples","stack":[1,0],"#), "{text}");
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }
}
