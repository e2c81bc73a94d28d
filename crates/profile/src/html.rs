//! One HTML file that needs nothing else: flame graph with search and zoom, functions, call tree, threads over time.
//!
//! The page (`html/page.html`) holds the profile as JSON in a script element of its own. Invariant: no network, no other file; text of the profile
//! goes into the page as text only. Samples are merged by thread, stack and one of `TIME_STEPS` intervals.

use crate::bundle::Bundle;
use crate::json;
use crate::model::{FunctionKind, Profile, Unit};
use std::collections::BTreeMap;
use std::fmt::Write;

const PAGE: &str = include_str!("html/page.html");
/// Where the data goes; once in the page.
const PLACE: &str = "__PROFILE__";
/// Columns of the threads' lanes.
const TIME_STEPS: u64 = 400;

pub fn write(bundle: &Bundle<'_>) -> String {
    PAGE.replacen(PLACE, &bundle.parts.first().map_or("null".into(), |part| data(part.profile)), 1)
}

fn data(profile: &Profile) -> String {
    let mut out = String::from("{\"title\":");
    json::string(&mut out, &profile.title);
    out.push_str(",\"kind\":");
    json::string(&mut out, &profile.kind);
    let unit = match profile.unit {
        Unit::Nanoseconds => "ns",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
    };
    let end_ns = profile.samples.iter().map(|sample| sample.time_ns).max().unwrap_or(0).max(profile.duration_ns);
    let step_ns = (end_ns / TIME_STEPS + 1).max(1);
    let _ =
        write!(out, ",\"unit\":\"{unit}\",\"lost\":{},\"withoutCallers\":{}", profile.lost, profile.without_callers);
    let _ = write!(
        out,
        ",\"startMs\":{},\"stepNs\":{step_ns},\"steps\":{}",
        profile.start_unix_ns / 1_000_000,
        end_ns / step_ns + 1
    );
    out.push_str(",\"functions\":");
    json::array(&mut out, &profile.functions, |out, function| {
        out.push('[');
        json::string(out, &function.name);
        out.push(',');
        json::string(out, &function.file);
        let kind = match function.kind {
            FunctionKind::Managed => 0,
            FunctionKind::Native => 1,
            FunctionKind::Note => 2,
        };
        let _ = write!(out, ",{kind}]");
    });
    out.push_str(",\"parents\":");
    json::numbers(&mut out, profile.nodes.iter().map(|node| node.parent));
    out.push_str(",\"nodeFunctions\":");
    // The empty stack has none.
    let frames = profile.nodes.iter().map(|node| profile.frames.get(node.frame as usize));
    json::numbers(&mut out, frames.map(|frame| frame.map_or(-1, |frame| i64::from(frame.function))));
    out.push_str(",\"threads\":");
    json::strings(&mut out, profile.threads.iter().map(|thread| &*thread.name));
    let mut merged: BTreeMap<(u64, u32, u32), u64> = BTreeMap::new();
    for sample in &profile.samples {
        *merged.entry((sample.time_ns / step_ns, sample.thread, sample.stack)).or_default() += sample.value;
    }
    out.push_str(",\"samples\":");
    json::numbers(
        &mut out,
        merged.iter().flat_map(|((step, thread, stack), value)| [*step, u64::from(*thread), u64::from(*stack), *value]),
    );
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn the_page_has_the_profile_once_and_asks_nobody() {
        let text = write(&Bundle::of(&[sample_profile(&[("a;b</script>", 3)])]));
        assert!(!text.contains(PLACE) && text.contains(r#"["b\u003c/script\u003e","",0]"#));
        assert!(!PAGE.contains("http") && !PAGE.contains(" src=") && !PAGE.contains("import"));
        assert_eq!(PAGE.matches(PLACE).count(), 1);
    }
}
