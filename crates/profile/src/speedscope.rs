//! speedscope's file format (<https://www.speedscope.app/file-format-schema.json>): a sampled profile for each thread.

use crate::json;
use crate::model::{Profile, Unit};
use std::fmt::Write;

pub fn write(profile: &Profile) -> String {
    let mut out = String::from(
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"saki\",\"name\":",
    );
    json::string(&mut out, &profile.title);
    out.push_str(",\"shared\":{\"frames\":");
    json::array(&mut out, &profile.frames, |out, frame| {
        let function = profile.function(*frame);
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
    let unit = match profile.unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::Count => "none",
    };
    let mut by_thread = vec![Vec::new(); profile.threads.len()];
    profile.samples.iter().for_each(|sample| by_thread[sample.thread as usize].push(sample));
    let sampled = by_thread.iter().enumerate().filter(|(_, samples)| !samples.is_empty());
    json::array(&mut out, sampled, |out, (thread, samples)| {
        out.push_str("{\"type\":\"sampled\",\"name\":");
        json::string(out, &profile.threads[thread].name);
        let total: u64 = samples.iter().map(|sample| sample.value).sum();
        let _ = write!(out, ",\"unit\":\"{unit}\",\"startValue\":0,\"endValue\":{total},\"samples\":");
        json::array(out, samples, |out, sample| {
            let mut stack = Vec::new();
            let mut at = sample.stack;
            while at != 0 {
                let node = profile.nodes[at as usize];
                stack.push(node.frame);
                at = node.parent;
            }
            json::numbers(out, stack.into_iter().rev());
        });
        out.push_str(",\"weights\":");
        json::numbers(out, samples.iter().map(|sample| sample.value));
        out.push('}');
    });
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn samples_have_their_frames_outermost_first() {
        let text = write(&sample_profile(&[("a;b", 3), ("a", 1)]));
        assert!(text.contains(r#""shared":{"frames":[{"name":"a"},{"name":"b"}]}"#), "{text}");
        assert!(text.contains(r#""endValue":4,"samples":[[0,1],[0]],"weights":[3,1]}]}"#), "{text}");
    }
}
