//! Folded stacks: a line "outer;…;inner VALUE" for each stack, which most flame graph tools read.
//!
//! Threads are left out, so that runs can be compared. Semicolons and ends of lines in names are replaced. With several
//! profiles, the outermost frame is the kind in brackets.

use crate::model::{Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Unit};
use std::collections::BTreeMap;

/// The mark of native functions, as in the output of `perf script`'s converters.
const NATIVE_SUFFIX: &str = "_[n]";

/// The kind of such a profile when it is read and nothing names the kind.
pub const KIND: &str = "folded";

/// A line for each stack: its frames, outermost first, with semicolons between them, and its value.
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

/// Reads a file that `write` or another tool wrote: a profile for each kind that the outermost frames name in brackets,
/// or one of the kind in the file's name, as `app-12.cpu.folded`. Else nothing says what the values are.
///
/// # Errors
/// A line without a number at its end.
pub fn read(text: &str, file_name: &str) -> Result<Vec<Profile>, String> {
    let lines: Vec<(&str, u64)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .map(|(index, line)| {
            let parsed = line.rsplit_once(' ').and_then(|(stack, value)| Some((stack, value.parse::<u64>().ok()?)));
            parsed.ok_or_else(|| format!("line {}: no number behind the stack", index + 1))
        })
        .collect::<Result<_, _>>()?;
    // (kind, the stack without it)
    let has_kinds = !lines.is_empty() && lines.iter().all(|(stack, _)| kind_in(stack).is_some());
    let own_kind = file_name.rsplit('/').next().and_then(|name| {
        let stem = name.strip_suffix(".folded")?;
        stem.rsplit('.').find(|word| Unit::of_kind(word).is_some())
    });
    let mut builders: Vec<(&str, ProfileBuilder)> = Vec::new();
    for (stack, value) in lines {
        let (kind, names) = kind_in(stack).filter(|_| has_kinds).unwrap_or_else(|| (own_kind.unwrap_or(KIND), stack));
        let place = builders.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            builders.push((kind, builder_of(kind)));
            builders.len() - 1
        });
        add(&mut builders[place].1, names, value);
    }
    if builders.is_empty() {
        builders.push((KIND, builder_of(own_kind.unwrap_or(KIND))));
    }
    Ok(builders.into_iter().map(|(_, builder)| builder.finish(0)).collect())
}

/// The kind that a stack begins with, and the rest of the stack.
fn kind_in(stack: &str) -> Option<(&str, &str)> {
    let (outermost, rest) = stack.split_once(';').unwrap_or((stack, ""));
    let kind = outermost.strip_prefix('[')?.strip_suffix(']')?;
    Unit::of_kind(kind).map(|_| (kind, rest))
}

fn builder_of(kind: &str) -> ProfileBuilder {
    let unit = Unit::of_kind(kind).unwrap_or(Unit::Count);
    ProfileBuilder::new(Profile { kind: kind.into(), unit, ..Profile::default() })
}

fn add(builder: &mut ProfileBuilder, names: &str, value: u64) {
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
    let thread = builder.thread(0, ThreadInfo::default);
    builder.add(Sample { stack, thread, time_ns: 0, count: 0, value, wait: 0 });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;
    use crate::table;

    #[test]
    fn stacks_are_lines_and_come_back() {
        let profile = sample_profile(&[("a;b", 3), ("a", 1), ("a;b", 4)]);
        let text = write(std::slice::from_ref(&profile));
        assert_eq!(text, "a 1\na;b 7\n");
        assert_eq!(write(&read(&text, "").unwrap()), text);
        assert_eq!(write(&[profile, sample_profile(&[("c", 1)])]), "[cpu];a 1\n[cpu];a;b 7\n[cpu];c 1\n");
        assert_eq!(read("a;b", "").err().as_deref(), Some("line 1: no number behind the stack"));
    }

    #[test]
    fn units_are_those_of_the_kind_that_is_named() {
        let shown = |text: &str, name: &str| -> Vec<String> {
            let profiles = read(text, name).unwrap();
            profiles
                .iter()
                .map(|profile| table::top(profile, 0).lines().next().unwrap_or_default().to_owned())
                .collect()
        };
        let both = "[cpu];a;b 2000000\n[alloc];a;System.String 2048\n";
        assert_eq!(shown(both, "x"), ["cpu profile: 2.0 ms", "alloc profile: 2.0 KiB"]);
        assert_eq!(shown("a;b 2000000\n", "made/app-12.wall.folded"), ["wall profile: 2.0 ms"]);
        let unknown = ["folded profile: 2000000 (nothing says of what)"];
        assert_eq!(shown("a;b 2000000\n", "app.folded"), unknown);
        assert_eq!(shown("[cpu];a 1\n[main] 1999999\n", "app.folded"), unknown, "[main] is no kind");
        let file = Profile { kind: "cpu".into(), ..sample_profile(&[("a;b", 3)]) };
        let both = write(&[file.clone(), Profile { kind: "gc".into(), ..file }]);
        assert_eq!(write(&read(&both, "").unwrap()), both);
    }
}
