//! The reader: takes samples out of the rings and events out of their list, gives frames names and makes profiles of
//! them.
//!
//! **What samples name must still be there.** A sample holds addresses of `CodeInfo`s, whose bodies may be collected
//! before it is read. So the reader is in a walk of the code map all the time: a body that is retired while it is keeps
//! its description. A round is
//!
//! 1. enter a new walk;
//! 2. a fence; look whether any handler runs;
//! 3. empty all rings;
//! 4. if none ran: leave the old walk; the new one is the old one of the next round. Else leave the new walk again, and
//!    keep the old one.
//!
//! Why a sample that step 3 did not find is safe behind step 4: its handler began after step 2 (else it was seen to
//! run, or its end was seen and its sample found). Handler and reader have a fence each, between the handler's mark and
//! its look-ups and between the new walk's entry and the look at the mark, so the handler's look-ups come after the
//! entry: what they found was retired after it, with a stamp for which the new walk counts. Meanwhile the old walk
//! holds what earlier samples name.
//!
//! The price is that ended dynamic methods are freed a few milliseconds later.
//!
//! Invariant: one reader. It runs on a thread of its own that takes no signals and is not a managed thread.

use crate::events::{self, COLLECTION_PHASES, Consumer, Event, EventKind, NumberedStack, StackSample, Subject};
use crate::handler::{FLAGS_SHIFT, LOST, TIME_MASK, WALL};
use crate::recording::{Recording, What};
use crate::stack::{Stack, StackFrame};
use crate::symbols::Symbols;
use crate::{modules, threads};
use rustc_hash::FxHashMap;
use saki_code::CodeInfo;
use saki_profile::{Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo, Wait};
use saki_sync::Walk;
use saki_unwind::MORE_FRAMES;
use std::borrow::Cow;
use std::sync::atomic::{Ordering, fence};

/// A place in a managed method, or in the machine's own code around it.
pub struct SourcePlace<'a> {
    pub name: Cow<'a, str>,
    /// Empty without symbols.
    pub file: Cow<'a, str>,
    /// From 1; 0 without symbols.
    pub line: u32,
}

/// Calls `visit` for each method that the instruction at an offset of a body belongs to, inlined ones first, none for
/// code that profiles do not show; the third argument says whether the instruction is the innermost one. True if the
/// answer holds as long as the process.
pub type Resolve = fn(&CodeInfo, u32, bool, &mut dyn FnMut(SourcePlace<'_>)) -> bool;

/// The outermost frame where there are more than were kept.
const OUTERMOST: &str = "[more callers]";

/// Thread keys of OS threads without a managed thread: the kernel's id behind this bit.
const NATIVE_THREAD: u64 = 1 << 40;

/// A profile that is being made.
struct Making {
    what: What,
    /// Value of a sample.
    period: u64,
    builder: ProfileBuilder,
    /// By address of the description, offset, and whether innermost: frames, innermost first.
    managed: FxHashMap<(usize, u32, bool), Box<[u32]>>,
    /// By address.
    native: FxHashMap<usize, u32>,
    /// By the number that `events` gave: nodes of the profile. Of profiles of allocations.
    stacks: FxHashMap<u32, u32>,
    /// By the kernel's id: processor time of a thread that is not sampled, less than a period, that no sample has.
    unsampled_ns: FxHashMap<u32, u64>,
}

/// See the module header.
pub struct Reader {
    profiles: Vec<Making>,
    consumer: Option<Box<dyn Consumer>>,
    names: Names,
    /// CLOCK_MONOTONIC.
    start_ns: u64,
    walk: Walk<'static>,
    /// Scratch.
    words: Vec<u64>,
}

/// The measurements of a sample besides its stack.
#[derive(Clone, Copy)]
struct Measured {
    /// Since the profile began.
    time_ns: u64,
    value: u64,
    /// For a wait for a lock: its index in `Profile::waits` plus 1; else 0.
    wait: u32,
}

impl Measured {
    fn new(time_ns: u64, value: u64) -> Measured {
        Measured { time_ns, value, wait: 0 }
    }
}

/// The sources of frames' names, and scratch memory.
struct Names {
    resolve: Resolve,
    symbols: Symbols,
    frames: Vec<u32>,
}

impl Reader {
    pub fn new(recordings: Vec<Recording>, consumer: Option<Box<dyn Consumer>>, resolve: Resolve) -> Reader {
        modules::refresh();
        let profiles = recordings.into_iter().map(|Recording { what, profile }| Making {
            what,
            period: profile.period,
            builder: ProfileBuilder::new(profile),
            managed: FxHashMap::default(),
            native: FxHashMap::default(),
            stacks: FxHashMap::default(),
            unsampled_ns: FxHashMap::default(),
        });
        Reader {
            profiles: profiles.collect(),
            consumer,
            names: Names { resolve, symbols: Symbols::default(), frames: Vec::new() },
            start_ns: saki_os::clock::monotonic_ns(),
            walk: saki_code::walks().enter(),
            words: Vec::new(),
        }
    }

    /// A round; false if a handler was running, whose sample may not be in its ring yet.
    pub fn read(&mut self) -> bool {
        modules::refresh();
        let walk = saki_code::walks().enter();
        // SeqCst: pairs with the handler's fence; see the module header.
        fence(Ordering::SeqCst);
        let is_any_busy = threads::is_any_busy();
        let mut words = std::mem::take(&mut self.words);
        threads::for_each_record(|record| {
            // Relaxed: a count.
            let dropped = record.dropped.swap(0, Ordering::Relaxed);
            self.count_lost(|what| matches!(what, What::Cpu | What::Wall), dropped);
            // Relaxed: only for the name of a thread that is not managed.
            let native_id = record.native_id.load(Ordering::Relaxed);
            while record.ring.take(&mut words) {
                let is_wall = words.get(1).is_some_and(|time| time >> FLAGS_SHIFT & WALL != 0);
                self.add_sample(&words, native_id, is_wall);
            }
        });
        self.words = words;
        let waiting = events::take();
        self.count_lost(|what| matches!(what, What::Events(_) | What::CodeBytes), waiting.lost);
        let lists_allocations = |what| matches!(what, What::Events(kinds) if kinds.contains(EventKind::Allocation));
        for making in self.profiles.iter_mut().filter(|making| lists_allocations(making.what)) {
            waiting.stacks.iter().for_each(|stack| making.add_stack(self.names.resolve, stack));
        }
        for event in waiting.events {
            self.add_event(&event);
        }
        if !is_any_busy {
            self.walk = walk;
        }
        !is_any_busy
    }

    fn count_lost(&mut self, is_affected: impl Fn(What) -> bool, count: u64) {
        if count == 0 {
            return;
        }
        for making in self.profiles.iter_mut().filter(|making| is_affected(making.what)) {
            making.builder.count_lost(count);
        }
        if let Some(consumer) = &mut self.consumer {
            consumer.lost(count);
        }
    }

    /// Adds a sample in the handler's format.
    pub fn add_sample(&mut self, words: &[u64], native_id: u32, is_wall: bool) {
        let &[first, time, ..] = words else { return };
        let (thread, weight) = ((first >> 32) as u32, first & u64::from(u32::MAX));
        let time_ns = time & TIME_MASK;
        if let Some(consumer) = &mut self.consumer {
            let stack = Stack::new(words);
            consumer.sample(&StackSample { thread, native_id, time_ns, weight, is_wall, stack });
        }
        let since_start_ns = time_ns.saturating_sub(self.start_ns);
        for making in &mut self.profiles {
            if making.what == if is_wall { What::Wall } else { What::Cpu } {
                let value = weight * making.period;
                making.add(&mut self.names, words, native_id, &[], Measured::new(since_start_ns, value));
            }
        }
    }

    fn add_event(&mut self, event: &Event) {
        if let Some(consumer) = &mut self.consumer {
            consumer.event(event);
        }
        let time_ns = event.time_ns.saturating_sub(self.start_ns);
        let names = &mut self.names;
        for making in &mut self.profiles {
            let value = match (making.what, event.subject) {
                (What::Events(kinds), _) if kinds.contains(event.kind) => event.value,
                (What::CodeBytes, Subject::Code { size_bytes, .. }) => size_bytes as u64,
                _ => continue,
            };
            match event.subject {
                Subject::Collection { phases_ns, .. } => making.add_phases(names, event, time_ns, &phases_ns),
                Subject::Lock { owner, waiters, .. } => {
                    let owner = (owner != 0).then(|| making.thread(owner.into(), 0));
                    let wait = making.builder.wait(Wait { owner, waiters });
                    making.add(
                        names,
                        &event.words,
                        0,
                        &[&event.label],
                        Measured { wait, ..Measured::new(time_ns, value) },
                    );
                }
                Subject::Objects { count, stack } => making.add_objects(event, stack, count, time_ns),
                _ => making.add(names, &event.words, 0, &[&event.label], Measured::new(time_ns, value)),
            }
        }
    }

    /// Adds processor time of one of the machine's own OS threads, which is not sampled; `time_ns`: CLOCK_MONOTONIC.
    pub fn add_unsampled(&mut self, native_id: u32, name: &str, cpu_ns: u64, time_ns: u64) {
        let time_ns = time_ns.saturating_sub(self.start_ns);
        for making in self.profiles.iter_mut().filter(|making| making.what == What::Cpu) {
            making.add_unsampled(native_id, name, cpu_ns, time_ns);
        }
    }

    /// Names threads as they are called now: they get their names after they have begun.
    pub fn name_threads(&mut self) {
        saki_thread::for_each_thread(|thread| {
            if let Some(name) = thread.name() {
                for making in &mut self.profiles {
                    making.builder.rename(thread.managed_id().into(), &name);
                }
            }
        });
    }

    /// The profiles, in the order of their recordings.
    pub fn finish(mut self) -> Vec<Profile> {
        if let Some(consumer) = &mut self.consumer {
            consumer.end();
        }
        let duration_ns = saki_os::clock::monotonic_ns() - self.start_ns;
        self.profiles.into_iter().map(|making| making.builder.finish(duration_ns)).collect()
    }
}

impl Making {
    /// Adds the phases of a collection, which end at the same time: together they are one sample.
    fn add_phases(&mut self, names: &mut Names, event: &Event, time_ns: u64, phases_ns: &[u64]) {
        let mut words = event.words.clone();
        for (phase, &length_ns) in COLLECTION_PHASES.iter().zip(phases_ns).filter(|(_, length_ns)| **length_ns > 0) {
            self.add(names, &words, 0, &[phase, &event.label], Measured::new(time_ns, length_ns));
            // The other samples get the weight 0.
            words[0] &= !u64::from(u32::MAX);
        }
    }

    /// Remembers a stack's number.
    fn add_stack(&mut self, resolve: Resolve, stack: &NumberedStack) {
        let mut node = self.node(stack.outer);
        // The type is the innermost frame.
        let mut frames = vec![u32::MAX];
        self.push_managed(resolve, stack.code, stack.native_offset, &mut frames);
        for &frame in frames[1..].iter().rev() {
            node = self.builder.stack(node, frame);
        }
        self.stacks.insert(stack.number, node);
    }

    /// The node of a numbered stack.
    fn node(&mut self, stack: u32) -> u32 {
        if stack == MORE_FRAMES {
            let frame = self.note(OUTERMOST);
            return self.builder.stack(0, frame);
        }
        self.stacks.get(&stack).copied().unwrap_or(0)
    }

    /// Adds objects of a type that were allocated with a numbered stack.
    fn add_objects(&mut self, event: &Event, stack: u32, count: u64, time_ns: u64) {
        let (node, label) = (self.node(stack), self.note(&event.label));
        let stack = self.builder.stack(node, label);
        let thread = self.thread(event.thread.into(), 0);
        self.builder.add(Sample { stack, thread, time_ns, count, value: event.value, wait: 0 });
    }

    /// Adds a sample in the handler's format, with its measurements; for an event, with its innermost frames.
    fn add(&mut self, names: &mut Names, words: &[u64], native_id: u32, labels: &[&str], measured: Measured) {
        let (managed_id, weight) = (words[0] >> 32, words[0] & u64::from(u32::MAX));
        let mut frames = std::mem::take(&mut names.frames);
        frames.clear();
        frames.extend(labels.iter().map(|label| self.note(label)));
        let stack = Stack::new(words);
        for frame in stack.frames() {
            match frame {
                StackFrame::Note(note) => frames.push(self.note(note)),
                StackFrame::Native(pc) => frames.push(self.native_frame(names, pc)),
                StackFrame::Managed { code, native_offset } => {
                    self.push_managed(names.resolve, code, native_offset, &mut frames);
                }
            }
        }
        if words[1] >> FLAGS_SHIFT & LOST != 0 {
            self.builder.count_without_callers(weight);
        }
        let mut node = 0;
        if stack.is_truncated() {
            let frame = self.note(OUTERMOST);
            node = self.builder.stack(node, frame);
        }
        for &frame in frames.iter().rev() {
            node = self.builder.stack(node, frame);
        }
        names.frames = frames;
        let thread = self.thread(managed_id, native_id);
        let Measured { time_ns, value, wait } = measured;
        self.builder.add(Sample { stack: node, thread, time_ns, count: weight, value, wait });
    }

    fn note(&mut self, name: &str) -> u32 {
        let function = Function { name: name.to_owned(), file: String::new(), kind: FunctionKind::Note };
        let function = self.builder.function(function);
        self.builder.frame(Frame { function, line: 0 })
    }

    fn native_frame(&mut self, names: &mut Names, pc: usize) -> u32 {
        if let Some(&frame) = self.native.get(&pc) {
            return frame;
        }
        let name = names.symbols.name(pc);
        let function = Function { name: name.name, file: name.module, kind: FunctionKind::Native };
        let function = self.builder.function(function);
        let frame = self.builder.frame(Frame { function, line: 0 });
        self.native.insert(pc, frame);
        frame
    }

    fn push_managed(&mut self, resolve: Resolve, info: &CodeInfo, offset: u32, frames: &mut Vec<u32>) {
        let is_innermost = frames.is_empty();
        let key = (std::ptr::from_ref(info).addr(), offset, is_innermost);
        if let Some(known) = self.managed.get(&key) {
            frames.extend(known);
            return;
        }
        let from = frames.len();
        let builder = &mut self.builder;
        let holds = resolve(info, offset, is_innermost, &mut |place| {
            let (name, file) = (place.name.into_owned(), place.file.into_owned());
            let function = builder.function(Function { name, file, kind: FunctionKind::Managed });
            frames.push(builder.frame(Frame { function, line: place.line }));
        });
        if holds {
            self.managed.insert(key, frames[from..].into());
        }
    }

    fn thread(&mut self, managed_id: u64, native_id: u32) -> u32 {
        if managed_id == 0 {
            let id = u64::from(native_id);
            if id == 0 {
                return self.builder.thread(NATIVE_THREAD, || ThreadInfo { id: 0, name: "Collector".into() });
            }
            return self.builder.thread(NATIVE_THREAD | id, || ThreadInfo { id: 0, name: format!("scheduler ({id})") });
        }
        self.builder.thread(managed_id, || ThreadInfo { id: managed_id, name: thread_name(managed_id as u32) })
    }

    fn add_unsampled(&mut self, native_id: u32, name: &str, cpu_ns: u64, time_ns: u64) {
        let what = if name.starts_with("gc-") { "[garbage collection]" } else { "[the machine's own threads]" };
        let outer = self.note(what);
        let inner = self.note(&format!("[{name}]"));
        let stack = self.builder.stack(0, outer);
        let stack = self.builder.stack(stack, inner);
        let key = NATIVE_THREAD | u64::from(native_id);
        let thread = self.builder.thread(key, || ThreadInfo { id: 0, name: name.to_owned() });
        // Whole samples, as other threads have them: some formats know no others.
        let rest_ns = self.unsampled_ns.entry(native_id).or_default();
        *rest_ns += cpu_ns;
        let count = *rest_ns / self.period.max(1);
        let value = count * self.period;
        *rest_ns -= value;
        if count > 0 {
            self.builder.add(Sample { stack, thread, time_ns, count, value, wait: 0 });
        }
    }
}

fn thread_name(managed_id: u32) -> String {
    let thread = saki_thread::find_thread(managed_id);
    let name = thread.as_ref().and_then(|thread| thread.name());
    let is_main = thread.is_some_and(|thread| thread.kind() == saki_thread::ThreadKind::Main);
    name.unwrap_or_else(|| if is_main { "Main".into() } else { format!("Thread {managed_id}") })
}
