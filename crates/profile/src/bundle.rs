//! Several profiles of one run with their tables in common, as files that hold more than one need them.
//!
//! Invariant: functions, frames, stacks and threads that are equal are one entry. A single profile is borrowed as it
//! is.

use crate::model::{Frame, Function, Node, Profile, ProfileBuilder, Sample, ThreadInfo, Wait};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// See the module header. The tables are those of `Profile`.
pub struct Bundle<'a> {
    pub functions: Cow<'a, [Function]>,
    pub frames: Cow<'a, [Frame]>,
    pub nodes: Cow<'a, [Node]>,
    pub threads: Cow<'a, [ThreadInfo]>,
    pub parts: Vec<Part<'a>>,
}

/// One of the profiles.
pub struct Part<'a> {
    /// Its kind, unit, counts; its tables and samples are those of the bundle and of `samples`.
    pub profile: &'a Profile,
    pub samples: Cow<'a, [Sample]>,
    pub waits: Cow<'a, [Wait]>,
}

impl<'a> Bundle<'a> {
    /// The parts are the profiles, in their order, with one table of functions.
    pub fn of(profiles: &'a [Profile]) -> Bundle<'a> {
        if let [profile] = profiles {
            return Bundle {
                functions: Cow::Borrowed(&profile.functions),
                frames: Cow::Borrowed(&profile.frames),
                nodes: Cow::Borrowed(&profile.nodes),
                threads: Cow::Borrowed(&profile.threads),
                parts: vec![Part {
                    profile,
                    samples: Cow::Borrowed(&profile.samples),
                    waits: Cow::Borrowed(&profile.waits),
                }],
            };
        }
        let mut builder = ProfileBuilder::new(Profile::default());
        let mut threads = Threads::default();
        let parts = profiles
            .iter()
            .map(|profile| {
                let stacks = stacks_in(&mut builder, profile);
                let numbers: Vec<u32> = profile.threads.iter().map(|thread| threads.add(thread)).collect();
                let renamed = |sample: &Sample| Sample {
                    stack: stacks[sample.stack as usize],
                    thread: numbers[sample.thread as usize],
                    ..*sample
                };
                let waits =
                    profile.waits.iter().map(|wait| Wait { owner: wait.owner.map(|o| numbers[o as usize]), ..*wait });
                Part { profile, samples: profile.samples.iter().map(renamed).collect(), waits: waits.collect() }
            })
            .collect();
        let tables = builder.finish(0);
        Bundle {
            functions: tables.functions.into(),
            frames: tables.frames.into(),
            nodes: tables.nodes.into(),
            threads: threads.list.into(),
            parts,
        }
    }

    /// The title of the first profile; all are of one run.
    pub fn title(&self) -> &str {
        self.parts.first().map_or("", |part| &part.profile.title)
    }

    /// When the first part began, in nanoseconds since 1970-01-01 UTC; 0: not known.
    pub fn start_unix_ns(&self) -> u64 {
        self.parts.first().map_or(0, |part| part.profile.start_unix_ns)
    }

    /// The function of a frame of any part.
    pub fn function(&self, frame: Frame) -> &Function {
        &self.functions[frame.function as usize]
    }

    /// The numbers of the stack's frames, innermost first.
    pub fn frames_of(&self, stack: u32) -> impl Iterator<Item = u32> {
        let mut at = stack;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize).filter(|_| at != 0)?;
            at = node.parent;
            Some(node.frame)
        })
    }
}

/// Threads by identity: a thread that several profiles have seen is one entry; threads without an id are identified by
/// their names.
#[derive(Default)]
struct Threads {
    list: Vec<ThreadInfo>,
    known: FxHashMap<(u64, String), u32>,
}

impl Threads {
    fn add(&mut self, thread: &ThreadInfo) -> u32 {
        let name = if thread.id == 0 { thread.name.clone() } else { String::new() };
        *self.known.entry((thread.id, name)).or_insert_with(|| {
            self.list.push(thread.clone());
            (self.list.len() - 1) as u32
        })
    }
}

/// The numbers that the stacks of `profile` have in the builder.
fn stacks_in(builder: &mut ProfileBuilder, profile: &Profile) -> Vec<u32> {
    let functions: Vec<u32> = profile.functions.iter().map(|function| builder.function(function.clone())).collect();
    let frames: Vec<u32> = profile
        .frames
        .iter()
        .map(|frame| builder.frame(Frame { function: functions[frame.function as usize], line: frame.line }))
        .collect();
    let mut stacks = vec![0_u32];
    // Callers have smaller numbers than their callees.
    for node in profile.nodes.iter().skip(1) {
        stacks.push(builder.stack(stacks[node.parent as usize], frames[node.frame as usize]));
    }
    stacks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::sample_profile;

    #[test]
    fn what_profiles_have_in_common_is_there_once() {
        let profiles = [sample_profile(&[("a;b", 1), ("c", 2)]), sample_profile(&[("c;a", 3), ("a;b", 4)])];
        let bundle = Bundle::of(&profiles);
        assert_eq!((bundle.functions.len(), bundle.nodes.len(), bundle.threads.len()), (3, 5, 1));
        let names = |part: usize, sample: usize| -> Vec<&str> {
            let frames = bundle.frames_of(bundle.parts[part].samples[sample].stack);
            frames.map(|frame| &*bundle.function(bundle.frames[frame as usize]).name).collect()
        };
        assert_eq!((names(0, 0), names(0, 1)), (vec!["b", "a"], vec!["c"]));
        assert_eq!((names(1, 0), names(1, 1)), (vec!["a", "c"], vec!["b", "a"]));
        assert_eq!(bundle.parts[0].samples[0].stack, bundle.parts[1].samples[1].stack);
    }
}
