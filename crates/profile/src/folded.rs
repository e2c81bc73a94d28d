//! Folded stacks: a line "outer;…;inner VALUE" for each stack, which most flame graph tools read.
//!
//! Threads are left out, so that runs can be compared. Semicolons and ends of lines in names are replaced. With several profiles, the
//! outermost frame is the kind in brackets.

use crate::model::{Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Unit};
use std::collections::BTreeMap;

/// The mark of native functions, as in the output of `perf script`'s converters.
const NATIVE_SUFFIX: &str = "_[n]";

/// The kind of such a profile when it is read: the stacks name neither kind nor unit.
pub const KIND: &str = "folded";

pub fn write(profiles: &[Profile]) -> String {
    let mut text = String::new();
    for profile in profiles {
        // So that values of different units do not meet.
        let outermost = if profiles.len() > 1 { format!("[{}];", one_name(&profile.kind)) } else { String::new() };
        text.extend(stacks(profile).into_iter().map(|(stack, value)| format!("{outermost}{stack} {value}\n")));
    }
    text
}

/// Characters that have a meaning in a line become colons, so that one stack stays one line.
fn one_name(name: &str) -> String {
    name.replace([';', '\n', '\r'], ":")
}

/// Stacks as "outer;…;inner" and their values.
pub fn stacks(profile: &Profile) -> BTreeMap<String, u64> {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for sample in &profile.samples {
        let mut names: Vec<String> = profile
            .frames_of(sample.stack)
            .map(|frame| {
                let function = profile.function(frame);
                let suffix = if function.kind == FunctionKind::Native { NATIVE_SUFFIX } else { "" };
                one_name(&function.name) + suffix
            })
            .collect();
        names.reverse();
        *lines.entry(names.join(";")).or_default() += sample.value;
    }
    lines
}

/// Reads a file that `write` or another tool wrote.
///
/// # Errors
/// A line without a number at its end.
pub fn read(text: &str) -> Result<Profile, String> {
    let profile = Profile { kind: KIND.into(), unit: Unit::Count, ..Profile::default() };
    let mut builder = ProfileBuilder::new(profile);
    let thread = builder.thread(0, ThreadInfo::default);
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let parsed = line.rsplit_once(' ').and_then(|(stack, value)| Some((stack, value.parse::<u64>().ok()?)));
        let (names, value) = parsed.ok_or_else(|| format!("line {}: no number behind the stack", index + 1))?;
        let mut stack = 0;
        for name in names.split(';').filter(|name| !name.is_empty()) {
            let (name, kind) = match name.strip_suffix(NATIVE_SUFFIX) {
                Some(name) => (name, FunctionKind::Native),
                None => (name, FunctionKind::Managed),
            };
            let function = builder.function(Function { name: name.into(), file: String::new(), kind });
            let frame = builder.frame(Frame { function, line: 0 });
            stack = builder.stack(stack, frame);
        }
        builder.add(Sample { stack, thread, time_ns: 0, count: value, value, wait: 0 });
    }
    Ok(builder.finish(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn stacks_are_lines_and_come_back() {
        let profile = sample_profile(&[("a;b", 3), ("a", 1), ("a;b", 4)]);
        let text = write(std::slice::from_ref(&profile));
        assert_eq!(text, "a 1\na;b 7\n");
        assert_eq!(write(&[read(&text).unwrap()]), text);
        assert_eq!(write(&[profile, sample_profile(&[("c", 1)])]), "[cpu];a 1\n[cpu];a;b 7\n[cpu];c 1\n");
        assert_eq!(read("a;b").err().as_deref(), Some("line 1: no number behind the stack"));
    }
}
