//! One self-contained HTML file: flame graph with zoom and search, from callers down and from the ends of stacks up;
//! call tree, functions with their lines, threads over time, the types of allocations, locks and exceptions, pauses and
//! waits at their times. Several profiles of a run are tabs. Two runs compared are such a page, too, with the changes
//! in colour.
//!
//! The page holds the profiles as JSON in a separate script element; its parts are the files in `html/`. Invariant: no
//! network, no other file; text of the profile goes into the page as text only. Samples are merged by thread, stack and
//! one of `TIME_STEPS` intervals; of single events the longest are kept. The state of the view is in the address behind
//! `#`, so that users can bookmark it and tests can ask for it.

pub mod reader;

use crate::bundle::{Bundle, Part};
use crate::json;
use crate::model::{FunctionKind, Sample, Unit, Wait};
use crate::sources;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt::Write;

const PAGE: &str = include_str!("html/page.html");
/// Of all pages.
pub(crate) const STYLE: &str = include_str!("html/page.css");
pub(crate) const COMMON_SCRIPT: &str = include_str!("html/common.js");
const SCRIPTS: [&str; 7] = [
    COMMON_SCRIPT,
    include_str!("html/data.js"),
    include_str!("html/names.js"),
    include_str!("html/flame.js"),
    include_str!("html/tables.js"),
    include_str!("html/time.js"),
    include_str!("html/main.js"),
];
/// Where the parts go; once each in the page.
const STYLE_PLACE: &str = "__STYLE__";
const SCRIPT_PLACE: &str = "__SCRIPT__";
const DATA_PLACE: &str = "__PROFILE__";
/// Columns of the threads' lanes.
const TIME_STEPS: u64 = 400;
/// Single events of a kind.
const MAX_EVENTS: usize = 5000;

/// The page of the profiles of one run.
pub fn write(bundle: &Bundle<'_>) -> String {
    let parts: Vec<(&Part<'_>, Option<&Part<'_>>)> = bundle.parts.iter().map(|part| (part, None)).collect();
    page(&data(bundle, bundle.title(), &parts))
}

/// The page of a comparison: the parts are the kinds of the first run, and then the same kinds of the second. Boxes and
/// rows of the second run say what has changed.
pub fn write_changes(bundle: &Bundle<'_>) -> String {
    let (before, after) = bundle.parts.split_at(bundle.parts.len() / 2);
    let parts: Vec<(&Part<'_>, Option<&Part<'_>>)> = after.iter().zip(before.iter().map(Some)).collect();
    let titles = [before, after].map(|parts| parts.first().map_or("", |part| &*part.profile.title));
    let title = match titles {
        [before, after] if before == after => format!("{after}: two runs compared"),
        [before, after] => format!("{before} → {after}"),
    };
    page(&data(bundle, &title, &parts))
}

fn page(data: &str) -> String {
    fill(PAGE, &SCRIPTS.concat(), DATA_PLACE, data)
}

/// The page with its parts in their places.
pub(crate) fn fill(page: &str, script: &str, data_place: &str, data: &str) -> String {
    let script = format!("(() => {{\n{script}}})();\n");
    // The data is inserted last, because text in it may look like a placeholder.
    let page = page.replacen(STYLE_PLACE, STYLE, 1).replacen(SCRIPT_PLACE, &script, 1);
    page.replacen(data_place, data, 1)
}

fn data(bundle: &Bundle<'_>, title: &str, parts: &[(&Part<'_>, Option<&Part<'_>>)]) -> String {
    let mut out = String::from("{\"title\":");
    json::string(&mut out, title);
    let _ = write!(out, ",\"startMs\":{}", bundle.start_unix_ns() / 1_000_000);
    let mut files: Vec<&str> = Vec::new();
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    out.push_str(",\"functions\":");
    json::array(&mut out, bundle.functions.iter(), |out, function| {
        out.push('[');
        json::string(out, &function.name);
        let file = (!function.file.is_empty()).then(|| {
            *known.entry(&function.file).or_insert_with(|| {
                files.push(&function.file);
                files.len() - 1
            })
        });
        let _ = match file {
            Some(file) => write!(out, ",{file}"),
            None => write!(out, ",-1"),
        };
        let kind = match function.kind {
            FunctionKind::Managed => 0,
            FunctionKind::Native => 1,
            FunctionKind::Note => 2,
        };
        let _ = write!(out, ",{kind}]");
    });
    out.push_str(",\"files\":");
    json::strings(&mut out, files.iter().copied());
    out.push_str(",\"sources\":{");
    for (index, (file, lines)) in sources::lines(&bundle.functions, &bundle.frames).iter().enumerate() {
        let _ = write!(out, "{}\"{}\":", if index > 0 { "," } else { "" }, known.get(&**file).copied().unwrap_or(0));
        json::array(&mut out, lines, |out, (line, text)| {
            let _ = write!(out, "[{line},");
            json::string(out, text);
            out.push(']');
        });
    }
    out.push_str("},\"frameFunctions\":");
    json::numbers(&mut out, bundle.frames.iter().map(|frame| frame.function));
    out.push_str(",\"frameLines\":");
    json::numbers(&mut out, bundle.frames.iter().map(|frame| frame.line));
    out.push_str(",\"parents\":");
    json::numbers(&mut out, bundle.nodes.iter().map(|node| node.parent));
    out.push_str(",\"nodeFrames\":");
    // The empty stack has none.
    json::numbers(&mut out, bundle.nodes.iter().map(|node| i64::from(node.frame.cast_signed())));
    out.push_str(",\"threads\":");
    json::strings(&mut out, bundle.threads.iter().map(|thread| &*thread.name));
    out.push_str(",\"profiles\":");
    json::array(&mut out, parts, |out, (part, before)| write_part(out, part, *before));
    out.push('}');
    out
}

/// Of the earlier run its stacks and their values are enough.
fn write_before(out: &mut String, before: &Part<'_>) {
    let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
    for sample in before.samples.iter() {
        let sum = sums.entry(sample.stack).or_default();
        *sum = sum.saturating_add(sample.value);
    }
    out.push_str(",\"before\":{\"stacks\":");
    json::numbers(out, sums.keys());
    out.push_str(",\"values\":");
    json::numbers(out, sums.values());
    out.push('}');
}

fn write_part(out: &mut String, part: &Part<'_>, before: Option<&Part<'_>>) {
    let (profile, samples) = (part.profile, &part.samples);
    let unit = match profile.unit {
        Unit::Nanoseconds => "ns",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
    };
    let end_ns = samples.iter().map(|sample| sample.time_ns).max().unwrap_or(0).max(profile.duration_ns);
    let step_ns = end_ns / TIME_STEPS + 1;
    out.push_str("{\"kind\":");
    json::string(out, &profile.kind);
    let _ = write!(
        out,
        ",\"unit\":\"{unit}\",\"period\":{},\"durationNs\":{},\"lost\":{},\"withoutCallers\":{},\"stepNs\":{step_ns},\"steps\":{},\"isBusyTime\":{}",
        profile.period,
        profile.duration_ns,
        profile.lost,
        profile.without_callers,
        end_ns / step_ns + 1,
        profile.is_sampled_time(),
    );
    let mut merged: BTreeMap<(u64, u32, u32), (u64, u64)> = BTreeMap::new();
    for sample in samples.iter() {
        let sum = merged.entry((sample.time_ns / step_ns, sample.thread, sample.stack)).or_default();
        *sum = (sum.0.saturating_add(sample.value), sum.1.saturating_add(sample.count));
    }
    out.push_str(",\"times\":");
    json::numbers(out, merged.keys().map(|(step, _, _)| step));
    out.push_str(",\"threads\":");
    json::numbers(out, merged.keys().map(|(_, thread, _)| thread));
    out.push_str(",\"stacks\":");
    json::numbers(out, merged.keys().map(|(_, _, stack)| stack));
    out.push_str(",\"values\":");
    json::numbers(out, merged.values().map(|(value, _)| value));
    // Left out for samples by time, whose values determine the counts.
    if !profile.is_sampled_time() {
        out.push_str(",\"counts\":");
        json::numbers(out, merged.values().map(|(_, count)| count));
    }
    if profile.unit == Unit::Nanoseconds && !profile.is_sampled_time() {
        // Parts of one event, as the phases of a collection, end together.
        let mut lengths: FxHashMap<(u64, u32), u64> = FxHashMap::default();
        let key = |sample: &Sample| (sample.time_ns, sample.thread);
        samples.iter().for_each(|sample| *lengths.entry(key(sample)).or_default() += sample.value);
        let mut longest: Vec<_> = samples.iter().collect();
        longest.sort_by_key(|sample| (std::cmp::Reverse(lengths[&key(sample)]), sample.time_ns));
        longest.truncate(MAX_EVENTS);
        longest.sort_by_key(|sample| sample.time_ns);
        out.push_str(",\"events\":");
        let cells = |s: &Sample| [s.time_ns, s.thread.into(), s.stack.into(), s.value, s.wait.into()];
        json::numbers(out, longest.into_iter().flat_map(cells));
    }
    if !part.waits.is_empty() {
        out.push_str(",\"waits\":");
        let cells = |wait: &Wait| [wait.owner.map_or(-1, i64::from), wait.waiters.into()];
        json::numbers(out, part.waits.iter().flat_map(cells));
        let mut held: BTreeMap<i64, u64> = BTreeMap::new();
        for sample in samples.iter() {
            let wait = (sample.wait as usize).checked_sub(1).and_then(|wait| part.waits.get(wait));
            let owner = wait.and_then(|wait| wait.owner).map_or(-1, i64::from);
            *held.entry(owner).or_default() += sample.value;
        }
        // All waits, of which the events are the longest.
        out.push_str(",\"held\":");
        json::array(out, held, |out, (owner, value)| _ = write!(out, "{owner},{value}"));
    }
    if let Some(before) = before {
        write_before(out, before);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn the_page_has_the_profile_once_and_asks_nobody() {
        let text = write(&Bundle::of(&[sample_profile(&[("a;b</script>__SCRIPT__", 3)])]));
        assert!(!text.contains(DATA_PLACE) && text.contains(r#"["b\u003c/script\u003e__SCRIPT__",-1,0]"#));
        for part in SCRIPTS.into_iter().chain([PAGE, STYLE]) {
            assert!(
                !["http:", "https:", " src=", "import ", "import(", "fetch", "url("]
                    .iter()
                    .any(|word| part.contains(word))
            );
        }
        assert!(PAGE.contains("default-src 'none'"), "the browser holds the page to it");
        for place in [STYLE_PLACE, SCRIPT_PLACE, DATA_PLACE] {
            assert_eq!(PAGE.matches(place).count(), 1, "{place}");
        }
    }
}
