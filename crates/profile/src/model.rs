//! A profile in memory.
//!
//! Invariant: a stack is a node whose parents are its callers, so that equal stacks have one number; node 0 is the
//! empty stack. Times of samples are as fine as `MAX_SAMPLES` allows: when there are more samples, those of one thread
//! and stack in one interval are merged.

use rustc_hash::FxHashMap;

/// Samples kept; a million with their times take some 40 MB. More only if that many threads and stacks differ.
const MAX_SAMPLES: usize = 1 << 20;
/// An interval that no profile is longer than: samples that it does not make one differ in thread or stack.
const MAX_INTERVAL_NS: u64 = 1 << 62;
/// Where intervals begin to grow, when samples become too many.
const FIRST_INTERVAL_NS: u64 = 1_000_000;

/// The unit of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unit {
    #[default]
    Nanoseconds,
    Bytes,
    Count,
}

impl Unit {
    /// The unit of a kind of profile, by the kind's name; None for kinds that are not known here.
    pub fn of_kind(kind: &str) -> Option<Unit> {
        Some(match kind {
            "cpu" | "wall" | "lock" | "gc" | "io" | "sched" | "jit" => Unit::Nanoseconds,
            "alloc" | "code" => Unit::Bytes,
            "exceptions" | "load" | "threads" | "handles" => Unit::Count,
            _ => return None,
        })
    }
}

/// Whose code a function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum FunctionKind {
    #[default]
    Managed,
    /// The machine itself, libraries in C, the kernel's part of the process.
    Native,
    /// Not code but the subject of a row, such as a collection.
    Note,
}

/// A method or a native function.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Default)]
pub struct Function {
    pub name: String,
    /// Its source, or the module it is in; empty if not known.
    pub file: String,
    pub kind: FunctionKind,
}

/// A place in a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Frame {
    /// Index into `Profile::functions`.
    pub function: u32,
    /// 0 if not known.
    pub line: u32,
}

/// A stack: the innermost frame and the stack of its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Node {
    pub parent: u32,
    /// Index into `Profile::frames`.
    pub frame: u32,
}

/// The state of a lock when a wait for it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Wait {
    /// The lock's owner: an index into `Profile::threads`; None if not known.
    pub owner: Option<u32>,
    /// Threads that waited for it, this one included.
    pub waiters: u32,
}

/// Something that was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sample {
    /// Index into `Profile::nodes`.
    pub stack: u32,
    /// Index into `Profile::threads`.
    pub thread: u32,
    /// Since the profile began.
    pub time_ns: u64,
    /// How many were taken; 0 if the file that it was read from does not say so.
    pub count: u64,
    /// In `Profile::unit`.
    pub value: u64,
    /// For a wait for a lock: its index in `Profile::waits` plus 1; else 0.
    pub wait: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadInfo {
    /// The managed id, or 0.
    pub id: u64,
    pub name: String,
}

/// See the module header.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// "cpu", "wall", ...
    pub kind: String,
    pub unit: Unit,
    /// The value of one sample, in `unit`; 0 if samples differ.
    pub period: u64,
    /// The command line.
    pub title: String,
    pub start_unix_ns: u64,
    pub duration_ns: u64,
    pub functions: Vec<Function>,
    pub frames: Vec<Frame>,
    pub nodes: Vec<Node>,
    pub threads: Vec<ThreadInfo>,
    pub samples: Vec<Sample>,
    pub waits: Vec<Wait>,
    /// Of samples that were taken: lost for lack of room, and those whose callers could not be found.
    pub lost: u64,
    pub without_callers: u64,
}

impl Profile {
    /// The sum of all values.
    pub fn total(&self) -> u64 {
        self.samples.iter().map(|sample| sample.value).sum()
    }

    /// Whether each sample stands for a period of time, and not for something that took its value.
    pub fn is_sampled_time(&self) -> bool {
        self.unit == Unit::Nanoseconds && self.period > 1
    }

    /// The stack's frames, innermost first.
    pub fn frames_of(&self, stack: u32) -> impl Iterator<Item = Frame> {
        let mut at = stack;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at as usize).filter(|_| at != 0)?;
            at = node.parent;
            self.frames.get(node.frame as usize).copied()
        })
    }

    pub fn function(&self, frame: Frame) -> &Function {
        &self.functions[frame.function as usize]
    }

    /// The data of a sample that is a wait for a lock.
    pub fn wait_of(&self, sample: &Sample) -> Option<Wait> {
        self.waits.get((sample.wait as usize).checked_sub(1)?).copied()
    }

    /// A value with its unit, for people.
    pub fn show(&self, value: u64) -> String {
        match self.unit {
            Unit::Nanoseconds if value < 1_000_000_000 => format!("{:.1} ms", value as f64 / 1e6),
            Unit::Nanoseconds => format!("{:.2} s", value as f64 / 1e9),
            Unit::Bytes if value < 1 << 20 => format!("{:.1} KiB", value as f64 / 1024.0),
            Unit::Bytes => format!("{:.1} MiB", value as f64 / f64::from(1 << 20)),
            Unit::Count => value.to_string(),
        }
    }
}

/// Makes a profile; see the module header.
#[derive(Debug, Default)]
pub struct ProfileBuilder {
    profile: Profile,
    functions: FxHashMap<Function, u32>,
    frames: FxHashMap<Frame, u32>,
    nodes: FxHashMap<Node, u32>,
    threads: FxHashMap<u64, u32>,
    waits: FxHashMap<Wait, u32>,
    interval_ns: u64,
    max_samples: usize,
}

fn index_of<K: std::hash::Hash + Eq + Clone>(known: &mut FxHashMap<K, u32>, list: &mut Vec<K>, key: K) -> u32 {
    *known.entry(key).or_insert_with_key(|key| {
        list.push(key.clone());
        (list.len() - 1) as u32
    })
}

impl ProfileBuilder {
    /// Begins with the properties that are known from the start; `profile` holds no samples.
    pub fn new(mut profile: Profile) -> ProfileBuilder {
        // The empty stack, of which nothing is the key.
        profile.nodes = vec![Node { parent: 0, frame: u32::MAX }];
        let (interval_ns, max_samples) = (FIRST_INTERVAL_NS, MAX_SAMPLES);
        ProfileBuilder { profile, interval_ns, max_samples, ..ProfileBuilder::default() }
    }

    pub fn function(&mut self, function: Function) -> u32 {
        index_of(&mut self.functions, &mut self.profile.functions, function)
    }

    pub fn frame(&mut self, frame: Frame) -> u32 {
        index_of(&mut self.frames, &mut self.profile.frames, frame)
    }

    /// The stack of `frame` called from the stack `parent`.
    pub fn stack(&mut self, parent: u32, frame: u32) -> u32 {
        index_of(&mut self.nodes, &mut self.profile.nodes, Node { parent, frame })
    }

    /// The thread with this key, named by `name` when it is new.
    pub fn thread(&mut self, key: u64, name: impl FnOnce() -> ThreadInfo) -> u32 {
        let threads = &mut self.profile.threads;
        *self.threads.entry(key).or_insert_with(|| {
            threads.push(name());
            (threads.len() - 1) as u32
        })
    }

    /// The number of a wait, for samples.
    pub fn wait(&mut self, wait: Wait) -> u32 {
        index_of(&mut self.waits, &mut self.profile.waits, wait) + 1
    }

    /// Names a thread that has got its name later, or has ended.
    pub fn rename(&mut self, key: u64, name: &str) {
        if let Some(&index) = self.threads.get(&key) {
            self.profile.threads[index as usize].name = name.to_owned();
        }
    }

    pub fn add(&mut self, sample: Sample) {
        self.profile.samples.push(sample);
        if self.profile.samples.len() <= self.max_samples {
            return;
        }
        // Room for a quarter more, so that not every sample sorts the whole.
        while self.profile.samples.len() > self.max_samples / 4 * 3 && self.interval_ns < MAX_INTERVAL_NS {
            self.coarsen();
        }
        if self.interval_ns >= MAX_INTERVAL_NS {
            self.max_samples *= 2;
        }
    }

    pub fn count_lost(&mut self, count: u64) {
        self.profile.lost += count;
    }

    pub fn count_without_callers(&mut self, count: u64) {
        self.profile.without_callers += count;
    }

    /// Doubles the interval, and merges the samples of a thread and a stack within one interval.
    fn coarsen(&mut self) {
        self.interval_ns *= 2;
        let interval_ns = self.interval_ns;
        let samples = &mut self.profile.samples;
        samples.sort_by_key(|s| (s.thread, s.stack, s.wait, s.time_ns));
        samples.dedup_by(|next, kept| {
            let is_same = (next.thread, next.stack, next.wait) == (kept.thread, kept.stack, kept.wait)
                && next.time_ns / interval_ns == kept.time_ns / interval_ns;
            if is_same {
                kept.count += next.count;
                kept.value += next.value;
            }
            is_same
        });
    }

    /// Whether nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.profile.samples.is_empty()
    }

    /// The profile, its samples in the order of their times.
    pub fn finish(mut self, duration_ns: u64) -> Profile {
        self.profile.samples.sort_by_key(|sample| sample.time_ns);
        self.profile.duration_ns = duration_ns;
        self.profile
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Stacks as "outer;inner" with values, on thread 1.
    pub(crate) fn sample_profile(stacks: &[(&str, u64)]) -> Profile {
        let mut builder = ProfileBuilder::new(Profile { kind: "cpu".into(), period: 1, ..Profile::default() });
        for (index, (names, value)) in stacks.iter().enumerate() {
            let mut stack = 0;
            for name in names.split(';').filter(|name| !name.is_empty()) {
                let function = builder.function(Function { name: (*name).into(), ..Function::default() });
                let frame = builder.frame(Frame { function, line: 0 });
                stack = builder.stack(stack, frame);
            }
            let thread = builder.thread(1, || ThreadInfo { id: 1, name: "Main".into() });
            builder.add(Sample { stack, thread, time_ns: index as u64, count: 1, value: *value, wait: 0 });
        }
        builder.finish(stacks.len() as u64)
    }

    #[test]
    fn equal_stacks_are_one() {
        let profile = sample_profile(&[("a;b", 1), ("a;c", 2), ("a;b", 3)]);
        assert_eq!(profile.nodes.len(), 4);
        assert_eq!(profile.samples[0].stack, profile.samples[2].stack);
        let names: Vec<&str> =
            profile.frames_of(profile.samples[1].stack).map(|f| &*profile.function(f).name).collect();
        assert_eq!((names, profile.total()), (vec!["c", "a"], 6));
    }

    #[test]
    fn too_many_samples_become_fewer_and_keep_their_sum() {
        let mut builder = ProfileBuilder::new(Profile::default());
        let count = MAX_SAMPLES as u64 + 1000;
        for time in 0..count {
            builder.add(Sample { stack: 0, thread: 0, time_ns: time * 10_000, count: 1, value: 2, wait: 0 });
        }
        let profile = builder.finish(0);
        assert!(profile.samples.len() < MAX_SAMPLES / 10);
        assert_eq!(profile.total(), 2 * count);
    }

    #[test]
    fn stacks_that_all_differ_do_not_make_the_search_for_room_endless() {
        let mut builder = ProfileBuilder::new(Profile::default());
        let count = MAX_SAMPLES as u32 + 1000;
        for stack in 0..count {
            builder.add(Sample { stack, thread: 0, time_ns: 0, count: 1, value: 1, wait: 0 });
        }
        assert_eq!(builder.finish(0).samples.len(), count as usize);
    }
}
