//! The reader: takes samples out of the rings, gives their frames names and makes a profile of them.
//!
//! **What samples name must still be there.** A sample holds addresses of `CodeInfo`s, whose bodies may be collected before it is read. So the
//! reader is in a walk of the code map all the time: a body that is retired while it is keeps its description. A round is
//!
//! 1. enter a new walk;
//! 2. a fence; look whether any handler runs;
//! 3. empty all rings;
//! 4. if none ran: leave the old walk; the new one is the old one of the next round. Else leave the new walk again, and keep the old one.
//!
//! Why a sample that step 3 did not find is safe behind step 4: its handler began after step 2 (else it was seen to run, or its end was seen and
//! its sample found). Handler and reader have a fence each, between the handler's mark and its look-ups and between the new walk's
//! entry and the look at the mark, so the handler's look-ups come after the entry: what they found was retired after it,
//! with a stamp for which the new walk counts. Meanwhile the old walk holds what earlier samples name.
//!
//! The price is that dynamic methods which ended wait for a few milliseconds.
//!
//! Invariant: one reader. It runs on a thread of its own that takes no signals and is no managed thread.

use crate::handler::{FLAGS_SHIFT, LOST, MANAGED, TRUNCATED};
use crate::modules;
use crate::symbols::Symbols;
use crate::threads;
use crate::{events, wall};
use rustc_hash::FxHashMap;
use saki_code::CodeInfo;
use saki_profile::{Frame, Function, FunctionKind, Profile, ProfileBuilder, Sample, ThreadInfo};
use saki_sync::Walk;
use std::borrow::Cow;
use std::sync::atomic::{Ordering, fence};

/// A place in a managed method, or in the machine's own code around it.
pub struct Place<'a> {
    pub name: Cow<'a, str>,
    /// Empty without symbols.
    pub file: Cow<'a, str>,
    /// From 1; 0 without symbols.
    pub line: u32,
}

/// Calls `visit` for each method that the instruction at an offset of a body belongs to, inlined ones first, none for code that profiles do not show;
/// the third argument says whether the instruction is the innermost one. True if the answer holds as long as the process.
pub type Resolve = fn(&CodeInfo, u32, bool, &mut dyn FnMut(Place<'_>)) -> bool;

/// The outermost frame where there are more than were kept.
const OUTERMOST: &str = "[more callers]";

/// Thread keys of OS threads without a managed thread: the kernel's id behind this bit.
const NATIVE_THREAD: u64 = 1 << 40;

/// See the module header.
pub struct Reader {
    builder: ProfileBuilder,
    resolve: Resolve,
    period_ns: u64,
    /// CLOCK_MONOTONIC.
    start_ns: u64,
    walk: Walk<'static>,
    symbols: Symbols,
    /// By address of the description, offset, and whether innermost: frames, innermost first.
    managed: FxHashMap<(usize, u32, bool), Box<[u32]>>,
    /// By address.
    native: FxHashMap<usize, u32>,
    /// Scratch.
    words: Vec<u64>,
    frames: Vec<u32>,
    /// Weights of samples.
    truncated: u64,
}

impl Reader {
    pub fn new(profile: Profile, resolve: Resolve) -> Reader {
        modules::refresh();
        Reader {
            period_ns: profile.period,
            builder: ProfileBuilder::new(profile),
            resolve,
            start_ns: saki_os::clock::monotonic_ns(),
            walk: saki_code::walks().enter(),
            symbols: Symbols::default(),
            managed: FxHashMap::default(),
            native: FxHashMap::default(),
            words: Vec::new(),
            frames: Vec::new(),
            truncated: 0,
        }
    }

    /// A round; false if a handler was running, whose sample may not be in its ring yet.
    pub fn read(&mut self) -> bool {
        modules::refresh();
        let walk = saki_code::walks().enter();
        fence(Ordering::SeqCst);
        let is_any_busy = threads::is_any_busy();
        let mut words = std::mem::take(&mut self.words);
        threads::for_each_record(|record| {
            // Relaxed: a count.
            let dropped = record.dropped.swap(0, Ordering::Relaxed);
            self.builder.count_lost(dropped);
            // Relaxed: for the name of a thread that is none of ours.
            let native_id = record.native_id.load(Ordering::Relaxed);
            while record.ring.take(&mut words) {
                self.add(&words, native_id, None);
            }
        });
        self.words = words;
        let waiting = events::take();
        self.builder.count_lost(waiting.lost);
        for event in waiting.events {
            self.add(&event.words, 0, Some((event.value, &event.label)));
        }
        if !is_any_busy {
            self.walk = walk;
        }
        !is_any_busy
    }

    /// Adds a sample in the handler's format; of an event, with its value and its innermost frame.
    pub fn add(&mut self, words: &[u64], native_id: u32, event: Option<(u64, &str)>) {
        let &[weight, time, ref frames @ ..] = words else { return };
        let (managed_id, weight) = (weight >> 32, weight & u64::from(u32::MAX));
        let flags = time >> FLAGS_SHIFT;
        let time_ns = (time & ((1 << FLAGS_SHIFT) - 1)).saturating_sub(self.start_ns);
        self.frames.clear();
        if let Some((_, label)) = event {
            let frame = self.note(label);
            self.frames.push(frame);
        }
        let mut rest = frames.iter();
        while let Some(&word) = rest.next() {
            let is_innermost = self.frames.is_empty();
            if let Some(&note) = wall::NOTES.get(word as usize) {
                if !note.is_empty() {
                    let frame = self.note(note);
                    self.frames.push(frame);
                }
            } else if word & MANAGED == 0 {
                let frame = self.native_frame(word as usize);
                self.frames.push(frame);
            } else if let Some(&offset) = rest.next() {
                self.push_managed((word & !MANAGED) as usize, offset as u32, is_innermost);
            }
        }
        if flags & LOST != 0 {
            self.builder.count_without_callers(weight);
        }
        let mut stack = 0;
        if flags & TRUNCATED != 0 {
            self.truncated += weight;
            let frame = self.note(OUTERMOST);
            stack = self.builder.stack(stack, frame);
        }
        for index in (0..self.frames.len()).rev() {
            stack = self.builder.stack(stack, self.frames[index]);
        }
        let thread = self.thread(managed_id, native_id);
        let value = event.map_or(weight * self.period_ns, |(value, _)| value);
        self.builder.add(Sample { stack, thread, time_ns, count: weight, value });
    }

    fn note(&mut self, name: &str) -> u32 {
        let function = Function { name: name.to_owned(), file: String::new(), kind: FunctionKind::Note };
        let function = self.builder.function(function);
        self.builder.frame(Frame { function, line: 0 })
    }

    fn native_frame(&mut self, pc: usize) -> u32 {
        if let Some(&frame) = self.native.get(&pc) {
            return frame;
        }
        let name = self.symbols.name(pc);
        let function = Function { name: name.name, file: name.module, kind: FunctionKind::Native };
        let function = self.builder.function(function);
        let frame = self.builder.frame(Frame { function, line: 0 });
        self.native.insert(pc, frame);
        frame
    }

    fn push_managed(&mut self, info: usize, offset: u32, is_innermost: bool) {
        let key = (info, offset, is_innermost);
        if let Some(frames) = self.managed.get(&key) {
            self.frames.extend(frames);
            return;
        }
        // SAFETY: a handler found it in the code map, and the walk that the reader is in keeps it; see the module header.
        let info: &CodeInfo = unsafe { &*(info as *const CodeInfo) };
        let from = self.frames.len();
        let (builder, frames) = (&mut self.builder, &mut self.frames);
        let holds = (self.resolve)(info, offset, is_innermost, &mut |place| {
            let (name, file) = (place.name.into_owned(), place.file.into_owned());
            let function = builder.function(Function { name, file, kind: FunctionKind::Managed });
            frames.push(builder.frame(Frame { function, line: place.line }));
        });
        if holds {
            self.managed.insert(key, self.frames[from..].into());
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

    /// What an OS thread that is not sampled, since it is the machine's own, has taken of its processor.
    pub fn add_unsampled(&mut self, native_id: u32, name: &str, cpu_ns: u64) {
        let what = if name.starts_with("gc-") { "[garbage collection]" } else { "[the machine's own threads]" };
        let outer = self.note(what);
        let inner = self.note(&format!("[{name}]"));
        let stack = self.builder.stack(0, outer);
        let stack = self.builder.stack(stack, inner);
        let key = NATIVE_THREAD | u64::from(native_id);
        let thread = self.builder.thread(key, || ThreadInfo { id: 0, name: name.to_owned() });
        let time_ns = saki_os::clock::monotonic_ns() - self.start_ns;
        let count = (cpu_ns / self.period_ns.max(1)).max(1);
        self.builder.add(Sample { stack, thread, time_ns, count, value: cpu_ns });
    }

    /// Names threads as they are called now: they get their names after they have begun.
    pub fn name_threads(&mut self) {
        saki_thread::for_each_thread(|thread| {
            if let Some(name) = thread.name() {
                self.builder.rename(thread.managed_id().into(), &name);
            }
        });
    }

    pub fn finish(self) -> Profile {
        let duration_ns = saki_os::clock::monotonic_ns() - self.start_ns;
        self.builder.finish(duration_ns)
    }
}

fn thread_name(managed_id: u32) -> String {
    let thread = saki_thread::find_thread(managed_id);
    let name = thread.as_ref().and_then(|thread| thread.name());
    let is_main = thread.is_some_and(|thread| thread.kind() == saki_thread::ThreadKind::Main);
    name.unwrap_or_else(|| if is_main { "Main".into() } else { format!("Thread {managed_id}") })
}
